"""Controls with a box to check: the cloud of 100 seeds beside the curve of the result."""

from __future__ import annotations

from typing import Any

import traitlets as t

from ..data.table import Data
from ..results.estimate import RiskEstimate, record_of
from ..wording import count
from .code_writer import CodeWriter
from .controls import Controls, message
from .curve_view import CurveView, figure_of_result
from .run_request import is_live, waiting_words
from .spread_view import SpreadView
from .watched import Watched

SEEDS = 100


class WithCloud(Controls):
    """Controls, a result, and the seeds of that result if `spread` is set.

    `spread` may change at any time: a run that goes on looks at it when it ends; a result on
    screen gets its cloud without another run.
    """

    spread = t.Bool(False)
    result: Any
    _curve: CurveView
    _settled = -1  # the version of the request that the result on screen belongs to

    def __init__(self, writer: CodeWriter, data: Data) -> None:
        self._cloud = SpreadView()
        self._curve = self._cloud.curve
        super().__init__(writer, data)
        self.observe(self._spread_set, names="spread")

    def _busy(self, yes: bool) -> None:
        raise NotImplementedError

    def _spread_set(self, change: Any) -> None:
        """Add the cloud to the result on screen, or remove it."""
        with self._lock:
            self._show_controls()
            result = self.result
            if result is None or self._settled != self._newest:
                return  # what goes on, or waits for the Run button, looks at the box
            self._newest += 1
            self._settled = version = self._newest
        self._worker.ask(lambda slot: self._change_cloud(slot, version, result))

    def _change_cloud(self, slot: Any, version: int, result: RiskEstimate) -> None:
        slot.version = version
        if self.spread:
            self._add_seeds(slot, result, False)
        else:
            self._publish(version, lambda: self._show_plain(result))
        self._update_copy(slot)

    def _add_seeds(self, slot: Watched, result: RiskEstimate, asked: bool) -> None:
        """Run 100 seeds of a result if that is fast or the Run button was pressed."""
        if not self.spread or not result.complete:
            return
        work, version = record_of(result).work, slot.version
        goes = asked or is_live(work, result.plan)
        words = "" if goes else waiting_words(work, result.plan, SEEDS)
        self._publish(version, lambda: self._begin_seeds(result, goes, words))
        if not goes:
            return
        problem = ""
        try:
            self._cloud.fill(result, SEEDS, slot, self._publish)
        except BaseException as error:  # this thread has no caller to raise it to
            problem = message(error)
        stopped = slot.stop.is_set()
        self._publish(version, lambda: self._end_seeds(result, stopped, problem))

    def _begin_seeds(self, result: RiskEstimate, goes: bool, words: str) -> None:
        self._busy(goes)
        self._cloud.draw(figure_of_result(result), True, words)

    def _end_seeds(self, result: RiskEstimate, stopped: bool, problem: str) -> None:
        self._busy(False)
        self._form.status = status_of(result, stopped)
        self._say(problem, "spread")

    def _show_plain(self, result: RiskEstimate) -> None:
        self._end_seeds(result, False, "")
        self._cloud.draw(figure_of_result(result), False)


def status_of(result: RiskEstimate, stopped: bool) -> str:
    """The first note of a result; whether something was stopped."""
    if stopped or not result.complete:
        return "Stopped; what was finished is shown."
    if result.notes:
        return f"{count(len(result.notes), 'note')}: {result.notes[0]}"
    return ""
