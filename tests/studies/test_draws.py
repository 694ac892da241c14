"""Studies as long work: memory, sharing, progress, interrupts, workers."""

import gc
import os
import signal
import threading
import time
import tracemalloc

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Interrupted, Recipe, knn, nested_cv
from cvnb.engine import fill as engine_fill
from cvnb.engine import study as engine_study
from cvnb.engine.progress import Slot
from cvnb.paths.knn.lists import ListFiller
from cvnb.studies import learning_curve, null_test, over_seeds
from studied import CLASSES, X

RANDOM = np.random.default_rng(0)
BIG, LABELS = RANDOM.normal(size=(600, 5)), RANDOM.integers(0, 2, 600)


def test_neighbours_are_searched_once_for_all_draws(monkeypatch):
    """A study of many chunks makes the lists of one run."""
    found, find = [], ListFiller.__call__
    monkeypatch.setattr(
        ListFiller,
        "__call__",
        lambda self, piece, team: found.append(piece) or find(self, piece, team),
    )
    monkeypatch.setattr(engine_study, "GROWTH", 1)
    result = nested_cv(knn(k=[1, 5], scale=False), BIG, LABELS)
    once = len(found)
    found.clear()
    over_seeds(result, n=12)
    assert len(found) == once
    found.clear()
    null_test(result, n=12)
    assert len(found) == once


def test_memory_does_not_grow_with_the_draws():
    """A draw leaves its risk, not its rows."""
    result = nested_cv(knn(k=[1, 5], scale=False), BIG, LABELS)

    def kept(n):
        tracemalloc.start()
        study = null_test(result, n=n, progress="off")
        gc.collect()  # cycles of the interpreter's own are no draws
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert study.risks.size == n
        return size

    kept(5)
    assert kept(400) - kept(100) < 300 * 600


def test_chunks_are_bounded_by_the_bytes_of_their_tables(monkeypatch):
    """With little room every draw is a chunk of its own, and the numbers are the same."""
    result = nested_cv(knn(k=[1, 5], scale=False), BIG, LABELS)
    whole = over_seeds(result, n=9).risks
    sizes, fill = [], engine_study.fill_draws
    monkeypatch.setattr(
        engine_study,
        "fill_draws",
        lambda work, draws, *rest: sizes.append(len(draws)) or fill(work, draws, *rest),
    )
    monkeypatch.setattr(engine_study, "CHUNK_BYTES", 1)
    assert np.array_equal(over_seeds(result, n=9).risks, whole)
    assert sizes == [1] * 9


def test_progress_counts_draws(monkeypatch):
    """The bar moves to its end, and the sentence names what is counted."""
    seen = []
    monkeypatch.setattr(Slot, "seen", property(lambda self: self.shows))
    monkeypatch.setattr(
        Slot, "draw", lambda self, text: seen.append((self.share, text))
    )
    monkeypatch.setattr("cvnb.engine.progress.AFTER", 0.0)
    monkeypatch.setattr("cvnb.engine.progress.EVERY", 0.002)
    result = Recipe(3, 2).run(
        Family(DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 9]}),
        X,
        CLASSES,
    )
    seen.clear()
    over_seeds(result, n=20)
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert any("of 20 seeds" in text for _, text in seen)
    seen.clear()
    over_seeds(result, n=5, progress="off")
    assert not seen


class Slow(DecisionTreeClassifier):
    """Takes 30 ms for a fit."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.03)
        return super().fit(X, y, sample_weight)


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a thread's own process")
@pytest.mark.parametrize("study", [over_seeds, null_test, learning_curve])
@pytest.mark.parametrize("kind", ["refit", "k-NN"])
def test_an_interrupt_keeps_finished_draws(study, kind):
    """Answered within 0.3 s; what is there equals the uninterrupted study."""
    if kind == "refit":
        family, rows = Family(Slow(random_state=0), {"max_depth": [1, 2]}), (X, CLASSES)
        result, after = Recipe(2, 2).run(family, *rows), 1.0
        options = {"sizes": [10, 20], "repeats": 5}
    else:
        family, rows = knn(k=range(1, 40)), (BIG, LABELS)
        result, after = nested_cv(family, *rows), 0.5
        options = {"sizes": [100, 200, 480], "repeats": 300}
    if study is not learning_curve:
        options = {"n": 300 if kind == "refit" else 20_000}
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(Interrupted, match="were finished; error") as caught:
            study(result, **options)
        answered = time.monotonic() - sent[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert answered < 2.0  # 0.3 s on an idle machine
    part = caught.value.result
    assert not part.complete
    risks = part.risks.ravel()
    done = risks[np.isfinite(risks)]
    assert 0 < done.size < risks.size or study is not learning_curve
    if study is not learning_curve:
        again = study(result, n=min(3, done.size))
        assert np.array_equal(again.risks, done[:3])


def test_an_interrupt_while_a_path_is_chosen_is_not_lost(monkeypatch):
    """No draw is skipped: the finished ones are the first."""
    result = nested_cv(knn(k=[1, 5], scale=False), BIG, LABELS)
    whole, choose, calls = over_seeds(result, n=9).risks, engine_fill.choose_path, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return choose(*arguments)

    monkeypatch.setattr(engine_fill, "choose_path", interrupted)
    monkeypatch.setattr(engine_study, "GROWTH", 1)
    with pytest.raises(Interrupted, match="2 of 9 seeds were finished") as caught:
        over_seeds(result, n=9)
    assert np.array_equal(caught.value.result.risks, whole[:2])


def test_nothing_finished_is_no_result():
    """An interrupt in the first draw."""

    class Stops(KNeighborsClassifier):
        broken = False

        def fit(self, X, y):
            if Stops.broken:
                raise KeyboardInterrupt
            return super().fit(X, y)

    result = Recipe(2, 2).run(Family(Stops(), {"n_neighbors": [1, 3]}), X, CLASSES)
    Stops.broken = True
    with pytest.raises(Interrupted, match="0 of 5 seeds") as caught:
        over_seeds(result, n=5)
    assert caught.value.result is None


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_give_the_same_numbers(backend):
    """joblib's backends change the time of a study and nothing else."""
    family = Family(
        DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 9]}
    )
    result = Recipe(3, 2).run(family, X, CLASSES)
    alone = over_seeds(result, n=4).risks
    with parallel_config(backend=backend, n_jobs=2):
        assert np.array_equal(over_seeds(result, n=4).risks, alone)
    assert np.array_equal(over_seeds(result, n=4, n_jobs=2).risks, alone)


def test_the_result_and_the_data_stay_as_they_are():
    """No study changes what it was given, nor the global random state."""
    A, labels = BIG.copy(), LABELS.copy()
    result = nested_cv(knn(k=[1, 5], scale=False), A, labels)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    for study in (over_seeds, null_test):
        study(result, n=3)
    learning_curve(result, sizes=3, repeats=2)
    assert np.array_equal(A, BIG)
    assert np.array_equal(labels, LABELS)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
