"""Every split is checked before the first fit: what cannot work is refused, what only
deserves a look becomes a note."""

import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import cohen_kappa_score, make_scorer, r2_score
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from cvnb import Family, NestedCV, Recipe, knn, lasso, ridge
from cvnb.errors import CvnbWarning, DataError, FitError, InfeasibleError, LossError
from cvnb.families.registry import records
from cvnb.runs.feasibility import NEED_TWO_CLASSES
from stopped import shown_part


def table(rows=30):
    return np.random.default_rng(0).normal(size=(rows, 3))


def response(rows=30):
    return np.random.default_rng(1).normal(size=rows)


def labels(rows=30):
    return np.arange(rows) % 2


def halves(rows=30):
    """One class in the first half of the rows, the other in the second."""
    return np.repeat(["no", "yes"], rows // 2)


def run(family, X, y, recipe, **options):
    return recipe.run(family, X, y, progress="off", **options)


def noted(result, *parts):
    """The notes that hold all of these parts."""
    return [note for note in result.notes if all(part in note for part in parts)]


def test_the_counter_counts(fits):
    """A legal run makes as many fits as there are settings times inner splits, and one in
    each outer split."""
    run(
        Family(Ridge(), {"alpha": [1.0, 2.0, 3.0]}),
        table(),
        response(),
        Recipe(outer=4, inner=2),
        path="refit",
    )
    assert fits == ["Ridge"] * (4 * (2 * 3 + 1))


# Neighbours


@pytest.mark.parametrize(
    ("family", "y", "recipe", "match"),
    [
        (
            knn(k=[1, 40]),
            response(50),
            Recipe(outer=5, inner=4),
            r"k=40 needs 40 training rows, but inner split 0 of outer split 0 has 30; "
            r"lower k or use fewer folds",
        ),
        (
            Family(KNeighborsClassifier(), {"n_neighbors": [1, 40]}),
            labels(50),
            Recipe(outer=KFold(5), inner=KFold(5)),
            r"n_neighbors=40 needs 40 training rows, but inner split 0 of outer split 0 has 32; "
            r"lower n_neighbors",
        ),
        (
            Family(
                make_pipeline(StandardScaler(), KNeighborsRegressor()),
                {"kneighborsregressor__n_neighbors": [3, 40]},
            ),
            response(50),
            Recipe(outer=None, inner=KFold(4)),
            r"n_neighbors=40 needs 40 training rows, but inner split 0 has 37",
        ),
        (
            Family(KNeighborsRegressor(n_neighbors=41)),
            response(50),
            Recipe.external_cv(5),
            r"n_neighbors=41 needs 41 training rows, but outer split 0 has 40",
        ),
        (
            Family(KNeighborsRegressor()),
            response(5),
            Recipe.leave_one_out(),
            r"n_neighbors=5 needs 5 training rows, but outer split 0 has 4",
        ),
        (
            Family(
                KNeighborsRegressor(n_neighbors=9), {"weights": ["uniform", "distance"]}
            ),
            response(20),
            Recipe(
                outer=[(np.arange(16), [16, 17]), (np.arange(8), [18, 19])], inner=2
            ),
            r"n_neighbors=9 needs 9 training rows, but inner split 0 of outer split 1 has 4",
        ),
        (
            Family(
                Pipeline([("model", Ridge())]),
                {"model": [Ridge(), KNeighborsRegressor(n_neighbors=40)]},
            ),
            response(50),
            Recipe(outer=5, inner=4),
            "n_neighbors=40 needs 40 training rows, but inner split 0 of outer split 0 has 30",
        ),
        (
            Family(
                make_pipeline(
                    StandardScaler(),
                    make_pipeline(PCA(), KNeighborsRegressor(n_neighbors=41)),
                )
            ),
            response(50),
            Recipe.external_cv(5),
            "n_neighbors=41 needs 41 training rows, but outer split 0 has 40",
        ),
        (
            knn(k=[20]),
            response(30),
            Recipe(outer=3, inner=None, time_ordered=True, buffer=4),
            r"k=20 needs 20 training rows, but outer split 1 has 12",
        ),
    ],
    ids=[
        "k",
        "inner",
        "inner only",
        "outer only",
        "default k",
        "k outside the grid",
        "model in the grid",
        "nested",
        "buffer",
    ],
)
def test_more_neighbours_than_training_rows_are_refused(fits, family, y, recipe, match):
    """k, the split and its size are named, and nothing is fitted."""
    with pytest.raises(InfeasibleError, match=match):
        run(family, table(y.size), y, recipe)
    assert fits == []


def test_more_neighbours_than_training_rows_in_one_family_refuse_the_comparison(fits):
    """All families are checked before the first of them is fitted."""
    families = {
        "ridge": Family(Ridge()),
        "knn": Family(KNeighborsRegressor(n_neighbors=25)),
    }
    with pytest.raises(
        InfeasibleError,
        match="n_neighbors=25 needs 25 training rows, but outer split 0 has 20",
    ):
        run(families, table(), response(), Recipe.external_cv(3))
    assert fits == []


class Near(KNeighborsRegressor):
    """A kind of neighbours that cannot be recognised by its type."""


def test_more_neighbours_than_training_rows_of_an_unknown_kind_cost_their_setting():
    """Where the estimator itself finds out, the setting drops out with a note that names k
    and the size."""
    result = run(
        Family(Near(), {"n_neighbors": [1, 20]}),
        table(),
        response(),
        Recipe(outer=3, inner=2),
    )
    assert set(result.chosen_index) == {0}
    assert noted(
        result,
        "n_neighbors=20 failed in inner fold 1 of outer fold 1",
        "n_samples_fit = 10",
    )


def test_as_many_neighbours_as_training_rows_are_legal():
    """k may be as large as the smallest training part, and not larger."""
    result = run(knn(k=[1, 30]), table(50), response(50), Recipe(outer=5, inner=4))
    assert result.settings == [{"k": 1}, {"k": 30}]


def test_the_default_grid_of_neighbours_ends_at_the_smallest_training_part():
    """knn() never asks for more neighbours than there are rows, at either level, and never
    for more than 50."""
    for recipe, largest in (
        (Recipe(outer=2, inner=2), 5),
        (Recipe(outer=[(np.arange(9), np.arange(9, 20))], inner=3), 6),
        (Recipe.dev_set(0.4), 12),
        (
            Recipe(
                outer=[(np.arange(70), [70, 71])], inner=[[(np.arange(60), [60, 61])]]
            ),
            50,
        ),
    ):
        rows = 80 if largest == 50 else 20
        result = run(knn(), table(rows), response(rows), recipe)
        assert [setting["k"] for setting in result.settings] == list(
            range(1, largest + 1)
        )


@pytest.mark.parametrize(
    "family",
    [
        ridge(alpha=[0.0, 1.0]),
        Family(Ridge(), {"alpha": [0, 1]}),
        lasso(alpha=[0.5, 1]),
    ],
)
def test_a_penalty_of_zero_is_legal(family):
    """alpha = 0 is in the range of scikit-learn and runs."""
    result = run(family, table(), response(), Recipe(outer=3, inner=2))
    assert np.isfinite(result.risk)


# One class


def estimator_of(kind):
    """An instance; where it wraps another estimator that one takes a single class, so that
    what fails is the wrapper."""
    parameters = inspect.signature(kind.__init__).parameters
    single = {
        name: GaussianNB()
        for name in ("estimator", "final_estimator")
        if name in parameters
    }
    several = (
        {"estimators": [("nb", GaussianNB())]} if "estimators" in parameters else {}
    )
    return kind(**single, **several)


def fits_and_predicts(kind, y):
    X = np.random.default_rng(0).uniform(0.1, 1.0, size=(24, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator_of(kind).fit(X, y).predict(X)
        except Exception:
            return False
    return True


def one_target_classifiers():
    """scikit-learn's classifiers that can be fitted on two classes given as one column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = dict(all_estimators("classifier"))
    return {
        name: kind
        for name, kind in kinds.items()
        if fits_and_predicts(kind, np.arange(24) % 2)
    }


def test_the_list_of_classifiers_that_need_two_classes_is_complete():
    """Of the installed classifiers the listed ones, and no others, refuse to be fitted on
    one class."""
    kinds = one_target_classifiers()
    refusing = {
        name
        for name, kind in kinds.items()
        if not fits_and_predicts(kind, np.ones(24, dtype=int))
    }
    listed = NEED_TWO_CLASSES.union(*(one.two_classes for one in records()))
    assert sorted(refusing - listed) == []
    assert sorted(listed & set(kinds) - refusing) == []


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(3),
        DummyClassifier(),
        GaussianNB(),
        DecisionTreeClassifier(),
    ],
)
def test_a_training_part_of_one_class_is_legal_with_a_note(model):
    """A classifier that can be fitted on one class is, and a note names the splits."""
    result = run(Family(model), table(), halves(), Recipe(outer=KFold(2), inner=None))
    assert result.fold_risks.tolist() == [1.0, 1.0]
    assert noted(result, "One class", "outer split 0, outer split 1")


def test_an_inner_training_part_of_one_class_is_legal_with_a_note():
    """The inner split is named with its outer split."""
    y = np.array(["no"] * 12 + ["yes"] * 8 + ["no", "yes"] * 5)
    recipe = Recipe(
        outer=[(np.arange(20), np.arange(20, 30))],
        inner=[[(np.arange(12), np.arange(12, 20))]],
    )
    result = run(
        Family(KNeighborsClassifier(), {"n_neighbors": [1, 3]}), table(), y, recipe
    )
    assert result.inner_curves.tolist() == [[1.0, 1.0]]
    assert noted(result, "One class", "inner split 0 of outer split 0")


NEED_TWO = {
    "logistic": LogisticRegression(),
    "svc": SVC(),
    "linear svc": LinearSVC(),
    "behind a scaler": make_pipeline(StandardScaler(), LogisticRegression()),
    "pipeline in a pipeline": make_pipeline(
        StandardScaler(), make_pipeline(LogisticRegression())
    ),
    "bagged": BaggingClassifier(LogisticRegression(), n_estimators=2),
    "in a vote": VotingClassifier(
        [("nb", GaussianNB()), ("logistic", LogisticRegression())]
    ),
}


@pytest.mark.parametrize("model", NEED_TWO)
def test_a_training_part_of_one_class_is_refused_for_models_that_need_two(fits, model):
    """The split is named, with what would work, and nothing is fitted."""
    with pytest.raises(
        InfeasibleError,
        match=r"needs two classes.*outer split 0, outer split 1.*one class only",
    ):
        run(
            Family(NEED_TWO[model]),
            table(),
            halves(),
            Recipe(outer=KFold(2), inner=None),
        )
    assert fits == []


def test_an_inner_training_part_of_one_class_is_refused_for_models_that_need_two(fits):
    """The inner split is named with its outer split, and nothing is fitted."""
    y = np.array(["no"] * 12 + ["yes"] * 8 + ["no", "yes"] * 5)
    recipe = Recipe(
        outer=[(np.arange(20), np.arange(20, 30))],
        inner=[[(np.arange(12), np.arange(12, 20))]],
    )
    with pytest.raises(
        InfeasibleError,
        match=r"LogisticRegression needs two classes.*inner split 0 of outer split 0",
    ):
        run(Family(LogisticRegression(), {"C": [0.1, 1.0]}), table(), y, recipe)
    assert fits == []


def test_one_model_of_the_grid_that_needs_two_classes_is_enough_to_refuse(fits):
    """A grid that puts in models is refused where one of them cannot be fitted."""
    family = Family(
        Pipeline([("model", GaussianNB())]),
        {"model": [GaussianNB(), LogisticRegression()]},
    )
    with pytest.raises(InfeasibleError, match="LogisticRegression needs two classes"):
        run(family, table(), halves(), Recipe(outer=KFold(2), inner=KFold(3)))
    assert fits == []


def test_a_wrapper_that_takes_one_class_makes_its_model_legal():
    """One-versus-rest predicts the only class itself, whatever model it wraps."""
    family = Family(OneVsRestClassifier(LogisticRegression()))
    result = run(family, table(), halves(), TWO_FOLDS)
    assert result.risk == 1.0


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), LogisticRegression()])
@pytest.mark.parametrize("label", ["yes", 1, 1.0, True])
def test_a_y_of_one_class_is_refused_by_name(fits, model, label):
    """A risk of 0 would say that something was learned; nothing is fitted."""
    with pytest.raises(
        DataError, match=f"y holds one class, {label!r}, in all 30 rows: nothing can be"
    ):
        run(Family(model), table(), np.full(30, label), Recipe.external_cv(3))
    assert fits == []


@pytest.mark.parametrize(
    "model", [Ridge(), KNeighborsRegressor(), DummyRegressor(), LinearRegression()]
)
def test_a_constant_response_is_legal_with_a_note(model):
    """A constant y is predicted without error, and a note says so."""
    result = run(Family(model), table(), np.full(30, 3.5), Recipe.external_cv(3))
    assert result.risk == pytest.approx(0.0, abs=1e-20)
    assert noted(result, "constant")


def test_a_constant_response_is_legal_at_both_levels():
    """With a grid every setting ties, and the first is taken."""
    result = run(
        Family(Ridge(), {"alpha": [0.1, 1.0]}),
        table(),
        np.full(30, 0.0),
        Recipe(outer=3, inner=2),
    )
    assert result.chosen_index.tolist() == [0, 0, 0]


def test_a_class_of_one_row_gets_one_warning():
    """The warning names class, size and splits, and is one of the notes."""
    y = np.array(["rare", *["a", "b"] * 14, "b"])
    with pytest.warns(
        CvnbWarning, match=r"Class 'rare' has 1 row, fewer than the 3 outer folds"
    ) as caught:
        result = run(
            Family(GaussianNB(var_smoothing=1.0)), table(), y, Recipe.external_cv(3)
        )
    assert len(caught) == 1
    assert noted(result, "Class 'rare' has 1 row")


# Metrics on parts


ROWS, TWO_FOLDS, THREE_FOLDS = (
    Recipe.leave_one_out(),
    Recipe(outer=KFold(2), inner=None),
    Recipe(outer=KFold(3), inner=None),
)
CONSTANT_PART = np.r_[np.zeros(10), response(20)]
MISSING_CLASS = np.r_[np.arange(20) % 3, np.arange(10) % 2]
R2, KAPPA = make_scorer(r2_score), make_scorer(cohen_kappa_score)
UNDEFINED = {
    "r2 on one row": ("r2", response(), ROWS, "one row"),
    "explained variance on one row": (
        "explained_variance",
        response(),
        ROWS,
        "one row",
    ),
    "r2 made by hand on one row": (R2, response(), ROWS, "one row"),
    "r2 on a constant part": ("r2", CONSTANT_PART, THREE_FOLDS, "one value of y"),
    "r2 on a constant y": (
        "r2",
        np.full(30, 2.0),
        Recipe.external_cv(3),
        "one value of y",
    ),
    "auc on one row": ("roc_auc", labels(), ROWS, "one class|one row"),
    "auc on one class": ("roc_auc", halves(), TWO_FOLDS, "one class"),
    "average precision on one class": (
        "average_precision",
        labels(),
        ROWS,
        "one class|one row",
    ),
    "auc with a class missing": ("roc_auc_ovr", MISSING_CLASS, THREE_FOLDS, "class"),
    "f1 on one row": ("f1", labels(), ROWS, "one row"),
    "macro f1 on one row": ("f1_macro", labels(), ROWS, "one row"),
    "balanced accuracy on one row": ("balanced_accuracy", labels(), ROWS, "one row"),
    "recall on one row": ("recall", labels(), ROWS, "one row"),
    "correlation on one class": ("matthews_corrcoef", halves(), TWO_FOLDS, "one class"),
    "kappa made by hand": (KAPPA, halves(), TWO_FOLDS, "one class"),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_a_metric_that_is_undefined_on_a_test_part_is_refused(fits, case):
    """The metric, the first splits and the reason are named, with what to use instead;
    nothing is fitted."""
    scoring, y, recipe, why = UNDEFINED[case]
    model = DummyRegressor() if y.dtype.kind == "f" else GaussianNB()
    with pytest.raises(
        InfeasibleError,
        match=rf"(?s)not defined on the test part of outer split \d.*{why}.*use larger",
    ):
        run(Family(model), table(), y, recipe, scoring=scoring)
    assert fits == []


def test_a_metric_about_a_class_that_is_none_of_y_says_which_are(fits):
    """Larger test parts would not help."""
    with pytest.raises(
        LossError,
        match=r"f1 is about the class 1, but y holds 'a', 'b'; use "
        r"make_scorer\(f1_score, pos_label='b'\)",
    ):
        run(
            Family(GaussianNB()),
            table(),
            np.array(["a", "b"])[labels()],
            Recipe(outer=3, inner=None),
            scoring="f1",
        )
    assert fits == []


@pytest.mark.parametrize(("scoring", "y"), [("r2", response()), ("roc_auc", labels())])
def test_a_metric_that_is_undefined_on_an_inner_test_part_is_refused(fits, scoring, y):
    """The inner split is named with its outer split, and nothing is fitted."""
    family = Family(
        KNeighborsRegressor() if scoring == "r2" else KNeighborsClassifier(),
        {"n_neighbors": [1, 3]},
    )
    with pytest.raises(
        InfeasibleError,
        match=rf"{scoring} is not defined on the test part of inner split 0 of outer split 0",
    ):
        run(family, table(), y, Recipe(outer=3, inner="loo"), scoring=scoring)
    assert fits == []


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        ("squared", response()),
        ("absolute", response()),
        ("zero_one", labels()),
        ("log", labels()),
    ],
)
def test_a_loss_of_rows_is_defined_on_single_rows(loss, y):
    """What the messages advise works: a loss with a value for every row, on leave-one-out."""
    model = (
        DummyRegressor() if y.dtype.kind == "f" else DummyClassifier(strategy="prior")
    )
    assert np.isfinite(
        run(Family(model), table(), y, Recipe.leave_one_out(), loss=loss).risk
    )


# Parts without rows


@pytest.mark.parametrize(
    ("recipe", "match"),
    [
        (
            Recipe(outer=3, inner=2, time_ordered=True, buffer=20),
            r"(?s)outer (split|training part) 0.*buffer",
        ),
        (
            Recipe(outer=2, inner=2, time_ordered=True, buffer=9),
            r"inner split 0 of outer split 0.*empty part.*buffer",
        ),
        (
            Recipe(outer=0.5, inner=2, time_ordered=True, buffer=15),
            "buffer 15: no row is left to train on",
        ),
        (
            Recipe(outer=None, inner=0.5, time_ordered=True, buffer=15),
            "buffer 15: no row is left to train on",
        ),
        (Recipe(outer=0.99, inner=None), "empty part"),
        (Recipe(outer=None, inner=0.99), "empty part"),
        (
            Recipe(test_rows=np.arange(30), inner=2),
            "test_rows|outer (split|training part) 0",
        ),
        (Recipe(dev_rows=np.arange(30), outer=None), "empty|no row"),
        (
            Recipe(test_rows=np.arange(29), inner=2),
            "test_rows|outer (split|training part) 0",
        ),
    ],
    ids=[
        "outer blocks",
        "inner blocks",
        "outer holdout",
        "inner holdout",
        "large share",
        "large inner share",
        "all test rows",
        "all dev rows",
        "one row left",
    ],
)
def test_a_part_without_rows_is_refused(fits, recipe, match):
    """A buffer or a share that leaves nothing to train on is refused with its split, and
    nothing is fitted."""
    family = Family(Ridge(), {} if recipe.inner is None else {"alpha": [1.0, 2.0]})
    with pytest.raises(InfeasibleError, match=match):
        run(family, table(), response(), recipe)
    assert fits == []


# Settings that fail


class Moody(RegressorMixin, BaseEstimator):
    """Predicts a constant, and fails on demand."""

    def __init__(self, level=0.0, fails="never", warns=False):
        self.level = level
        self.fails = fails
        self.warns = warns

    def fit(self, X, y, sample_weight=None):
        if self.warns:
            warnings.warn("this fit is shaky", ConvergenceWarning, stacklevel=1)
        if self.fails == "fit":
            raise ZeroDivisionError(f"no fit at level {self.level}")
        if self.fails == "large parts" and len(X) > 15:
            raise MemoryError("too many rows")
        if self.fails == "one part" and not (X[:, 0] == 4.0).any():
            raise ArithmeticError("row 4 is missing")
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        if self.fails == "predict":
            raise LookupError("no prediction")
        prediction = np.full(len(X), float(self.level))
        if self.fails == "shape":
            return prediction[:, None]
        if self.fails == "length":
            return prediction[:-1]
        if self.fails == "single":
            return prediction[:1]
        if self.fails == "scalar":
            return self.level
        if self.fails == "nan":
            prediction[0] = np.nan
        if self.fails == "overflow":
            prediction[:] = 1e200
        return prediction


def numbered(rows=30):
    """Every row holds its number."""
    return np.column_stack([np.arange(float(rows)), np.ones(rows)])


def moody(*settings):
    """A family with one setting for each dict."""
    return Family(
        Moody(),
        [{key: [value] for key, value in setting.items()} for setting in settings],
    )


FAILURES = {
    "fit": ("ZeroDivisionError", "no fit at level"),
    "predict": ("LookupError", "no prediction"),
    "shape": ("", ""),
    "length": ("", ""),
    "single": ("", ""),
    "scalar": ("", ""),
    "nan": ("", "nan"),
    "overflow": ("", "inf"),
}


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("way", FAILURES)
def test_all_settings_failing_is_one_error(way):
    """When nothing is left to choose from, one error says so, with the exception."""
    kind, cause = FAILURES[way]
    with pytest.raises(
        FitError, match=rf"every setting failed in inner fold 1 of .*{kind}.*{cause}"
    ):
        run(
            moody({"fails": way}, {"fails": way, "level": 1.0}),
            numbered(),
            response(),
            Recipe(outer=3, inner=2),
        )


def test_the_causes_of_a_total_failure_are_not_repeated():
    """Equal causes are listed once with their count, different ones separately."""
    settings = [{"fails": "predict", "level": float(level)} for level in range(4)] + [
        {"fails": "fit", "level": 9.0}
    ]
    with pytest.raises(FitError, match="every setting failed") as caught:
        run(moody(*settings), numbered(), response(), Recipe(outer=3, inner=2))
    text = str(caught.value)
    assert re.findall(r"(\d+) × ([^;]*)", text) == [
        ("4", "LookupError: no prediction"),
        ("1", "ZeroDivisionError: no fit at level 9.0."),
    ]


@pytest.mark.parametrize(
    "recipe", [Recipe.external_cv(3), Recipe.leave_one_out(), Recipe.internal_cv(3)]
)
def test_the_failure_of_a_single_setting_is_one_error(recipe):
    """One setting and no choice: its failure is the error."""
    with pytest.raises(FitError, match="ZeroDivisionError: no fit at level"):
        run(moody({"fails": "fit"}), numbered(), response(), recipe)


def test_a_failing_setting_costs_itself_a_note():
    """One note names the setting, the first split, the count and the exception."""
    family = moody({"level": 0.0}, {"level": 5.0, "fails": "fit"}, {"level": 1.0})
    result = run(family, numbered(), response(), Recipe(outer=3, inner=2))
    found = noted(result, "fails='fit', level=5 failed in inner fold 1 of outer fold 1")
    assert len(found) == 1
    assert "and 5 more folds" in found[0]
    assert "ZeroDivisionError: no fit at level 5.0" in found[0]


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("way", FAILURES)
@pytest.mark.parametrize("flat", [False, True])
def test_a_failing_setting_changes_nothing_else(way, flat):
    """Choices, curves, risks and predictions are those of the grid without it."""
    good = [{"level": -1.0}, {"level": 0.1}, {"level": 2.0}]
    recipe = Recipe(outer=3, inner=2)
    expected = run(moody(*good), numbered(), response(), recipe, flat=flat)
    result = run(
        moody(good[0], {"level": 0.05, "fails": way}, *good[1:]),
        numbered(),
        response(),
        recipe,
        flat=flat,
    )
    assert result.chosen == expected.chosen
    np.testing.assert_array_equal(
        result.inner_curves[:, [0, 2, 3]], expected.inner_curves
    )
    assert np.isnan(result.inner_curves[:, 1]).all()
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)
    np.testing.assert_array_equal(result.predictions, expected.predictions)
    assert result.flat == expected.flat
    assert len(noted(result, "failed in")) == 1


def test_a_setting_that_fails_in_one_inner_split_is_out_of_that_choice():
    """A mean over fewer inner splits is no fair competitor: the setting drops out there,
    and only there."""
    y = np.full(30, 1.0)
    family = moody(
        {"level": 0.0}, {"level": 1.0, "fails": "one part"}
    )  # the second is perfect where it runs
    result = run(family, numbered(), y, Recipe(outer=KFold(3), inner=KFold(2)))
    # row 4 is tested in outer split 0; in splits 1 and 2 one inner training part lacks it
    assert result.chosen_index.tolist() == [0, 0, 0]
    assert np.isnan(result.inner_curves[:, 1]).all()
    assert len(noted(result, "row 4 is missing", "failed in")) == 1


def test_a_choice_that_fails_on_the_outer_part_gives_way_to_the_next_best():
    """The best setting cannot be fitted on all of the outer training part: the second best
    is measured, with a note."""
    y = np.full(30, 1.0)
    family = moody(
        {"level": 0.0}, {"level": 1.0, "fails": "large parts"}, {"level": 0.9}
    )
    result = run(family, numbered(), y, Recipe(outer=3, inner=2))
    assert result.chosen_index.tolist() == [2, 2, 2]
    np.testing.assert_allclose(result.fold_risks, 0.1**2)
    np.testing.assert_allclose(result.inner_curves[:, 1], 0.0)
    assert noted(
        result,
        "level=1 failed in outer fold 1 and 2 more folds",
        "MemoryError: too many rows",
    )


def test_every_choice_failing_on_the_outer_part_is_one_error():
    """Where no setting can be fitted on the outer training part, that split cannot be measured."""
    family = moody(
        {"level": 1.0, "fails": "large parts"}, {"level": 0.0, "fails": "large parts"}
    )
    with pytest.raises(
        FitError,
        match=r"every setting failed in outer fold 1, .*: MemoryError: too many rows",
    ):
        run(family, numbered(), np.full(30, 1.0), Recipe(outer=3, inner=2))


def test_a_failing_setting_is_never_the_final_one():
    """The final choice on all rows leaves out what failed."""
    family = moody({"level": 1.0, "fails": "fit"}, {"level": 0.5})
    result = run(family, numbered(), np.full(30, 1.0), Recipe(outer=3, inner=2))
    assert result.final_setting == {"level": 0.5}
    assert result.predictor().level == 0.5


def test_a_setting_that_needs_data_to_be_wrong_costs_only_itself():
    """More components or columns than there are cannot be known without the data: that
    setting drops out with a note."""
    model, recipe = make_pipeline(PCA(), Ridge()), Recipe(outer=3, inner=2)
    result = run(
        Family(model, {"pca__n_components": [1, 2, 99]}), table(), response(), recipe
    )
    expected = run(
        Family(model, {"pca__n_components": [1, 2]}), table(), response(), recipe
    )
    assert result.path == expected.path == "path:ridge"
    assert result.chosen == expected.chosen
    np.testing.assert_array_equal(result.inner_curves[:, :2], expected.inner_curves)
    assert noted(
        result,
        "n_components=99 failed in inner fold 1 of outer fold 1 and 8 more folds",
        "n_components=99",
    )


def test_failures_are_noted_whatever_the_number_of_workers():
    """The notes and numbers of two workers are those of one."""
    family, recipe = (
        Family(make_pipeline(PCA(), Ridge()), {"pca__n_components": [1, 2, 99]}),
        Recipe(outer=3, inner=2),
    )
    one, two = (run(family, table(), response(), recipe, n_jobs=n) for n in (1, 2))
    assert one.notes == two.notes
    np.testing.assert_array_equal(one.inner_curves, two.inner_curves)


def test_a_transformer_that_fails_costs_its_own_settings():
    """All settings that share the failing step drop out with one note each, the others keep
    their numbers."""
    model = Pipeline([("first", StandardScaler()), ("model", Ridge())])
    grid = {"first": ["passthrough", Broken()], "model__alpha": [0.1, 1.0]}
    result = run(Family(model, grid), table(), response(), Recipe(outer=3, inner=2))
    expected = run(
        Family(Ridge(), {"alpha": [0.1, 1.0]}),
        table(),
        response(),
        Recipe(outer=3, inner=2),
    )
    np.testing.assert_allclose(
        result.inner_curves[:, :2], expected.inner_curves, rtol=1e-12
    )
    assert np.isnan(result.inner_curves[:, 2:]).all()
    assert len(noted(result, "failed in", "RuntimeError: broken")) == 2


class Broken(BaseEstimator):
    """A transformer that cannot be fitted."""

    def fit(self, X, y=None):
        raise RuntimeError("broken")

    def transform(self, X):
        return X


def test_an_interrupt_is_no_failure_of_a_setting():
    """Ctrl-C during a fit stops the run; it is never noted as a failing setting."""

    class Stopped(Moody):
        def fit(self, X, y):
            raise KeyboardInterrupt

    result = shown_part(
        Recipe(outer=3, inner=2),
        Family(Stopped(), {"level": [0.0, 1.0]}),
        numbered(),
        response(),
    )
    assert result.complete is False
    assert not any("failed" in note for note in result.notes)


# Warnings


def test_equal_warnings_stand_once_with_a_count():
    """A warning of every fit becomes one note with the number of fits, and is not shown as well."""
    result = run(
        moody({"warns": True}, {"level": 1.0}),
        numbered(),
        response(),
        Recipe.internal_cv(4),
    )
    assert noted(result, "this fit is shaky") == [
        "ConvergenceWarning: this fit is shaky (4 times)"
    ]


def test_warnings_of_all_levels_are_counted_together():
    """Inner and outer fits that warn alike add up."""
    family = moody({"warns": True}, {"warns": True, "level": 9.0})
    result = run(family, numbered(), response(), Recipe(outer=3, inner=2))
    assert noted(result, "this fit is shaky") == [
        f"ConvergenceWarning: this fit is shaky ({3 * (2 * 2 + 1)} times)"
    ]


def test_warnings_are_counted_whatever_the_number_of_workers():
    """The notes of two workers are those of one."""
    family = Family(Lasso(max_iter=1, tol=1e-12), {"alpha": [1e-3, 1e-4]})
    X, y = np.random.default_rng(5).normal(size=(30, 5)), response()
    one, two = (run(family, X, y, Recipe(outer=3, inner=2), n_jobs=n) for n in (1, 2))
    assert one.notes == two.notes
    assert noted(one, "ConvergenceWarning")


def test_a_warning_given_once_has_no_count():
    """One fit, one warning, no number behind it."""
    result = run(moody({"warns": True}), numbered(), response(), Recipe.validation())
    assert noted(result, "this fit is shaky") == [
        "ConvergenceWarning: this fit is shaky"
    ]


def test_an_estimator_that_warns_does_not_warn_again_when_it_is_retrained():
    """The final predictor is trained without repeating what the notes say already."""
    result = run(moody({"warns": True}), numbered(), response(), Recipe.external_cv(3))
    assert result.predictor().predict(numbered()).tolist() == [0.0] * 30


# Through scikit-learn's front door


def test_the_front_door_refuses_before_it_fits(fits):
    """NestedCV walks the splits too."""
    model = NestedCV(KNeighborsClassifier(), {"n_neighbors": [1, 40]}, outer=5, inner=4)
    with pytest.raises(InfeasibleError, match="n_neighbors=40 needs 40 training rows"):
        model.fit(table(50), labels(50))
    assert fits == []


class Any(ClassifierMixin, BaseEstimator):
    """A classifier of the user's with no more than it needs."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_a_users_estimator_is_never_refused_by_its_name():
    """A class of the same name as scikit-learn's may do what it likes on one class."""
    kind = type("LogisticRegression", (Any,), {})
    result = run(Family(clone(kind())), table(), halves(), TWO_FOLDS)
    assert result.risk == 1.0
