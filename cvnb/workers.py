"""Who evaluates the splits of a path that goes split by split: this thread, threads of this process, or joblib's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
import sklearn
from joblib import effective_n_jobs
from joblib._parallel_backends import LokyBackend
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from .paths.base import Outcome, Path
from .quiet import quiet
from .threads import in_order, n_threads

Split = tuple[int, int]
Task = tuple[np.ndarray, np.ndarray, np.ndarray, Split, bool]
Look = Callable[[Split | None], None]  # called now and then, with the split that is begun where that is known


class Workers(Protocol):
    """`n` of them; outcomes come in the order of the tasks, whose rows are made as they go out."""

    n: int

    def outcomes(self, path: Path, tasks: Iterator[Task], n_tasks: int, look: Look) -> Iterable[Outcome]:
        """Outcome after outcome; closed early, what is not begun is given up."""
        ...


class Alone:
    """This thread."""

    n = 1

    def outcomes(self, path: Path, tasks: Iterator[Task], n_tasks: int, look: Look) -> Iterable[Outcome]:
        for task in tasks:
            look(task[3])
            yield path.evaluate(*task)


class Threads:
    """Threads of this process, for fits that let go of Python's lock."""

    def __init__(self, n: int) -> None:
        self.n = n

    def outcomes(self, path: Path, tasks: Iterator[Task], n_tasks: int, look: Look) -> Iterable[Outcome]:
        config = sklearn.get_config()  # each thread has its own

        def evaluate(task: Task) -> Outcome:
            with sklearn.config_context(**config):
                return path.evaluate(*task)

        return in_order(evaluate, tasks, self.n, lambda: look(None))


class Joblib:
    """joblib's workers, wherever they are; many quick tasks travel together."""

    def __init__(self, parallel: Parallel, n: int) -> None:
        self.parallel, self.n = parallel, n

    def outcomes(self, path: Path, tasks: Iterator[Task], n_tasks: int, look: Look) -> Iterable[Outcome]:
        size = max(1, n_tasks // (4 * self.n))
        found = self.parallel(delayed(_evaluate_all)(path, part) for part in iter(lambda: list(islice(tasks, size)), []))
        try:
            yield from chain.from_iterable(found)
        finally:
            _close(found)


@contextmanager
def workers(path: Path, n_jobs: int | None) -> Iterator[Workers]:
    """Those that n_jobs and joblib.parallel_config ask for; where nothing is asked for, threads if the path is for them."""
    backend, n = get_active_backend()
    if n_jobs is None and n is None and type(backend) is LokyBackend:
        yield Threads(n_threads(None)) if path.threads else Alone()
    elif effective_n_jobs(n_jobs) == 1:
        yield Threads(1) if path.threads else Alone()  # beside this one, which sees an interrupt
    else:  # with scikit-learn's configuration; one by one where the backend can do that
        with Parallel(n_jobs=n_jobs, return_as="generator" if backend.supports_return_generator else "list") as parallel:
            yield Joblib(parallel, effective_n_jobs(n_jobs))


def _close(found: Any) -> None:
    """Give up what joblib has not done yet, without its advice on that."""
    if hasattr(found, "close"):
        with quiet():
            found.close()


def _evaluate_all(path: Path, tasks: list[Task]) -> list[Outcome]:
    return [path.evaluate(*task) for task in tasks]
