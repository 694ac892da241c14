"""%%nestedcv in a real IPython shell."""

import numpy as np
import pandas as pd
import pytest
from IPython.utils.io import capture_output
from scipy.stats import randint
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Comparison, Recipe, RiskEstimate, knn, ridge
from cvnb.jupyter.magic_line import OPTIONS_OF, NestedCVError
from cvnb.jupyter.magics import NestedCVInterrupted
from cvnb.results.estimate import record_of
from shell_cells import completions, run


class StopsAt(DummyClassifier):
    """Raises KeyboardInterrupt in its third fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        StopsAt.fits += 1
        if StopsAt.fits == 3:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.fixture
def shell(shell):
    """A shell with X and y, a frame, groups and an interrupting estimator."""
    shell.user_ns.update(
        frame=load_iris(as_frame=True).frame,
        StopsAt=StopsAt,
        groups=np.arange(150) // 5,
    )
    return shell


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
    """Names of the notebook are visible, names of the body stay, short-hands are removed."""
    body = "ks = [1, len(X) // 30]\nfamily = knn(k=ks)\nfamily"
    run(shell, f"%%nestedcv X y --outer 3 --inner 2\n{body}")
    assert shell.user_ns["ks"] == [1, 5]
    assert "knn" not in shell.user_ns


def test_a_users_own_knn_is_not_replaced(shell):
    """A name that the user has bound keeps its value in the body."""
    shell.user_ns["knn"] = lambda: (KNeighborsClassifier(), {"n_neighbors": [3]})
    result = run(shell, "%%nestedcv X y --outer 3 --inner 2\nknn()")
    assert result.settings == [{"n_neighbors": 3}]
    assert "knn" in shell.user_ns


@pytest.mark.parametrize(
    ("body", "n_settings"),
    [
        ("Family(KNeighborsClassifier(), {'n_neighbors': [1, 5]})", 2),
        ("KNeighborsClassifier(), {'n_neighbors': [1, 5, 9]}", 3),
        (
            "GridSearchCV(KNeighborsClassifier(), {'n_neighbors': [1, 5]}, cv=KFold(3))",
            2,
        ),
        ("KNeighborsClassifier()", 1),
        (
            "RandomizedSearchCV(KNeighborsClassifier(), {'n_neighbors': randint(1, 9)}, "
            "n_iter=4, random_state=0)",
            4,
        ),
        ("Family(KNeighborsClassifier(), {'n_neighbors': randint(1, 9)}, n=3)", 3),
    ],
)
def test_every_kind_of_last_expression_gives_a_family(shell, body, n_settings):
    """A Family, a pair, a search, a plain estimator."""
    shell.user_ns.update(
        KNeighborsClassifier=KNeighborsClassifier,
        GridSearchCV=GridSearchCV,
        RandomizedSearchCV=RandomizedSearchCV,
        randint=randint,
        KFold=KFold,
    )
    assert len(run(shell, f"%%nestedcv X y --outer 3\n{body}").settings) == n_settings


def test_a_dict_is_a_comparison(shell):
    """Families by name are compared on the same splits."""
    body = "{'a': knn(k=[1, 5]), 'b': ridge(alpha=[0.1, 1.0])}"
    result = run(shell, f"%%nestedcv X y --outer 3 --inner 2\n{body}")
    assert isinstance(result, Comparison)
    assert list(result) == ["a", "b"]
    assert result["a"].plan is result["b"].plan


def test_target_and_groups_are_columns_of_a_frame(shell):
    """Their columns are no features."""
    shell.user_ns["frame"]["patient"] = np.arange(150) // 5
    line = "%%nestedcv frame --target target --groups patient --outer 3 --inner 2"
    result = run(shell, f"{line}\nknn(k=[1, 5])")
    features = load_iris(as_frame=True).data.columns
    assert list(record_of(result).data.X.columns) == list(features)
    findings = result.plan.audit().findings
    assert not [finding for finding in findings if "groups" in finding]
    for train, test in result.plan.outer:
        assert not set(train // 5) & set(test // 5)


def test_quotes_keep_a_name_together(shell):
    """A column with a space, an expression with one."""
    shell.user_ns["frame"]["the class"] = shell.user_ns["frame"].pop("target")
    end = "--outer 3 --inner 2\nknn(k=[1, 5])"
    whole = run(shell, f"%%nestedcv frame --target 'the class' {end}")
    part = run(shell, f'%%nestedcv "X[:, :2]" y {end}')
    assert (record_of(whole).data.n_columns, record_of(part).data.n_columns) == (4, 2)


def test_a_named_loss_is_not_replaced_by_a_variable(shell):
    """After "from numpy import absolute" the word still means the absolute loss."""
    shell.user_ns["absolute"] = np.absolute
    cell = "%%nestedcv X y --loss absolute --outer 3 --inner 2\nknn(k=[1, 5])"
    X, y = shell.user_ns["X"], shell.user_ns["y"]
    same = Recipe(3, 2).run(knn(k=[1, 5]), X, y, loss="absolute")
    assert run(shell, cell).risk == same.risk


def test_groups_may_be_a_name(shell):
    """--groups NAME reads a variable."""
    cell = "%%nestedcv X y --groups groups --outer 3 --inner 2\nknn(k=[1, 5])"
    assert run(shell, cell).plan.group_codes is not None


def test_loss_may_be_a_function_of_the_notebook(shell):
    """--loss takes the name of a function."""
    run(shell, "def twice(y, p):\n    return 2.0 * (y != p)")
    plain = run(shell, "%%nestedcv X y --outer 3 --inner 2\nknn(k=[1, 5])")
    twice = run(shell, "%%nestedcv X y --outer 3 --inner 2 --loss twice\nknn(k=[1, 5])")
    assert twice.risk == pytest.approx(2 * plain.risk)


@pytest.mark.parametrize("name", sorted(set(OPTIONS_OF) - {"leave_one_out"}))
def test_every_named_recipe_runs(shell, name):
    """--recipe NAME is the constructor of that name."""
    tuned = OPTIONS_OF[name].get("inner") is not None or name == "nested_dev"
    options = {
        "nested_resampling": "--outer 3 --inner 2",
        "resampling_test": "--inner 2",
    }.get(name, "")
    line = f"%%nestedcv X y --recipe {name} {options}"
    result = run(shell, f"{line}\nknn(k={[1, 5] if tuned else 5})")
    assert record_of(result).recipe.name == getattr(Recipe, name)().name


def test_recipes_of_the_options_exist():
    """They are all constructors of Recipe."""
    constructors = {
        name for name, value in vars(Recipe).items() if isinstance(value, classmethod)
    }
    assert constructors == set(OPTIONS_OF)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%nestedcv X y --outter 5\nknn()", "unrecognized arguments: --outter"),
        ("%%nestedcv X y --inner 1\nknn()", "use inner >= 2"),
        ("%%nestedcv X nothing\nknn()", "'nothing' is not defined"),
        ("%%nestedcv X\nknn()", "give X and y"),
        (
            "%%nestedcv X y --recipe magic\nknn()",
            "'magic' is not known; the recipes are train_validation_test",
        ),
        (
            "%%nestedcv X y --recipe external_cv --inner 3\nknn(k=5)",
            "--inner means nothing to --recipe external_cv",
        ),
        (
            "%%nestedcv frame --target nope\nknn()",
            "'nope' is no column; the columns are sepal length",
        ),
        ("%%nestedcv X y -o 1x\nknn()", "'1x' is no name"),
        ("%%nestedcv X y\nk = 3", "must end in an expression"),
        ("%%nestedcv X y\nknn(k=0)", "k=0: The 'n_neighbors' parameter"),
        ("%%nestedcv X y\n42", "42 is no estimator"),
        (
            "%%nestedcv X y --loss hinge\nknn()",
            "--loss: 'hinge' is not defined; it knows zero_one, squared, absolute, log",
        ),
        (
            "%%nestedcv frame --target 'no such'\nknn()",
            "--target 'no such' is no column",
        ),
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
    """An exception of the user's code is not turned into a cvnb error."""
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        run(shell, "%%nestedcv X y\n1 / 0")


