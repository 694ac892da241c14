"""Rows of the form for the settings of a family: one parameter each, as values or as steps.

Rows are another way to write the text of the Grid field. They are made from its syntax, and what
is entered in them becomes such a text, which `typed_grid` reads; nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import Interval, Options

from ..errors import FamilyError
from ..families.registry import recognised
from .typed_grid import Reader, read_grid

KINDS = {  # kind -> (its label, labels of its fields)
    "list": ("these values", ["values"]),
    "log": ("log steps", ["from", "to", "values"]),
    "even": ("even steps", ["from", "to", "values"]),
    "whole": ("whole numbers", ["from", "to", "step"]),
    "value": ("one value", ["value"]),
}
SPACED = {"geomspace": "log", "linspace": "even"}
FUNCTIONS = {kind: name for name, kind in SPACED.items()}
# Parameters that nobody tunes.
NOT_TUNED = {
    "cache_size", "copy", "copy_X", "copy_x", "enable_metadata_routing", "memory",
    "missing_values", "n_jobs", "random_state", "steps", "transform_input", "verbose",
    "verbose_feature_names_out", "warm_start",
}  # fmt: skip
NOT_OFFERED = {"deprecated", "precomputed", "warn"}  # words of no use in a grid
FEW = 5  # values of a proposal


@dataclass(frozen=True)
class Row:
    """One parameter of a grid.

    kind   a key of KINDS
    texts  what its fields hold
    """

    parameter: str
    kind: str
    texts: tuple[str, ...]

    @property
    def plain(self) -> list[Any]:
        """The row as the browser gets it."""
        return [self.parameter, self.kind, list(self.texts)]


@dataclass(frozen=True)
class Parameter:
    """A parameter that a row can have: its default, and the values that it may take.

    is_axis   whether it takes several values; options of a short-hand take one
    options   the words that it knows
    interval  the numbers that it may be, if both ends are finite
    values    the values that are used where there is no row
    """

    name: str
    default: Any = None
    is_axis: bool = True
    options: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    values: tuple[Any, ...] = ()

    @property
    def label(self) -> str:
        """Its name, with blanks between the steps of a pipeline and the parameter."""
        return self.name.replace("__", " ")

    def proposal(self) -> Row:
        """Return a row to begin with."""
        if not self.is_axis:
            flipped = not self.default if type(self.default) is bool else self.default
            return Row(self.name, "value", (repr(flipped),))
        if self.values:
            return row_of_values(self.name, self.values)
        return Row(self.name, *self._guess())

    def _guess(self) -> tuple[str, tuple[str, ...]]:
        value, is_number = self.default, type(self.default) in (int, float)
        if type(value) is bool:
            return "list", ("False, True",)
        if self.options and not is_number:
            known = [None, *self.options] if value is None else self.options
            return "list", (", ".join(map(repr, known)),)
        if self.interval is not None and type(value) is not int:
            low, high = self.interval
            edge = (high - low) / (2 * FEW)
            return "even", (_text(low + edge), _text(high - edge), str(FEW))
        if type(value) is int and value > 0:
            factors = (1, 2, 4) if value <= 4 else (0.25, 0.5, 1, 2, 4)
            values = sorted({round(value * x) for x in factors})
            return "list", (", ".join(map(str, values)),)
        if type(value) is float and value > 0:
            return "log", (_text(value / 1000), _text(value * 1000), "7")
        if value is None:
            return "list", ("None, 2, 4, 8, 16",)
        return "list", (repr(value) if is_number or type(value) is str else "",)


def parameters_of(estimator: Any) -> list[Parameter]:
    """Return the parameters of an estimator that can be tuned; those of its last step first."""
    found = {
        name: Parameter(name, value, True, *_limits(estimator, name))
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] not in NOT_TUNED and _is_plain(value)
    }
    prefix, model = "", estimator
    if isinstance(estimator, Pipeline):
        prefix, model = f"{estimator.steps[-1][0]}__", estimator.steps[-1][1]
    record = recognised(type(model))
    axis = record.axis if record is not None and isinstance(record.axis, str) else ""
    return sorted(
        found.values(),
        key=lambda one: (one.name != prefix + axis, not one.name.startswith(prefix)),
    )


def parameters_of_call(
    signature: Mapping[str, Any], grid: Mapping[str, Any]
) -> list[Parameter]:
    """Return the parameters of a short-hand.

    signature  name -> default
    grid       values of its axes where none are given
    """
    return [
        Parameter(name, default, name in grid, values=tuple(grid.get(name, ())))
        for name, default in signature.items()
    ]


def row_of_values(name: str, values: Iterable[Any]) -> Row:
    """Return the row of these values, as steps where they are at equal distances."""
    found = list(values)
    low, *_, high = [*found, *found]
    if len(found) > 3 and all(type(x) is int for x in found):
        step = found[1] - found[0]
        if step > 0 and found == list(range(low, high + 1, step)):
            return Row(name, "whole", (str(low), str(high), str(step)))
    if len(found) > 3 and all(isinstance(x, float) and x > 0 for x in found):
        for kind, spaced in (("log", np.geomspace), ("even", np.linspace)):
            if np.allclose(found, spaced(low, high, len(found)), rtol=1e-9, atol=0):
                return Row(name, kind, (_text(low), _text(high), str(len(found))))
    return Row(name, "list", (", ".join(map(repr, found)),))


def rows_of(text: str, is_call: bool) -> list[Row] | None:
    """Return the rows of a typed grid; None if it has another form, such as a name.

    is_call: whether the text is the keywords of a short-hand, else it is a dict

    >>> rows_of("{'C': np.geomspace(0.1, 10, 3), 'kernel': ['rbf', 'linear']}", False)[0].kind
    'log'
    >>> rows_of("k=range(1, 31)", True)
    [Row(parameter='k', kind='whole', texts=('1', '30', '1'))]
    """
    rows = _rows_of(text, is_call)
    return None if rows is None else list(rows)


@lru_cache(8)
def _rows_of(text: str, is_call: bool) -> tuple[Row, ...] | None:
    if not text.strip():
        return ()
    try:
        reader = Reader(text, f"f({text}\n)" if is_call else text.strip(), {}, "")
    except FamilyError:
        return None
    pairs = _pairs(reader.tree, is_call)
    if pairs is None or len({name for name, _ in pairs}) < len(pairs):
        return None
    source = _Source(reader.source)
    return tuple(_row_of(name, node, source, is_call) for name, node in pairs)


def text_of(
    rows: Iterable[Row], is_call: bool, words: Mapping[str, Collection[str]]
) -> str:
    """Return the text of the Grid field for these rows; "" without any.

    words  parameter -> the words that it knows, which may be typed without quotes
    """
    values = {
        row.parameter: _written(row, words.get(row.parameter, ())) for row in rows
    }
    if is_call:
        return ", ".join(f"{name}={value}" for name, value in values.items())
    items = ", ".join(f"{name!r}: {value}" for name, value in values.items())
    return f"{{{items}}}" if items else ""


def as_kind(row: Row, kind: str, parameter: Parameter) -> Row:
    """Return a row for the same parameter of another kind, from the same numbers if it can."""
    numbers = _numbers_of(row)
    if kind == "list" and numbers:
        values = [x if type(x) is int else float(f"{x:.6g}") for x in numbers]
        return Row(row.parameter, kind, (", ".join(map(repr, values)),))
    low, high = min(numbers, default=1), max(numbers, default=100)
    if kind == "whole":
        return Row(row.parameter, kind, (str(int(low)), str(int(high)), "1"))
    if kind in FUNCTIONS:
        low = low if low > 0 or kind == "even" else 0.001
        return Row(row.parameter, kind, (_text(low), _text(max(high, low)), str(FEW)))
    return parameter.proposal()


def _numbers_of(row: Row) -> list[float]:
    """Return the values of a row if they are all numbers, else []."""
    try:
        values = list(read_grid(f"{{'x': {_written(row, ())}}}", {}, "")["x"])
    except (FamilyError, TypeError, KeyError):
        return []
    kinds = (int, float, np.int64, np.float64)
    return values if all(type(value) in kinds for value in values) else []


def _pairs(tree: ast.expr, is_call: bool) -> list[tuple[str, ast.expr]] | None:
    """Return (name, value) of the keywords of a call or the items of a dict, or None."""
    if is_call and isinstance(tree, ast.Call) and not tree.args:
        named = [(word.arg, word.value) for word in tree.keywords if word.arg]
        return named if len(named) == len(tree.keywords) else None
    if is_call or not isinstance(tree, ast.Dict):
        return None
    found = []
    for key, value in zip(tree.keys, tree.values, strict=True):
        if not isinstance(key, ast.Constant) or type(key.value) is not str:
            return None
        found.append((key.value, value))
    return found


class _Source:
    """A text by the places of its nodes; ast.get_source_segment would split it for each."""

    def __init__(self, text: str) -> None:
        self._lines = text.encode().split(b"\n")

    def text(self, node: ast.expr) -> str:
        """Return the text of a node on one line."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        start, end = node.col_offset, node.end_col_offset
        if first == last:
            found = self._lines[first][start:end]
        else:
            between = self._lines[first + 1 : last]
            parts = [self._lines[first][start:], *between, self._lines[last][:end]]
            found = b" ".join(part.strip() for part in parts)
        return found.decode()


