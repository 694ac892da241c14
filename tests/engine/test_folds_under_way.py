"""The row map of a run that goes on: finished, running and waiting folds are told apart."""

import base64
import re

import pytest
from sklearn.dummy import DummyClassifier

from cvnb import Family, Recipe, knn
from cvnb.data.table import Data
from cvnb.engine.progress import Slot
from cvnb.runs.options import DEFAULTS, Options
from cvnb.runs.prepare import prepare
from plans import X, y


class Watching(Slot):
    """A slot that keeps what each fold is, at every step of the run."""

    def __init__(self):
        super().__init__(shows=False)
        self.steps, self.maps = [], []

    def advance(self, share):
        super().advance(share)
        if self.folds is not None:
            self.steps.append(self.folds()[1])
            self.maps.append(self.row_map())


def watched(family, recipe, **options):
    slot = Watching()
    data = Data.check(X, y, None, None)
    prepare(recipe, family, data, Options(**{**DEFAULTS, **options})).run(slot)
    return slot


FAMILIES = {
    "refit": (Family(DummyClassifier(), {"strategy": ["prior", "uniform"]}), {}),
    "workers": (
        Family(DummyClassifier(), {"strategy": ["prior", "uniform"]}),
        {"n_jobs": 2},
    ),
    "kernels": (knn(k=[1, 3]), {}),
}


@pytest.mark.parametrize("case", FAMILIES)
def test_a_fold_is_waiting_then_running_then_finished(case):
    """Never finished before, and never waiting again."""
    family, options = FAMILIES[case]
    slot = watched(family, Recipe(4, 3), **options)
    order = {"waiting": 0, "running": 1, "": 2}
    for j in range(4):
        ranks = [order[step.get(j, "")] for step in slot.steps]
        assert ranks == sorted(ranks)
    assert set(slot.steps[-1]) <= {3}  # its last answer is still to be written
    assert slot.folds is None  # the slot outlives the run
    assert slot.row_map() == ""


def test_split_by_split_the_later_folds_wait():
    """While the first one runs."""
    slot = watched(*FAMILIES["refit"][:1], Recipe(4, 3))
    assert {0: "running", 3: "waiting"}.items() <= slot.steps[0].items()


def test_the_map_is_drawn_from_these_words():
    """A picture in an <img>, which names what is not finished."""
    slot = watched(*FAMILIES["refit"][:1], Recipe(4, 3))
    assert "fold 1 running" in slot.maps[0]
    assert "fold 4 waiting" in slot.maps[0]
    filled = []
    for page in slot.maps:
        svg = base64.b64decode(re.search(r"base64,([\w+/=]+)", page)[1]).decode()
        tested = re.search(r'<path class="t" d="([^"]*)"', svg)
        filled.append(tested[1].count("z") if tested else 0)
    assert filled == sorted(filled)
    assert sorted(set(filled)) == [0, 1, 2, 3]


def test_where_nothing_is_held_out_or_rows_are_many_there_is_no_map(monkeypatch):
    """There is no fold to fill, or drawing would take longer than the run."""
    inside = watched(*FAMILIES["refit"][:1], Recipe.internal_cv(3))
    assert set(inside.maps) == {""}
    monkeypatch.setattr("cvnb.engine.progress.MOST_ROWS", 59)
    many = watched(*FAMILIES["refit"][:1], Recipe(4, 3))
    assert set(many.maps) == {""}
