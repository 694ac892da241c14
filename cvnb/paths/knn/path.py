"""k nearest neighbours: every k of every split from lists of neighbours.

Without a scaler the neighbours of a row are searched once among all rows. The neighbours in a
training part are those of the list that are in it. If a list ends too early, the row is searched
again in that training part. Behind a StandardScaler each training part has distances of its own,
so there is one search per training part, for every k.

Equal distances go to the smaller row number in the whole data. Cost: O(m² p) arithmetic once (or
per training part), then O(k) per test row and split; memory O(m k) for the lists, and a block of
rows times m for the keys.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...families.softmax import LEAST, SoftmaxWeights
from ...kernels import scaling
from ...runtime.threads import Team
from ...splits.plan import Plan
from ..base import (
    NOTHING,
    PER_WORKER,
    Each,
    Inside,
    Kept,
    Losses,
    Outside,
    Path,
    Refusal,
    Task,
    Unsuited,
    added,
    n_inner,
    offsets,
    ranges,
    together,
)
from ..measure import Predictions
from ..problem import Problem, SplitProblem
from .bundles import Bundle, bundles
from .lists import ListsByGeometry, list_length, lists_of_all_rows
from .search import METRICS, Geometry, nearest
from .votes import PredictionTable, VoteSettings

COUNTED = "equal distances"
BUNDLE = 512  # test rows that are predicted together
LISTS = 2**31  # largest number of bytes of lists that are kept
CHOOSING = 20  # multiplications that take as long as checking whether a row is near
SCALING = 60.0  # multiplications that take as long as scaling one number
WAVE = 2e9  # operations of the training parts of one batch
SHARED_REASON = "each row's neighbours are found once and serve every split and setting"
PART_REASON = (
    "neighbours are searched once in every training part, and serve every setting"
)


def refuses(last: Any) -> str:
    """Return why the path cannot handle these parameters of a k-NN, or ""."""
    if type(last.weights) is SoftmaxWeights:
        if last.metric != "cosine":
            return f"SoftmaxWeights and metric={last.metric!r}; metric='cosine' is fast"
        if last.weights.temperature < LEAST:
            return f"a temperature below {LEAST:g}, where rounding decides; {LEAST:g} is fast"
    elif last.weights not in (None, "uniform", "distance"):
        return "weights=<function>; 'uniform' and 'distance' are fast"
    if last.metric_params:
        return "metric_params; a metric without them is fast"
    if not isinstance(last.metric, str) or last.metric not in METRICS:
        known = ", ".join(sorted(METRICS))
        return f"metric={last.metric!r}; {known} are fast"
    if last.metric == "cosine" and last.algorithm not in ("auto", "brute"):
        return f"algorithm={last.algorithm!r} and the cosine; algorithm='auto' is fast"
    if last.metric == "minkowski" and (last.p is None or last.p < 1):
        return f"p={last.p}; p from 1 on is fast"
    return ""


class KnnPath(Path):
    """Every k of every split.

    settings  by the distances that they share
    lengths   of the lists of neighbours; most hold k + 1 rows of a training part
    shared    the geometries whose lists serve all splits
    lists     of all rows, once `share` is done
    """

    whole = compiles = True

    def __init__(self, problem: Problem) -> None:
        self.problem, self.evaluators = problem, problem.evaluators
        self.plans = [draw.plan for draw in problem.draws]
        self.settings: dict[Geometry, list[VoteSettings]] = {}
        for combination in problem.combinations:
            same = self.settings.setdefault(Geometry.of(combination), [])
            same.append(VoteSettings.of(combination))
        self.lengths = {geometry: self._length(geometry) for geometry in self.settings}
        self.shared = [
            geometry for geometry in self.settings if self._is_shared(geometry)
        ]
        self.travels = not self.shared  # lists of all rows stay where they are made
        self.lists: ListsByGeometry = {}
        self.name, self.reason = "shared:knn", SHARED_REASON
        if len(self.shared) < len(self.settings):
            self.name, self.reason = "path:knn", PART_REASON
        self._estimate_work()

    def _length(self, geometry: Geometry) -> int:
        n_most = _largest_k(self.settings[geometry])
        return max(list_length(plan, n_most) for plan in self.plans)

    def _is_shared(self, geometry: Geometry) -> bool:
        """Return whether distances are the same in every training part and the lists fit."""
        n_bytes = 12 * len(self.problem.X) * self.lengths[geometry]
        return not geometry.scaled and n_bytes <= LISTS

    def _estimate_work(self) -> None:
        n, n_columns = self.problem.X.shape
        n_shared = len(self.shared)
        n_others = len(self.settings) - n_shared
        n_searched = n_shared * n + n_others * sum(map(_n_searched, self.plans))
        self.cost = n_searched * float(n) * (n_columns + CHOOSING)
        n_parts = sum(plan.n_parts for plan in self.plans)
        self.cost += SCALING * n_others * n_parts * n * n_columns
        n_tested = sum(map(_n_tested, self.plans)) if n_others else 0
        self.work = float(n_shared * n + n_others * n_tested)

    def share(self, each: Each, n: int, kept: Kept) -> KnnPath:
        """Return the path with the lists of neighbours of all rows; long enough ones are kept."""
        if not self.shared:
            return self
        lists: ListsByGeometry = kept.setdefault("lists", {})
        lengths = {
            geometry: self.lengths[geometry]
            for geometry in self.shared
            if geometry not in lists
            or lists[geometry].rows.shape[1] < self.lengths[geometry]
        }
        lists |= lists_of_all_rows(self.problem.X, lengths, each, n)
        ready = copy.copy(self)
        ready.lists = dict(lists)
        return ready

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Return ranges of parts: an interrupt loses one, and memory holds its bundles."""
        plan, (n_rows, n_columns) = self.plans[draw], self.problem.X.shape
        searches = (len(self.settings) - len(self.shared)) * n_columns + 1
        size = max(1, min(128, int(WAVE / (searches * float(n_rows) ** 2 + 1))))
        if elsewhere:
            size = min(size, -(-plan.n_parts // (PER_WORKER * n)))
        return ranges(plan.n_parts, size)

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run."""
        if isinstance(task, Inside):
            return self._inside(task, team)
        return self._outside(task, team)

    def _inside(self, task: Inside, team: Team) -> Losses:
        plan, parts = self.plans[task.draw], task.parts
        first = offsets(n_inner(plan, j) for j in parts)
        pieces = [
            (i, bundle)
            for i, j in enumerate(parts)
            for bundle in bundles(
                plan.inner[j], range(n_inner(plan, j)), plan.n_rows, BUNDLE
            )
        ]
        measure = partial(self._inside_bundle, task.draw, team)
        measured = team.map(measure, [bundle for _, bundle in pieces])
        losses = np.full((first[-1], self.problem.n_settings), np.nan)
        refused: dict[int, str] = {}
        for (i, bundle), found in zip(pieces, measured, strict=True):
            if isinstance(found, Refusal):
                refused.setdefault(parts[i], found.reason)
            else:
                losses[first[i] + bundle.numbers] = found.losses
        counts = added(found.counts for found in measured if isinstance(found, Losses))
        return Losses(losses, refused=refused, counts=counts)

    def _inside_bundle(self, draw: int, team: Team, bundle: Bundle) -> Losses | Refusal:
        try:
            predictions, tied = self._predictions(draw, bundle, team)
            losses, _ = self.evaluators[draw].measure(
                bundle.test, bundle.starts, predictions
            )
        except Unsuited as why:
            return Refusal(str(why))
        return Losses(losses, counts=_counted(tied))

    def _outside(self, task: Outside, team: Team) -> Losses:
        plan = self.plans[task.draw]
        several = bundles(plan.outer, task.parts, plan.n_rows, BUNDLE)
        return together(team.map(partial(self._outside_bundle, task, team), several))

    def _outside_bundle(self, task: Outside, team: Team, bundle: Bundle) -> Losses:
        """Return the losses of the splits of a bundle; if it is refused, each is tried alone."""
        evaluator = self.evaluators[task.draw]
        chosen = task.chosen[bundle.numbers - task.parts.start]
        try:
            predictions, tied = self._predictions(task.draw, bundle, team)
            measured = evaluator.outer(bundle.test, bundle.starts, predictions, chosen)
            return Losses(*measured, counts=_counted(tied))
        except Unsuited as why:
            if bundle.numbers.size == 1:
                nothing = np.full((1, self.problem.n_settings), np.nan)
                reasons = {int(bundle.numbers[0]): str(why)}
                return Losses(nothing, [None], [NOTHING], reasons)
        singles = bundle.singles()
        return together(
            [self._outside_bundle(task, team, single) for single in singles]
        )

    def _predictions(
        self, draw: int, bundle: Bundle, team: Team
    ) -> tuple[Predictions, int]:
        """Return the predictions of every setting for the test rows, and how many are tied."""
        evaluator, tied = self.evaluators[draw], 0
        table = PredictionTable(evaluator, bundle.test.size, self.problem.n_settings)
        for geometry in self.settings:
            if geometry in self.lists:
                tied += self._fill_from_lists(geometry, bundle, table)
            else:
                tied += self._fill_from_searches(geometry, bundle, table, team)
        present = None
        if evaluator.wants_scores:
            present = np.array([table.present(train) for _, train in bundle.parts()])
        return table.predictions(present), tied

    def _fill_from_lists(
        self, geometry: Geometry, bundle: Bundle, table: PredictionTable
    ) -> int:
        """Fill the table from the lists of all rows; return the number of tied predictions.

        Rows whose list ends too early are searched in their own training part.
        """
        tied, X = 0, self.problem.X
        for votes in self.settings[geometry]:
            n_tied, short, first = table.walk(votes, self.lists[geometry], bundle)
            tied += n_tied
            votes.check_digits(geometry, first)
            if not short.any():
                continue
            for places, train in bundle.parts():
                left = places.start + np.flatnonzero(short[places])
                if left.size:
                    Q = X[bundle.test[left]]
                    lists = nearest(X[train], Q, geometry, votes.n_most, exact=True)
                    votes.check_digits(geometry, lists.distances[:, 0])
                    tied += table.fill(votes, lists, train, left)
        return tied

    def _fill_from_searches(
        self, geometry: Geometry, bundle: Bundle, table: PredictionTable, team: Team
    ) -> int:
        """Fill the table by a search in each training part; return the number of tied ones."""
        X, tied, settings = self.problem.X, 0, self.settings[geometry]
        for places, train in bundle.parts():
            team.stop.check()
            test = bundle.test[places]
            T, Q, origin = X[train], X[test], None
            if geometry.scaled:
                origin = scaling.standardise(X, train, test, T, Q)
            lists = nearest(T, Q, geometry, _largest_k(settings), origin=origin)
            team.advance(test.size)
            rows = np.arange(places.start, places.stop)
            for votes in settings:
                votes.check_digits(geometry, lists.distances[:, 0])
                tied += table.fill(votes, lists, train, rows)
        return tied


def predictions_of_split(split: SplitProblem) -> tuple[Predictions, int]:
    """Return the predictions of every k for the test rows, and how many are tied."""
    train, n_test, n_settings = (
        split.train,
        len(split.X_test),
        split.combination.which.size,
    )
    combination = replace(split.combination, which=np.arange(n_settings))
    votes, geometry = VoteSettings.of(combination), Geometry.of(combination)
    table = PredictionTable(split.evaluator, n_test, n_settings)
    lists = nearest(split.X_train, split.X_test, geometry, votes.n_most)
    votes.check_digits(geometry, lists.distances[:, 0])
    tied = table.fill(votes, lists, train, np.arange(n_test))
    present = table.present(train)[None] if split.evaluator.wants_scores else None
    return table.predictions(present), tied


def _counted(tied: int) -> Counter[str] | None:
    return Counter({COUNTED: tied}) if tied else None


def _largest_k(settings: list[VoteSettings]) -> int:
    return max(votes.n_most for votes in settings)


def _n_tested(plan: Plan) -> int:
    """Return the number of test rows of all splits, inner and outer."""
    inner = sum(int(layout.sizes()[:, 1].sum()) for layout in plan.inner_layouts or ())
    return inner + _n_outer_tested(plan)


def _n_searched(plan: Plan) -> int:
    """Return how many rows are searched for when every training part is searched."""
    if plan.inner_layouts is not None:
        return plan.n_parts * plan.n_rows
    return _n_outer_tested(plan)


def _n_outer_tested(plan: Plan) -> int:
    layout = plan.outer_layout
    return 0 if layout is None else int(layout.sizes()[:, 1].sum())
