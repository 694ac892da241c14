"""How the numbers of a loss are written: in percent or plainly, as scores or as losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .loss import Loss

# Metrics that are shares of rows, written in percent. A name is a scorer's function.
IN_PERCENT = {"accuracy_score", "balanced_accuracy_score", "top_k_accuracy_score"}
ROOTS = {"mean_squared_error"}
SIGNIFICANT = 3  # digits of a number whose uncertainty is not known
LARGEST, SMALLEST = 1e7, 1e-4  # outside of which numbers are written as powers of ten


@dataclass(frozen=True)
class Scale:
    """Write losses for a reader: scores as scores, shares of rows in percent.

    loss      the loss of the numbers that are written
    decimals  digits after the point (of percent, where it is percent); negative: rounded tens

    >>> from cvnb.losses.loss import find_loss
    >>> errors = Scale(find_loss("zero_one", None, "classification", None), 1)
    >>> errors.write(0.0421518), errors.ends(0.0262, 0.0587), errors.difference(-0.0105)
    ('4.2 %', '2.6 to 5.9 %', '−1.1 points')
    """

    loss: Loss
    decimals: int

    @classmethod
    def of(cls, loss: Loss, value: float | None, width: float | None = None) -> Scale:
        """Return the scale with two digits of an interval's width.

        value: the loss inside the interval; without a width it has three digits
        """
        factor = 100.0 if is_share(loss) else 1.0
        shown = None if value is None else factor * loss.shown(value)
        return cls(loss, decimals_of(factor * (width or 0.0), shown))

    @classmethod
    def of_difference(
        cls, loss: Loss, difference: float | None, width: float | None
    ) -> Scale:
        """Return the scale of a difference of two losses, likewise."""
        factor = 100.0 if is_share(loss) else 1.0
        shown = None if difference is None else factor * difference
        return cls(loss, decimals_of(factor * (width or 0.0), shown))

    @property
    def in_percent(self) -> bool:
        """Whether the numbers are shares of rows."""
        return is_share(self.loss)

    @property
    def factor(self) -> float:
        """What displayed numbers are multiplied by along an axis."""
        return 100.0 if self.in_percent else 1.0

    @property
    def unit(self) -> str:
        """What follows a number along an axis: " %" or nothing."""
        return " %" if self.in_percent else ""

    def plotted(self, losses: Any) -> Any:
        """Return losses as numbers along an axis: as displayed, 4.2 for a share of 0.042."""
        return self.factor * self.loss.shown(losses)

    def displayed(self, value: float | None) -> str:
        """Return a number that is a score already where there are scores, with its unit."""
        return self._with_unit(self._digits(value))

    def write(self, loss: Any) -> str:
        """Return a loss as it is displayed, with its unit; "–" for None and NaN."""
        return self._with_unit(self.bare(loss))

    def bare(self, loss: Any) -> str:
        """Return a loss as it is displayed, without its unit."""
        return self._digits(None if loss is None else float(self.loss.shown(loss)))

    def ends(self, low: float, high: float) -> str:
        """Return two displayed ends, as those of `result.interval()`: "2.6 to 5.9 %"."""
        return self._with_unit(self.bare_ends(low, high))

    def bare_ends(self, low: float, high: float) -> str:
        """Return two displayed ends without their unit."""
        return f"{self._digits(low)} to {self._digits(high)}"

    def difference(self, difference: float | None) -> str:
        """Return the difference of two losses as displayed, with its sign and unit."""
        return self._with_points(self.bare_difference(difference))

    def bare_difference(self, difference: float | None) -> str:
        """Return the difference of two losses as displayed, with its sign."""
        return _signed(self._digits(self.loss.shown_difference(difference)))

    def ends_of_difference(self, low: float, high: float) -> str:
        """Return the displayed ends of a difference, with signs: "−0.4 to +2.1"."""
        return " to ".join(_signed(self._digits(end)) for end in (low, high))

    def size(self, difference: float) -> str:
        """Return the size of a difference of two losses with its unit: "1.1 points"."""
        return self._with_points(self._digits(abs(difference)))

    def _digits(self, value: float | None) -> str:
        if value is None or math.isnan(value):
            return "–"
        return written(100 * value if self.in_percent else value, self.decimals)

    def _with_unit(self, digits: str) -> str:
        return f"{digits} %" if self.in_percent and digits != "–" else digits

    def _with_points(self, digits: str) -> str:
        if not self.in_percent or digits == "–":
            return digits
        return f"{digits} {'point' if digits.lstrip('+−') == '1' else 'points'}"


def _signed(digits: str) -> str:
    """Return a written number with "+" if it is positive."""
    is_positive = not digits.startswith(("−", "–")) and digits.strip("0.,")
    return f"+{digits}" if is_positive else digits


def is_share(loss: Loss) -> bool:
    """Whether a loss is a share of rows, which is written in percent."""
    formula, options = loss.formula
    return loss.zero_one or (formula in IN_PERCENT and options.get("normalize", True))


def is_squared(loss: Loss) -> bool:
    """Whether the root of a loss has the units of y."""
    return loss.name == "squared" or loss.formula[0] in ROOTS


def decimals_of(width: float | None, value: float | None) -> int:
    """Return how many decimals show two digits of the width of an interval.

    width: of the interval around value; None, zero or infinite if it is not known, and then
    value has three digits.

    >>> decimals_of(3.3, 4.2), decimals_of(812.0, 2900.0), decimals_of(None, 0.0123)
    (1, -1, 4)
    """
    if width and math.isfinite(width):
        return 1 - math.floor(math.log10(abs(width)))
    if not value or not math.isfinite(value):
        return SIGNIFICANT - 1
    return SIGNIFICANT - 1 - math.floor(math.log10(abs(value)))


def written(value: float, decimals: int) -> str:
    """Return a number with so many decimals, a real minus sign, and commas from 10,000 on.

    >>> written(2913.4, -1), written(41234.5, 0), written(-0.04, 1), written(1.234e-7, 9)
    ('2910', '41,234', '0.0', '1.23e-07')
    """
    if not math.isfinite(value):
        return str(value).replace("-", "−")
    size = abs(round(value, decimals))
    if size and not SMALLEST <= size < LARGEST:
        digits = max(0, math.floor(math.log10(size)) + decimals)
        text = f"{size:.{digits}e}"
    else:
        text = f"{size:{',' if size >= 1e4 else ''}.{max(0, decimals)}f}"
    return f"−{text}" if value < 0 and size else text
