"""Completion on the line of the magics: options, the words they know, names of data.

The body keeps Python's own, and has the names that are at hand in it beside.
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
from .magics import NestedCVMagics, at_hand, options_of

CELL = re.compile(r"%%(nestedcv)\s(.*)$")
NAME = re.compile(r"(?<![\w.])([A-Za-z_]\w*)$")
LINE = re.compile(r"(?:.*=)?\s*%(nestedcv|folds|recipe)\s(.*)$")


def matcher_of(shell: Any) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """The matcher of one shell."""

    @context_matcher()
    def cvnb_matcher(context: CompletionContext) -> SimpleMatcherResult:
        lines = context.full_text.split("\n")
        line = lines[context.cursor_line][: context.cursor_position]
        if context.cursor_line and CELL.match(lines[0]):
            return _in_body(line)
        found = (CELL.match(line) if context.cursor_line == 0 else None) or LINE.match(
            line
        )
        if found is None:
            return {"completions": []}
        *before, fragment = found[2].split(" ")
        option, equals, value = fragment.partition("=")
        if equals and option.startswith("--"):
            before, fragment = [option], value
        matches = _matches(shell, found[1], fragment, before[-1] if before else "")
        return {
            "completions": [SimpleCompletion(text, type="param") for text in matches],
            "matched_fragment": fragment,
            "suppress": True,
        }

    return cvnb_matcher


def _in_body(line: str) -> SimpleMatcherResult:
    """Names that need no import, where one is begun; an attribute is none of them."""
    found = NAME.search(line)
    names = [name for name in at_hand() if found and name.startswith(found[1])]
    completions = [SimpleCompletion(name, type="function") for name in names]
    return {"completions": completions, "matched_fragment": found[1] if found else ""}


def _matches(shell: Any, magic: str, fragment: str, before: str) -> list[str]:
    """What may stand here: an option, a value of the option before, or data."""
    if fragment.startswith("-"):
        options = options_of(getattr(NestedCVMagics, magic))
        return [
            option
            for option in options
            if option.startswith(fragment) and option.startswith("--")
        ]
    names = sorted(
        name
        for name, value in shell.user_ns.items()
        if not name.startswith("_") and name not in OWN and _is_data(value)
    )
    if before == "--target":
        columns = [
            str(column)
            for value in shell.user_ns.values()
            if is_frame(value)
            for column in value.columns
        ]
        return [
            column
            for column in dict.fromkeys(columns)
            if column.startswith(fragment) and " " not in column
        ]
    return [
        word for word in (*WORDS.get(before, ()), *names) if word.startswith(fragment)
    ]


OWN = ("In", "Out")  # of IPython itself


def _is_data(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray)
        or is_frame(value)
        or type(value).__name__ in ("Series", "list")
    )
