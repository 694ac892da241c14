"""RecipeBuilder: choose how rows are split and what is tuned, see the folds at once, run, watch the curve.

A view of three values that can be read and set: `recipe`, `family` and `result`. A change of a control only says what is
wanted; one worker draws the plan and, where the path is fast, runs it; what is superseded is dropped.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import ipywidgets as w
import traitlets as t

from ..data.checks import check_groups, length
from ..data.table import Data
from ..engine.progress import Slot
from ..errors import CvnbError
from ..families.family import Family
from ..inference.rules import Minimum, OneStandardError
from ..paths.base import Draw
from ..paths.dispatch import choose_path
from ..results.estimate import RiskEstimate, record_of
from ..runs.prepare import Ready, prepare
from ..runtime.thread_warnings import quiet
from ..views.display import html, pictures_of, strip_of
from ..wording import count
from .code_writer import GIVEN, Written
from .controls import Controls, controls_of, said
from .curve_view import CurveView, figure_of_result
from .run_request import Drawn, Wanted, are_same, map_of, name_of_loss
from .static_copy import Snapshot
from .view import panel
from .worker import Worker

A_WHILE = 0.3  # seconds after which it is said what is being done
LIVE = 3e9  # multiplications of a run that is made without being asked for


class RecipeBuilder(Controls):
    """Controls on the left; result, nest map and curve on the right.

    recipe, family, result   what is on screen; each may be set
    plan                     the splits of the recipe, None where it cannot be drawn (`error` says why)
    outside, inside          "none", "holdout", "folds", "loo" or "resampling": the cell of the outer × inner table
    outer, inner             numbers of folds or samples; test, validation: shares
    seed, stratify, groups, time_ordered, buffer, family_name, grid, loss, select: the other controls

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> builder = RecipeBuilder(X, y, namespace={"X": X, "y": y})
    >>> builder.outer = 10
    >>> builder.run()  # as the button does; a fast path needs none
    >>> builder.wait(60), round(builder.result.risk, 4), "nested CV" in builder.snapshot().html
    (True, 0.0533, True)
    >>> builder.to_python().splitlines()[-1]
    'result = recipe.run(knn(), X, y)'
    >>> print(builder.to_cell())
    %%nestedcv X y --outer 10 --inner 5 --seed 0
    knn()
    >>> builder.cancel()  # nothing is running
    >>> builder.close()
    """

    _drawing = False

    result = t.Any(None, allow_none=True)
    plan = t.Any(None, allow_none=True)
    error = t.Unicode("")

    def __init__(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        namespace: dict[str, Any] | None = None,
        names: dict[str, str] | None = None,
    ) -> None:
        self._data = Data.check(X, y).copied()
        self._newest = 0
        space = _user_namespace() if namespace is None else namespace
        super().__init__(Written(X, y, groups, space, names or {}), self._data.n_rows)
        self._known["result"] = None
        self._strip, self._nest, self._curve = (
            panel("strip"),
            panel("nest"),
            CurveView(),
        )
        self._worker = Worker(lambda: Watched(self))
        inside = w.Box(
            [self._form, w.VBox([self._strip, self._nest, self._curve.widget])]
        )
        inside.add_class("cvnb-builder")
        self.add_class("cvnb-host")
        self.children = [inside]
        self.observe(self._result_set, names="result")
        self._form.on_msg(self._clicked)
        self._show_controls()
        self._ask(False)

    def run(self) -> None:
        """What the Run button does: run what the controls say, however long it takes."""
        self._ask(True)

    def cancel(self) -> None:
        """What the Cancel button does: stop; the outer splits that are finished stay."""
        self._worker.interrupt()
        with self._lock:
            if self._drawing:  # which nothing ends; what it draws is not looked at
                self._newest += 1
                self._show_nothing(
                    "Stopped while the splits were drawn. Press Run to draw them."
                )

    def close(self) -> None:
        """Stop the worker and take the widgets away."""
        if hasattr(self, "_worker"):
            self._form.on_msg(self._clicked, remove=True)
            with self._lock:
                self._newest += 1  # what is still computed is not heard of any more
        super().close()

    def snapshot(self) -> Snapshot:
        """A static copy that needs no kernel: what a reopened notebook shows."""
        shown = self._strip.value + self._nest.value
        if self.result is not None:
            shown = strip_of(self.result) + pictures_of(self.result)
        text = repr(self) if self.result is None else repr(self.result)
        return Snapshot(
            text,
            f"{shown}<pre style='font-family:monospace'>{escape(self.to_python())}</pre>",
        )

    def _result_set(self, change: Any) -> None:
        """A result that is set brings its recipe and family, and is shown as it is; its own code stands beside it."""
        if change.new is self._known["result"]:
            return
        if change.new is not None and not isinstance(change.new, RiskEstimate):
            self._put(result=change.old)
            raise t.TraitError(
                f"builder.result must be the result of a run, got {type(change.new).__name__}."
            )
        if change.new is not None and not are_same(
            record_of(change.new).data, self._data
        ):
            self._put(result=change.old)
            raise t.TraitError(
                "builder.result must be of the rows that the builder was given; this one is of others."
            )
        if change.new is not None and record_of(change.new).data.weights is not None:
            self._put(result=change.old)
            raise t.TraitError(
                "builder.result has sample_weight, which no control holds; look at it with CurveExplorer(result)."
            )
        with self._lock:
            self._newest += 1
            self._worker.stop()
            if change.new is None:
                self._show_nothing("No result.")
            else:
                self._take(change.new)
            self._show_controls()
        self._worker.ask(self._update_twin)

    def _take(self, result: RiskEstimate) -> None:
        """The controls of a result, and the result."""
        record = record_of(result)
        name, grid = self._written.names_of(record.family)
        found = controls_of(record.recipe) | {
            "family_name": name or GIVEN,
            "grid": grid,
        }
        found["groups"] = self._written.groups_called(
            record.data.groups, self._data.n_rows
        )
        rule = record.work.rule
        plain = {Minimum: "min", OneStandardError: "one_se"}.get(type(rule), GIVEN)
        found["select"] = GIVEN if getattr(rule, "simplest", None) else plain
        found["loss"] = name_of_loss(record)
        self._problems.clear()
        self.given = record
        self._put(recipe=record.recipe, family=record.family, **found)
        self._show_plan(result.plan, map_of(result.plan))
        self._show_result(Drawn.of(result))

    # What is computed, by the worker alone.

    def _ask(self, asked: bool) -> None:
        with self._lock:
            self._newest += 1
            version = self._newest
        if self._problems:
            words = next(iter(self._problems.values()))
            self._worker.ask(lambda slot: self._say_why(slot, version, words))
            return
        wanted = Wanted(
            self.recipe,
            self._family_wanted(),
            self.groups,
            self.loss,
            self.select,
            self.given,
            asked,
        )
        self._worker.ask(lambda slot: self._work(slot, version, wanted))

    def _publish(self, version: int, show: Callable[[], None]) -> None:
        """Show something, if nothing newer was asked for meanwhile."""
        with self._lock:
            if version != self._newest:
                return
            show()

    def _work(self, slot: Any, version: int, wanted: Wanted) -> None:
        """Draw the plan, and run it where that is fast or was asked for."""
        slot.version = version
        try:
            with (
                self._said_to_draw(version),
                quiet(),
            ):  # the plan's cautions are notes too
                family = self._make_family(version, wanted.make)
                data = self._data_with(wanted.groups, wanted.given)
                ready = prepare(
                    wanted.recipe, copy.deepcopy(family), data, wanted.options
                )
                picture = map_of(ready.plan)
            work = ready.jobs[""].work
            path = choose_path(
                work.family,
                work.kinds,
                [Draw(ready.plan, work.data)],
                work.loss,
                work.task,
                "auto",
            )
            live = path.cost is not None and path.cost <= LIVE
            self._publish(
                version, lambda: self._begin(ready, picture, live, wanted.asked)
            )
            if live or wanted.asked:
                drawn = Drawn.of(ready.run(slot))
                self._publish(version, lambda: self._show_result(drawn))
        except (
            BaseException
        ) as error:  # shown where the user looks: a thread has nobody to raise it to
            words = said(error)
            self._publish(version, lambda: self._show_error(words))
        self._update_twin(slot)

    @contextmanager
    def _said_to_draw(self, version: int) -> Iterator[None]:
        """Where it takes a while, nothing older stands beside the new controls, and Cancel is there."""
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
        self._show_nothing("The splits are being drawn.")
        self._nest.value = ""
        self._busy(True)
        self._drawing = True

    def _make_family(self, version: int, make: Callable[[], Family]) -> Family:
        """The family that was chosen; what is wrong with it stays said until another is."""
        try:
            family = make()
        except Exception as error:
            words = said(error)
            self._publish(version, lambda: self._family_refused(make, words))
            raise
        self._publish(version, lambda: self._family_made(make, family))
        return family

    def _say_why(self, slot: Slot, version: int, words: str) -> None:
        self._publish(version, lambda: self._show_error(words))
        self._update_twin(slot)

    def _begin(self, ready: Ready, picture: str, live: bool, asked: bool) -> None:
        """The plan; and no number that is not of it while a long run goes on, or before it was asked for."""
        self._show_plan(ready.plan, picture)
        if not live:
            self._show_nothing(
                "Running; nothing is finished yet." if asked else _waiting_words(ready)
            )
        self._busy(live or asked)

    def _data_with(self, groups: str, given: Any) -> Data:
        if not groups:
            return self._data
        values = given.data.groups if groups == GIVEN else self._written.groups(groups)
        if (n := length("groups", values)) != self._data.n_rows:
            raise CvnbError(
                f"groups={groups} has {n} rows, but X has {self._data.n_rows}; choose others."
            )
        return Data(
            self._data.X, self._data.y, check_groups(values), None, self._data.category
        )

    def _busy(self, yes: bool) -> None:
        self._form.busy = yes
        self._form.share = 0.0
        self._form.actions = [["run", "Run", not yes], ["cancel", "Cancel", yes]]

    def _show_plan(self, plan: Any, picture: str) -> None:
        self._say("")
        self.plan = plan
        self._nest.value = picture

    def _show_numbers(self, drawn: Drawn) -> None:
        self._put(result=drawn.result)
        self._strip.value = drawn.strip
        self._curve.draw(drawn.curve)

    def _show_result(self, drawn: Drawn) -> None:
        self._say("")
        self._busy(False)
        self._show_numbers(drawn)
        result = drawn.result
        notes = (
            f"{count(len(result.notes), 'note')}: {result.notes[0]}"
            if result.notes
            else ""
        )
        self._form.status = (
            notes if result.complete else "Stopped; what was finished is shown."
        )

    def _show_nothing(self, words: str) -> None:
        """No number stands beside controls that it does not belong to."""
        self._busy(False)
        self._put(result=None)
        self._strip.value = f"<div>{html(words)}</div>"
        self._curve.draw(figure_of_result(None))
        self._form.status = ""

    def _show_error(self, words: str) -> None:
        self._show_nothing("No result: see what is said beside the controls.")
        self.plan = None
        self._nest.value = f'<div class="cvnb-infeasible">{escape(words)}</div>'
        self._say(words)

    def _say(self, words: str) -> None:
        self.error = words
        self._form.error = words

    def _under_way(self, slot: Watched, text: str) -> None:
        """How far a long run is, and what it knows so far."""
        try:
            result = slot.so_far()
        except RuntimeError:
            result = None  # it was written to while it was read: the next look sees it
        drawn = (
            Drawn.of(result)
            if result is not None and len(result.fold_risks) > self._n_shown()
            else None
        )
        self._publish(slot.version, lambda: self._show_progress(slot, text, drawn))

    def _n_shown(self) -> int:
        return len(getattr(self.result, "fold_risks", ()))

    def _show_progress(self, slot: Watched, text: str, drawn: Drawn | None) -> None:
        self._form.status, self._form.share = text, slot.share
        if drawn is not None:
            self._show_numbers(drawn)

    def _clicked(self, _: Any, content: Any, __: Any) -> None:
        {"run": self.run, "cancel": self.cancel}[content["action"]]()

    def __repr__(self) -> str:
        return f"RecipeBuilder({self.recipe!r}, {self.family!r})"


class Watched(Slot):
    """The slot of a run whose progress a builder shows."""

    def __init__(self, builder: RecipeBuilder) -> None:
        super().__init__()
        self.builder, self.version = builder, 0

    @property
    def seen(self) -> bool:
        """It is looked at on screen."""
        return True

    def draw(self, text: str) -> None:
        """Show a bar, a sentence, and the result so far."""
        self.builder._under_way(self, text)


def _user_namespace() -> dict[str, Any]:
    from IPython import get_ipython

    shell = get_ipython()
    return {} if shell is None else shell.user_ns


def _waiting_words(ready: Ready) -> str:
    work = ready.jobs[""].work
    n = ready.plan.n_inner * len(work.family.settings) + len(ready.plan.outer)
    return f"Not run yet: {count(n, 'fit')} of {work.family.label}. Press Run."
