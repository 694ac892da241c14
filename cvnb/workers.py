"""Who evaluates the splits of a path that goes split by split: this thread, others, joblib's workers, or those of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import sklearn
from joblib import effective_n_jobs
from joblib._parallel_backends import LokyBackend
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from .cluster import Split, cluster
from .cores import at_most, n_cores
from .layouts import Splits
from .paths.base import Outcome, Path
from .plan import Plan
from .quiet import quiet
from .threads import in_order, n_threads

Look = Callable[[Split | None], None]  # called now and then, with the split that is begun where that is known
Given = tuple[np.ndarray, np.ndarray, np.ndarray, Split, bool]  # what Path.evaluate takes


class Task(NamedTuple):
    """A split, whose rows are made where they are needed; splits[at] are they."""

    splits: Splits
    at: int
    which: np.ndarray
    split: Split
    keep: bool

    @property
    def given(self) -> Given:
        """What Path.evaluate takes."""
        train, test = self.splits[self.at]
        return train, test, self.which, self.split, self.keep


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
            look(task.split)
            yield path.evaluate(*task.given)


class Threads:
    """Threads of this process, for fits that let go of Python's lock."""

    def __init__(self, n: int) -> None:
        self.n = n

    def outcomes(self, path: Path, tasks: Iterator[Task], n_tasks: int, look: Look) -> Iterable[Outcome]:
        config = sklearn.get_config()  # each thread has its own

        def evaluate(given: Given) -> Outcome:
            with sklearn.config_context(**config):
                return path.evaluate(*given)

        return in_order(evaluate, (task.given for task in tasks), self.n, lambda: look(None))


class Joblib:
    """joblib's workers, wherever they are; many quick tasks travel together.

    Each has its share of the cores. Loky's have it from joblib already, or what `inner_max_num_threads` asks for.
    """

    def __init__(self, parallel: Parallel, n: int, shared: bool) -> None:
        self.parallel, self.n = parallel, n
        self.share = max(1, n_cores() // n) if shared else None

    def outcomes(self, path: Path, tasks: Iterator[Task], n_tasks: int, look: Look) -> Iterable[Outcome]:
        size = max(1, n_tasks // (4 * self.n))
        given = (task.given for task in tasks)
        batches = iter(lambda: list(islice(given, size)), [])
        found = self.parallel(delayed(_evaluate_all)(path, batch, self.share) for batch in batches)
        try:
            yield from chain.from_iterable(found)
        finally:
            _close(found)


@contextmanager
def workers(path: Path, n_jobs: int | None, plan: Plan) -> Iterator[Workers]:
    """Those that n_jobs and joblib.parallel_config ask for; where nothing is asked for, threads if the path is for them."""
    backend, n = get_active_backend()
    with cluster(n_jobs, plan) as there:
        if there is not None:
            yield there
            return
    if n_jobs is None and n is None and type(backend) is LokyBackend:
        yield Threads(n_threads(None)) if path.threads else Alone()
    elif effective_n_jobs(n_jobs) == 1:
        yield Threads(1) if path.threads else Alone()  # beside this one, which sees an interrupt
    else:  # with scikit-learn's configuration; one by one where the backend can do that
        with Parallel(n_jobs=n_jobs, return_as="generator" if backend.supports_return_generator else "list") as parallel:
            yield Joblib(parallel, effective_n_jobs(n_jobs), not backend.supports_inner_max_num_threads)


def _close(found: Any) -> None:
    """Give up what joblib has not done yet, without its advice on that."""
    if hasattr(found, "close"):
        with quiet():
            found.close()


def _evaluate_all(path: Path, batch: list[Given], share: int | None) -> list[Outcome]:
    with nullcontext() if share is None else at_most(share):
        return [path.evaluate(*given) for given in batch]
