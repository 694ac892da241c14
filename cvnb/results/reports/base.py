"""Report: a title, for most reports a table, perhaps a picture, and sentences below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ..estimate import RiskEstimate


def refuse_no_result(name: str, result: Any) -> None:
    """Raise an error where the report of this name gets anything but a result."""
    if not isinstance(result, RiskEstimate):
        raise InputError(
            f"{name} takes the result of a run, got {type(result).__name__}."
        )


class Report:
    """Text and HTML made from `title`, `picture`, `table` and `sentences`."""

    @property
    def title(self) -> str:
        raise NotImplementedError

    @property
    def table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """(head, rows), every cell a string; both empty where there is no table."""
        return [], []

    @property
    def picture(self) -> str:
        """A small picture without scripts, as HTML; "" where there is none."""
        return ""

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
