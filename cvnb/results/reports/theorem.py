"""Theorem 1: the expected risk after training on m rows is that of leave-one-out on m + 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod, sqrt
from typing import Any

import numpy as np
from sklearn.base import clone

from ...errors import InputError, WrongTypeError
from ...inference.checked import whole
from ...splits.specs import is_whole
from ...wording import count, number
from .base import Report

MOST = 200_000  # samples to enumerate
Row = tuple[Any, Any]
Sample = tuple[int, ...]  # numbers of atoms
Learner = Callable[[list[Row], Any], Any]

ATOMS = {(0, 0): Fraction(1, 2), (1, 1): Fraction(1, 3), (3, 0): Fraction(1, 6)}


@dataclass(frozen=True, eq=False, repr=False)
class Theorem1(Report):
    """Both sides of the theorem for each size m, exactly and by simulation.

    algorithm       name of A
    sizes           m
    risks           E[ℓ_D(A(S))], |S| = m, as fractions
    leave_one_out   E[leave-one-out estimate of A on m + 1 rows], as fractions
    n               simulated samples for each size
    simulated       [sizes]: mean leave-one-out estimate of n samples of m + 1 rows
    errors          [sizes]: its standard error
    """

    algorithm: str
    sizes: tuple[int, ...]
    risks: tuple[Fraction, ...]
    leave_one_out: tuple[Fraction, ...]
    n: int
    simulated: np.ndarray
    errors: np.ndarray

    @property
    def holds(self) -> bool:
        """Whether the two expectations are equal, as fractions, for every size."""
        return self.risks == self.leave_one_out

    @property
    def title(self) -> str:
        sides = "E[ℓ_D(A(S))], |S| = m, is E[leave-one-out] on m + 1 rows"
        return f"Theorem 1 for A = {self.algorithm}: {sides}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        head = ["m", "E[ℓ_D(A(S))]", "E[leave-one-out], m + 1 rows", "simulated"]
        rows = []
        for i, m in enumerate(self.sizes):
            mean, error = self.simulated[i], self.errors[i]
            sides = map(_both_ways, (self.risks[i], self.leave_one_out[i]))
            rows.append([str(m), *sides, f"{mean:.4f} ± {error:.4f}"])
        return head, rows

    @property
    def sentences(self) -> list[str]:
        equal = "equal" if self.holds else "NOT equal"
        return [
            f"Every sample is enumerated with its probability, in fractions: {equal}.",
            f"Simulated: the mean leave-one-out estimate of {count(self.n, 'sample')} of m + 1 "
            "rows, and its standard error.",
        ]

    @property
    def picture(self) -> str:
        """A small picture: the risk as a line, the simulated estimates with their errors."""
        from ...pictures.points import Points, draw_points

        points = Points(
            x=np.array(self.sizes, dtype=np.float64),
            line=np.array([float(risk) for risk in self.risks]),
            dots=self.simulated,
            errors=self.errors,
            xlabel="m, rows that A trains on",
            line_name="E[ℓ_D(A(S))]",
            dots_name="leave-one-out, m + 1 rows",
        )
        return f"<div>{draw_points(points).img}</div>"


def _both_ways(value: Fraction) -> str:
    exact, decimal = str(value), number(float(value))
    if exact == decimal or len(exact) > 15:
        return decimal
    return f"{exact} = {float(value):.4f}"


def nearest(S: list[Row], x: Any) -> Any:
    """One nearest neighbour: y of the row nearest to x, the first of equals."""
    return min(S, key=lambda row: abs(row[0] - x))[1]


def theorem_1(
    algorithm: Any = nearest,
    atoms: Mapping[Row, Any] | None = None,
    sizes: Iterable[int] = (1, 2, 3, 4),
    loss: Callable[[Any, Any], Any] | None = None,
    n: int = 1000,
    seed: int = 0,
) -> Theorem1:
    """Both sides of Theorem 1: leave-one-out is unbiased for the risk of one row less.

        E[ℓ_D(A(S))], |S| = m,  =  E[leave-one-out estimate of A on m + 1 rows]

    Nothing about A is used: leave a row out of m + 1 independent ones, and the others are a
    sample of m, the row a new one.

    algorithm: A, a function (rows, x) -> prediction, where rows are pairs (x, y), or a
    scikit-learn estimator; the default is one nearest neighbour. atoms: D, {(x, y):
    probability}; probabilities are fractions, such as Fraction(1, 3). sizes: m. loss: (y,
    prediction) -> number; the default is squared. n, seed: samples to simulate for each m.

    >>> found = theorem_1()
    >>> found.holds, [str(risk) for risk in found.risks]
    (True, ['4/9', '1/3', '19/81', '1/6'])
    """
    distribution = _Distribution.of(ATOMS if atoms is None else atoms)
    sizes = _checked_sizes(sizes, len(distribution.rows))
    n, seed = whole("n", n, 2), whole("seed", seed, 0)
    name, learner = _learner(algorithm)
    sides = [_Sides(distribution, learner, loss, m) for m in sizes]
    draws = np.array([side.simulated(n, seed) for side in sides])
    return Theorem1(
        algorithm=name,
        sizes=sizes,
        risks=tuple(side.risk() for side in sides),
        leave_one_out=tuple(side.leave_one_out() for side in sides),
        n=n,
        simulated=draws.mean(axis=1),
        errors=draws.std(axis=1, ddof=1) / sqrt(n),
    )


@dataclass(frozen=True)
class _Distribution:
    """Rows (x, y) with their probabilities, which add up to 1 exactly."""

    rows: list[Row]
    p: list[Fraction]

    @classmethod
    def of(cls, atoms: Any) -> _Distribution:
        is_pairs = isinstance(atoms, Mapping) and all(
            isinstance(row, tuple) and len(row) == 2 for row in atoms
        )
        if not is_pairs or not atoms:
            raise WrongTypeError(
                f"atoms={atoms!r} must be a dict of probabilities by (x, y), such as "
                "{(0, 0): Fraction(1, 2), (1, 1): Fraction(1, 2)}."
            )
        p = [_fraction("a probability in atoms", value) for value in atoms.values()]
        if min(p) <= 0 or sum(p) != 1:
            raise InputError(
                f"the probabilities in atoms must be > 0 and add up to 1, got {sum(p)}; give "
                "fractions, such as Fraction(1, 3), because decimals are rounded."
            )
        return cls(list(atoms), p)

    def expectation(self, size: int, value: Callable[[Sample], Fraction]) -> Fraction:
        """E[value(S)], |S| = size: every sample, with its probability."""
        samples = product(range(len(self.rows)), repeat=size)
        every = (
            prod((self.p[i] for i in S), start=Fraction(1)) * value(S) for S in samples
        )
        return sum(every, Fraction(0))


class _Sides:
    """Both sides for one m; A is run once on every sample of m rows."""

    def __init__(
        self,
        distribution: _Distribution,
        learner: Callable[[list[Row], list[Any]], list[Any]],
        loss: Callable[[Any, Any], Any] | None,
        m: int,
    ) -> None:
        self.D, self.learner, self.loss, self.m = distribution, learner, loss, m
        self.known: dict[Sample, list[Fraction]] = {}

    def losses(self, S: Sample) -> list[Fraction]:
        """Return the loss of A(S) on every atom."""
        if S not in self.known:
            rows = self.D.rows
            predicted = self.learner([rows[i] for i in S], [x for x, _ in rows])
            pairs = zip(rows, predicted, strict=True)
            self.known[S] = [self._loss(y, value) for (_, y), value in pairs]
        return self.known[S]

    def _loss(self, y: Any, predicted: Any) -> Fraction:
        if self.loss is not None:
            return _fraction("a loss", self.loss(y, predicted))
        return (_fraction("y", y) - _fraction("a prediction", predicted)) ** 2

    def risk(self) -> Fraction:
        """E[ℓ_D(A(S))], |S| = m."""
        return self.D.expectation(self.m, self._risk_of)

    def leave_one_out(self) -> Fraction:
        """E[leave-one-out estimate], m + 1 rows."""
        return self.D.expectation(self.m + 1, self._estimate_on)

    def _risk_of(self, S: Sample) -> Fraction:
        return sum(
            (p * loss for p, loss in zip(self.D.p, self.losses(S), strict=True)),
            Fraction(0),
        )

    def _estimate_on(self, S: Sample) -> Fraction:
        without = (self.losses(S[:t] + S[t + 1 :])[S[t]] for t in range(len(S)))
        return sum(without, Fraction(0)) / len(S)

    def simulated(self, n: int, seed: int) -> list[float]:
        """Return the leave-one-out estimates on n random samples of m + 1 rows."""
        generator, p = np.random.default_rng([seed, self.m]), self.D.p
        weights = np.array([float(share) for share in p])
        size = n, self.m + 1
        samples = generator.choice(len(p), size, p=weights / weights.sum())
        return [float(self._estimate_on(tuple(S))) for S in samples.tolist()]


def _learner(
    algorithm: Any,
) -> tuple[str, Callable[[list[Row], list[Any]], list[Any]]]:
    """Return (name, (rows, several x) -> predictions) of a function or an estimator."""
    if hasattr(algorithm, "fit") and hasattr(algorithm, "predict"):
        return type(algorithm).__name__, lambda S, xs: _fitted(algorithm, S, xs)
    if not callable(algorithm):
        raise WrongTypeError(
            f"algorithm={algorithm!r} is neither a function of (rows, x) nor a scikit-learn "
            "estimator."
        )
    name = getattr(algorithm, "__name__", type(algorithm).__name__)
    return name, lambda S, xs: [algorithm(list(S), x) for x in xs]


def _fitted(estimator: Any, S: list[Row], xs: list[Any]) -> list[Any]:
    X, y = np.array([x for x, _ in S]), np.array([y for _, y in S])
    model = clone(estimator).fit(X.reshape(len(S), -1), y)
    return model.predict(np.array(xs).reshape(len(xs), -1)).tolist()


def _fraction(name: str, value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} is {value!r}, which is no finite number or fraction."
        ) from None


def _checked_sizes(sizes: Any, n_atoms: int) -> tuple[int, ...]:
    given = (sizes,) if is_whole(sizes) else tuple(sizes)
    if not given or not all(is_whole(m) and m >= 1 for m in given):
        raise InputError(
            f"sizes={sizes!r} must be whole numbers >= 1: rows to train on."
        )
    most = max(given)
    if n_atoms ** (most + 1) > MOST:
        raise InputError(
            f"m={most} has {n_atoms}^{most + 1} samples of {most + 1} rows, more than "
            f"{MOST:,} to enumerate; use smaller sizes or fewer atoms."
        )
    return tuple(int(m) for m in given)
