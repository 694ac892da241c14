"""BoundExplorer: how large a dev set must be, and what a given size guarantees."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..errors import InputError
from ..inference.bounds import dev_set_bound, dev_set_size
from ..pictures.curves import Axis, Curve
from ..pictures.svg import draw_curve
from ..views.markup import html
from ..wording import number as shown
from .form import number
from .static_copy import Snapshot
from .view import View, panel, wide


class BoundExplorer(View):
    """The bound of a dev set, which holds with probability 1 - delta.

    The setting chosen on the dev set is at most `bound` worse than the best one.

    n_dev, n_settings, delta   |S_dev|, |Θ0|, δ
    width                      the bound wanted, which needs a dev set of `size` rows
    range                      the width of the interval that the loss lies in

    >>> explorer = BoundExplorer()
    >>> explorer.n_dev = 1000
    >>> explorer, explorer.size
    (BoundExplorer(1000 rows, 50 settings, δ = 0.05: 0.123296), 1521)
    >>> explorer.wait(60), explorer.bound == dev_set_bound(1000, 50)
    (True, True)
    >>> "0.123296" in explorer.snapshot().html
    True
    >>> explorer.close()
    """

    n_dev = t.Int(200)
    n_settings = t.Int(50)
    delta = t.Float(0.05)
    width = t.Float(0.1)
    range = t.Float(1.0)

    def __init__(self) -> None:
        self._words, self._chart = panel("words"), panel("nest")
        fields = [
            number("n_dev", "|S_dev|, rows", 10, 5000, 10),
            number("n_settings", "|Θ0|, settings", 1, 500),
            number("delta", "δ", 0.01, 0.5, 0.01),
            number("width", "Bound wanted", 0.01, 0.5, 0.01),
            number("range", "Range of the loss", 0.1, 10, 0.1),
        ]
        super().__init__(fields, {}, [self._words, self._chart])

    @property
    def bound(self) -> float:
        """range √((2 / n_dev) ln(2 n_settings / delta)): what n_dev rows guarantee."""
        return dev_set_bound(self.n_dev, self.n_settings, self.delta, self.range)

    @property
    def size(self) -> int:
        """⌈2 (range / width)² ln(2 n_settings / delta)⌉: rows needed for the bound wanted."""
        return dev_set_size(self.width, self.n_settings, self.delta, self.range)

    def _show(self) -> None:
        if self.n_dev > 10**12:
            raise InputError(
                f"n_dev={self.n_dev} is more rows than anybody has; use a number up to 10**12."
            )
        first = html(
            f"With probability 1 − {self.delta:g} or more, the best of {self.n_settings} "
            f"settings on {self.n_dev} rows is at most {shown(self.bound)} worse than the "
            "best one, both trained without the dev set."
        )
        second = html(
            f"A bound of {self.width:g} takes {self.size} rows. It holds for every "
            "distribution, so it is loose."
        )
        headline = f'<b style="font-size:22px">{shown(self.bound)}</b>'
        lines = (headline, first, second)
        self._words.value = "".join(f"<div>{line}</div>" for line in lines)
        self._chart.value = wide(draw_curve(self._bounds()).img)

    def _bounds(self) -> Curve:
        """The bound against the size of the dev set."""
        most = max(5000, 2 * self.n_dev, 2 * min(self.size, 10**7))
        sizes = np.geomspace(10, most, 60).round().astype(np.int64)
        sizes = np.unique(np.append(sizes, self.n_dev))
        bounds = [
            dev_set_bound(int(n), self.n_settings, self.delta, self.range)
            for n in sizes
        ]
        return Curve(
            axis=Axis("rows of the dev set", sizes.astype(np.float64)),
            which=np.arange(sizes.size),
            settings=tuple(f"{n} rows" for n in sizes),
            inner=np.array([bounds]),
            outer=None,
            chosen=np.flatnonzero(sizes == self.n_dev),
            one_se=None,
            levels={"wanted": self.width},
            ylabel="bound",
        )

    def snapshot(self) -> Snapshot:
        """Return a static copy: the words and the curve, or the error."""
        if self._form.error:
            return Snapshot(repr(self), html(self._form.error))
        return Snapshot(repr(self), self._words.value + self._chart.value)

    def __repr__(self) -> str:
        values = f"{self.n_dev} rows, {self.n_settings} settings, δ = {self.delta:g}"
        try:
            return f"BoundExplorer({values}: {shown(self.bound)})"
        except InputError:  # the form shows it
            return f"BoundExplorer({values})"
