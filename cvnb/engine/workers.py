"""Executors: who makes the calls of a run. This thread, threads of this process, joblib's workers, or those of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import chain, islice
from typing import Any, Protocol

import sklearn
from joblib import effective_n_jobs
from joblib._parallel_backends import LokyBackend
from joblib.externals.loky.process_executor import (
    BrokenProcessPool,
    ShutdownExecutorError,
)
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ..runtime.cancel import Stop
from ..runtime.cores import at_most, matrices_at_most, n_cores, openmp_at_most
from ..runtime.thread_warnings import quiet
from ..runtime.threads import Team, in_order, n_threads, pool_of
from .cluster import Lost, cluster

Look = Callable[
    [Any], None
]  # called now and then, with the item that is begun where that is known, else None
Call = Callable[[Any, Team], Any]


class Executor(Protocol):
    """`n` workers.

    listens    warnings of the calls reach this process, which has to count them
    elsewhere  the calls work on copies, on other machines perhaps
    team       what the calls are handed, where they are made in this process
    """

    @property
    def n(self) -> int: ...

    @property
    def listens(self) -> bool: ...

    @property
    def elsewhere(self) -> bool: ...

    @property
    def team(self) -> Team | None: ...

    def map(
        self, call: Call, items: Iterable[Any], n_items: int, look: Look
    ) -> Generator[Any]:
        """call(item, team) of every item, in order; closed early, what is not begun is given up."""
        ...

    def renew(self) -> None:
        """Get workers again after some were lost."""
        ...


class Here:
    """This thread; where there are several, quick calls that need no other thread to wait for them."""

    listens = elsewhere = False

    def __init__(self, team: Team) -> None:
        self.team, self.n = team, team.n

    def map(
        self, call: Call, items: Iterable[Any], n_items: int, look: Look
    ) -> Generator[Any]:
        if self.n > 1:
            yield from self.team.imap(lambda item: call(item, self.team), list(items))
            return
        for item in items:
            look(item)
            yield call(item, self.team)

    def renew(self) -> None:
        """Nothing is lost here."""


class Threads:
    """Threads of this process, while this one waits and sees an interrupt at once; for calls that let go of Python's lock."""

    listens, elsewhere = True, False

    def __init__(self, team: Team, openmp: int | None = None) -> None:
        self.team, self.n, self.openmp = team, team.n, openmp

    def map(
        self, call: Call, items: Iterable[Any], n_items: int, look: Look
    ) -> Generator[Any]:
        def configured(item: Any) -> Any:  # each thread has a configuration of its own
            with (
                self.team.inside(),
                sklearn.config_context(**self.team.config),
                self._limited(),
            ):
                return call(item, self.team)

        assert self.team.pool is not None
        yield from in_order(
            configured, items, self.team.pool, self.n, lambda: look(None)
        )

    def _limited(self) -> Any:
        return nullcontext() if self.openmp is None else openmp_at_most(self.openmp)

    def renew(self) -> None:
        """Threads are not lost."""


class Joblib:
    """joblib's workers, wherever they are; many quick calls travel together.

    Each has its share of the cores. Loky's have it from joblib already, or what `inner_max_num_threads` asks for.
    """

    listens, elsewhere, team = False, True, None

    def __init__(self, stack: ExitStack, n_jobs: int | None, backend: Any) -> None:
        self.stack, self.n_jobs, self.n = stack, n_jobs, effective_n_jobs(n_jobs)
        self.share = (
            max(1, n_cores() // self.n)
            if not backend.supports_inner_max_num_threads
            else None
        )
        self.returns = "generator" if backend.supports_return_generator else "list"
        self.renew()

    def map(
        self, call: Call, items: Iterable[Any], n_items: int, look: Look
    ) -> Generator[Any]:
        size, items = max(1, n_items // (4 * self.n)), iter(items)
        batches = iter(lambda: list(islice(items, size)), [])
        found = self.parallel(
            delayed(_make_calls)(call, batch, self.share) for batch in batches
        )
        try:
            yield from chain.from_iterable(found)
        finally:
            _close(found)

    def renew(self) -> None:
        """Start workers, with scikit-learn's configuration; results come one by one where the backend can do that."""
        self.stack.close()
        self.parallel = self.stack.enter_context(
            Parallel(n_jobs=self.n_jobs, return_as=self.returns)
        )


@contextmanager
def kernels_on(
    n_jobs: int | None, stop: Stop, cost: float, tiny: float, quick: float
) -> Iterator[Executor]:
    """For kernels: a cluster where one is asked for and there is enough to do, else threads of this process."""
    with cluster(n_jobs if cost > quick else 1) as there:
        if there is not None:
            yield there
            return
    with threads_on(n_jobs, stop, cost, tiny, quick) as there:
        yield there


@contextmanager
def threads_on(
    n_jobs: int | None, stop: Stop, cost: float, tiny: float, quick: float
) -> Iterator[Executor]:
    """This thread where it takes a moment, with the help of others where it is quick; else others, while this one waits."""
    n = 1 if cost <= tiny else n_threads(n_jobs)
    with matrices_at_most(1):
        if cost <= quick and n == 1:
            yield Here(Team(stop))
            return
        with pool_of(n) as pool:
            team = Team(stop, pool, n)
            yield Here(team) if cost <= quick else Threads(team)


@contextmanager
def fits_on(n_jobs: int | None, stop: Stop, on_threads: bool) -> Iterator[Executor]:
    """For fits: the workers that n_jobs and joblib.parallel_config ask for; without either, threads if fits may use them."""
    backend, n = get_active_backend()
    with cluster(n_jobs) as there:
        if there is not None:
            yield there
            return
    unasked = n_jobs is None and n is None and type(backend) is LokyBackend
    if unasked or effective_n_jobs(n_jobs) == 1:
        if not on_threads:
            yield Here(Team(stop))
            return
        n = (
            n_threads(None) if unasked else 1
        )  # one thread beside this one, which sees an interrupt
        with pool_of(n) as pool, matrices_at_most(1):
            yield Threads(Team(stop, pool, n), max(1, n_cores() // n))
        return
    with ExitStack() as stack:
        yield Joblib(stack, n_jobs, backend)


def is_loss_of_workers(error: BaseException) -> bool:
    """Whether workers were killed or sent away, be it by another run that shared them."""
    return isinstance(error, BrokenProcessPool | Lost) or isinstance(
        error.__context__, ShutdownExecutorError
    )


def _close(found: Any) -> None:
    """Give up what joblib has not done yet, without its advice on that."""
    if hasattr(found, "close"):
        with quiet():
            found.close()


def _make_calls(call: Call, batch: list[Any], share: int | None) -> list[Any]:
    team = Team(Stop())
    with nullcontext() if share is None else at_most(share):
        return [call(item, team) for item in batch]
