"""The name of a recipe, and the call that makes it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .specs import FixedRows, Holdout, InnerSpec, LikeOuterTest, Resampling
from .timing import FORWARD

if TYPE_CHECKING:
    from .recipes import Recipe

KINDS: dict[type, str] = {  # any other is "cv"
    type(None): "none",
    Holdout: "holdout",
    LikeOuterTest: "holdout",
    FixedRows: "holdout",
    Resampling: "resampling",
}
NAMES = {
    ("none", "holdout"): "tuning on a dev set",
    ("none", "cv"): "tuning by internal CV",
    ("none", "resampling"): "tuning by resampling",
    ("holdout", "none"): "validation on a test set",
    ("holdout", "holdout"): "train/validation/test",
    ("holdout", "cv"): "CV then test",
    ("holdout", "resampling"): "resampling then test",
    ("cv", "none"): "external CV",
    ("cv", "holdout"): "nested CV with an inner dev set",
    ("cv", "cv"): "nested CV",
    ("cv", "resampling"): "nested CV, resampled inside",
    ("resampling", "none"): "repeated holdout",
    ("resampling", "holdout"): "repeated holdout with an inner dev set",
    ("resampling", "cv"): "repeated holdout with inner CV",
    ("resampling", "resampling"): "nested resampling",
}


def name_of(recipe: Recipe) -> str:
    """Return the common name of the recipe's pair of splitters."""
    outer, inner = type(recipe.outer_spec), type(recipe.inner_spec)
    kinds = KINDS.get(outer, "cv"), KINDS.get(inner, "cv")
    steps = recipe.time_ordered == FORWARD and "cv" in kinds
    return NAMES[kinds] + ", forward in time" * steps


def call_of(recipe: Recipe) -> str:
    """Return the call that makes the recipe, without default arguments."""
    arguments = {
        "outer": _level(recipe.outer, recipe.outer_spec),
        "inner": _level(recipe.inner, recipe.inner_spec),
        "seed": repr(recipe.seed),
    }
    options = [f for f in fields(recipe) if f.init and f.name not in arguments]
    for f in options:
        value = getattr(recipe, f.name)
        if value is not f.default and (f.default is None or value != f.default):
            arguments[f.name] = _text(value)
    call = "Recipe"
    if isinstance(recipe.inner_spec, LikeOuterTest):  # only this recipe has it
        call = "Recipe.nested_dev"
        del arguments["inner"]
    text = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"{call}({text})"


def _level(value: Any, spec: InnerSpec) -> str:
    return _text(value) if isinstance(spec, FixedRows) else repr(spec)


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return repr(float(value)) if isinstance(value, np.floating) else repr(value)
