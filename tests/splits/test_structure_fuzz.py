"""Two hundred random plans over strata, groups, times and buffers; the audit is the oracle."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit

from cvnb import Plan, Recipe
from cvnb.errors import CvnbError
from cvnb.splits.layouts import Pairs
from cvnb.splits.specs import LikeOuterTest, Resampling

N_PLANS = 200
START = np.datetime64("2024-02-20T00:00", "m")


class Case(NamedTuple):
    """A recipe with the rows that it splits."""

    recipe: Recipe
    y: np.ndarray
    groups: np.ndarray | None
    times: np.ndarray | None

    @property
    def plan(self) -> Plan:
        X = np.arange(float(self.y.size))[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.recipe.plan(X, self.y, groups=self.groups, times=self.times)


def one_of(rng, values):
    return values[rng.integers(len(values))]


def times_of(rng, n_rows):
    """None, whole or floating numbers, or dates; with ties, in any order."""
    kind = one_of(rng, ["none", "numbers", "floats", "dates", "dates"])
    if kind == "none":
        return kind, None
    moments = rng.integers(
        0, one_of(rng, [n_rows // 2, 3 * n_rows, 20 * n_rows]), n_rows
    )
    if rng.random() < 0.3:
        moments = np.sort(moments)
    if kind == "floats":
        return kind, moments * 0.1
    return kind, moments if kind == "numbers" else START + moments * np.timedelta64(
        6, "h"
    )


def groups_of(rng, times, n_rows):
    """None, groups of neighbours in time, or any groups."""
    kind = one_of(rng, ["none", "none", "runs", "any"])
    if kind == "none":
        return None
    groups = rng.integers(0, n_rows // 3, n_rows)
    if kind == "any":
        return groups
    order = np.arange(n_rows) if times is None else np.argsort(times, kind="stable")
    runs = np.empty(n_rows, dtype=int)
    runs[order] = np.sort(groups)
    return runs


def random_case(seed):
    """A recipe and rows; many of them cannot be split."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(20, 90))
    y = rng.normal(size=n_rows)
    if rng.random() < 0.25:
        y = rng.integers(0, 3, n_rows)
    time_ordered = one_of(rng, [False, True, "forward", "forward"])
    kind, times = times_of(rng, n_rows) if time_ordered else ("none", None)
    buffers = {
        "none": [0, 0, 1, 3],
        "numbers": [0, 2, 2.5],
        "floats": [0, 1, 0.75],
        "dates": [0, 2, "1D", "30h", np.timedelta64(9, "h")],
    }
    folds = [2, 3, 4, 5, 0.2, 0.35]
    options = {
        "outer": one_of(rng, [*folds, None, Resampling(3, 0.25)]),
        "inner": one_of(rng, [*folds, LikeOuterTest(), "loo"]),
        "seed": int(rng.integers(100)),
        "shuffle": bool(rng.random() < 0.8),
        "stratify": one_of(rng, ["auto", "auto", False, True, 2, 4]),
        "time_ordered": time_ordered,
        "buffer": one_of(rng, buffers[kind]) if time_ordered else 0,
    }
    if options["outer"] == 2 and isinstance(options["inner"], LikeOuterTest):
        return None  # Recipe.nested_dev, its only name, refuses two folds
    try:
        recipe = Recipe(**options)
    except CvnbError:
        return None
    return Case(recipe, y, groups_of(rng, times, n_rows), times)


def planned():
    """The first cases whose splits can be drawn, with their plans."""
    found, seed = [], 0
    while len(found) < N_PLANS:
        seed += 1
        case = random_case(seed)
        if case is None:
            continue
        try:
            found.append((case, case.plan))
        except CvnbError:
            continue
    return found


@pytest.fixture(scope="module")
def plans():
    return planned()


def test_every_plan_passes_its_audit(plans):
    """At both levels: disjoint parts, whole groups, buffers in rows and time, nothing newer."""
    for case, plan in plans:
        assert plan.audit().ok, (case.recipe, plan.audit())


def test_every_plan_is_read_back_from_json(plans):
    """With the same splits, the same audit and the same text."""
    for case, plan in plans:
        again = Plan.from_json(plan.to_json())
        assert again == plan, case.recipe
        assert again.audit() == plan.audit()
        assert again.to_json() == plan.to_json()


def test_every_recipe_is_made_again_by_its_repr(plans):
    """Bins, designs and durations too."""
    names = {"Recipe": Recipe, "Resampling": Resampling}
    for case, plan in plans:
        assert eval(plan.recipe, names) == case.recipe


