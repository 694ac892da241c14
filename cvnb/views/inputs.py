"""Plans, recipes and families as text and HTML, and the table of all named recipes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..families.distributions import distribution_text, distributions_in
from ..families.family import Family, estimator_label
from ..families.labels import format_value
from ..families.searches import grids_of
from ..pictures.split_map import nest_of
from ..pictures.svg import draw_nest
from ..splits.recipes import Recipe
from ..splits.specs import FixedRows, Holdout
from ..wording import count, some, spread
from .markup import (
    FAINT,
    Bundle,
    Table,
    bundle,
    html,
    html_list,
    html_table,
    text_table,
)

if TYPE_CHECKING:
    from ..splits.plan import Plan

# fmt: off
RECIPES: Table = (
    ("outer \\ inner", "none (one θ)", "one dev set", "K-fold / LOO", "resampling ×S"),
    [
        ("none (all of S)", "", "dev_set", "internal_cv",
         "outer=None, inner=Resampling(S, share)"),
        ("one holdout", "validation", "train_validation_test", "cv_test",
         "resampling_test"),
        ("K-fold / LOO", "external_cv, leave_one_out", "nested_dev", "nested_cv",
         "outer=K, inner=Resampling(S, share)"),
        ("resampling ×S", "outer=Resampling(S, share), inner=None", "…, inner=.25",
         "…, inner=K", "nested_resampling"),
    ],
)
# fmt: on


def plan_bundle(plan: Plan) -> Bundle:
    """Return a plan as text and HTML."""
    rows: list[Sequence[str]] = []
    if plan.outer_layout is not None:
        sizes = _row_counts(plan.outer_layout.sizes())
        rows.append(["outer", plan.outer_words, *sizes])
    if plan.inner_layouts is not None:
        each = f", in each of {plan.n_parts}" if plan.n_parts > 1 else ""
        sizes = _row_counts(
            np.concatenate([layout.sizes() for layout in plan.inner_kept])
        )
        rows.append([f"inner{each}", plan.inner_words, *sizes])
    size = count(plan.n_rows, "row")
    return bundle(
        repr(plan),
        f"<div><b>Plan</b> of {size}: {escape(plan.words)}</div>",
        f"<div>{draw_nest(nest_of(plan)).img}</div>",
        html_table((["level", "splits", "training rows", "test rows"], rows)),
        html_list(plan.notes),
    )


def _row_counts(sizes: np.ndarray) -> list[str]:
    """ "40 to 41" training rows, "10" test rows; of sizes[split, (train, test)]."""
    return [spread(sizes[:, side]) for side in (0, 1)]


def recipe_bundle(recipe: Recipe) -> Bundle:
    """Return a recipe as text and HTML."""
    code = f"<code>{escape(repr(recipe))}</code>"
    return bundle(
        f"{recipe!r}: {recipe.name}",
        f"<div><b>{escape(recipe.name)}</b>: {code}</div>",
        f'<div style="{FAINT}">{html(_estimated_by(recipe))}</div>',
    )


def family_bundle(family: Family) -> Bundle:
    """Return a family as text and HTML: its estimator, and the values of each parameter."""
    label, table = family.label, ""
    if family.estimator is not None:
        label = estimator_label(family.estimator)
        ranges = drawn_from(family)
        rows: list[Sequence[str]] = [
            [key, ranges.get(key) or count(len(values), "value"), some(values)]
            for key, values in grid_values(family).items()
        ]
        table = html_table((["parameter", "grid", "values"], rows)) if rows else ""
    code = f"<code>{escape(repr(family))}</code>"
    heading = f"<div><b>Family</b> {escape(label)}: {code}</div>"
    return bundle(repr(family), heading, table)


def grid_values(family: Family) -> dict[str, list[str]]:
    """Return parameter -> its different values, in the order of the settings."""
    values: dict[str, dict[str, None]] = {}
    for setting in family.settings:
        for key, value in setting.items():
            values.setdefault(key, {})[format_value(value)] = None
    return {key: list(shown) for key, shown in values.items()}


def drawn_from(family: Family) -> dict[str, str]:
    """Return parameter -> the distributions that its values were drawn from."""
    found: dict[str, dict[str, None]] = {}
    for key, distribution in distributions_in(grids_of(family.grid)):
        found.setdefault(key, {})[distribution_text(distribution)] = None
    return {key: " or ".join(texts) for key, texts in found.items()}


def recipes_text(names: Iterable[str]) -> str:
    """Return the outer × inner table, and what each of these named recipes estimates."""
    rows: list[Sequence[str]] = [
        [name, _estimated_by(getattr(Recipe, name)())] for name in names
    ]
    named = text_table((("recipe", "what it does"), rows), left=None)
    return "\n".join([*text_table(RECIPES, left=None), "", *named])


def _estimated_by(recipe: Recipe) -> str:
    """What the number of a recipe estimates, in words and as a symbol."""
    if recipe.outer_spec is None:
        return (
            "chooses θ on all of S; its smallest inner loss is optimistic, "
            "at the size of its inner training parts"
        )
    rule = "A(S)" if recipe.inner_spec is None else "A_θ̂(S)"
    if isinstance(recipe.outer_spec, Holdout | FixedRows):
        quantity = f"ℓ_D({rule}), the risk of the predictor in hand"
    else:
        quantity = f"E[ℓ_D({rule})], the risk of the procedure"
    return f"estimates {quantity}, at the size of its training parts"
