"""The static copy of a view: text and pictures that need neither a kernel nor a script."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from ..display import pictures_of, strip_of
from ..nest import nest_of
from ..svg import draw_nest


@dataclass(frozen=True, repr=False)
class Snapshot:
    """What a view showed: words, result, plan and the Python that does the same."""

    words: str
    result: Any
    plan: Any
    code: str

    def __repr__(self) -> str:
        return self.code if self.result is None else f"{self.result!r}"

    def _repr_html_(self) -> str:
        shown = self.words if self.result is None else strip_of(self.result)
        pictures = "" if self.plan is None else draw_nest(nest_of(self.plan)).img
        if self.result is not None:
            pictures = pictures_of(self.result)
        return f'<div style="line-height:1.4">{shown}<div>{pictures}</div><pre>{escape(self.code)}</pre></div>'
