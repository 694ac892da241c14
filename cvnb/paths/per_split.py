"""What paths share that handle single splits, with every setting on each.

joblib may send each split anywhere.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ..families.algorithm import Axis
from ..families.setting_groups import SettingGroup
from ..runtime.threads import Team
from .base import Losses, Outside, Path, Refusal, Task, Unsuited, split_of
from .measure import FIRST, LossEvaluator, Predictions
from .problem import Combination, Request, combinations_of
from .refit import Chain, Key, Refit, recorded

NO_GROUPS: Mapping[int, int] = {}


@dataclass(eq=False)
class SplitLosses:
    """The losses of one split, filled combination by combination.

    chosen  the setting whose predictions are kept; -1 inside
    """

    losses: Losses
    evaluator: LossEvaluator
    chosen: int
    team: Team
    chain: Chain

    def put(self, combination: Combination, predictions: Predictions) -> None:
        """Write the losses of a combination from its predictions for the test part."""
        settings, losses = combination.which, self.losses
        means, rows = self.evaluator.measure(self.chain.test, FIRST, predictions)
        losses.losses[0, settings] = means[0]
        if self.chosen < 0:
            return
        if rows is not None:
            losses.put_rows(settings, rows)
        for column in np.flatnonzero(settings == self.chosen):
            values = predictions.values[:, column]
            losses.predictions[0] = self.evaluator.labels(values)


class PerSplitPath(Path):
    """A path that handles one split at a time, with every setting on it.

    chains  key of a chain of transformers -> combinations of the settings that share it
    """

    def __init__(
        self,
        request: Request,
        axis: Callable[[SettingGroup], Axis],
        together: Mapping[int, int] = NO_GROUPS,
    ) -> None:
        """Group the settings by their chains of transformers.

        together  setting -> another one in whose chain it is measured
        """
        self.family, self.draws = request.family, request.draws
        self.evaluators, loss = request.evaluators, request.evaluator.loss
        self.keys = Refit(self.family, self.draws, loss, "").keys
        self.chains: dict[Key, list[Combination]] = {}
        for combination in combinations_of(request.kinds, axis):
            own_keys = [self.keys[together.get(s, s)] for s in combination.which]
            for key in dict.fromkeys(own_keys):
                same = np.array([own == key for own in own_keys])
                part = restricted(replace(combination, scaled=False), same)
                self.chains.setdefault(key, []).append(part)

    @property
    def n_fits(self) -> int:
        """Fits of the last step in each split."""
        return sum(map(len, self.chains.values()))

    def with_fits(self, n: int) -> Self:
        """Return a copy with at most n of its fits, the first and the last among them."""
        part = copy.copy(self)
        fits = [(key, own) for key, chain in self.chains.items() for own in chain]
        if len(fits) > n:
            fits = fits[: n - 1] + fits[-1:]
        part.chains = {}
        for key, combination in fits:
            part.chains.setdefault(key, []).append(combination)
        return part

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """Run as Path.run; a Refusal carries the chain of transformers if it is the only one."""
        draw, evaluator = self.draws[task.draw], self.evaluators[task.draw]
        train, test, split = split_of(draw.plan, task)
        chain = Chain(self.family, draw.data, train, test, split)
        chosen = int(task.chosen[0]) if isinstance(task, Outside) else -1
        losses = Losses.empty(1, len(self.family.settings))
        losses.warnings = Counter()
        split_losses = SplitLosses(losses, evaluator, chosen, team, chain)
        chains = self.chains
        if isinstance(task, Outside) and not task.every:
            chains = _chains_of(chains, chosen)
        try:
            with recorded(losses.warnings):
                for key, combinations in chains.items():
                    self.fill(split_losses, key, combinations)
        except Unsuited as why:
            if len(self.chains) == 1 and chain.stages:
                return Refusal(str(why), chain, losses.warnings)
            return Refusal(str(why))
        return losses

    def fill(
        self, split_losses: SplitLosses, key: Key, combinations: list[Combination]
    ) -> None:
        """Measure combinations that share the chain of transformers with this key."""
        raise NotImplementedError


def restricted(combination: Combination, kept: np.ndarray) -> Combination:
    """Return the combination of some of its settings; kept is [settings] of truths."""
    which, values = combination.which[kept], combination.values[kept]
    return replace(combination, which=which, values=values)


def _chains_of(
    chains: dict[Key, list[Combination]], setting: int
) -> dict[Key, list[Combination]]:
    """Return the chain of a setting with the one combination that holds it."""
    return {
        key: [restricted(combination, combination.which == setting)]
        for key, combinations in chains.items()
        for combination in combinations
        if (combination.which == setting).any()
    }
