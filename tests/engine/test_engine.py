"""The engine: one central rule, paths that are pure functions, many draws at once, refit
and interrupts in one place."""

import ast
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cvnb
from cvnb import Family, Recipe
from cvnb.data.table import Data
from cvnb.engine.fill import fill, fill_draws
from cvnb.engine.table import TableBuilder
from cvnb.paths import Unsuited
from cvnb.paths.base import Draw, Inside, Losses, Outside, Refusal, n_inner, offsets
from cvnb.paths.dispatch import choose_path
from cvnb.paths.knn.lists import ListFiller
from cvnb.paths.linear.path import LinearPath
from cvnb.paths.refit import Refit
from cvnb.runs.options import DEFAULTS, Options
from cvnb.runs.prepare import prepare
from cvnb.runtime.cancel import Stop, Stopped
from cvnb.runtime.threads import Team

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 4))
NUMBERS = X @ [2.0, -1.0, 0.5, 0.0] + RNG.normal(size=90)
CLASSES = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-1.0, 1.0])]
K = {"n_neighbors": [1, 4, 9]}
FAMILIES = {
    "shared:knn": Family(KNeighborsClassifier(), K),
    "path:knn": Family(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 4]},
    ),
    "shared:ridge": Family(Ridge(), {"alpha": [0.1, 1.0, 10.0]}),
    "shared:lasso": Family(Lasso(), {"alpha": [0.01, 0.1]}),
    "shared:ols": Family(LinearRegression(), {"fit_intercept": [True, False]}),
    "path:logistic": Family(LogisticRegression(), {"C": [0.1, 1.0]}),
    "path:tree": Family(
        DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 4, 8, 16]}
    ),
    "path:forest": Family(
        RandomForestClassifier(random_state=0), {"n_estimators": [1, 2, 3, 4]}
    ),
    "behind": Family(
        make_pipeline(PCA(2), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 4]},
    ),
    "refit": Family(SVC(), {"C": [1.0, 10.0]}),
}


def y_of(name):
    return (
        NUMBERS if name in ("shared:ridge", "shared:lasso", "shared:ols") else CLASSES
    )


def job_of(family, recipe, y, rows=X, **options):
    """The one prepared job of a run: its work and its plan."""
    return prepare(
        recipe, family, Data.check(rows, y), Options(**DEFAULTS | options)
    ).jobs[""]


def path_of(job, draws=None):
    return choose_path(job.work, draws or [Draw(job.plan, job.work.data)])


def ready(path):
    """The path with what it shares, made here."""
    team = Team(Stop())
    return path.share(lambda call, items: (call(item, team) for item in items), 1, {})


def tasks_of(job, path):
    """The inner splits of part 1, and its outer split with setting 0."""
    if path.whole:
        return [
            Inside(0, range(1, 2)),
            Outside(0, range(1, 2), np.zeros(1, dtype=np.int64)),
        ]
    return [
        Inside(0, range(1, 2), 0),
        Outside(0, range(1, 2), np.zeros(1, dtype=np.int64)),
    ]


def same(one, other):
    """Whether two answers hold the same arrays."""
    arrays = [
        (one.losses, other.losses),
        *zip(one.rows, other.rows, strict=True),
        *zip(one.predictions, other.predictions, strict=True),
    ]
    return all(
        (a is None and b is None) or np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in arrays
    )


def test_a_setting_is_chosen_in_one_function():
    """Of all modules that measure, only cvnb/engine/nested.py asks a rule to choose."""
    package = Path(cvnb.__file__).parent
    asking = set()
    for module in [
        *(package / "engine").glob("*.py"),
        *(package / "paths").rglob("*.py"),
        package / "runs" / "prepare.py",
    ]:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "choose"
            ):
                asking.add(module.relative_to(package).as_posix())
    assert asking == {"engine/nested.py"}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_path_is_a_pure_function(name):
    """Asked twice, and by a copy that has travelled, it gives the same; nothing of it has
    changed."""
    job = job_of(FAMILIES[name], Recipe(3, 3), y_of(name))
    path = ready(path_of(job))
    assert path.name == name or name == "behind"
    for task in tasks_of(job, path):
        before = pickle.dumps(path)
        first, second = path.run(task, Team(Stop())), path.run(task, Team(Stop()))
        assert isinstance(first, Losses)
        assert same(first, second)
        assert pickle.dumps(path) == before
        assert same(first, pickle.loads(before).run(task, Team(Stop())))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_path_that_is_told_to_stop_ends(name):
    """With Stopped or with an answer that nobody reads."""
    job = job_of(FAMILIES[name], Recipe(3, 3), y_of(name))
    path, team = ready(path_of(job)), Team(Stop())
    team.stop.set()
    try:
        path.run(tasks_of(job, path)[0], team)
    except Stopped:
        return
    assert name in (
        "path:tree",
        "path:forest",
        "behind",
    )  # a fit of scikit-learn's in the main thread ends by itself


