"""Which algorithm serves a model, and what is known of it; every other module asks here.

Records are built in, come from other packages through entry points, or are added at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from threading import RLock
from typing import Any

from ..errors import FamilyError, WrongTypeError
from .algorithm import Algorithm, found
from .records import BUILT_IN

ENTRY_POINTS = "cvnb.algorithms"
_added: dict[type, Algorithm] = {}


def records() -> tuple[Algorithm, ...]:
    """Every record: the built-in ones, then those that were added."""
    return (*BUILT_IN, *dict.fromkeys(_added.values()))


def recognised(model: type) -> Algorithm | None:
    """The record of exactly this class; other packages are asked for theirs where none is known."""
    if _known(model) is None:
        PLUG_INS.load()
    return _known(model)


def simplest_of(estimator: Any, parameter: str) -> Any:
    """Which values of a parameter are simpler, by the record of its class or of one above; None: not known."""
    above = filter(None, map(recognised, type(estimator).__mro__))
    return next(
        (one.simplest[parameter] for one in above if parameter in one.simplest), None
    )


def sentence_of(kind: str) -> str:
    """The sentence about a kind of close call; plain words where its record is no longer here."""
    return next(
        (one.notes[kind] for one in records() if kind in one.notes),
        f"{kind.capitalize()}: {{n}}.",
    )


def short_hands(built_in: bool = False) -> dict[str, Callable[..., Any] | str]:
    """Name -> function, or its address, of every short-hand."""
    if not built_in:
        PLUG_INS.load()
    return _short_hands(BUILT_IN if built_in else records())


def short_hand(name: str) -> Any:
    """The function of this name."""
    hand = short_hands(name in short_hands(built_in=True))[name]
    return found(hand) if isinstance(hand, str) else hand


def add(record: Algorithm, replace: bool = True) -> None:
    """Use this record for its models, in the place of any other, built in or added before; else that is an error."""
    if not isinstance(record, Algorithm):
        raise WrongTypeError(
            f"{record!r} is no Algorithm; make one: cvnb.paths.Algorithm(name=..., models=..., axis=...)."
        )
    for model in record.classes:
        if not isinstance(model, type):
            raise WrongTypeError(
                f"the algorithm {record.name!r} names {model!r} as a model, which is no class."
            )
        if model in _built_in() and not replace:
            raise FamilyError(f"{model.__name__} has a path of cvnb's own; it stays.")
    # a class that is defined anew, as by a cell that is run again, replaces itself
    homes = {_home(model) for model in record.classes}
    before = {model: one for model, one in _added.items() if _home(model) in homes}
    if not replace and (
        taken := [model for model, one in before.items() if one is not record]
    ):
        raise FamilyError(
            f"{taken[0].__name__} has a path already, {before[taken[0]].name!r}; it stays."
        )
    _refuse_clash(
        record,
        [one for one in records() if one is not record and one not in before.values()],
    )
    for model in before:
        del _added[model]
    _added.update(dict.fromkeys(record.classes, record))


def remove(record: Algorithm) -> None:
    """Forget a record that was added; one that is built in counts again."""
    for model in [model for model, one in _added.items() if one is record]:
        del _added[model]


def of_added(model: type) -> Algorithm | None:
    """The record that was added for this class."""
    return _added.get(model)


def _refuse_clash(record: Algorithm, others: list[Algorithm]) -> None:
    if any(record.name == one.name for one in BUILT_IN):
        raise FamilyError(
            f"{record.name!r} is an algorithm of cvnb's own; choose another name."
        )
    if taken := _short_hands([record]).keys() & _short_hands(others).keys():
        raise FamilyError(
            f"{taken.pop()!r} is a short-hand already; choose another name."
        )
    for kind, sentence in record.notes.items():
        if any(one.notes.get(kind, sentence) != sentence for one in others):
            raise FamilyError(
                f"{kind!r} is a kind of note already, with another sentence; choose another word."
            )
    for hand in record.short_hands:  # what cannot be imported is refused now, not when a cell asks for every short-hand
        found(hand) if isinstance(hand, str) else hand


def _known(model: type) -> Algorithm | None:
    return _added.get(model) or _built_in().get(model)


@cache
def _built_in() -> dict[type, Algorithm]:
    return {model: one for one in BUILT_IN for model in one.classes}


def _home(model: type) -> tuple[str, str]:
    return model.__module__, model.__qualname__


def _short_hands(records: Sequence[Algorithm]) -> dict[str, Callable[..., Any] | str]:
    hands = [hand for one in records for hand in one.short_hands]
    return {
        hand.rpartition(":")[2] if isinstance(hand, str) else hand.__name__: hand
        for hand in hands
    }


class PlugIns:
    """Records of other packages: each entry point of the group `cvnb.algorithms` gives one, or a list of them.

        [project.entry-points."cvnb.algorithms"]
        my_package = "my_package.paths:MY_ALGORITHM"

    They are loaded once, when a model or a name is looked up that no record has. One that fails to load costs only its own
    algorithms: `failed` holds the reason, and so does `path_reason` of a run that is refitted because no path was found.
    """

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self._left: list[Any] | None = None
        self._lock = RLock()  # a package that is being loaded may ask for what is known

    def load(self) -> None:
        """Load those that are not loaded yet."""
        with self._lock:
            if self._left is None:
                from importlib.metadata import entry_points

                self._left = list(entry_points(group=ENTRY_POINTS))
            while self._left:
                entry = self._left.pop(0)
                try:
                    given = entry.load()
                    for record in (
                        given if isinstance(given, list | tuple) else (given,)
                    ):
                        add(record, replace=False)
                except Exception as error:  # somebody else's package
                    self.failed[entry.name] = f"{type(error).__name__}: {error}"
                except BaseException:  # an interrupt: it is tried again
                    self._left.insert(0, entry)
                    raise


PLUG_INS = PlugIns()
