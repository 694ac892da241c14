"""Errors of the code in a cell, shown with the lines of that cell alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from .magic_line import NestedCVError


class NestedCVSyntaxError(NestedCVError):
    """The body of the cell is no Python; shown as any SyntaxError of a cell is."""

    def __init__(self, shell: Any, error: SyntaxError) -> None:
        super().__init__(f"{error.msg} (line {error.lineno} of the cell)")
        self._lines = shell.SyntaxTB.structured_traceback(type(error), error, [])

    def _render_traceback_(self) -> list[str]:
        return list(self._lines)


def show_cell(filename: str, shell: Any, error: Exception) -> None:
    """Make IPython show the traceback of an error from the first line of this file on."""

    def is_ours(frame: FrameType) -> bool:
        return frame.f_code.co_filename != filename

    _show(error, lambda: _lines(shell, error, is_ours))


def show_cause(shell: Any, error: Exception, cause: BaseException) -> None:
    """Make IPython show where code that cvnb called failed, and then the error of cvnb."""

    def is_ours(frame: FrameType) -> bool:
        return str(frame.f_globals.get("__name__")).startswith("cvnb.")

    last = f"{type(error).__name__}: {error}"
    _show(error, lambda: [*_lines(shell, cause, is_ours), last])


def _show(error: Exception, render: Callable[[], list[str]]) -> None:
    with suppress(AttributeError, TypeError):  # of a class that takes no attribute
        error._render_traceback_ = render  # type: ignore[attr-defined]


def _lines(
    shell: Any, error: BaseException, is_ours: Callable[[FrameType], bool]
) -> list[str]:
    """Return the traceback as IPython shows it, without its first frames that are ours."""
    frames = error.__traceback__
    while frames is not None and is_ours(frames.tb_frame):
        frames = frames.tb_next
    kind, frames = type(error), frames or error.__traceback__
    return list(
        shell.InteractiveTB.structured_traceback(kind, error, frames, tb_offset=0)
    )
