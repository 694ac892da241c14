"""The error model of the linear paths: one verdict from the numbers that a fit reports."""

import importlib
import re

import numpy as np
import pytest

from cvnb.kernels import linear
from cvnb.paths.base import Unsuited
from cvnb.paths.linear import precision
from cvnb.paths.linear.precision import ACCEPT, RECOMPUTE, FitReport, Precision, Verdict

EXACT = {"residual": 1e-6, "spread": 1.0}
SUMS = {"from_sums": True}
SQUARES = {"from_sums": True, "least_squares": True}


def refused(reason):
    return Verdict(reason=reason)


VERDICTS = {
    "nothing": ({}, ACCEPT),
    "targets near": ({"target_distance": 9e5}, ACCEPT),
    "targets far": ({"target_distance": 2e6}, refused(precision.TOO_FAR)),
    "columns near": ({"column_distance": 2e6}, ACCEPT),
    "columns far": ({"column_distance": 4e6}, refused(precision.TOO_FAR)),
    "a constant far": ({"constant_distance": 4e6}, refused(precision.TOO_FAR)),
    "distant in a kernel": (
        {"status": linear.DISTANT, **SQUARES},
        refused(precision.TOO_FAR),
    ),
    "doubtful scale": ({"nearly_constant": True}, refused(precision.NEARLY_CONSTANT)),
    "unclear rank": ({"unclear_rank": True}, refused(precision.UNCLEAR_RANK)),
    "unclear rank of sums": ({"unclear_rank": True, **SUMS}, RECOMPUTE),
    "rounding below the penalty": ({"dual_error": 1e-12, "penalty": 1.0}, ACCEPT),
    "rounding beside the penalty": (
        {"dual_error": 1e-10, "penalty": 1.0},
        refused(precision.COLLINEAR),
    ),
    "cancelled": ({"status": linear.CANCELLED}, refused(precision.COLLINEAR)),
    "cancelled sums": ({"status": linear.CANCELLED, **SUMS}, RECOMPUTE),
    "ill": ({"status": linear.ILL}, refused(precision.COLLINEAR)),
    "ill sums": ({"status": linear.ILL, **SUMS}, refused(precision.COLLINEAR)),
    "ill sums of least squares": ({"status": linear.ILL, **SQUARES}, RECOMPUTE),
    "not finite": ({"finite": False, **EXACT}, refused(precision.INFINITE)),
    "exact": (EXACT, refused(precision.EXACT_FIT)),
    "not exact": ({"residual": 1e-4, "spread": 1.0}, ACCEPT),
    "exact for what it amplifies": (
        {"residual": 1e-4, "spread": 1.0, "amplification": 1e3},
        refused(precision.EXACT_FIT),
    ),
    "tied": ({"tied_scores": True}, refused(precision.TIED_SCORES)),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_every_number_has_its_verdict(case):
    """Accept, recompute from the fit's own rows, or refuse with the reason."""
    numbers, verdict = VERDICTS[case]
    assert precision.verdict_of(FitReport(**numbers)) == verdict


def test_a_refusal_is_raised_with_its_reason():
    """The engine refits the split and shows the reason."""
    with pytest.raises(Unsuited, match="so far from zero"):
        Precision().judge(FitReport(target_distance=1e7))


def test_the_largest_amplification_is_kept():
    """Each number amplifies rounding by its own factor, and never by less than 1."""
    fits = Precision()
    for report, largest in (
        (FitReport(), 1.0),
        (FitReport(condition=3.0), 60.0),
        (FitReport(column_distance=1e3), 1200.0),
        (FitReport(target_distance=10.0, amplification=7.0), 1200.0),
        (FitReport(amplification=1e5), 1e5),
    ):
        fits.judge(report)
        assert fits.amplification == pytest.approx(largest)
    conditioning = np.array([[1e-3, 0.0], [1.0, 1e6], [1.0, 0.0]])
    np.testing.assert_allclose(
        precision.amplification_of(conditioning), [1e4, 1.2e6, 10.0]
    )


@pytest.mark.parametrize(
    ("smallest", "tol", "counted", "unclear"),
    [
        (1e-5, 1e-6, 3, False),
        (1e-6, 1e-6, 2, True),
        (1e-7, 1e-6, 2, False),
        (0.1, 0.3, 2, False),
        (0.3, 0.3, 2, True),
        (1e-14, 0.0, 2, True),
    ],
)
def test_the_rank_is_clear_where_no_singular_value_is_near_the_cut(
    smallest, tol, counted, unclear
):
    """A cut up to 1e-12 takes none for zero."""
    counts, report = precision.rank_report(np.array([1.0, 0.9, smallest]), tol)
    assert (counts.sum(), report.unclear_rank) == (counted, unclear)


def test_the_thresholds_of_the_kernels_are_those_of_the_table():
    """A kernel imports no constant, so the table in the docstring is compared with its file."""
    module, found = None, 0
    for line in precision.__doc__.splitlines():
        if match := re.match(r" +kernels/(\w+)\.py", line):
            module = importlib.import_module(f"cvnb.kernels.{match[1]}")
        for name, value in re.findall(r"\b([A-Z]{3,}) ([\d.e-]+)", line):
            assert getattr(module, name) == float(value)
            found += 1
    assert found == 21
