"""Draws that share their splits: solved together, each equals a run of its own."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import features, numbers
from cvnb import Family, Recipe, ridge
from cvnb.paths.linear.blocked_part import BlockedPart
from cvnb.studies import null_test

X = features(60, 4, 0)
Y = numbers(X, 0)
ALPHAS = [1e-3, 1.0, 100.0]
SCALED = make_pipeline(StandardScaler(), Ridge())

CASES = {
    "ridge": (X, Y, Family(Ridge(), {"alpha": ALPHAS}), {}),
    "scaled": (X, Y, Family(SCALED, {"ridge__alpha": ALPHAS}), {}),
    "no intercept": (X, Y, Family(Ridge(fit_intercept=False), {"alpha": ALPHAS}), {}),
    "both": (X, Y, Family(Ridge(), {"alpha": ALPHAS, "fit_intercept": [True, False]}), {}),
    "absolute": (X, Y, ridge(), {"loss": "absolute"}),
    "weights": (X, Y, ridge(), {"sample_weight": np.linspace(0.0, 2.0, 60)}),
    "one column": (X[:, :1], Y, ridge(), {}),
    "offset": (X + 1e6, Y, ridge(), {}),
    "far targets": (X, Y + 1e6, ridge(scale=False), {}),
    "other units": (X * [1e-6, 1.0, 1e6, 1.0], 1e-8 * Y, ridge(), {}),
    "constant column": (np.column_stack([X, np.full(60, 7.1)]), Y, ridge(), {}),
    "duplicates": (np.repeat(X[:30], 2, axis=0), Y, ridge(), {}),
    "p > n": (features(60, 90, 1), Y, ridge(), {}),
    "groups": (X, Y, ridge(), {"groups": np.arange(60) % 7}),
    "one_se": (X, Y, ridge(), {"select": "one_se"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_shuffles_equal_runs_of_their_own(name):
    """Risks and flat estimates, to 1e-9."""
    A, y, family, options = CASES[name]

    def run(targets):
        return Recipe(4, 3).run(family, A, targets, **options)

    null = null_test(run(y), n=6)
    for rows, risk, flat in zip(null.permutations, null.risks, null.flats, strict=True):
        alone = run(y[rows])
        assert risk == pytest.approx(alone.risk, rel=1e-9)
        assert flat == pytest.approx(alone.flat, rel=1e-9)


def solved_alone(monkeypatch):
    """The parts that are solved for one draw alone, as they are."""
    parts, inside = [], BlockedPart.inside
    monkeypatch.setattr(
        BlockedPart, "inside", lambda self: parts.append(self.j) or inside(self)
    )
    return parts


def test_no_part_is_solved_alone(monkeypatch):
    """But the first draws of a study, which begins with a chunk of one."""
    result = Recipe(4, 3).run(ridge(), X, Y)
    parts = solved_alone(monkeypatch)
    null_test(result, n=40)
    assert len(parts) == 4


def test_what_one_target_is_found_to_be_tells_nothing_of_another(monkeypatch):
    """A target that is met exactly is refitted, those beside it are not."""
    exact = X @ [1.0, 2.0, 3.0, 4.0]
    family = Family(Ridge(), {"alpha": [1e-12, 1e-10]})
    result = Recipe(4, 3).run(family, X, exact)
    assert result.path == "refit"
    random = np.random.default_rng(0)
    given = [random.permutation(60) for _ in range(8)]
    given[5] = np.arange(60)
    parts = solved_alone(monkeypatch)
    null = null_test(result, permutations=given)
    assert null.risks[5] == pytest.approx(result.risk, rel=1e-6, abs=1e-18)
    assert len(parts) == 8  # those of the first chunk, and of the exact target
    for rows, risk in zip(given, null.risks, strict=True):
        if not np.array_equal(rows, np.arange(60)):
            alone = Recipe(4, 3).run(family, X, exact[rows])
            assert risk == pytest.approx(alone.risk, rel=1e-9)
