"""One fit ahead of a run where X holds text, which many estimators cannot use."""

from __future__ import annotations

from ..data.columns import text_columns
from ..engine.work import Work
from ..errors import DataError, FitError
from ..families.labels import Setting
from ..families.remedies import remedy_of
from ..paths.refit import fit_on
from ..splits.plan import Plan

FEW = 100  # rows of the first attempt: a pipeline that uses text does so on these too


def refuse_text(work: Work, plan: Plan) -> None:
    """Refuse an X with text on which no setting of the family can be fitted.

    A fit decides whether a pipeline can use the text; its steps are not inspected. Of the
    settings that differ only in numbers one is fitted. A table of numbers costs nothing.
    """
    family, X = work.family, work.data.X
    if len(X.shape) == 2 and not text_columns(X):
        return
    remedies = []
    for kind in work.kinds:
        failure = _failure(work, plan, family.settings[kind.which[0]])
        remedy = failure and remedy_of(failure, X, kind.candidate)
        if not remedy:
            return  # it works, or the run tells why it does not
        remedies.append(remedy)
    raise DataError(f"{family.label} cannot be fitted on this X. {remedies[0]}")


def _failure(work: Work, plan: Plan, setting: Setting) -> str | None:
    """Return the message of a fit on the first training part; None if few of its rows suffice."""
    splits = plan.outer if plan.inner_layouts is None else plan.inner[0]
    train = splits[0][0]
    message = None
    for rows in (train[:: max(1, train.size // FEW)], train):
        try:
            fit_on(work.family, work.data, setting, rows)
        except FitError as error:
            message = str(error.__cause__)
        else:
            return None
    return message
