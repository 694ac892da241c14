"""Options of a run: what a user may set beyond recipe, family and data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..splits.specs import is_whole


@dataclass(frozen=True)
class Options:
    """What a user may set for a run beyond recipe, family and data."""

    loss: Any = None
    scoring: Any = None
    select: Any = "min"
    flat: bool = False
    n_jobs: int | None = None
    path: str = "auto"
    progress: str = "off"

    def __post_init__(self) -> None:
        self._check("path", "auto", "refit")
        self._check("flat", True, False)
        self._check("progress", "auto", "off")
        n = self.n_jobs
        if n is not None and (not is_whole(n) or n == 0):
            raise InputError(
                f"n_jobs={n!r} must be None or a whole number other than 0; -1 means all "
                "processors."
            )

    def _check(self, name: str, *known: str | bool) -> None:
        value = getattr(self, name)
        # compared by identity first: == of an array is an array, and 1 == True
        is_text = isinstance(value, str)
        if not any(value is it or (is_text and value == it) for it in known):
            choices = " or ".join(map(repr, known))
            raise InputError(f"{name}={value!r} is not known; use {choices}.")


DEFAULTS: dict[str, Any] = vars(Options())
