"""The oracle itself, pinned by numbers worked out by hand."""

import numpy as np
import pytest

import naive

X = np.array([[0.0], [1.0], [3.0], [6.0]])
Y = np.array([0.0, 2.0, 4.0, 10.0])


def test_settings_run_through_sorted_keys_with_the_last_key_fastest():
    """A grid is unrolled with its keys sorted and the last key fastest, one dict of a list
    after the other."""
    settings = naive.settings_of([{"b": [1, 2], "a": ["x", "y"]}, {}])
    assert settings == [
        {"a": "x", "b": 1},
        {"a": "x", "b": 2},
        {"a": "y", "b": 1},
        {"a": "y", "b": 2},
        {},
    ]


@pytest.mark.parametrize(
    ("metric", "p", "expected"),
    [
        ("manhattan", 2, 7),
        ("euclidean", 2, 5),
        ("chebyshev", 2, 4),
        ("minkowski", 1, 7),
    ],
)
def test_distances_of_the_3_4_5_triangle(metric, p, expected):
    """Each metric gives its known length between (0, 0) and (3, 4)."""
    assert naive.distances(
        np.array([[0, 0]]), np.array([3, 4]), metric, p
    ) == pytest.approx([expected])


def test_minkowski_of_order_3():
    """The distance of order 3 between (0, 0) and (3, 4) is the cube root of 27 + 64."""
    assert naive.distances(
        np.array([[0, 0]]), np.array([3, 4]), "minkowski", 3
    ) == pytest.approx([91 ** (1 / 3)])


def test_distances_of_unsigned_bytes_do_not_wrap():
    """Differences of uint8 features are signed."""
    assert naive.distances(
        np.array([[0]], np.uint8), np.array([255], np.uint8)
    ) == pytest.approx([255])


def test_uniform_neighbours_are_averaged():
    """Two neighbours of 2 are rows 1 and 3, with mean y 3."""
    assert naive.knn_regressor(
        {"n_neighbors": 2}, X, Y, np.array([[2.0]])
    ) == pytest.approx([3.0])


def test_equal_distances_go_to_the_smaller_row_number():
    """One neighbour of 2, as far from 1 as from 3, is the row that comes first."""
    assert naive.knn_regressor(
        {"n_neighbors": 1}, X, Y, np.array([[2.0]])
    ) == pytest.approx([2.0])


def test_near_neighbours_weigh_more():
    """The weights of 4 are 1 for row 3 at distance 1, and 1/2 for row 6 at distance 2."""
    setting = {"n_neighbors": 2, "weights": "distance"}
    assert naive.knn_regressor(setting, X, Y, np.array([[4.0]])) == pytest.approx(
        [(4 + 10 / 2) / 1.5]
    )


def test_only_rows_at_distance_zero_vote_where_there_are_any():
    """With weights by distance a training row's own copy decides alone."""
    setting = {"n_neighbors": 3, "weights": "distance"}
    assert naive.knn_regressor(setting, X, Y, np.array([[3.0]])) == pytest.approx([4.0])


def test_even_votes_go_to_the_smallest_label():
    """One vote for "b", the nearer, and one for "a" make "a"."""
    labels = np.array(["b", "a", "c", "c"])
    assert naive.knn_classifier(
        {"n_neighbors": 2}, X, labels, np.array([[0.1]])
    ).tolist() == ["a"]


def test_probabilities_are_shares_of_the_votes():
    """Three neighbours, two of them of the second class, give 1/3 and 2/3."""
    shares = naive.knn_probabilities(
        {"n_neighbors": 3}, X, np.array([0, 1, 1, 1]), np.array([[0.1]])
    )
    assert shares == pytest.approx(np.array([[1 / 3, 2 / 3]]))


def test_ridge_of_three_points():
    """On x = -1, 0, 1 and y = 0, 3, 6 with alpha = 1, beta is 6 / (2 + 1) and the intercept
    stays the mean 3."""
    x = np.array([[-1.0], [0.0], [1.0]])
    predictions = naive.ridge(
        {"alpha": 1.0}, x, np.array([0.0, 3.0, 6.0]), np.array([[0.0], [1.0]])
    )
    assert predictions == pytest.approx([3.0, 5.0])


def test_ridge_equals_the_system_with_an_intercept_column():
    """Centring gives the solution of the augmented system whose intercept column is not
    penalised."""
    rng = np.random.RandomState(0)
    A, y, w, B = rng.randn(9, 4), rng.randn(9), rng.rand(9) + 0.1, rng.randn(3, 4)
    root = np.sqrt(w)
    rows = np.vstack(
        [root[:, None] * np.column_stack([np.ones(9), A]), np.sqrt(0.7) * np.eye(5)[1:]]
    )
    beta = np.linalg.lstsq(rows, np.concatenate([root * y, np.zeros(4)]), rcond=None)[0]
    assert naive.ridge({"alpha": 0.7}, A, y, B, w) == pytest.approx(
        np.column_stack([np.ones(3), B]) @ beta, rel=1e-12
    )


def test_a_row_of_weight_two_is_two_rows():
    """Least squares with integer weights equals least squares on repeated rows."""
    repeated = np.array([0, 1, 1, 2, 3, 3, 3])
    weighted = naive.ols({}, X, Y, np.array([[2.0]]), np.array([1.0, 2.0, 1.0, 3.0]))
    assert weighted == pytest.approx(
        naive.ols({}, X[repeated], Y[repeated], np.array([[2.0]])), rel=1e-12
    )


def test_least_squares_line():
    """The line through (0, 1), (1, 3) and (2, 5) is 1 + 2 x."""
    x = np.array([[0.0], [1.0], [2.0]])
    assert naive.ols(
        {}, x, np.array([1.0, 3.0, 5.0]), np.array([[10.0]])
    ) == pytest.approx([21.0])


