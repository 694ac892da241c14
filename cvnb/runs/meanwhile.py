"""Refit while the kernels are still being compiled ahead, where that is sooner."""

from __future__ import annotations

from ..engine.work import Work
from ..engine.workers import n_workers
from ..families.algorithm import imported
from ..paths.base import Draw
from ..paths.dispatch import choose_path
from ..runtime.ahead import is_kept, is_running
from ..splits.plan import Plan
from .forecast import seconds_of_refit

REASON = "its kernels were still being compiled, and a refit was sooner"
NOTE = (
    "The compiled kernels of this model were not ready yet: this run was refitted with "
    "scikit-learn, to the same numbers. The next one will be fast."
)


def is_sooner_refitted(work: Work, plan: Plan, flat: bool) -> bool:
    """Whether a child process compiles the kernels of this work now, and a refit takes less.

    Kernels that are in this process, or in Numba's cache, are always used.
    """
    if work.path != "auto" or not is_running():
        return False
    path = choose_path(work, [Draw(plan, work.data)])
    algorithm = path.algorithm
    if algorithm is None or not path.whole or not algorithm.kernel:
        return False
    if is_kept(imported(algorithm.kernel)):
        return False
    seconds = seconds_of_refit(work, plan, flat) / n_workers(work.n_jobs, False)
    return seconds < algorithm.compile_seconds