def _row_of(name: str, node: ast.expr, source: _Source, is_call: bool) -> Row:
    text = source.text
    if isinstance(node, ast.Call) and not node.keywords:
        called = ast.unparse(node.func).removeprefix("np.")
        are_numbers = all(_is_number(argument) for argument in node.args)
        if called in SPACED and are_numbers and len(node.args) == 3:
            return Row(name, SPACED[called], tuple(map(text, node.args)))
        if called == "range" and are_numbers:
            return _row_of_range(name, list(map(text, node.args)))
    if isinstance(node, ast.List):
        inside = node.elts
        is_plain = len(inside) != 1 or isinstance(inside[0], ast.Constant)
        written = ", ".join(map(text, inside)) if is_plain else text(node)
        return Row(name, "list", (written,))
    if is_call and isinstance(node, ast.Constant):
        return Row(name, "value", (text(node),))
    return Row(name, "list", (text(node),))


def _row_of_range(name: str, texts: list[str]) -> Row:
    """Return the row of a range whose arguments are these numbers."""
    written = f"range({', '.join(texts)})"
    try:
        numbers = range(*map(int, texts))
    except (TypeError, ValueError):
        return Row(name, "list", (written,))
    low, high, step = numbers.start, numbers.stop - 1, numbers.step
    return Row(name, "whole", (str(low), str(high), str(step)))


