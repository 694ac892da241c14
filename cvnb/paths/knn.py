"""k nearest neighbours: every k of every split from lists of neighbours.

Unscaled, a row's neighbours are found once among all rows; any training part's neighbours are met by walking that list past the
rows that are not in it. Where a list ends too early the row is searched again among the rows of that very training part. Behind
a StandardScaler each training part has distances of its own, so there is one search per training part, for every k.

Equal distances go to the smaller row number in the whole data. Cost: O(m² p) arithmetic once (or per training part), then
O(k) per test row and split; memory O(m k) for the lists, and a block of rows times m for the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..kernels import neighbours, scaling
from ..kernels import votes as ballots
from ..plan import Plan
from ..table import Sheet
from .base import PER_WORKER, Call, Unsuited, shared_out
from .bundles import Bundle, bundles
from .measure import Answers, Meter
from .problem import Combination, Problem, SplitProblem
from .search import METRICS, Geometry, Near, Search, nearest

AXIS, COUNTED = "n_neighbors", "equal distances"
BUNDLE = 512  # test rows that go together
LISTS = 2**31  # bytes of lists of neighbours that are kept at most
KEYS = 2**20  # distances that one call looks at, a fraction of a second
LARGE = 2**20  # numbers in X from which on a pass over it takes a while
CHOOSING = 20  # multiplications that would take as long as looking whether a row is near
SCALING = 60.0  # what it costs to scale one number of a training part, in multiplications
WAVE = 2e9  # operations of the training parts that go together
NEAR_ZERO = 1e-6  # cosine distances below it have lost too many digits for 1 / distance


def refuses(last: Any) -> str:
    """Why these parameters of a k-NN are not for the path; "" where they are."""
    if last.weights not in (None, "uniform", "distance"):
        return "weights=<function>"
    if last.metric_params:
        return "metric_params"
    if last.metric != "minkowski" and not (isinstance(last.metric, str) and last.metric in METRICS):
        return f"metric={last.metric!r}"
    if last.metric == "cosine" and last.algorithm not in ("auto", "brute"):
        return f"algorithm={last.algorithm!r} and the cosine"
    if last.metric == "minkowski" and (last.p is None or last.p < 1):
        return f"p={last.p}"
    return ""


def in_float32(combination: Combination) -> bool:
    """Whether scikit-learn's answers on float32 X carry its rounding: its distances do, its order of neighbours does not."""
    return combination.scaled or combination.model.weights == "distance"


@dataclass(frozen=True, eq=False)
class Votes:
    """One combination, ready for the kernels: ks increase, columns[s] is the setting of ks[s]."""

    ks: np.ndarray
    columns: np.ndarray
    weighted: bool

    @classmethod
    def of(cls, combination: Combination) -> Votes:
        ks = combination.values.astype(np.int64)
        order = np.argsort(ks, kind="stable")
        return cls(ks[order], combination.which[order], combination.model.weights == "distance")


