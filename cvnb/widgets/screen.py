"""What is next to the builder's form: words, the number, the curve, the map of the splits."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
import traitlets as t

from ..data.table import Data
from ..errors import InputError
from ..results.estimate import RiskEstimate
from ..runs.prepare import PreparedRun
from ..views.markup import html
from .code_writer import CodeWriter
from .curve_view import figure_of_result
from .notebook_names import bind
from .run_request import Rendered, fits_of, waiting_words
from .view import panel
from .watched import Watched
from .with_cloud import WithCloud, status_of

DIMMED = "Dimmed: the run before this change."


class Screen(WithCloud):
    """Controls, and the places that show a result, its plan, or why there is none.

    What does not belong to the controls any more stays on screen, dimmed, until something else
    can be shown; `result` and `plan` are None meanwhile.
    """

    result = t.Any(None, allow_none=True)
    plan = t.Any(None, allow_none=True)
    error = t.Unicode("")
    _why = "No result."  # while `result` is None and there is no error
    _is_bound = False  # whether each complete result gets the name keep_as

    def __init__(self, writer: CodeWriter, data: Data) -> None:
        super().__init__(writer, data)
        self._now, self._strip, self._nest = panel("now"), panel("strip"), panel("nest")
        parts = [
            self._now,
            self._strip,
            self._cloud.words,
            self._curve.place,
            self._nest,
        ]
        self._shown = w.VBox(parts)

    def keep(self) -> None:
        """Put the result into the namespace under the name `keep_as`: the Keep button.

        Another result of that name is replaced; anything else is left, and the form says so.
        """
        with self._lock:
            if self.result is None:
                self._say("There is no result to keep yet.", "keep_as")
            elif self._bind(self.result):
                self._say("")
                self._form.status = f"The result is in the notebook: {self.keep_as}"

    def _bind(self, result: RiskEstimate) -> bool:
        """Bind a result to the chosen name; False where that is refused, which is said."""
        try:
            bind(self._writer.namespace, self.keep_as, result)
        except InputError as error:
            self._say(str(error), "keep_as")
            return False
        return True

    def _begin(self, ready: PreparedRun, picture: str, live: bool, asked: bool) -> None:
        """Show the plan; an older result stays, dimmed, before and during a long run."""
        self._show_plan(ready.plan, picture)
        work = ready.jobs[""].work
        if not live:
            running = "Running; nothing is finished yet."
            waiting = waiting_words(work, ready.plan)
            self._show_nothing(running if asked else waiting)
        elif self._strip.value:
            self._form.stale = "number"
        label = "Run" if live else f"Run {fits_of(work, ready.plan)}"
        self._busy(live or asked, label)

    def _busy(self, yes: bool, label: str = "") -> None:
        self._form.busy = yes
        self._form.share = 0.0
        label = label or (self._form.actions[0][1] if self._form.actions else "Run")
        is_kept = self.result is not None
        self._form.actions = [
            ["run", label, not yes],
            ["cancel", "Cancel", yes],
            ["keep", "Keep", is_kept],
        ]

    def _show_plan(self, plan: Any, picture: str) -> None:
        self._say("")
        self.plan = plan
        self._nest.value = picture

    def _show_numbers(self, drawn: Rendered) -> None:
        self._put(result=drawn.result)
        self._strip.value = drawn.strip
        self._cloud.draw(drawn.curve, self.spread)
        self._show_words("", "")

    def _show_result(self, drawn: Rendered) -> None:
        self._say("")
        self._show_numbers(drawn)
        self._busy(False)
        self._settled = self._newest
        self._form.status = status_of(drawn.result, False)
        if self._is_bound and drawn.result.complete:
            self._bind(drawn.result)

    def _show_nothing(self, words: str, stale: str = "number") -> None:
        """Say why there is no result; what is on screen stays, dimmed.

        stale: what does not belong to the controls, "number" or "number map"
        """
        self._why = words
        self._put(result=None)
        self._busy(False)
        stale = stale if self._strip.value else ""
        self._show_words(" ".join(filter(None, [words, DIMMED * bool(stale)])), stale)
        self._form.status = ""

    def _show_words(self, words: str, stale: str) -> None:
        self._now.value = f'<div role="status">{html(words)}</div>' if words else ""
        self._form.stale = stale

    def _clear(self) -> None:
        """Remove the result that is on screen."""
        self._strip.value = ""
        self._cloud.draw(figure_of_result(None), False)
        self._show_nothing("No result.")

    def _show_error(self, words: str, at: str) -> None:
        self._show_nothing("", "number map")
        self.plan = None
        self._say(words, at)

    def _say(self, words: str, at: str = "") -> None:
        self.error = words
        with self._form.hold_sync():
            self._form.error, self._form.error_at = words, at

    def _under_way(self, slot: Watched, text: str) -> None:
        """Show the progress of a long run and its result so far."""
        try:
            result = slot.so_far()
        except RuntimeError:  # it changed while it was read: the next call sees it
            result = None
        drawn = None
        if result is not None and len(result.fold_risks) > self._n_shown():
            drawn = Rendered.of(result)
        self._publish(slot.version, lambda: self._show_progress(slot, text, drawn))

    def _n_shown(self) -> int:
        return len(getattr(self.result, "fold_risks", ()))

    def _show_progress(self, slot: Watched, text: str, drawn: Rendered | None) -> None:
        self._form.status, self._form.share = text, slot.share
        if drawn is not None:
            self._show_numbers(drawn)
        self._cloud.grow(slot.study)