def test_help_begins_with_an_example_and_names_the_options(shell):
    """%nestedcv alone prints a cell to copy first; the example runs as it stands."""
    with capture_output() as shown:
        shell.run_cell("%nestedcv").raise_error()
    for word in ("nested_cv", "--groups", "--recipe", "--help recipes"):
        assert word in shown.stdout
    lines = shown.stdout.splitlines()
    cell = "\n".join(line.strip() for line in lines[2:4])
    assert cell.startswith("%%nestedcv X y")
    assert run(shell, cell).risk is not None


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
    cell = "%%nestedcv X y --outer 3 --inner 2 -o risk\nknn(k=[1, 5]);"
    with capture_output() as shown:
        shell.run_cell(cell).raise_error()
    assert "risk" not in shown.stdout
    assert shell.user_ns["risk"].risk > 0


def test_unloading_removes_the_magic(shell):
    """%unload_ext leaves neither the cell magic nor the line magic."""
    shell.run_line_magic("unload_ext", "cvnb")
    assert "nestedcv" not in shell.magics_manager.magics["cell"]
    assert "nestedcv" not in shell.magics_manager.magics["line"]


def test_an_html_string_in_a_label_is_escaped(shell):
    """The user's names are text in the page."""
    columns = {"<b>": np.arange(30.0), "t": ["<i>", "$x$"] * 15}
    shell.user_ns["frame"] = pd.DataFrame(columns)
    shell.user_ns["nearest"] = KNeighborsClassifier(1)
    line = "%%nestedcv frame --target t --outer 3 --inner 2"
    result = run(shell, f"{line}\nFamily(nearest, {{}}, name='<script>')")
    page = result._repr_mimebundle_()[0]["text/html"]
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


