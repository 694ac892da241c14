"""Arithmetic on losses: the settings that share a minimum, and the bound that a dev set gives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvnb.errors import CvnbError, LossError
from cvnb.inference import (
    dev_set_bound,
    dev_set_size,
    one_standard_error,
    tied_settings,
)

COUNTS = st.integers(1, 10**6)
DELTAS = st.floats(1e-6, 0.999)
RANGES = st.floats(1e-3, 1e3)

# Ties


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize(
    ("curve", "tied"),
    [
        ([0.3, 0.1, 0.2], [1]),
        ([0.1, 0.1, 0.1], [0, 1, 2]),
        ([0.2, 0.1, 0.3, 0.1], [1, 3]),
        ([0.1 + 5e-14, 0.1], [0, 1]),
        ([0.1 + 5e-12, 0.1], [1]),
        ([0.5], [0]),
        ([np.nan, 0.2, np.nan, 0.2], [1, 3]),
        ([np.nan], []),
        ([np.nan, np.nan], []),
        ([0.0, 0.0], [0, 1]),
    ],
    ids=str,
)
def test_the_settings_at_the_minimum_are_tied_in_grid_order(curve, tied, zero_one):
    """Equal losses tie, rounding does not part them, and a setting that failed never wins."""
    assert tied_settings(np.array(curve), zero_one).tolist() == tied


def test_mistakes_within_1e_12_are_equal_whatever_their_size():
    """0-1 curves are compared absolutely: 5e-13 ties with 0."""
    assert tied_settings(np.array([5e-13, 0.0]), zero_one=True).tolist() == [0, 1]


def test_tiny_losses_that_are_no_mistakes_are_told_apart():
    """Other curves are compared relatively: 5e-13 does not tie with 0, nor 1e-20 with 2e-20."""
    assert tied_settings(np.array([5e-13, 0.0])).tolist() == [1]
    assert tied_settings(np.array([2e-20, 1e-20])).tolist() == [1]


def test_large_losses_tie_relatively():
    """1e9 and 1e9 + 1e-4 are one loss to twelve digits."""
    assert tied_settings(np.array([1e9 + 1e-4, 1e9, 1e9 + 1e-2])).tolist() == [0, 1]


def test_negative_losses_tie_as_positive_ones_do():
    """The loss of a scorer may be negative; the larger value is then the one farther from 0."""
    assert tied_settings(np.array([-0.9, -0.9 + 1e-13, -0.8])).tolist() == [0, 1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.booleans())
def test_the_minimiser_is_always_among_the_tied(curve, zero_one):
    """argmin of the curve ties with itself, and whatever ties is within 1e-12 of it."""
    curve = np.array(curve)
    tied = tied_settings(curve, zero_one)
    assert int(np.argmin(curve)) in tied.tolist()
    assert np.all(curve[tied] - curve.min() <= 1e-12)


# One standard error

CURVE, SIMPLEST_FIRST = [0.30, 0.24, 0.20, 0.21], [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("se", "chosen"),
    [
        (0.05, 1),
        ([0.05] * 4, 1),
        ([0.0, 0.0, 0.05, 0.0], 1),
        ((9.0, 9.0, 0.01, 9.0), 2),
        (np.array([0, 0, 1, 0]), 0),
    ],
    ids=str,
)
def test_of_one_error_for_each_setting_that_of_the_minimiser_counts(se, chosen):
    """Setting 2 is the minimiser; the others' errors change nothing."""
    assert one_standard_error(CURVE, se, SIMPLEST_FIRST) == chosen


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_one_error_for_each_setting_is_the_number_at_the_minimum(seed, n):
    """The vector and the minimiser's own entry choose the same setting."""
    rng = np.random.default_rng(seed)
    curve, se, order = rng.random(n), rng.random(n), rng.permutation(n)
    at_minimum = float(se[np.argmin(curve)])
    assert one_standard_error(curve, se, order) == one_standard_error(
        curve, at_minimum, order
    )


def test_of_equal_minima_the_error_of_the_simplest_counts():
    """As with select="one_se"."""
    assert one_standard_error([0.3, 0.2, 0.2], [0.0, 0.1, 0.0], [0, 1, 2]) == 0
    assert one_standard_error([0.3, 0.2, 0.2], [0.0, 0.0, 0.1], [0, 1, 2]) == 1
    assert one_standard_error([0.3, 0.2, 0.2], [0.0, 0.0, 0.1], [0, 2, 1]) == 0


def test_a_setting_that_failed_may_have_no_error():
    """A NaN in se is allowed where curve is NaN too."""
    assert one_standard_error([np.nan, 0.24, 0.20], [np.nan, 0.0, 0.05], [0, 1, 2]) == 1


