"""Would more rows help? The risk at several training sizes, θ chosen anew at each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.study import Job
from ..errors import InfeasibleError, InputError
from ..inference.measured import refuse_time, split_sizes
from ..inference.paired import corrected_error
from ..inference.spread import student_quantile
from ..losses.scale import Scale
from ..pictures.learning import draw_learning_curve
from ..results.estimate import RiskEstimate, record_of
from ..results.reports.base import Report
from ..results.scales import scale_of
from ..runs.again import Again
from ..splits.layouts import compress
from ..splits.options import check_seed
from ..splits.specs import FixedRows, ListedSplits, check_count, is_whole
from ..splits.splitters import Pair
from ..wording import count
from .draws import check_request, delivered, naming, risks_of
from .extrapolation import PowerLaw, fit_power_law
from .subsets import Subsets

if TYPE_CHECKING:
    import pandas as pd

LEAST_ROWS = 10


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Report):
    """The risk of one recipe at several training sizes.

    result      the run at the full size
    sizes       [sizes] training rows of an outer split, the smallest first
    risks       [sizes, repeats], each as result.risk; NaN where an interrupt came first
    fold_risks  [sizes, repeats, outer splits] likewise
    seed        of the subsets
    """

    result: RiskEstimate
    sizes: np.ndarray
    risks: np.ndarray
    fold_risks: np.ndarray
    seed: int

    @property
    def complete(self) -> bool:
        """False after an interrupt: the finished sizes are kept."""
        return bool(np.isfinite(self.risks).all())

    @property
    def subsets(self) -> list[list[list[Pair]]]:
        """[size][repeat]: the (train, test) of every outer split, drawn when read.

        Recipe(outer=curve.subsets[i][r], inner=...) measures risks[i, r] anywhere.
        """
        drawn = Subsets(self.result, self.seed)
        repeats = range(self.risks.shape[1])
        return [[drawn.outer(size, r) for r in repeats] for size in self.sizes.tolist()]

    @property
    def means(self) -> np.ndarray:
        """[sizes] The mean over the repeats that were finished."""
        with np.errstate(invalid="ignore"):
            known = np.isfinite(self.risks)
            return np.where(known, self.risks, 0.0).sum(axis=1) / known.sum(axis=1)

    @cached_property
    def law(self) -> PowerLaw | None:
        """a + b n^-c through the means; None with fewer than four sizes."""
        if not self.complete:
            return None
        least = 0.0 if record_of(self.result).loss.is_known else None
        return fit_power_law(self.sizes.astype(np.float64), self.means, least)

    @property
    def title(self) -> str:
        loss = record_of(self.result).loss
        sizes = f"{self.sizes[0]} to {self.sizes[-1]} training rows"
        return f"{loss.heading} at {sizes}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        scale = scale_of(self.result)
        head = ["training rows", *map(str, self.sizes)]
        shown = [scale.write(float(mean)) for mean in self.means]
        spread = [
            scale.size(float(row.std(ddof=1))) if np.ptp(row) else "–"
            for row in self.risks
        ]
        return head, [["mean", *shown], ["sd over repeats", *spread]]

    @cached_property
    def gain(self) -> tuple[float, float, int] | None:
        """(fall of the loss from a size to the full one, its error, that size).

        The size is the one nearest to half the rows. The error is half the width of a 95 %
        interval by the corrected t of the differences in the outer splits; NaN for one
        split. None with a single size.
        """
        if self.sizes.size < 2 or not self.complete:
            return None
        at = int(np.argmin(np.abs(self.sizes[:-1] - self.sizes[-1] / 2)))
        d = (self.fold_risks[at] - self.fold_risks[-1]).mean(axis=0)
        error = float("nan")
        if d.size > 1:
            error = corrected_error(d, *split_sizes(self.result))
            error *= student_quantile(0.95, d.size - 1)
        return float(d.mean()), error, int(self.sizes[at])

    @property
    def sentences(self) -> list[str]:
        if self.gain is None:
            return ["Would more rows help? That needs several sizes."]
        return [self._answer(*self.gain), *self._forecast()]

    def _answer(self, fall: float, error: float, size: int) -> str:
        loss = record_of(self.result).loss
        change = "rises" if loss.is_score else "falls"
        scale = Scale.of_difference(loss, fall, error if error == error else None)
        sign = "−" * (fall < 0)
        measured = (
            f"From {size} to {self.sizes[-1]} training rows the {loss.words} {change} by "
            f"{sign}{scale.size(fall)} ± {scale.size(error)} (95 %, over "
            f"{count(self._n_folds, 'test fold')})."
        )
        if np.isnan(error):
            return f"{measured} One test fold says nothing about the error of that."
        if fall > error:
            return f"Would more rows help? Probably: {measured}"
        if fall < -error:
            return (
                f"Would more rows help? No sign of it, rather the contrary: {measured}"
            )
        return f"Would more rows help? These rows cannot tell: {measured}"

    @property
    def _n_folds(self) -> int:
        return int(self.fold_risks.shape[2])

    def _forecast(self) -> list[str]:
        if self.law is None:
            return []
        n = int(self.sizes[-1])
        value = scale_of(self.result).write(self.law(2 * n))
        return [
            f"At {2 * n} training rows the formula {self.law.formula} would give {value}. It "
            f"rests on {count(self.sizes.size, 'size')} and on the assumption that the curve "
            "goes on as it is."
        ]

    @property
    def picture(self) -> str:
        """A small picture: a dot for each repeat, the mean, and the formula as a dashed line."""
        loss, scale = record_of(self.result).loss, scale_of(self.result)
        shown, beyond = loss.shown(self.risks), self._continuation()
        drawn = draw_learning_curve(self.sizes, shown, beyond, loss.shown_name, scale)
        return drawn.img

    def _continuation(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(sizes, shown losses) of the formula from the largest size to twice as many rows."""
        if self.law is None:
            return None
        n, loss = float(self.sizes[-1]), record_of(self.result).loss
        sizes = np.linspace(n, 2 * n, 20)
        return sizes, loss.shown(np.array([self.law(x) for x in sizes]))

    def figure(self) -> Any:
        """Draw the curve in plotly."""
        from ..figures.studies import learning_figure

        return learning_figure(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table, one row per size and repeat."""
        import pandas as pd

        n_sizes, n_repeats = self.risks.shape
        return pd.DataFrame(
            {
                "size": np.repeat(self.sizes, n_repeats),
                "repeat": np.tile(np.arange(n_repeats), n_sizes),
                "risk": self.risks.ravel(),
            }
        )


def learning_curve(
    result: RiskEstimate,
    sizes: Any = 8,
    repeats: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: str = "auto",
) -> LearningCurve:
    """Run the recipe of a result again on smaller training parts, θ chosen anew at each size.

        risks[i, r] = the risk where each outer training part is cut down to sizes[i] rows

    The test folds stay as they are. The subsets of one repeat are nested, keep classes in
    proportion and groups whole; inner splits are drawn inside them as the recipe draws them.

    result    of one family, with outer splits
    sizes     a number of sizes, evenly spaced on a log scale up to the full one; or the numbers
              of training rows
    repeats   number of random subsets of each size
    seed      of the subsets
    n_jobs    number of workers, as in Recipe.run; by default that of the result
    progress  "off": silent

    >>> from sklearn.datasets import load_diabetes
    >>> from cvnb import nested_cv, ridge
    >>> from cvnb.studies import learning_curve
    >>> result = nested_cv(ridge(), *load_diabetes(return_X_y=True))
    >>> curve = learning_curve(result, sizes=[50, 100, 200, 353])
    >>> curve.risks.shape, bool(curve.means[0] > curve.means[-1])
    ((4, 5), True)
    >>> bool(np.isclose(curve.risks[-1, 0], result.risk))
    True
    """
    check_request("learning_curve", result, 1, n_jobs, progress)
    repeats, seed = check_count("repeats", repeats, 1), check_seed(seed)
    _refuse_recipe(result)
    again, subsets = Again(result, n_jobs), Subsets(result, seed)
    every = _sizes(sizes, again, subsets, repeats)
    draws = [
        (i, r)
        for i, size in enumerate(every)
        for r in range(repeats if size < subsets.n_full else 1)
    ]
    jobs = (_job(again, subsets, every[i], r) for i, r in draws)
    n = len(draws)
    measured = risks_of(result, jobs, n, "subsets", progress, with_folds=True)
    shape = len(every), repeats
    risks = np.full(shape, np.nan)
    fold_risks = np.full((*shape, len(result.plan.outer)), np.nan)
    done = zip(draws, measured.risks, measured.fold_risks, strict=False)
    for (i, r), risk, folds in done:
        at = (
            (i, r) if every[i] < subsets.n_full else i
        )  # the full part is its only subset
        risks[at], fold_risks[at] = risk, folds
    curve = LearningCurve(result, np.array(every), risks, fold_risks, seed)
    return delivered(curve, measured, n, "subset")


def _refuse_recipe(result: RiskEstimate) -> None:
    record = record_of(result)
    if isinstance(record.inner_spec, ListedSplits | FixedRows):
        raise InputError(
            "the inner splits were given as row numbers, so nothing says how to choose "
            "inside smaller training parts; give inner as a splitter or a number of folds."
        )
    try:
        refuse_time(result)
    except InputError:
        raise InputError(
            "rows in the order of time: a random subset of a training part has gaps in time, "
            "so it says nothing about fewer rows in a row; run the recipe on the last rows."
        ) from None


def _job(again: Again, subsets: Subsets, size: int, repeat: int) -> Job:
    outer = compress(subsets.outer(size, repeat), again.record.plan.n_rows)
    with naming(f"{count(size, 'training row')}"):
        return again.job(outer=outer)


def _sizes(sizes: Any, again: Again, subsets: Subsets, repeats: int) -> list[int]:
    """Return the training sizes, checked, the smallest first."""
    full = subsets.n_full
    if is_whole(sizes):
        n = check_count("sizes", sizes, 1)
        return _spaced(_smallest(again, subsets, repeats), full, n)
    every = np.asarray(sizes)
    is_valid = every.ndim == 1 and every.size and every.dtype.kind in "iu"
    if not is_valid or every.min() < 2 or every.max() > full:
        raise InputError(
            f"sizes={sizes!r} must be a number of sizes, or whole numbers of training rows "
            f"from 2 to {full}, the smallest outer training part."
        )
    return np.unique(every).tolist()


def _spaced(low: int, high: int, n: int) -> list[int]:
    """Return n whole numbers, evenly spaced on a log scale; fewer where they would coincide."""
    return np.unique(np.rint(np.geomspace(high, low, n)).astype(int)).tolist()


def _smallest(again: Again, subsets: Subsets, repeats: int) -> int:
    """Return the smallest size, from a sixteenth of the rows on, at which every split is sound."""
    full = subsets.n_full
    size = min(full, max(LEAST_ROWS, full // 16))
    while size < full:
        try:
            for repeat in range(repeats):
                _job(again, subsets, size, repeat)
            return size
        except InfeasibleError:
            size = min(full, size + max(1, size // 4))
    return full
