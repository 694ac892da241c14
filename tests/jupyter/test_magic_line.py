"""Options of the magic's line, its semicolon, its configuration."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from cvnb import Recipe, knn

X, y = load_iris(return_X_y=True)


def test_defaults_of_config_give_way_and_stand_only_where_splits_are_counted(shell):
    """The line wins; a number of folds is no share."""
    shell.run_line_magic("config", "NestedCVMagics.outer = '4'")
    shell.run_line_magic("config", "NestedCVMagics.inner = 'loo'")
    try:
        for line, expected in (
            ("X y --recipe cv_test --test .4", Recipe.cv_test(inner="loo", test=0.4)),
            ("X y --recipe validation", Recipe.validation()),
            ("X y --recipe dev_set", Recipe.dev_set()),
            ("X y --recipe train_validation_test", Recipe.train_validation_test()),
            ("X y --recipe resampling_test", Recipe.resampling_test()),
            ("X y --recipe external_cv", Recipe.external_cv(4)),
            ("X y --recipe nested_dev", Recipe.nested_dev(4)),
            ("X y --recipe nested_resampling", Recipe.nested_resampling()),
            ("X y --inner 3", Recipe(4, 3)),
        ):
            assert shell.run_line_magic("folds", line).recipe == repr(expected)
    finally:
        shell.run_line_magic("config", "NestedCVMagics.outer = ''")
        shell.run_line_magic("config", "NestedCVMagics.inner = ''")


def test_columns_may_be_called_by_numbers(shell):
    """--target 4 is the column 4."""
    frame = pd.DataFrame(X)
    frame[4], frame[5] = y, np.arange(150) // 5
    shell.user_ns["frame"] = frame
    shell.run_cell(
        "%%nestedcv frame --target 4 --groups 5 --outer 3 --inner 2 -o 'found' -q\nknn(k=[1, 3])"
    )
    expected = Recipe(3, 2).run(knn(k=[1, 3]), frame[[0, 1, 2, 3]], y, groups=frame[5])
    np.testing.assert_array_equal(
        shell.user_ns["found"].fold_risks, expected.fold_risks
    )


def test_a_scorer_may_be_an_expression(shell):
    """As every other option."""
    shell.run_cell("from sklearn.metrics import f1_score, make_scorer")
    line = "%%nestedcv X y --outer 3 --inner 2 -o found -q"
    scorer = "make_scorer(f1_score,average='macro')"
    shell.run_cell(f"{line} --scoring {scorer}\nknn(k=[1, 3])")
    expected = Recipe(3, 2).run(knn(k=[1, 3]), X, y, scoring="f1_macro")
    np.testing.assert_allclose(shell.user_ns["found"].fold_risks, expected.fold_risks)


def test_only_a_semicolon_that_python_sees_silences(shell, capsys):
    """One in a comment does not; one before a comment does."""
    for body, quiet in (
        ("knn(k=[1, 5])  # a;", False),
        ("knn(k=[1, 5])\n# end;", False),
        ("knn(k=[1, 5]);  # hi", True),
    ):
        done = shell.run_cell(f"%%nestedcv X y --outer 3 --inner 2\n{body}")
        assert (done.result is None) == quiet


def test_a_dry_run_is_bound_and_silenced_like_a_run(shell, capsys):
    """-o, -q and the semicolon; of several families too."""
    done = shell.run_cell("%%nestedcv X y --dry-run -q -o cost\nknn()")
    assert done.result is None
    assert shell.user_ns["cost"].fits > 0
    capsys.readouterr()
    shell.run_cell("%%nestedcv X y --dry-run -o costs\n{'a': knn(), 'b': knn(k=[1])};")
    assert list(shell.user_ns["costs"]) == ["a", "b"]
    assert capsys.readouterr().out == ""


def test_unloading_leaves_no_configurable(shell):
    """However often."""
    for _ in range(3):
        shell.run_line_magic("unload_ext", "cvnb")
        assert not [
            one for one in shell.configurables if type(one).__name__ == "NestedCVMagics"
        ]
        shell.run_line_magic("load_ext", "cvnb")
