"""What a record of an algorithm holds. Functions and models may be named by address, so that a record imports nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from ..runtime.loading import load

if TYPE_CHECKING:
    from ..paths.base import Path
    from ..paths.problem import Combination, Problem, Request, SplitProblem
    from ..splits.plan import Plan
    from .family import Kind

Axis = str | tuple[str, ...]


@cache
def found(address: str) -> Any:
    """What "package.module:name" stands for; imported in a way that an interrupt does not break."""
    module, _, name = address.partition(":")
    load(module)
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Lazy:
    """A function by its address, imported when it is first called."""

    address: str

    def __call__(self, *arguments: Any) -> Any:
        return found(self.address)(*arguments)


def refuses_nothing(model: Any) -> str:
    """Every parameter of the model suits."""
    return ""


def no_answers(split: SplitProblem) -> tuple[Any, int]:
    """Of an algorithm whose `prepare` asks for none."""
    raise NotImplementedError("this algorithm has no answers_of_split")


def always(combination: Combination) -> bool:
    """Answers on float32 carry scikit-learn's rounding."""
    return True


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A way to get the losses of every value of a parameter at once, and all that is known of it.

    name               "knn": its paths are "shared:knn" and "path:knn"
    models             exactly these classes, or their addresses: "sklearn.linear_model:Ridge"
    axis               the parameter along the path; several names: the path takes all their values together; or kind -> name
    short_hands        functions that make a family of it, or their addresses
    prepare            Request -> path; raises Unsuited where refit must do it. The default asks `sweep` and `answers_of_split`
    sweep              Problem -> path: all splits at once, bare or behind a StandardScaler; None: split by split
    answers_of_split   SplitProblem -> (Answers, number of close calls): one split, behind any transformers
    refuses            last step -> why its other parameters are not for this algorithm, "" where they are
    in_float32         combination -> whether scikit-learn's rounding of float32 X shows in its answers
    compiles           whether `answers_of_split` runs compiled kernels, which stop when they are told to
    iterated           scikit-learn stops before the minimum: its own numbers are given where no fit is saved
    simplest           parameter -> "small" or "large", whichever is simpler, or its values, simplest first
    needs_rows         parameters that may not exceed the number of training rows
    two_classes        names of those models that cannot be fitted on one class
    closed_form        leave-one-out costs no more than one fit where the path is shared
    notes              kind of close call -> the sentence about it, in which {n} stands for "3 predictions"; the first kind is
                       what `answers_of_split` counts
    rate               time of one of its multiplications, in that of a matrix product on one thread
    cost               (training rows, columns, values) -> multiplications of one split; a sweep has a cost of its own
    memory             (Work, Plan) -> bytes beside the table of losses
    """

    name: str
    models: tuple[type | str, ...]
    axis: Axis | Callable[[Kind], str]
    short_hands: tuple[Callable[..., Any] | str, ...] = ()
    prepare: Callable[[Request], Path] = Lazy("cvnb.paths.dispatch:solved")
    sweep: Callable[[Problem], Path] | None = None
    answers_of_split: Callable[[SplitProblem], tuple[Any, int]] = no_answers
    refuses: Callable[[Any], str] = refuses_nothing
    in_float32: Callable[[Combination], bool] = always
    compiles: bool = True
    iterated: bool = False
    simplest: Mapping[str, str | Sequence[Any]] = field(default_factory=dict)
    needs_rows: tuple[str, ...] = ()
    two_classes: tuple[str, ...] = ()
    closed_form: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
    rate: float = 4.0
    cost: Callable[[int, int, int], float] | None = None
    memory: Callable[[Any, Plan], float] = Lazy("cvnb.paths.memory:of_rows")

    @cached_property
    def classes(self) -> tuple[type, ...]:
        """The models themselves."""
        return tuple(
            found(model) if isinstance(model, str) else model for model in self.models
        )

    @property
    def counted(self) -> str:
        """The kind of close calls that `answers_of_split` counts; "" for none."""
        return next(iter(self.notes), "")

    def axis_of(self, kind: Kind) -> Axis:
        """The parameter along the path of these settings."""
        return self.axis(kind) if callable(self.axis) else self.axis
