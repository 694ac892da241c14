"""How much does the number hang on the seed? The same nest on other random splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.progress import Slot
from ..engine.study import Job
from ..errors import InputError
from ..inference.spread import normal_quantile
from ..losses.scale import Scale
from ..pictures.cloud import draw_cloud
from ..results.estimate import RiskEstimate, record_of
from ..results.reports.base import Report
from ..results.scales import scale_of
from ..runs.again import Again
from ..runs.options import Options
from ..splits.options import check_seed
from ..splits.specs import check_count
from ..wording import count
from .draws import check_request, estimates, naming, stopped

if TYPE_CHECKING:
    import pandas as pd

SETTLED = 0.1  # of the spread: the standard error of a mean over seeds that is settled


@dataclass(frozen=True, eq=False, repr=False)
class OverSeeds(Report):
    """The risk of one recipe under several seeds.

    result  the run that the seeds are compared with
    seeds   the seed of each run
    risks   [seeds], each as result.risk of a run of its own
    flats   [seeds], as result.flat; None where the result has none
    n       number of seeds asked for
    """

    result: RiskEstimate
    seeds: np.ndarray
    risks: np.ndarray
    flats: np.ndarray | None
    n: int

    @property
    def complete(self) -> bool:
        """False after an interrupt: the finished seeds are kept."""
        return self.risks.size == self.n

    @property
    def mean(self) -> float:
        """The mean risk over the seeds: a repeated nested cross-validation."""
        return float(self.risks.mean())

    @property
    def sd(self) -> float:
        """The standard deviation of the risks over the seeds; NaN for one seed."""
        return float(self.risks.std(ddof=1)) if self.risks.size > 1 else float("nan")

    @cached_property
    def enough(self) -> int:
        """Seeds after which the standard error of their mean is a tenth of sd, and stays so.

        Estimated from the seeds as they come; 100 = 1 / 0.1² where fewer were run.
        """
        if self.risks.size < 2 or self.sd == 0:
            return 1
        n = np.arange(1, self.risks.size + 1)
        means = np.cumsum(self.risks) / n
        squares = (
            np.cumsum((self.risks - self.mean) ** 2) / n - (means - self.mean) ** 2
        )
        errors = np.sqrt(np.maximum(0.0, squares[1:]) / (n[1:] - 1))
        is_unsettled = errors > SETTLED * self.sd * (1 + 1e-9)
        expected = int(np.ceil(SETTLED**-2))
        if is_unsettled[-1]:
            return max(expected, self.risks.size + 1)
        if not is_unsettled.any():
            return 2
        return int(np.flatnonzero(is_unsettled)[-1]) + 3

    @cached_property
    def noise_share(self) -> float | None:
        """sd² / (sd² + e²), e half the width of one run's 95 % interval over 1.96; None without.

        The share of the spread of one run's number that is split noise. The rest is due to
        the rows, and no number of seeds takes it away.
        """
        try:
            interval = self.result.interval()
        except InputError:
            return None
        error = (interval.high - interval.low) / 2 / normal_quantile(interval.level)
        if not error > 0 or self.risks.size < 2:
            return None
        return float(self.sd**2 / (self.sd**2 + error**2))

    @property
    def title(self) -> str:
        loss = record_of(self.result).loss
        seeds = f"{count(self.risks.size, 'seed')}, {self.seeds[0]} to {self.seeds[-1]}"
        return f"{loss.heading} under {seeds}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        loss, spread = record_of(self.result).loss, self.sd
        scale = Scale.of(loss, self.mean, spread)
        shown = loss.shown(self.risks)
        head = [
            "mean",
            "sd",
            "smallest",
            "largest",
            f"seed {self._own_seed} (this run)",
        ]
        ends = [scale.displayed(float(end)) for end in (shown.min(), shown.max())]
        row = [scale.write(self.mean), scale.size(spread), *ends]
        return head, [[*row, scale.write(self.result.risk)]]

    @property
    def _own_seed(self) -> int:
        return record_of(self.result).recipe.seed

    @property
    def sentences(self) -> list[str]:
        own, risk = self._own_seed, self.result.risk
        n_better = int((self.risks < risk).sum())
        if self.sd == 0:
            return ["Every seed gives the same number."]
        sentences = [
            f"Of these runs {n_better} have a smaller loss than this one, and "
            f"{self.risks.size - n_better} do not: seed {own} is one of many."
        ]
        if self.noise_share is not None:
            percent = 100 * self.noise_share
            sentences.append(
                f"Of the variance of one run's number about {percent:.0f} % is due to the "
                "seed; the rest is due to the rows, and no number of seeds takes it away."
            )
        if self.risks.size > 1:
            error = self.sd / self.risks.size**0.5
            size = Scale.of_difference(record_of(self.result).loss, error, error).size(
                error
            )
            sentences.append(
                f"The standard error of the mean over these seeds is {size}; "
                f"after {self.enough} seeds it is a tenth of sd."
            )
        return sentences

    @property
    def picture(self) -> str:
        """A small picture: a dot for each seed, and lines at the mean and at this run."""
        loss = record_of(self.result).loss
        marks = {"mean": self.mean, "this run": self.result.risk}
        shown = {name: loss.shown(value) for name, value in marks.items()}
        scale, risks = scale_of(self.result), loss.shown(self.risks)
        return draw_cloud(risks, shown, loss.shown_name, scale).img

    def figure(self) -> Any:
        """Draw the risks in plotly, a dot for each seed."""
        from ..figures.studies import seeds_figure

        return seeds_figure(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table, one row per seed."""
        import pandas as pd

        columns = {"seed": self.seeds, "risk": self.risks}
        return pd.DataFrame(
            columns if self.flats is None else columns | {"flat": self.flats}
        )


