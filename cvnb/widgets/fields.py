"""The fields of the builder's form, and the named recipes as cells of its table."""

from __future__ import annotations

from typing import Any

from .form import number
from .setting_rows import KINDS
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
WORDS_INSIDE = WORDS | {"none": "no tuning", "holdout": "dev set"}
EMPTY = [
    f"{outside}/{inside}"
    for outside in OUTER
    for inside in INNER
    if (outside, inside) not in CELLS
]
MODEL, SCORE, SPLIT = "1 Model", "2 Score", "3 Split"
AS_TEXT, MORE = (
    "settings as text",
    "more: seed, time order, gap, strata, rule, 100 seeds",
)


def _field(name: str, label: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "kind": kind} | more


def _in(section: str, *fields: dict[str, Any], fold: str = "") -> list[dict[str, Any]]:
    return [field | {"section": section, "fold": fold} for field in fields]


FIELDS: list[dict[str, Any]] = [
    *_in(
        MODEL,
        _field("family_name", "Model", "choice"),
        _field("settings", "Settings", "rows", kinds=KINDS),
    ),
    *_in(
        MODEL,
        _field(
            "grid", "Settings as text", "text", placeholder="such as k=range(1, 31)"
        ),
        fold=AS_TEXT,
    ),
    *_in(SCORE, _field("loss", "Score", "choice")),
    *_in(
        SPLIT,
        _field("named", "Recipe", "choice"),
        number("outer", "Outer folds", 2, 20),
        number("inner", "Inner folds", 2, 20),
        number("test", "Test share", 0.05, 0.5, 0.05),
        number("validation", "Validation share", 0.05, 0.5, 0.05),
        _field("groups", "Keep together", "choice"),
    ),
    *_in(
        SPLIT,
        number("seed", "Seed", 0, 50),
        _field("time_ordered", "In order of time", "check"),
        number("buffer", "Gap, rows", 0, 50),
        _field("stratify", "Stratify", "choice"),
        _field("select", "Rule", "choice"),
        _field("spread", "100 seeds", "check"),
        _field(
            "cell",
            "outside (rows) × inside (columns)",
            "table",
            row="outside",
            column="inside",
            rows=[[kind, WORDS[kind]] for kind in OUTER],
            columns=[[kind, WORDS_INSIDE[kind]] for kind in INNER],
            empty=EMPTY,
        ),
        fold=MORE,
    ),
]
KEEP = _field("keep_as", "Keep as", "text", action="keep")
NAMES = [field["name"] for field in [*FIELDS, KEEP]]
AUTO = "auto"
STRATIFY = {"auto": "auto", "yes": True, "no": False}
CELL = ("outside", "inside")
IN_A_CELL = ("outer", "inner", "test", "validation")
OF_RECIPE = (*CELL, *IN_A_CELL, "seed", "stratify", "time_ordered", "buffer")
OF_FAMILY = ("family_name", "grid")
OF_RUN = ("groups", "loss", "select")
OF_VIEW = ("spread", "keep_as")
