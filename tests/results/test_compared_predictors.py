"""compare_predictors: the final predictors inside the outer training parts; how="auto"."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.svm import SVC

import naive
from cvnb import Family, Recipe, knn, logistic, ridge
from cvnb.errors import CvnbError
from cvnb.inference import compare_predictors, corrected_t
from small_tables import classes, numbers

ALPHAS, KS = [0.1, 30.0, 1000.0], [1, 4, 9]


def ridge_responses(setting, X_train, y_train, X_test):
    return naive.scaled(naive.ridge)(setting, X_train, y_train, X_test)


def knn_responses(setting, X_train, y_train, X_test):
    return naive.scaled(naive.knn_probabilities)(setting, X_train, y_train, X_test)


WORLDS = {
    "ridge": (
        ridge(alpha=ALPHAS),
        ridge_responses,
        [{"alpha": alpha} for alpha in ALPHAS],
        lambda y, mean: (y - mean) ** 2,
    ),
    "k-NN": (
        knn(k=KS),
        knn_responses,
        [{"n_neighbors": k} for k in KS],
        lambda y, mean: (y != np.argmax(mean, axis=1)).astype(float),
    ),
}


def by_definition(name, X, y, plan):
    """{how: fold losses}, by loops over outer splits, inner splits and settings."""
    _, respond, settings, row_losses = WORLDS[name]

    def loss(models, test):
        mean = sum(respond(s, X[train], y[train], X[test]) for s, train in models)
        return row_losses(y[test], mean / len(models)).mean()

    found = {"retrain": [], "ensemble": [], "own": []}
    for j, (train, test) in enumerate(plan.outer):
        splits = list(plan.inner[j])
        inner = np.array([[loss([(s, a)], b) for s in settings] for a, b in splits])
        kind = "squared" if name == "ridge" else "zero_one"
        best = settings[naive.select(inner.mean(axis=0), kind)]
        own = [settings[naive.select(losses, kind)] for losses in inner]
        found["retrain"].append(loss([(best, train)], test))
        found["ensemble"].append(loss([(best, a) for a, _ in splits], test))
        pairs = [(s, a) for s, (a, _) in zip(own, splits, strict=True)]
        found["own"].append(loss(pairs, test))
    return {how: np.array(losses) for how, losses in found.items()}


def data_of(name, m=60):
    return numbers(m, 3) if name == "ridge" else classes(m, 3)


@pytest.mark.parametrize("name", WORLDS)
def test_each_predictor_is_built_inside_and_measured_outside(name):
    """Equal to loops with models of NumPy; the differences have the corrected t."""
    X, y = data_of(name)
    result = Recipe(4, 3).run(WORLDS[name][0], X, y)
    report = compare_predictors(result, level=0.9)
    expected = by_definition(name, X, y, result.plan)
    assert list(report.predictors) == ["retrain", "ensemble", "own"]
    for how, own in report.predictors.items():
        np.testing.assert_allclose(own.fold_risks, expected[how], rtol=1e-9, atol=1e-12)
        d = expected[how] - expected["retrain"]
        assert own.difference == pytest.approx(d.mean(), abs=1e-12)
        if how == "retrain" or not d.any():
            assert own.p is None
            continue
        t, p = corrected_t(d, 45, 15)
        assert own.p == pytest.approx(p, rel=1e-6)
        half = stats.t.ppf(0.95, 3) * abs(d.mean() / t)
        ends = d.mean() - half, d.mean() + half
        assert (own.low, own.high) == pytest.approx(ends, rel=1e-6)
    risks = {how: losses.mean() for how, losses in expected.items()}
    assert report.better == min(risks, key=risks.get)
    assert np.ptp(list(risks.values())) > 0  # else the cases show nothing


@pytest.mark.parametrize("name", WORLDS)
def test_auto_takes_the_better_one_and_says_so(name):
    """The predictor of the smallest risk, with the sentence of the report; nothing warns."""
    X, y = data_of(name)
    result = Recipe(4, 3).run(WORLDS[name][0], X, y)
    report = compare_predictors(result)
    predictor = result.predictor(how="auto")
    assert predictor.how_ == report.better
    assert predictor.why_ == report.verdict
    assert predictor.why_ in repr(report)
    same = result.predictor(how=report.better)
    assert np.array_equal(predictor.predict(X), same.predict(X))
    assert f"{report.better!r} has the smallest risk on 4 outer test parts" in repr(
        report
    )


def test_the_own_ensemble_has_the_setting_of_every_inner_split():
    """Each inner model of S at the θ of its own smallest loss; predictions averaged."""
    X, _ = numbers(40, 1)
    y = np.random.default_rng(1).normal(size=40) + 0.3 * X[:, 0]
    result = Recipe(4, 3).run(ridge(alpha=ALPHAS), X, y)
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    run = Recipe(None, splits).run(ridge(alpha=ALPHAS), X, y)
    predictions = []
    for train, test in splits:
        losses = [
            np.mean(
                (y[test] - ridge_responses({"alpha": a}, X[train], y[train], X[test]))
                ** 2
            )
            for a in ALPHAS
        ]
        best = {"alpha": ALPHAS[int(np.argmin(losses))]}
        predictions.append(ridge_responses(best, X[train], y[train], X))
    for own in (result, run):
        found = own.predictor(how="own").predict(X)
        np.testing.assert_allclose(found, np.mean(predictions, axis=0), rtol=1e-9)
    assert not np.allclose(found, result.predictor("ensemble").predict(X), rtol=1e-6)


def test_models_are_fitted_once_for_a_result(monkeypatch):
    """The report at another level, and the predictor, use what was measured."""
    X, y = numbers(60, 3)
    result = Recipe(4, 3).run(ridge(alpha=ALPHAS), X, y)
    first = compare_predictors(result)
    monkeypatch.setattr("cvnb.results.candidates.fit_on", no_fit)
    second = compare_predictors(result, level=0.5)
    assert first.better == second.better
    assert second.predictors["ensemble"].high < first.predictors["ensemble"].high


def no_fit(*args):
    raise AssertionError("fitted again")


def test_weights_reach_the_fits_and_the_losses():
    """Equal weights change nothing; others do."""
    X, y = numbers(60, 3)
    plain = compare_predictors(Recipe(4, 3).run(ridge(alpha=ALPHAS), X, y))
    for w, is_same in ((np.full(60, 3.0), True), (1.0 + (np.arange(60) % 4), False)):
        run = Recipe(4, 3).run(
            ridge(alpha=[3 * a for a in ALPHAS]), X, y, sample_weight=w
        )
        found = compare_predictors(run).predictors["ensemble"].fold_risks
        same = np.allclose(found, plain.predictors["ensemble"].fold_risks, rtol=1e-7)
        assert same == is_same


def test_the_log_loss_and_a_score_measure_mean_probabilities():
    """Both need probabilities, which the mean of k-NN models has."""
    X, y = classes(60, 3)
    for options in ({"loss": "log"}, {"scoring": "roc_auc"}):
        result = Recipe(3, 3).run(logistic(C=[0.01, 1.0]), X, y, **options)
        report = compare_predictors(result)
        j, (_, test) = 1, result.plan.outer[1]
        setting = result.chosen[j]
        models = [
            clone(result.predictor())
            .set_params(logisticregression__C=setting["C"])
            .fit(X[train], y[train])
            for train, _ in result.plan.inner[j]
        ]
        p = np.mean([model.predict_proba(X[test])[:, 1] for model in models], axis=0)
        if "loss" in options:
            expected = -np.mean(np.log(np.where(y[test] == 1, p, 1 - p)))
        else:
            above = p[y[test] == 1][:, None] > p[y[test] == 0]
            expected = -above.mean()
        found = report.predictors["ensemble"].fold_risks[j]
        assert found == pytest.approx(expected, rel=1e-6)


X60, Y60 = classes(60, 3)
REFUSED = {
    "nothing outside": (Recipe.internal_cv(3), knn(k=KS), {}, "outer=None measures"),
    "nothing chosen": (
        Recipe.external_cv(3),
        knn(k=3),
        {},
        "there are no inner models",
    ),
    "a score of decisions": (
        Recipe(3, 3),
        Family(RidgeClassifier(), {"alpha": [0.1, 10.0]}),
        {"scoring": "roc_auc"},
        "roc_auc cannot measure the mean of several of these models",
    ),
    "a support vector machine": (
        Recipe(3, 3),
        Family(SVC(), {"C": [0.1, 10.0]}),
        {"scoring": "average_precision"},
        "average_precision cannot measure the mean of several",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_inner_models_to_compare_is_refused(case):
    """By the report and by how="auto" alike, with what to use instead."""
    recipe, family, options, message = REFUSED[case]
    result = recipe.run(family, X60, Y60, **options)
    with pytest.raises(CvnbError, match=message):
        compare_predictors(result)
    with pytest.raises(CvnbError, match="how='retrain'"):
        result.predictor(how="auto")


def test_one_test_part_has_differences_without_a_test():
    """The smaller loss is still the better one; the reason says what is missing."""
    X, y = numbers(60, 3)
    report = compare_predictors(Recipe.cv_test(3).run(ridge(alpha=ALPHAS), X, y))
    own = report.predictors["ensemble"]
    assert own.p is None
    assert own.difference != 0
    assert "one difference has no spread" in repr(report)
