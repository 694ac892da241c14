"""Results with another table of losses."""

from dataclasses import replace

import numpy as np

from cvnb.results.estimate import record_of

PER_SPLIT = ("inner", "outer", "rows", "predictions", "chosen")


def with_table(result, **changes):
    """The same result with other entries in its table of losses."""
    record = record_of(result)
    return type(result)(replace(record, table=replace(record.table, **changes)))


def interrupted(result, n):
    """The same result, stopped after n outer splits."""
    table = record_of(result).table
    parts = {name: getattr(table, name) for name in PER_SPLIT}
    cut = {name: part[:n] for name, part in parts.items() if part is not None}
    return with_table(result, **cut, complete=False)


def with_losses(result, losses):
    """The same result with these fold losses, whatever the setting."""
    n_settings = record_of(result).table.outer.shape[1]
    column = np.asarray(losses, dtype=float)[:, None]
    return with_table(result, outer=np.repeat(column, n_settings, axis=1))
