"""%%nestedcv in a real IPython shell."""

import builtins

import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.io import capture_output
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Comparison, Recipe, RiskEstimate, knn
from cvnb.estimate import record_of
from cvnb.magics import OPTIONS_OF, NestedCVError, NestedCVInterrupted


class StopsAt(DummyClassifier):
    """Presses the stop button in its n-th fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        StopsAt.fits += 1
        if StopsAt.fits == 8:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.fixture
def shell(monkeypatch):
    """A fresh shell with cvnb loaded and iris at hand."""
    monkeypatch.delattr(builtins, "_", raising=False)  # a doctest leaves one behind, and IPython respects it
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "cvnb")
    X, y = load_iris(return_X_y=True)
    shell.user_ns.update(X=X, y=y, frame=load_iris(as_frame=True).frame, StopsAt=StopsAt, groups=np.arange(150) // 5)
    yield shell
    InteractiveShell.clear_instance()


def run(shell, cell):
    """What the cell returns; its error is raised."""
    with capture_output():
        outcome = shell.run_cell(cell, store_history=True)
    outcome.raise_error()
    return outcome.result


def test_the_magic_is_the_function(shell):
    """The result equals recipe.run on the same data."""
    result = run(shell, "%%nestedcv X y --outer 4 --inner 3 --seed 7\nknn(k=[1, 5, 9])")
    same = Recipe(4, 3, seed=7).run(knn(k=[1, 5, 9]), *load_iris(return_X_y=True))
    assert isinstance(result, RiskEstimate)
    assert (result.risk, result.chosen) == (same.risk, same.chosen)


def test_the_result_is_underscore_and_bound_by_o(shell):
    """-o NAME binds what the cell returns, and so does _."""
    result = run(shell, "%%nestedcv X y --outer 3 --inner 2 -o risk\nknn(k=[1, 5])")
    assert shell.user_ns["risk"] is result
    assert shell.user_ns["_"] is result


def test_the_body_runs_in_the_users_namespace(shell):
    """Names of the notebook are seen, names of the body stay, and lent short-hands go away."""
    run(shell, "%%nestedcv X y --outer 3 --inner 2\nks = [1, len(X) // 30]\nfamily = knn(k=ks)\nfamily")
    assert shell.user_ns["ks"] == [1, 5]
    assert "knn" not in shell.user_ns


def test_a_users_own_knn_is_not_covered(shell):
    """A name that the user has is the user's in the body too."""
    shell.user_ns["knn"] = lambda: (KNeighborsClassifier(), {"n_neighbors": [3]})
    result = run(shell, "%%nestedcv X y --outer 3 --inner 2\nknn()")
    assert result.settings == [{"n_neighbors": 3}]
    assert "knn" in shell.user_ns


@pytest.mark.parametrize(
    ("body", "n_settings"),
    [
        ("Family(KNeighborsClassifier(), {'n_neighbors': [1, 5]})", 2),
        ("KNeighborsClassifier(), {'n_neighbors': [1, 5, 9]}", 3),
        ("GridSearchCV(KNeighborsClassifier(), {'n_neighbors': [1, 5]}, cv=KFold(3))", 2),
        ("KNeighborsClassifier()", 1),
    ],
)
def test_every_kind_of_last_expression_gives_a_family(shell, body, n_settings):
    """A Family, a pair, a GridSearchCV, a plain estimator."""
    shell.user_ns.update(KNeighborsClassifier=KNeighborsClassifier, GridSearchCV=GridSearchCV, KFold=KFold)
    assert len(run(shell, f"%%nestedcv X y --outer 3\n{body}").settings) == n_settings


def test_a_dict_is_a_comparison(shell):
    """Families by name are compared on the same splits."""
    result = run(shell, "%%nestedcv X y --outer 3 --inner 2\n{'a': knn(k=[1, 5]), 'b': ridge(alpha=[1.0])}")
    assert isinstance(result, Comparison)
    assert list(result) == ["a", "b"]
    assert result["a"].plan is result["b"].plan


