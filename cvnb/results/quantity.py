"""What the number of a run estimates, in symbols and words."""

from __future__ import annotations

import numpy as np

from ..splits.plan import Plan
from ..wording import spread


def quantity_of(plan: Plan, tuned: bool, words: str = "") -> str:
    """Return what a run on this plan estimates, with the training size.

    tuned: whether the family has several settings. words: of a tuned family, the rule that
    takes θ from the inner curve; of one setting, the name of the estimator if it tunes
    itself.
    """
    measured = "T" if plan.outer_layout is None else "S"
    sizes = training_sizes(plan)
    risk = f"ℓ_D({'A_θ̂' if tuned else 'A'}({measured}))"
    if len(sizes) > 1:
        risk = f"E[{risk}]"
    quantity = f"{risk}, |{measured}| = {spread(sizes)}"
    if measured == "T":
        quantity += f" of |S| = {plan.n_rows}"
    if tuned and plan.inner_words:
        quantity += f", θ̂ chosen inside S by {plan.inner_words}{words}"
    if words and not tuned:
        quantity += f", {words} tunes itself inside {measured}"
    if measured == "S":
        return quantity
    if tuned:
        warning = "nothing is measured outside S; the smallest inner loss is optimistic"
        return f"{warning} for {quantity}"
    return f"one setting; the inner loss by {plan.inner_words} estimates {quantity}"


def training_sizes(plan: Plan) -> np.ndarray:
    """Return how many rows each measured model is trained on.

    Models of the outer splits are measured; of the inner ones where there are no outer ones.
    """
    splits = plan.inner[0] if plan.outer_layout is None else plan.outer
    return splits.layout.sizes()[:, 0]
