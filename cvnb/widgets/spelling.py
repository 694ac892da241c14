"""What the controls of a recipe stand for: a Recipe, the Python that makes it, the options of %%nestedcv; and back."""

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

# (outside, inside) -> constructor of Recipe, and what its keywords are: a control, or a value in itself.
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
    (
        "resampling",
        "resampling",
    ): (
        "nested_resampling",
        {
            "outer": "outer",
            "inner": "inner",
            "test": "test",
            "validation": "validation",
        },
    ),
}
CONTROLS = ("outer", "inner", "test", "validation")
OPTIONS = {
    "seed": 0,
    "stratify": "auto",
    "time_ordered": False,
    "buffer": 0,
}  # and what they are where nothing is said


@dataclass(frozen=True)
class Call:
    """A constructor of Recipe ("" for Recipe itself) and its keywords."""

    name: str
    keywords: dict[str, Any]

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        made: Recipe = (getattr(Recipe, self.name) if self.name else Recipe)(
            **self.keywords
        )
        return made

    @property
    def python(self) -> str:
        """As Python; Resampling, where it stands, is cvnb's."""
        said = ", ".join(f"{key}={value!r}" for key, value in self.keywords.items())
        return f"Recipe{'.' * bool(self.name)}{self.name}({said})"

    @property
    def options(self) -> str:
        """As options of %%nestedcv."""
        name, said = self.name or "nested_cv", []
        option_of = {keyword: option for option, keyword in OPTIONS_OF[name].items()}
        for key, value in self.keywords.items():
            if key == "stratify":
                said.append("--stratify" if value else "--no-stratify")
            elif value is True:
                said.append(f"--{key.replace('_', '-')}")
            else:
                word = value if isinstance(value, str) else repr(value).replace(" ", "")
                said.append(f"--{option_of.get(key, key)} {word}")
        recipe = "" if name == "nested_cv" else f"--recipe {name} "
        return (recipe + " ".join(said)).strip()


def used(cell: tuple[str, str]) -> set[str]:
    """The controls that mean something in a cell of the outer × inner table."""
    values = CELLS.get(cell, ("", {}))[1].values()
    return {
        control
        for value in values
        for control in (value if isinstance(value, tuple) else (value,))
    } & set(CONTROLS)


def call_of(values: Mapping[str, Any]) -> Call:
    """What the controls stand for: outside, inside, outer, inner, test, validation, and the options."""
    cell = values["outside"], values["inside"]
    if cell not in CELLS:
        raise RecipeError(
            f"outside={cell[0]!r} and inside={cell[1]!r} leave no rows to measure on; choose another cell."
        )
    name, keywords = CELLS[cell]
    said = {key: _value(value, values) for key, value in keywords.items()}
    return Call(
        name,
        said
        | {
            key: values[key]
            for key, default in OPTIONS.items()
            if values[key] != default
        },
    )


def _value(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, tuple):
        return Resampling(values[value[0]], values[value[1]])
    return values[value] if value in CONTROLS else value


def values_of(recipe: Recipe) -> dict[str, Any] | None:
    """What the controls are for this recipe; None where no position of theirs is the same recipe."""
    outer, inner = recipe.outer_spec, recipe.inner_spec
    found: dict[str, Any] = {
        "outside": _kind(outer),
        "inside": _kind(Folds(5) if inner == "auto" else inner),
    }
    if (
        None in found.values()
        or recipe.test_rows is not None
        or recipe.dev_rows is not None
        or not recipe.shuffle
    ):
        return None
    for level, share, spec in (
        ("outer", "test", outer),
        ("inner", "validation", Folds(5) if inner == "auto" else inner),
    ):
        if isinstance(spec, Folds):
            found[level] = spec.n_splits
        elif isinstance(spec, Resampling):
            found[level], found[share] = spec.samples, spec.share
        elif isinstance(spec, Holdout):
            found[share] = spec.share
    found |= {key: getattr(recipe, key) for key in OPTIONS}
    try:
        made = call_of(
            {"outer": 5, "inner": 5, "test": 0.2, "validation": 0.25} | found
        ).recipe
    except ValueError:
        return None
    return (
        found
        if (made.outer_spec, made.inner_spec)
        == (outer, Folds(5) if inner == "auto" else inner)
        else None
    )


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
