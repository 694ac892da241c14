"""What a user passes where a model or a parameter is expected, and what to type instead."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any

from sklearn.pipeline import Pipeline

from ..data.checks import is_frame
from .labels import estimator_label, format_value
from .registry import short_hands

MOST = 16  # parameters that a message lists
ALIKE = 0.6  # share of equal letters in a name that was probably meant


def no_estimator(value: Any, missing: Iterable[str]) -> str:
    """Return the message on a value that is no estimator.

    missing  methods of an estimator that it does not have
    """
    if inspect.isfunction(value):
        name = value.__name__
        hint = f"; call it: {name}()" if name.isidentifier() else ""
        return f"{name} is no estimator but a function{hint}."
    if isinstance(value, str):
        call = f"{value}()" if value in short_hands() else "its class, such as SVC()"
        return f"{value!r} is no estimator but text; write {call} without quotes."
    if hasattr(value, "shape"):
        kind = "frame" if is_frame(value) else "array"
        return (
            f"this {kind} of shape {value.shape} is no estimator; the order is "
            "run(model, X, y), and plan(X, y, model)."
        )
    if isinstance(value, list | tuple):
        return _no_pair(value)
    return (
        f"{format_value(value)} is no estimator: it has no {', '.join(missing)}; use a "
        "scikit-learn estimator."
    )


def _no_pair(values: list[Any] | tuple[Any, ...]) -> str:
    """Return the message on a list of models, a pair as a list, or a tuple of any length."""
    shown = f"{format_value(values)} is no estimator"
    if len(values) == 2 and isinstance(values[1], Mapping):
        pair = f"({_label(values[0])}(), {{...}})"
        return f"{shown}; write the pair of estimator and grid as a tuple: {pair}."
    if values and all(hasattr(value, "fit") or _is_family(value) for value in values):
        names = ", ".join(f"{_label(value)!r}: ..." for value in values)
        return f"{shown}; to compare models give a dict by name: {{{names}}}."
    return (
        f"{shown} but a {type(values).__name__} of {len(values)}; give one estimator, a "
        "pair (estimator, grid), or a dict of them by name."
    )


def _is_family(value: Any) -> bool:
    return hasattr(value, "resolved")


def _label(value: Any) -> str:
    return str(value.label) if _is_family(value) else estimator_label(value)


def unknown_key(estimator: Any, key: str, known: Iterable[str]) -> str:
    """Return the message on a key of the grid that is no parameter of the estimator.

    known  its parameters, with those of its steps
    """
    known = sorted(known)
    start = f"{estimator_label(estimator)} has no parameter {key!r}"
    step = key.rpartition("__")[0]
    if close := _close_keys(key, step, known):
        return f"{start}. Did you mean {' or '.join(map(repr, close[:3]))}?"
    if step not in known:
        step = estimator.steps[-1][0] if isinstance(estimator, Pipeline) else ""
    listed = _of_step(step, known)
    more = f" and {len(listed) - MOST} more" if len(listed) > MOST else ""
    return f"{start}; it has {', '.join(listed[:MOST])}{more}."


def _close_keys(key: str, step: str, known: list[str]) -> list[str]:
    """Return the parameters of the same name in any step, else the one of the likest name."""
    if same := [name for name in known if _own_name(name) == _own_name(key)]:
        return same
    has_step = step in known

    def likeness(parameter: str) -> float:
        own = SequenceMatcher(None, _own_name(key), _own_name(parameter)).ratio()
        whole = SequenceMatcher(None, key.lower(), parameter.lower()).ratio()
        return own if has_step else max(own, whole)

    candidates = _of_step(step, known) if has_step else known
    likest = max(candidates, key=likeness, default="")
    return [likest] if likest and likeness(likest) >= ALIKE else []


def _of_step(step: str, known: list[str]) -> list[str]:
    """The parameters of a step itself; of the estimator itself for the step ""."""
    return [name for name in known if name.rpartition("__")[0] == step]


def _own_name(parameter: str) -> str:
    """The name of a parameter without its step, in lower case."""
    return parameter.rpartition("__")[2].lower()
