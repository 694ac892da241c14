"""Results and comparisons as pandas tables. Scores stand as scores, other numbers as losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from .comparison import Comparison
    from .estimate import RiskEstimate


def result_frame(result: RiskEstimate) -> pd.DataFrame:
    """Return one row per outer split: sizes, the chosen setting, its inner and outer loss."""
    record = result._record
    curves, risks, settings = result.inner_curves, result.fold_risks, result.settings
    loss, rows = record.loss, []
    noun = "score" if loss.is_score else "loss"
    for j, s in enumerate(record.table.chosen):
        train, test = result.plan.part(j)
        sizes = {"split": j, "n_train": train.size, "n_test": test.size}
        row: dict[str, Any] = {**sizes, **settings[s]}
        row[f"inner_{noun}"] = _shown(loss, None if curves is None else curves[j, s])
        row[f"outer_{noun}"] = _shown(loss, risks[j] if len(risks) else None)
        rows.append(row)
    return _frame(rows)


def comparison_frame(comparison: Comparison) -> pd.DataFrame:
    """Return one row per model, the best first.

    Columns: risk (or score), the ends of its interval, the difference to the best model with
    its interval and p-values, the chosen settings, seconds.
    """
    rows = []
    for name in comparison.ranked:
        result, pair = comparison[name], comparison.against_best(name)
        loss = result._record.loss
        row: dict[str, Any] = {"model": name}
        row["score" if loss.is_score else "risk"] = _shown(loss, result.risk)
        row["low"], row["high"] = _ends(result)
        low, high = (pair and pair.shown_ends) or (np.nan, np.nan)
        difference = pair and loss.shown_difference(pair.difference)
        row |= {
            "to_best": np.nan if difference is None else difference,
            "to_best_low": low,
            "to_best_high": high,
            "p": _number(pair.p if pair else None),
            "p_holm": _number(pair.p_holm if pair else None),
            "chosen": result.chosen,
            "seconds": result._record.table.seconds,
        }
        rows.append(row)
    return _frame(rows)


def _shown(loss: Any, value: float | None) -> float:
    return np.nan if value is None else float(loss.shown(value))


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _ends(result: RiskEstimate) -> tuple[float, float]:
    try:
        interval = result.interval()
    except InputError:
        return np.nan, np.nan
    return interval.low, interval.high


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_frame() gives a pandas DataFrame; pip install pandas, or use the "
            "result's arrays."
        ) from None
    return pd.DataFrame(rows)
