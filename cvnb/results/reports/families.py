"""Report on the pairs of a comparison: intervals, tests, and which difference matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InputError, WrongTypeError
from ...inference.checked import number as checked_number
from ...inference.checked import probability
from ...inference.paired import Posterior, bayesian_t
from ...wording import number
from ..comparison import Comparison
from ..pairs import Pair, compare_pairs
from .base import Report


@dataclass(frozen=True, eq=False, repr=False)
class FamilyComparison(Report):
    """The pairs of families of one comparison.

    pairs        difference of the losses, its interval, corrected t, p, p after Holm
    posteriors   P(first better), P(within the rope), P(second better) of each pair;
                 None, with the reason of the pair, where there is no test
    rope         the largest difference of losses that does not matter
    """

    pairs: tuple[Pair, ...]
    posteriors: tuple[Posterior | None, ...]
    rope: float
    level: float

    @property
    def title(self) -> str:
        name = self.pairs[0].loss.shown_name
        return f"Differences of {name} on the same outer splits"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        head = [
            "pair",
            "difference",
            f"{100 * self.level:g} % interval",
            "p",
            "p (Holm)",
        ]
        head += ["P(first better)", f"P(within ±{self.rope:g})", "P(second better)"]
        rows = []
        for pair, posterior in zip(self.pairs, self.posteriors, strict=True):
            shown = pair.loss.shown_difference(pair.difference)
            chances = posterior or (None, None, None)
            rows.append(
                [
                    f"{pair.first} minus {pair.second}",
                    number(shown),
                    pair.shown_interval,
                    number(pair.p),
                    number(pair.p_holm),
                    *map(_percent, chances),
                ]
            )
        return head, rows

    @property
    def sentences(self) -> list[str]:
        reasons = [
            f"{pair.first} minus {pair.second}: no test, because {pair.reason}"
            for pair in self.pairs
            if pair.reason
        ]
        return [
            "Interval and p: corrected resampled t. Probabilities: Bayesian correlated t "
            "test, of the same location and scale.",
            *reasons,
        ]


def _percent(chance: float | None) -> str:
    return "–" if chance is None else f"{100 * chance:.1f} %"


def compare_families(
    comparison: Comparison, rope: float = 0.0, level: float = 0.95
) -> FamilyComparison:
    """Each two families of a comparison: the difference, its interval, tests, and what matters.

        difference    mean_j (ε_j of the first - ε_j of the second)
        interval, p   corrected resampled t
        P(...)        `bayesian_t`: the first better by more than rope, neither, the second

    comparison: of Recipe.run with a dict of families. rope: the largest difference of losses
    that does not matter (region of practical equivalence), such as 0.01 for error rates.
    level: coverage probability of the intervals.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import Recipe, knn, ridge
    >>> both = {"knn": knn(), "ridge": ridge()}
    >>> report = compare_families(Recipe(5, 5).run(both, *load_iris(return_X_y=True)), 0.01)
    >>> [round(p, 3) for p in report.posteriors[0]]
    [0.958, 0.014, 0.028]
    """
    if not isinstance(comparison, Comparison):
        raise WrongTypeError(
            f"compare_families takes a Comparison, got {type(comparison).__name__}; run a "
            "dict of families: recipe.run({'knn': knn(), 'ridge': ridge()}, X, y)."
        )
    probability("level", level)
    width = checked_number("rope", rope, least=0.0)
    if len(comparison) < 2:
        raise InputError("one family has nothing to be compared with; run two or more.")
    pairs = compare_pairs(dict(comparison), level)
    posteriors = [_posterior(comparison, pair, width) for pair in pairs]
    return FamilyComparison(tuple(pairs), tuple(posteriors), width, level)


def _posterior(comparison: Comparison, pair: Pair, rope: float) -> Posterior | None:
    try:
        return bayesian_t(comparison[pair.first], comparison[pair.second], rope=rope)
    except InputError:
        return None
