"""Neighbours at equal distances: rounding separates none, in any unit, in any search.

The rule is computed from whole numbers, with fifty digits; the runs get the same numbers in units
that a float cannot represent.
"""

from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import naive
from cvnb import Family, Recipe, knn
from cvnb.kernels import neighbours as kernel
from cvnb.paths.knn import search
from cvnb.paths.knn.search import Geometry, NeighbourLists, Search, nearest
from cvnb.results.estimate import record_of

VOTES, MEANS = KNeighborsClassifier, KNeighborsRegressor
CARS = Path(__file__).parents[2] / "notebooks" / "data" / "auto.csv"
UNITS = {
    "1": 1.0,
    "10": 10.0,
    "tenths": 0.1,
    "thirds": 1 / 3,
    "mm": 1e-3,
    "inches": 2.54,
    "1e6": 1e6,
}
METRICS = {
    "euclidean": {"p": 2},
    "manhattan": {"p": 1},
    "chebyshev": {"metric": "chebyshev"},
    "minkowski": {"p": 3},
    "cosine": {"metric": "cosine"},
}
EXACT = {"rtol": 1e-9, "atol": 1e-12}


# The rule, in whole numbers


def digits(number, n=30):
    """Return the first digits of a number; earlier steps may have rounded the others."""
    with localcontext(prec=n):
        return +number


def in_units_of_deviation(train, test):
    """Return the rows of both in standard deviations of the training rows."""
    columns = []
    for c in range(train.shape[1]):
        x = [Decimal(int(v)) for v in train[:, c]]
        mean = sum(x) / len(x)
        variance = sum((v - mean) ** 2 for v in x) / len(x)
        scale = variance.sqrt()
        columns.append(
            [(Decimal(int(v)) - mean) / scale for v in (*train[:, c], *test[:, c])]
        )
    rows = [list(row) for row in zip(*columns, strict=True)]
    return rows[: len(train)], rows[len(train) :]


def distance(x, z, metric):
    """Return the distance of two rows; 1 from a row of zeros under the cosine."""
    gaps = [abs(a - b) for a, b in zip(x, z, strict=True)]
    if metric == "cosine":
        squares = sum(a * a for a in x) * sum(b * b for b in z)
        if squares == 0:
            return Decimal(1)
        return round(
            1 - sum(a * b for a, b in zip(x, z, strict=True)) / squares.sqrt(), 30
        )
    if metric == "chebyshev":
        return digits(max(gaps))
    if metric == "manhattan":
        return digits(sum(gaps))
    power = 2 if metric == "euclidean" else 3
    total = sum(gap**power for gap in gaps)
    return digits(total ** (Decimal(1) / power)) if total else Decimal(0)


class Rule:
    """A plug-in of `naive` for whole numbers X; `ties` counts the predictions with a tie."""

    def __init__(self, metric, scaled, weights, votes):
        self.metric, self.scaled, self.weights, self.votes = (
            metric,
            scaled,
            weights,
            votes,
        )
        self.ties, self.ranks = 0, {}

    def ranked(self, train, test):
        """Return (distance, place) of every training row in order, for each test row."""
        key = train.tobytes(), test.tobytes()
        if key not in self.ranks:
            with localcontext(prec=50):
                near, far = (
                    in_units_of_deviation(train, test)
                    if self.scaled
                    else [
                        [[Decimal(int(v)) for v in x] for x in X] for X in (train, test)
                    ]
                )
                self.ranks[key] = [
                    sorted((distance(x, z, self.metric), i) for i, z in enumerate(near))
                    for x in far
                ]
        return self.ranks[key]

    def weight(self, d, touching):
        if self.weights == "uniform":
            return Decimal(1)
        return Decimal(int(d == 0)) if touching else 1 / d

    def __call__(self, setting, X_train, y_train, X_test, w_train=None):
        k = setting["n_neighbors"]
        predictions = []
        for ranks in self.ranked(X_train, X_test):
            self.ties += k < len(ranks) and ranks[k][0] == ranks[k - 1][0]
            touching = ranks[0][0] == 0
            votes = {}
            with localcontext(prec=50):
                for d, i in ranks[:k]:
                    votes.setdefault(y_train[i], []).append(self.weight(d, touching))
                sums = {
                    label: digits(sum(weights), 20) for label, weights in votes.items()
                }
                most = max(sums.values())
                mean = sum(
                    Decimal(float(label)) * s for label, s in sums.items()
                ) / sum(sums.values())
            predictions.append(
                min(label for label, s in sums.items() if s == most)
                if self.votes
                else float(mean)
            )
        return np.array(predictions)


