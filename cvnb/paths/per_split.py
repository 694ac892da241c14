"""What paths share that go split by split and serve every setting there: joblib may carry each split anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..families.algorithm import Axis
from ..families.family import Family, Kind
from ..runtime.threads import Team
from .base import (
    NOTHING,
    Draw,
    Losses,
    Outside,
    Path,
    Refusal,
    Task,
    Unsuited,
    split_of,
)
from .measure import Answers, Meter
from .problem import Combination, combinations_of
from .refit import Chain, Key, Refit, recorded

FIRST = np.zeros(1, dtype=np.int64)


@dataclass(eq=False)
class Filling:
    """The losses of one split while they are filled, combination by combination."""

    losses: Losses
    meter: Meter
    chosen: int  # whose predictions are kept; -1 inside
    team: Team
    chain: Chain

    def put(self, combination: Combination, answers: Answers) -> None:
        """Write the losses of what the settings of a combination say of the test part."""
        test, found = self.chain.test, self.losses
        losses, rows = self.meter.measure(test, FIRST, answers)
        found.losses[0, combination.which] = losses[0]
        if self.chosen < 0:
            return
        if rows is not None:
            kept = found.rows[0]
            if kept is None:
                kept = found.rows[0] = np.full(
                    (test.size, found.losses.shape[1]), np.nan
                )
            kept[:, combination.which] = rows
        for column in np.flatnonzero(combination.which == self.chosen):
            found.predictions[0] = self.meter.labels(answers.values[:, column])


class PerSplit(Path):
    """The losses of every setting on one split.

    chains   settings by the transformers that they share, as combinations
    """

    def __init__(
        self,
        family: Family,
        kinds: list[Kind],
        draws: Sequence[Draw],
        meters: Sequence[Meter],
        axis: Callable[[Kind], Axis],
    ) -> None:
        self.family, self.draws, self.meters = family, draws, meters
        keys = Refit(family, draws, meters[0].loss, "").keys
        self.chains: dict[Key, list[Combination]] = {}
        for combination in combinations_of(kinds, axis):
            own = [keys[s] for s in combination.which]
            for key in dict.fromkeys(own):
                mine = np.array([one == key for one in own])
                part = replace(
                    combination,
                    scaled=False,
                    which=combination.which[mine],
                    values=combination.values[mine],
                )
                self.chains.setdefault(key, []).append(part)

    @property
    def n_fits(self) -> int:
        """Fits of the last step in each split."""
        return sum(map(len, self.chains.values()))

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run; where one chain of transformers is fitted already, refit goes on with it."""
        draw, meter = self.draws[task.draw], self.meters[task.draw]
        train, test, split = split_of(draw.plan, task)
        chain = Chain(self.family, draw.data, train, test, split)
        found = Losses(
            np.full((1, len(self.family.settings)), np.nan), [None], [NOTHING]
        )
        filling = Filling(
            found,
            meter,
            int(task.chosen[0]) if isinstance(task, Outside) else -1,
            team,
            chain,
        )
        found.warnings = Counter()
        try:
            with recorded(found.warnings):
                for key, combinations in self.chains.items():
                    self.fill(filling, key, combinations)
        except Unsuited as why:
            alone = len(self.chains) == 1 and bool(chain.stages)
            return (
                Refusal(str(why), chain, found.warnings) if alone else Refusal(str(why))
            )
        return found

    def fill(self, filling: Filling, key: Key, combinations: list[Combination]) -> None:
        """Measure settings that share their transformers."""
        raise NotImplementedError
