"""Recipe: an outer splitter times an inner splitter. Every named recipe is one line.

outer \\ inner   none          one dev set             K-fold, LOO    resampling
none            -             dev_set                 internal_cv    (inner=Resampling)
one holdout     validation    train_validation_test   cv_test        resampling_test
K-fold, LOO     external_cv   nested_dev              nested_cv      (inner=Resampling)
resampling      (inner=None)  (inner=.25)             (inner=5)      nested_resampling
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..calls import explained, explained_class
from ..errors import Interrupted, RecipeError
from .durations import Buffer
from .options import CHECKS, check_together, is_same
from .specs import (
    Folds,
    Holdout,
    InnerSpec,
    LikeOuterTest,
    ListedSplits,
    Resampling,
    Spec,
    check_count,
    check_share,
    fixed_rows,
    is_whole,
    spec_of,
)
from .spelling import call_of, name_of

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.estimate import RiskEstimate
    from ..runs.advice import Suggestion
    from .plan import Plan


@explained_class
@dataclass(frozen=True, eq=False)
class Recipe:
    """How S is split at both levels, and so which quantity is estimated.

    outer          the splits that measure the risk: int K | float, one holdout of that share
                   | "loo" | a scikit-learn splitter | a list of (train, test) | None
    inner          the splits that choose θ inside each outer training part: the same, but one
                   list per outer split | "auto": the cv of a search, else 5
    seed           of all random splits
    shuffle        False: folds and holdouts follow the order of the rows
    stratify       whether parts keep classes in proportion: True | False | "auto", if possible
                   | int: so many quantile bins of a continuous y
    time_ordered   True: rows are in the order of time, test parts are blocks of it, and later
                   rows predict earlier ones too | "forward": every training row is older than
                   every test row, and test parts are those of TimeSeriesSplit
    buffer         rows dropped on both sides of a test part (forward: before it); with times=
                   also a duration ("3D") or a number in their units
    test_rows, dev_rows   row numbers of the outer test part, and of the inner dev part

    stratify=10 cuts y at the deciles of all rows, as pandas.qcut(y, 10, duplicates="drop")
    does: equal values share a bin, the lower one at an edge, and equal edges merge. Both levels
    use these bins, which steer the splits and never reach a model. A bin smaller than the
    number of folds is an error; groups keep bins as far as they can.

    >>> Recipe.nested_cv(outer=10)
    Recipe(outer=10, inner='auto', seed=0)
    """

    outer: Any = 5
    inner: Any = "auto"
    seed: int = 0
    shuffle: bool = True
    stratify: bool | str | int = "auto"
    time_ordered: bool | str = False
    buffer: Buffer = 0
    test_rows: Any = None
    dev_rows: Any = None
    outer_spec: Spec = field(init=False)
    inner_spec: InnerSpec = field(init=False)

    def __post_init__(self) -> None:
        for option, check in CHECKS.items():
            self._store(option, check(getattr(self, option)))
        outer, inner = spec_of("outer", self.outer), spec_of("inner", self.inner)
        for level, spec in (("outer", outer), ("inner", inner)):
            if isinstance(spec, ListedSplits):
                self._store(level, list(spec.splits))  # an iterator is read once
        if self.test_rows is not None:
            outer = fixed_rows("test_rows", self.test_rows, "outer", outer, Folds(5))
        if self.dev_rows is not None:
            inner = fixed_rows("dev_rows", self.dev_rows, "inner", inner, "auto")
        self._store("outer_spec", outer)
        self._store("inner_spec", inner)
        check_together(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recipe):
            return NotImplemented
        names = [f.name for f in fields(self) if f.init]
        return all(is_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """The common name of this pair of splitters.

        >>> Recipe(outer=5, inner=0.2).name
        'nested CV with an inner dev set'
        """
        return name_of(self)

    @property
    def uses_seed(self) -> bool:
        """Whether some split is drawn at random.

        >>> Recipe().uses_seed, Recipe.leave_one_out().uses_seed
        (True, False)
        """
        random = str | Folds | Holdout | LikeOuterTest | Resampling
        draws = any(isinstance(s, random) for s in (self.outer_spec, self.inner_spec))
        return draws and self.shuffle and not self.time_ordered

    @classmethod
    def train_validation_test(
        cls, validation: float = 0.2, test: float = 0.2, **options: Any
    ) -> Recipe:
        """Choose θ on a validation set, train again on both, test once.

        validation   share of all rows to choose θ on
        test         share of all rows to test on
        options      other arguments of Recipe

        >>> Recipe.train_validation_test(validation=0.25, test=0.25)
        Recipe(outer=0.25, inner=Holdout(0.25, of_all=True), seed=0)
        """
        check_share("validation", validation)
        if "test_rows" not in options and check_share("test", test) + validation >= 1:
            raise RecipeError(
                f"validation={validation} and test={test} leave no row to train on; their "
                "sum must be below 1."
            )
        return cls(outer=test, inner=Holdout(validation, of_all=True), **options)

    @classmethod
    def cv_test(cls, inner: Any = "auto", test: float = 0.2, **options: Any) -> Recipe:
        """Choose θ by cross-validation on the learning part, train again on it, test once.

        inner     the splits that choose θ, as in Recipe
        test      share of the rows to test on
        options   other arguments of Recipe

        >>> Recipe.cv_test(inner=10)
        Recipe(outer=0.2, inner=10, seed=0)
        """
        return cls(outer=check_share("test", test), inner=inner, **options)

    @classmethod
    def resampling_test(
        cls,
        samples: int = 20,
        validation: float = 0.25,
        test: float = 0.2,
        **options: Any,
    ) -> Recipe:
        """Choose θ on random validation sets of the learning part, train on all of it, test once.

        samples      number of validation sets
        validation   share of the learning part in each of them
        test         share of the rows to test on
        options      other arguments of Recipe

        >>> Recipe.resampling_test(samples=10)
        Recipe(outer=0.2, inner=Resampling(samples=10, share=0.25), seed=0)
        """
        check_count("samples", samples, 1)
        inner = Resampling(samples, check_share("validation", validation))
        return cls(outer=check_share("test", test), inner=inner, **options)

    @classmethod
    def nested_cv(cls, outer: Any = 5, inner: Any = "auto", **options: Any) -> Recipe:
        """Cross-validate the procedure "choose θ by cross-validation, then train".

        outer     the splits that measure the risk, as in Recipe
        inner     the splits that choose θ, as in Recipe
        options   other arguments of Recipe

        >>> Recipe.nested_cv(outer=10, inner=5, seed=1)
        Recipe(outer=10, inner=5, seed=1)
        """
        return cls(outer=outer, inner=inner, **options)

    @classmethod
    def nested_dev(cls, outer: Any = 5, **options: Any) -> Recipe:
        """Nested CV with one inner dev set, as large as the outer test part.

        >>> import numpy as np
        >>> Recipe.nested_dev(outer=4).plan(np.zeros((12, 1)), np.arange(12) / 12).inner[0]
        <1 split: 6 training rows, 3 test rows>
        """
        if is_whole(outer) and outer == 2:
            raise RecipeError(
                "outer=2 leaves no row to train on next to a dev set of m/2 rows; use outer >= 3."
            )
        return cls(outer=outer, inner=LikeOuterTest(), **options)

    @classmethod
    def nested_resampling(
        cls,
        outer: int = 20,
        inner: int = 20,
        test: float = 0.2,
        validation: float = 0.25,
        **options: Any,
    ) -> Recipe:
        """Draw random learning/test splits; in each, choose θ on random validation sets.

        outer        number of learning/test splits
        inner        number of validation sets inside each learning part
        test         share of the rows to test on
        validation   share of the learning part in each validation set
        options      other arguments of Recipe

        >>> Recipe.nested_resampling(outer=10, inner=5).name
        'nested resampling'
        """
        outside = Resampling(check_count("outer", outer, 1), check_share("test", test))
        inside = Resampling(
            check_count("inner", inner, 1), check_share("validation", validation)
        )
        return cls(outer=outside, inner=inside, **options)

    @classmethod
    def external_cv(cls, folds: Any = 5, **options: Any) -> Recipe:
        """Cross-validate one setting; nothing is tuned.

        >>> Recipe.external_cv(10)
        Recipe(outer=10, inner=None, seed=0)
        """
        return cls(outer=folds, inner=None, **options)

    @classmethod
    def internal_cv(cls, folds: Any = 5, **options: Any) -> Recipe:
        """Choose θ by cross-validation on all of S; no risk is measured outside it.

        >>> Recipe.internal_cv(10)
        Recipe(outer=None, inner=10, seed=0)
        """
        return cls(outer=None, inner=folds, **options)

    @classmethod
    def dev_set(cls, dev: float = 0.2, **options: Any) -> Recipe:
        """Choose θ on one dev set; no risk is measured outside it.

        >>> Recipe.dev_set(dev=0.25)
        Recipe(outer=None, inner=0.25, seed=0)
        """
        return cls(outer=None, inner=check_share("dev", dev), **options)

    @classmethod
    def validation(cls, test: float = 0.2, **options: Any) -> Recipe:
        """Train once, test once; nothing is tuned.

        >>> Recipe.validation(test=0.25)
        Recipe(outer=0.25, inner=None, seed=0)
        """
        return cls(outer=check_share("test", test), inner=None, **options)

    @classmethod
    def leave_one_out(cls, **options: Any) -> Recipe:
        """Leave-one-out cross-validation of one setting; nothing is tuned.

        >>> Recipe.leave_one_out()
        Recipe(outer='loo', inner=None, seed=0)
        """
        return cls(outer="loo", inner=None, **options)

    @staticmethod
    def suggest(
        X: Any,
        y: Any,
        groups: Any = None,
        time_ordered: bool | str = False,
        family: Any = None,
        goal: str = "estimate",
        buffer: Buffer = 0,
        test_rows: Any = None,
        seed: int = 0,
        times: Any = None,
    ) -> Suggestion:
        """Suggest a recipe for these rows: `.recipe`, with reasons in `.sentences`.

        X, y           the rows and their targets
        groups         group of every row
        family         the family to tune; where its settings are not computed together, two
                       fits or a split are timed, and a dear one gets a cheaper recipe
        goal           "estimate" the risk of the tuned rule | "choose" θ | "predictor": the
                       risk of one predictor to keep

        As in Recipe and Recipe.run: time_ordered, buffer, test_rows, seed and times.

        >>> from sklearn.datasets import load_iris
        >>> Recipe.suggest(*load_iris(return_X_y=True)).recipe
        Recipe(outer=10, inner=5, seed=0)
        """
        from ..runs.advice import suggest

        options = {"seed": seed, "time_ordered": time_ordered, "buffer": buffer}
        return suggest(X, y, groups, family, goal, test_rows, options, times)

    @explained
    def plan(
        self, X: Any, y: Any, family: Any = None, groups: Any = None, times: Any = None
    ) -> Plan:
        """Return every split without fitting; a run with that family draws the same splits.

        X, y     the rows and their targets
        family   for inner="auto", and for a task that y does not determine
        groups   group of every row, or the column of X that holds it
        times    time of every row, likewise; they need a recipe with time_ordered=

        >>> import numpy as np
        >>> Recipe(outer=3, inner=2).plan(np.zeros((12, 1)), np.arange(12) / 12).outer[0][1]
        array([ 4,  6, 10, 11])
        """
        from ..runs.prepare import plan

        return plan(self, X, y, family, groups, times)

    @explained
    def run(
        self,
        family: Any,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        loss: Any = None,
        scoring: Any = None,
        select: Any = "min",
        flat: bool = False,
        n_jobs: int | None = None,
        path: str = "auto",
        progress: str = "auto",
        times: Any = None,
    ) -> RiskEstimate | Comparison:
        """Return the risk of a family under this recipe; for a dict of families a Comparison.

        family          an estimator | (estimator, grid) | a Family, such as knn() | a search,
                        such as a GridSearchCV | a dict of these by name;
                        run(estimator, grid, X, y) is a pair too
        X, y            the rows and their targets; y may be the name of a column of X
        groups          group of every row, or the column of X with it; no split cuts a group
        sample_weight   weight of every row, in fits and losses, or the column of X with it
        loss            "zero_one" | "squared" | "absolute" | "log" | a function of (y, ŷ)
        scoring         a scikit-learn scorer or its name, in place of loss
        select          "min" | "one_se" | cvnb.inference.OneSE({"gamma": "small"}) | a function
                        of the inner curve (and, if it requires them, of losses[setting, fold]
                        and the settings) that returns the index of a setting
        flat            True: fit every setting on every outer training part too, for
                        outer_curves, flat and optimism; free unless the path is "refit"
        n_jobs          number of workers; -1: all processors
        path            "auto" | "refit": one fit per setting and split
        progress        "auto" | "off"
        times           time of every row, dates or numbers, or the column of X with it; rows
                        are split in this order, and those of equal time stay together

        An interrupt raises cvnb.Interrupted, whose `result` is the finished part.

        >>> from sklearn.datasets import load_iris
        >>> from cvnb import knn
        >>> round(Recipe(5, 5).run(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)).risk, 4)
        0.0467
        """
        try:
            from ..runs.options import Options
            from ..runs.prepare import run

            options = Options(loss, scoring, select, flat, n_jobs, path, progress)
            return run(self, family, X, y, groups, sample_weight, options, times)
        except Interrupted:
            raise
        except KeyboardInterrupt:
            raise Interrupted("nothing was finished, so there is no result.") from None

    def __repr__(self) -> str:
        return call_of(self)

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ..views.inputs import recipe_bundle

        return recipe_bundle(self)
