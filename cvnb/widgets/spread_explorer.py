"""SpreadExplorer: how much a number hangs on the seed, for any folds and rule."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import traitlets as t

from ..data.table import Data
from ..errors import InputError, WrongTypeError
from ..families.family import Family, as_families
from ..families.shorthands import unresolved
from ..pictures.curves import curve_of
from ..pictures.svg import draw_curve
from ..results.comparison import Comparison
from ..results.estimate import Record, RiskEstimate, record_of
from ..runs.options import DEFAULTS, Options
from ..runs.prepare import PreparedRun, prepare
from ..runtime.thread_warnings import quiet
from ..splits.recipes import Recipe
from ..splits.specs import Folds
from ..studies.seeds import OverSeeds
from ..views.card import strip_of
from ..views.markup import html
from ..wording import count, rounded
from .code_writer import GIVEN
from .controls import message
from .curve_explorer import RULES
from .curve_view import figure_of_result
from .form import number
from .run_request import RunRequest, is_live, name_of_loss, name_of_rule, waiting_words
from .spread_view import SpreadView
from .static_copy import Snapshot
from .view import View, panel
from .watched import Watched

MOST = 10_000  # seeds; more are for over_seeds, which needs no screen
OTHER = 0  # folds of a level whose splits are no K folds


@dataclass(frozen=True)
class Start:
    """What the explorer was given: a recipe, a family, rows, and perhaps a result of them."""

    recipe: Recipe
    family: Family
    data: Data
    result: RiskEstimate | None

    @classmethod
    def of(cls, given: Any, X: Any, y: Any, groups: Any) -> Start:
        """Check what the user gave."""
        if isinstance(given, Comparison):
            raise WrongTypeError(
                "SpreadExplorer takes the result of one run, got a Comparison; give one "
                "member, such as comparison['knn']."
            )
        if isinstance(given, RiskEstimate):
            if not (X is None and y is None and groups is None):
                raise InputError(
                    "a result has its own rows; use SpreadExplorer(result), or "
                    "SpreadExplorer(family, X, y, groups)."
                )
            record = record_of(given)
            return cls(record.recipe, unresolved(record.family), record.data, given)
        if X is None or y is None:
            raise InputError(
                "SpreadExplorer takes a result, or a family with its rows: "
                "SpreadExplorer(knn(), X, y)."
            )
        family = as_families(given)
        if not isinstance(family, Family):
            raise InputError(
                "SpreadExplorer takes one family; compare several with "
                "recipe.run({...}, X, y)."
            )
        data = Data.check(X, y, groups).copied()
        return cls(Recipe(), copy.deepcopy(family), data, None)

    @property
    def record(self) -> Record | None:
        """What is behind the result; None without one."""
        return None if self.result is None else record_of(self.result)

    @property
    def folds(self) -> tuple[int, int]:
        """Numbers of outer and inner folds; OTHER where a level has other splits."""
        inner: Any = self.recipe.inner_spec
        if inner == "auto" and self.family.cv is None:
            inner = Folds(5)
        return folds_of(self.recipe.outer_spec), folds_of(inner)

    @property
    def rule(self) -> str:
        """The rule of the result, by its name."""
        return "min" if self.record is None else name_of_rule(self.record.work.rule)


def folds_of(spec: Any) -> int:
    """Number of folds of one level; OTHER where its splits are no K folds."""
    return spec.n_splits if isinstance(spec, Folds) else OTHER


@dataclass(frozen=True)
class Wanted:
    """The values of the controls at the time of a request."""

    outer: int
    inner: int
    rule: str
    n: int
    asked: bool

    def is_as_given(self, start: Start) -> bool:
        """Whether these are the folds and the rule of the result given."""
        is_same = (self.outer, self.inner) == start.folds and self.rule == start.rule
        return start.result is not None and is_same

    def prepared(self, start: Start) -> PreparedRun:
        """Return a run that is ready to start."""
        folds = zip(
            ("outer", "inner"), (self.outer, self.inner), start.folds, strict=True
        )
        changed: Any = {level: k for level, k, given in folds if k != given}
        recipe, record = replace(start.recipe, **changed), start.record
        if record is None:
            options = Options(**DEFAULTS | {"select": self.rule})
        else:
            loss = name_of_loss(record)
            request = RunRequest(
                recipe, lambda: start.family, "", loss, self.rule, record, self.asked
            )
            work = record.work
            options = replace(request.options, path=work.path, n_jobs=work.n_jobs)
        with quiet():  # the plan's warnings are notes too
            return prepare(recipe, copy.deepcopy(start.family), start.data, options)


class SpreadExplorer(View):
    """The risk under many seeds as a cloud beside the curve, for any folds and rule.

    given       a family with its rows X, y and groups, or a result, which has its own
    outer       number of outer folds
    inner       number of inner folds
    rule        "min" or "one_se"
    n           number of seeds; they are 1, 2, ... as those of over_seeds

    A change starts at once if the path is fast, and replaces what is still computed; any other
    waits for the Run button. `study` equals `over_seeds(explorer.result, n)`.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> explorer = SpreadExplorer(knn(k=[1, 5, 9]), *load_iris(return_X_y=True), n=20)
    >>> explorer.outer = 10
    >>> explorer.wait(60), round(explorer.result.risk, 4), round(explorer.study.mean, 4)
    (True, 0.0467, 0.0497)
    >>> explorer.cancel()  # nothing is running; else it keeps the seeds that are finished
    >>> explorer.run()  # as the button does; a fast path needs none
    >>> explorer.wait(60), "mean" in explorer.snapshot().html
    (True, True)
    >>> explorer.close()
    """

    outer = t.Int(5)
    inner = t.Int(5)
    rule = t.Enum(("min", "one_se", GIVEN), "min")
    n = t.Int(100)

    def __init__(
        self, given: Any, X: Any = None, y: Any = None, groups: Any = None, n: int = 100
    ) -> None:
        self._start = start = Start.of(given, X, y, groups)
        self._result: RiskEstimate | None = None
        self._strip, self._spread = panel("strip"), SpreadView()
        self._curve = self._spread.curve
        fields = [
            number("outer", "Outer folds", 2, 20),
            number("inner", "Inner folds", 2, 20),
            {"name": "rule", "label": "Rule", "kind": "choice"},
            number("n", "Seeds", 10, 500, 10),
        ]
        given_rule = [[GIVEN, GIVEN]] if start.rule == GIVEN else []
        choices = {"rule": [*RULES, *given_rule]}
        with self.hold_trait_notifications():
            (self.outer, self.inner), self.rule, self.n = start.folds, start.rule, n
        super().__init__(
            fields, choices, [self._strip, self._spread.words, self._curve.place]
        )
        levels = zip(("outer", "inner"), start.folds, strict=True)
        self._form.disabled = [level for level, folds in levels if folds == OTHER]

    @property
    def result(self) -> RiskEstimate | None:
        """The run whose curve is shown; None while it waits or is computed."""
        return self._result

    @property
    def study(self) -> OverSeeds | None:
        """The seeds that are shown; None before the first."""
        return self._spread.study

    def run(self) -> None:
        """Run what the controls say, however long it takes: the Run button."""
        self._ask(True)

    def cancel(self) -> None:
        """Stop and keep the seeds that are finished: the Cancel button."""
        self._worker.interrupt()

    def close(self) -> None:
        """Stop the worker and close the widgets."""
        if hasattr(self, "_form"):
            with self._lock:
                self._newest += 1  # seeds that are still computed are ignored
        super().close()

    def snapshot(self) -> Snapshot:
        """Return a static copy that needs no kernel: numbers, curve and cloud."""
        with self._lock:
            result, cloud = self.result, self._spread.html
        if result is None:
            return Snapshot(repr(self), self._strip.value or html(self._form.error))
        curve = curve_of(result)
        picture = "" if curve is None else draw_curve(curve).img
        return Snapshot(repr(self), f"{strip_of(result)}<div>{picture}</div>{cloud}")

    def _new_slot(self) -> Watched:
        return Watched(self._under_way)

    def _hear(self, _: Any, content: Any, __: Any) -> None:
        action = content.get("action") if isinstance(content, dict) else None
        if action == "run":
            self.run()
        elif action == "cancel":
            self.cancel()
        elif action == "opened":
            self._page_opened()

    def _refresh(self) -> None:
        self._ask(False)

    def _ask(self, asked: bool) -> None:
        self._form.show({name: getattr(self, name) for name in self._names})
        wanted = Wanted(self.outer, self.inner, self.rule, self.n, asked)
        with self._lock:
            self._newest += 1
            version = self._newest
        self._worker.ask(lambda slot: self._work(slot, version, wanted))

    def _work(self, slot: Any, version: int, wanted: Wanted) -> None:
        """Run once, then under every seed, if that is fast or the Run button was pressed."""
        slot.version, result = version, None
        try:
            result = self._one_run(slot, wanted)
            if result is not None and result.complete:
                self._spread.fill(result, wanted.n, slot, self._publish)
            if result is not None:
                stopped = not result.complete or slot.stop.is_set()
                self._publish(version, lambda: self._end(stopped))
        except BaseException as error:  # this thread has no caller to raise it to
            words, has_result = message(error), result is not None
            self._publish(version, lambda: self._show_error(words, has_result))
        self._update_copy(slot)

    def _one_run(self, slot: Watched, wanted: Wanted) -> Any:
        """Return the result whose curve is shown; None if it waits for the Run button."""
        if not 1 <= wanted.n <= MOST:
            raise InputError(
                f"n={wanted.n} must be from 1 to {MOST}; over_seeds(result, n) has no limit."
            )
        start, ready = self._start, None
        result: Any = start.result if wanted.is_as_given(start) else None
        if result is None:
            ready = wanted.prepared(start)
            work, plan = ready.jobs[""].work, ready.plan
        else:
            work, plan = record_of(result).work, result.plan
        goes = wanted.asked or is_live(work, plan)
        words = "" if goes else waiting_words(work, plan, wanted.n + (result is None))
        self._publish(slot.version, lambda: self._begin(result, goes, words))
        if not goes:
            return None
        if ready is not None:
            result = ready.run(slot)
            self._publish(slot.version, lambda: self._show_result(result))
        return result

    # What is shown.

    def _begin(self, result: RiskEstimate | None, goes: bool, words: str) -> None:
        """Remove what belongs to older controls; say what is waited for."""
        self._form.error = ""
        self._busy(goes)
        if result is not None:
            self._show_result(result, words)
        elif not goes:
            self._show_nothing(words)

    def _show_result(self, result: RiskEstimate, words: str = "") -> None:
        self._result = result
        self._strip.value = strip_of(result)
        self._spread.draw(figure_of_result(result), True, words)

    def _show_nothing(self, words: str) -> None:
        self._result = None
        self._strip.value = f"<div>{html(words)}</div>"
        self._spread.draw(figure_of_result(None), True)

    def _show_error(self, words: str, has_result: bool) -> None:
        """Show an error, and no number that does not belong to the controls."""
        self._busy(False)
        if not has_result:
            self._show_nothing("No result: see the message next to the controls.")
        self._form.error = words

    def _under_way(self, slot: Watched, text: str) -> None:
        """Show the progress and the seeds finished so far."""
        study = slot.study
        self._publish(slot.version, lambda: self._show_progress(slot, text, study))

    def _show_progress(self, slot: Watched, text: str, study: OverSeeds | None) -> None:
        self._form.status, self._form.share = text, slot.share
        self._spread.grow(study)

    def _end(self, stopped: bool) -> None:
        self._busy(False)
        if stopped:
            self._form.status = "Stopped; what was finished is shown."

    def _busy(self, yes: bool) -> None:
        self._form.busy, self._form.share, self._form.status = yes, 0.0, ""
        self._form.actions = [["run", "Run", not yes], ["cancel", "Cancel", yes]]

    def __repr__(self) -> str:
        folds = f"{self.outer} × {self.inner} folds, {self.rule}"
        study = self.study
        if study is None:
            return f"SpreadExplorer({folds})"
        numbers = f"mean {rounded(study.mean, 4)}, sd {rounded(study.sd, 2)}"
        spread = f"{numbers}, {count(study.risks.size, 'seed')}"
        return f"SpreadExplorer({folds}: {spread})"
