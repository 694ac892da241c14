"""Recipe: an outer splitter times an inner splitter. Every named recipe is one line.

outer \\ inner    none               one dev set              K-fold, leave-one-out    resampling
none             -                  dev_set                  internal_cv              (inner=Resampling)
one holdout      validation         train_validation_test    cv_test                  resampling_test
K-fold, LOO      external_cv        nested_dev               nested_cv                (inner=Resampling)
resampling       (inner=None)       (inner=.25)              (inner=5)                nested_resampling
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import RecipeError, WrongTypeError
from .splitters import check_buffer

if TYPE_CHECKING:
    from .estimate import Comparison, RiskEstimate
    from .plan import Plan


@dataclass(frozen=True)
class Folds:
    """K folds drawn by scikit-learn's KFold and its stratified and grouped kin, or K time blocks."""

    n_splits: int

    def __repr__(self) -> str:
        return repr(self.n_splits)


@dataclass(frozen=True)
class LeaveOneOut:
    """One row, or one group where there are groups, tested at a time."""

    def __repr__(self) -> str:
        return "'loo'"


@dataclass(frozen=True)
class Holdout:
    """One holdout of a share of the rows at hand, or of all rows of S."""

    share: float
    of_all: bool = False

    def __repr__(self) -> str:
        return f"Holdout({self.share!r}, of_all=True)" if self.of_all else repr(self.share)


@dataclass(frozen=True)
class LikeOuterTest:
    """One dev set as large as the test part of its outer split."""


@dataclass(frozen=True)
class Resampling:
    """`samples` random holdouts of a share of the rows at hand."""

    samples: int
    share: float

    def __post_init__(self) -> None:
        check_count("samples", self.samples, 1)
        check_share("share", self.share)


@dataclass(frozen=True)
class Given:
    """A splitter, used exactly as given."""

    splitter: Any
    explicit: bool = True  # False for the folds that scikit-learn makes of a bare number

    def __repr__(self) -> str:
        return repr(self.splitter)


@dataclass(frozen=True)
class Listed:
    """Explicit splits: (train, test) pairs, or inside an outer split one such list per outer split."""

    splits: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"<{len(self.splits)} given>"


@dataclass(frozen=True)
class FixedRows:
    """The rows that came with the data as its test or dev part."""

    rows: np.ndarray = field(repr=False)

    def __repr__(self) -> str:
        return f"<{self.rows.size} given rows>"


Spec = Folds | LeaveOneOut | Holdout | LikeOuterTest | Resampling | Given | Listed | FixedRows | None


