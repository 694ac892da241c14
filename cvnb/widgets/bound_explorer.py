"""BoundExplorer: how large a dev set must be, and what one of a given size is worth."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..errors import InputError
from ..inference.bounds import dev_set_bound, dev_set_size
from ..pictures.curves import Axis, Curve
from ..pictures.svg import draw_curve
from ..views.display import html
from ..wording import number as shown
from .form import number
from .static_copy import Snapshot
from .view import View, panel, wide


class BoundExplorer(View):
    """The dev-set bound: with probability 1 - delta the setting chosen is at most `bound` worse than the best one.

    n_dev, n_settings, delta   |S_dev|, |Θ0|, δ
    width                      the bound that is wanted; `size` is the dev set that it takes
    range                      the width of the interval that the loss lies in

    >>> explorer = BoundExplorer()
    >>> explorer.n_dev = 1000
    >>> explorer, explorer.size
    (BoundExplorer(1000 rows, 50 settings, δ = 0.05: 0.123296), 1521)
    >>> explorer.wait(60), explorer.bound == dev_set_bound(1000, 50), "0.123296" in explorer.snapshot().html
    (True, True, True)
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
        """⌈2 (range / width)² ln(2 n_settings / delta)⌉: the dev set that the bound wanted takes."""
        return dev_set_size(self.width, self.n_settings, self.delta, self.range)

    def _show(self) -> None:
        if self.n_dev > 10**12:
            raise InputError(
                f"n_dev={self.n_dev} is more rows than anybody has; use a number up to 10**12."
            )
        first = html(
            f"With probability 1 − {self.delta:g} or more, the best of {self.n_settings} settings on {self.n_dev} rows is at "
            f"most {shown(self.bound)} worse than the best one, both trained without the dev set."
        )
        second = html(
            f"A bound of {self.width:g} takes {self.size} rows. It holds for every distribution, so it is loose."
        )
        self._words.value = f'<div><b style="font-size:22px">{shown(self.bound)}</b></div><div>{first}</div><div>{second}</div>'
        sizes = np.unique(
            np.geomspace(10, max(5000, 2 * self.n_dev, 2 * min(self.size, 10**7)), 60)
            .round()
            .astype(np.int64)
        )
        sizes = np.unique(np.append(sizes, self.n_dev))
        bounds = np.array(
            [
                [
                    dev_set_bound(int(n), self.n_settings, self.delta, self.range)
                    for n in sizes
                ]
            ]
        )
        names = tuple(f"{n} rows" for n in sizes)
        at = np.flatnonzero(sizes == self.n_dev)
        axis = Axis("rows of the dev set", sizes.astype(np.float64))
        curve = Curve(
            axis,
            np.arange(sizes.size),
            names,
            bounds,
            None,
            at,
            None,
            {"wanted": self.width},
            "bound",
        )
        self._chart.value = wide(draw_curve(curve).img)

    def snapshot(self) -> Snapshot:
        """A static copy: the words and the curve."""
        return Snapshot(
            repr(self),
            html(self._form.error)
            if self._form.error
            else self._words.value + self._chart.value,
        )

    def __repr__(self) -> str:
        said = f"{self.n_dev} rows, {self.n_settings} settings, δ = {self.delta:g}"
        try:
            return f"BoundExplorer({said}: {shown(self.bound)})"
        except InputError:  # said in the form
            return f"BoundExplorer({said})"
