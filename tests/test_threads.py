"""The threads of a run can be left in the middle of their calls."""

import logging
import os
import random
import signal
import threading
import time

import numpy as np
import pytest

from cvnb.threads import Abandoned, Crew, stoppable


def endless(begun):
    """A call that is Python all along."""
    begun.set()
    while True:
        time.sleep(0.001)


def gone(crew):
    """Whether the threads of a crew end; a generous while."""
    for thread in crew._threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in crew._threads)


def test_what_is_begun_ends_when_it_is_left():
    """A call without an end is ended, one that waits its turn is never begun."""
    crew, begun = Crew(1), threading.Event()
    inside, behind = crew.submit(endless, begun), crew.submit(begun.clear)
    assert begun.wait(30)
    crew.leave()
    assert gone(crew)
    assert isinstance(inside.exception(0), Abandoned)
    assert behind.cancelled()
    assert begun.is_set()


def test_a_call_that_nobody_waits_for_is_not_begun():
    """A thread that took it up just before the crew was left does not make it."""
    crew, made = Crew(1), []
    crew.leave()
    with pytest.raises(Abandoned):
        crew._made(made.append, 1)
    assert made == []


def test_only_calls_are_ended(caplog):
    """Left at any moment, threads end in silence: nothing is raised in them outside of a call."""
    caplog.set_level(logging.DEBUG)
    draw = random.Random(0)
    for _ in range(1000):
        crew = Crew(2)
        futures = [crew.submit(sum, range(draw.randrange(3000))) for _ in range(30)]
        time.sleep(draw.random() * 1e-3)
        crew.leave()
        assert gone(crew)
        assert all(future.done() for future in futures)
    assert caplog.records == []


def test_an_interrupt_of_a_stoppable_call_ends_it():
    """This thread is back at once, the flag is set for kernels, and what is Python ends by itself."""
    stop, ended = np.zeros(1, dtype=np.uint8), threading.Event()

    def call():
        try:
            endless(threading.Event())
        finally:
            ended.set()

    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        stoppable(call, stop)
    assert stop[0]
    assert ended.wait(30)


def test_a_stoppable_call_gives_and_raises_what_the_call_does():
    """As if it had been made here."""
    assert stoppable(lambda: 7, np.zeros(1, dtype=np.uint8)) == 7
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, np.zeros(1, dtype=np.uint8))