@pytest.mark.parametrize(
    ("se", "words"),
    [
        (
            [0.1, 0.1],
            r"se has 2 values, but curve has 4; give one number, or one for each setting",
        ),
        ([0.1] * 5, r"se has 5 values, but curve has 4"),
        ([[0.1] * 4], r"se must be numbers \[settings\], got shape \(1, 4\)"),
        ([], r"se must be numbers \[settings\], got shape \(0,\)"),
        ([0.1, -0.2, 0.1, 0.1], r"se\[1\]=-0.2 must be a finite number >= 0"),
        ([0.1, 0.1, 0.1, np.nan], r"se\[3\]=nan must be a finite number >= 0"),
        ([np.inf, 0.1, 0.1, 0.1], r"se\[0\]=inf must be a finite number >= 0"),
        (["a"] * 4, r"se must be numbers \[settings\], got <U1"),
        ("0.1", r"se='0.1' must be a finite number >= 0"),
        (True, r"se=True must be a finite number >= 0"),
        (None, r"se=None must be a finite number >= 0"),
    ],
    ids=str,
)
def test_an_error_that_cannot_be_is_refused(se, words):
    """Wrong shapes, negative numbers, NaN and words, even away from the minimiser."""
    with pytest.raises(CvnbError, match=words):
        one_standard_error(CURVE, se, SIMPLEST_FIRST)


# Bound


@given(COUNTS, COUNTS, DELTAS, RANGES)
def test_the_bound_is_its_formula(n_dev, n_settings, delta, width):
    """range sqrt((2 / n_dev) ln(2 n_settings / delta))."""
    expected = width * math.sqrt(2 / n_dev * math.log(2 * n_settings / delta))
    assert dev_set_bound(n_dev, n_settings, delta, width) == pytest.approx(
        expected, rel=1e-12
    )


@given(st.floats(1e-3, 10), COUNTS, DELTAS, RANGES)
def test_the_size_is_the_smallest_whose_bound_is_within_the_width(
    width, n_settings, delta, span
):
    """bound(size) <= width, and one row less would not do."""
    size = dev_set_size(width, n_settings, delta, span)
    assert isinstance(size, int)
    assert dev_set_bound(size, n_settings, delta, span) <= width * (1 + 1e-9)
    assert size == 1 or dev_set_bound(size - 1, n_settings, delta, span) > width * (
        1 - 1e-9
    )


@given(st.integers(1, 5000), st.integers(1, 500), DELTAS)
def test_the_size_undoes_the_bound(n_dev, n_settings, delta):
    """The smallest dev set with the bound of n rows has n rows: rounding does not ask for
    one more."""
    assert (
        dev_set_size(dev_set_bound(n_dev, n_settings, delta), n_settings, delta)
        == n_dev
    )


def test_numbers_worked_by_hand():
    """50 settings at 5 %: 1,000 rows are good for 0.1233, and a width of 0.1 needs 1,521."""
    assert dev_set_bound(1000, 50) == pytest.approx(0.1232956, abs=1e-7)
    assert dev_set_size(0.1, 50) == 1521
    assert dev_set_bound(200, 1, delta=2 / math.e**4) == pytest.approx(0.2)


def test_a_wider_range_scales_the_bound():
    """The bound is proportional to the range, the size to its square."""
    assert dev_set_bound(100, 10, range=5) == pytest.approx(5 * dev_set_bound(100, 10))
    assert dev_set_size(0.5, 10, range=5) == dev_set_size(0.1, 10)


def test_numbers_of_numpy_are_numbers():
    """Sizes that come out of arrays are taken, and a plain float or int comes back."""
    bound = dev_set_bound(
        np.int64(100), np.int32(10), np.float64(0.05), np.float32(1.0)
    )
    assert bound == pytest.approx(dev_set_bound(100, 10))
    assert type(bound) is float
    assert type(dev_set_size(np.float64(0.1), np.int64(10))) is int


REFUSED = {
    "n_dev": [0, 0.5, -1, math.nan, math.inf, "100", None, True],
    "n_settings": [0, 0.5, -3, math.nan, math.inf, "10", None],
    "delta": [0, 1, -0.1, 1.5, math.nan, "0.05", None],
    "range": [0, -1.0, math.nan, "1", None],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (name, value)
        for name, values in REFUSED.items()
        for value in values
        if (name, value) != ("range", None)
    ],
)
def test_a_bound_of_nonsense_is_refused_by_name(name, value):
    """n_dev < 1, n_settings < 1, delta outside (0, 1), range <= 0: a ValueError naming it."""
    with pytest.raises(ValueError, match=f"{name}="):
        dev_set_bound(
            **{"n_dev": 100, "n_settings": 10, "delta": 0.05, "range": 1.0}
            | {name: value}
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", v) for v in (0, -0.1, math.nan, math.inf, "0.1", None)]
    + [
        (name, value)
        for name in ("n_settings", "delta", "range")
        for value in REFUSED[name]
    ],
)
def test_a_size_of_nonsense_is_refused_by_name(name, value):
    """The same for dev_set_size, and a width that is not > 0."""
    with pytest.raises(ValueError, match=f"{name}="):
        dev_set_size(
            **{"width": 0.1, "n_settings": 10, "delta": 0.05, "range": 1.0}
            | {name: value}
        )


@pytest.mark.parametrize("function", [dev_set_bound, dev_set_size])
def test_unbounded_losses_are_refused(function):
    """range=inf has no such bound, and the message says what to do."""
    with pytest.raises(LossError, match=r"an unbounded loss .*clip the loss"):
        function(100, 10, range=math.inf)


def test_every_refusal_is_an_error_of_cvnb():
    """except CvnbError catches them, except ValueError too."""
    with pytest.raises(CvnbError, match="n_dev=0"):
        dev_set_bound(0, 10)