# The options of the line


def nested(shell, line, body="knn(k=[1, 5, 9])"):
    return run(shell, f"%%nestedcv X y {line}\n{body}")


@pytest.mark.parametrize(
    ("line", "recipe", "options"),
    [
        ("--outer 4 --inner 3 --no-stratify", Recipe(4, 3, stratify=False), {}),
        ("--outer 4 --inner 3 --stratify", Recipe(4, 3, stratify=True), {}),
        (
            "--outer 3 --inner 2 --time-ordered --buffer 2",
            Recipe(3, 2, time_ordered=True, buffer=2),
            {},
        ),
        (
            "--outer 3 --inner 2 --forward --buffer 2",
            Recipe(3, 2, time_ordered="forward", buffer=2),
            {},
        ),
        ("--recipe cv_test --test .3 --inner 3", Recipe.cv_test(3, test=0.3), {}),
        (
            "--recipe train_validation_test --test .3 --validation .3",
            Recipe.train_validation_test(0.3, 0.3),
            {},
        ),
        (
            "--recipe resampling_test --samples 4 --validation .3",
            Recipe.resampling_test(4, 0.3),
            {},
        ),
        (
            "--recipe nested_resampling --outer 3 --inner 2 --test .3",
            Recipe.nested_resampling(3, 2, test=0.3),
            {},
        ),
        (
            "--outer 3 --inner 2 --scoring balanced_accuracy",
            Recipe(3, 2),
            {"scoring": "balanced_accuracy"},
        ),
        ("--outer 3 --inner 2 --select one_se", Recipe(3, 2), {"select": "one_se"}),
        ("--outer 3 --inner 2 --select np.argmax", Recipe(3, 2), {"select": np.argmax}),
        (
            "--outer 3 --inner 2 --path refit --flat --jobs 2",
            Recipe(3, 2),
            {"path": "refit", "flat": True, "n_jobs": 2},
        ),
        ("--outer KFold(3) --inner loo", Recipe(KFold(3), "loo"), {}),
        ("--outer .25 --inner 2", Recipe(0.25, 2), {}),
    ],
)
def test_options_are_those_of_the_function(shell, line, recipe, options):
    """The same recipe, the same numbers, the same path."""
    shell.user_ns.update(KFold=KFold, np=np)
    X, y = shell.user_ns["X"], shell.user_ns["y"]
    order = np.random.default_rng(0).permutation(150)
    shell.user_ns.update(X=X[order], y=y[order])
    result = nested(shell, line)
    same = recipe.run(knn(k=[1, 5, 9]), X[order], y[order], **options)
    assert record_of(result).recipe == recipe
    for name in ("risk", "chosen", "path", "flat"):
        assert getattr(result, name) == getattr(same, name)


def test_weights_are_a_name_or_a_column(shell):
    """A column of weights is no feature."""
    w = np.linspace(1, 2, 150)
    shell.user_ns["w"] = w
    shell.user_ns["frame"]["weight"] = w
    X, y = load_iris(return_X_y=True)
    same = Recipe(3, 2).run(ridge(alpha=[0.1, 1]), X, y, sample_weight=w)
    body = "ridge(alpha=[0.1, 1])"
    assert nested(shell, "--weights w --outer 3 --inner 2", body).risk == same.risk
    line = "%%nestedcv frame --target target --weights weight --outer 3 --inner 2"
    result = run(shell, f"{line}\n{body}")
    assert result.risk == pytest.approx(same.risk)
    assert record_of(result).data.n_columns == 4


