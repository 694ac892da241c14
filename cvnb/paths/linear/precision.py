"""The error model of the linear paths: every threshold, and the one verdict on a fit.

A fit reports numbers about its digits: how far columns and targets are from zero, how nearly
collinear the columns are, the status of its kernel, the size of its residuals. `verdict_of`
turns them into the verdict: accept, recompute from the fit's own rows, or refuse with a
reason, so that scikit-learn refits the split. The aim is a loss equal to scikit-learn's in
nine digits.

Compiled kernels cannot import constants, so these are in their files (value, meaning):

    kernels/linear.py         SINGULAR 1e-10, EXACT 1e-11, DEPENDENT 1e-5, PART 1e7  collinearity
                              KEPT 1e-3                                              cancellation
                              FAR 3e6                                                distance
                              LEAST 1e-130, MOST 1e130, TINY 1e-300                  float range
    kernels/leave_one_out.py  LEVERAGE 1e-4     what a row must leave to the others of its own fit
    kernels/linear_rows.py    CLOSE 1e-9        a call between classes that is noted as close
    kernels/lasso.py          INDEPENDENT 1e-8, LEVEL 1e-9, SLACK 1e-9, ROUNDING 1e-14, GAP 1e-13,
                              SWEEPS 20000      whether a minimum is reached and is unique
    kernels/wide_lasso.py     INDEPENDENT 1e-8, LEVEL 1e-9, SLACK 1e-9, ROUNDING 1e-14, which
                              sparse_lasso.py shares
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...kernels.linear import CANCELLED, DISTANT, EPS, FAR, FINE
from ..base import Unsuited

# Amplification: the rounding of a fit, in units of the rounding of its targets.
PER_EIGENVALUE = 10.0  # over the smallest eigenvalue of a scaled Gram matrix
PER_CONDITION = 20.0  # times the condition number of least squares
PER_SPREAD = 1.2  # times the spreads that a column or the targets are away from zero

PER_SHARE = (
    1e-5  # over the smallest eigenvalue on sparse rows, as a share of the largest
)

# Distance of the columns of sparse rows from zero, in spreads: their means are taken out of
# products, not out of the rows, which costs their square in digits.
FAR_SPARSE = 100.0
# Residual of the equations of sparse rows that is rounding, as a share of what they add up;
# and the steps after which they are given up.
SOLVED = 64 * EPS
MOST_STEPS = 1000

# Distance of the targets from zero, in spreads. Residuals are smaller than the targets' spread,
# so the limit is lower than FAR, that of columns.
FAR_TARGETS = 1e6

# Smallest eigenvalue of a scaled Gram matrix with its penalty that leaves ten digits of a loss;
# in a basis the columns are nearly orthonormal to begin with.
SMALLEST_EIGENVALUE = 1e-6
SMALLEST_IN_BASIS = 0.1
# Reciprocal condition below which only the reduction tells dependent columns from nearly
# dependent ones.
CHOLESKY_CONDITION = 1e-3
# What rounding may add to the products of rows, as a share of the penalty.
DUAL_ERROR = 1e-11

# Singular values of least squares, as shares of the largest one. One counts if it is above CLEAR,
# where it costs no more digits than a loss can spare, and above CUT_MARGIN times scikit-learn's
# cut. It is zero if it is below that cut by the same margin. Between them the rank is unclear. A
# cut up to SMALLEST_CUT makes none zero: rounding alone leaves singular values of 1e-13.
CLEAR = 2e-6
CUT_MARGIN = 2.0
SMALLEST_CUT = 1e-12
# Share of the allowed condition number for the whole part; its blocks need the rest.
WHOLE_PART = 0.125

# Nearly constant columns, by times the variance that rounding leaves of a constant. A column
# with more than SURELY times varies; within a factor of HARDLY, rounding decides whether
# scikit-learn scales it.
SURELY = 1e4
HARDLY = 4.0

# Residuals below this share of the targets' spread are rounding; and the relative error that a
# loss may have, which raises that share for a fit that amplifies rounding.
EXACT_SHARE = 1e-5
LOSS_ERROR = 5e-10
# Scores that differ by less than this share of the largest are tied.
TIED_SHARE = 1e-12

# Lasso: with fewer iterations or a larger tolerance scikit-learn stops far from the minimum,
# which is what the path computes.
FEWEST_ITERATIONS = 100
LARGEST_TOLERANCE = 1e-3

COLLINEAR = (
    "columns of X are too nearly collinear for that many digits; "
    "only a refit reproduces scikit-learn's"
)
TOO_FAR = (
    "columns or targets are so far from zero that their own rounding shows; "
    "only a refit reproduces scikit-learn's digits"
)
EXACT_FIT = (
    "the model fits the targets up to rounding; "
    "only a refit reproduces scikit-learn's digits"
)
INFINITE = "a loss is not finite; refitting shows which settings fail"
NEARLY_CONSTANT = (
    "a column is so nearly constant that rounding decides whether it is scaled"
)
UNEVEN_COLUMNS = (
    "columns of X differ so much in scale that the equations are solved too slowly; with "
    "MaxAbsScaler() before the model this is fast"
)
UNCLEAR_RANK = (
    "columns of X are nearly collinear, and which of them count depends on the solver"
)
TIED_SCORES = (
    "scores of different classes are equal up to rounding, which decides their rank"
)


@dataclass(eq=False, slots=True)
class FitReport:
    """Numbers that a fit reports about its digits, each with a default that is harmless.

    from_sums          it is solved from sums over blocks, so its own rows may know more
    least_squares      it has no penalty, so a singular value decomposition may know more
    status             of the kernel
    target_distance    spreads that the targets are away from zero
    column_distance    the same of a column, where nothing takes it out
    sparse             means are taken out of products of sparse rows
    unsolved           the equations are not solved after as many steps as are allowed
    constant_distance  distance of a constant column from zero, where nothing takes it out
    nearly_constant    rounding decides whether a column is constant
    unclear_rank       rounding decides which singular values are zero
    condition          condition number of least squares
    dual_error         rounding in the products of rows, to be compared with the penalty
    penalty            the smallest penalty
    amplification      by how much rounding is amplified, as far as it is already known
    residual           the smallest residual
    spread             of the targets, to be compared with it
    tied_scores        rounding decides the rank of rows of different classes
    finite             the losses are finite
    """

    from_sums: bool = False
    least_squares: bool = False
    status: int = FINE
    target_distance: float = 0.0
    column_distance: float = 0.0
    sparse: bool = False
    unsolved: bool = False
    constant_distance: float = 0.0
    nearly_constant: bool = False
    unclear_rank: bool = False
    condition: float = 0.0
    dual_error: float = 0.0
    penalty: float = math.inf
    amplification: float = 1.0
    residual: float = math.inf
    spread: float = 0.0
    tied_scores: bool = False
    finite: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a fit: accepted, recomputed from its own rows, or refused for a reason."""

    recompute: bool = False
    reason: str = ""


