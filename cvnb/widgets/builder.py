"""RecipeBuilder: choose how rows are split and what is tuned, see the folds at once, run, watch the curve.

A view of three values that can be read and set: `recipe`, `family` and `result`. A change of a control only says what is
wanted; one worker draws the plan and, where the path is fast, runs it; what is superseded is dropped.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as w
import numpy as np
import traitlets as t
from joblib import hash as hash_of

from ..data import Data
from ..display import html, pictures_of, strip_of
from ..errors import CvnbError
from ..estimate import RiskEstimate, record_of
from ..families import Family
from ..inputs import check_groups, length
from ..nest import nest_of
from ..paths.choice import choose_path
from ..procedure import DEFAULTS, Options, Ready, prepare
from ..progress import Slot
from ..recipes import Recipe
from ..rules import OneStandardError
from ..svg import draw_nest
from ..wording import count
from .controls import AUTO, GIVEN, Controls, controls_of, said
from .curve_view import CurveView, figure_of_result
from .twin import Snapshot
from .view import panel, wide
from .worker import Worker
from .written import LOSSES, Written

LIVE = 3e9  # multiplications of a run that is made without being asked for


class RecipeBuilder(Controls):
    """Controls on the left; result, nest map and curve on the right.

    recipe, family, result   what is on screen; each may be set
    plan                     the splits of the recipe, None where it cannot be drawn (`error` says why)
    outside, inside          "none", "holdout", "folds", "loo" or "resampling": the cell of the outer × inner table
    outer, inner             numbers of folds or samples; test, validation: shares
    seed, stratify, groups, time_ordered, buffer, family_name, grid, loss, select: the other controls
    """

    result = t.Any(None, allow_none=True)
    plan = t.Any(None, allow_none=True)
    error = t.Unicode("")

    def __init__(
        self, X: Any, y: Any, groups: Any = None, namespace: dict[str, Any] | None = None, names: dict[str, str] | None = None
    ) -> None:
        self._data = Data.check(X, y).copied()
        self._newest, self._as_given = 0, False
        space = _user_namespace() if namespace is None else namespace
        super().__init__(Written(X, y, groups, space, names or {}), self._data.n_rows)
        self._known["result"] = None
        self._strip, self._nest, self._curve = panel("strip"), panel("nest"), CurveView()
        self._worker = Worker(lambda: Watched(self))
        inside = w.Box([self._form, w.VBox([self._strip, self._nest, self._curve.widget])])
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

    def to_python(self) -> str:
        """Python that does what is on screen."""
        return str(self.result.code()) if self._as_given else super().to_python()

    def to_cell(self) -> str:
        """The same as a %%nestedcv cell; "" where no options of it stand for what is on screen."""
        return "" if self._as_given else super().to_cell()

    def close(self) -> None:
        """Stop the worker and take the widgets away."""
        if hasattr(self, "_worker"):
            self._form.on_msg(self._clicked, remove=True)
        super().close()

    def snapshot(self) -> Snapshot:
        """A static copy that needs no kernel: what a reopened notebook shows."""
        shown = self._strip.value + self._nest.value
        if self.result is not None:
            shown = strip_of(self.result) + pictures_of(self.result)
        text = repr(self) if self.result is None else repr(self.result)
        return Snapshot(text, f"{shown}<pre>{escape(self.to_python())}</pre>")

    def _result_set(self, change: Any) -> None:
        """A result that is set brings its recipe and family, and is shown as it is; its own code stands beside it."""
        if change.new is self._known["result"]:
            return
        if change.new is not None and not isinstance(change.new, RiskEstimate):
            self._put(result=change.old)
            raise t.TraitError(f"builder.result must be the result of a run, got {type(change.new).__name__}.")
        if change.new is not None and not _are_same(record_of(change.new).data, self._data):
            self._put(result=change.old)
            raise t.TraitError("builder.result must be of the rows that the builder was given; this one is of others.")
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
        found = controls_of(record.recipe) | {"family_name": name or GIVEN, "grid": grid, "groups": ""}
        found["select"] = "one_se" if isinstance(record.work.rule, OneStandardError) else "min"
        found["loss"] = record.loss.score_name or record.loss.name
        if [found["loss"]] * 2 not in self._form.choices["loss"]:
            found["loss"] = AUTO
        self._problems.clear()
        self._put(recipe=record.recipe, family=record.family, **found)
        self._as_given = True
        self._show_plan(result.plan, map_of(result.plan))
        self._show_result(Drawn.of(result))

    # What is computed, by the worker alone.

    def _ask(self, asked: bool) -> None:
        with self._lock:
            self._newest += 1
            version, self._as_given = self._newest, False
        if self._problems:
            words = next(iter(self._problems.values()))
            self._worker.ask(lambda slot: self._say_why(slot, version, words))
            return
        wanted = Wanted(self.recipe, self._family_wanted(), self.groups, self.loss, self.select, asked)
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
            family = self._make_family(version, wanted.make)
            options = Options(**DEFAULTS | {"select": wanted.select} | _loss_options(wanted.loss))
            ready = prepare(wanted.recipe, copy.deepcopy(family), self._data_with(wanted.groups), options)
            work = ready.jobs[""].work
            path = choose_path(work.family, work.kinds, work.data, work.loss, work.task, ready.plan, "auto")
            live = getattr(path, "cost", np.inf) <= LIVE
            picture = map_of(ready.plan)
            self._publish(version, lambda: self._begin(ready, picture, live, wanted.asked))
            if live or wanted.asked:
                drawn = Drawn.of(ready.run(slot))
                self._publish(version, lambda: self._show_result(drawn))
        except BaseException as error:  # shown where the user looks: a thread has nobody to raise it to
            words = said(error)
            self._publish(version, lambda: self._show_error(words))
        self._update_twin(slot)

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
            self._show_nothing("Running; nothing is finished yet." if asked else _waiting_words(ready))
        self._busy(live or asked)

    def _data_with(self, groups: str) -> Data:
        if not groups:
            return self._data
        values = self._written.groups(groups)
        if (n := length("groups", values)) != self._data.n_rows:
            raise CvnbError(f"groups={groups} has {n} rows, but X has {self._data.n_rows}; choose others.")
        return Data(self._data.X, self._data.y, check_groups(values), None, self._data.category)

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
        notes = f"{count(len(result.notes), 'note')}: {result.notes[0]}" if result.notes else ""
        self._form.status = notes if result.complete else "Stopped; what was finished is shown."

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
        drawn = Drawn.of(result) if result is not None and len(result.fold_risks) > self._n_shown() else None
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


@dataclass(frozen=True)
class Wanted:
    """What the controls said when it was asked for; `asked`: by pressing Run, so that it may take long."""

    recipe: Recipe
    make: Callable[[], Family]
    groups: str
    loss: str
    select: str
    asked: bool


@dataclass(frozen=True)
class Drawn:
    """A result with what is shown of it."""

    result: RiskEstimate
    strip: str
    curve: Any

    @classmethod
    def of(cls, result: Any) -> Drawn:
        """Draw it."""
        return cls(result, strip_of(result), figure_of_result(result))


def map_of(plan: Any) -> str:
    """The nest map, as wide as there is room."""
    return wide(draw_nest(nest_of(plan)).img)


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


def _are_same(data: Data, other: Data) -> bool:
    """Whether these are the same rows."""
    if data.n_rows != other.n_rows or not np.array_equal(data.y, other.y):
        return False
    return data.X is other.X or bool(hash_of(data.X) == hash_of(other.X))


def _loss_options(name: str) -> dict[str, Any]:
    if name == AUTO:
        return {}
    return {"loss": name} if name in LOSSES else {"scoring": name}


def _waiting_words(ready: Ready) -> str:
    work = ready.jobs[""].work
    n = ready.plan.n_inner * len(work.family.settings) + len(ready.plan.outer)
    return f"Not run yet: {count(n, 'fit')} of {work.family.label}. Press Run."
