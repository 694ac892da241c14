"""Registry: the records of all algorithms, by model and by short-hand.

Records are built in, come from other packages through entry points, or are added at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from threading import RLock
from typing import Any

from ..errors import FamilyError, WrongTypeError
from .algorithm import Algorithm, imported
from .records import BUILT_IN

ENTRY_POINTS = "cvnb.algorithms"
_added: dict[type, Algorithm] = {}


def records() -> tuple[Algorithm, ...]:
    """Return every record: the built-in ones, then the added ones."""
    return (*BUILT_IN, *dict.fromkeys(_added.values()))


def recognised(model: type) -> Algorithm | None:
    """Return the record of exactly this class, or None; load plug-ins if none is known yet."""
    if _known(model) is None:
        PLUG_INS.load()
    return _known(model)


def is_optional(model: type) -> bool:
    """Return whether a built-in record knows this class of an optional package."""
    return _address(model) in _optional()


def simplest_of(estimator: Any, parameter: str) -> Any:
    """Return which values of a parameter are simpler, by the record of its class or a base class.

    None: no record says it.
    """
    for record in filter(None, map(recognised, type(estimator).__mro__)):
        if parameter in record.simplest:
            return record.simplest[parameter]
    return None


def sentence_of(kind: str) -> str:
    """Return the sentence about a kind of close call; a generic one if its record was removed.

    A kind that ends with a period is a sentence.
    """
    if kind.endswith("."):
        return kind
    for record in records():
        if kind in record.notes:
            return record.notes[kind]
    return f"{kind.capitalize()}: {{n}}."


def short_hands(built_in: bool = False) -> dict[str, Callable[..., Any] | str]:
    """Return name -> function, or its address, for every short-hand."""
    if not built_in:
        PLUG_INS.load()
    return _short_hands(BUILT_IN if built_in else records())


def short_hand(name: str) -> Any:
    """Return the function with this name."""
    built_in = short_hands(built_in=True)
    return _function(built_in[name] if name in built_in else short_hands()[name])


def add(record: Algorithm, replace: bool = True) -> None:
    """Use this record for its models.

    replace: whether it may replace another record, built in or added before
    """
    if not isinstance(record, Algorithm):
        raise WrongTypeError(
            f"{record!r} is no Algorithm; make one: cvnb.paths.Algorithm(name=..., "
            "models=..., axis=...)."
        )
    for model in record.classes:
        if not isinstance(model, type):
            raise WrongTypeError(
                f"the algorithm {record.name!r} names {model!r} as a model, which is no class."
            )
        if _of_cvnb(model) and not replace:
            raise FamilyError(f"{model.__name__} has a path of cvnb's own; it stays.")
    # a class that is defined again, as by running a cell twice, replaces itself
    addresses = set(map(_address, record.classes))
    replaced = {m: other for m, other in _added.items() if _address(m) in addresses}
    for model, other in replaced.items():
        if not replace and other is not record:
            raise FamilyError(
                f"{model.__name__} has a path already, {other.name!r}; it stays."
            )
    dropped = [record, *replaced.values()]
    _refuse_clash(record, [other for other in records() if other not in dropped])
    for model in replaced:
        del _added[model]
    _added.update(dict.fromkeys(record.classes, record))


def remove(record: Algorithm) -> None:
    """Remove an added record; the built-in record of its models is used again."""
    for model in [model for model, other in _added.items() if other is record]:
        del _added[model]


def added_record(model: type) -> Algorithm | None:
    """Return the record that was added for this class, or None."""
    return _added.get(model)


def _refuse_clash(record: Algorithm, others: list[Algorithm]) -> None:
    if any(record.name == other.name for other in BUILT_IN):
        raise FamilyError(
            f"{record.name!r} is an algorithm of cvnb's own; choose another name."
        )
    if taken := _short_hands([record]).keys() & _short_hands(others).keys():
        raise FamilyError(
            f"{taken.pop()!r} is a short-hand already; choose another name."
        )
    for kind, sentence in record.notes.items():
        if any(other.notes.get(kind, sentence) != sentence for other in others):
            raise FamilyError(
                f"{kind!r} is a kind of note already, with another sentence; choose another word."
            )
    for address in record.short_hands:
        _function(address)  # an import that fails does so now, not in some later cell


def _known(model: type) -> Algorithm | None:
    return _added.get(model) or _of_cvnb(model)


def _of_cvnb(model: type) -> Algorithm | None:
    return _built_in().get(model) or _optional().get(_address(model))


@cache
def _built_in() -> dict[type, Algorithm]:
    return {model: record for record in BUILT_IN for model in record.classes}


@cache
def _optional() -> dict[str, Algorithm]:
    return {address: record for record in BUILT_IN for address in record.optional}


def _address(model: type) -> str:
    return f"{model.__module__}:{model.__qualname__}"


def _function(address: Callable[..., Any] | str) -> Callable[..., Any]:
    return imported(address) if isinstance(address, str) else address


def _short_hands(records: Sequence[Algorithm]) -> dict[str, Callable[..., Any] | str]:
    by_name: dict[str, Callable[..., Any] | str] = {}
    for address in [address for record in records for address in record.short_hands]:
        if isinstance(address, str):
            by_name[address.rpartition(":")[2]] = address
        else:
            by_name[address.__name__] = address
    return by_name


class PlugIns:
    """Records of other packages, one or a list per entry point of the group `cvnb.algorithms`.

        [project.entry-points."cvnb.algorithms"]
        my_package = "my_package.paths:MY_ALGORITHM"

    They are loaded once, at the first lookup of a model or name that no record has. If one
    fails to load, only its own algorithms are missing: the reason is in `failed`, and in
    `path_reason` of a run that is refitted because no path was found.
    """

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self._pending: list[Any] | None = None
        self._lock = RLock()  # a package may look up records while it is being loaded

    def load(self) -> None:
        """Load the entry points that are not loaded yet."""
        with self._lock:
            if self._pending is None:
                from importlib.metadata import entry_points

                self._pending = list(entry_points(group=ENTRY_POINTS))
            while self._pending:
                entry = self._pending.pop(0)
                try:
                    loaded = entry.load()
                    many = loaded if isinstance(loaded, list | tuple) else [loaded]
                    for record in many:
                        add(record, replace=False)
                except Exception as error:  # any error of another package
                    self.failed[entry.name] = f"{type(error).__name__}: {error}"
                except BaseException:  # an interrupt: try again next time
                    self._pending.insert(0, entry)
                    raise


PLUG_INS = PlugIns()
