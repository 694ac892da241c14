"""What a run shows while it goes on."""

import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from cvnb import Family, Recipe
from cvnb.engine import progress as module
from cvnb.engine.progress import Progress, Slot
from cvnb.losses.scale import decimals_of, written


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
    """stderr as a terminal, progress switched on, and hardly a wait for the first line."""
    monkeypatch.delenv("CVNB_PROGRESS", raising=False)
    monkeypatch.setattr(module, "AFTER", 0.02)
    monkeypatch.setattr(module, "EVERY", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(
        module, "sys", SimpleNamespace(stderr=terminal, modules=sys.modules)
    )  # pytest puts stderr back
    return terminal


def wait_for(condition):
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)
    return condition()


def test_splits_are_counted(terminal):
    """A path that goes split by split shows how many are done, the details and the time left."""
    shown = Progress(30, Slot())
    shown(10, lambda: "error rate so far 5 %")
    assert wait_for(lambda: terminal.lines)
    shown.close()
    shown.slot.clear()
    assert terminal.lines[0].startswith(
        "10 of 30 splits, error rate so far 5 %, about "
    )
    assert terminal.lines[-1] == ""


def test_a_path_that_is_no_loop_over_splits_shows_per_cent(terminal):
    """Work that serves many splits at once is shown as a share."""
    shown = Progress(1.0, Slot(), unit="")
    assert wait_for(lambda: terminal.lines)
    shown(0.43)
    assert wait_for(lambda: len(terminal.lines) > 1)
    shown.close()
    assert terminal.lines[0] == "0 % done"
    assert terminal.lines[1].startswith("43 % done, about ")


def test_a_sentence_is_shown_until_the_next_count(terminal):
    """Compiling is shown while it goes on, once."""
    shown = Progress(1.0, Slot())
    shown.explain("compiling once")
    assert wait_for(lambda: terminal.lines)
    time.sleep(0.1)
    assert terminal.lines == ["compiling once"]
    shown(0.5)
    assert wait_for(lambda: len(terminal.lines) > 1)
    shown.close()
    assert terminal.lines[1].startswith("0 of 1 splits")


def test_a_long_fit_is_named_while_it_is_waited_for(terminal):
    """A separate thread draws: nothing is done yet, and the line names the current fit."""
    shown = Progress(30, Slot())
    shown(0, lambda: "now inner split 0 of outer split 0")
    assert wait_for(lambda: terminal.lines)
    shown.close()
    assert terminal.lines[0] == "0 of 30 splits, now inner split 0 of outer split 0"


def test_a_short_run_draws_nothing(terminal, monkeypatch):
    """And its thread ends with it."""
    monkeypatch.setattr(module, "AFTER", 30.0)
    before = threading.active_count()
    shown = Progress(30, Slot())
    shown(10)
    shown.close()
    assert terminal.lines == []
    assert threading.active_count() == before


def test_a_silent_run_shows_nothing(terminal):
    """progress="off" is silent, sentences too, and starts no thread."""
    shown = Progress(1.0, None)
    shown.explain("compiling once")
    shown(0.5)
    assert shown.ticker is None
    shown.close()
    assert terminal.lines == []


def test_a_run_shows_the_fit_and_the_risk_so_far(terminal, monkeypatch):
    """Slow fits, one after the other: split numbers, and after the first outer split the
    mean of what was measured."""
    result = Recipe(4, 2).run(
        Family(Slow(), {"quantile": [0.4, 0.6]}),
        np.arange(24.0).reshape(-1, 1),
        np.arange(24.0),
    )
    lines = " | ".join(terminal.lines)
    assert "of 12 splits, now inner fold" in lines
    first = written(result.fold_risks[0], decimals_of(None, result.fold_risks[0]))
    assert f"mean squared error so far {first} in 1 outer fold" in lines


class Slow(DummyRegressor):
    """Takes its time."""

    def __init__(self, quantile=0.5, strategy="quantile", constant=None):
        super().__init__(strategy=strategy, quantile=quantile, constant=constant)

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.03)
        return super().fit(X, y, sample_weight)
