"""The threads of a run can be left in the middle of their calls."""

import logging
import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from cvnb import cores
from cvnb.threads import Abandoned, Crew, stoppable

X = np.random.default_rng(0).normal(size=(50, 3))


def endless(begun):
    """A fit that would take hours."""
    begun.set()
    GradientBoostingRegressor(n_estimators=10**7).fit(X, X[:, 0])


def gone(crew):
    """Whether the threads of a crew end; a generous while."""
    for thread in crew._threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in crew._threads)


def test_a_fit_that_is_begun_ends_when_it_is_left():
    """A fit without an end is ended, one that waits its turn is never begun."""
    crew, begun = Crew(1), threading.Event()
    inside, behind = crew.submit(endless, begun), crew.submit(begun.clear)
    assert begun.wait(30)
    crew.leave()
    assert gone(crew)
    assert isinstance(inside.exception(0), Abandoned)
    assert behind.cancelled()
    assert begun.is_set()


def test_a_fit_that_loses_the_exception_is_told_again(monkeypatch):
    """A callback may swallow what is raised in it: here every tree swallows the first of them."""
    fit, swallowed = DecisionTreeRegressor._fit, []

    def deaf(self, *args, **kwargs):
        try:
            return fit(self, *args, **kwargs)
        except Abandoned:
            swallowed.append(1)
            if len(swallowed) > 1:
                raise
            return fit(self, *args, **kwargs)

    monkeypatch.setattr(DecisionTreeRegressor, "_fit", deaf)
    crew, begun = Crew(1), threading.Event()
    crew.submit(endless, begun)
    assert begun.wait(30)
    crew.leave()
    assert gone(crew)


def test_only_models_are_ended():
    """What takes a lock or compiles is not interrupted in the middle: the lock would never be let go of."""
    crew, held, done, end = Crew(1), threading.Event(), threading.Event(), threading.Event()

    def locked():
        held.set()
        end.wait(30)
        done.set()

    crew.submit(locked)
    assert held.wait(30)
    crew.leave()
    time.sleep(0.2)
    end.set()
    assert gone(crew)
    assert done.is_set()


def test_a_call_that_nobody_waits_for_is_not_begun():
    """A thread that took it up just before the crew was left does not make it."""
    crew, made = Crew(1), []
    crew.leave()
    with pytest.raises(Abandoned):
        crew._made(made.append, 1)
    assert made == []


def test_fits_are_left_in_silence(caplog, capfd):
    """Left at any moment, threads end, and nothing is raised in them outside of a call."""
    caplog.set_level(logging.DEBUG)
    draw, model = random.Random(0), DecisionTreeRegressor(max_depth=2)
    for _ in range(100):
        crew = Crew(2)
        futures = [crew.submit(model.fit, X, X[:, 0]) for _ in range(30)]
        time.sleep(draw.random() * 5e-3)
        crew.leave()
        assert gone(crew)
        assert all(future.done() for future in futures)
    assert caplog.records == []
    assert capfd.readouterr().err == ""


def test_an_interrupt_of_a_stoppable_call_sets_its_flag():
    """This thread is back at once, and the call, in another one, is told to end."""
    stop, ended = np.zeros(1, dtype=np.uint8), threading.Event()

    def call():
        while not stop[0]:
            time.sleep(0.001)
        ended.set()

    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        stoppable(call, stop)
    assert ended.wait(30)


def test_a_stoppable_call_gives_and_raises_what_the_call_does():
    """As if it had been made here."""
    assert stoppable(lambda: 7, np.zeros(1, dtype=np.uint8)) == 7
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, np.zeros(1, dtype=np.uint8))


@pytest.mark.parametrize("nth", range(4))
def test_limits_of_matrix_libraries_outlive_an_interrupt_at_any_line(nth, monkeypatch):
    """Cut short while limits are set or put back, they are put back at the end of the next run."""
    with threadpool_limits(2):
        before, calls, put = limits(), [], cores._set

        def cut_short(library, n):
            calls.append(n)
            if len(calls) == nth + 1:
                raise KeyboardInterrupt
            put(library, n)

        monkeypatch.setattr(cores, "_set", cut_short)
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
    return {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
