"""What every report is: a title, a table in most of them, sentences below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Report:
    """Shows itself as text and HTML; what it says is in `title`, `table` and `sentences`."""

    @property
    def title(self) -> str:
        raise NotImplementedError

    @property
    def table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """(head, rows), every cell a string; no head where there is no table."""
        return [], []

    @property
    def sentences(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        from ...views.display import report_text

        return report_text(self)

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ...views.display import report_bundle

        return report_bundle(self)