class KnnSweep:
    """Every k of every split, on threads."""

    def __init__(self, problem: Problem, plan: Plan) -> None:
        self.problem = problem
        self.votes: dict[Geometry, list[Votes]] = {}
        for combination in problem.combinations:
            self.votes.setdefault(Geometry.of(combination), []).append(Votes.of(combination))
        self.shared = [geometry for geometry in self.votes if self._has_lists(plan, geometry)]
        self.name, self.reason = "shared:knn", "each row's neighbours are found once and serve every split and setting"
        if len(self.shared) < len(self.votes):
            self.name = "path:knn"
            self.reason = "neighbours are searched once in every training part, and serve every setting"
        n, d = problem.X.shape
        apart = len(self.votes) - len(self.shared)
        tested = 0 if plan.outer_layout is None else int(plan.outer_layout.sizes()[:, 1].sum())
        asked = plan.n_parts * n if plan.inner_layouts is not None else tested  # rows that look for neighbours
        self.cost = (len(self.shared) * n + apart * asked) * float(n) * (d + CHOOSING) + SCALING * apart * plan.n_parts * n * d
        self.lists: dict[Geometry, Near] = {}  # found ahead
        self.searches: dict[Geometry, Search] = {}

    def _has_lists(self, plan: Plan, geometry: Geometry) -> bool:
        """Whether lists of neighbours serve all splits: not where every training part has distances of its own."""
        return not geometry.scaled and 12 * plan.n_rows * _length(plan, self.votes[geometry]) <= LISTS

    def stages(self, sheet: Sheet, parts: range | None = None) -> Iterator[Sequence[Call]]:
        """Lists for some parts alone would be made for nothing more: those search by themselves."""
        plan, lists = sheet.plan, self.lists
        if parts is None and not lists:
            sheet.work = self._work(plan)
            lists = {geometry: self._empty(plan, geometry, plan.n_rows) for geometry in self.shared}
            if self.problem.X.size > LARGE:
                yield [partial(self._prepare, lists)]  # on a thread, so that this one sees an interrupt
            else:
                self._prepare(lists)
            if lists:
                yield [call for geometry in lists for call in self._searches(sheet, geometry, lists[geometry])]
        yield from self._parts(sheet, lists, range(plan.n_parts) if parts is None else parts)

    def ahead(self, plan: Plan, n: int) -> list[Any]:
        """Lists of neighbours, piece by piece, where they serve all geometries."""
        if len(self.shared) < len(self.votes):
            return []
        size = max(BUNDLE, -(-plan.n_rows // (PER_WORKER * n)))
        return [
            (geometry, slice(a, min(a + size, plan.n_rows))) for geometry in self.shared for a in range(0, plan.n_rows, size)
        ]

    def find(self, piece: Any, plan: Plan, stopped: Callable[[], bool]) -> Near:
        """The lists of some rows."""
        geometry, rows = piece
        near = self._empty(plan, geometry, rows.stop - rows.start)
        if geometry not in self.searches:
            self._prepare({geometry: near})
        self.searches[geometry].fill(self.problem.X[rows], np.arange(rows.start, rows.stop), near, stopped)
        return near

    def take(self, piece: Any, plan: Plan, found: Near) -> None:
        """Keep the lists of some rows."""
        geometry, rows = piece
        if geometry not in self.lists:
            self.lists[geometry] = self._empty(plan, geometry, plan.n_rows)
        self.lists[geometry].put(rows, found)

    def shares(self, sheet: Sheet, n: int) -> list[range]:
        """Each training part by itself."""
        return shared_out([(j, j + 1) for j in range(sheet.plan.n_parts)], PER_WORKER * n)

    def _empty(self, plan: Plan, geometry: Geometry, n: int) -> Near:
        return Near.empty(n, _length(plan, self.votes[geometry]))

    def _prepare(self, lists: dict[Geometry, Near]) -> None:
        for geometry, near in lists.items():
            self.searches[geometry] = Search(self.problem.X, geometry, near.rows.shape[1])

    def _parts(self, sheet: Sheet, lists: dict[Geometry, Near], every: range) -> Iterator[Sequence[Call]]:
        plan = sheet.plan
        for parts in self._waves(plan, every):
            if sheet.inner is not None:
                yield [
                    partial(self._inner, sheet, lists, j, bundle)
                    for j in parts
                    for bundle in bundles(plan.inner[j], range(len(plan.inner[j])), plan.n_rows, BUNDLE)
                ]
            for j in parts:
                if j not in sheet.refused:
                    sheet.choose(j)
            if plan.outer_layout is not None:
                yield [partial(self._outer, sheet, lists, bundle) for bundle in bundles(plan.outer, parts, plan.n_rows, BUNDLE)]
            else:
                sheet.finished[:] = True

    def _work(self, plan: Plan) -> float:
        """Rows to be searched, all together."""
        scaled = len(self.votes) - len(self.shared)
        layouts = [*(plan.inner_layouts or ()), *([] if plan.outer_layout is None else [plan.outer_layout])]
        tested = sum(int(layout.sizes()[:, 1].sum()) for layout in layouts) if scaled else 0
        return float(len(self.shared) * plan.n_rows + scaled * tested)

    def _waves(self, plan: Plan, every: range) -> Iterator[range]:
        """Training parts that go together: an interrupt loses those of one wave, and their bundles are held together."""
        n_rows, n_columns = self.problem.X.shape
        searches = (len(self.votes) - len(self.shared)) * n_columns + 1
        size = max(1, min(128, int(WAVE / (searches * float(n_rows) ** 2 + 1))))
        for a in range(every.start, every.stop, size):
            yield range(a, min(a + size, every.stop))

    def _searches(self, sheet: Sheet, geometry: Geometry, near: Near) -> Iterator[Call]:
        X, search = self.problem.X, self.searches[geometry]
        size = max(64, min(256, KEYS // len(X)))
        for a in range(0, len(X), size):
            rows = slice(a, min(a + size, len(X)))
            yield partial(self._search, sheet, search, X[rows], np.arange(rows.start, rows.stop), near.part(rows))

    def _search(self, sheet: Sheet, search: Search, Q: np.ndarray, own: np.ndarray, near: Near) -> None:
        search.fill(Q, own, near, lambda: sheet.stopped)
        sheet.done += len(Q)

    def _inner(self, sheet: Sheet, lists: dict[Geometry, Near], j: int, bundle: Bundle) -> None:
        if sheet.inner is None or j in sheet.refused:
            return
        try:
            answers = self._answers(sheet, lists, bundle)
            losses = self.problem.meter.measure(bundle.test, bundle.starts, answers)[0]
        except Unsuited as why:
            sheet.refused[j] = str(why)
            return
        if not sheet.stopped:
            sheet.inner[j][bundle.numbers] = losses

    def _outer(self, sheet: Sheet, lists: dict[Geometry, Near], bundle: Bundle) -> None:
        try:
            answers = self._answers(sheet, lists, bundle)
            if not sheet.stopped:
                self.problem.meter.outer_splits(sheet, bundle.numbers, bundle.test, bundle.starts, answers)
        except Unsuited as why:
            if bundle.numbers.size == 1:
                sheet.refused_outside[int(bundle.numbers[0])] = str(why)
                return
            for one in bundle.singles():  # only those splits whose own rows are unsuited
                self._outer(sheet, lists, one)

    def _answers(self, sheet: Sheet, lists: dict[Geometry, Near], bundle: Bundle) -> Answers:
        ballot = Ballot(self.problem.meter, bundle.test.size, sheet.n_settings)
        tied = 0
        for geometry, votes in self.votes.items():
            if geometry in lists:
                tied += self._walked(geometry, votes, lists[geometry], bundle, ballot)
            else:
                tied += self._searched(sheet, geometry, votes, bundle, ballot)
        sheet.count(COUNTED, tied)
        present = None
        if self.problem.meter.wants_scores:
            present = np.array([ballot.present(train) for _, train in bundle.parts()])
        return ballot.answers(present)

    def _walked(self, geometry: Geometry, votes: list[Votes], near: Near, bundle: Bundle, ballot: Ballot) -> int:
        """Walk the lists; rows whose list ends too early are searched in their own training part."""
        tied = 0
        for vote in votes:
            short, first = np.zeros(bundle.test.size, dtype=np.uint8), np.full(bundle.test.size, np.inf)
            tied += ballots.walk(bundle.test, bundle.own, bundle.code, *near.arrays, *ballot.of(vote), short, first)
            _check_digits(geometry, vote, first)
            if not short.any():
                continue
            for places, train in bundle.parts():
                where = places.start + np.flatnonzero(short[places])
                if where.size:
                    X = self.problem.X
                    found = nearest(X[train], X[bundle.test[where]], geometry, int(vote.ks[-1]), exact=True)
                    _check_digits(geometry, vote, found.distances[:, 0])
                    tied += ballot.cast(vote, found, train, where)
        return tied

    def _searched(self, sheet: Sheet, geometry: Geometry, votes: list[Votes], bundle: Bundle, ballot: Ballot) -> int:
        X, tied, n_most = self.problem.X, 0, max(int(vote.ks[-1]) for vote in votes)
        for places, train in bundle.parts():
            if sheet.stopped:
                return tied
            test = bundle.test[places]
            T, Q, origin = X[train], X[test], None
            if geometry.scaled:
                origin = scaling.standardise(X, train, test, T, Q)
            found = nearest(T, Q, geometry, n_most, origin=origin)
            sheet.done += test.size
            for vote in votes:
                _check_digits(geometry, vote, found.distances[:, 0])
                tied += ballot.cast(vote, found, train, np.arange(places.start, places.stop))
        return tied


class Ballot:
    """What every setting says of some test rows, while it is filled."""

    def __init__(self, meter: Meter, n: int, n_settings: int) -> None:
        y = meter.data.y
        classes = meter.classes is not None
        self.n_classes = 0 if meter.classes is None else meter.classes.size
        self.codes = np.zeros(0, dtype=np.int64) if meter.codes is None else meter.codes
        self.y = np.zeros(0) if classes else y.astype(np.float64)
        self.classes = np.empty((n if classes else 1, n_settings), dtype=np.int64)
        self.means = np.empty((1 if classes else n, n_settings))
        wanted = classes and meter.wants_scores
        self.shares = np.empty((n if wanted else 1, n_settings, self.n_classes if wanted else 0))

    def of(self, vote: Votes) -> tuple[Any, ...]:
        """The arguments that the kernels share."""
        return (
            self.codes, self.y, vote.ks, vote.columns, vote.weighted, self.n_classes, self.classes, self.means, self.shares,
        )  # fmt: skip

    def cast(self, vote: Votes, near: Near, train: np.ndarray, where: np.ndarray) -> int:
        """Write what these lists of places in `train` say of the test rows `where`; gives the number of tied predictions."""
        return int(ballots.say(where, train, *near.arrays, *self.of(vote)))

    def present(self, train: np.ndarray) -> np.ndarray:
        """Which classes stand among these rows."""
        return np.bincount(self.codes[train], minlength=self.n_classes) > 0

    def answers(self, present: np.ndarray | None) -> Answers:
        values = self.classes if self.n_classes else self.means
        return Answers(values, self.shares if self.shares.shape[2] else None, present=present)


def answers_of_split(split: SplitProblem) -> tuple[Answers, int]:
    """(what every k says of the test rows, tied predictions)."""
    one, train, n_test = split.combination, split.train, len(split.X_test)
    vote, geometry = Votes.of(replace(one, which=np.arange(one.which.size))), Geometry.of(one)
    ballot = Ballot(split.meter, n_test, one.which.size)
    found = nearest(split.X_train, split.X_test, geometry, int(vote.ks[-1]))
    _check_digits(geometry, vote, found.distances[:, 0])
    tied = ballot.cast(vote, found, train, np.arange(n_test))
    return ballot.answers(ballot.present(train)[None] if split.meter.wants_scores else None), tied


def _length(plan: Plan, votes: list[Votes]) -> int:
    """Length of a list that holds k + 1 rows of a training part, but for few rows of most plans."""
    n_most, n_rows = max(int(vote.ks[-1]) for vote in votes) + 1, plan.n_rows
    layouts = [*plan.inner_kept, *([] if plan.outer_layout is None else [plan.outer_layout])]
    share = min(int(layout.sizes()[:, 0].min()) for layout in layouts) / n_rows
    length = (n_most + 4.0 * np.sqrt(n_most * (1.0 - share))) / share
    return int(min(np.ceil(length) + 2, n_rows - 1))


def _check_digits(geometry: Geometry, vote: Votes, distances: np.ndarray) -> None:
    """Leave weights 1 / distance to refit where scikit-learn's cosine distances, 1 - cos, are mostly rounding."""
    if geometry.metric == neighbours.COSINE and vote.weighted and distances.min() < NEAR_ZERO:
        raise Unsuited("rows are nearly parallel, and the digits of their cosine distances are rounding")