@pytest.mark.parametrize("name", FAMILIES)
def test_many_draws_give_what_each_gives_alone(name):
    """Other splits, other targets: the tables are those of runs of their own, bit for bit; of
    ridge, whose draws are solved whole, to twelve digits."""
    equal = np.array_equal
    if name == "shared:ridge":
        equal = partial(np.allclose, rtol=1e-12, atol=0)
    y = y_of(name)
    jobs = [job_of(FAMILIES[name], Recipe(3, 3, seed=seed), y) for seed in (0, 1)]
    shuffled = job_of(
        FAMILIES[name], Recipe(3, 2, seed=2), np.random.default_rng(0).permutation(y)
    )
    draws = [Draw(job.plan, job.work.data) for job in (*jobs, shuffled)]
    for (table, ran), job in zip(
        fill_draws(jobs[0].work, draws), (*jobs, shuffled), strict=True
    ):
        alone, alone_ran = fill(job.work, job.plan)
        assert ran == alone_ran
        assert table.complete
        assert np.array_equal(table.chosen, alone.chosen)
        assert equal(table.outer, alone.outer, equal_nan=True)
        assert all(equal(a, b) for a, b in zip(table.inner, alone.inner, strict=True))
        assert all(
            equal(a, b)
            for a, b in zip(table.predictions, alone.predictions, strict=True)
        )


def test_what_one_draw_is_found_to_be_tells_nothing_of_another():
    """Targets that are met up to rounding are refitted, those of the other draw are not, as
    in runs of their own."""
    exact = X @ [1.0, 2.0, 3.0, 4.0]
    family = Family(Ridge(), {"alpha": [1e-12, 1e-10]})
    jobs = [job_of(family, Recipe(3, 3), y) for y in (NUMBERS, exact)]
    together = fill_draws(jobs[0].work, [Draw(job.plan, job.work.data) for job in jobs])
    assert [ran.name for _, ran in together] == ["shared:ridge", "refit"]
    for (table, ran), job in zip(together, jobs, strict=True):
        alone, alone_ran = fill(job.work, job.plan)
        assert (ran, table.refitted, table.flat) == (
            alone_ran,
            alone.refitted,
            alone.flat,
        )
        assert np.allclose(table.outer, alone.outer, rtol=1e-12, atol=0, equal_nan=True)


def test_neighbours_of_all_rows_are_found_once_for_all_draws(monkeypatch):
    """A hundred seeds and shuffles ask for no more lists than one."""
    found, find = [], ListFiller.__call__
    monkeypatch.setattr(
        ListFiller,
        "__call__",
        lambda self, piece, team: found.append(piece) or find(self, piece, team),
    )
    job = job_of(FAMILIES["shared:knn"], Recipe(3, 3), CLASSES)
    fill(job.work, job.plan)
    once = len(found)
    plans = [
        job_of(FAMILIES["shared:knn"], Recipe(3, 3, seed=seed), CLASSES).plan
        for seed in range(50)
    ]
    fill_draws(job.work, [Draw(plan, job.work.data) for plan in plans])
    assert len(found) == 2 * once


def refusing(monkeypatch, parts):
    """Have the linear path refuse these parts."""
    part = LinearPath._part
    monkeypatch.setattr(
        LinearPath,
        "_part",
        lambda self, *args: (
            Refusal("it is asked to") if args[-1] in parts else part(self, *args)
        ),
    )


def test_a_refused_part_is_refitted_and_the_others_are_not(monkeypatch):
    """The note counts its splits, inner and outer."""
    recipe, family = Recipe(5, 3), FAMILIES["shared:ridge"]
    whole = recipe.run(family, X, NUMBERS)
    refusing(monkeypatch, {1, 3})
    result = recipe.run(family, X, NUMBERS)
    assert result.path == "shared:ridge"
    assert "8 of 20 splits were refitted: it is asked to." in result.notes
    assert np.allclose(result.fold_risks, whole.fold_risks, rtol=1e-9, atol=0)
    assert np.array_equal(result.fold_risks[[0, 2, 4]], whole.fold_risks[[0, 2, 4]])


def test_an_interrupt_while_refused_splits_are_refitted_is_said(monkeypatch):
    """The table is not complete, and holds the parts before the first that is missing."""
    job = job_of(FAMILIES["shared:ridge"], Recipe(5, 3), NUMBERS)
    whole, _ = fill(job.work, job.plan)
    refusing(monkeypatch, {2, 4})
    run, calls = Refit.run, []

    def interrupted(self, task, team, fitted=None):
        calls.append(task)
        if (
            len(calls) == 6
        ):  # three inner splits of part 2, its outer split, one inner split of part 4
            raise KeyboardInterrupt
        return run(self, task, team, fitted)

    monkeypatch.setattr(Refit, "run", interrupted)
    table, ran = fill(job.work, job.plan)
    assert not table.complete
    assert ran.name == "shared:ridge"
    assert np.allclose(table.fold_risks, whole.fold_risks[:4], rtol=1e-9, atol=0)


