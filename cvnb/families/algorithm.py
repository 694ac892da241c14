"""Algorithm: the record of an algorithm that has a fast path.

Functions and models may be given by address, so that a record imports nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from ..runtime.loading import load

if TYPE_CHECKING:
    import numpy as np

    from ..paths.base import Path
    from ..paths.problem import Problem, Request, SplitProblem
    from ..splits.plan import Plan
    from .setting_groups import SettingGroup

Axis = str | tuple[str, ...]


@cache
def imported(address: str) -> Any:
    """Return the object at "package.module:name"; an interrupt cannot break the import."""
    module, _, name = address.partition(":")
    load(module)
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Lazy:
    """A function given by its address, imported at the first call."""

    address: str

    def __call__(self, *arguments: Any) -> Any:
        return imported(self.address)(*arguments)


def refuses_nothing(model: Any) -> str:
    """Allow every parameter of the model."""
    return ""


def refuses_sparse(model: Any) -> str:
    """Default: the path needs a dense table."""
    return "sparse X; as X.toarray() it is on the fast path, where memory allows"


def no_predictions(split: SplitProblem) -> tuple[Any, int]:
    """Default for an algorithm whose `prepare` does not use predictions of one split."""
    raise NotImplementedError("this algorithm has no predictions_of_split")


@dataclass(frozen=True, eq=False)
class Algorithm:
    """How to get the losses of all values of a parameter from one fit, with all facts about it.

    name            "knn": its paths are "shared:knn" and "path:knn"
    models          exactly these classes, or their addresses: "sklearn.linear_model:Ridge"
    optional        addresses of more classes, in the modules that define them, of packages
                    that need not be installed; such a class stores any number it is given
    axis            the parameter along the path; a tuple: a parameter for each name, varied
                    together; or a function SettingGroup -> name
    short_hands     functions that make a family of it, or their addresses
    prepare         Request -> path; raises Unsuited if only a refit is possible. The default
                    uses `shared_path` and `predictions_of_split`
    shared_path     Problem -> path: all splits at once, with no transformer but a
                    StandardScaler; None: split by split
    predictions_of_split   SplitProblem -> (Predictions, number of close calls): one split,
                    after any transformers
    predictions_of_leading  (SplitProblem, counts) -> as predictions_of_split, where setting i
                    sees the first counts[i] columns only; one call for each count where it is
                    None, or returns None
    refuses         last step -> why its other parameters do not allow the path, or ""
    refuses_sparse  last step -> why `predictions_of_split` cannot handle it on sparse rows, or ""
    shares_sparse   whether `shared_path` takes sparse rows too
    compiles        whether `predictions_of_split` runs compiled kernels, which can be stopped
    in_threads      whether `predictions_of_split` may run in threads, without Python's lock
    iterated        whether scikit-learn stops before the minimum; its own numbers are returned
                    if the path saves no fit
    simplest        parameter -> "small" or "large", whichever is simpler, or its values,
                    simplest first
    needs_rows      parameters that may not exceed the number of training rows
    two_classes     names of those models that cannot be fitted on one class
    closed_form     whether leave-one-out on a shared path costs no more than one fit
    notes           kind of close call -> sentence about it, where {n} becomes "3 predictions";
                    the first kind is the one that `predictions_of_split` counts
    rate            time of one multiplication, relative to a matrix product on one thread
    cost            (training rows, columns, values) -> multiplications of one split; a shared
                    path has a cost of its own
    memory          (Work, Plan) -> bytes in addition to the table of losses
    kernel          address of the kernel that a first run of the shared path compiles last
    compile_seconds of all kernels of such a run
    """

    name: str
    models: tuple[type | str, ...]
    axis: Axis | Callable[[SettingGroup], str]
    short_hands: tuple[Callable[..., Any] | str, ...] = ()
    optional: tuple[str, ...] = ()
    prepare: Callable[[Request], Path] = Lazy("cvnb.paths.dispatch:solved")
    shared_path: Callable[[Problem], Path] | None = None
    predictions_of_split: Callable[[SplitProblem], tuple[Any, int]] = no_predictions
    predictions_of_leading: (
        Callable[[SplitProblem, np.ndarray], tuple[Any, int] | None] | None
    ) = None
    refuses: Callable[[Any], str] = refuses_nothing
    refuses_sparse: Callable[[Any], str] = refuses_sparse
    shares_sparse: bool = False
    compiles: bool = True
    in_threads: bool = False
    iterated: bool = False
    simplest: Mapping[str, str | Sequence[Any]] = field(default_factory=dict)
    needs_rows: tuple[str, ...] = ()
    two_classes: tuple[str, ...] = ()
    closed_form: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
    rate: float = 4.0
    cost: Callable[[int, int, int], float] | None = None
    memory: Callable[[Any, Plan], float] = Lazy("cvnb.paths.memory:of_rows")
    kernel: str = ""
    compile_seconds: float = 0.0

    @cached_property
    def classes(self) -> tuple[type, ...]:
        """The models as classes."""
        return tuple(imported(m) if isinstance(m, str) else m for m in self.models)

    @property
    def counted(self) -> str:
        """The kind of close call that `predictions_of_split` counts; "" for none."""
        return next(iter(self.notes), "")

    def axis_of(self, group: SettingGroup) -> Axis:
        """Return the parameter along the path of these settings."""
        return self.axis(group) if callable(self.axis) else self.axis
