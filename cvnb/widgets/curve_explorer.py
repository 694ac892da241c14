"""CurveExplorer: the curve of a result by fold, by another rule, at one setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import Any

import plotly.graph_objects as go
import traitlets as t

from ..errors import InputError, WrongTypeError
from ..families.labels import shown_settings
from ..figures.curve import figure_of
from ..figures.look import INK
from ..inference.rules import rule_of
from ..pictures.curves import Curve, Ranking, Surface, curve_of
from ..pictures.split_map import nest_of_result, opened
from ..pictures.svg import draw_nest
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from ..views.card import pictures_of, strip_of
from ..views.markup import html_table
from .curve_view import CurveView, figure_of_result
from .static_copy import Snapshot
from .view import View, panel, wide

EVERY, CHOSEN = "all splits", "as chosen"
RULES = [["min", "minimum"], ["one_se", "one standard error"]]


class CurveExplorer(View):
    """The curve of a result.

    split          "all splits", or the index of an outer split ("0" is fold 1), whose inner
                   curve is emphasised
    rule           the rule whose choices are marked: "as chosen", "min" or "one_se"
    theta          a setting by its label; its fold losses are listed; a click on the curve sets it
    log_x, log_y   whether the axes are logarithmic

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> explorer = CurveExplorer(nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)))
    >>> explorer.rule, explorer.theta = "one_se", "k=9"
    >>> explorer, explorer.chosen, len(explorer.fold_losses)
    (CurveExplorer(all splits, one_se, θ k=9), [2, 2, 2, 2, 2], 5)
    >>> explorer.wait(60), "k=9" in explorer.snapshot().html
    (True, True)
    >>> explorer.close()
    """

    split = t.Unicode(EVERY)
    rule = t.Enum((CHOSEN, "min", "one_se"), CHOSEN)
    theta = t.Unicode("")
    log_x = t.Bool(False)
    log_y = t.Bool(False)
    _curve: CurveView

    def __init__(self, result: RiskEstimate) -> None:
        if not isinstance(result, RiskEstimate):
            raise WrongTypeError(
                f"CurveExplorer takes the result of a run, got {type(result).__name__}."
            )
        curve = curve_of(result)
        if curve is None:
            raise InputError(
                "there is no curve: nothing was chosen among several settings (or all of "
                "them failed)."
            )
        self.result, self._curve_drawn = result, curve
        self._names_of_settings = _unique(shown_settings(result.settings))
        self._settings = {name: s for s, name in enumerate(self._names_of_settings)}
        self._curve = CurveView()
        self._losses, self._map = panel("losses"), panel("nest")
        self._clickable: Any = None
        folds = [[str(j), f"fold {j + 1}"] for j in range(len(result.chosen))]
        fields = [
            {"name": "split", "label": "Fold", "kind": "choice"},
            {"name": "rule", "label": "Choices by", "kind": "choice"},
            {"name": "theta", "label": "Setting", "kind": "choice"},
            {"name": "log_x", "label": "Setting axis logarithmic", "kind": "check"},
            {"name": "log_y", "label": "Error axis logarithmic", "kind": "check"},
        ]
        choices = {
            "split": [[EVERY, "all folds"], *folds],
            "rule": [[CHOSEN, CHOSEN], *RULES],
            "theta": [["", "none"], *([name, name] for name in self._settings)],
        }
        with self.hold_trait_notifications():
            self.log_x = isinstance(curve, Curve) and curve.axis.log
        super().__init__(fields, choices, [self._curve.place, self._losses, self._map])

    @property
    def chosen(self) -> list[int]:
        """The setting that the rule chooses in each outer training part."""
        record = record_of(self.result)
        if self.rule == CHOSEN:
            return list(map(int, self.result.chosen_index))
        rule = rule_of(self.rule, record.family, record.work.kinds, record.loss)
        rule.refuse(self.result.plan)
        settings = [rule.choose(losses) for losses in record.table.inner or ()]
        return [-1 if s is None else s for s in settings]

    @property
    def fold_losses(self) -> list[list[Any]]:
        """[split, inner loss, outer loss] of θ: the mean inner loss of each outer split, or the
        loss of each inner split of one."""
        if self.theta not in self._settings:
            return []
        s, record = self._settings[self.theta], record_of(self.result)
        shown, outer = record.loss.shown, self.result.outer_curves
        j = self._split
        if j is not None:
            assert record.table.inner is not None
            of_folds = enumerate(record.table.inner[j][:, s])
            return [[f"{j}, {k}", shown(value), None] for k, value in of_folds]
        inner = self.result.inner_curves
        assert inner is not None
        rows: list[list[Any]] = [
            [i, shown(curve[s]), None] for i, curve in enumerate(inner)
        ]
        if outer is not None:
            for row, curve in zip(rows, outer, strict=True):
                row[2] = shown(curve[s])
        return rows

    @property
    def _split(self) -> int | None:
        if self.split == EVERY:
            return None
        if not self.split.isdigit() or int(self.split) >= len(self.result.chosen):
            raise InputError(
                f"split={self.split!r} is no outer split; use {EVERY!r} or '0' to "
                f"'{len(self.result.chosen) - 1}'."
            )
        return int(self.split)

    def _show(self) -> None:
        if self.theta and self.theta not in self._settings:
            raise InputError(f"theta={self.theta!r} is no setting of this result.")
        curve, j, chosen = self._curve_drawn, self._split, self.chosen
        if self.log_x and isinstance(curve, Curve) and curve.axis.x.min() <= 0:
            raise InputError(
                "the θ axis has a value of 0 or less, which has no logarithm; leave it straight."
            )
        figure = figure_of(curve, self.log_y)
        if isinstance(curve, Curve):
            self._mark(figure, curve, j, chosen)
            figure.update_xaxes(type="log" if self.log_x else "linear")
        self._curve.draw(figure)
        self._listen()
        self._losses.value = self._table(j)
        plan = self.result.plan
        if j is None or plan.inner_layouts is None:
            nest = nest_of_result(self.result)
        else:
            nest = opened(plan, j, 8)
        self._map.value = wide(draw_nest(nest).img)

    def _table(self, j: int | None) -> str:
        """The fold losses of θ as HTML; a hint if no θ is chosen."""
        scale = scale_of(self.result)
        rows: list[Any] = [
            [str(place), scale.displayed(inner), scale.displayed(outer)]
            for place, (_, inner, outer) in enumerate(self.fold_losses, start=1)
        ]
        if not rows:
            return (
                "<div>Click on the curve, or choose a setting, to see its folds.</div>"
            )
        name = "score" if scale.loss.is_score else "error"
        fold = "fold" if j is None else f"inner fold of fold {j + 1}"
        head = [fold, f"inner {name}", f"test {name}"]
        return f"<b>{escape(self.theta)}</b>{html_table((head, rows))}"

    def _mark(
        self, figure: go.Figure, curve: Curve, j: int | None, chosen: list[int]
    ) -> None:
        """Mark the choices of the rule, the curve of the split and the place of θ."""
        place = {int(s): i for i, s in enumerate(curve.which)}
        shown = [
            (i, place[s])
            for i, s in enumerate(chosen)
            if s >= 0 and (j is None or i == j)
        ]
        markers = [trace for trace in figure.data if trace.mode == "markers"]
        marks = next(trace for trace in markers if trace.marker.symbol is None)
        marks.update(
            x=[curve.axis.x[at] for _, at in shown],
            y=[curve.factor * curve.inner[i, at] for i, at in shown],
            name=f"chosen: {self.rule}" if self.rule != CHOSEN else marks.name,
            hovertext=[f"<b>{curve.settings[at]}</b>, fold {i + 1}" for i, at in shown],
        )
        strong: tuple[Any, Any] = ([], [])
        if j is not None:
            strong = (curve.axis.x, curve.factor * curve.inner[j])
        figure.add_scatter(
            x=strong[0],
            y=strong[1],
            mode="lines",
            name="" if j is None else f"inside fold {j + 1}",
            showlegend=j is not None,
            line={"color": INK, "width": 2},
            hoverinfo="skip",
        )
        at = [place[s] for name, s in self._settings.items() if name == self.theta]
        line = curve.mean if j is None else curve.inner[j]
        figure.add_scatter(
            x=curve.axis.x[at],
            y=curve.factor * line[at],
            mode="markers",
            name=self.theta or "setting",
            showlegend=bool(at),
            hoverinfo="skip",
            marker={
                "symbol": "circle-open",
                "size": 18,
                "color": INK,
                "line": {"width": 2},
            },
        )

    def _listen(self) -> None:
        """A click on the mean of the curves, a cell of the heat map or a row sets the setting."""
        traces = self._curve.widget.data
        if isinstance(self._curve_drawn, Surface | Ranking):
            target = traces[0]
        else:
            means = [trace for trace in traces if trace.legendgroup == "mean"]
            target = next(trace for trace in means if trace.line.width)
        if target is not self._clickable:
            self._clickable = target
            target.on_click(self._clicked)

    def _clicked(self, _: Any, points: Any, __: Any = None) -> None:
        if points.point_inds:
            at = points.point_inds[0]
            place = tuple(at) if isinstance(at, list | tuple) else at
            if isinstance(self._curve_drawn, Ranking):
                place = self._clickable.customdata[place]
            self.theta = self._names_of_settings[int(self._curve_drawn.which[place])]

    def _send_again(self) -> None:
        super()._send_again()
        self._refresh()  # a new figure has lost what listens to its clicks

    def _blank(self) -> None:
        super()._blank()
        self._curve.draw(figure_of_result(None))

    def snapshot(self) -> Snapshot:
        """Return a static copy that needs no kernel."""
        html = strip_of(self.result) + pictures_of(self.result) + self._losses.value
        return Snapshot(repr(self.result), html)

    def __repr__(self) -> str:
        return f"CurveExplorer({self.split}, {self.rule}, θ {self.theta or 'none'})"


def _unique(names: Iterable[str]) -> list[str]:
    """Add the number of the setting to names that occur twice."""
    names = list(names)
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{name} (setting {s})"
        for s, name in enumerate(names)
    ]
