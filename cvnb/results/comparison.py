"""Comparison: several families on one plan, and a test of each pair."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, Interrupted
from ..splits.plan import Plan
from ..wording import count
from .estimate import RiskEstimate, record_of
from .pairs import Pair, compare_pairs
from .scales import scale_of

if TYPE_CHECKING:
    import pandas as pd


class Comparison(Mapping[str, RiskEstimate]):
    """Results by name, all on one plan.

    >>> import numpy as np
    >>> from cvnb import Recipe, lasso, ridge
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> models = {"ridge": ridge(alpha=[0.1, 1]), "lasso": lasso(alpha=[0.1, 1])}
    >>> comparison = Recipe(4, 3).run(models, X, X.ravel() / 7)
    >>> comparison.ranked
    ['ridge', 'lasso']
    >>> comparison.verdict.partition(" (")[0]
    'ridge has the lowest mean squared error'
    >>> [round(pair.t, 2) for pair in comparison.pairs], comparison.against_best("lasso").first
    ([-2.0], 'lasso')
    >>> list(comparison.to_frame()["model"]), comparison.predictor("best")[-1]
    (['ridge', 'lasso'], Ridge(alpha=0.1))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = comparison.report(f"{folder}/models.html").read_text(encoding="utf-8")
    >>> "ridge has the lowest" in page, len(comparison.figure().data) > 0
    (True, True)
    >>> comparison.complete, comparison.plan.n_inner
    (True, 12)
    >>> comparison.notes[0]
    'ridge: alpha=0.1, the lower edge of its grid, was chosen in 4 of 4 outer splits.'
    """

    def __init__(
        self, results: Mapping[str, RiskEstimate], never_run: Sequence[str] = ()
    ) -> None:
        self._results, self._never_run = dict(results), tuple(never_run)

    def __getitem__(self, name: str) -> RiskEstimate:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def complete(self) -> bool:
        """False after an interrupt; the interrupted family comes last, with its finished splits."""
        return not self._never_run and all(result.complete for result in self.values())

    @property
    def notes(self) -> list[str]:
        """The notes of every family, and one for each family that was never run."""
        notes = []
        for name, result in self.items():
            notes += [f"{name}: {note}" for note in result.notes]
        for name in self._never_run:
            notes.append(f"{name}: not run, because the run was interrupted before.")
        return notes

    @property
    def plan(self) -> Plan:
        """The splits that all families share, with inner ones where some family chooses in them."""
        plans = [result.plan for result in self.values()]
        return max(plans, key=lambda plan: plan.n_inner)

    @property
    def pairs(self) -> list[Pair]:
        """Each two families, with the tests of their difference on the shared splits."""
        return compare_pairs(self._results)

    @property
    def ranked(self) -> list[str]:
        """The names, the best first; equal risks in the order given."""
        return sorted(self, key=lambda name: _rank(self[name]))

    @property
    def verdict(self) -> str:
        """Which model is best, and whether these splits tell it from the others."""
        return verdict_of(self)

    def against_best(self, name: str) -> Pair | None:
        """Return the pair of a model and the best one, model minus best; None for the best."""
        best = self.ranked[0]
        for pair in self.pairs:
            if {pair.first, pair.second} == {name, best}:
                return pair if pair.first == name else pair.turned()
        return None

    def predictor(self, name: str = "best", how: str = "retrain") -> Any:
        """Return the fitted estimator of a model for new data.

        name: of the model; "best" is the one with the smallest risk, unless a model has
        that name. how: as in RiskEstimate.predictor
        """
        if name == "best" and name not in self:
            name = self.ranked[0]
        if name not in self:
            known = ", ".join(map(repr, self))
            raise InputError(
                f"name={name!r} is no model of this comparison; use {known}."
            )
        return self[name].predictor(how)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table, one row per model, the best first."""
        from .frames import comparison_frame

        return comparison_frame(self)

    def figure(self) -> Any:
        """Draw the fold losses of every model in plotly, joined by a line for each fold."""
        from ..figures.comparison import comparison_figure

        return comparison_figure(self)

    def report(self, path: str | os.PathLike[str], figures: bool = False) -> Path:
        """Write one HTML page that needs no network, and return its path.

        figures=True adds plotly's figures to explore, 5 MB.
        """
        from ..views.html_report import write_report

        return write_report(self, path, figures)

    def __repr__(self) -> str:
        from ..views.comparison_card import comparison_text

        return comparison_text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from ..views.comparison_card import comparison_bundle

        return comparison_bundle(self)


