"""Functions of the user as rules of choice."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import cvnb
from changed_results import with_table
from cvnb import Family, Recipe, knn
from cvnb.errors import CvnbError
from cvnb.inference import compare_rules
from cvnb.results.estimate import record_of
from small_tables import classes


def test_a_rule_cannot_change_the_settings():
    """Estimators among them are copies."""

    def spoils(curve, losses, settings):
        for setting in settings:
            setting["clf"].set_params(C=1e-9)
        return int(np.argmin(curve))

    X, y = classes()
    family = Family(Pipeline([("clf", SVC())]), {"clf": [SVC(C=1.0), SVC(C=10.0)]})
    assert (
        Recipe(3, 3).run(family, X, y, select=spoils).risk
        == Recipe(3, 3).run(family, X, y).risk
    )


def test_a_rule_may_run_cvnb_itself():
    """On the same thread, with a rule of its own."""
    X, y = classes(40)

    def nosy(curve):
        Recipe.internal_cv(2).run(
            knn(k=[1, 3]), X, y, select=lambda inner: 0, path="refit"
        )
        return 0

    assert Recipe(2, 2).run(
        knn(k=[1, 3]), X, y, select=nosy, path="refit"
    ).chosen_index.tolist() == [0, 0]


@pytest.mark.parametrize(
    "rule",
    [lambda: 0, lambda curve, losses, settings, more: 0, lambda curve, *, strict: 0],
)
def test_a_rule_of_another_signature_is_refused_before_any_fit(rule, fits):
    """None, four, or a keyword that nobody gives."""
    with pytest.raises(
        CvnbError, match=r"must be a function of \(curve\), \(curve, losses\) or"
    ):
        Recipe(2, 2).run(knn(k=[1, 3]), *classes(), select=rule)
    assert fits == []


def test_rules_of_one_name_are_all_compared():
    """Two lambdas are two rules."""
    report = compare_rules(
        Recipe(3, 3).run(knn(k=[1, 3, 5]), *classes()),
        [lambda curve: 0, lambda curve: 2],
    )
    assert list(report.rules) == ["<lambda>", "<lambda> 2"]
    assert "<lambda> 2" in repr(report)


def test_a_choice_that_fails_outside_gives_way_in_the_comparison_as_in_the_run():
    """compare_rules has the run's own risk for the run's own rule."""
    result = Recipe(KFold(4), KFold(3)).run(knn(k=[1, 3, 5]), *classes())
    table = record_of(result).table
    outer = table.outer.copy()
    outer[0, table.chosen[0]] = np.nan
    picked = np.arange(3) == table.chosen[0]
    inner = tuple(np.where(picked, 0.0, losses) for losses in table.inner)
    broken = with_table(result, outer=outer, inner=inner)
    report = compare_rules(broken)
    assert np.isfinite(report["min"].risk)


def test_results_with_rules_still_travel():
    """Pickled and back, for rules that can be imported."""
    result = cvnb.nested_cv(knn(k=[1, 3]), *classes(), select=np.argmin)
    assert pickle.loads(pickle.dumps(result)).risk == result.risk