ACCEPT = Verdict()
RECOMPUTE = Verdict(recompute=True)


def verdict_of(fit: FitReport) -> Verdict:
    """Return the verdict on a fit; this is the only place where the linear paths decide it."""
    if fit.target_distance > FAR_TARGETS:
        return Verdict(reason=TOO_FAR)
    far = FAR_SPARSE if fit.sparse else FAR
    if fit.column_distance > far or fit.constant_distance > far:
        return Verdict(reason=TOO_FAR)
    if fit.unsolved:
        return Verdict(reason=UNEVEN_COLUMNS)
    if fit.status == DISTANT:
        return Verdict(reason=TOO_FAR)
    if fit.nearly_constant:
        return Verdict(reason=NEARLY_CONSTANT)
    if fit.unclear_rank:
        return RECOMPUTE if fit.from_sums else Verdict(reason=UNCLEAR_RANK)
    if fit.dual_error > DUAL_ERROR * fit.penalty:
        return Verdict(reason=COLLINEAR)
    if fit.status != FINE:
        has_more = fit.status == CANCELLED or fit.least_squares
        return RECOMPUTE if fit.from_sums and has_more else Verdict(reason=COLLINEAR)
    if not fit.finite:
        return Verdict(reason=INFINITE)
    if fit.residual < math.inf and is_exact(
        fit.residual, fit.amplification, fit.spread
    ):
        return Verdict(reason=EXACT_FIT)
    return Verdict(reason=TIED_SCORES) if fit.tied_scores else ACCEPT


