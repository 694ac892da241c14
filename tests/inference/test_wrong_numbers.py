"""Wrong arguments of the inference functions are refused with a message."""

import numpy as np
import pytest

from changed_results import interrupted
from cvnb import Recipe, knn
from cvnb.errors import CvnbError
from cvnb.inference import (
    bayle_interval,
    bbc,
    compare_rules,
    corrected_t,
    corrected_t_interval,
    dev_set_bound,
    dev_set_size,
    hoeffding_interval,
    holdout_interval,
    one_standard_error,
    optimism,
    standard_error,
    tibshirani_bias,
)
from small_tables import classes


def test_levels_and_seeds_are_looked_at_first():
    """Not shown as a bullet in a table of 9500 %."""
    result = Recipe(3, 3).run(knn(k=[1, 3]), *classes())
    for call in (
        lambda v: compare_rules(result, level=v),
        lambda v: optimism(result, level=v),
        lambda v: optimism(result, delta=v),
    ):
        for value in (95, 0, float("nan"), "x", None):
            with pytest.raises(CvnbError, match=r"level=|delta="):
                call(value)
    for call in (
        lambda: optimism(result, n_boot=0),
        lambda: optimism(result, seed=-1),
        lambda: bbc(result, seed="a"),
    ):
        with pytest.raises(CvnbError, match=r"n_boot=|seed="):
            call()
    with pytest.raises(CvnbError, match="rules is empty"):
        compare_rules(result, {})


WRONG = [
    (
        lambda: corrected_t(np.ma.array([0.1, 0.2, 9], mask=[0, 0, 1]), 80, 20),
        "d has masked values; leave them out",
    ),
    (
        lambda: corrected_t([0.1 + 1j, 0.2], 80, 20),
        r"d must be numbers \[splits\], got complex128",
    ),
    (
        lambda: corrected_t(["0.1", "0.2"], 80, 20),
        r"d must be numbers \[splits\], got <U3",
    ),
    (
        lambda: corrected_t(np.array(["2020-01-01"], dtype="datetime64[D]"), 80, 20),
        r"numbers \[splits\], got datetime64",
    ),
    (
        lambda: one_standard_error([-np.inf, 0.0, 0.1], 0.1, [0, 1, 2]),
        "curve must have finite losses, or NaN for settings",
    ),
    (
        lambda: one_standard_error(["a"], 0.1, [0]),
        r"curve must be numbers \[settings\], got <U1",
    ),
    (
        lambda: one_standard_error([[0.1], [0.2, 0.3]], 0.1, [0]),
        r"curve must be numbers \[settings\]",
    ),
    (
        lambda: corrected_t_interval([0.1, 0.1, 0.1 * (1 + 3e-16)], 80, 20),
        "every fold loss is 0.1, so their spread is unknown",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=[[-1, 1], [1, 1]]),
        "weights must be finite and >= 0",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=[[np.nan, 1], [1, 1]]),
        "weights must be finite and >= 0",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=[[0, 0], [1, 1]]),
        "weights must be finite and >= 0, some of them > 0",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], weights=3),
        "weights must be a list with one array per fold, 2 in all",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], groups=[[None, 1], [2, 3]]),
        "groups has missing values; give every row a",
    ),
    (
        lambda: bayle_interval([[0.1, 0.2], [0.3, 0.4]], "within", 0.9),
        "level='within' must be a finite number",
    ),
    (
        lambda: bayle_interval(
            [[0.1, 0.2], [0.3, 0.4]], variance="within", groups=[[1, 2], [3, 4]]
        ),
        "variance='within' takes neither weights nor groups; use variance='all_pairs'",
    ),
    (
        lambda: holdout_interval([0.1, 0.2, 0.4], groups=5),
        r"groups must have one value for each of the 3 rows of losses, got sh",
    ),
    (
        lambda: holdout_interval([0.1, 0.2, 0.4], weights=["a", "b", "c"]),
        r"weights must be numbers \[rows\], got <U1",
    ),
    (
        lambda: holdout_interval([0.1, 0.2], groups=[1, 1]),
        "one group in the test part has no spread; test on more",
    ),
    (
        lambda: hoeffding_interval([[0.1, 0.2]], weights=[[1, np.inf]]),
        "weights must be finite and >= 0",
    ),
    (lambda: bbc([[0.1], [0.2]], weights=[1, -1]), "weights must be finite and >= 0"),
    (
        lambda: bbc([[0.1], [0.2]], groups=[1, np.nan]),
        "groups has missing values; give every row a group",
    ),
    (
        lambda: dev_set_size(1e-200, 5),
        "these numbers are too far apart for a bound that is a number",
    ),
    (
        lambda: dev_set_size(0.1, 5, range=1e200),
        "these numbers are too far apart for a bound that is a number",
    ),
    (
        lambda: dev_set_bound(1, 5, range=1.7e308),
        "these numbers are too far apart for a bound that is a number",
    ),
    (
        lambda: standard_error([1.0]),
        "one fold has no standard error; give the losses of several",
    ),
    (
        lambda: one_standard_error(Recipe.external_cv(3).run(knn(k=3), *classes())),
        "nothing was chosen among settings here, so there",
    ),
    (
        lambda: tibshirani_bias(Recipe.validation().run(knn(k=3), *classes())),
        "nothing was chosen among settings here, so there is no",
    ),
    (
        lambda: dev_set_bound(
            Recipe.dev_set(0.3).run(knn(k=[1, 3]), *classes(), groups=np.arange(60))
        ),
        "the bound counts independent",
    ),
    (
        lambda: compare_rules(
            interrupted(Recipe(3, 3).run(knn(k=[1, 3]), *classes()), 0)
        ),
        "interrupted before any outer split was",
    ),
    (
        lambda: optimism(Recipe(3, 3).run(knn(k=[1, 3]), *classes()), range=-1.0),
        "range=-1.0 must be > 0",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_numbers_are_refused_in_words(call, message):
    """No plausible number, no error of Python's own."""
    with pytest.raises(CvnbError, match=message):
        call()
