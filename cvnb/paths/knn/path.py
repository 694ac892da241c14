"""k nearest neighbours: every k of every split from lists of neighbours.

Unscaled, a row's neighbours are found once among all rows; any training part's neighbours are met by walking that list past the
rows that are not in it. Where a list ends too early the row is searched again among the rows of that very training part. Behind
a StandardScaler each training part has distances of its own, so there is one search per training part, for every k.

Equal distances go to the smaller row number in the whole data. Cost: O(m² p) arithmetic once (or per training part), then
O(k) per test row and split; memory O(m k) for the lists, and a block of rows times m for the keys.
"""

from __future__ import annotations

import copy
import threading
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...kernels import neighbours, scaling
from ...kernels import votes as ballots
from ...runtime.threads import Team
from ...splits.plan import Plan
from ..base import (
    NOTHING,
    PER_WORKER,
    Each,
    Inside,
    Losses,
    Outside,
    Path,
    Refusal,
    Task,
    Unsuited,
    n_inner,
    offsets,
    ranges,
)
from ..measure import Answers, Meter
from ..problem import Combination, Problem, SplitProblem
from .bundles import Bundle, bundles
from .search import METRICS, Geometry, Near, Search, nearest

AXIS, COUNTED = "n_neighbors", "equal distances"
BUNDLE = 512  # test rows that go together
LISTS = 2**31  # bytes of lists of neighbours that are kept at most
PIECES = 256  # in which neighbours are searched at most
CHOOSING = (
    20  # multiplications that would take as long as looking whether a row is near
)
SCALING = (
    60.0  # what it costs to scale one number of a training part, in multiplications
)
WAVE = 2e9  # operations of the training parts that go together
NEAR_ZERO = 1e-6  # cosine distances below it have lost too many digits for 1 / distance


def refuses(last: Any) -> str:
    """Why these parameters of a k-NN are not for the path; "" where they are."""
    if last.weights not in (None, "uniform", "distance"):
        return "weights=<function>"
    if last.metric_params:
        return "metric_params"
    if last.metric != "minkowski" and not (
        isinstance(last.metric, str) and last.metric in METRICS
    ):
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
        return cls(
            ks[order], combination.which[order], combination.model.weights == "distance"
        )


Lists = dict[Geometry, Near]
Measured = tuple[
    np.ndarray, list[np.ndarray | None], list[np.ndarray]
]  # as Meter.outer gives them
ONE_AT_A_TIME = threading.Lock()