def test_an_interrupt_before_any_refused_split_is_refitted_is_said(monkeypatch):
    """Also where what is refused is the outer split of a part whose choice stands."""
    job = job_of(FAMILIES["shared:ridge"], Recipe(5, 3), NUMBERS)
    part = LinearPath._part

    def outside(self, kind, task, team, j):
        return (
            Refusal("outside")
            if isinstance(task, Outside) and j == 0
            else part(self, kind, task, team, j)
        )

    def interrupted(self, task, team, fitted=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(LinearPath, "_part", outside)
    with monkeypatch.context() as patch:
        patch.setattr(Refit, "run", interrupted)
        table, _ = fill(job.work, job.plan)
        assert not table.complete
        assert len(table.fold_risks) == 0
    table, _ = fill(job.work, job.plan)
    assert table.complete
    assert table.refitted == (("outside", 1),)


@pytest.mark.parametrize("name", ["shared:ridge", "refit"])
def test_an_interrupt_after_the_last_part_is_not_swallowed(name, monkeypatch):
    """The next line does not run, and the result is whole."""
    put = TableBuilder.put

    def interrupted(self, found):
        put(self, found)
        if self.finished.all():
            raise KeyboardInterrupt

    monkeypatch.setattr(TableBuilder, "put", interrupted)
    with pytest.raises(cvnb.Interrupted) as caught:
        Recipe(3, 3).run(FAMILIES[name], X, y_of(name))
    assert caught.value.result.complete
    assert len(caught.value.result.fold_risks) == 3


def folds_of(m, n_folds, order):
    fold = np.arange(m) % n_folds
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in order]


def test_which_splits_are_refitted_does_not_depend_on_the_order_of_the_folds():
    """One fold keeps two columns apart: the split without it has few digits, whatever
    stands before or after it."""
    rng, m, odd = np.random.default_rng(0), 600, 7
    rows = rng.normal(size=(m, 3))
    rows[:, 2] = rows[:, 0] + 0.01 * rng.normal(size=m)
    rows[np.arange(m) % 60 == odd, 2] += rng.normal(size=10)
    y = rows @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=m)
    others = [f for f in range(60) if f != odd]
    risks = []
    for order in ([odd, *others], [*others, odd], [*others[:30], odd, *others[30:]]):
        result = Recipe(folds_of(m, 60, order), None).run(
            Family(Ridge(1e-9), {}), rows, y
        )
        assert result.path == "shared:ridge"
        assert [note for note in result.notes if "refitted" in note] == [
            "1 of 60 splits were refitted: the model fits the targets up to rounding; only a "
            "refit reproduces scikit-learn's digits."
        ]
        risks.append(result.fold_risks[np.argsort(order)])
    assert np.allclose(risks[0], risks[1], rtol=1e-9, atol=0)
    assert np.allclose(risks[0], risks[2], rtol=1e-9, atol=0)


def test_garbage_in_one_fold_sends_no_other_to_refit():
    """Folds of an exact fit are refitted, the one with noise is not."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120, 3))
    y = rows @ [1.0, 2.0, 3.0]
    noisy = np.arange(120) % 6 == 0
    y[noisy] += 1e-3 * rng.normal(size=noisy.sum())
    splits = [
        (np.flatnonzero(~noisy), np.flatnonzero(noisy)),
        *folds_of(120, 6, range(1, 6)),
    ]
    job = job_of(Family(Ridge(1e-9), {}), Recipe(splits, None), y, rows)
    path = ready(path_of(job))
    found = path.run(Outside(0, range(6), np.zeros(6, dtype=np.int64)), Team(Stop()))
    assert 0 not in found.refused


def test_a_choice_that_fails_outside_gives_way_to_the_next_best():
    """Asked of refit alone; the losses inside stand, and predictions are those of what was
    taken in the end."""

    class Picky(KNeighborsClassifier):
        def fit(self, X, y):
            if self.n_neighbors == 9 and len(X) > 50:
                raise ValueError("too many rows")
            return super().fit(X, y)

    result = Recipe(3, 3, seed=1).run(
        Family(Picky(), {"n_neighbors": [1, 9]}), X, CLASSES
    )
    flat = Recipe(3, 3, seed=1).run(
        Family(Picky(), {"n_neighbors": [1, 9]}), X, CLASSES, flat=True
    )
    assert result.chosen == flat.chosen == [{"n_neighbors": 1}] * 3
    assert np.array_equal(result.predictions, flat.predictions)
    one = Recipe(3, None, seed=1).run(Family(KNeighborsClassifier(1), {}), X, CLASSES)
    assert np.array_equal(result.fold_risks, one.fold_risks)
    assert np.array_equal(result.predictions, one.predictions)


def test_pieces_of_a_batch_are_where_their_parts_are():
    """A batch of parts holds the losses of each, also where parts in the middle are refused."""
    job = job_of(FAMILIES["shared:ridge"], Recipe(5, 3), NUMBERS)
    path = path_of(job)
    batch = path.run(Inside(0, range(5)), Team(Stop()))
    ends = offsets(n_inner(job.plan, j) for j in range(5))
    for j in range(5):
        one = path.run(Inside(0, range(j, j + 1)), Team(Stop()))
        assert np.array_equal(batch.losses[ends[j] : ends[j + 1]], one.losses)


def test_unsuited_is_an_error_of_paths_alone():
    """It never leaves a run."""
    assert issubclass(Unsuited, Exception)
    assert not issubclass(Stopped, Exception)
