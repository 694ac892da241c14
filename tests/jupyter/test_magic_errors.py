"""Errors in a cell: one line for a user's mistake, a traceback for an estimator's."""

import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from cvnb import Recipe
from cvnb.errors import FitError

X, y = load_iris(return_X_y=True)


# joblib's own thread may look for a call that was given up meanwhile: KeyError in
# add_call_item_to_queue, once in hundreds
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_estimator_that_always_fails_keeps_its_traceback(shell):
    """The error says that every setting failed; its cause is what the estimator raised,
    where it raised it."""

    class Bad(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("inside fit")

    for n_jobs in (None, 2):
        with pytest.raises(FitError, match="every setting failed") as caught:
            Recipe(3, 2).run(Bad(), X, y, n_jobs=n_jobs)
        assert isinstance(caught.value.__cause__, RuntimeError)
        frames = [
            frame.name
            for frame in pytest.ExceptionInfo.from_exception(
                caught.value.__cause__
            ).traceback
        ]
        assert "fit" in frames
    shell.user_ns["Bad"] = Bad
    done = shell.run_cell("%%nestedcv X y --outer 3\nBad()")
    assert isinstance(done.error_in_exec, FitError)
    lines = "\n".join(done.error_in_exec._render_traceback_())
    assert "inside fit" in lines
    assert "magics.py" not in lines

    def wrong(y, prediction):
        raise KeyError("inside loss")

    with pytest.raises(FitError) as caught:
        Recipe(3, 2).run(DummyClassifier(), X, y, loss=wrong)
    assert "inside loss" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%nestedcv X y 'a\nknn()", "No closing quotation"),
        ("%%nestedcv X y -o class\nknn()", "-o 'class' is no name of a variable."),
        ("%%nestedcv X y -o None\nknn()", "-o 'None' is no name of a variable."),
    ],
)
def test_mistakes_are_one_line(shell, cell, words):
    """Quotes that are not closed, words that are no names."""
    done = shell.run_cell(cell)
    assert type(done.error_in_exec).__name__ == "NestedCVError"
    assert words in str(done.error_in_exec)
