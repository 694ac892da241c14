"""theorem_1: the expected risk of m rows is the expected leave-one-out estimate of m + 1."""

from base64 import b64decode
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from cvnb.errors import CvnbError
from cvnb.inference import theorem_1

ATOMS = {
    (0, 0): Fraction(1, 2),
    (1, 1): Fraction(1, 3),
    (3, 0): Fraction(1, 6),
}


def average(S, x):
    return Fraction(sum(y for _, y in S), len(S))


def commonest(S, x):
    return max((0, 1), key=lambda c: sum(y == c for _, y in S))


def mistakes(y, prediction):
    return int(y != prediction)


def both_sides(A, loss, m):
    """(E[ℓ_D(A(S))], E[leave-one-out]) from the definitions, one sample after the other."""
    risk = estimate = Fraction(0)
    for S in product(ATOMS, repeat=m):
        p = np.prod([ATOMS[z] for z in S], initial=Fraction(1))
        risk += p * sum(q * loss(y, A(list(S), x)) for (x, y), q in ATOMS.items())
    for S in product(ATOMS, repeat=m + 1):
        p = np.prod([ATOMS[z] for z in S], initial=Fraction(1))
        for t, (x, y) in enumerate(S):
            rest = [z for i, z in enumerate(S) if i != t]
            estimate += p * Fraction(loss(y, A(rest, x))) / (m + 1)
    return risk, estimate


@pytest.mark.parametrize("loss", [None, mistakes])
@pytest.mark.parametrize("A", [average, commonest])
def test_both_sides_are_the_sums_over_all_samples(A, loss):
    """Fractions, equal to those of the definitions and to each other."""
    found = theorem_1(A, ATOMS, sizes=[1, 2, 3], loss=loss, n=10)
    plain = loss or (lambda y, prediction: (y - prediction) ** 2)
    for m, risk, estimate in zip(
        found.sizes, found.risks, found.leave_one_out, strict=True
    ):
        assert (risk, estimate) == both_sides(A, plain, m)
        assert isinstance(risk, Fraction)
    assert found.holds
    assert found.algorithm == A.__name__


def test_the_default_is_one_nearest_neighbour_on_three_atoms():
    """4/9, 1/3, 19/81, 1/6, worked out by hand in the tutorial on leave-one-out."""
    found = theorem_1()
    expected = [Fraction(4, 9), Fraction(1, 3), Fraction(19, 81), Fraction(1, 6)]
    assert list(found.risks) == list(found.leave_one_out) == expected
    assert found.algorithm == "nearest"


def test_the_simulation_agrees_within_its_standard_error():
    """4,000 samples: within four standard errors, which are those of the estimates."""
    found = theorem_1(average, ATOMS, sizes=(2, 5), n=4000, seed=1)
    exact = np.array([float(risk) for risk in found.risks])
    assert np.all(np.abs(found.simulated - exact) < 4 * found.errors)
    assert np.all((found.errors > 0) & (found.errors < 0.01))
    again = theorem_1(average, ATOMS, sizes=(2, 5), n=4000, seed=1)
    assert np.array_equal(found.simulated, again.simulated)
    other = theorem_1(average, ATOMS, sizes=(2, 5), n=4000, seed=2)
    assert not np.array_equal(found.simulated, other.simulated)


def test_an_estimator_of_scikit_learn_is_an_algorithm():
    """Its floats are fractions too, so both sides are equal, not nearly."""
    least_squares = theorem_1(LinearRegression(), ATOMS, sizes=[2, 3], n=10)
    assert least_squares.holds
    assert float(least_squares.risks[0]) == pytest.approx(0.8472222222, rel=1e-9)
    votes = theorem_1(KNeighborsClassifier(1), ATOMS, sizes=[1, 2], loss=mistakes, n=10)
    nearest = theorem_1(atoms=ATOMS, sizes=[1, 2], n=10)
    assert votes.algorithm == "KNeighborsClassifier"
    assert votes.holds
    assert votes.risks == nearest.risks  # squares of 0 and 1 are mistakes


def test_an_algorithm_that_remembers_breaks_nothing_but_shows_both_sides():
    """`holds` compares the fractions; a wrong side is not called equal."""
    found = theorem_1(average, ATOMS, sizes=2, n=10)
    wrong = type(found)(**{**vars(found), "risks": (Fraction(1, 7),)})
    assert not wrong.holds
    assert "NOT equal" in repr(wrong)


def test_it_shows_itself_as_text_and_as_a_page_with_a_picture():
    """Fractions with decimals, and a picture without a script whose words hold the numbers."""
    found = theorem_1(average, ATOMS, sizes=(1, 2), n=100)
    text = repr(found)
    assert text.startswith("Theorem 1 for A = average: E[ℓ_D(A(S))], |S| = m, is")
    assert text.count("4/9 = 0.4444") == text.count("1/3 = 0.3333") == 2
    page = found._repr_mimebundle_()["text/html"]
    assert page.count("<img ") == 1
    assert "<script" not in page
    words = (
        "Against m, rows that A trains on: E[ℓ_D(A(S))] 0.4444, 0.3333; leave-one-out"
    )
    assert f'alt="{words}' in found.picture
    svg = b64decode(found.picture.partition("base64,")[2].partition('"')[0]).decode()
    assert svg.count("<circle") == 2


REFUSED = {
    "decimals": (
        {"atoms": {(0, 0): 0.1, (1, 1): 0.9, (2, 0): 0.1}},
        "must be > 0 and add up to 1, got .*; give fractions",
    ),
    "no pairs": ({"atoms": {0: 1}}, r"atoms={0: 1} must be a dict of probabilities"),
    "no numbers": ({"atoms": {(0, 0): "half"}}, "a probability in atoms is 'half'"),
    "size 0": ({"sizes": [0]}, r"sizes=\[0\] must be whole numbers >= 1"),
    "too many samples": ({"sizes": [20]}, r"m=20 has 3\^21 samples of 21 rows, more"),
    "no algorithm": ({"algorithm": "knn"}, "algorithm='knn' is neither a function"),
    "no prediction": (
        {"algorithm": lambda S, x: None},
        "a prediction is None, which is no finite number",
    ),
    "one sample": ({"n": 1}, "n=1 must be a whole number >= 2"),
    "a negative seed": ({"seed": -1}, "seed=-1 must be a whole number >= 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_distribution_or_algorithm_is_refused(case):
    """The message says what is needed."""
    arguments, message = REFUSED[case]
    with pytest.raises(CvnbError, match=message):
        theorem_1(**arguments)