def _rank(result: RiskEstimate) -> tuple[bool, bool, float]:
    """Order results: measured and finished ones first, small risks first."""
    number = result.flat if result.risk is None else result.risk
    if number is None:
        return True, True, 0.0
    return False, not result.complete, number


def verdict_of(comparison: Comparison) -> str:
    """Return the verdict of a comparison as one sentence."""
    best = comparison.ranked[0]
    result, loss = comparison[best], record_of(comparison[best]).loss
    if result.plan.outer_layout is None:
        return "No verdict: nothing was measured outside the folds that chose the settings."
    if result.risk is None:
        return "No verdict: no outer fold was finished."
    side = "highest" if loss.is_score else "lowest"
    shown = scale_of(*comparison.values()).write(result.risk)
    subject = f"{best} has the {side} {loss.words} ({shown})"
    others = {name: comparison.against_best(name) for name in comparison.ranked[1:]}
    if not others:
        return f"{subject}; there is no other model to compare it with."
    apart = [name for name, pair in others.items() if pair and pair.is_separated]
    close = [name for name in others if name not in apart]
    folds = count(len(result.fold_risks), "fold")
    if all(pair is not None and pair.same for pair in others.values()):
        return f"{subject}, and the others have the same in every fold."
    if not close:
        return f"{subject}, and these {folds} separate it from {_listed(apart)}."
    reasons = {pair.reason for pair in others.values() if pair and pair.reason}
    if len(reasons) == 1 and not apart:
        return f"{subject}; nothing tells whether that is chance: {reasons.pop()}"
    doubt = f"these {folds} cannot separate it from {_listed(close)}"
    if apart:
        return f"{subject}: better than {_listed(apart)}, but {doubt}."
    return f"{subject}, but {doubt}."


def _listed(names: list[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def finished(result: RiskEstimate | Comparison | None) -> str:
    """Return in words how much of an interrupted run was finished.

    >>> finished(None)
    'nothing was finished'
    """
    if result is None:
        return "nothing was finished"
    if isinstance(result, RiskEstimate):
        if result.plan.outer_layout is None:
            return "nothing was chosen yet"
        return f"{_share(result)} were finished"
    n_complete = sum(part.complete for part in result.values())
    models = count(len(result) + len(result._never_run), "model")
    words = f"{n_complete} of {models} were finished"
    name, last = list(result.items())[-1]
    if last.complete or not _has_begun(last):
        return words
    return f"{words}, and {_share(last)} of {name!r}"


def was_interrupted(result: RiskEstimate | Comparison) -> bool:
    """Whether the user stopped the run, even if everything was finished already."""
    tables = [record_of(part).table for part in _parts(result)]
    return not result.complete or any(table.interrupted for table in tables)


def interrupted(result: RiskEstimate | Comparison | None) -> Interrupted:
    """Return the exception that carries the finished part of a run and states its size."""
    if result is None or not any(map(_has_begun, _parts(result))):
        return Interrupted(f"{finished(result)}, so there is no result.")
    where = (
        "error.result holds them (at a prompt or in a notebook: sys.last_value.result)"
    )
    return Interrupted(f"{finished(result)}; {where}.", result)


def _parts(result: RiskEstimate | Comparison) -> list[RiskEstimate]:
    return list(result.values()) if isinstance(result, Comparison) else [result]


def _has_begun(result: RiskEstimate) -> bool:
    return len(result.chosen_index) > 0


def _share(result: RiskEstimate) -> str:
    return f"{len(result.chosen_index)} of {count(result.plan.n_parts, 'outer split')}"
