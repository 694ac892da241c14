"""Report: a title, for most reports a table, perhaps a picture, and sentences below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ..estimate import RiskEstimate


def refuse_no_result(name: str, result: Any) -> None:
    """Raise an error where the report of this name gets anything but a result."""
    if not isinstance(result, RiskEstimate):
        raise InputError(
            f"{name} takes the result of a run, got {type(result).__name__}."
        )


@dataclass(frozen=True, eq=False)
class Points:
    """What a small picture of a report shows: a line, and dots with their standard errors."""

    x: np.ndarray
    line: np.ndarray
    dots: np.ndarray
    errors: np.ndarray
    xlabel: str
    line_name: str
    dots_name: str


class Report:
    """Text and HTML made from `title`, `picture`, `table`, `points` and `sentences`."""

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

    @property
    def points(self) -> Points | None:
        """What to draw; None without a picture."""
        return None

    def __repr__(self) -> str:
        from ...views.display import report_text

        return report_text(self)

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ...views.display import report_bundle

        return report_bundle(self)
