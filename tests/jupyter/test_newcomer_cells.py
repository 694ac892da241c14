"""A newcomer's mistakes in a %%nestedcv cell: one line, or the lines of the cell alone."""

import numpy as np
import pandas as pd
import pytest
from IPython.utils.io import capture_output

from cvnb import Recipe
from shell_cells import run

ROWS = 60
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": rng.normal(size=ROWS),
        "bmi": rng.normal(size=ROWS),
        "patient id": np.repeat(np.arange(20), 3),
        "city": np.tile(["Rome", "Paris", "Bern"], 20),
        "outcome": np.tile([0, 1], 30),
    }
)
NUMBERS = FRAME.drop(columns="city")


@pytest.fixture
def shell(shell):
    """The shell of the suite, without colours, with a frame."""
    shell.run_line_magic("colors", "nocolor")
    shell.user_ns.update(
        df=NUMBERS, cities=FRAME[["age", "city"]], target=FRAME["outcome"]
    )
    return shell


def shown(shell, cell):
    """Return what a cell that fails prints, as a notebook shows it."""
    with capture_output() as captured:
        outcome = shell.run_cell(cell, store_history=True)
    assert not outcome.success
    return captured.stdout + captured.stderr


LINES = {
    "X y --cv 5\nknn()": "unrecognized arguments: --cv 5; use --outer and --inner.",
    "X y --random-state 1\nknn()": "use --seed.",
    "X y --n-splits 3\nknn()": "use --outer.",
    "X y --n-jobs 2\nknn()": "use --jobs.",
    "X y --estimator SVC\nknn()": "the model is the last expression of the cell.",
    "X y --param-grid g\nknn()": "the grid follows the model in the cell: SVC(), {'C': [1, 10]}.",
    "X y --otter 5\nknn()": "unrecognized arguments: --otter 5. Did you mean --outer?",
    "y X\nknn()": "X and y look swapped",
    "df outcom\nknn()": "data: 'outcom' is not defined. Did you mean the column 'outcome'?",
    "df target --groups patient_id\nknn()": (
        "--groups: 'patient_id' is not defined. Did you mean the column 'patient id'?"
    ),
    "X y --scoring brier_score_loss\nknn()": (
        "unknown scoring 'brier_score_loss'; use 'neg_brier_score'."
    ),
    "X y --scoring roc_auc\nknn()": "roc_auc is for two classes, but y holds 3",
    "cities target\nknn(k=[1, 3])": "Column 'city' holds text such as 'Rome'",
    "X y\nfrom sklearn.svm import SVC\nSVC(), {'c': [1]}": "Did you mean 'C'?",
    "X y\nmodel = knn(k=[1])": (
        "the cell must end in an expression that gives the family; add model as its last line."
    ),
    "X y\nknn": "knn is no estimator but a function; call it: knn().",
}


@pytest.mark.parametrize("cell", LINES)
def test_a_mistake_is_one_line_and_fails_the_cell(shell, cell):
    """The name of the error, and what to type instead."""
    printed = shown(shell, f"%%nestedcv {cell}").strip()
    assert printed.startswith("NestedCVError: ")
    assert LINES[cell] in printed
    assert "\n" not in printed


TYPOS = {
    "NameError": ("import math\nxgboost.XGBClassifier()", 3, "xgboost.XGBClassifier()"),
    "AttributeError": ("knn(k=[1]).fitt()", 2, "knn(k=[1]).fitt()"),
    "TypeError": ("from sklearn.svm import SVC\n\nSVC(c=1)", 4, "SVC(c=1)"),
}


@pytest.mark.parametrize("kind", TYPOS)
def test_a_typo_in_the_body_shows_the_lines_of_the_cell_alone(shell, kind):
    """With the number that the line has in the cell, and no frame of cvnb or IPython."""
    body, line, text = TYPOS[kind]
    printed = shown(shell, f"%%nestedcv X y\n{body}")
    assert f"{kind}:" in printed
    assert f"----> {line} {text}" in printed
    assert printed.count("Cell In[") == 1
    assert "run_cell_magic" not in printed
    assert "File " not in printed


def test_the_users_functions_are_in_the_traceback_of_a_typo(shell):
    """What the body calls is the user's code, too."""
    run(shell, "def model():\n    return sklern.SVC()")
    printed = shown(shell, "%%nestedcv X y\nmodel()")
    assert printed.count("Cell In[") == 2
    assert "----> 2     return sklern.SVC()" in printed
    assert "File " not in printed


@pytest.mark.parametrize("body", ["knn(k=", "knn(k=[1]))", "def f(:\n    pass\nknn()"])
def test_a_syntax_error_in_the_body_is_shown_like_any_other(shell, body):
    """The line, a mark below it and the reason; nothing of cvnb."""
    printed = shown(shell, f"%%nestedcv X y\nk = 3\n{body}")
    assert "line 3" in printed
    assert "SyntaxError: " in printed
    assert "run_cell_magic" not in printed
    assert "File " not in printed


def test_an_error_in_a_fit_keeps_its_traceback(shell):
    """The user's estimator is in it, with the line that failed."""
    run(
        shell,
        "from sklearn.dummy import DummyClassifier\n"
        "class Mine(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        return self.missing_",
    )
    printed = shown(shell, "%%nestedcv X y\nMine()")
    assert "----> 4     return self.missing_" in printed
    assert printed.count("Cell In[") == 1
    assert "File " not in printed  # no frame of cvnb
    assert "\nFitError: every setting failed in outer fold 1" in printed


# What works


def test_a_comma_between_X_and_y_is_no_mistake(shell):
    """Nor is one expression that gives both."""
    plain = run(shell, "%%nestedcv X y\nknn(k=[1])")
    for data in ("X, y", "X,y", "(X,y)"):
        assert run(shell, f"%%nestedcv {data}\nknn(k=[1])").risk == plain.risk


def test_names_of_columns_are_found_in_the_frame(shell):
    """--groups and y, where no variable has the name; the note says what X lacks."""
    by_name = run(shell, "%%nestedcv df outcome --groups 'patient id'\nknn(k=[1, 3])")
    shell.user_ns.update(
        given=NUMBERS[["age", "bmi"]], y=NUMBERS["outcome"], ids=NUMBERS["patient id"]
    )
    by_value = run(shell, "%%nestedcv given y --groups ids\nknn(k=[1, 3])")
    np.testing.assert_array_equal(by_name.inner_curves, by_value.inner_curves)
    assert (
        by_name.notes[0]
        == "Column 'patient id' of X holds the groups: it is no feature."
    )
    assert run(shell, "%folds df outcome --groups 'patient id'") == Recipe().plan(
        NUMBERS, "outcome", groups="patient id"
    )


def test_a_variable_comes_before_a_column_of_its_name(shell):
    """As the name of a variable is what an option of the line takes."""
    shell.user_ns["outcome"] = 1 - NUMBERS["outcome"]
    result = run(shell, "%%nestedcv df outcome\nknn(k=[1, 3])")
    assert not any("holds" in note for note in result.notes)
    assert result.plan == Recipe().plan(NUMBERS, 1 - NUMBERS["outcome"])