def test_config_gives_the_defaults(shell):
    """%config NestedCVMagics: outer, inner, seed, select, path; the line overrides it."""
    for setting in (
        "outer = '3'",
        "inner = '2'",
        "seed = '7'",
        "path = 'refit'",
        "select = 'one_se'",
    ):
        run(shell, f"%config NestedCVMagics.{setting}")
    result = nested(shell, "")
    assert record_of(result).recipe == Recipe(3, 2, seed=7)
    assert result.path == "refit"
    assert "one-standard-error" in result.quantity
    overridden = nested(shell, "--seed 1 --inner 3 --path auto")
    assert record_of(overridden).recipe == Recipe(3, 3, seed=1)
    internal = nested(shell, "--recipe internal_cv")
    assert record_of(internal).recipe == Recipe.internal_cv(2, seed=7)


def test_quiet_shows_nothing_and_keeps_the_result(shell):
    """-q, or a semicolon at the end of the body: no output; _ and -o hold the result."""
    for line, body in (("-q -o risk", "knn(k=[1, 5])"), ("-o risk", "knn(k=[1, 5]);")):
        cell = f"%%nestedcv X y --outer 3 --inner 2 {line}\n{body}"
        with capture_output() as shown:
            outcome = shell.run_cell(cell, store_history=True)
        outcome.raise_error()
        assert (shown.stdout, shown.outputs) == ("", [])
        assert isinstance(shell.user_ns["risk"], RiskEstimate)
        assert shell.user_ns["_"] is shell.user_ns["risk"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "X y --otter 5",
            r"unrecognized arguments: --otter 5. Did you mean --outer\? See %nestedcv",
        ),
        (
            "X y --recipe cv_test --outer .2 --test .3",
            "--outer and --test are the same to --recipe cv_test; give one of them",
        ),
        (
            "X y --samples 3",
            "--samples means nothing to --recipe nested_cv; leave it out",
        ),
        ("X y --path fast", "--path 'fast' is not known; use auto or refit"),
        ("X y --select best", "--select: 'best' is not defined; it knows min, one_se"),
        ("X y --scoring acuracy", "unknown scoring 'acuracy'.*Did you mean 'accuracy'"),
        (
            "X y --forward --time-ordered",
            "--time-ordered and --forward are two designs; give one",
        ),
        ("X y --bins 5 --stratify", "--bins stratifies; leave out --stratify"),
        (
            "X y --bins 5",
            "stratify=5 makes bins of a continuous y, but y holds classes",
        ),
        ("X y --times days", "--times: 'days' is not defined"),
        ("X y --times y", "times= orders the rows in time, .* add time_ordered=True"),
        ("X y --forward --buffer 3D", "buffer='3D' is a duration and needs the time"),
        (
            "X y --buffer 2",
            "buffer=2 needs rows in the order of time; add time_ordered=True",
        ),
        ("X y --weights nobody", "--weights: 'nobody' is not defined"),
        ("X y --jobs 0", "n_jobs=0 must be None or a whole number other than 0"),
    ],
)
def test_a_mistake_on_the_line_names_the_option(shell, line, message):
    """One line: the option, its value, the allowed ones."""
    with pytest.raises(NestedCVError, match=message) as caught:
        run(shell, f"%%nestedcv {line}\nknn(k=[1, 5])")
    assert caught.value._render_traceback_() == [f"NestedCVError: {caught.value}"]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("buffer", ["2D", "'2D'", "gap"])
