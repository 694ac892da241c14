"""The audit of a plan."""

import numpy as np
from sklearn.datasets import load_diabetes

from cvnb import Plan, Recipe

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


def test_an_audit_sees_inner_rows_outside_their_training_part():
    """A record whose inner splits use outer test rows is found out."""
    outer = [(np.arange(10), np.arange(10, 14))]
    plan = Recipe(outer=outer, inner=[[(np.arange(5), np.arange(5, 10))]]).plan(
        X[:14], y[:14]
    )
    forged = Recipe(outer=[(np.arange(9), np.arange(9, 14))], inner=None).plan(
        X[:14], y[:14]
    )
    fields = {**plan.__dict__, "outer_layout": forged.outer_layout}
    broken = Plan(
        **{
            name: value
            for name, value in fields.items()
            if name in Plan.__dataclass_fields__
        }
    )
    assert broken.audit().findings == (
        "inner split 0 of outer split 0: 1 row outside its training part",
    )
