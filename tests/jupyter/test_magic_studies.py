"""--seeds, --shuffles and --sizes of %%nestedcv in a real IPython shell."""

import numpy as np
import pytest
from IPython.utils.io import capture_output
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from cvnb import knn, nested_cv
from cvnb.jupyter.magic_line import NestedCVError
from cvnb.jupyter.magics import NestedCVInterrupted
from cvnb.studies import learning_curve, null_test, over_seeds

X, y = load_iris(return_X_y=True)
BODY = "knn(k=[1, 5, 9])"


class StopsAfter(DummyClassifier):
    """Raises KeyboardInterrupt in fit number `last`."""

    fits, last = 0, 1000

    def fit(self, X, y, sample_weight=None):
        StopsAfter.fits += 1
        if StopsAfter.fits == StopsAfter.last:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def cell(shell, text):
    """Run a cell; return (what it showed, the error that it raised)."""
    with capture_output() as shown:
        done = shell.run_cell(text)
    return shown, done.error_in_exec


def test_the_studies_follow_the_result(shell):
    """Each equals the function; the result stays _ and NAME."""
    line = "%%nestedcv X y --seeds 4 --shuffles 5 --sizes 3 -o risk"
    shown, error = cell(shell, f"{line}\n{BODY}")
    assert error is None
    result, names = nested_cv(knn(k=[1, 5, 9]), X, y), shell.user_ns
    assert names["risk"].risk == result.risk
    assert names["_"] is names["risk"]
    assert np.array_equal(names["risk_seeds"].risks, over_seeds(result, n=4).risks)
    assert np.array_equal(names["risk_shuffles"].risks, null_test(result, n=5).risks)
    curve = learning_curve(result, sizes=3)
    assert np.array_equal(names["risk_sizes"].risks, curve.risks)
    texts = [output.data["text/plain"] for output in shown.outputs]
    assert [text.split()[0] for text in texts] == [
        f"{100 * result.risk:.1f}",
        *["Error"] * 3,
    ]


def test_sizes_may_be_a_list(shell):
    """The numbers of training rows, by name or in brackets."""
    cell(shell, f"%%nestedcv X y --sizes [30,60] -o risk -q\n{BODY}")
    assert shell.user_ns["risk_sizes"].sizes.tolist() == [30, 60]


def test_a_comparison_has_a_study_of_each_member(shell):
    """NAME_seeds is a dict by the name of the family."""
    cell(
        shell,
        "%%nestedcv X y --seeds 2 -o both -q\n{'a': knn(k=[1, 5]), 'b': knn(k=[1])}",
    )
    assert list(shell.user_ns["both_seeds"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--seeds 0", "--seeds=0 must be a whole number >= 1"),
        ("--shuffles many", "--shuffles"),
        ("--seeds 3 --dry-run", "leave out --seeds"),
        ("--shuffles 3 --background", r"null_test\(job.result\)"),
    ],
)
def test_what_cannot_be_asked_is_one_line(shell, line, words):
    """Before anything is run."""
    _, error = cell(shell, f"%%nestedcv X y -o never {line}\n{BODY}")
    assert isinstance(error, NestedCVError)
    with pytest.raises(NestedCVError, match=words):
        raise error
    assert "never" not in shell.user_ns


def test_an_interrupted_study_is_shown_and_bound(shell):
    """What is finished; the result is complete and stays."""
    shell.user_ns["StopsAfter"] = StopsAfter
    StopsAfter.fits, StopsAfter.last = 0, 3 + 3 * 2 + 2
    text = (
        "%%nestedcv X y --recipe external_cv --outer 3 --seeds 6 -o risk\nStopsAfter()"
    )
    _, error = cell(shell, text)
    assert isinstance(error, NestedCVInterrupted)
    assert "2 of 6 seeds were finished" in str(error)
    assert shell.user_ns["risk"].complete
    assert shell.user_ns["risk_seeds"].risks.size == 2
    assert not shell.user_ns["risk_seeds"].complete
