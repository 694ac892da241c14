"""The form of RecipeBuilder: rows of settings, what its lists offer, where errors are, Keep."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest, RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn
from cvnb.errors import FamilyError
from cvnb.widgets import RecipeBuilder
from cvnb.widgets.fields import FIELDS
from cvnb.widgets.offered_scores import scores_for
from cvnb.widgets.setting_rows import Row, parameters_of, rows_of, text_of
from iris import X, y
from slow import Slow

PIPE = make_pipeline(StandardScaler(), SVC())
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    patient=np.arange(150) // 5, outcome=y
)


@pytest.fixture
def names():
    """A notebook with models, and with what is none."""
    models = {"pipe": PIPE, "model": SVC(), "slow": Slow(), "family": knn(k=[1, 2])}
    others = {
        "scaler": StandardScaler(),
        "pca": make_pipeline(PCA()),
        "means": KMeans(),
    }
    others |= {"odd": IsolationForest(), "best": SelectKBest(), "number": 5, "SVC": SVC}
    search = GridSearchCV(SVC(), {"C": [1, 10]})
    return {"X": X, "y": y, "search": search, "ks": [1, 5], **models, **others}


def shown(builder):
    """The result once everything is done."""
    assert builder.wait(60)
    return builder.result


def offered(builder, name):
    return [value for value, _ in builder._form.choices[name]]


def said(builder):
    """The message of the form, and the field it is at."""
    assert builder.wait(60)
    assert builder.error == builder._form.error
    return builder._form.error, builder._form.error_at


# Rows of settings


@pytest.mark.parametrize(
    ("text", "is_call", "rows"),
    [
        ("", True, []),
        ("k=range(1, 31)", True, [("k", "whole", ("1", "30", "1"))]),
        ("k=range(1, 31, 2)", True, [("k", "whole", ("1", "30", "2"))]),
        ("k=range(5)", True, [("k", "whole", ("0", "4", "1"))]),
        (
            "k=[1, 5], scale=False",
            True,
            [("k", "list", ("1, 5",)), ("scale", "value", ("False",))],
        ),
        ("k=ks", True, [("k", "list", ("ks",))]),
        ("{'C': [1e-3, 10**2]}", False, [("C", "list", ("1e-3, 10**2",))]),
        (
            "{'C': np.geomspace(0.1, 10, 3), 'tol': np.linspace(0, 1, 5)}",
            False,
            [("C", "log", ("0.1", "10", "3")), ("tol", "even", ("0", "1", "5"))],
        ),
        (
            "{'C': np.logspace(-1, 1, 3)}",
            False,
            [("C", "list", ("np.logspace(-1, 1, 3)",))],
        ),
        ("{'s': [scaler]}", False, [("s", "list", ("[scaler]",))]),
        (
            "{'s': [scaler, 'passthrough']}",
            False,
            [("s", "list", ("scaler, 'passthrough'",))],
        ),
    ],
)
def test_rows_are_the_text_and_back(text, is_call, rows):
    """Each form of a text has its rows, and the rows make the same text."""
    found = rows_of(text, is_call)
    assert found == [Row(*row) for row in rows]
    assert rows_of(text_of(found, is_call, {}), is_call) == found


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ("grids", False),
        ("[{'C': [1]}, {'C': [2]}]", False),
        ("{'C': [1], 'C': [2]}", False),
        ("{1: [2]}", False),
        ("{**grid}", False),
        ("1, 2", True),
        ("**options", True),
        ("k=range(1,", True),
        ("k=[1]) or f(k=[2]", True),
    ],
)
def test_a_text_of_another_form_has_no_rows(text, is_call):
    """A name, several grids, a syntax error."""
    assert rows_of(text, is_call) is None


@pytest.mark.parametrize(
    "piece", ["1], 'x': [2", "1] #", "'rb", "1]+[2", "1)]", "[" * 40, "1\n], [2"]
)
def test_a_field_holds_values_and_nothing_else(piece):
    """No text of one row makes another row of the grid."""
    with pytest.raises(FamilyError):
        text_of([Row("C", "list", (piece,))], False, {})


def test_the_steps_of_a_row_are_numbers():
    """From, to and how many; whole numbers have both ends."""
    assert text_of([Row("C", "log", ("1e-3", "10", "5"))], False, {}) == (
        "{'C': np.geomspace(1e-3, 10, 5)}"
    )
    assert (
        text_of([Row("k", "whole", ("1", "9", "2"))], True, {}) == "k=range(1, 10, 2)"
    )
    with pytest.raises(FamilyError, match="C has 'x' as its 'from'; type a number"):
        text_of([Row("C", "log", ("x", "10", "5"))], False, {})
    with pytest.raises(FamilyError, match="type whole numbers"):
        text_of([Row("k", "whole", ("1.5", "9", "2"))], True, {})
    for hostile in ("open('x')", "1, 2", "ks", "", "(1)(2)"):
        with pytest.raises(FamilyError):
            text_of([Row("C", "even", (hostile, "10", "5"))], False, {})


def test_every_proposal_can_be_run():
    """The first row of each parameter is a grid that its model accepts."""
    for estimator in (PIPE, SVC(), RandomForestRegressor()):
        for parameter in parameters_of(estimator):
            text = text_of([parameter.proposal()], False, {})
            rows = rows_of(text, False)
            assert [row.parameter for row in rows] == [parameter.name], text


def test_a_pipeline_is_tuned_by_mouse_alone(builder):
    """A model, a setting of its list, Run: no key is pressed."""
    form = builder._form
    form.enter(family_name="pipe")
    assert offered(builder, "settings")[:2] == ["", "svc__C"]
    assert "standardscaler__with_mean" in offered(builder, "settings")
    assert not {"steps", "memory", "svc", "svc__verbose"} & set(
        offered(builder, "settings")
    )
    form.enter(settings=[["svc__C", "", []]])
    assert form.values["settings"] == [["svc__C", "log", ["0.001", "1000", "7"]]]
    assert builder.grid == "{'svc__C': np.geomspace(0.001, 1000, 7)}"
    assert shown(builder) is None
    assert "Run 180 fits · " in form.actions[0][1]
    builder._clicked(None, {"action": "run"}, None)
    grid = {"svc__C": np.geomspace(0.001, 1000, 7)}
    expected = Recipe(5, 5).run(Family(PIPE, grid), X, y, progress="off")
    np.testing.assert_array_equal(shown(builder).fold_risks, expected.fold_risks)


def test_rows_are_added_changed_and_removed(builder):
    """Two settings with words that need no quotes; another kind keeps the numbers."""
    form = builder._form
    form.enter(family_name="pipe", settings=[["svc__C", "list", ["0.1, 10"]]])
    row = ["svc__C", "list", ["0.1, 10"]]
    form.enter(settings=[row, ["svc__kernel", "list", ["rbf, linear"]]])
    assert builder.grid == "{'svc__C': [0.1, 10], 'svc__kernel': ['rbf', 'linear']}"
    form.enter(settings=[["svc__C", "log", []]])
    assert form.values["settings"] == [["svc__C", "log", ["0.1", "10", "5"]]]
    form.enter(settings=[["svc__C", "list", []]])
    assert builder.grid == "{'svc__C': [0.1, 0.316228, 1.0, 3.16228, 10.0]}"
    form.enter(settings=[])
    assert builder.grid == ""
    assert shown(builder) is None
    assert builder.family.settings == [{}]


def test_rows_of_a_short_hand_are_its_keywords(builder):
    """Its axis with the values that it has by default; its options one value each."""
    form = builder._form
    assert offered(builder, "settings")[:3] == ["", "k", "scale"]
    form.enter(settings=[["k", "", []], ["scale", "", []]])
    assert builder.grid == "k=range(1, 51), scale=False"
    assert len(shown(builder).settings) == 50
    form.enter(family_name="ridge", grid="")
    form.enter(settings=[["alpha", "", []]])
    assert form.values["settings"] == [["alpha", "log", ["1e-06", "1000000", "25"]]]
    assert len(shown(builder).settings) == 25


def test_rows_follow_the_text_and_the_traits(builder):
    """A typed grid is shown as rows, what has no rows as text alone."""
    builder.grid = "k=[1, 5]"
    assert builder._form.values["settings"] == [["k", "list", ["1, 5"]]]
    builder.family = Family(
        builder._writer.namespace["model"], {"C": [1, 2]}, name="model"
    )
    assert builder._form.values["settings"] == [["C", "list", ["1, 2"]]]
    builder.grid = "[{'C': [1]}, {'C': [2]}]"
    assert builder._form.values["settings"] is None
    builder.family_name = "search"
    assert {"settings", "grid"} <= set(builder._form.disabled)


def test_what_is_wrong_in_a_row_is_said_there_and_stays_as_typed(builder):
    """The text of the grid is not touched; the next entry works."""
    form = builder._form
    form.enter(family_name="pipe", settings=[["svc__C", "list", ["1, 10"]]])
    wrong = [["svc__C", "list", ["1, 'x"]]]
    form.enter(settings=wrong)
    words, at = said(builder)
    assert ("unterminated" in words, at) == (True, "settings")
    assert form.values["settings"] == wrong
    assert builder.grid == "{'svc__C': [1, 10]}"
    assert form.codes == {}
    form.enter(settings=[["svc__C", "list", ["1, nobody"]]])
    assert "the notebook does not have" in said(builder)[0]
    assert said(builder)[1] == "settings"
    form.enter(settings=[["svc__C", "list", ["ks"]]])
    assert said(builder) == ("", "")
    assert builder.family.settings == [{"svc__C": 1}, {"svc__C": 5}]


@pytest.mark.parametrize(
    "entered",
    [
        5,
        "svc__C",
        [["svc__C"]],
        [["svc__C", "list", "1"]],
        [["svc__C", "list", [1]]],
        [["nobody", "list", ["1"]]],
        [["__class__", "", []]],
        [["svc__C", "call", ["1"]]],
        [["svc__C", "value", ["1"]]],
        [["svc__C", "", []], ["svc__C", "", []]],
        [["svc__C", "list", ["open('pwned', 'w')"]]],
        [["svc__C", "list", ["__import__"]]],
        [["svc__C", "log", ["1", "2", "10**9"]]],
        [["svc__C", "even", ["1", "2", "1000000000"]]],
        [["svc__C", "list", ["1, " * 60_000]]],
        [["svc__C", "list", ["1"]]] * 60,
    ],
    ids=lambda entered: str(entered)[:40],
)
def test_rows_that_are_not_offered_are_refused(builder, entered, tmp_path, monkeypatch):
    """Whatever the browser sends: a message, no file, no code, and the next entry works."""
    monkeypatch.chdir(tmp_path)
    builder._form.enter(family_name="pipe")
    builder._form.enter(settings=entered)
    words, at = said(builder)
    assert words
    assert len(words) < 700
    assert at == "settings"
    assert builder._form.codes == {}
    assert builder.result is None
    assert list(tmp_path.iterdir()) == []
    builder._form.enter(settings=[["svc__C", "list", ["1, 2"]]])
    assert said(builder) == ("", "")


# What the lists offer


def test_models_alone_are_offered(builder):
    """No transformer, no clustering, no class, no number; short-hands that suit the targets."""
    models = offered(builder, "family_name")
    assert {"knn", "logistic", "pipe", "model", "search", "family", "slow"} <= set(
        models
    )
    assert not {"scaler", "pca", "means", "odd", "best", "number", "SVC"} & set(models)


def test_a_regression_is_offered_no_classifier(names):
    """Neither models nor scores of classes."""
    rows, target = load_diabetes(return_X_y=True)
    space = names | {"rows": rows, "target": target, "trees": RandomForestRegressor()}
    builder = RecipeBuilder(rows, target, namespace=space)
    assert builder.wait(60)
    models = offered(builder, "family_name")
    assert {"ridge", "lasso", "trees"} <= set(models)
    assert not {"logistic", "pipe", "model", "slow"} & set(models)
    assert {"auto", "r2", "absolute"} <= set(offered(builder, "loss"))
    assert not {"accuracy", "f1", "roc_auc", "log"} & set(offered(builder, "loss"))
    builder.close()


def test_the_scores_fit_the_classes(builder):
    """Three classes: no F1 and no AUC of two; two classes of words: none of a class 1."""
    three = offered(builder, "loss")
    assert {"auto", "f1_macro", "roc_auc_ovr", "balanced_accuracy", "log"} <= set(three)
    assert not {"f1", "roc_auc", "r2", "rand_score", "f1_samples"} & set(three)
    rows, target = load_breast_cancer(return_X_y=True)
    data = RecipeBuilder(rows, target, namespace={})
    assert data.wait(60)
    assert {"f1", "roc_auc"} <= set(offered(data, "loss"))
    words = RecipeBuilder(rows, np.where(target, "ill", "well"), namespace={})
    assert words.wait(60)
    assert "roc_auc" in offered(words, "loss")
    assert "f1" not in offered(words, "loss")
    data.close()
    words.close()


def test_every_score_that_is_offered_can_be_run(builder):
    """On the rows that it was offered for."""
    builder.grid = "k=[1, 5]"
    for name, _ in scores_for(builder._data, "classification"):
        builder.loss = name
        assert shown(builder) is not None, (name, builder.error)


def test_a_score_that_was_set_is_offered(builder):
    """Also one that does not fit, so that the list shows what is chosen."""
    builder.loss = "f1"
    assert "f1" in offered(builder, "loss")
    assert said(builder)[1] == "loss"


def test_columns_of_a_frame_can_be_kept_together(names):
    """Chosen from the list: the column is no feature, and the code says the same."""
    space = names | {"df": FRAME}
    builder = RecipeBuilder(FRAME, "outcome", namespace=space)
    assert builder.wait(60)
    assert ["'patient'", "patient (column)"] in builder._form.choices["groups"]
    assert builder._form.title == "df (150 × 5) → outcome"
    builder._form.enter(groups="'patient'")
    result = shown(builder)
    expected = Recipe(5, 5).run(knn(), FRAME, "outcome", groups="patient")
    np.testing.assert_array_equal(result.fold_risks, expected.fold_risks)
    assert "recipe.run(knn(), df, 'outcome', groups='patient')" in builder.to_python()
    ran = dict(space)
    exec(builder.to_python(), ran)
    assert ran["result"].risk == result.risk
    builder.result = None
    builder.result = expected
    assert builder.groups == "'patient'"
    builder.close()


def test_groups_can_be_named_by_their_column(names):
    """From code, as the target."""
    space = names | {"df": FRAME}
    builder = RecipeBuilder(FRAME, "outcome", groups="patient", namespace=space)
    expected = Recipe(5, 5).run(knn(), FRAME, "outcome", groups="patient")
    assert shown(builder).risk == expected.risk
    assert builder.groups == "'patient'"
    builder.close()


def test_the_magic_takes_a_column_and_its_cell_gives_the_same(shell):
    """%recipe df --target outcome, the groups by mouse, the cell that is copied."""
    shell.user_ns["df"] = FRAME
    builder = shell.run_line_magic("recipe", "df --target outcome")
    builder._form.enter(groups="'patient'")
    risk = shown(builder).risk
    done = shell.run_cell(builder.to_cell())
    done.raise_error()
    assert done.result.risk == risk
    builder.close()


# Run, what stays on screen, errors


def test_run_says_fits_and_time(builder):
    """Before it is pressed; a fast path needs no Run and says neither."""
    assert builder._form.actions[0][1] == "Run"
    builder._form.enter(family_name="slow", grid="{'strategy': ['prior', 'uniform']}")
    assert shown(builder) is None
    label = builder._form.actions[0][1]
    assert label.startswith("Run 55 fits · about ")
    assert label.endswith(" s")


def test_what_is_on_screen_stays_dimmed_until_the_new_result(builder):
    """The number, curve and code of before; the map is already that of the new splits."""
    before, nest = builder._strip.value, builder._nest.value
    builder._form.enter(family_name="model", seed=3)
    assert shown(builder) is None
    assert builder._form.stale == "number"
    assert builder._strip.value == before
    assert len(builder._curve.widget.data) > 0
    assert builder._nest.value != nest
    assert "Not run yet" in builder._now.value
    assert "Not run yet" in builder.snapshot().html
    assert before not in builder.snapshot().html
    builder.run()
    assert shown(builder) is not None
    assert builder._form.stale == ""
    assert builder._now.value == ""


def test_nothing_is_drawn_where_there_is_nothing(names):
    """No empty axes before the first result, nor for one setting."""
    builder = RecipeBuilder(X, y, namespace=names, family=names["slow"])
    assert builder.wait(60)
    assert builder._curve.place.layout.display == "none"
    assert (builder._strip.value, builder._form.stale) == ("", "")
    builder.run()
    assert shown(builder) is not None
    assert builder._curve.place.layout.display == "none"
    builder._form.enter(family_name="knn", grid="")
    assert shown(builder) is not None
    assert builder._curve.place.layout.display is None
    builder.close()


@pytest.mark.parametrize(
    ("values", "words", "at"),
    [
        ({"outer": 1}, "outer=1 leaves no fold", "outer"),
        ({"outer": 300}, "300 outer folds need 300 rows", "outer"),
        ({"inner": 1}, "inner=1 leaves no fold", "inner"),
        ({"seed": "x"}, "seed", "seed"),
        ({"grid": "k=range(1,"}, "SyntaxError", "grid"),
        ({"grid": "k=[500]"}, "k=500 needs 500", "grid"),
        ({"settings": [["k", "list", ["500"]]]}, "k=500 needs 500", "settings"),
        ({"family_name": "os"}, "is not in its list", "family_name"),
        ({"loss": "nonsense"}, "is not in its list", "loss"),
        ({"cell": "folds/none"}, "inner=None measures one setting", "inner"),
        ({"keep_as": "not a name", "seed": 1}, "", ""),
    ],
    ids=str,
)
def test_an_error_is_at_the_control_that_causes_it(builder, values, words, at):
    """Once: neither in the pictures nor next to them; what was on screen is dimmed."""
    before = builder._strip.value
    builder._form.enter(**values)
    message, place = said(builder)
    assert words in message
    if not words:
        return
    assert place == at
    assert place in {field["name"] for field in FIELDS}
    assert builder._strip.value == before
    assert builder._form.stale == "number map"
    assert words not in builder._now.value
    assert "Dimmed: the run before" in builder._now.value


def test_a_model_that_cannot_learn_these_rows_is_said_at_the_model(names):
    """Text in X; also where nothing was changed yet."""
    frame = FRAME.assign(place=["here", "there"] * 75)
    builder = RecipeBuilder(frame, "outcome", namespace=names)
    words, at = said(builder)
    assert "place" in words
    assert at == "family_name"
    builder.close()


# Keep, family= and -o


def test_keep_puts_the_result_into_the_notebook(builder, names):
    """Under the name in the field; a later result replaces it."""
    builder._clicked(None, {"action": "keep"}, None)
    assert names["risk"] is builder.result
    assert builder._form.status == "The result is in the notebook: risk"
    builder._form.enter(seed=4)
    assert names["risk"] is not shown(builder)
    builder.keep()
    assert names["risk"] is builder.result
    builder._form.enter(keep_as="other")
    builder.keep()
    assert names["other"] is builder.result


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("X", "is in the notebook already and is no result of cvnb"),
        ("number", r"\(int\); choose another name, or run: del number"),
        ("SVC", "no result of cvnb"),
        ("not a name", "is no name for a result"),
        ("", "is no name for a result"),
        ("class", "is no name for a result"),
        ("_hidden", "is no name for a result"),
        ("a.b", "is no name for a result"),
        ("a = open('x', 'w')", "is no name for a result"),
        ("In", "is a name of Python or IPython"),
        ("list", "is a name of Python or IPython"),
        ("__builtins__", "is no name for a result"),
    ],
)
def test_keep_overwrites_nothing_else(builder, names, name, words):
    """What is no result of cvnb stays, and the form says why; the result stays on screen."""
    before = dict(names)
    builder._form.enter(keep_as=name)
    builder.keep()
    message, at = said(builder)
    assert at == "keep_as"
    with pytest.raises(ValueError, match=words):
        raise ValueError(message)
    assert names.keys() == before.keys()
    assert all(names[key] is before[key] for key in before)
    assert builder.result is not None
    builder._form.enter(keep_as="risk")
    builder.keep()
    assert said(builder) == ("", "")


def test_there_is_nothing_to_keep_before_a_result(names):
    """The button is off, and a click says why."""
    builder = RecipeBuilder(X, y, namespace=names, family=names["slow"])
    assert builder.wait(60)
    assert ["keep", "Keep", False] in builder._form.actions
    builder.keep()
    assert builder._form.error_at == "keep_as"
    assert "risk" not in names
    builder.close()


def test_a_builder_opens_with_a_family(names):
    """A short-hand, an estimator of the notebook, a pair without a name; not several."""
    for family, listed in (
        (knn(k=[1, 9]), "knn"),
        (Family(names["model"], {"C": [1, 10]}, name="model"), "model"),
        ((SVC(), {"C": [1, 10]}), "(as given)"),
    ):
        builder = RecipeBuilder(X, y, namespace=names, family=family)
        assert builder.family_name == listed
        builder.run()
        assert len(shown(builder).settings) == 2
        builder.close()
    with pytest.raises(ValueError, match="takes one family"):
        RecipeBuilder(X, y, namespace=names, family={"a": knn(), "b": knn()})


def test_the_magic_binds_each_result_to_its_name(shell):
    """%recipe X y -o risk; what is no result is not overwritten, and no name is refused."""
    builder = shell.run_line_magic("recipe", "X y -o risk")
    for seed in (1, 2):
        builder._form.enter(seed=seed)
        result = shown(builder)
        assert shell.user_ns["risk"] is result
    assert builder.keep_as == "risk"
    shell.user_ns["risk"] = 5
    builder._form.enter(seed=3)
    assert shown(builder) is not None
    assert shell.user_ns["risk"] == 5
    assert builder._form.error_at == "keep_as"
    builder.close()
    with pytest.raises(Exception, match="is no name of a variable"):
        shell.run_line_magic("recipe", "X y -o 3")