def test_times_are_a_name_or_a_column(shell, buffer):
    """--times with --forward, a duration as it is or by name; the column is no feature."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(90), unit="D")
    frame = pd.DataFrame(
        {"a": rng.normal(size=90), "b": rng.normal(size=90), "day": days}
    )
    frame["t"] = rng.normal(size=90)
    features, t = frame[["a", "b"]], frame["t"]
    shell.user_ns.update(
        frame=frame, F=features, t=t, days=days, gap=np.timedelta64(48, "h")
    )
    recipe = Recipe(3, 2, time_ordered="forward", buffer="2D")
    expected = recipe.run(knn(k=[1, 5]), features, t, times=days)
    for data in ("F t --times days", "frame --target t --times day"):
        line = f"{data} --outer 3 --inner 2 --forward --buffer {buffer}"
        result = run(shell, f"%%nestedcv {line}\nknn(k=[1, 5])")
        assert record_of(result).recipe == recipe
        assert result.plan == expected.plan
        assert result.risk == expected.risk
        assert run(shell, f"%folds {line}") == expected.plan
        dry = run(shell, f"%%nestedcv {line} --dry-run\nknn(k=[1, 5])")
        assert dry.fits == 3 * 2 * 2 + 3


def test_bins_stratify_a_continuous_y(shell):
    """--bins 4 is stratify=4."""
    rng = np.random.default_rng(0)
    shell.user_ns.update(X=rng.normal(size=(60, 2)), y=rng.normal(size=60))
    plan = run(shell, "%folds X y --outer 3 --inner 2 --bins 4")
    recipe = Recipe(3, 2, stratify=4)
    assert plan == recipe.plan(shell.user_ns["X"], shell.user_ns["y"])


def test_folds_shows_the_plan_without_fitting(shell, fits):
    """The plan has the same splits as a run."""
    plan = run(shell, "%folds X y --outer 4 --inner 3 --groups groups")
    X, y = load_iris(return_X_y=True)
    assert plan == Recipe(4, 3).plan(X, y, groups=np.arange(150) // 5)
    assert run(shell, "%folds frame --target target --recipe cv_test").outer_words
    assert fits == []
    with pytest.raises(NestedCVError, match=r"give X and y \(got 1 names\)"):
        run(shell, "%folds X")


def test_help_recipes_shows_what_each_recipe_estimates(shell):
    """The outer × inner table, and a line for each recipe."""
    with capture_output() as shown:
        shell.run_line_magic("nestedcv", "--help recipes")
    assert "outer \\ inner" in shown.stdout
    for name in OPTIONS_OF:
        assert name in shown.stdout
    assert "estimates E[ℓ_D(A_θ̂(S))], the risk of the procedure" in shown.stdout
    assert "--no-stratify" not in shown.stdout


# Completion


def test_options_are_completed_and_nothing_else(shell):
    """After -- the options of the magic are offered, and no Python names."""
    assert completions(shell, "%%nestedcv X y --in") == ["--inner"]
    options = completions(shell, "%%nestedcv X y --")
    assert {"--outer", "--recipe", "--flat", "--time-ordered"} <= set(options)
    assert all(option.startswith("--") for option in options)
    assert "--loss" not in completions(shell, "%folds X y --")


def test_words_and_data_are_completed(shell):
    """Recipes, losses or columns after their options; elsewhere names of data."""
    assert completions(shell, "%%nestedcv X y --recipe nested_d") == ["nested_dev"]
    assert completions(shell, "%%nestedcv X y --loss ab") == ["absolute"]
    assert {"X", "y", "frame"} <= set(completions(shell, "%%nestedcv "))
    assert "shell" not in completions(shell, "%%nestedcv ")
    assert completions(shell, "%%nestedcv frame --target targ") == ["target"]


def test_the_body_keeps_pythons_completion(shell):
    """On the second line names of the notebook are offered as in any cell."""
    assert "groups" in completions(shell, "%%nestedcv X y\ngrou")


def test_unloading_removes_magics_and_completion(shell):
    """Loading again adds them once."""

    def matchers():
        names = [matcher.__name__ for matcher in shell.Completer.custom_matchers]
        return names.count("cvnb_matcher")

    shell.run_line_magic("unload_ext", "cvnb")
    for magics in shell.magics_manager.magics.values():
        assert not {"nestedcv", "folds"} & set(magics)
    assert matchers() == 0
    shell.run_line_magic("load_ext", "cvnb")
    shell.run_line_magic("reload_ext", "cvnb")
    assert matchers() == 1
    assert completions(shell, "%%nestedcv X y --inn") == ["--inner"]


def test_a_dry_run_returns_a_forecast(shell, fits):
    """Those of several models are one table with a total."""
    forecast = nested(shell, "--dry-run --outer 4 --inner 3")
    assert (forecast.fits, forecast.path.name) == (40, "path:knn")
    assert fits == []
    body = "{'a': knn(k=[1, 5]), 'b': ridge(alpha=[1.0])}"
    both = run(shell, f"%%nestedcv X y --dry-run --outer 3 --inner 2\n{body}")
    lines = repr(both).splitlines()
    assert lines[0].startswith("Dry run of 2 models")
    assert [line.split()[0] for line in lines[1:5]] == ["model", "a", "b", "total"]
    assert lines[4].split()[1] == str(
        int(lines[2].split()[2]) + int(lines[3].split()[2])
    )
    assert set(both) == {"a", "b"}
