"""The Python and the cell that RecipeBuilder copies."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cosine
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn, nested_cv
from cvnb.widgets import RecipeBuilder
from iris import X, y


def test_the_cv_of_a_search_is_what_is_copied(builder):
    """inner="auto" with a search that brings its own cannot be said by a number of folds."""
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=KFold(3)
    )
    builder.family, builder.recipe = search, Recipe(4, seed=2)
    assert builder.to_cell() == ""
    assert "inner='auto'" in builder.to_python()
    assert builder._form.values["named"] == "(as given)"


def test_names_are_looked_up_each_time():
    """Rows without a name, or whose name stands for something else by now, are not called X."""
    builder = RecipeBuilder(X[:100], y[:100], namespace={"X": X, "y": y})
    assert "recipe.run(knn(), your_X, your_y)" in builder.to_python()
    assert (
        "# your_X: what the builder was given; it has no name here"
        in builder.to_python()
    )
    space = {"X": X, "y": y}
    rebound = RecipeBuilder(X, y, namespace=space)
    assert "recipe.run(knn(), X, y)" in rebound.to_python()
    space["X"] = X[:10]
    assert "your_X" in rebound.to_python()


@pytest.mark.parametrize(
    "line",
    [
        "A[:,:2] y",
        "f target --groups g",
        "f --target target --groups g",
        'f --target "the target" --groups g',
    ],
)
def test_the_texts_of_the_magic_are_copied(shell, line):
    """Expressions and columns of a frame: the cell and the Python give the number on screen."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        target=y, g=np.arange(150) // 5
    )
    if "the target" in line:
        frame = frame.rename(columns={"target": "the target"})
    shell.user_ns.update(A=X.copy(), f=frame)
    builder = shell.run_line_magic("recipe", line)
    assert builder.wait(60)
    risk = builder.result.risk
    done = shell.run_cell(builder.to_cell())
    done.raise_error()
    assert done.result.risk == risk
    shell.run_cell(builder.to_python()).raise_error()
    assert shell.user_ns["result"].risk == risk
    builder.close()


def test_what_is_configured_is_said_in_the_cell(shell):
    """%config of seed and rule changes nothing of what was copied."""
    builder = shell.run_line_magic("recipe", "X y")
    assert builder.wait(60)
    shell.run_line_magic("config", "NestedCVMagics.seed = '7'")
    shell.run_line_magic("config", "NestedCVMagics.select = 'one_se'")
    try:
        done = shell.run_cell(builder.to_cell())
        assert done.result.risk == builder.result.risk
        assert done.result.chosen == builder.result.chosen
    finally:
        shell.run_line_magic("config", "NestedCVMagics.seed = ''")
        shell.run_line_magic("config", "NestedCVMagics.select = 'min'")
        builder.close()


def test_names_of_the_user_are_not_covered_and_cover_nothing(shell):
    """An estimator called knn, a number called accuracy."""
    shell.user_ns.update(knn=KNeighborsClassifier(), accuracy=0.9)
    builder = shell.run_line_magic("recipe", "X y")
    builder.loss = "accuracy"
    assert builder.wait(60)
    for text in (builder.to_cell(), builder.to_python()):
        done = shell.run_cell(text)
        done.raise_error()
    assert shell.user_ns["result"].risk == builder.result.risk
    assert isinstance(shell.user_ns["knn"], KNeighborsClassifier)
    builder.close()


def test_grids_and_splitters_are_written_as_code(builder, names):
    """Arrays, NaN and infinity, splitters that hold arrays; what cannot be made again is
    said to be so."""
    builder.family = Family(names["model"], {"C": np.logspace(-1, 1, 3)}, name="model")
    assert builder.grid == "{'C': np.array([0.1, 1.0, 10.0])}"
    builder.recipe = Recipe(PredefinedSplit(np.arange(150) % 5), 3)
    space = dict(names)
    exec(builder.to_python().rsplit("\n", 1)[0], space)
    assert space["recipe"].plan(X, y) == builder.recipe.plan(X, y)
    builder.recipe = Recipe(
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=np.random.RandomState(0)), 3
    )
    assert "outer=your_function" in builder.to_python()
    assert "# your_function: something of yours" in builder.to_python()
    pipeline = make_pipeline(
        SimpleImputer(missing_values=float("nan")), LogisticRegression()
    )
    result = Recipe(3, 2).run(
        Family(pipeline, {"logisticregression__C": [1.0, float("inf")]}), X, y
    )
    space = {"X": X, "y": y}
    exec(result.code(), space)
    assert space["result"].risk == result.risk


def test_the_copied_python_names_the_rows_of_the_builder(names):
    """Not any X and y that stand in the namespace too."""
    Xc, yt = X[:, :2], np.where(y == 1, "b", "a")
    builder = RecipeBuilder(Xc, yt, namespace=names | {"Xc": Xc, "yt": yt})
    for same in (Xc, np.asfortranarray(Xc)):
        builder.result = nested_cv(knn(k=[1, 2, 9]), same, yt, progress="off")
        assert "run(knn(k=[1, 2, 9]), Xc, yt" in builder.to_python()
    builder.close()


def test_numpy_and_a_function_of_it_are_both_imported(builder):
    """ "from numpy import , log1p" was no Python."""
    pipeline = make_pipeline(FunctionTransformer(), SVC())
    builder.family = Family(
        pipeline,
        {
            "functiontransformer__func": [np.log1p, None],
            "svc__C": np.array([1.0, 10.0]),
        },
    )
    compile(builder.to_python(), "copied", "exec")
    assert "import numpy as np\nfrom numpy import log1p" in builder.to_python()


def test_names_that_the_code_uses_itself_are_not_overwritten(names):
    """An estimator called recipe, or Recipe; a metric that only a given family knows."""
    space = names | {"recipe": SVC(), "Recipe": SVC()}
    builder = RecipeBuilder(X, y, namespace=space)
    for name in ("recipe", "Recipe"):
        builder.family_name, builder.grid = name, "{'C': [1, 10]}"
        ran = dict(space)
        exec(builder.to_python(), ran)
        assert ran["result"].settings == [{"C": 1}, {"C": 10}]
    builder.family = knn(k=[1, 2], metric=cosine)
    assert "from scipy.spatial.distance import cosine" in builder.to_python()
    builder.close()
