"""Every recipe beside each other on shared folds: estimate, interval, known bias, cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..data.table import Data
from ..errors import InfeasibleError, InputError, Interrupted
from ..families.family import Family, as_families
from ..inference.interval import Interval
from ..pictures.steps import draw_steps
from ..results.estimate import RiskEstimate, record_of
from ..results.reports.base import Report
from ..results.scales import scale_of
from ..splits.options import check_seed
from ..splits.recipes import Recipe
from ..splits.specs import check_count, check_share
from ..wording import rounded, spread

if TYPE_CHECKING:
    import pandas as pd

FEWER = "slightly pessimistic for all rows: trained on fewer"
FLAT = "optimistic: the rows that chose θ measure it"


@dataclass(frozen=True, eq=False)
class Step:
    """One recipe of the ladder.

    name      the recipe
    result    its run; None if it cannot be run on these rows
    bias      what is known of the estimate's bias
    estimate  its risk; of a recipe that measures nothing outside, the smallest inner loss
    interval  around the risk; None where there is none
    fits      number of fits on the refit path
    seconds   what the run took
    why       why it cannot be run
    """

    name: str
    result: RiskEstimate | None
    bias: str
    estimate: float | None
    interval: Interval | None
    fits: int
    seconds: float
    why: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether the estimate was measured on rows outside of what chose."""
        return self.result is not None and self.result.risk is not None


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(Report):
    """Every recipe on the same rows; `steps` has one Step for each, the simplest first."""

    steps: tuple[Step, ...]

    @property
    def results(self) -> dict[str, RiskEstimate]:
        """The runs by the names of their recipes."""
        return {
            step.name: step.result for step in self.steps if step.result is not None
        }

    @property
    def _first(self) -> RiskEstimate:
        return next(iter(self.results.values()))

    @property
    def title(self) -> str:
        record = record_of(self._first)
        rows = f"{record.data.n_rows} rows × {record.data.n_columns} columns"
        return f"{record.loss.heading} of {record.family.label} by every recipe; {rows}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        head = [
            "recipe",
            "estimate",
            "95 % interval",
            "trained on",
            "fits",
            "seconds",
            "bias",
        ]
        return head, [self._row(step) for step in self.steps]

    def _row(self, step: Step) -> list[str]:
        if step.result is None:
            return [step.name, "–", "–", "–", "–", "–", step.why]
        scale, low_high = scale_of(step.result), "–"
        if step.interval is not None:
            low_high = scale.ends(step.interval.low, step.interval.high)
        plan = step.result.plan
        splits = plan.inner[0] if plan.outer_layout is None else plan.outer
        return [
            step.name,
            scale.write(step.estimate),
            low_high,
            f"{spread(splits.layout.sizes()[:, 0])} rows",
            str(step.fits),
            rounded(step.seconds, 2),
            step.bias,
        ]

    @property
    def sentences(self) -> list[str]:
        return [
            "All recipes share their rows: the three with a test set test on the same rows, "
            "and those with folds have the same outer folds.",
            "The estimates differ by chance too, so one table says what each recipe costs, "
            "not which is best.",
        ]

    @property
    def picture(self) -> str:
        """A small picture: every estimate with its interval."""
        lines = []
        for step in self.steps:
            if step.result is None or step.estimate is None:
                continue
            loss = record_of(step.result).loss
            estimate = loss.shown(step.estimate)
            ends = estimate, estimate
            if step.interval is not None:
                ends = step.interval.low, step.interval.high
            lines.append((step.name, estimate, *ends))
        results = self.results.values()
        outside = {step.name for step in self.steps if step.is_measured}
        label, scale = record_of(self._first).loss.shown_name, scale_of(*results)
        return draw_steps(lines, outside, label, scale).img

    def figure(self) -> Any:
        """Draw the estimates with their intervals in plotly."""
        from ..figures.studies import ladder_figure

        return ladder_figure(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table, one row per recipe."""
        import pandas as pd

        return pd.DataFrame(
            {
                "recipe": [step.name for step in self.steps],
                "estimate": [step.estimate for step in self.steps],
                "low": [step.interval and step.interval.low for step in self.steps],
                "high": [step.interval and step.interval.high for step in self.steps],
                "fits": [step.fits for step in self.steps],
                "seconds": [step.seconds for step in self.steps],
                "bias": [step.bias for step in self.steps],
            }
        )


def ladder(
    family: Any,
    X: Any,
    y: Any,
    test: float = 0.2,
    folds: int = 5,
    samples: int = 20,
    seed: int = 0,
    **run_options: Any,
) -> Ladder:
    """Run every recipe on the same rows: what each estimates, how well, and at what cost.

    Recipes with a test set share it; recipes with folds share their outer folds. A recipe
    that cannot be run on these rows is a line with the reason.

    family, X, y   as in Recipe.run
    test           share of the rows of test sets and dev sets
    folds          number of outer folds and of inner folds
    samples        number of random holdouts, for recipes that resample
    seed           of all random splits
    run_options    other arguments of Recipe.run

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> from cvnb.studies import ladder
    >>> steps = ladder(knn(k=range(1, 20)), *load_iris(return_X_y=True))
    >>> list(steps.results)[:4]
    ['dev set', 'internal CV', 'train/validation/test', 'CV then test']
    >>> steps.results["nested CV"].fold_risks.shape
    (5,)
    """
    family = as_families(family)
    if isinstance(family, dict):
        raise InputError("ladder takes one family; call it for each of a comparison.")
    share, folds = check_share("test", test), check_count("folds", folds, 2)
    samples, seed = check_count("samples", samples, 1), check_seed(seed)
    task = family.task(Data.check(X, y).task)
    recipes = _tuned if len(family.resolved(task, 2).settings) > 1 else _untuned
    steps: list[Step] = []
    try:
        for name, make, bias in recipes(share, folds, samples, seed):
            steps.append(_step(name, make, bias, steps, family, X, y, run_options))
    except Interrupted:
        done = f"{len(steps)} recipes were finished"
        if not any(step.result for step in steps):
            raise Interrupted(f"{done}, so there is no result.") from None
        raise Interrupted(
            f"{done}; error.result holds them.", _in_order(steps)
        ) from None
    return _in_order(steps)


# Makes a recipe from the results so far.
Make = Callable[[dict[str, RiskEstimate]], Recipe]
Entry = tuple[str, Make, str]
ORDER = (
    "dev set",
    "internal CV",
    "train/validation/test",
    "CV then test",
    "resampling then test",
)


def _tuned(share: float, folds: int, samples: int, seed: int) -> list[Entry]:
    """Return every recipe that chooses, those that others share rows with first."""
    return [
        (
            "CV then test",
            lambda _: Recipe.cv_test(inner=folds, test=share, seed=seed),
            FEWER,
        ),
        (
            "train/validation/test",
            lambda _: Recipe.train_validation_test(share, share, seed=seed),
            FEWER,
        ),
        (
            "resampling then test",
            lambda _: Recipe.resampling_test(samples, test=share, seed=seed),
            FEWER,
        ),
        ("nested CV", lambda _: Recipe.nested_cv(folds, folds, seed=seed), FEWER),
        (
            "nested CV with an inner dev set",
            lambda _: Recipe.nested_dev(folds, seed=seed),
            FEWER,
        ),
        (
            "nested resampling",
            lambda _: Recipe.nested_resampling(samples, samples, share, seed=seed),
            FEWER,
        ),
        (
            "dev set",
            lambda runs: Recipe(
                outer=None, dev_rows=runs["CV then test"].plan.outer[0][1]
            ),
            FLAT,
        ),
        (
            "internal CV",
            lambda runs: Recipe(outer=None, inner=list(runs["nested CV"].plan.outer)),
            FLAT,
        ),
    ]


def _untuned(share: float, folds: int, samples: int, seed: int) -> list[Entry]:
    """Return every recipe for one setting."""
    return [
        ("test error", lambda _: Recipe.validation(test=share, seed=seed), FEWER),
        ("external CV", lambda _: Recipe.external_cv(folds, seed=seed), FEWER),
        ("leave-one-out CV", lambda _: Recipe.leave_one_out(), "unbiased"),
    ]


def _step(
    name: str,
    make: Make,
    bias: str,
    before: list[Step],
    family: Family,
    X: Any,
    y: Any,
    options: dict[str, Any],
) -> Step:
    try:
        result = make(_results(before)).run(family, X, y, **options)
    except (InfeasibleError, KeyError) as error:
        why = "its rows are those of a recipe that cannot be run"
        if isinstance(error, InfeasibleError):
            why = str(error)
        return Step(name, None, bias, None, None, 0, 0.0, why)
    assert isinstance(result, RiskEstimate)
    estimate, interval = result.risk, None
    if estimate is None:
        estimate = result.flat
    else:
        try:
            interval = result.interval()
        except InputError:
            interval = None
    n_fits = result.plan.n_inner * len(result.settings) + len(result.plan.outer)
    seconds = record_of(result).table.seconds
    return Step(name, result, bias, estimate, interval, n_fits, seconds)


def _results(steps: Iterable[Step]) -> dict[str, RiskEstimate]:
    return {step.name: step.result for step in steps if step.result is not None}


def _in_order(steps: list[Step]) -> Ladder:
    """Return the ladder, the recipes that measure nothing outside first."""
    place = {name: i for i, name in enumerate(ORDER)}
    return Ladder(
        tuple(sorted(steps, key=lambda step: place.get(step.name, len(ORDER))))
    )
