"""The data of a magic: X, y, groups and weights from names, expressions or one frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..data.checks import is_frame
from .magic_line import NestedCVError, unquoted

Value = Callable[[str, str], Any]  # (option, text) -> its value
Rows = tuple[Any, Any, Any, Any]  # X, y, groups, weights


def rows_of(arguments: Any, value: Value) -> Rows:
    """Return X, y, groups and weights; value(option, text) evaluates one text."""
    values = [value("data", text) for text in arguments.data]
    others = {name: getattr(arguments, name, None) for name in ("groups", "weights")}
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
    groups, weights = (
        None if text is None else value(f"--{option}", text)
        for option, text in others.items()
    )
    return values[0], values[1], groups, weights


def _columns(
    frame: Any, target: str, others: dict[str, str | None], value: Value
) -> Rows:
    """X, y, groups and weights from one frame; columns of the last two are no features."""
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
    return frame[features], frame[names[target]], values[0], values[1]


def _column_names(frame: Any) -> dict[str, Any]:
    """Text -> name of each column, which may be a number."""
    return {str(name): name for name in frame.columns}


def data_texts(arguments: Any, X: Any, value: Value) -> dict[str, str]:
    """Return the expressions of X, y and groups; X is the value of the first."""
    words = [unquoted(text) for text in arguments.data]
    groups = unquoted(arguments.groups or "")
    if arguments.target is None:
        return {"X": words[0], "y": words[1], "groups": groups}
    frame = words[0]
    names = _column_names(value("data", frame))
    return {
        "X": f"{frame}[{list(X.columns)!r}]",
        "y": f"{frame}[{names[unquoted(arguments.target)]!r}]",
        "groups": f"{frame}[{names[groups]!r}]" if groups in names else groups,
    }
