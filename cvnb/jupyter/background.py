"""A run in a thread of its own: the cell ends at once, its output shows how far the run is, and then the result.

The thread works on a copy of the rows, so later cells may do with theirs what they like. It prints nothing; whatever estimators
print stays with the cell that began the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from html import escape
from typing import Any

import sklearn
from joblib import parallel_config
from joblib.parallel import get_active_backend

from ..engine.progress import Slot, in_notebook
from ..errors import CvnbError
from ..results.comparison import Comparison, finished, interrupted
from ..results.estimate import RiskEstimate
from ..runtime.threads import is_dask
from ..views.display import bundle_of

Result = RiskEstimate | Comparison


class Job:
    """A run that goes on in the background.

    state     "running", "finished", "cancelled" or "failed"
    progress  how much is done, from 0 to 1
    result    the result; None as long as the run goes on. Of a cancelled run it is the finished
              part, and wait() raises Interrupted
    """

    def __init__(
        self,
        run: Callable[[Slot], Result],
        slot: Slot,
        shown: Callable[[Job], None] = lambda job: None,
    ) -> None:
        self._run, self._slot, self._shown = run, slot, shown
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._over = threading.Event()

    def start(self, enter: Callable[[], None] = lambda: None) -> Job:
        """Begin; `enter` is called first thing in the thread, which has the settings of scikit-learn and joblib of this one."""
        config, (backend, n_jobs) = sklearn.get_config(), get_active_backend()
        chosen = is_dask(backend) or n_jobs not in (None, 1)

        def work() -> None:
            try:
                enter()
                with (
                    sklearn.config_context(**config),
                    parallel_config(backend, n_jobs=n_jobs)
                    if chosen
                    else nullcontext(),
                ):
                    self._result = self._run(self._slot)
            except (
                BaseException
            ) as error:  # kept: wait() and result raise it where somebody sees it
                cancelled = isinstance(
                    error, KeyboardInterrupt
                )  # before anything was finished
                self._error = None if cancelled else error
            try:
                self._shown(self)
            finally:
                self._over.set()

        threading.Thread(target=work, name="cvnb background run", daemon=True).start()
        return self

    @property
    def state(self) -> str:
        """One word on how it stands."""
        if not self._over.is_set():
            return "running"
        if self._error is not None:
            return "failed"
        return (
            "finished"
            if self._result is not None and self._result.complete
            else "cancelled"
        )

    @property
    def progress(self) -> float:
        """How much is done, from 0 to 1."""
        return 1.0 if self.state == "finished" else self._slot.share

    @property
    def result(self) -> Result | None:
        """The result, None while the run goes on; after cancel() the finished part.

        Raises the error that ended the run.
        """
        if self._error is not None:
            raise self._error
        return self._result

    @property
    def error(self) -> BaseException | None:
        """What the run raised."""
        return self._error

    def wait(self, timeout: float | None = None) -> Result | None:
        """The result, as soon as the run is over; None where it still goes on after `timeout` seconds.

        Raises Interrupted with the finished part where the run was cancelled. An interrupt while
        waiting is a plain KeyboardInterrupt: it ends the waiting, not the run.
        """
        if self._over.wait(timeout):
            self._shown(
                self
            )  # again, for nbclient hears only what the cell says that is being run
        if self.state == "cancelled":
            raise interrupted(self._result)
        return self.result

    def cancel(self) -> None:
        """Stop; `result` is then the finished part.

        A path that goes split by split on one thread ends the split it is at.
        """
        self._slot.stop.set()

    def __repr__(self) -> str:
        if self._error is not None:
            return f"Job(failed: {type(self._error).__name__}: {self._error})"
        return f"Job({self.state}, {100 * self.progress:.0f} % done)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return (
            {"text/plain": repr(self)}
            if self._result is None
            else bundle_of(self._result)
        )


class Panel(Slot):
    """A slot with a Cancel button; widgets show it while the run goes on, and nothing of them is left behind."""

    def __init__(self, shows: bool = True) -> None:
        super().__init__(shows)
        self.box: Any = None
        self.words: Any = None

    def open(self) -> None:
        """Show it in the current cell; without the widgets where nobody looks at them."""
        from IPython.display import display

        if not self.seen:
            text = "Running in the background."
            self._put({"text/plain": text, "text/html": f"<div>{text}</div>"})
            return
        import ipywidgets as w

        self.words = w.HTML(self.bar("0 % done"))
        button = w.Button(
            description="Cancel",
            tooltip="Stop; what is finished is kept",
            layout=w.Layout(width="max-content"),
        )
        button.on_click(self._cancel)
        self.box = w.HBox(
            [button, self.words],
            layout=w.Layout(align_items="center", flex_flow="row wrap"),
        )
        self.handle = display(self.box, display_id=True)

    def draw(self, text: str) -> None:
        """Show a bar and a sentence, and that it is being stopped."""
        self.words.value = self.bar("Stopping: " + text if self.stop.is_set() else text)

    def take(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Put something else in the place of the widgets."""
        super().take(data, metadata)
        self._close()

    def clear(self) -> None:
        """Take away what it shows."""
        super().clear()
        self._close()

    def _cancel(self, button: Any) -> None:
        button.disabled = True
        self.stop.set()

    def _close(self) -> None:
        if self.box is not None:
            for widget in (*self.box.children, self.box):
                for part in (widget.layout, getattr(widget, "style", None), widget):
                    if part is not None:
                        part.close()
            self.box = None


def show_end(job: Job, slot: Slot) -> None:
    """Put the result of a job, or the error that ended it, in the place of its progress."""
    error = job.error
    if error is None and job.result is not None:
        slot.take(*bundle_of(job.result))
        return
    text = (
        f"Cancelled: {finished(None)}."
        if error is None
        else f"{type(error).__name__}: {error}"
    )
    if error is not None and (
        not isinstance(error, CvnbError) or error.__cause__ is not None
    ):
        text += " (job.wait() shows where)"
    slot.take(
        {"text/plain": text, "text/html": f'<pre role="alert">{escape(text)}</pre>'}, {}
    )


def begin(
    run: Callable[[Slot], Result], shell: Any, quiet: bool, progress: bool
) -> Job:
    """A job that runs in the background of the current cell, which shows it in a notebook unless it is to be quiet."""
    if quiet or not in_notebook():
        return Job(run, Slot(shows=False)).start()
    panel = Panel(shows=progress)
    panel.open()
    parent = shell.get_parent()

    def enter() -> None:
        getattr(shell, "set_thread_parent", shell.set_parent)(parent)

    return Job(run, panel, lambda job: show_end(job, panel)).start(enter)
