"""The threads of a run help each other, stop on request, and can be left during a call."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_info, threadpool_limits

from cvnb.paths import prefix as stages
from cvnb.paths.prefix import fit_stoppably
from cvnb.runtime import cores
from cvnb.runtime.cancel import Stop, Stopped
from cvnb.runtime.threads import Team, pool_of, stoppable

X = np.random.default_rng(0).normal(size=(50, 3))


def team_of(pool, n):
    return Team(Stop(), pool, n)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_calls_of_a_team_come_in_order(n):
    """Whichever thread makes them, also if calls make calls of their own."""
    with pool_of(n) as pool:
        team = team_of(pool, n)
        found = team.map(lambda i: team.map(lambda k: 10 * i + k, range(7)), range(5))
    assert found == [[10 * i + k for k in range(7)] for i in range(5)]


def test_idle_threads_help():
    """Two calls that wait for each other are made at the same time."""
    barrier = threading.Barrier(2)
    with pool_of(2) as pool:
        assert team_of(pool, 2).map(lambda _: barrier.wait(30) >= 0, range(2)) == [
            True,
            True,
        ]


def test_the_first_error_is_raised_on_any_number_of_threads():
    """In the order of the items, not of the clock."""

    def call(i):
        time.sleep(0.02 if i == 1 else 0.0)
        if i:
            raise ValueError(f"item {i}")

    for n in (1, 2, 4):
        with pytest.raises(ValueError, match="item 1"), pool_of(n) as pool:
            team_of(pool, n).map(call, range(6))


def test_no_call_is_begun_after_a_stop():
    """The one that is being made is the last."""
    team, made = Team(Stop()), []

    def call(i):
        made.append(i)
        team.stop.set()

    with pytest.raises(Stopped):
        team.map(call, range(5))
    assert made == [0]


def in_a_thread(call):
    """What the call gives, or raises, in a thread of its own."""
    with pool_of(1) as pool:
        return pool.submit(call).result(60)


ENSEMBLES = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)


@pytest.mark.parametrize(
    "random_state", [0, np.random.RandomState(3), None], ids=["int", "instance", "none"]
)
@pytest.mark.parametrize("kind", ENSEMBLES)
def test_fits_that_can_be_stopped_predict_as_plain_ones(
    kind, random_state, monkeypatch
):
    """Bit by bit, grown in however many chunks; what is left of the model is as after one fit."""
    monkeypatch.setattr(stages, "CHUNK", 1e-3)
    y = (X[:, 0] > 0).astype(int) if kind.__name__.endswith("Classifier") else X[:, 0]
    w = np.linspace(1, 2, len(y))
    state = random_state if random_state is not None else np.random.RandomState(7)
    plain = clone(kind(n_estimators=23, random_state=state))
    grown = clone(plain)
    plain.fit(X, y, sample_weight=w)
    in_a_thread(lambda: fit_stoppably(grown, X, y, {"sample_weight": w}, Team(Stop())))
    assert np.array_equal(plain.predict(X), grown.predict(X))
    if hasattr(plain, "predict_proba"):
        assert np.array_equal(plain.predict_proba(X), grown.predict_proba(X))
    assert len(plain.estimators_) == len(grown.estimators_)
    assert grown.get_params()["n_estimators"] == 23
    assert not grown.get_params()["warm_start"]


@pytest.mark.parametrize(
    "class_weight", ["balanced", "balanced_subsample", {0: 2.0, 1: 1.0}]
)
def test_a_forest_with_class_weights_is_grown_in_silence(class_weight, monkeypatch):
    """scikit-learn warns that later chunks may have other rows; here they have the same."""
    monkeypatch.setattr(stages, "CHUNK", 1e-3)
    y = (X[:, 0] > 0).astype(int)
    plain = RandomForestClassifier(12, class_weight=class_weight, random_state=0)
    grown = clone(plain)
    plain.fit(X, y)
    in_a_thread(lambda: fit_stoppably(grown, X, y, {}, Team(Stop())))
    assert np.array_equal(plain.predict_proba(X), grown.predict_proba(X))


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_an_endless_fit_ends_when_it_is_stopped(kind):
    """Ten million trees are given up after a few."""
    y = (X[:, 0] > 0).astype(int) if kind.__name__.endswith("Classifier") else X[:, 0]
    stop = Stop()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(Stopped):
        in_a_thread(
            lambda: fit_stoppably(
                kind(n_estimators=10**7, random_state=0), X, y, {}, Team(stop)
            )
        )


def test_a_fit_that_cannot_be_stopped_is_named():
    """While it goes on in its thread, and no longer."""
    begun, end = threading.Event(), threading.Event()

    class Slow(AdaBoostClassifier):
        def fit(self, X, y, sample_weight=None):
            begun.set()
            end.wait(30)

    with pool_of(1) as pool:
        team = team_of(pool, 1)

        def call():
            with team.inside():
                fit_stoppably(Slow(), X, X[:, 0] > 0, {}, team)

        future = pool.submit(call)
        assert begun.wait(30)
        assert team.still_fitting() == ["Slow"]
        end.set()
        future.result(30)
        assert team.still_fitting() == []


def test_an_interrupt_of_a_stoppable_call_sets_its_flag():
    """This thread is back at once, and the call, in another one, is stopped."""
    stop, ended = Stop(), threading.Event()

    def call():
        while not stop.is_set():
            time.sleep(0.001)
        ended.set()

    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        stoppable(call, stop)
    assert ended.wait(30)


def test_a_stoppable_call_gives_and_raises_what_the_call_does():
    """As if it had been made here."""
    assert stoppable(lambda: 7, Stop()) == 7
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, Stop())


@pytest.mark.parametrize("nth", range(4))
def test_limits_of_matrix_libraries_outlive_an_interrupt_at_any_line(nth, monkeypatch):
    """Cut short while limits are set or put back, they are put back at the end of the next run."""
    with threadpool_limits(2):
        before, calls, put = limits(), [], cores._set_threads

        def cut_short(library, n):
            calls.append(n)
            if len(calls) == nth + 1:
                raise KeyboardInterrupt
            put(library, n)

        monkeypatch.setattr(cores, "_set_threads", cut_short)
        with pytest.raises(KeyboardInterrupt):
            limited(9)
        with cores.matrices_at_most(1):
            assert set(limits().values()) == {1}
        assert limits() == before


def limited(times):
    """Set the limits and put them back."""
    for _ in range(times):
        with cores.matrices_at_most(1):
            pass


def limits():
    """Threads of each matrix library."""
    return {
        one["filepath"]: one["num_threads"]
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }


def test_threads_share_a_call_only_when_no_other_call_waits():
    """While a whole call waits, an idle thread takes that one; the last call is shared."""
    barrier = threading.Barrier(2)

    def meet(_):
        barrier.wait(10)  # needs two threads
        return threading.get_ident()

    with pool_of(2) as pool:
        team = Team(Stop(), pool, 2)
        call = team.counted(lambda each, team: set(team.map(each, range(4))), 2)
        assert call(lambda _: threading.get_ident()) == {threading.get_ident()}
        assert len(call(meet)) == 2


def test_an_interrupt_while_waiting_is_a_keyboard_interrupt():
    """Whatever line of the waiting it comes to; inside threading.Condition it may be lost."""
    code = """
import os, signal, threading, time
from concurrent.futures import Future
from cvnb.runtime import threads
threads.POLL_SECONDS = 1e-5
gate, n = threading.Lock(), 1000
gate.acquire()
def press():
    for i in range(n):
        gate.acquire()
        time.sleep(1e-6 * i)
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
for i in range(n):
    try:
        gate.release()
        threads.wait_for(Future(), lambda: None)
    except KeyboardInterrupt:
        pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
