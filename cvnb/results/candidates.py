"""Three final predictors, each built inside every outer training part and measured outside it.

retrain    A_θ of all of the training part, θ chosen by its inner splits
ensemble   the mean of the models of the inner splits, all at that θ
own        the mean of the models of the inner splits, each at the θ that its own dev part
           likes best
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, LossError
from ..inference.minimum import tied_settings
from ..paths.base import weights_of
from ..paths.refit import fit_on
from ..runtime.randomness import global_state
from ..runtime.thread_warnings import quiet
from ..splits.splitters import Pair
from ..wording import count
from .predictor import ensemble
from .record import Record

CANDIDATES = ("retrain", "ensemble", "own")


@dataclass(frozen=True, eq=False)
class Candidates:
    """losses[name] [outer splits]: the loss of each candidate on each outer test part."""

    losses: dict[str, np.ndarray]

    @property
    def risks(self) -> dict[str, float]:
        return {name: float(losses.mean()) for name, losses in self.losses.items()}

    @property
    def better(self) -> str:
        """The name of the smallest risk; of equal ones the first."""
        risks = self.risks
        return min(risks, key=lambda name: risks[name])

    @property
    def verdict(self) -> str:
        """Which predictor how="auto" takes, and what its number is worth."""
        parts = count(self.losses["retrain"].size, "outer test part")
        return (
            f"{self.better!r} has the smallest risk on {parts}, so "
            "result.predictor(how='auto') takes it. The parts that measure it chose it, of "
            "three: its risk is slightly optimistic."
        )


def measured_candidates(record: Record) -> Candidates:
    """Measure the three on every outer test part: 2 K fits for each, K the inner splits."""
    _refuse(record)
    plan, table, data = record.plan, record.table, record.data
    assert table.inner is not None
    losses: dict[str, list[float]] = {"ensemble": [], "own": []}
    for j, (_, test) in enumerate(plan.outer):
        splits, chosen = list(plan.inner[j]), int(table.chosen[j])
        own = own_choices(record, table.inner[j], chosen)
        models = models_of(record, splits, [chosen] * len(splits))
        own_models = [
            model if s == chosen else models_of(record, [split], [s])[0]
            for model, split, s in zip(models, splits, own, strict=True)
        ]
        for name, several in (("ensemble", models), ("own", own_models)):
            losses[name].append(_loss_on(record, ensemble(several, data.X), test))
    return Candidates(
        {
            "retrain": table.fold_risks.copy(),
            **{name: np.array(values) for name, values in losses.items()},
        }
    )


def own_choices(record: Record, inner: np.ndarray, chosen: int) -> list[int]:
    """Return for each inner split the setting of its own smallest loss; `chosen` if all failed.

    inner: [inner splits, settings]
    """
    zero_one = record.loss.zero_one
    tied = [tied_settings(losses, zero_one) for losses in inner]
    return [int(settings[0]) if settings.size else chosen for settings in tied]


def models_of(
    record: Record, splits: Sequence[Pair], settings: Sequence[int]
) -> list[Any]:
    """Fit one setting on the training part of each split."""
    family, data = record.family, record.data
    return [
        fit_on(family, data, family.settings[s], train)
        for (train, _), s in zip(splits, settings, strict=True)
    ]


def _loss_on(record: Record, model: Any, test: np.ndarray) -> float:
    data, loss = record.data, record.loss
    if loss.scorer is None and not hasattr(model, loss.response):
        raise LossError(
            f"the {loss.name} loss needs {loss.response}, which the mean of several of these "
            "models does not have; compare by loss='zero_one', or use how='retrain'."
        )
    with global_state(), quiet():
        weights = weights_of(data, test)
        try:
            return loss.measure(model, data.rows(test), data.y[test], weights)[0]
        except AttributeError as error:
            raise LossError(
                f"{loss.given_name} cannot measure the mean of several of these models ({error}); "
                "compare by another loss, or use how='retrain'."
            ) from None


def _refuse(record: Record) -> None:
    if record.plan.outer_layout is None:
        raise InputError(
            "outer=None measures nothing outside S, so nothing tells which predictor is "
            "better; give outer, or use how='retrain' or 'ensemble'."
        )
    if not record.table.complete:
        raise InputError(
            "interrupted: some outer splits were not finished, so the predictors cannot be "
            "compared; run again."
        )
    if record.table.inner is None:
        raise InputError(
            "nothing is chosen inside the outer training parts, so there are no inner models "
            "to take the mean of; use inner=5 and a grid, or how='retrain'."
        )
