"""What paths share that go split by split and serve every setting there: joblib may carry each split anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..algorithm import Axis
from ..families import Family, Kind
from .base import Outcome, Unsuited
from .measure import Answers, Meter
from .problem import Combination, combinations_of
from .refit import Chain, Key, Refit, recorded

FIRST = np.zeros(1, dtype=np.int64)


class PerSplit:
    """The losses of every setting on one split; what is unsuited there is refitted.

    chains   settings by the transformers that they share, as combinations
    """

    every_setting, compiles, threads = True, False, False
    name = reason = ""

    def __init__(self, family: Family, kinds: list[Kind], meter: Meter, axis: Callable[[Kind], Axis]) -> None:
        self.family, self.meter = family, meter
        self.refit = Refit(family, meter.data, meter.loss, "")
        self.chains: dict[Key, list[Combination]] = {}
        for combination in combinations_of(kinds, axis):
            keys = [self.refit.keys[s] for s in combination.which]
            for key in dict.fromkeys(keys):
                mine = np.array([one == key for one in keys])
                part = replace(combination, scaled=False, which=combination.which[mine], values=combination.values[mine])
                self.chains.setdefault(key, []).append(part)

    @property
    def n_fits(self) -> int:
        """Fits of the last step in each split."""
        return sum(map(len, self.chains.values()))

    def evaluate(self, train: np.ndarray, test: np.ndarray, which: np.ndarray, split: tuple[int, int], keep: bool) -> Outcome:
        chain, n_settings = Chain(self.family, self.meter.data, train, test, split), len(self.family.settings)
        outcome = Outcome(np.full(n_settings, np.nan), np.full((test.size, n_settings), np.nan) if keep else None)
        warned = Counter[str]()
        try:
            with recorded(warned):
                for key, combinations in self.chains.items():
                    self.fill(outcome, chain, key, combinations)
        except Unsuited as error:
            why = str(error)
        else:
            outcome.warnings = warned
            return outcome
        alone = len(self.chains) == 1 and bool(chain.stages)  # its transformers are fitted, and have said what they warn of
        outcome = self.refit.evaluate(train, test, which, split, keep, chain if alone else None)
        outcome.warnings.update(warned if alone else {})
        outcome.refitted = why
        return outcome

    def fill(self, outcome: Outcome, chain: Chain, key: Key, combinations: list[Combination]) -> None:
        """Measure settings that share their transformers."""
        raise NotImplementedError

    def put(self, outcome: Outcome, combination: Combination, test: np.ndarray, answers: Answers) -> None:
        """Write the losses of what the settings of a combination say of the test part."""
        losses, rows = self.meter.measure(test, FIRST, answers)
        outcome.losses[combination.which] = losses[0]
        if outcome.rows is None:
            return
        if rows is not None:
            outcome.rows[:, combination.which] = rows
        for column, s in enumerate(combination.which):
            outcome.predictions[int(s)] = self.meter.labels(answers.values[:, column])