def test_leave_one_out_residuals_are_those_of_refits():
    """The closed form gives each row's residual under the line of the other rows."""
    refits = [
        Y[i] - naive.ols({}, np.delete(X, i, 0), np.delete(Y, i), X[[i]])[0]
        for i in range(4)
    ]
    assert naive.ols_leave_one_out(X, Y) == pytest.approx(refits, rel=1e-12)


def test_standardisation_uses_the_training_rows_and_leaves_a_constant_column():
    """A column with values 0 and 2 is divided by 1 about 1, one with 0 and 4 by 2 about 2,
    a constant one by 1."""
    seen = []
    naive.scaled(lambda *arguments: seen.append(arguments))(
        {},
        np.array([[0.0, 0.0, 7.0], [2.0, 4.0, 7.0]]),
        None,
        np.array([[3.0, 3.0, 9.0]]),
    )
    assert seen[0][1].tolist() == [[-1, -1, 0], [1, 1, 0]]
    assert seen[0][3].tolist() == [[2, 0.5, 2]]


@pytest.mark.parametrize(
    ("loss", "expected"),
    [("zero_one", [0, 1]), ("squared", [0, 9]), ("absolute", [0, 3])],
)
def test_losses_of_a_hit_and_a_miss_by_three(loss, expected):
    """Each loss of 1 against 1 and of 5 against 2."""
    assert (
        naive.row_losses(loss, np.array([1, 5]), np.array([1, 2])).tolist() == expected
    )


def test_log_loss_is_minus_the_log_of_the_share_of_the_true_class():
    """Shares of 1/4 and of 0, which counts as the smallest step above one."""
    shares = np.array([[0.75, 0.25], [1.0, 0.0]])
    losses = naive.row_losses("log", np.array(["b", "b"]), shares, np.array(["a", "b"]))
    assert losses == pytest.approx([np.log(4), -np.log(np.finfo(float).eps)])


def test_weighted_mean_of_losses():
    """Losses 0 and 3 with weights 1 and 2 have mean 2."""
    assert naive.weighted_mean(np.array([0.0, 3.0]), np.array([1.0, 2.0])) == 2


def test_the_first_of_equal_settings_is_selected():
    """A gap of 1e-13 is rounding and the first setting wins; a gap of 1e-9 is not."""
    assert naive.select([0.3, 0.2 + 1e-13, 0.2], "zero_one") == 1
    assert naive.select([0.3, 0.2 + 1e-9, 0.2], "zero_one") == 2


def test_equality_of_unbounded_losses_is_relative():
    """Tiny squared losses that differ by a factor are not equal, and huge ones that differ
    in the last digit are."""
    assert naive.select([3e-20, 1e-20], "squared") == 1
    assert naive.select([1e20 + 1e5, 1e20], "squared") == 0


def line_splits():
    """Two outer splits of the four rows, each with two inner splits that leave one row out."""
    outer = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    inner = [
        [(np.array([0]), np.array([1])), (np.array([1]), np.array([0]))],
        [(np.array([2]), np.array([3])), (np.array([3]), np.array([2]))],
    ]
    return outer, inner


def shifted_mean(setting, X_train, y_train, X_test, w_train=None):
    """The mean training y plus a constant."""
    return np.full(len(X_test), y_train.mean() + setting["shift"])


def test_the_nested_procedure_by_hand():
    """On y = 0, 2 | 4, 10 the mean plus 0, 3 or 6 has inner losses 4, 13, 40 and 36, 45, 72."""
    outer, inner = line_splits()
    result = naive.nested(
        shifted_mean, [{"shift": b} for b in (6, 0, 3)], X, Y, outer, inner, "squared"
    )
    assert result.inner_curves.tolist() == [[40, 4, 13], [72, 36, 45]]
    assert result.chosen_index.tolist() == [1, 1]
    assert result.outer_curves.tolist() == [[9, 45, 18], [145, 37, 82]]
    assert result.fold_risks.tolist() == [45, 37]
    assert result.risk == 41
    assert result.flat == 41
    assert result.optimism == 0
    assert [list(predicted) for predicted in result.predictions] == [[1, 1], [7, 7]]


def test_the_flat_estimate_of_one_outer_split_is_the_smallest_inner_loss():
    """With one outer split, flat is the minimum of its inner curve, 4, and the optimism is
    45 - 4."""
    outer, inner = line_splits()
    result = naive.nested(
        shifted_mean,
        [{"shift": b} for b in (6, 0, 3)],
        X,
        Y,
        outer[:1],
        inner[:1],
        "squared",
    )
    assert (result.flat, result.optimism) == (4, 41)


def test_weights_enter_fold_losses_and_not_the_means_over_splits():
    """Fold losses of row losses 9, 81 and 49, 25 under weights 3, 1 and 1, 1 are 27 and 37,
    with plain mean 32."""
    outer, _ = line_splits()
    result = naive.nested(
        shifted_mean,
        [{"shift": 0}],
        X,
        Y,
        outer,
        None,
        "squared",
        np.array([1.0, 1.0, 3.0, 1.0]),
    )
    assert result.fold_risks.tolist() == [27, 37]
    assert result.risk == 32


def test_the_development_set_bound_and_its_inverse():
    """2 / 200 ln(2 * 10 / 0.05) is 0.0599146..., and 200 rows are just enough for its root."""
    assert naive.dev_set_bound(200, 10) == pytest.approx(0.24477466)
    assert naive.dev_set_size(0.2447747, 10) == 200
    assert naive.dev_set_size(0.2447746, 10) == 201
    assert naive.dev_set_bound(200, 10, range=3.0) == pytest.approx(3 * 0.24477466)
