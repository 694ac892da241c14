"""The fields of the builder's form, and the named recipes as cells of its table."""

from __future__ import annotations

from typing import Any

from .form import number
from .spelling import CELLS, INNER, OUTER

NAMED = {
    "1. train/validation/test": "holdout/holdout",
    "2. CV then test": "holdout/folds",
    "3. resampling then test": "holdout/resampling",
    "4. nested CV": "folds/folds",
    "nested CV with an inner dev set": "folds/holdout",
    "nested resampling": "resampling/resampling",
    "external CV": "folds/none",
    "leave-one-out": "loo/none",
    "internal CV": "none/folds",
    "tuning on a dev set": "none/holdout",
    "validation on a test set": "holdout/none",
}
WORDS = {
    "none": "none",
    "holdout": "holdout",
    "folds": "K-fold",
    "loo": "LOO",
    "resampling": "samples",
}
WORDS_INSIDE = WORDS | {"none": "no θ", "holdout": "dev set"}
EMPTY = [
    f"{outside}/{inside}"
    for outside in OUTER
    for inside in INNER
    if (outside, inside) not in CELLS
]
FIELDS: list[dict[str, Any]] = [
    {"name": "named", "label": "Recipe", "kind": "choice"},
    {
        "name": "cell",
        "label": "outside (rows) × inside (columns)",
        "kind": "table",
        "row": "outside",
        "column": "inside",
        "rows": [[kind, WORDS[kind]] for kind in OUTER],
        "columns": [[kind, WORDS_INSIDE[kind]] for kind in INNER],
        "empty": EMPTY,
    },
    number("outer", "Outer folds", 2, 20),
    number("inner", "Inner folds", 2, 20),
    number("test", "Test share", 0.05, 0.5, 0.05),
    number("validation", "Validation share", 0.05, 0.5, 0.05),
    number("seed", "Seed", 0, 50),
    {"name": "stratify", "label": "Stratify", "kind": "choice"},
    {"name": "groups", "label": "Groups", "kind": "choice"},
    {"name": "time_ordered", "label": "In order of time", "kind": "check"},
    number("buffer", "Buffer, rows", 0, 50),
    {"name": "family_name", "label": "Family", "kind": "choice"},
    {
        "name": "grid",
        "label": "Grid",
        "kind": "text",
        "placeholder": "default; or k=range(1, 31)",
    },
    {"name": "loss", "label": "Loss or score", "kind": "choice"},
    {"name": "select", "label": "Rule", "kind": "choice"},
    {"name": "spread", "label": "100 seeds", "kind": "check"},
]
NAMES = [field["name"] for field in FIELDS]
AUTO = "auto"
STRATIFY = {"auto": "auto", "yes": True, "no": False}
CELL = ("outside", "inside")
IN_A_CELL = ("outer", "inner", "test", "validation")
OF_RECIPE = (*CELL, *IN_A_CELL, "seed", "stratify", "time_ordered", "buffer")
OF_FAMILY = ("family_name", "grid")
OF_RUN = ("groups", "loss", "select")
OF_VIEW = ("spread",)