def naive_findings(case, plan):
    """What is wrong with a plan, by loops over rows; for every split of both levels."""
    recipe, n_rows = case.recipe, case.y.size
    when = np.arange(n_rows) if case.times is None else case.times
    is_duration = isinstance(recipe.buffer, str | float)
    in_units = is_duration or (case.times is not None and when.dtype.kind != "M")
    gap = recipe.buffer
    if isinstance(gap, str):
        gap = np.timedelta64({"1D": 24, "30h": 30, "9h": 9}[gap], "h")
    elif in_units and when.dtype.kind == "M":
        gap = np.timedelta64(0, "h")
    for _, splits in plan.levels():
        for train, test in splits:
            if set(train) & set(test):
                yield "overlap"
            if case.groups is not None and set(case.groups[train]) & set(
                case.groups[test]
            ):
                yield "group"
            if not recipe.time_ordered:
                continue
            if (
                recipe.time_ordered == "forward"
                and when[train].max() >= when[test].min()
            ):
                yield "newer"
            if set(when[train].tolist()) & set(when[test].tolist()):
                yield "tied"
            if in_units and any(
                np.abs(when[train] - t).min() <= gap for t in when[test]
            ):
                yield "near"


def test_every_plan_passes_a_naive_check(plans):
    """The audit is not the only judge: the same by loops over the rows as the user gave them."""
    for case, plan in plans:
        assert list(naive_findings(case, plan)) == [], case.recipe


def test_the_audit_sees_a_row_moved_into_the_training_part(plans):
    """Of plans in time: one barred row that trains is one finding."""
    n_forged = 0
    for case, plan in plans:
        if not case.recipe.time_ordered or plan.timing is None or not len(plan.outer):
            continue
        train, test = plan.outer[0]
        barred = np.setdiff1d(np.flatnonzero(plan.timing.barred(test)), test)
        if not barred.size:
            continue
        fields = {name: getattr(plan, name) for name in Plan.__dataclass_fields__}
        fields |= {"inner_layouts": None, "group_codes": None}
        pairs = [(np.sort(np.append(train, barred[0])), test), *list(plan.outer)[1:]]
        forged = Plan(**fields | {"outer_layout": Pairs(pairs, plan.n_rows)})
        (finding,) = forged.audit().findings
        assert finding.startswith("outer split 0: 1 training row "), case.recipe
        n_forged += 1
    assert n_forged > 30


def test_the_cases_cover_what_they_should(plans):
    """Each kind of structure is there often enough to be a test."""
    kinds = {
        "bins": [
            isinstance(c.recipe.stratify, int) and c.recipe.stratify > 1
            for c, _ in plans
        ],
        "groups": [c.groups is not None for c, _ in plans],
        "forward": [c.recipe.time_ordered == "forward" for c, _ in plans],
        "blocks": [c.recipe.time_ordered is True for c, _ in plans],
        "dates": [c.times is not None and c.times.dtype.kind == "M" for c, _ in plans],
        "numbers": [
            c.times is not None and c.times.dtype.kind != "M" for c, _ in plans
        ],
        "durations": [isinstance(c.recipe.buffer, str) for c, _ in plans],
        "rows": [c.recipe.buffer in (1, 3) for c, _ in plans],
        "groups in time": [
            c.groups is not None and c.times is not None for c, _ in plans
        ],
        "both levels": [len(p.outer) > 0 and p.n_inner > 0 for _, p in plans],
    }
    rare = {kind: sum(flags) for kind, flags in kinds.items() if sum(flags) < 8}
    assert rare == {}


# Splitters of other packages


class Purged:
    """A splitter as other packages write them: no base class, split and get_n_splits only.

    It reads the index of X, and drops training rows within two days of the test part.
    """

    def __init__(self, n_splits=3):
        self.n_splits = n_splits

    def get_n_splits(self, X=None, y=None, groups=None):
        return self.n_splits

    def split(self, X, y=None, groups=None):
        assert len(X) == len(y)
        days = X.index.to_numpy()
        for test in np.array_split(np.arange(len(X)), self.n_splits):
            distance = np.abs(days[:, None] - days[test]).min(axis=1)
            yield np.flatnonzero(distance > np.timedelta64(2, "D")), test


class Walk:
    """Yields lists, not arrays, and never tests the first rows."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        third = len(X) // 3
        yield list(range(third)), list(range(third, 2 * third))
        yield list(range(2 * third)), list(range(2 * third, len(X)))


@pytest.mark.parametrize(
    "inner", [Purged(2), Walk(), TimeSeriesSplit(2)], ids=["purged", "walk", "series"]
)
@pytest.mark.parametrize("outer", [Purged(4), Walk()], ids=["purged", "walk"])
def test_splitters_of_other_packages_work_as_given_at_both_levels(outer, inner):
    """Their own index, their own rows, inside each training part too; and a run uses them."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    index = pd.date_range("2024-01-01", periods=60)
    X = pd.DataFrame(rng.normal(size=(60, 2)), index=index)
    y = rng.normal(size=60)
    recipe = Recipe(outer=outer, inner=inner)
    plan = recipe.plan(X, y)
    for j, (train, test) in enumerate(outer.split(X, y)):
        assert plan.outer[j][0].tolist() == list(train)
        assert plan.outer[j][1].tolist() == list(test)
        part = inner.split(X.iloc[train], y[train])
        for own, (a, b) in zip(plan.inner[j], part, strict=True):
            assert own[0].tolist() == np.asarray(train)[a].tolist()
            assert own[1].tolist() == np.asarray(train)[b].tolist()
    assert plan.audit().ok
    assert type(outer).__name__ in plan.words
    from cvnb import ridge

    assert recipe.run(ridge(), X, y).plan == plan
