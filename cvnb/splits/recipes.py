"""Recipe: an outer splitter times an inner splitter. Every named recipe is one line.

outer \\ inner    none               one dev set              K-fold, leave-one-out    resampling
none             -                  dev_set                  internal_cv              (inner=Resampling)
one holdout      validation         train_validation_test    cv_test                  resampling_test
K-fold, LOO      external_cv        nested_dev               nested_cv                (inner=Resampling)
resampling       (inner=None)       (inner=.25)              (inner=5)                nested_resampling
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from ..errors import Interrupted, RecipeError
from .specs import (
    FixedRows,
    Folds,
    Given,
    Holdout,
    LikeOuterTest,
    Listed,
    Resampling,
    Spec,
    check_count,
    check_share,
    fixed_rows,
    spec_of,
)
from .splitters import check_buffer

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.estimate import RiskEstimate
    from ..runs.advice import Suggestion
    from .plan import Plan


MAX_SEED = 2**32 - 1  # NumPy's, less one for the inner level


@dataclass(frozen=True, eq=False)
class Recipe:
    """How S is split at both levels, and so which quantity is estimated.

    outer, inner: int K | float in (0, 1): one holdout of that share | "loo" | a scikit-learn splitter | a list of (train, test)
    row numbers (inner: one such list per outer split) | None. inner="auto": the cv of a GridSearchCV, else 5.

    >>> Recipe.nested_cv(outer=10)
    Recipe(outer=10, inner='auto', seed=0)
    """

    outer: Any = 5
    inner: Any = "auto"
    seed: int = 0
    shuffle: bool = True
    stratify: bool | str = "auto"
    time_ordered: bool = False
    buffer: int = 0
    test_rows: Any = None
    dev_rows: Any = None
    outer_spec: Spec = field(init=False)
    inner_spec: Any = field(init=False)

    def __post_init__(self) -> None:
        if check_count("seed", self.seed, 0) >= MAX_SEED:
            raise RecipeError(
                f"seed={self.seed!r} is too large; seeds lie below {MAX_SEED}."
            )
        if not (
            isinstance(self.stratify, bool | np.bool_)
            or (isinstance(self.stratify, str) and self.stratify == "auto")
        ):
            raise RecipeError(
                f"stratify={self.stratify!r} must be 'auto', True or False."
            )
        self._store("seed", int(self.seed))
        if not isinstance(self.stratify, str):
            self._store("stratify", bool(self.stratify))
        for name in ("shuffle", "time_ordered"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise RecipeError(
                    f"{name}={getattr(self, name)!r} must be True or False."
                )
            self._store(name, bool(getattr(self, name)))
        self._store("buffer", check_buffer(self.buffer))
        outer, inner = spec_of("outer", self.outer), spec_of("inner", self.inner)
        for level, spec in (("outer", outer), ("inner", inner)):
            if isinstance(spec, Listed):
                self._store(level, list(spec.splits))  # an iterator is read once
        if self.test_rows is not None:
            outer = fixed_rows("test_rows", self.test_rows, "outer", outer, Folds(5))
        if self.dev_rows is not None:
            inner = fixed_rows("dev_rows", self.dev_rows, "inner", inner, "auto")
        self._store("outer_spec", outer)
        self._store("inner_spec", inner)
        self._check_together()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recipe):
            return NotImplemented
        return all(
            _same(getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)
            if f.init
        )

    __hash__ = None  # type: ignore[assignment]

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        outer, inner = self.outer_spec, self.inner_spec
        if outer is None and inner is None:
            raise RecipeError(
                "outer=None and inner=None leaves nothing to split; give one of them."
            )
        if isinstance(outer, LikeOuterTest) or (
            outer is None and isinstance(inner, LikeOuterTest)
        ):
            raise RecipeError(
                "LikeOuterTest is an inner splitter and needs an outer one."
            )
        self._check_options_act(outer, inner)
        if self.buffer and not self.time_ordered:
            raise RecipeError(
                f"buffer={self.buffer} needs rows in the order of time; add time_ordered=True."
            )
        if self.time_ordered and self.stratify is True:
            raise RecipeError(
                "stratify=True would mix times; with time_ordered=True use stratify='auto' or False."
            )
        if self.time_ordered and any(
            isinstance(spec, Resampling) for spec in (outer, inner)
        ):
            raise RecipeError(
                "resampling draws rows at random, which time_ordered=True forbids; use folds or one holdout."
            )
        if isinstance(self.dev_rows, Iterable) and not isinstance(
            outer, Holdout | FixedRows | None
        ):
            raise RecipeError(
                "dev_rows= needs one outer holdout, test_rows= or outer=None: other outer splits would test on them."
            )

    def _check_options_act(self, outer: Spec, inner: Spec) -> None:
        """seed, shuffle, ... do not touch what is given; saying both at once is a mistake."""
        defaults = {f.name: f.default for f in fields(self)}
        for level, spec in (("outer", outer), ("inner", inner)):
            for option in ("seed", "shuffle", "stratify", "time_ordered", "buffer"):
                value = getattr(self, option)
                if isinstance(spec, Given | Listed) and value != defaults[option]:
                    raise RecipeError(
                        f"{option}={value!r} does not touch {level}={spec!r}, which is used exactly as given; drop {option} "
                        f"or give {level} as a number."
                    )

    @property
    def name(self) -> str:
        """The common name of this pair of splitters.

        >>> Recipe(outer=5, inner=0.2).name
        'nested CV with an inner dev set'
        """
        kinds: dict[Any, str] = {
            None: "none",
            Holdout: "holdout",
            LikeOuterTest: "holdout",
            FixedRows: "holdout",
            Resampling: "resampling",
        }
        outer, inner = (
            kinds.get(None if spec is None else type(spec), "cv")
            for spec in (self.outer_spec, self.inner_spec)
        )
        return NAMES[outer, inner]

    @property
    def uses_seed(self) -> bool:
        """Whether some split is drawn at random.

        >>> Recipe().uses_seed, Recipe.leave_one_out().uses_seed
        (True, False)
        """
        random = self.shuffle and not self.time_ordered
        return random and any(
            isinstance(s, str | Folds | Holdout | LikeOuterTest | Resampling)
            for s in (self.outer_spec, self.inner_spec)
        )

    @classmethod
    def train_validation_test(
        cls, validation: float = 0.2, test: float = 0.2, **options: Any
    ) -> Recipe:
        """Choose θ on a validation set, train again on both, test once; shares of all rows.

        >>> Recipe.train_validation_test(validation=0.25, test=0.25)
        Recipe(outer=0.25, inner=Holdout(0.25, of_all=True), seed=0)
        """
        check_share("validation", validation)
        if "test_rows" not in options and check_share("test", test) + validation >= 1:
            raise RecipeError(
                f"validation={validation} and test={test} leave no row to train on; their sum must be below 1."
            )
        return cls(outer=test, inner=Holdout(validation, of_all=True), **options)

    @classmethod
    def cv_test(cls, inner: Any = "auto", test: float = 0.2, **options: Any) -> Recipe:
        """Choose θ by cross-validation on the learning part, train again on it, test once.

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
        """Choose θ on random validation sets of the learning part, train again on it, test once.

        >>> Recipe.resampling_test(samples=10)
        Recipe(outer=0.2, inner=Resampling(samples=10, share=0.25), seed=0)
        """
        check_count("samples", samples, 1)
        inner = Resampling(samples, check_share("validation", validation))
        return cls(outer=check_share("test", test), inner=inner, **options)

    @classmethod
    def nested_cv(cls, outer: Any = 5, inner: Any = "auto", **options: Any) -> Recipe:
        """Cross-validation of "choose θ by cross-validation, then train".

        >>> Recipe.nested_cv(outer=10, inner=5, seed=1)
        Recipe(outer=10, inner=5, seed=1)
        """
        return cls(outer=outer, inner=inner, **options)

    @classmethod
    def nested_dev(cls, outer: Any = 5, **options: Any) -> Recipe:
        """Nested CV with one inner dev set, as large as the outer test part.

        >>> Recipe.nested_dev(outer=4).plan(np.zeros((12, 1)), np.arange(12) / 12).inner[0]
        <1 split: 6 training rows, 3 test rows>
        """
        if (
            isinstance(outer, int | np.integer)
            and not isinstance(outer, bool)
            and outer == 2
        ):
            raise RecipeError(
                "outer=2 leaves no row to train on beside a dev set of m/2 rows; use outer >= 3."
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
        """Random learning/test splits; inside each, θ chosen on random validation sets.

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
        """Cross-validation of one setting; nothing is tuned.

        >>> Recipe.external_cv(10)
        Recipe(outer=10, inner=None, seed=0)
        """
        return cls(outer=folds, inner=None, **options)

    @classmethod
    def internal_cv(cls, folds: Any = 5, **options: Any) -> Recipe:
        """θ chosen by cross-validation on all of S; nothing is measured outside it.

        >>> Recipe.internal_cv(10)
        Recipe(outer=None, inner=10, seed=0)
        """
        return cls(outer=None, inner=folds, **options)

    @classmethod
    def dev_set(cls, dev: float = 0.2, **options: Any) -> Recipe:
        """θ chosen on one dev set; nothing is measured outside.

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
        """Leave-one-out of one setting; nothing is tuned.

        >>> Recipe.leave_one_out()
        Recipe(outer='loo', inner=None, seed=0)
        """
        return cls(outer="loo", inner=None, **options)

    @staticmethod
    def suggest(
        X: Any,
        y: Any,
        groups: Any = None,
        time_ordered: bool = False,
        family: Any = None,
        goal: str = "estimate",
        buffer: int = 0,
        test_rows: Any = None,
        seed: int = 0,
    ) -> Suggestion:
        """A recipe that runs on these rows, in .recipe, and in .sentences why this one, what it costs and what would change it.

        goal: "estimate" the risk of the tuned rule | "choose" θ | "predictor": the risk of one to keep. With a family the cost
        is counted: one that a single computation serves at every setting can afford nested CV. Nothing is fitted.

        >>> from sklearn.datasets import load_iris
        >>> Recipe.suggest(*load_iris(return_X_y=True)).recipe
        Recipe(outer=10, inner=5, seed=0)
        """
        from ..runs.advice import suggest

        return suggest(
            X, y, groups, time_ordered, family, goal, buffer, test_rows, seed
        )

    def plan(self, X: Any, y: Any, family: Any = None, groups: Any = None) -> Plan:
        """Every split, drawn without fitting anything; the same that a run with that family draws.

        >>> Recipe(outer=3, inner=2).plan(np.zeros((12, 1)), np.arange(12) / 12).outer[0][1]
        array([ 4,  6, 10, 11])
        """
        from ..runs.prepare import plan

        return plan(self, X, y, family, groups)

    def run(
        self, family: Any, X: Any, y: Any, **options: Any
    ) -> RiskEstimate | Comparison:
        """The risk of this family under this recipe; a Comparison for a dict of families.

        options: groups, sample_weight, loss, scoring, select="min", flat=False, n_jobs, path="auto", progress="auto".
        select: "min", "one_se", cvnb.inference.OneSE({"gamma": "small"}), or a function of the inner curve (and, where it
        requires them, of losses[setting, fold] and the settings) that gives the number of a setting.
        flat=True also fits every setting on every outer training part, for outer_curves, flat and optimism; where the path is
        not "refit" they come for nothing. path="refit" asks for one fit per setting and split.
        An interrupt raises cvnb.Interrupted, whose `result` is the finished part.

        >>> from sklearn.datasets import load_iris
        >>> from cvnb import knn
        >>> round(Recipe(5, 5).run(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)).risk, 4)
        0.0467
        """
        try:
            from ..runs.prepare import run

            return run(self, family, X, y, **options)
        except Interrupted:
            raise
        except KeyboardInterrupt:
            raise Interrupted("nothing was finished, so there is no result.") from None

    def __repr__(self) -> str:
        outer, inner = self.outer_spec, self.inner_spec
        fixed = [isinstance(spec, FixedRows) for spec in (outer, inner)]
        shown = [f"outer={_shown(self.outer) if fixed[0] else repr(outer)}"]
        like = isinstance(
            inner, LikeOuterTest
        )  # a word of its own, which only that recipe needs
        shown += (
            [] if like else [f"inner={_shown(self.inner) if fixed[1] else repr(inner)}"]
        )
        shown.append(f"seed={self.seed}")
        options = [
            f
            for f in fields(self)
            if f.init and f.name not in ("outer", "inner", "seed")
        ]
        for f in options:
            value = getattr(self, f.name)
            if value is not f.default and (f.default is None or value != f.default):
                shown.append(f"{f.name}={_shown(value)}")
        return f"Recipe{'.nested_dev' * like}({', '.join(shown)})"

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ..views.display import recipe_bundle

        return recipe_bundle(self)


NAMES = {
    ("none", "holdout"): "tuning on a dev set",
    ("none", "cv"): "tuning by internal CV",
    ("none", "resampling"): "tuning by resampling",
    ("holdout", "none"): "validation on a test set",
    ("holdout", "holdout"): "train/validation/test",
    ("holdout", "cv"): "CV then test",
    ("holdout", "resampling"): "resampling then test",
    ("cv", "none"): "external CV",
    ("cv", "holdout"): "nested CV with an inner dev set",
    ("cv", "cv"): "nested CV",
    ("cv", "resampling"): "nested CV, resampled inside",
    ("resampling", "none"): "repeated holdout",
    ("resampling", "holdout"): "repeated holdout with an inner dev set",
    ("resampling", "cv"): "repeated holdout with inner CV",
    ("resampling", "resampling"): "nested resampling",
}


def _same(mine: Any, other: Any) -> bool:
    """Equality that arrays, lists of them and splitters have too."""
    if isinstance(mine, list | tuple | np.ndarray) and isinstance(
        other, list | tuple | np.ndarray
    ):
        return len(mine) == len(other) and all(map(_same, mine, other))
    if hasattr(mine, "split") and not isinstance(mine, str):
        return type(mine) is type(other) and joblib.hash(mine) == joblib.hash(other)
    return bool(np.all(mine == other))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return f"{float(value)!r}" if isinstance(value, np.floating) else repr(value)
