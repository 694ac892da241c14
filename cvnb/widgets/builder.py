"""RecipeBuilder: choose how rows are split and what is tuned, see the folds, run, watch the curve.

A view of three values that can be read and set: `recipe`, `family` and `result`. A change of a
control makes a request. One worker draws the plan and, if the path is fast, runs it; a newer
request replaces an older one.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as w
import traitlets as t

from ..data.checks import check_groups, length
from ..data.table import Data
from ..engine.progress import Slot
from ..errors import CvnbError
from ..families.family import Family
from ..results.estimate import RiskEstimate, record_of
from ..runs.prepare import PreparedRun, prepare
from ..runtime.thread_warnings import quiet
from ..views.card import pictures_of, strip_of
from ..views.markup import html
from .code_writer import GIVEN, CodeWriter
from .controls import controls_of, message
from .run_request import (
    Rendered,
    RunRequest,
    are_same,
    is_live,
    map_of,
    name_of_loss,
    name_of_rule,
    time_of,
)
from .screen import Screen
from .static_copy import Snapshot
from .watched import Watched
from .worker import Worker

QUOTES = "'\""
A_WHILE = 0.3  # seconds of drawing after which the builder shows that it draws


class RecipeBuilder(Screen):
    """Controls on the left; result, nest map and curve on the right.

    X, y        the rows and their targets
    groups      group of every row; the Groups control also offers arrays of the namespace
    namespace   variables that the controls offer; default: those of the notebook
    names       expressions of "X", "y" and "groups" in the code; default: their names there
    family      the model to begin with, as in Recipe.run; default: knn()
    output      the name in the namespace under which each complete result is kept

    y and groups may be names of columns of X. Its traits:

    recipe, family, result   what is on screen; each may be set
    plan                     the splits of the recipe; None if they cannot be drawn
    error                    the reason why they cannot be drawn, or another error
    outside, inside          the cell of the outer × inner table:
                             "none", "holdout", "folds", "loo" or "resampling"
    outer, inner             numbers of folds or samples
    test, validation         shares of the rows
    seed, stratify, groups, time_ordered, buffer, family_name, grid, loss, select
                             the other controls
    spread                   whether 100 seeds are a cloud beside the curve
    keep_as                  the name that keep() gives the result

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> variables = {"X": X, "y": y}
    >>> builder = RecipeBuilder(X, y, namespace=variables)
    >>> builder.outer = 10
    >>> builder.run()  # as the button does; a fast path needs none
    >>> builder.wait(60), round(builder.result.risk, 4), "nested CV" in builder.snapshot().html
    (True, 0.0533, True)
    >>> builder.to_python().splitlines()[-1]
    'result = recipe.run(knn(), X, y)'
    >>> print(builder.to_cell())
    %%nestedcv X y --outer 10 --inner 5 --seed 0
    knn()
    >>> builder.keep()  # as the Keep button does: the result, under the name keep_as
    >>> builder.keep_as, variables["risk"] is builder.result
    ('risk', True)
    >>> builder.cancel()  # nothing is running
    >>> builder.close()
    """

    _drawing = False

    def __init__(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        namespace: dict[str, Any] | None = None,
        names: dict[str, str] | None = None,
        family: Any = None,
        output: str | None = None,
    ) -> None:
        data = Data.check(X, y).copied()
        writer = CodeWriter(X, y, groups, namespace, names or {})
        super().__init__(writer, data)
        self._known["result"] = None
        if family is not None:
            self._adopt(family)
        if output is not None:
            self.keep_as, self._is_bound = output, True
        self._worker = Worker(lambda: Watched(self._under_way))
        inside = w.Box([self._form, self._shown]).add_class("cvnb-builder")
        self._form.title = self._title()
        self.add_class("cvnb-host")
        self.children = [inside]
        self.observe(self._result_set, names="result")
        self._form.on_msg(self._clicked)
        self._show_controls()
        self._ask(False)

    def run(self) -> None:
        """Run what the controls say, however long it takes: the Run button."""
        self._ask(True)

    def cancel(self) -> None:
        """Stop and keep the outer splits that are finished: the Cancel button."""
        self._worker.interrupt()
        with self._lock:
            if self._drawing:  # drawing cannot be stopped; its plan is ignored
                self._newest += 1
                self._show_nothing(
                    "Stopped while the splits were drawn. Press Run to draw them."
                )

    def close(self) -> None:
        """Stop the worker and close the widgets."""
        if hasattr(self, "_worker"):
            self._form.on_msg(self._clicked, remove=True)
            with self._lock:
                self._newest += 1  # results that are still computed are ignored
        super().close()

    def snapshot(self) -> Snapshot:
        """Return a static copy that needs no kernel: what a reopened notebook shows."""
        if self.result is None:
            text, shown = repr(self), f"<div>{html(self.error or self._why)}</div>"
            shown += "" if self.plan is None else self._nest.value
        else:
            text, shown = repr(self.result), strip_of(self.result)
            shown += pictures_of(self.result) + self._cloud.html
        code = escape(self.to_python())
        return Snapshot(text, f"{shown}<pre style='font-family:monospace'>{code}</pre>")

    def _result_set(self, change: Any) -> None:
        """Show a result that is set, with its recipe, its family and its own code."""
        result = change.new
        if result is self._known["result"]:
            return
        if result is not None and (reason := self._refusal(result)):
            self._put(result=change.old)
            raise t.TraitError(reason)
        with self._lock:
            self._newest += 1
            version = self._newest
            self._worker.stop()
            if result is None:
                self._clear()
            else:
                self._take(result)
            self._show_controls()
            self._form.drawn += 1
        if result is not None and self.spread:
            self._worker.ask(lambda slot: self._change_cloud(slot, version, result))
        else:
            self._worker.ask(self._update_copy)

    def _refusal(self, result: Any) -> str:
        """Return the reason why the builder cannot show a result; "" if it can."""
        if not isinstance(result, RiskEstimate):
            return f"builder.result must be the result of a run, got {type(result).__name__}."
        data = record_of(result).data
        column = data.names.get("groups")
        own = self._data if column is None else self._data_with(repr(column), None)
        if not are_same(data, own):
            return (
                "builder.result must be of the rows that the builder was given; this one "
                "is of others."
            )
        if data.weights is not None:
            return (
                "builder.result has sample_weight, which no control holds; look at it "
                "with CurveExplorer(result)."
            )
        return ""

    def _take(self, result: RiskEstimate) -> None:
        """Set the controls from a result and show it."""
        record = record_of(result)
        controls = controls_of(record.recipe)
        name, grid = self._writer.names_of(record.family)
        controls |= {"family_name": name or GIVEN, "grid": grid}
        column, groups = record.data.names.get("groups"), record.data.groups
        controls["groups"] = repr(column)
        if column is None:
            controls["groups"] = self._writer.groups_called(groups, self._data.n_rows)
        controls["select"] = name_of_rule(record.work.rule)
        controls["loss"] = name_of_loss(record)
        self._problems.clear()
        self.given = record
        self._put(recipe=record.recipe, family=record.family, **controls)
        self._show_plan(result.plan, map_of(result.plan))
        self._show_result(Rendered.of(result))

    # What the worker computes.

    def _ask(self, asked: bool) -> None:
        with self._lock:
            self._newest += 1
            version = self._newest
        if self._problems:
            words, at = self._first_problem()
            self._worker.ask(lambda slot: self._say_why(slot, version, words, at))
            return
        request = RunRequest(
            recipe=self.recipe,
            make=self._family_wanted(),
            groups=self.groups,
            loss=self.loss,
            select=self.select,
            given=self.given,
            asked=asked,
        )
        self._worker.ask(lambda slot: self._work(slot, version, request))

    def _work(self, slot: Any, version: int, request: RunRequest) -> None:
        """Draw the plan; run it if that is fast or the Run button was pressed."""
        slot.version = version
        try:
            ready, picture = self._draw_plan(version, request)
            live = is_live(ready.jobs[""].work, ready.plan)
            self._publish(
                version, lambda: self._begin(ready, picture, live, request.asked)
            )
            if live or request.asked:
                drawn = Rendered.of(ready.run(slot))
                self._publish(version, lambda: self._show_result(drawn))
                self._add_seeds(slot, drawn.result, request.asked)
            else:
                self._update_copy(slot)
                self._add_time(version, ready)
        except BaseException as error:  # this thread has no caller to raise it to
            words, at = message(error), self._place_of(error, message(error))
            self._publish(version, lambda: self._show_error(words, at))
        self._update_copy(slot)

    def _add_time(self, version: int, ready: PreparedRun) -> None:
        """Add to the Run button how long the run will take, which needs a fit or two."""
        with quiet():
            time = time_of(ready)
        if time:
            label = f"{self._form.actions[0][1].partition(' · ')[0]} · {time}"
            self._publish(version, lambda: self._busy(False, label))

    def _draw_plan(self, version: int, request: RunRequest) -> tuple[PreparedRun, str]:
        """Return what is ready to run, and the picture of its splits."""
        with self._drawing_shown(version), quiet():  # the plan's warnings are notes too
            family = self._make_family(version, request.make)
            data = self._data_with(request.groups, request.given)
            ready = prepare(
                request.recipe, copy.deepcopy(family), data, request.options
            )
            return ready, map_of(ready.plan)

    @contextmanager
    def _drawing_shown(self, version: int) -> Iterator[None]:
        """Clear older results and offer Cancel if what is done inside takes a while."""
        timer = threading.Timer(A_WHILE, self._publish, [version, self._show_drawing])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            with self._lock:
                timer.cancel()
                self._drawing = False

    def _show_drawing(self) -> None:
        self._show_nothing("The splits are being drawn.", "number map")
        self._busy(True)
        self._drawing = True

    def _make_family(self, version: int, make: Callable[[], Family]) -> Family:
        """Make the chosen family; an error stays shown until another family is chosen."""
        try:
            family = make()
        except Exception as error:
            words = message(error)
            self._publish(version, lambda: self._family_refused(make, words))
            raise
        self._publish(version, lambda: self._family_made(make, family))
        return family

    def _say_why(self, slot: Slot, version: int, words: str, at: str) -> None:
        self._publish(version, lambda: self._show_error(words, at))
        self._update_copy(slot)

    def _data_with(self, groups: str, given: Any) -> Data:
        if not groups:
            return self._data
        data = self._data
        if groups in self._writer.columns:
            column = self._writer.columns[groups]
            return replace(Data.check(data.X, data.y, column), category=data.category)
        values = given.data.groups if groups == GIVEN else self._writer.groups(groups)
        if (n := length("groups", values)) != data.n_rows:
            raise CvnbError(
                f"groups={groups} has {n} rows, but X has {data.n_rows}; choose others."
            )
        return Data(data.X, data.y, check_groups(values), None, data.category)

    def _title(self) -> str:
        """Return what the rows are: "X (150 × 4) → y"."""
        name, target = (self._writer.name(what) for what in ("X", "y"))
        shape = f"{self._data.n_rows} × {self._data.n_columns}"
        target = target.partition("[")[2].rstrip("]") or target
        return f"{name.partition('[')[0]} ({shape}) → {target.strip(QUOTES)}"

    def _clicked(self, _: Any, content: Any, __: Any) -> None:
        asked = {"run": self.run, "cancel": self.cancel, "keep": self.keep}
        asked["opened"] = self._page_opened
        asked[content["action"]]()

    def __repr__(self) -> str:
        return f"RecipeBuilder({self.recipe!r}, {self.family!r})"