class KnnSweep(Path):
    """Every k of every split."""

    whole = compiles = True

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.plans, self.meters = [draw.plan for draw in problem.draws], problem.meters
        self.votes: dict[Geometry, list[Votes]] = {}
        for combination in problem.combinations:
            self.votes.setdefault(Geometry.of(combination), []).append(
                Votes.of(combination)
            )
        self.lengths = {geometry: self._length(geometry) for geometry in self.votes}
        self.shared = [geometry for geometry in self.votes if self._has_lists(geometry)]
        self.travels = not self.shared  # lists of all rows stay where they are made
        self.lists: Lists = {}
        self.name, self.reason = (
            "shared:knn",
            "each row's neighbours are found once and serve every split and setting",
        )
        if len(self.shared) < len(self.votes):
            self.name = "path:knn"
            self.reason = "neighbours are searched once in every training part, and serve every setting"
        n, d = problem.X.shape
        apart = len(self.votes) - len(self.shared)
        asked = sum(_asked(plan) for plan in self.plans)
        n_parts = sum(plan.n_parts for plan in self.plans)
        self.cost = (len(self.shared) * n + apart * asked) * float(n) * (
            d + CHOOSING
        ) + SCALING * apart * n_parts * n * d
        tested = sum(_tested(plan) for plan in self.plans) if apart else 0
        self.work = float(len(self.shared) * n + apart * tested)

    def _length(self, geometry: Geometry) -> int:
        """Length of lists that hold k + 1 rows of a training part, but for few rows of most plans."""
        return max(_length(plan, self.votes[geometry]) for plan in self.plans)

    def _has_lists(self, geometry: Geometry) -> bool:
        """Whether lists of neighbours serve all splits: not where every training part has distances of its own."""
        return (
            not geometry.scaled
            and 12 * len(self.problem.X) * self.lengths[geometry] <= LISTS
        )

    def share(self, each: Each, n: int) -> KnnSweep:
        """With the lists of neighbours of all rows."""
        if not self.shared:
            return self
        n_rows = len(self.problem.X)
        size = max(
            64, min(BUNDLE, -(-n_rows // (PER_WORKER * n))), -(-n_rows // PIECES)
        )
        pieces = [
            (geometry, slice(a, min(a + size, n_rows)))
            for geometry in self.shared
            for a in range(0, n_rows, size)
        ]
        lists = {
            geometry: Near.empty(n_rows, self.lengths[geometry])
            for geometry in self.shared
        }
        for (geometry, rows), near in zip(
            pieces, each(Finder(self.problem.X, lists), pieces), strict=True
        ):
            if near is not None:
                lists[geometry].put(rows, near)
        ready = copy.copy(self)
        ready.lists = lists
        return ready

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Parts that go together: an interrupt loses those of one batch, and their bundles are held together."""
        plan, (n_rows, n_columns) = self.plans[draw], self.problem.X.shape
        searches = (len(self.votes) - len(self.shared)) * n_columns + 1
        size = max(1, min(128, int(WAVE / (searches * float(n_rows) ** 2 + 1))))
        if elsewhere:
            size = min(size, -(-plan.n_parts // (PER_WORKER * n)))
        return ranges(plan.n_parts, size)

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run."""
        return (
            self._inside(task, team)
            if isinstance(task, Inside)
            else self._outside(task, team)
        )

    def _inside(self, task: Inside, team: Team) -> Losses:
        plan, parts = self.plans[task.draw], task.parts
        first = offsets(n_inner(plan, j) for j in parts)
        losses = np.full((first[-1], self.problem.n_settings), np.nan)

        def measure(i_and_bundle: tuple[int, Bundle]) -> tuple[int, str]:
            i, bundle = i_and_bundle
            try:
                answers, tied = self._answers(task.draw, bundle, team)
                own, _ = self.meters[task.draw].measure(
                    bundle.test, bundle.starts, answers
                )
            except Unsuited as why:
                return 0, str(why)
            losses[first[i] + bundle.numbers] = own
            return tied, ""

        pieces = [
            (i, bundle)
            for i, j in enumerate(parts)
            for bundle in bundles(
                plan.inner[j], range(n_inner(plan, j)), plan.n_rows, BUNDLE
            )
        ]
        found = team.map(measure, pieces)
        refused = {
            parts[i]: why
            for (i, _), (_, why) in reversed(list(zip(pieces, found, strict=True)))
            if why
        }
        return Losses(
            losses, refused=refused, counts=_counted(sum(tied for tied, _ in found))
        )

    def _outside(self, task: Outside, team: Team) -> Losses:
        plan, parts = self.plans[task.draw], task.parts
        found = team.map(
            partial(self._measured, task, team),
            bundles(plan.outer, parts, plan.n_rows, BUNDLE),
        )
        pieces = [piece for several, _, _ in found for piece in several]
        losses = Losses(np.concatenate([one for one, _, _ in pieces]))
        for _, rows, predictions in pieces:
            losses.rows += rows
            losses.predictions += predictions
        losses.counts = _counted(sum(tied for _, tied, _ in found))
        for _, _, refused in found:
            losses.refused |= refused
        return losses

    def _measured(
        self, task: Outside, team: Team, bundle: Bundle
    ) -> tuple[list[Measured], int, dict[int, str]]:
        """(what was measured on the splits of a bundle, tied predictions, refused splits)."""
        meter, chosen = (
            self.meters[task.draw],
            task.chosen[bundle.numbers - task.parts.start],
        )
        try:
            answers, tied = self._answers(task.draw, bundle, team)
            return [meter.outer(bundle.test, bundle.starts, answers, chosen)], tied, {}
        except Unsuited as why:
            if bundle.numbers.size == 1:
                nothing: Measured = (
                    np.full((1, self.problem.n_settings), np.nan),
                    [None],
                    [NOTHING],
                )
                return [nothing], 0, {int(bundle.numbers[0]): str(why)}
        single = [
            self._measured(task, team, one) for one in bundle.singles()
        ]  # each judged by its own rows
        refused = {j: why for _, _, own in single for j, why in own.items()}
        return (
            [piece for several, _, _ in single for piece in several],
            sum(tied for _, tied, _ in single),
            refused,
        )

    def _answers(self, draw: int, bundle: Bundle, team: Team) -> tuple[Answers, int]:
        """(what every setting says of the test rows, tied predictions)."""
        meter, tied = self.meters[draw], 0
        ballot = Ballot(meter, bundle.test.size, self.problem.n_settings)
        for geometry, votes in self.votes.items():
            if geometry in self.lists:
                tied += self._walked(geometry, votes, bundle, ballot)
            else:
                tied += self._searched(geometry, votes, bundle, ballot, team)
        present = None
        if meter.wants_scores:
            present = np.array([ballot.present(train) for _, train in bundle.parts()])
        return ballot.answers(present), tied

    def _walked(
        self, geometry: Geometry, votes: list[Votes], bundle: Bundle, ballot: Ballot
    ) -> int:
        """Walk the lists; rows whose list ends too early are searched in their own training part."""
        tied, X = 0, self.problem.X
        for vote in votes:
            short, first = (
                np.zeros(bundle.test.size, dtype=np.uint8),
                np.full(bundle.test.size, np.inf),
            )
            near = self.lists[geometry].arrays
            tied += ballots.walk(
                bundle.test,
                bundle.own,
                bundle.code,
                *near,
                *ballot.of(vote),
                short,
                first,
            )
            _check_digits(geometry, vote, first)
            if not short.any():
                continue
            for places, train in bundle.parts():
                where = places.start + np.flatnonzero(short[places])
                if where.size:
                    found = nearest(
                        X[train],
                        X[bundle.test[where]],
                        geometry,
                        int(vote.ks[-1]),
                        exact=True,
                    )
                    _check_digits(geometry, vote, found.distances[:, 0])
                    tied += ballot.cast(vote, found, train, where)
        return tied

    def _searched(
        self,
        geometry: Geometry,
        votes: list[Votes],
        bundle: Bundle,
        ballot: Ballot,
        team: Team,
    ) -> int:
        X, tied, n_most = self.problem.X, 0, max(int(vote.ks[-1]) for vote in votes)
        for places, train in bundle.parts():
            team.stop.check()
            test = bundle.test[places]
            T, Q, origin = X[train], X[test], None
            if geometry.scaled:
                origin = scaling.standardise(X, train, test, T, Q)
            found = nearest(T, Q, geometry, n_most, origin=origin)
            team.tell(test.size)
            for vote in votes:
                _check_digits(geometry, vote, found.distances[:, 0])
                tied += ballot.cast(
                    vote, found, train, np.arange(places.start, places.stop)
                )
        return tied


class Finder:
    """Finds the neighbours of some rows among all rows, into the lists themselves; where it has travelled it hands them out."""

    def __init__(self, X: np.ndarray, lists: Lists) -> None:
        self.X, self.lists = X, lists
        self.lengths = {
            geometry: near.rows.shape[1] for geometry, near in lists.items()
        }

    @cached_property
    def searches(self) -> dict[Geometry, Search]:
        """What searches need, made once in each process."""
        return {
            geometry: Search(self.X, geometry, length)
            for geometry, length in self.lengths.items()
        }

    def __call__(self, piece: tuple[Geometry, slice], team: Team) -> Near | None:
        geometry, rows = piece
        n, here = rows.stop - rows.start, self.lists.get(geometry)
        near = (
            Near.empty(n, self.lengths[geometry]) if here is None else here.part(rows)
        )
        with ONE_AT_A_TIME:
            search = self.searches[geometry]
        search.fill(
            self.X[rows], np.arange(rows.start, rows.stop), near, team.stop.is_set
        )
        team.tell(n)
        return near if here is None else None

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "lists": {}, "lengths": self.lengths}


def _counted(tied: int) -> Counter[str] | None:
    return Counter({COUNTED: tied}) if tied else None


def _tested(plan: Plan) -> int:
    """Test rows of all splits, inner and outer."""
    layouts = [
        *(plan.inner_layouts or ()),
        *([] if plan.outer_layout is None else [plan.outer_layout]),
    ]
    return sum(int(layout.sizes()[:, 1].sum()) for layout in layouts)


def _asked(plan: Plan) -> int:
    """Rows that look for neighbours."""
    if plan.inner_layouts is not None:
        return plan.n_parts * plan.n_rows
    return (
        0 if plan.outer_layout is None else int(plan.outer_layout.sizes()[:, 1].sum())
    )


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
        self.shares = np.empty(
            (n if wanted else 1, n_settings, self.n_classes if wanted else 0)
        )

    def of(self, vote: Votes) -> tuple[Any, ...]:
        """The arguments that the kernels share."""
        return (
            self.codes, self.y, vote.ks, vote.columns, vote.weighted, self.n_classes, self.classes, self.means, self.shares,
        )  # fmt: skip

    def cast(
        self, vote: Votes, near: Near, train: np.ndarray, where: np.ndarray
    ) -> int:
        """Write what these lists of places in `train` say of the test rows `where`; gives the number of tied predictions."""
        return int(ballots.say(where, train, *near.arrays, *self.of(vote)))

    def present(self, train: np.ndarray) -> np.ndarray:
        """Which classes stand among these rows."""
        return np.bincount(self.codes[train], minlength=self.n_classes) > 0

    def answers(self, present: np.ndarray | None) -> Answers:
        values = self.classes if self.n_classes else self.means
        return Answers(
            values, self.shares if self.shares.shape[2] else None, present=present
        )


def answers_of_split(split: SplitProblem) -> tuple[Answers, int]:
    """(what every k says of the test rows, tied predictions)."""
    one, train, n_test = split.combination, split.train, len(split.X_test)
    vote, geometry = (
        Votes.of(replace(one, which=np.arange(one.which.size))),
        Geometry.of(one),
    )
    ballot = Ballot(split.meter, n_test, one.which.size)
    found = nearest(split.X_train, split.X_test, geometry, int(vote.ks[-1]))
    _check_digits(geometry, vote, found.distances[:, 0])
    tied = ballot.cast(vote, found, train, np.arange(n_test))
    return ballot.answers(
        ballot.present(train)[None] if split.meter.wants_scores else None
    ), tied


def _length(plan: Plan, votes: list[Votes]) -> int:
    """Length of a list that holds k + 1 rows of a training part, but for few rows of most plans."""
    n_most, n_rows = max(int(vote.ks[-1]) for vote in votes) + 1, plan.n_rows
    layouts = [
        *plan.inner_kept,
        *([] if plan.outer_layout is None else [plan.outer_layout]),
    ]
    share = min(int(layout.sizes()[:, 0].min()) for layout in layouts) / n_rows
    length = (n_most + 4.0 * np.sqrt(n_most * (1.0 - share))) / share
    return int(min(np.ceil(length) + 2, n_rows - 1))


def _check_digits(geometry: Geometry, vote: Votes, distances: np.ndarray) -> None:
    """Leave weights 1 / distance to refit where scikit-learn's cosine distances, 1 - cos, are mostly rounding."""
    if (
        geometry.metric == neighbours.COSINE
        and vote.weighted
        and distances.min() < NEAR_ZERO
    ):
        raise Unsuited(
            "rows are nearly parallel, and the digits of their cosine distances are rounding"
        )
