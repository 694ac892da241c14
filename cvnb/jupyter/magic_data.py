"""The data of a magic: X, y, groups, weights and times from names, expressions or one frame."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from ..data.checks import is_frame
from ..data.columns import without_columns
from .magic_line import NestedCVError, unquoted

Value = Callable[[str, str], Any]  # (option, text) -> its value
Rows = tuple[Any, Any, Any, Any, Any]  # X, y, groups, weights, times
OTHERS = ("groups", "weights", "times")


def rows_of(arguments: Any, value: Value) -> Rows:
    """Return X, y, groups, weights and times; value(option, text) evaluates one text.

    A text that has no value but is a column of X is returned as it is.
    """
    values = _values_of_data(arguments.data, value)
    others = {name: getattr(arguments, name, None) for name in OTHERS}
    if arguments.target is not None:
        if len(values) != 1 or not is_frame(values[0]):
            raise NestedCVError(
                "--target names a column of one DataFrame: "
                "%%nestedcv frame --target column."
            )
        return _columns(values[0], unquoted(arguments.target), others, value)
    if len(values) != 2:
        raise NestedCVError(
            f"give X and y (got {len(values)} names): %%nestedcv X y, or %%nestedcv "
            "frame --target column."
        )
    groups, weights, times = (
        None
        if text is None
        else _value_or_column(f"--{option}", text, values[0], value)
        for option, text in others.items()
    )
    return values[0], values[1], groups, weights, times


def _values_of_data(texts: list[str], value: Value) -> list[Any]:
    """Return the values of X and y, which a comma may separate."""
    first, *others = [text.rstrip(",") for text in texts] or [""]
    if not first:
        return []
    X = value("data", first)
    if not others and isinstance(X, tuple):
        return list(X)
    return [X, *(_value_or_column("data", text, X, value) for text in others)]


def _value_or_column(option: str, text: str, X: Any, value: Value) -> Any:
    """Return the value of a text; the text if it has none and is the name of a column of X."""
    try:
        return value(option, text)
    except NestedCVError as error:
        column = unquoted(text)
        if not is_frame(X):
            raise
        names = [str(name) for name in X.columns]
        if column in names:
            return column
        close = difflib.get_close_matches(column, names, n=1)
        hint = f" Did you mean the column {close[0]!r}?" if close else ""
        raise NestedCVError(f"{error}{hint}") from None


def _columns(
    frame: Any, target: str, others: dict[str, str | None], value: Value
) -> Rows:
    """X, y and the others from one frame; columns that they name are no features."""
    names = _column_names(frame)
    if target not in names:
        raise NestedCVError(
            f"--target {target!r} is no column; the columns are {', '.join(names)}."
        )
    used, values = {target}, []
    for option, text in others.items():
        column = unquoted(text or "")
        if column in names:
            used.add(column)
            values.append(frame[names[column]])
        else:
            values.append(None if text is None else value(f"--{option}", text))
    features = [name for text, name in names.items() if text not in used]
    groups, weights, times = values
    return frame[features], frame[names[target]], groups, weights, times


def _column_names(frame: Any) -> dict[str, Any]:
    """Text -> name of each column, which may be a number."""
    return {str(name): name for name in frame.columns}


def apart(rows: Rows) -> Rows:
    """Return the rows with the values of the columns that they name, which X then lacks."""
    X, *others = rows
    given = dict(zip(("y", "groups", "sample_weight", "times"), others, strict=True))
    names = {argument: v for argument, v in given.items() if isinstance(v, str)}
    X, given = without_columns(X, given, names)
    return X, *given.values()


def data_texts(arguments: Any, rows: Rows, value: Value) -> dict[str, str]:
    """Return the expressions of X, y and groups.

    rows  as `rows_of` returned them
    """
    words = [unquoted(text) for text in arguments.data]
    _, y, groups, *_ = rows
    target, frame = arguments.target, words[0].rstrip(",")
    texts = {
        "X": frame,
        "y": words[1] if target is None else unquoted(target),
        "groups": unquoted(arguments.groups or ""),
    }
    table = value("data", frame)
    if not is_frame(table):
        return texts
    names = _column_names(table)
    are_columns = {
        "y": target is not None or isinstance(y, str),
        "groups": isinstance(groups, str)
        or (target is not None and texts["groups"] in names),
    }
    for name, is_column in are_columns.items():
        if is_column:
            texts[name] = f"{frame}[{names[texts[name]]!r}]"
    if any(are_columns.values()):
        texts["X"] = f"{frame}[{list(apart(rows)[0].columns)!r}]"
    return texts
