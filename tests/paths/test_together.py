"""Draws that share their splits: solved together, each equals a run of its own."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvnb import Family, Recipe, ridge
from cvnb.paths.linear.blocked_part import BlockedPart
from cvnb.studies import null_test
from ridge_tables import CASES, X, Y


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