def _written(row: Row, words: Collection[str]) -> str:
    """Return the values of a row as Python; raise FamilyError for what are no values."""
    if row.kind == "value":
        return row.texts[0].strip() or "None"
    if row.kind == "list":
        return _list_of(row, words)
    numbers = [_number(row, i) for i in range(3)]
    if row.kind in FUNCTIONS:
        return f"np.{FUNCTIONS[row.kind]}({', '.join(numbers)})"
    try:
        low, high, step = map(int, numbers)
    except ValueError:
        raise FamilyError(
            f"{row.parameter} has whole numbers from {numbers[0]} to {numbers[1]} in steps of "
            f"{numbers[2]}; type whole numbers."
        ) from None
    return f"range({low}, {high + 1}{f', {step}' * (step != 1)})"


def _list_of(row: Row, words: Collection[str]) -> str:
    text = row.texts[0]
    reader = Reader(text, f"[{text}\n]", {}, "0.1, 1, 10")
    if not isinstance(reader.tree, ast.List):
        raise reader.refusal("a bracket that closes too early")
    source = _Source(reader.source)
    parts = [
        repr(node.id)
        if isinstance(node, ast.Name) and node.id in words
        else source.text(node)
        for node in reader.tree.elts
    ]
    if len(parts) == 1 and not parts[0].startswith(("'", '"')):
        one = reader.tree.elts[0]
        if isinstance(one, ast.Name | ast.Call | ast.List | ast.Tuple | ast.Attribute):
            return parts[0]
    return f"[{', '.join(parts)}]"


def _number(row: Row, i: int) -> str:
    """Return field i of a row, which is one number."""
    text = row.texts[i].strip()
    reader = Reader(text, text or "()", {}, "0.1")
    if not _is_number(reader.tree):
        label = KINDS[row.kind][1][i]
        raise FamilyError(
            f"{row.parameter} has {text[:40]!r} as its {label!r}; type a number there."
        )
    return text


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def _limits(
    estimator: Any, name: str
) -> tuple[tuple[str, ...], tuple[float, float] | None]:
    """Return the words that scikit-learn allows a parameter, and its finite interval."""
    *steps, parameter = name.split("__")
    for step in steps:
        estimator = estimator.get_params(deep=True).get(step)
    if not isinstance(estimator, BaseEstimator):
        return (), None
    allowed = getattr(estimator, "_parameter_constraints", {}).get(parameter, ())
    if not isinstance(allowed, list | tuple):
        return (), None
    words = {x for one in allowed if isinstance(one, Options) for x in one.options}
    limits = [one for one in allowed if isinstance(one, Interval)]
    ends = [
        (one.left, one.right) for one in limits if None not in (one.left, one.right)
    ]
    finite = [end for end in ends if np.isfinite(end).all()]
    known = sorted(x for x in words if isinstance(x, str) and x not in NOT_OFFERED)
    return tuple(known), (*finite, None)[0]


def _text(number: Any) -> str:
    """Return a number as it is typed, without needless digits."""
    return f"{number:.12g}"