def over_seeds(
    result: RiskEstimate,
    n: int = 100,
    first: int = 1,
    n_jobs: int | None = None,
    progress: str = "auto",
) -> OverSeeds:
    """Run the recipe of a result again under other seeds of its random splits.

        risks[i] = the risk of the same run with Recipe(..., seed=first + i)

    result    of one family, with outer splits
    n         number of seeds
    first     the first of them
    n_jobs    number of workers, as in Recipe.run; by default that of the result
    progress  "off": silent

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> from cvnb.studies import over_seeds
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested_cv(knn(k=range(1, 30), scale=False), X, y)
    >>> study = over_seeds(result, n=20)
    >>> study.risks.shape, round(study.mean, 4), round(study.sd, 4)
    ((20,), 0.044, 0.0095)
    >>> float(study.risks[6]) == nested_cv(knn(k=range(1, 30), scale=False), X, y, seed=7).risk
    True
    """
    Options(progress=progress)  # refuses other words
    slot, study = Slot(shows=progress == "auto"), None
    try:
        for so_far in growing(result, n, first, n_jobs, slot):
            study = so_far
    except KeyboardInterrupt:
        raise stopped(
            study, 0 if study is None else study.risks.size, n, "seed"
        ) from None
    finally:
        slot.clear()
    assert study is not None  # n >= 1
    return study


def growing(
    result: RiskEstimate, n: int, first: int, n_jobs: int | None, slot: Slot
) -> Iterator[OverSeeds]:
    """Yield the study of the seeds that are finished so far, after every seed.

    KeyboardInterrupt is raised if the slot is stopped.

    slot  shows the progress and holds the stop token
    """
    n = check_request("over_seeds", result, n, n_jobs, "off")
    first = check_count("first", first, 0)
    check_seed(first + n - 1)
    recipe = record_of(result).recipe
    if not recipe.uses_seed:
        raise InputError(
            f"no split of {recipe!r} is drawn at random from the seed, so every seed gives "
            "the same number; use a number of folds, or a share, with shuffle=True."
        )
    seeds, jobs = np.arange(first, first + n), _jobs(result, first, n, n_jobs)
    risks, flats = np.empty(n), np.empty(n)
    has_flats = True
    for i, one in enumerate(estimates(result, jobs, n, "seeds", slot)):
        risks[i] = one.risk
        has_flats = has_flats and one.flat is not None
        if has_flats:
            flats[i] = one.flat
        done = slice(i + 1)
        known = flats[done] if has_flats else None
        yield OverSeeds(result, seeds[done], risks[done], known, n)


def _jobs(
    result: RiskEstimate, first: int, n: int, n_jobs: int | None
) -> Iterator[Job]:
    again, recipe = Again(result, n_jobs), record_of(result).recipe
    for seed in range(first, first + n):
        with naming(f"seed {seed}"):
            job = again.job(replace(recipe, seed=seed))
        yield job
