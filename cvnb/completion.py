"""Completion on the line of the magics: options, the words they know, names of data. The body keeps Python's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from .inputs import is_frame
from .magic_line import WORDS
from .magics import NestedCVMagics, options_of

LINE = re.compile(r"%{1,2}(nestedcv|folds|recipe)\s(.*)$")


def matcher_of(shell: Any) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """The matcher of one shell."""

    @context_matcher()
    def cvnb_matcher(context: CompletionContext) -> SimpleMatcherResult:
        first = context.full_text[: context.cursor_position].split("\n")
        found = LINE.match(first[0]) if len(first) == 1 or context.cursor_line == 0 else None
        if found is None:
            return {"completions": []}
        words = found[2].split(" ")
        matches = _matches(shell, found[1], words[-1], words[-2] if len(words) > 1 else "")
        return {
            "completions": [SimpleCompletion(text, type="param") for text in matches],
            "matched_fragment": words[-1],
            "suppress": True,
        }

    return cvnb_matcher


def _matches(shell: Any, magic: str, fragment: str, before: str) -> list[str]:
    """What may stand here: an option, a value of the option before, or data."""
    if fragment.startswith("-"):
        options = options_of(getattr(NestedCVMagics, magic))
        return [option for option in options if option.startswith(fragment) and option.startswith("--")]
    names = sorted(name for name, value in shell.user_ns.items() if not name.startswith("_") and _is_data(value))
    if before == "--target":
        columns = [str(column) for value in shell.user_ns.values() if is_frame(value) for column in value.columns]
        return [column for column in dict.fromkeys(columns) if column.startswith(fragment) and " " not in column]
    return [word for word in (*WORDS.get(before, ()), *names) if word.startswith(fragment)]


def _is_data(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_frame(value) or type(value).__name__ in ("Series", "list")
