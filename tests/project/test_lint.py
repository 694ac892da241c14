"""Format, style and types are part of the suite: `make lint` runs the same three commands."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", ["ruff format --check", "ruff check", "mypy"])
def test_the_tree_is_clean(command):
    """Each linter has nothing to say about the whole tree."""
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"


def test_no_line_of_a_script_or_style_is_longer_than_100_characters():
    """As in Python, where ruff tests it."""
    files = [p for p in (ROOT / "cvnb").rglob("*") if p.suffix in (".js", ".css")]
    assert files
    long = [
        (path.name, number)
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if len(line) > 100
    ]
    assert long == []
