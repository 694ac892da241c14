"""Completion on the line of the magics: options, their words, names of data.

The body keeps Python's own completion and adds the names that it may use without an import.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from ..data.checks import is_frame
from .magic_line import WORDS
from .magic_options import options_of
from .magics import NestedCVMagics
from .namespace import at_hand

CELL = re.compile(r"%%(nestedcv)\s(.*)$")
NAME = re.compile(r"(?<![\w.])([A-Za-z_]\w*)$")
LINE = re.compile(r"(?:.*=)?\s*%(nestedcv|folds|recipe)\s(.*)$")
OF_IPYTHON = ("In", "Out")


def matcher_of(shell: Any) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """Return the matcher of one shell."""

    @context_matcher()
    def cvnb_matcher(context: CompletionContext) -> SimpleMatcherResult:
        lines = context.full_text.split("\n")
        line = lines[context.cursor_line][: context.cursor_position]
        if context.cursor_line and CELL.match(lines[0]):
            return _in_body(line)
        match = None if context.cursor_line else CELL.match(line)
        match = match or LINE.match(line)
        if match is None:
            return {"completions": []}
        *before, fragment = match[2].split(" ")
        option, equals, value = fragment.partition("=")
        if equals and option.startswith("--"):
            before, fragment = [option], value
        words = _words(shell, match[1], fragment, before[-1] if before else "")
        return {
            "completions": [
                SimpleCompletion(word, type="param")
                for word in words
                if word.startswith(fragment)
            ],
            "matched_fragment": fragment,
            "suppress": True,
        }

    return cvnb_matcher


def _in_body(line: str) -> SimpleMatcherResult:
    """Names that need no import, after the start of a name that is no attribute."""
    match = NAME.search(line)
    start = match[1] if match else ""
    names = [name for name in at_hand() if match and name.startswith(start)]
    completions = [SimpleCompletion(name, type="function") for name in names]
    return {"completions": completions, "matched_fragment": start}


def _words(shell: Any, magic: str, fragment: str, before: str) -> list[str]:
    """Options, or what may follow the option `before`: its words, columns, names of data."""
    if fragment.startswith("-"):
        options = options_of(getattr(NestedCVMagics, magic))
        return [option for option in options if option.startswith("--")]
    if before == "--target":
        return _columns(shell.user_ns.values())
    names = [
        name
        for name, value in shell.user_ns.items()
        if not name.startswith("_") and name not in OF_IPYTHON and _is_data(value)
    ]
    return [*WORDS.get(before, ()), *sorted(names)]


def _columns(values: Any) -> list[str]:
    """The columns of all frames, without those that need quotes."""
    frames = [value for value in values if is_frame(value)]
    columns = dict.fromkeys(str(name) for frame in frames for name in frame.columns)
    return [column for column in columns if " " not in column]


def _is_data(value: Any) -> bool:
    is_sequence = type(value).__name__ in ("Series", "list")
    return is_sequence or isinstance(value, np.ndarray) or is_frame(value)