def by_rule(result, X, y, ks, loss, **rule):
    """Return the rule's numbers on the splits of a result, and its number of ties."""
    rule = Rule(votes=loss == "zero_one", **rule)
    inner = [list(splits) for splits in result.plan.inner]
    grid = naive.settings_of({"n_neighbors": ks})
    expected = naive.nested(rule, grid, X, y, list(result.plan.outer), inner, loss)
    return expected, rule.ties


def assert_as_ruled(result, expected, ties):
    """Curves, choices, predictions and the number of ties are the rule's."""
    np.testing.assert_allclose(result.inner_curves, expected.inner_curves, **EXACT)
    np.testing.assert_allclose(result.outer_curves, expected.outer_curves, **EXACT)
    assert result.chosen_index.tolist() == expected.chosen_index.tolist()
    for ours, theirs in zip(
        record_of(result).table.predictions, expected.predictions, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, **EXACT)
    notes = [note for note in result.notes if "equally far" in note]
    counts = [int(note.split()[1]) if "predictions" in note else 1 for note in notes]
    assert counts == ([ties] if ties else [])


def drawn_splits(rng, m, overlapping):
    """Return 3 x 2 overlapping resampled splits, or a recipe of folds."""
    if not overlapping:
        return Recipe(outer=3, inner=2, stratify=False, seed=int(rng.integers(100)))
    outer = [np.split(rng.permutation(m), [2 * m // 3]) for _ in range(3)]
    inner = [
        [np.split(rng.permutation(train), [len(train) // 2]) for _ in range(2)]
        for train, _ in outer
    ]
    return Recipe(outer=outer, inner=inner)


# Units


def cars():
    table = pd.read_csv(CARS).dropna(subset=["horsepower", "mpg"])
    return table[["horsepower"]].to_numpy(dtype=float), table["mpg"].to_numpy()


def whole_means(plan, x, y, ks):
    """Return nested losses of one column of whole numbers, by sorting whole distances."""

    def losses(train, test):
        train = np.sort(train)
        order = np.argsort(
            np.abs(x[train][None] - x[test][:, None]), axis=1, kind="stable"
        )[:, : ks[-1]]
        means = np.cumsum(y[train][order], axis=1) / np.arange(1, ks[-1] + 1)
        return ((means - y[test][:, None]) ** 2).mean(axis=0)

    risks = []
    for (train, test), inner in zip(plan.outer, plan.inner, strict=True):
        curve = np.mean([losses(*pair) for pair in inner], axis=0)
        risks.append(losses(train, test)[curve.argmin()])
    return np.mean(risks)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_the_unit_of_one_column_moves_no_risk(unit, scale):
    """Fuel use by horsepower, 93 values in 392 cars: 18.8401 in every unit, behind a scaler too."""
    X, y = cars()
    for offset in (0.0, 1e6):
        result = Recipe(5, 5).run(
            knn(k=range(1, 31), scale=scale), (X + offset) * unit, y, progress="off"
        )
        assert result.risk == pytest.approx(18.84012037, abs=1e-7)
        assert result.risk == pytest.approx(
            whole_means(result.plan, X[:, 0].astype(int), y, range(1, 31)), rel=1e-9
        )


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_irises_in_millimetres_centimetres_and_inches_are_the_same(weights, scale):
    """No unit changes a curve or the number of ties."""
    X, y = load_iris(return_X_y=True)
    whole = np.round(10 * X)
    family = knn(k=range(1, 31), weights=weights, scale=scale)
    results = [
        Recipe(5, 5).run(family, rows, y, progress="off")
        for rows in (whole, X, X / 2.54, whole / 2.54 + 1e3)
    ]
    if not scale and weights == "uniform":
        assert results[0].risk == pytest.approx(0.7 / 15)
    for other in results[1:]:
        np.testing.assert_allclose(other.inner_curves, results[0].inner_curves, **EXACT)
        assert other.fold_risks.tolist() == results[0].fold_risks.tolist()
        assert other.notes == results[0].notes


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.sampled_from([1, 2, 3, 7]),
    metric=st.sampled_from(list(METRICS)),
    scaled=st.booleans(),
    weights=st.sampled_from(["uniform", "distance"]),
    votes=st.booleans(),
    unit=st.sampled_from(list(UNITS.values())),
    offset=st.sampled_from([0, 1, 10**6]),
    overlapping=st.booleans(),
)
def test_on_a_grid_in_any_unit_the_rule_of_whole_numbers_holds(
    seed, p, metric, scaled, weights, votes, unit, offset, overlapping
):
    """For any width, scaling, splits, metric and weights."""
    rng = np.random.default_rng(seed)
    if (
        metric == "cosine"
    ):  # a row close to 0 has no direction left after an offset; near rows are left to refit
        offset, weights = 0, "uniform"
    X = rng.integers(0, 4, size=(18, p)) + offset
    y = rng.integers(0, 3, 18) if votes else rng.integers(0, 50, 18) / 8
    ks = [1, 2, 3, 5]
    model = (VOTES if votes else MEANS)(weights=weights, **METRICS[metric])
    grid = {"n_neighbors": ks}
    if scaled:
        grid = {f"{type(model).__name__.lower()}__n_neighbors": ks}
        model = make_pipeline(StandardScaler(), model)
    result = drawn_splits(rng, 18, overlapping).run(
        Family(model, grid), X * unit, y, progress="off", n_jobs=1
    )
    assert result.path == ("path:knn" if scaled else "shared:knn")
    loss = "zero_one" if votes else "squared"
    parts = [
        train
        for splits in (result.plan.outer, *result.plan.inner)
        for train, _ in splits
    ]
    assume(
        not scaled or all(np.ptp(X[train], axis=0).all() for train in parts)
    )  # a constant column keeps its unit
    expected = by_rule(
        result, X, y, ks, loss, metric=metric, scaled=scaled, weights=weights
    )
    assert_as_ruled(result, *expected)


# Searches


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(("kind", "p"), [("tree", 2), ("sums", 2), ("product", 7)])
def test_every_search_orders_ties_in_any_unit(monkeypatch, kind, p, scale, n_jobs):
    """A tree, a matrix product and sums of differences agree, on any number of threads."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 6, size=(500, p)), rng.normal(size=500)
    grown = []
    monkeypatch.setattr(
        search,
        "_worth_a_tree",
        lambda n, n_columns: kind == "tree" and (grown.append(n) or True),
    )
    monkeypatch.setattr(Search, "_leaves_many_uncertain", lambda self, length: False)
    for weights in ("uniform", "distance"):
        family = knn(k=range(1, 41), weights=weights, scale=scale)
        whole, *others = (
            Recipe(4, 3).run(
                family, X * unit, y, progress="off", n_jobs=n_jobs, path="auto"
            )
            for unit in (1.0, 0.1, 1 / 3, 2.54)
        )
        for other in others:
            np.testing.assert_allclose(other.inner_curves, whole.inner_curves, **EXACT)
            np.testing.assert_allclose(other.outer_curves, whole.outer_curves, **EXACT)
            assert other.notes == whole.notes
    assert bool(grown) == (kind == "tree")


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.sampled_from([1, 2, 7]),
    length=st.integers(1, 60),
    metric=st.sampled_from(range(5)),
)
def test_a_list_ends_where_no_row_left_out_of_it_could_stand(seed, p, length, metric):
    """A list is the beginning of the rule's order, whichever rows are skipped later."""
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, 4, size=(60, p)) + 1) / 10
    length = min(length, 59)
    near = NeighbourLists.empty(60, length)
    Search(X, Geometry(False, metric, 3.0), length).fill(X, np.arange(60), near)
    name = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"][metric]
    for t in range(60):
        others = np.delete(np.arange(60), t)
        rows, _ = naive.ranked(X[others], X[t], name, 3)
        n = near.reach[t] if near.reach[t] >= 0 else -1 - near.reach[t]
        assert n == length
        assert near.rows[t, :n].tolist() == others[rows][:n].tolist()


# Chains: each row as far as the next one, but the last not as far as the first


def chain(rng, n, step=0.4e-12):
    """Return rows about 1 from 0, a few tolerances apart, in any order."""
    return (1.0 + step * rng.permutation(n))[:, None]


@pytest.mark.parametrize("seed", range(8))
def test_rows_left_out_of_a_chain_decide_nothing(seed):
    """Classes begin with the nearest training row, both in a search and in a list."""
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [np.zeros((3, 1)), chain(rng, 12), 2.0 * chain(rng, 6), [[3.0], [4.0]]]
    )
    y, grid = rng.normal(size=len(X)), {"n_neighbors": [1, 2, 4, 9]}
    outer = [
        (rng.choice(np.arange(3, 23), 14, replace=False), np.array([0, 1, 2]))
        for _ in range(12)
    ]
    inner = [[(np.delete(train, [0, 1]), train[:2])] for train, _ in outer]
    for weights in ("uniform", "distance"):
        result = Recipe(outer=outer, inner=inner).run(
            Family(MEANS(weights=weights), grid), X, y, progress="off"
        )
        plug_in = naive.fixed(naive.knn_regressor, weights=weights)
        expected = naive.nested(
            plug_in, naive.settings_of(grid), X, y, outer, inner, "squared"
        )
        assert result.path == "shared:knn"
        np.testing.assert_allclose(
            result.outer_curves, expected.outer_curves, rtol=1e-13
        )
        np.testing.assert_allclose(
            result.inner_curves, expected.inner_curves, rtol=1e-13
        )


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("p", [1, 6])
def test_a_chain_that_goes_on_beyond_the_candidates_is_followed(p, exact, rng):
    """If the nearest rows are one long chain, all of it is used."""
    T = np.zeros((3000, p))
    T[:, :1] = chain(rng, 3000, 0.9e-12)
    for k in (1, 5, 40):
        near = nearest(
            T, np.zeros((1, p)), Geometry(False, kernel.EUCLIDEAN, 2.0), k, exact
        )
        assert (
            near.rows[0].tolist() == naive.ranked(T, np.zeros(p))[0][: k + 1].tolist()
        )


def test_what_is_no_farther_than_the_rounding_of_a_row_is_at_distance_0():
    """A difference of 1e-9 is rounding for a row of 1e6, and none for a row of 1."""
    for size, touched in ((1e6, 2), (1.0, 1)):
        X = np.array([[size], [size + 1e-9], [size], [2.0 * size]])
        near = nearest(X[1:], X[:1], Geometry(False, kernel.EUCLIDEAN, 2.0), 2)
        assert np.count_nonzero(near.distances == 0.0) == touched


def test_garbage_far_away_makes_no_ties():
    """Equality depends on the test row and the distance, not on the largest row."""
    x = np.array([0.0, 1.0, 1.0 + 1e-9, 1e12])[:, None]
    near = NeighbourLists.empty(4, 3)
    Search(x, Geometry(False, kernel.EUCLIDEAN, 2.0), 3).fill(x, np.arange(4), near)
    assert near.rows[0].tolist() == [1, 2, 3]
    near = nearest(x[[2, 1, 3]], x[:1], Geometry(False, kernel.EUCLIDEAN, 2.0), 2)
    assert near.rows[0].tolist() == [1, 0, 2]


@pytest.mark.parametrize("metric", range(5))
def test_the_length_of_a_row_neither_overflows_nor_vanishes(metric):
    """Rows of huge and of tiny numbers have proportional lengths."""
    x = np.array([3.0, -4.0, 0.0])
    lengths = [
        kernel.norm(x * unit, metric, 3.0) / unit
        for unit in (1.0, 1e150, 1e250, 1e-150, 1e-250)
    ]
    np.testing.assert_allclose(lengths, [5.0, 7.0, 4.0, 91 ** (1 / 3), 5.0][metric])


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_votes_that_are_even_up_to_rounding_go_to_the_smaller_class(unit):
    """Weights 1/2 + 1/2 of one class and 1/3 + 1/6 + 1/2 of the other tie in every unit."""
    X = np.array([[0], [2], [-2], [3], [6], [-2]]) * unit
    for classes in ([0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 2, 2, 1, 1, 1]):
        recipe = Recipe(outer=[(np.arange(1, 6), [0])], inner=None)
        result = recipe.run(
            Family(VOTES(5, weights="distance")), X, np.array(classes), progress="off"
        )
        assert record_of(result).table.predictions[0].tolist() == [min(classes[1:])]


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("p", [2, 7])
def test_rows_outside_move_no_bit_of_a_tie(p, scale):
    """Garbage in an outer test part, tied or far away, changes no bit of its inner losses."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 4, size=(60, p)) / 10, rng.normal(size=60)
    family, recipe = knn(k=range(1, 21), weights="distance", scale=scale), Recipe(4, 3)
    clean = recipe.run(family, X, y, progress="off")
    for j, (_, test) in enumerate(clean.plan.outer):
        for garbage in (
            rng.integers(0, 4, size=(test.size, p)) * 0.1,
            1e12 * rng.normal(size=(test.size, p)),
        ):
            dirty = X.copy()
            dirty[test] = garbage
            found = recipe.run(family, dirty, y, progress="off")
            assert found.inner_curves[j].tobytes() == clean.inner_curves[j].tobytes()
