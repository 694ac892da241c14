"""Tab completion in magics."""

import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter


def completions(shell, text, cursor=None):
    with provisionalcompleter():
        return [
            one.text
            for one in shell.Completer.completions(
                text, len(text) if cursor is None else cursor
            )
        ]


@pytest.mark.parametrize(
    "body",
    [
        "family = np.linalg.in",
        "family = fra",
        "grid = dict(k=fra",
        "    knn(k=ran",
        "x" * 60 + " = Fam",
    ],
)
def test_the_body_is_completed_wherever_the_cursor_stands(shell, body):
    """The matcher looks at the line of the cursor, not at the magic's by the cursor's column."""
    shell.user_ns["np"] = np
    cell = f"%%nestedcv X y --outer 3\n{body}"
    found = completions(shell, cell)
    assert all(not one.startswith("--") for one in found)
    if "linalg" in body:
        assert any("inv" in one for one in found)


def test_line_magics_are_completed_on_any_line(shell):
    """Indented, assigned from, and values behind an equals sign; IPython's own lists are no
    data."""
    assert "--inner" in completions(shell, "a = 1\n    %folds X y --in")
    assert "--inner" in completions(shell, "p = %folds X y --in")
    assert "nested_cv" in completions(shell, "%%nestedcv X y --recipe=nested_c")
    assert "loo" in completions(shell, "%folds X y --outer=l")
    assert "In" not in completions(shell, "%folds I")