def test_target_and_groups_are_columns_of_a_frame(shell):
    """--target takes y out of the frame, --groups takes a column that is then no feature."""
    shell.user_ns["frame"]["patient"] = np.arange(150) // 5
    result = run(shell, "%%nestedcv frame --target target --groups patient --outer 3 --inner 2\nknn(k=[1, 5])")
    assert list(record_of(result).data.X.columns) == list(load_iris(as_frame=True).data.columns)
    assert not [finding for finding in result.plan.audit().findings if "groups" in finding]
    for train, test in result.plan.outer:
        assert not set(train // 5) & set(test // 5)


def test_quotes_keep_a_name_together(shell):
    """A column with a space, an expression with one."""
    shell.user_ns["frame"]["the class"] = shell.user_ns["frame"].pop("target")
    whole = run(shell, "%%nestedcv frame --target 'the class' --outer 3 --inner 2\nknn(k=[1, 5])")
    part = run(shell, '%%nestedcv "X[:, :2]" y --outer 3 --inner 2\nknn(k=[1, 5])')
    assert (record_of(whole).data.n_columns, record_of(part).data.n_columns) == (4, 2)


def test_a_named_loss_is_not_covered_by_a_variable(shell):
    """After "from numpy import absolute" the word still means the absolute loss."""
    shell.user_ns["absolute"] = np.absolute
    result = run(shell, "%%nestedcv X y --loss absolute --outer 3 --inner 2\nknn(k=[1, 5])")
    same = Recipe(3, 2).run(knn(k=[1, 5]), shell.user_ns["X"], shell.user_ns["y"], loss="absolute")
    assert result.risk == same.risk


def test_groups_may_be_a_name(shell):
    """--groups NAME reads a variable."""
    result = run(shell, "%%nestedcv X y --groups groups --outer 3 --inner 2\nknn(k=[1, 5])")
    assert result.plan.group_codes is not None


def test_loss_may_be_a_function_of_the_notebook(shell):
    """--loss takes the name of a function."""
    run(shell, "def twice(y, p):\n    return 2.0 * (y != p)")
    plain = run(shell, "%%nestedcv X y --outer 3 --inner 2\nknn(k=[1, 5])")
    twice = run(shell, "%%nestedcv X y --outer 3 --inner 2 --loss twice\nknn(k=[1, 5])")
    assert twice.risk == pytest.approx(2 * plain.risk)


@pytest.mark.parametrize("name", [name for name in OPTIONS_OF if name != "leave_one_out"])
def test_every_named_recipe_runs(shell, name):
    """--recipe NAME is the constructor of that name."""
    tuned = OPTIONS_OF[name].get("inner") is not None or name == "nested_dev"
    options = {"nested_resampling": "--outer 3 --inner 2", "resampling_test": "--inner 2"}.get(name, "")
    result = run(shell, f"%%nestedcv X y --recipe {name} {options}\nknn(k={[1, 5] if tuned else 5})")
    assert record_of(result).recipe.name == getattr(Recipe, name)().name


def test_recipes_of_the_options_exist():
    """Every recipe that the magic offers is a constructor, and the other way round."""
    constructors = {name for name, value in vars(Recipe).items() if isinstance(value, classmethod)}
    assert constructors == set(OPTIONS_OF)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%nestedcv X y --outter 5\nknn()", "unrecognized arguments: --outter"),
        ("%%nestedcv X y --inner 1\nknn()", "use inner >= 2"),
        ("%%nestedcv X nothing\nknn()", "'nothing' is not defined"),
        ("%%nestedcv X\nknn()", "give X and y"),
        ("%%nestedcv X y --recipe magic\nknn()", "'magic' is not known; the recipes are train_validation_test"),
        ("%%nestedcv X y --recipe external_cv --inner 3\nknn(k=5)", "--inner means nothing to --recipe external_cv"),
        ("%%nestedcv frame --target nope\nknn()", "'nope' is no column; the columns are sepal length"),
        ("%%nestedcv X y -o 1x\nknn()", "'1x' is no name"),
        ("%%nestedcv X y\nk = 3", "must end in an expression"),
        ("%%nestedcv X y\nknn(k=0)", "k=0: The 'n_neighbors' parameter"),
        ("%%nestedcv X y\n42", "42 is no estimator"),
        ("%%nestedcv X y --loss hinge\nknn()", "--loss: 'hinge' is not defined; it knows zero_one, squared, absolute, log"),
        ("%%nestedcv frame --target 'no such'\nknn()", "--target 'no such' is no column"),
        ("%%nestedcv X y --seed x\nknn()", "'x' is not defined"),
    ],
)
def test_a_users_error_is_one_line_and_fails_the_cell(shell, cell, message):
    """The cell fails with an error that renders as one line."""
    with pytest.raises(NestedCVError, match=message.replace("(", r"\(")) as caught:
        run(shell, cell)
    assert len(caught.value._render_traceback_()) == 1
    assert "\n" not in caught.value._render_traceback_()[0]


def test_an_error_of_the_body_keeps_its_own_type(shell):
    """A bug in the user's code is no cvnb error."""
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        run(shell, "%%nestedcv X y\n1 / 0")


def test_help_names_recipes_and_options(shell):
    """%nestedcv alone prints the outer × inner table and the help."""
    with capture_output() as shown:
        shell.run_cell("%nestedcv").raise_error()
    for word in ("outer \\ inner", "nested_cv", "--groups", "--recipe"):
        assert word in shown.stdout


def test_an_interrupt_shows_and_binds_what_was_finished(shell):
    """A stopped run leaves a partial result under its name, and the cell fails."""
    StopsAt.fits = 0
    with pytest.raises(NestedCVInterrupted, match="2 of 4 outer splits were finished"):
        run(shell, "%%nestedcv X y --outer 4 --inner 2 -o risk\nStopsAt()")
    risk = shell.user_ns["risk"]
    assert not risk.complete
    assert len(risk.fold_risks) == 2
    assert shell.user_ns["_"] is risk


def test_a_semicolon_shows_nothing(shell):
    """As in any cell, but the name is bound."""
    with capture_output() as shown:
        shell.run_cell("%%nestedcv X y --outer 3 --inner 2 -o risk\nknn(k=[1, 5]);").raise_error()
    assert "risk" not in shown.stdout
    assert shell.user_ns["risk"].risk > 0


def test_unloading_takes_the_magic_away(shell):
    """%unload_ext leaves nothing behind."""
    shell.run_line_magic("unload_ext", "cvnb")
    assert "nestedcv" not in shell.magics_manager.magics["cell"]
    assert "nestedcv" not in shell.magics_manager.magics["line"]


def test_an_html_string_in_a_label_is_escaped(shell):
    """Names of the user's reach the page as text."""
    shell.user_ns["frame"] = pd.DataFrame({"<b>": np.arange(30.0), "t": ["<i>", "$x$"] * 15})
    shell.user_ns["nearest"] = KNeighborsClassifier(1)
    result = run(shell, "%%nestedcv frame --target t --outer 3 --inner 2\nFamily(nearest, {}, name='<script>')")
    page = result._repr_mimebundle_()[0]["text/html"]
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