@dataclass(frozen=True)
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
    outer_spec: Spec = field(init=False, repr=False, compare=False)
    inner_spec: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_count("seed", self.seed, 0)
        if self.stratify not in ("auto", True, False):
            raise RecipeError(f"stratify={self.stratify!r} must be 'auto', True or False.")
        for name in ("shuffle", "time_ordered"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise RecipeError(f"{name}={getattr(self, name)!r} must be True or False.")
        check_buffer(self.buffer)
        outer, inner = spec_of("outer", self.outer), spec_of("inner", self.inner)
        if self.test_rows is not None:
            outer = _fixed("test_rows", self.test_rows, "outer", outer, Folds(5))
        if self.dev_rows is not None:
            inner = _fixed("dev_rows", self.dev_rows, "inner", inner, "auto")
        self._store("outer_spec", outer)
        self._store("inner_spec", inner)
        self._check_together()

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        outer, inner = self.outer_spec, self.inner_spec
        if outer is None and inner is None:
            raise RecipeError("outer=None and inner=None leaves nothing to split; give one of them.")
        if isinstance(outer, LikeOuterTest) or (outer is None and isinstance(inner, LikeOuterTest)):
            raise RecipeError("LikeOuterTest is an inner splitter and needs an outer one.")
        if isinstance(outer, Listed) and not isinstance(inner, Listed | type(None)) and not outer.splits:
            raise RecipeError("outer is an empty list of splits (or an iterator that was used up).")
        self._check_options_act(outer, inner)
        if self.buffer and not self.time_ordered:
            raise RecipeError(f"buffer={self.buffer} needs rows in the order of time; add time_ordered=True.")
        if self.time_ordered and self.stratify is True:
            raise RecipeError("stratify=True would mix times; with time_ordered=True use stratify='auto' or False.")
        if self.time_ordered and any(isinstance(spec, Resampling) for spec in (outer, inner)):
            raise RecipeError("resampling draws rows at random, which time_ordered=True forbids; use folds or one holdout.")
        if isinstance(self.dev_rows, Iterable) and not isinstance(outer, Holdout | FixedRows | None):
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
        """The common name of this pair of splitters."""
        kinds: dict[Any, str] = {
            None: "none",
            Holdout: "holdout",
            LikeOuterTest: "holdout",
            FixedRows: "holdout",
            Resampling: "resampling",
        }
        outer, inner = (kinds.get(None if spec is None else type(spec), "cv") for spec in (self.outer_spec, self.inner_spec))
        return NAMES[outer, inner]

    @classmethod
    def train_validation_test(cls, validation: float = 0.2, test: float = 0.2, **options: Any) -> Recipe:
        """Choose θ on a validation set, train again on both, test once; shares of all rows."""
        check_share("validation", validation)
        if "test_rows" not in options and check_share("test", test) + validation >= 1:
            raise RecipeError(f"validation={validation} and test={test} leave no row to train on; their sum must be below 1.")
        return cls(outer=test, inner=Holdout(validation, of_all=True), **options)

    @classmethod
    def cv_test(cls, inner: Any = "auto", test: float = 0.2, **options: Any) -> Recipe:
        """Choose θ by cross-validation on the learning part, train again on it, test once."""
        return cls(outer=check_share("test", test), inner=inner, **options)

    @classmethod
    def resampling_test(cls, samples: int = 20, validation: float = 0.25, test: float = 0.2, **options: Any) -> Recipe:
        """Choose θ on random validation sets of the learning part, train again on it, test once."""
        return cls(outer=check_share("test", test), inner=Resampling(samples, validation), **options)

    @classmethod
    def nested_cv(cls, outer: Any = 5, inner: Any = "auto", **options: Any) -> Recipe:
        """Cross-validation of "choose θ by cross-validation, then train"."""
        return cls(outer=outer, inner=inner, **options)

    @classmethod
    def nested_dev(cls, outer: Any = 5, **options: Any) -> Recipe:
        """Nested CV with one inner dev set, as large as the outer test part."""
        if isinstance(outer, int | np.integer) and not isinstance(outer, bool) and outer == 2:
            raise RecipeError("outer=2 leaves no row to train on beside a dev set of m/2 rows; use outer >= 3.")
        return cls(outer=outer, inner=LikeOuterTest(), **options)

    @classmethod
    def nested_resampling(
        cls, outer: int = 20, inner: int = 20, test: float = 0.2, validation: float = 0.25, **options: Any
    ) -> Recipe:
        """Random learning/test splits; inside each, θ chosen on random validation sets."""
        return cls(outer=Resampling(outer, test), inner=Resampling(inner, validation), **options)

    @classmethod
    def external_cv(cls, folds: Any = 5, **options: Any) -> Recipe:
        """Cross-validation of one setting; nothing is tuned."""
        return cls(outer=folds, inner=None, **options)

    @classmethod
    def internal_cv(cls, folds: Any = 5, **options: Any) -> Recipe:
        """θ chosen by cross-validation on all of S; nothing is measured outside it."""
        return cls(outer=None, inner=folds, **options)

    @classmethod
    def dev_set(cls, dev: float = 0.2, **options: Any) -> Recipe:
        """θ chosen on one dev set; nothing is measured outside."""
        return cls(outer=None, inner=check_share("dev", dev), **options)

    @classmethod
    def validation(cls, test: float = 0.2, **options: Any) -> Recipe:
        """Train once, test once; nothing is tuned."""
        return cls(outer=check_share("test", test), inner=None, **options)

    @classmethod
    def leave_one_out(cls, **options: Any) -> Recipe:
        """Leave-one-out of one setting; nothing is tuned."""
        return cls(outer="loo", inner=None, **options)

    def plan(self, X: Any, y: Any, family: Any = None, groups: Any = None) -> Plan:
        """Every split, drawn without fitting anything; the same that a run with that family draws."""
        from .procedure import plan

        return plan(self, X, y, family, groups)

    def run(self, family: Any, X: Any, y: Any, **options: Any) -> RiskEstimate | Comparison:
        """The risk of this family under this recipe; a Comparison for a dict of families.

        options: groups, sample_weight, loss, scoring, select="min", flat=False, n_jobs, path="auto", progress="auto".
        flat=True also fits every setting on every outer training part, for outer_curves, flat and optimism.
        """
        from .procedure import run

        return run(self, family, X, y, **options)

    def __repr__(self) -> str:
        shown = [f"outer={_shown(self.outer)}", f"inner={_shown(self.inner)}", f"seed={self.seed}"]
        options = [f for f in fields(self) if f.init and f.name not in ("outer", "inner", "seed")]
        for f in options:
            value = getattr(self, f.name)
            if value is not f.default and (f.default is None or value != f.default):
                shown.append(f"{f.name}={_shown(value)}")
        return f"Recipe({', '.join(shown)})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .display import recipe_bundle

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


def spec_of(level: str, given: Any) -> Any:
    """The splitter that the user's outer= or inner= stands for."""
    if given is None or isinstance(given, Folds | LeaveOneOut | Holdout | LikeOuterTest | Resampling):
        return given
    if isinstance(given, bool | np.bool_):
        raise RecipeError(f"{level}={given!r} is no splitter; use a number of folds, a share, 'loo', a splitter or a list.")
    if isinstance(given, int | np.integer):
        if given < 2:
            left = "choose on" if level == "inner" else "test on"
            raise RecipeError(f"{level}={given} leaves no fold to {left}; use {level} >= 2.")
        return Folds(int(given))
    if isinstance(given, float | np.floating):
        return Holdout(check_share(level, given))
    if isinstance(given, str):
        return _spec_of_word(level, given)
    if isinstance(given, type):
        raise WrongTypeError(f"{level}={given.__name__} is a class; use {given.__name__}().")
    if hasattr(given, "split") and hasattr(given, "get_n_splits"):
        return Given(copy.deepcopy(given))
    if isinstance(given, Iterable):
        splits = tuple(given)
        if not splits:
            raise RecipeError(
                f"{level} is an empty list of splits (or an iterator that was used up); give (train, test) pairs."
            )
        return Listed(tuple(_kept(split) for split in splits))
    raise WrongTypeError(f"{level}={given!r} is no splitter; use a number of folds, a share, 'loo', a splitter or a list.")


def check_share(name: str, share: Any) -> float:
    """A share strictly between 0 and 1."""
    if isinstance(share, bool) or not isinstance(share, float | np.floating | int | np.integer) or not 0 < share < 1:
        hint = f" For {int(share)} folds write {name}={int(share)}." if _whole(share) else ""
        raise RecipeError(f"{name}={share!r} is no share of the rows; a share lies strictly between 0 and 1.{hint}")
    return float(share)


def check_count(name: str, count: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer) or count < least:
        raise RecipeError(f"{name}={count!r} must be a whole number >= {least}.")
    return int(count)


def _whole(share: Any) -> bool:
    return isinstance(share, float) and share.is_integer() and share >= 2


def _kept(split: Any) -> Any:
    """A split or list of splits read once, so that an iterator is not used up by the first plan."""
    return split if isinstance(split, np.ndarray | list | tuple) or not isinstance(split, Iterable) else list(split)


def _spec_of_word(level: str, word: str) -> Any:
    if word == "auto" and level == "inner":
        return word
    if word == "loo":
        return LeaveOneOut()
    words = "'loo'" if level == "outer" else "'auto' or 'loo'"
    raise RecipeError(f"{level}={word!r} is not known; the words are {words}.")


def _fixed(option: str, rows: Any, level: str, spec: Any, default: Any) -> FixedRows:
    if not (isinstance(spec, Holdout) or spec == default):
        raise RecipeError(f"{option}= fixes the {level} split, so {level}={spec!r} cannot act; leave {level} out.")
    rows = np.asarray(rows)
    if rows.dtype == bool:
        raise RecipeError(f"{option} holds a boolean mask; row numbers are needed: np.flatnonzero(mask).")
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
        raise RecipeError(f"{option} must be a list of row numbers (whole numbers, at least one).")
    if np.unique(rows).size != rows.size:
        raise RecipeError(f"{option} names some row twice.")
    return FixedRows(rows.astype(np.int64))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return f"{float(value)!r}" if isinstance(value, np.floating) else repr(value)
