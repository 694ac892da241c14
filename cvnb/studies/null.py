"""Is it better than chance? The whole nest on shuffled targets, choice included."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.study import Job
from ..errors import InputError
from ..losses.scale import Scale
from ..pictures.cloud import draw_cloud
from ..results.estimate import RiskEstimate, record_of
from ..results.reports.base import Report
from ..results.scales import scale_of
from ..runs.again import Again
from ..splits.options import check_seed
from ..wording import count
from .draws import check_request, delivered, naming, risks_of
from .shuffles import Shuffles, given_shuffles, shuffles_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class NullTest(Report):
    """The risk of one recipe on shuffled targets, beside its risk on the real ones.

    result    the run on the real targets
    risks     [shuffles], each as result.risk of a run of its own on y[permutations[i]]
    flats     [shuffles], as result.flat; None where the result has none
    shuffled  what changed places: "all rows"
    n         number of shuffles asked for
    """

    result: RiskEstimate
    risks: np.ndarray
    flats: np.ndarray | None
    shuffled: str
    n: int
    _shuffles: Iterable[np.ndarray]

    @property
    def permutations(self) -> np.ndarray:
        """[shuffles, rows] row numbers: shuffle i is y[permutations[i]]; drawn when read."""
        return np.array(list(self._shuffles), dtype=np.intp)[: self.risks.size]

    @property
    def complete(self) -> bool:
        """False after an interrupt: the finished shuffles are kept."""
        return self.risks.size == self.n

    @property
    def p(self) -> float:
        """(1 + #{risks <= risk}) / (1 + number of shuffles): how often chance does as well."""
        return self._p(self.risks, self.result.risk)

    @property
    def p_flat(self) -> float | None:
        """The same of the flat estimate, which chose and measured on the same folds."""
        if self.flats is None or self.result.flat is None:
            return None
        return self._p(self.flats, self.result.flat)

    def _p(self, shuffled: np.ndarray, real: float | None) -> float:
        return float((1 + (shuffled <= real).sum()) / (1 + shuffled.size))

    @property
    def title(self) -> str:
        loss = record_of(self.result).loss
        shuffles = count(self.risks.size, "shuffle")
        return (
            f"{loss.heading} against chance: p = {self.p:.2g} "
            f"({shuffles} of {self.shuffled})"
        )

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        head = ["estimate", "real targets", "shuffled: mean", "best", "p"]
        rows = [self._row("nested", self.result.risk, self.risks, self.p)]
        if self.flats is not None:
            name = "flat (the same folds choose and measure)"
            rows.append(self._row(name, self.result.flat, self.flats, self.p_flat))
        return head, rows

    def _row(
        self, name: str, real: float | None, shuffled: np.ndarray, p: float | None
    ) -> list[str]:
        losses = [real, float(shuffled.mean()), float(shuffled.min())]
        shown = [self._scale.write(x) for x in losses]
        return [name, *shown, "–" if p is None else f"{p:.2g}"]

    @property
    def _scale(self) -> Scale:
        """Two digits of the spread over the shuffles."""
        loss, chance = record_of(self.result).loss, float(self.risks.mean())
        return Scale.of(loss, chance, float(self.risks.std()))

    @property
    def sentences(self) -> list[str]:
        n_better = int((self.risks <= self.result.risk).sum())
        sentences = [
            f"{n_better} of {count(self.n_done, 'shuffle')} did as well as the real targets; "
            f"with so many the smallest p there can be is {1 / (self.n_done + 1):.2g}."
        ]
        if self.flats is not None and self.result.flat is not None:
            low = self._scale.write(float(self.flats.mean()))
            chance = self._scale.write(float(self.risks.mean()))
            sentences.append(
                "Choosing and measuring on the same folds reads "
                f"{low} on average where there is nothing to learn, "
                f"and the nested estimate {chance}: a p from the flat "
                "estimate is right only if every shuffle is tuned as well, as here."
            )
        if isinstance(self._shuffles, Shuffles):
            ways = math.lgamma(self._shuffles.units + 1)
            if ways < math.log(self.n_done + 1):
                sentences.append(
                    f"There are only {round(math.exp(ways))} different shuffles of "
                    f"{self._shuffles.units} groups, so p cannot be smaller than about one in "
                    "that many."
                )
        return sentences

    @property
    def n_done(self) -> int:
        """Number of finished shuffles."""
        return int(self.risks.size)

    @property
    def picture(self) -> str:
        """A small picture: a dot for each shuffle, and a line at the real targets."""
        loss = record_of(self.result).loss
        shown = loss.shown(self.risks)
        real = loss.shown(self.result.risk)
        marks = {"mean of shuffles": float(shown.mean()), "real targets": real}
        return draw_cloud(shown, marks, loss.shown_name, scale_of(self.result)).img

    def figure(self) -> Any:
        """Draw the risks on shuffled targets in plotly, with the real one."""
        from ..figures.studies import null_figure

        return null_figure(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table, one row per shuffle."""
        import pandas as pd

        columns = {"shuffle": np.arange(self.risks.size), "risk": self.risks}
        return pd.DataFrame(
            columns if self.flats is None else columns | {"flat": self.flats}
        )


def null_test(
    result: RiskEstimate,
    n: int = 1000,
    seed: int = 0,
    permutations: Any = None,
    within: Any = None,
    n_jobs: int | None = None,
    progress: str = "auto",
) -> NullTest:
    """Run the recipe of a result again on shuffled targets, choice of θ included.

        risks[i] = the risk of the same run on y[permutations[i]]
        p        = (1 + #{risks <= risk}) / (1 + n)

    Splits are drawn for the shuffled targets as the recipe draws them. The shuffles are those
    of scikit-learn's permutation_test_score with random_state=seed. Rows in the order of time
    are refused.

    result        of one family, with outer splits
    n             number of shuffles
    seed          of the shuffles
    permutations  row numbers [shuffles, rows] in place of n and seed
    within        an array with the block of each row: rows change places inside blocks only;
                  "shift": y moves round in the order of the rows. By default whole groups where
                  y is constant in each, else rows inside groups, else all rows
    n_jobs        number of workers, as in Recipe.run; by default that of the result
    progress      "off": silent

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> from cvnb.studies import null_test
    >>> X, y = load_iris(return_X_y=True)
    >>> null = null_test(nested_cv(knn(k=range(1, 30), scale=False), X, y), n=99)
    >>> null.p, null.risks.shape, null.permutations.shape, bool(null.risks.min() > 0.5)
    (0.01, (99,), (99, 150), True)
    """
    given = None
    if permutations is not None and isinstance(result, RiskEstimate):
        given = given_shuffles(permutations, record_of(result).data.n_rows)
        n = len(given)
    n = check_request("null_test", result, n, n_jobs, progress)
    shuffles: Iterable[np.ndarray]
    if given is None:
        shuffles = shuffles_of(result, within, n, check_seed(seed))
        words = shuffles.words
    elif within is not None:
        raise InputError("give permutations= or within=, not both.")
    else:
        shuffles, words = given, "the rows, as given"
    jobs = _jobs(result, shuffles, n_jobs)
    measured = risks_of(result, jobs, n, "shuffles", progress)
    study = NullTest(
        result, measured.risks, measured.flats, words, n, _shuffles=shuffles
    )
    return delivered(study, measured, n, "shuffle")


def _jobs(
    result: RiskEstimate, shuffles: Iterable[np.ndarray], n_jobs: int | None
) -> Iterator[Job]:
    again, data = Again(result, n_jobs), record_of(result).data
    for i, rows in enumerate(shuffles):
        with naming(f"shuffle {i}"):
            job = again.job(data=data.with_y(data.y[rows]))
        yield job
