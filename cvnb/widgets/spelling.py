"""Controls of a recipe to a Recipe, its Python code and its %%nestedcv options; and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import RecipeError
from ..jupyter.magic_line import OPTIONS_OF
from ..splits.recipes import Recipe
from ..splits.specs import Folds, Holdout, LeaveOneOut, LikeOuterTest, Resampling

OUTER = ("none", "holdout", "folds", "loo", "resampling")
INNER = ("none", "holdout", "folds", "loo", "resampling")

# (outside, inside) -> constructor of Recipe, and for each keyword the name of a control or a value.
CELLS: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("none", "holdout"): ("dev_set", {"dev": "validation"}),
    ("none", "folds"): ("internal_cv", {"folds": "inner"}),
    ("none", "loo"): ("internal_cv", {"folds": "loo"}),
    ("none", "resampling"): ("", {"outer": None, "inner": ("inner", "validation")}),
    ("holdout", "none"): ("validation", {"test": "test"}),
    ("holdout", "holdout"): (
        "train_validation_test",
        {"validation": "validation", "test": "test"},
    ),
    ("holdout", "folds"): ("cv_test", {"inner": "inner", "test": "test"}),
    ("holdout", "loo"): ("cv_test", {"inner": "loo", "test": "test"}),
    ("holdout", "resampling"): (
        "resampling_test",
        {"samples": "inner", "validation": "validation", "test": "test"},
    ),
    ("folds", "none"): ("external_cv", {"folds": "outer"}),
    ("folds", "holdout"): ("nested_dev", {"outer": "outer"}),
    ("folds", "folds"): ("nested_cv", {"outer": "outer", "inner": "inner"}),
    ("folds", "loo"): ("nested_cv", {"outer": "outer", "inner": "loo"}),
    ("folds", "resampling"): ("", {"outer": "outer", "inner": ("inner", "validation")}),
    ("loo", "none"): ("leave_one_out", {}),
    ("loo", "holdout"): ("nested_dev", {"outer": "loo"}),
    ("loo", "folds"): ("nested_cv", {"outer": "loo", "inner": "inner"}),
    ("loo", "loo"): ("nested_cv", {"outer": "loo", "inner": "loo"}),
    ("loo", "resampling"): ("", {"outer": "loo", "inner": ("inner", "validation")}),
    ("resampling", "none"): ("", {"outer": ("outer", "test"), "inner": None}),
    ("resampling", "holdout"): (
        "",
        {"outer": ("outer", "test"), "inner": "validation"},
    ),
    ("resampling", "folds"): ("", {"outer": ("outer", "test"), "inner": "inner"}),
    ("resampling", "loo"): ("", {"outer": ("outer", "test"), "inner": "loo"}),
    ("resampling", "resampling"): (
        "nested_resampling",
        {name: name for name in ("outer", "inner", "test", "validation")},
    ),
}
CONTROLS = ("outer", "inner", "test", "validation")
OPTIONS = {
    "seed": 0,
    "stratify": "auto",
    "time_ordered": False,
    "buffer": 0,
}  # with defaults
# what the controls of these options hold; bins, forward splits and durations are typed
KINDS = {"stratify": (str, bool), "time_ordered": (bool,), "buffer": (int,)}


@dataclass(frozen=True)
class Call:
    """A constructor of Recipe ("" for Recipe itself) and its keywords."""

    name: str
    keywords: dict[str, Any]

    @property
    def recipe(self) -> Recipe:
        """Make the recipe."""
        make = getattr(Recipe, self.name) if self.name else Recipe
        recipe: Recipe = make(**self.keywords)
        return recipe

    @property
    def python(self) -> str:
        """The call as Python; it may need cvnb.Resampling."""
        keywords = ", ".join(f"{key}={value!r}" for key, value in self.keywords.items())
        return f"Recipe{'.' * bool(self.name)}{self.name}({keywords})"

    @property
    def options(self) -> str:
        """The call as options of %%nestedcv."""
        name = self.name or "nested_cv"
        words = [] if name == "nested_cv" else [f"--recipe {name}"]
        option_of = {keyword: option for option, keyword in OPTIONS_OF[name].items()}
        for key, value in self.keywords.items():
            if key == "stratify":
                words.append("--stratify" if value else "--no-stratify")
            elif value is True:
                words.append(f"--{key.replace('_', '-')}")
            else:
                word = value if isinstance(value, str) else repr(value).replace(" ", "")
                words.append(f"--{option_of.get(key, key)} {word}")
        return " ".join(words)


def used(cell: tuple[str, str]) -> set[str]:
    """Return the controls that have a meaning in a cell of the outer × inner table."""
    _, keywords = CELLS.get(cell, ("", {}))
    controls: set[Any] = set()
    for value in keywords.values():
        controls.update(value if isinstance(value, tuple) else (value,))
    return controls & set(CONTROLS)


def call_of(values: Mapping[str, Any]) -> Call:
    """Return the constructor of the recipe that the controls describe."""
    cell = values["outside"], values["inside"]
    if cell not in CELLS:
        raise RecipeError(
            f"outside={cell[0]!r} and inside={cell[1]!r} leave no rows to measure on; "
            "choose another cell."
        )
    name, controls = CELLS[cell]
    keywords = {key: _value(value, values) for key, value in controls.items()}
    for key, default in OPTIONS.items():
        if values[key] != default:
            keywords[key] = values[key]
    return Call(name, keywords)


def _value(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, tuple):
        return Resampling(values[value[0]], values[value[1]])
    return values[value] if value in CONTROLS else value


def values_of(recipe: Recipe) -> dict[str, Any] | None:
    """Return the values of the controls for a recipe; None if they cannot express it."""
    outer = recipe.outer_spec
    inner = Folds(5) if recipe.inner_spec == "auto" else recipe.inner_spec
    values: dict[str, Any] = {"outside": _kind(outer), "inside": _kind(inner)}
    has_rows = recipe.test_rows is not None or recipe.dev_rows is not None
    if None in values.values() or has_rows or not recipe.shuffle:
        return None
    for level, share, spec in (
        ("outer", "test", outer),
        ("inner", "validation", inner),
    ):
        if isinstance(spec, Folds):
            values[level] = spec.n_splits
        elif isinstance(spec, Resampling):
            values[level], values[share] = spec.samples, spec.share
        elif isinstance(spec, Holdout):
            values[share] = spec.share
    values |= {key: getattr(recipe, key) for key in OPTIONS}
    if any(type(values[key]) not in KINDS[key] for key in KINDS):
        return None
    rest = {"outer": 5, "inner": 5, "test": 0.2, "validation": 0.25}
    try:
        again = call_of(rest | values).recipe
    except ValueError:
        return None
    return values if (again.outer_spec, again.inner_spec) == (outer, inner) else None


def _kind(spec: Any) -> str | None:
    if spec is None:
        return "none"
    kinds = {
        Holdout: "holdout",
        LikeOuterTest: "holdout",
        Folds: "folds",
        LeaveOneOut: "loo",
        Resampling: "resampling",
    }
    return kinds.get(type(spec))
