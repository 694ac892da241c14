"""Format, style and types are part of the suite: `make lint` runs the same three commands."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


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
