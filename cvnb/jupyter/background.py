"""A run in a thread of its own: the cell ends at once and shows progress, then the result.

The thread works on a copy of the rows, so later cells may modify their data freely. It
prints nothing; the output of estimators stays with the cell that began the run.
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


class BackgroundRun:
    """A run in the background.

    state     "running", "finished", "cancelled" or "failed"
    progress  share that is done, from 0 to 1
    result    the result; None while running. Of a cancelled run it is the finished part, and
              wait() raises Interrupted
    error     the exception that ended a failed run, or None
    """

    def __init__(
        self,
        run: Callable[[Slot], Result],
        slot: Slot,
        show: Callable[[BackgroundRun], None] = lambda job: None,
    ) -> None:
        self.error: BaseException | None = None
        self._run, self._slot, self._show = run, slot, show
        self._result: Result | None = None
        self._over = threading.Event()

    def start(self, enter: Callable[[], None] = lambda: None) -> BackgroundRun:
        """Begin to run, with the settings that scikit-learn and joblib have in this thread.

        `enter` is called first in the new thread.
        """
        config, (backend, n_jobs) = sklearn.get_config(), get_active_backend()
        is_chosen = is_dask(backend) or n_jobs not in (None, 1)

        def work() -> None:
            try:
                enter()
                jobs: Any = nullcontext()
                if is_chosen:
                    jobs = parallel_config(backend, n_jobs=n_jobs)
                with sklearn.config_context(**config), jobs:
                    self._result = self._run(self._slot)
            except KeyboardInterrupt:
                pass  # cancelled before anything was finished
            except BaseException as error:
                self.error = error  # raised where the caller sees it: wait(), result
            try:
                self._show(self)
            finally:
                self._over.set()

        threading.Thread(target=work, name="cvnb background run", daemon=True).start()
        return self

    @property
    def state(self) -> str:
        """Return "running", "finished", "cancelled" or "failed"."""
        if not self._over.is_set():
            return "running"
        if self.error is not None:
            return "failed"
        is_complete = self._result is not None and self._result.complete
        return "finished" if is_complete else "cancelled"

    @property
    def progress(self) -> float:
        """Return the share that is done, from 0 to 1."""
        return 1.0 if self.state == "finished" else self._slot.share

    @property
    def result(self) -> Result | None:
        """Return the result; None while running, the finished part after cancel().

        Raises the error that ended the run.
        """
        if self.error is not None:
            raise self.error
        return self._result

    def wait(self, timeout: float | None = None) -> Result | None:
        """Wait for the end of the run and return its result.

        None if it is still running after `timeout` seconds. Raises Interrupted with the finished
        part if the run was cancelled. An interrupt while waiting is a plain KeyboardInterrupt: it
        ends the waiting, not the run.
        """
        if self._over.wait(timeout):
            self._show(self)  # again: nbclient stores only output of the running cell
        if self.state == "cancelled":
            raise interrupted(self._result)
        return self.result

    def cancel(self) -> None:
        """Stop the run; `result` is then the finished part.

        A path that goes split by split on one thread finishes its current split.
        """
        self._slot.stop.set()

    def __repr__(self) -> str:
        if self.error is not None:
            return f"Job(failed: {type(self.error).__name__}: {self.error})"
        return f"Job({self.state}, {100 * self.progress:.0f} % done)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        if self._result is None:
            return {"text/plain": repr(self)}
        return bundle_of(self._result)


class Panel(Slot):
    """A slot with a Cancel button: widgets during the run, which are closed at its end."""

    def __init__(self, shows: bool = True) -> None:
        super().__init__(shows)
        self.box: Any = None
        self.words: Any = None

    def open(self) -> None:
        """Show it in the current cell; one line of text if widgets would not be visible."""
        from IPython.display import display

        if not self.seen:
            text = "Running in the background."
            self._put({"text/plain": text, "text/html": f"<div>{text}</div>"})
            return
        import ipywidgets as w

        self.words = w.HTML(self.html("0 % done"))
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
        """Show a bar and a sentence, with "Stopping: " after a click on Cancel."""
        self.words.value = self.html(
            "Stopping: " + text if self.stop.is_set() else text
        )

    def take(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Replace the widgets by something else, such as the result."""
        super().take(data, metadata)
        self._close()

    def clear(self) -> None:
        """Remove what is shown."""
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


def show_end(job: BackgroundRun, slot: Slot) -> None:
    """Replace the progress of a job by its result, or by the error that ended it."""
    error = job.error
    if error is None and job.result is not None:
        slot.take(*bundle_of(job.result))
        return
    if error is None:
        text = f"Cancelled: {finished(None)}."
    else:
        text = f"{type(error).__name__}: {error}"
        if not isinstance(error, CvnbError) or error.__cause__ is not None:
            text += " (job.wait() shows where)"
    block = f'<pre role="alert">{escape(text)}</pre>'
    slot.take({"text/plain": text, "text/html": block}, {})


def begin(
    run: Callable[[Slot], Result], shell: Any, quiet: bool, progress: bool
) -> BackgroundRun:
    """Start a run in the background of the current cell and return it.

    run       called with the slot of its progress
    shell     the IPython shell
    quiet     show nothing
    progress  show the progress, in a notebook
    """
    if quiet or not in_notebook():
        return BackgroundRun(run, Slot(shows=False)).start()
    panel = Panel(shows=progress)
    panel.open()
    parent = shell.get_parent()

    def enter() -> None:
        getattr(shell, "set_thread_parent", shell.set_parent)(parent)

    return BackgroundRun(run, panel, lambda job: show_end(job, panel)).start(enter)
