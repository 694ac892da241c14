"""The kernels of nearest neighbours, and the searches that use them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

import naive
from cvnb.kernels import distance_keys, leading, scaling
from cvnb.kernels import neighbours as kernel
from cvnb.kernels.distance_keys import fill_keys
from cvnb.paths.knn import products
from cvnb.paths.knn.search import Geometry, NeighbourLists, Search, nearest

METRICS = ("EUCLIDEAN", "MANHATTAN", "CHEBYSHEV", "MINKOWSKI", "COSINE")


def test_kernel_modules_have_the_same_constants():
    """Kernel modules import none of the others, so each has its own."""
    for name in METRICS:
        assert getattr(distance_keys, name) == getattr(kernel, name)
    for name in ("SAME", "ROUNDING"):
        assert getattr(leading, name) == getattr(kernel, name)


def found(T, Q, k, metric=kernel.EUCLIDEAN, power=2.0, exact=False):
    """Return rows and distances of the k + 1 nearest rows."""
    near = nearest(T, Q, Geometry(False, metric, power), k, exact)
    return near.rows, np.abs(near.distances)


def brute(T, Q, k, metric="minkowski", p=2):
    """Return the same from sorting all distances."""
    order = np.array([naive.ranked(T, x, metric, p)[0][: k + 1] for x in Q])
    d = np.array([naive.distances(T, x, metric, p) for x in Q])
    return order, np.take_along_axis(d, order, axis=1)


@pytest.mark.parametrize("p", [1, 2, 5, 6, 7, 8, 9, 15, 16, 17, 63, 64, 100, 127, 128])
@pytest.mark.parametrize("exact", [False, True])
def test_distances_are_those_of_numpy_bit_for_bit(p, exact, rng):
    """Up to 128 columns a distance equals np.sqrt(((x - z) ** 2).sum()) in every bit."""
    T, Q = rng.normal(size=(40, p)) + 100.0, rng.normal(size=(9, p))
    rows, distances = found(T, Q, 7, exact=exact)
    expected = [
        [np.sqrt(((Q[t] - T[i]) ** 2).sum()) for i in rows[t]] for t in range(9)
    ]
    assert distances.tobytes() == np.array(expected).tobytes()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    p=st.integers(1, 40),
    tied=st.booleans(),
    metric=st.sampled_from(
        ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"]
    ),
    data=st.data(),
)
def test_the_nearest_rows_are_those_of_sorting_all_distances(
    seed, n, p, tied, metric, data
):
    """Any number of neighbours up to all rows, in order of distance and row number."""
    rng = np.random.default_rng(seed)
    k = data.draw(st.integers(1, n))
    T, Q = rng.normal(size=(n, p)), rng.normal(size=(5, p))
    if tied:
        T, Q = np.round(T) + 0.5, np.round(Q) + 0.5
    code = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"].index(metric)
    rows, distances = found(T, Q, k, code, 3.0)
    expected, d = brute(T, Q, k, metric, 3.0)
    np.testing.assert_allclose(distances, d, rtol=1e-13, atol=1e-15)
    if metric != "cosine":  # whose directions round
        assert np.array_equal(rows, expected)


@pytest.mark.parametrize("n", [4000, 4097, 9001])
@pytest.mark.parametrize("p", [1, 2, 6])
@pytest.mark.parametrize("kind", ["numbers", "whole", "copies", "clusters"])
def test_among_thousands_of_rows_the_nearest_are_found(kind, n, p, rng):
    """A threshold guessed from a sample misses no row that ties with the last one."""
    T = rng.normal(size=(n, p))
    T = {
        "numbers": T,
        "whole": np.round(3 * T),
        "copies": T[rng.integers(0, 50, n)],
        "clusters": np.where(rng.random((n, 1)) < 0.001, T, 1e6 + 1e-3 * T),
    }[kind]
    Q = np.vstack([T[:3], rng.normal(size=(2, p))])
    for k in (1, 17, 300):
        for exact in (False, True):
            rows, distances = found(T, Q, k, exact=exact)
            expected, d = brute(T, Q, k)
            assert np.array_equal(distances, d)
            assert np.array_equal(rows, expected)


DIRECTIONS = {
    "numbers": lambda rng, X: X,
    "far from zero": lambda rng, X: X + 1e4,
    "copies": lambda rng, X: X[rng.integers(0, 40, len(X))],
    "rows of zeros": lambda rng, X: X * (rng.random((len(X), 1)) < 0.8),
    "any length": lambda rng, X: X * 10.0 ** rng.uniform(-100, 100, (len(X), 1)),
    "nearly parallel": lambda rng, X: (
        np.where(np.arange(len(X))[:, None] % 2, 1, -1) + 1e-4 * X
    ),
    "some nearly equal": lambda rng, X: (
        X[np.arange(len(X)) // 20] + 1e-9 * rng.normal(size=X.shape)
    ),
}


@pytest.mark.parametrize("p", [128, 300])
@pytest.mark.parametrize("name", DIRECTIONS)
def test_products_in_single_precision_find_the_same_rows(name, p, rng, monkeypatch):
    """Lists, distances and ties of cosine distances to the last bit, wherever they are used."""
    X = DIRECTIONS[name](rng, rng.normal(size=(700, p)))
    T, Q, used = X[:600], X[550:], []
    narrow = products.Product.narrow

    def noted(self, *args):
        narrow(self, *args)
        used.append(self.columns.dtype)

    cosine = Geometry(False, kernel.COSINE, 2.0)
    for k in (1, 40):
        monkeypatch.setattr(products.Product, "narrow", noted)
        single = nearest(T, Q, cosine, k)
        monkeypatch.setattr(products.Product, "narrow", lambda *args: None)
        double = nearest(T, Q, cosine, k)
        for ours, theirs in zip(single.arrays, double.arrays, strict=True):
            assert np.array_equal(ours, theirs)
    if name in ("numbers", "far from zero", "any length"):
        assert set(used) == {np.dtype(np.float32)}
    if name == "nearly parallel":  # single precision would leave all rows of a half
        assert set(used) == {np.dtype(np.float64)}


def test_a_row_is_no_neighbour_of_itself(rng):
    """own[t] is left out, whatever rows tie with it."""
    T = np.repeat(rng.normal(size=(10, 3)), 2, axis=0)
    near = NeighbourLists.empty(20, 19)
    Search(T, Geometry(False, kernel.EUCLIDEAN, 2.0), 19).fill(T, np.arange(20), near)
    assert (near.reach == -20).all()  # 19 rows, and no more
    for t in range(20):
        assert sorted(near.rows[t]) == [i for i in range(20) if i != t]
        assert near.rows[t, 0] == (t + 1 if t % 2 == 0 else t - 1)
        assert near.distances[t, 0] == 0.0


@pytest.mark.parametrize("metric", range(4))
@pytest.mark.parametrize("p", [1, 7, 8, 24])
@pytest.mark.parametrize("n", [1, 511, 1030])
def test_keys_are_sums_over_columns(metric, p, n, rng):
    """fill_keys adds powers of differences tile by tile, or takes the largest difference."""
    T, Q = rng.normal(size=(n, p)), rng.normal(size=(4, p))
    keys = np.empty((4, n))
    fill_keys(Q, np.ascontiguousarray(T.T), metric, 3.0, keys)
    gaps = np.abs(Q[:, None] - T)
    sums = [gaps**2, gaps, gaps, gaps**3]
    np.testing.assert_allclose(
        keys,
        sums[metric].max(axis=2) if metric == 2 else sums[metric].sum(axis=2),
        rtol=1e-13,
    )


SORTED = {
    "numbers": lambda rng, n: rng.random(n),
    "equal": lambda rng, n: np.ones(n),
    "zeros": lambda rng, n: np.zeros(n),
    "few values": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "crowded": lambda rng, n: np.append(rng.random(n - 1), 1e9),
    "crowded and tied": lambda rng, n: np.append(rng.integers(0, 5, n - 1), 1e9).astype(
        float
    ),
    "powers": lambda rng, n: 10.0 ** rng.uniform(-150, 150, n),
}


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200, 1000])
@pytest.mark.parametrize("name", SORTED)
def test_candidates_are_sorted_stably(name, n, rng):
    """Buckets, and a merge sort if these are crowded, order by (distance, number)."""
    distances = SORTED[name](rng, n)
    order = np.empty(n, dtype=np.int64)
    kernel._sort(
        distances,
        n,
        order,
        np.empty(2 * n + 1, dtype=np.int64),
        np.empty(n, dtype=np.int64),
    )
    assert np.array_equal(order, np.argsort(distances, kind="stable"))
    kernel._merge_sort(distances, n, order)
    assert np.array_equal(order, np.argsort(distances, kind="stable"))


@pytest.mark.parametrize("guess", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("name", SORTED)
def test_a_threshold_leaves_enough_below_it(name, guess, rng):
    """At least the wanted number does not exceed it, for any first guess."""
    sample = SORTED[name](rng, 500)
    for wanted in (1, 7, 250, 499):
        limit = kernel._threshold(sample, 0.0, wanted, guess)
        assert np.count_nonzero(sample <= limit) >= wanted
        if name == "numbers" and guess == 1.0:
            assert np.count_nonzero(sample <= limit) <= 1.1 * wanted + 1


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    p=st.integers(1, 20),
    tied=st.booleans(),
    data=st.data(),
)
def test_candidates_in_leading_columns_hold_every_near_row(seed, n, p, tied, data):
    """All rows up to the last wanted one, those tied with it, and no row nearer than `last` is
    missing; where there is no room, nothing is certain."""
    rng = np.random.default_rng(seed)
    T, Q = rng.normal(size=(n, p)), rng.normal(size=(5, p))
    if tied:
        T, Q = np.round(T) + 0.5, np.round(Q) + 0.5
    length = data.draw(st.integers(1, n))
    room = data.draw(st.integers(length, n))
    counts = np.array(sorted(data.draw(st.sets(st.integers(1, p), min_size=1))))
    found, last = np.empty((counts.size, 5, room), np.int64), np.empty((counts.size, 5))
    leading.candidates(Q, np.ascontiguousarray(T.T), counts, length, found, last)
    for s, count in enumerate(counts):
        for t, x in enumerate(Q):
            d = np.sqrt(((T[:, :count] - x[:count]) ** 2).sum(axis=1))
            within = np.flatnonzero(d <= np.sort(d)[length - 1] * (1 + 1e-12))
            if within.size > room:
                assert last[s, t] == 0.0
                assert (found[s, t] == -1).all()
                continue
            rows = found[s, t][found[s, t] >= 0]
            assert np.array_equal(rows, np.unique(rows))
            assert set(within) <= set(rows)
            assert set(np.flatnonzero(d < last[s, t])) <= set(rows)
            assert last[s, t] > d[within].max()


def test_standardisation_is_that_of_scikit_learn(rng):
    """Means and deviations are scikit-learn's; an almost constant column has scale 1."""
    X = np.column_stack(
        [
            rng.normal(size=30),
            1e6 + rng.normal(size=30),
            np.full(30, 7.1),
            1e-9 * rng.normal(size=30),
        ]
    )
    train, test = np.arange(20)[::-1].copy(), np.arange(20, 30)
    T, Q = np.empty((20, 4)), np.empty((10, 4))
    scaling.standardise(X, train, test, T, Q)
    scaler = StandardScaler().fit(X[train])
    np.testing.assert_allclose(T, scaler.transform(X[train]), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Q, scaler.transform(X[test]), rtol=1e-9, atol=1e-9)
