"""What is said while a run goes on."""

import sys
from types import SimpleNamespace

import pytest

from cvnb import progress as module
from cvnb.progress import Progress


class Terminal:
    """A terminal that remembers what was written."""

    def __init__(self):
        self.lines = []

    def isatty(self):
        return True

    def write(self, text):
        self.lines.append(text.strip())

    def flush(self):
        pass


@pytest.fixture
def terminal(monkeypatch):
    """stderr as a terminal, progress switched on, and no second to wait for the first line."""
    monkeypatch.delenv("CVNB_PROGRESS", raising=False)
    monkeypatch.setattr(module, "AFTER", 0.0)
    monkeypatch.setattr(module, "EVERY", 0.0)
    terminal = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=terminal, modules=sys.modules))  # pytest puts stderr back
    return terminal


def test_splits_are_counted(terminal):
    """A path that goes split by split says how many are done and how long the others may take."""
    Progress(30, "auto")(10)
    assert terminal.lines[0].startswith("10 of 30 splits, about ")


def test_a_path_that_is_no_loop_over_splits_says_per_cent(terminal):
    """Work that serves many splits at once is told as a share."""
    shown = Progress(1.0, "auto", unit="")
    shown(0.0)
    shown(0.43)
    assert terminal.lines[0] == "0 % done"
    assert terminal.lines[1].startswith("43 % done, about ")


def test_a_sentence_is_said_once(terminal):
    """Compiling is said when it begins, not at every look."""
    shown = Progress(1.0, "auto")
    shown.say("compiling once")
    shown.say("compiling once")
    assert terminal.lines == ["compiling once"]


def test_a_silent_run_says_nothing(terminal):
    """progress="off" is silent, sentences too."""
    shown = Progress(1.0, "off")
    shown.say("compiling once")
    shown(0.5)
    shown.close()
    assert terminal.lines == []