class Precision:
    """The verdicts on the fits of one training part, and by how much they amplify rounding.

    amplification is the largest so far, in units of the rounding of the targets, and at least 1.
    """

    def __init__(self, amplification: float = 1.0) -> None:
        self.amplification = amplification

    def judge(self, fit: FitReport) -> Verdict:
        """Return the verdict and record the amplification; raise Unsuited if it is a refusal."""
        verdict = verdict_of(fit)
        if verdict.reason:
            raise Unsuited(verdict.reason)
        self.amplification = max(
            self.amplification,
            float(fit.amplification),
            PER_SPREAD * fit.target_distance,
            PER_SPREAD * fit.column_distance,
            PER_CONDITION * fit.condition,
        )
        return verdict


def judge(fit: FitReport) -> Verdict:
    """Return the verdict on a single report; raise Unsuited if it is a refusal."""
    return Precision().judge(fit)


def amplification_of(conditioning: np.ndarray) -> np.ndarray:
    """Return [fits] amplification of rounding from what the kernels report of each fit.

    conditioning  [fits, (smallest eigenvalue, spreads away from zero)]
    """
    by_eigenvalue = PER_EIGENVALUE / conditioning[:, 0]
    by_distance = PER_SPREAD * conditioning[:, 1]
    return np.maximum(1.0, np.maximum(by_eigenvalue, by_distance))


def is_exact(
    residual: np.ndarray | float, amplification: np.ndarray | float, spread: float
) -> np.ndarray:
    """Return [fits] whether residuals are rounding: then only a refit gives scikit-learn's."""
    share = np.maximum(EXACT_SHARE, EPS * amplification / LOSS_ERROR)
    return residual < share * spread


def are_tied(ranked: np.ndarray) -> np.ndarray:
    """Return [rows - 1, settings] whether scores are equal to the next one up to rounding."""
    return np.diff(ranked, axis=0) <= TIED_SHARE * np.abs(ranked).max(initial=0.0)


def smallest_eigenvalue(in_basis: bool) -> float:
    """Return the smallest eigenvalue that a scaled Gram matrix with its penalty may have."""
    return SMALLEST_IN_BASIS if in_basis else SMALLEST_EIGENVALUE


def clear_share(tol: float) -> float:
    """Return the share of the largest singular value above which one surely counts.

    tol is the share at which scikit-learn cuts.
    """
    return max(CLEAR, CUT_MARGIN * tol)


def rank_report(sizes: np.ndarray, tol: float) -> tuple[np.ndarray, FitReport]:
    """Return ([singular values] whether each counts, the report on them).

    sizes  singular values, the largest first
    tol    the share of the largest at which scikit-learn cuts
    """
    largest = sizes[0] if sizes.size else 0.0
    counts = np.zeros(sizes.size, dtype=bool)
    if largest > 0:
        counts = sizes >= clear_share(tol) * largest
    cut = tol / CUT_MARGIN if tol > SMALLEST_CUT else -1.0
    report = FitReport(unclear_rank=bool((sizes[~counts] > cut * largest).any()))
    if counts.any():
        report.condition = float(largest / sizes[counts].min())
    return counts, report


def gram_report(eigenvalues: np.ndarray, tol: float) -> FitReport:
    """Return the report on least squares from sums, by the eigenvalues of a Gram matrix."""
    smallest = eigenvalues[0]
    largest = eigenvalues[-1]
    least = (clear_share(tol) / WHOLE_PART) ** 2 * largest
    if not smallest > least:
        return FitReport(from_sums=True, unclear_rank=True)
    return FitReport(from_sums=True, condition=math.sqrt(largest / smallest))


def nearly_constant(
    variance: np.ndarray, mean: np.ndarray, n: float, margin: float
) -> np.ndarray:
    """Return [columns] whether a variance is at most `margin` times the rounding of a constant.

    This is scikit-learn's rule; n is the number of rows.
    """
    rounding = n * EPS * variance + (n * mean * EPS) ** 2
    return variance <= margin * rounding


def scale_report(variance: np.ndarray, mean: np.ndarray, n: float) -> FitReport:
    """Return the report on columns that a scaler may take for constant."""
    at_most = nearly_constant(variance, mean, n, HARDLY)
    at_least = nearly_constant(variance, mean, n, 1 / HARDLY)
    return FitReport(nearly_constant=bool((at_most != at_least).any()))
