"""Measure the draws of a study, and keep their risks; an interrupt keeps the finished ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..engine.progress import Slot
from ..engine.study import Job, fill_each
from ..errors import InputError, Interrupted
from ..results.estimate import RiskEstimate, record_of
from ..runs.options import Options
from ..splits.specs import check_count
from ..wording import count

Study = TypeVar("Study")


@dataclass(frozen=True, eq=False)
class Risks:
    """The risks of the draws that were finished.

    risks        [draws], as result.risk
    flats        [draws], as result.flat; None where it would cost refits
    fold_risks   of each draw, as result.fold_risks; empty unless asked for
    interrupted  the user stopped the study
    """

    risks: np.ndarray
    flats: np.ndarray | None
    fold_risks: list[np.ndarray]
    interrupted: bool


def risks_of(
    result: RiskEstimate,
    jobs: Iterable[Job],
    n: int,
    unit: str,
    progress: str,
    with_folds: bool = False,
) -> Risks:
    """Return the risks of these jobs.

    result      whose family is measured
    jobs        on which draws; made one by one
    n, unit     how many they are, and what: "seeds"
    progress    "auto" or "off"
    with_folds  keep the risk of each fold
    """
    slot = Slot(shows=progress == "auto")
    risks, flats, fold_risks, interrupted = [], [], [], False
    try:
        for estimate in estimates(result, jobs, n, unit, slot):
            risks.append(estimate.risk)
            flats.append(estimate.flat)
            if with_folds:
                fold_risks.append(estimate.fold_risks)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        slot.clear()
    known = None if None in flats else np.array(flats, dtype=np.float64)
    return Risks(np.array(risks, dtype=np.float64), known, fold_risks, interrupted)


def estimates(
    result: RiskEstimate, jobs: Iterable[Job], n: int, unit: str, slot: Slot
) -> Iterator[RiskEstimate]:
    """Yield the estimate of every job as soon as it is finished.

    KeyboardInterrupt is raised if the slot is stopped.
    """
    record = record_of(result)
    for (work, draw), table in fill_each(jobs, n, unit, record.table.flat, slot):
        yield RiskEstimate(replace(record, work=work, plan=draw.plan, table=table))


def delivered(study: Study, measured: Risks, n: int, unit: str) -> Study:
    """Return the study; raise Interrupted with what is finished if the user stopped it."""
    if measured.interrupted:
        raise stopped(study, measured.risks.size, n, unit)
    return study


def stopped(study: Any, n_done: int, n: int, unit: str) -> Interrupted:
    """Return the error of a study of which so many draws were finished."""
    finished = f"{n_done} of {count(n, unit)} were finished"
    if not n_done:
        return Interrupted(f"{finished}, so there is no result.")
    where = "error.result holds them (at a prompt: sys.last_value.result)"
    return Interrupted(f"{finished}; {where}.", study)


def check_request(name: str, result: Any, n: int, n_jobs: Any, progress: str) -> int:
    """Return n; refuse what is no result with a risk, and wrong options.

    name  of the study
    """
    if not isinstance(result, RiskEstimate):
        raise InputError(
            f"{name} takes the result of one run, got {type(result).__name__}; of a "
            "comparison give one member, such as comparison['knn']."
        )
    Options(n_jobs=n_jobs, progress=progress)
    if result.risk is None:
        raise InputError(
            f"{name} runs the whole estimate again, and here nothing was measured outside "
            "S; use a recipe with outer splits, such as Recipe.nested_cv()."
        )
    if not result.complete:
        raise InputError(
            f"{name} compares with a complete run, and this one was interrupted; run it "
            "again."
        )
    return int(check_count("n", n, 1))


@contextmanager
def naming(draw: str) -> Iterator[None]:
    """Name the draw in the message of an error."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{draw}: {error}") from error
