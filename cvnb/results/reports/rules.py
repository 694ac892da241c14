"""Rules of selection compared in the same nest: each is judged by the risk of what it chooses, and nothing is fitted anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...families.family import format_setting
from ...inference.checked import probability
from ...inference.measured import every_outer_loss, refuse_time, split_sizes
from ...inference.paired import corrected_t
from ...inference.rules import Rule, rule_of
from ...inference.spread import corrected_t_interval
from ...wording import number
from ..estimate import RiskEstimate, record_of
from .base import Report


@dataclass(frozen=True, eq=False)
class RuleRisk:
    """One rule: what it chose in each outer split, ε_j, their mean, and how that differs from the first rule's."""

    name: str
    chosen_index: np.ndarray
    fold_risks: np.ndarray
    difference: float
    low: float | None
    high: float | None
    p: float | None
    reason: str = ""

    @property
    def risk(self) -> float:
        return float(self.fold_risks.mean())


@dataclass(frozen=True, eq=False, repr=False)
class RuleComparison(Report):
    """Rules by name, each a RuleRisk; differences are to the first one, on the same splits."""

    result: RiskEstimate
    rules: dict[str, RuleRisk]
    level: float
    reasons: tuple[str, ...]

    def __getitem__(self, name: str) -> RuleRisk:
        return self.rules[name]

    @property
    def title(self) -> str:
        return f"Rules of selection in the same nest: {record_of(self.result).loss.shown_name} of the tuned rule"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        first, loss = next(iter(self.rules)), record_of(self.result).loss
        head = [
            "rule",
            "score" if loss.is_score else "risk",
            "θ_j",
            f"minus {first}",
            f"{100 * self.level:g} % interval",
            "p",
        ]
        rows = []
        for name, rule in self.rules.items():
            settings = self.result.settings
            distinct = list(
                dict.fromkeys(format_setting(settings[s]) for s in rule.chosen_index)
            )
            chosen = "; ".join(distinct[:4]) + ("; …" if len(distinct) > 4 else "")
            ends = (
                []
                if rule.low is None
                else [loss.shown_difference(end) for end in (rule.low, rule.high)]
            )
            between = (
                " to ".join(
                    number(end) for end in (reversed(ends) if loss.is_score else ends)
                )
                or "–"
            )
            difference = (
                "–" if name == first else number(loss.shown_difference(rule.difference))
            )
            rows.append(
                [
                    name,
                    number(loss.shown(rule.risk)),
                    chosen,
                    difference,
                    between,
                    number(rule.p),
                ]
            )
        return head, rows

    @property
    def sentences(self) -> list[str]:
        said = [
            f"{name}: {rule.reason}" for name, rule in self.rules.items() if rule.reason
        ]
        quantity = self.result.quantity.replace(
            record_of(self.result).work.rule.words, ""
        )
        return [
            f"Each risk estimates {quantity}, by its own rule.",
            *said,
            *self.reasons,
        ]


def compare_rules(
    result: RiskEstimate, rules: Any = None, level: float = 0.95
) -> RuleComparison:
    """The nested risk of each rule on the fits of this run; none is made anew.

        risk of a rule = mean_j loss of A_θj(S_-j) on S_j,    θ_j = what the rule chooses on the inner losses of j

    rules: names, rules or functions as select= takes them, or a dict of those by name; default "min" and "one_se". Differences
    to the first have a corrected resampled t interval.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> report = compare_rules(nested_cv(knn(k=range(1, 30)), *load_iris(return_X_y=True)))
    >>> [(name, round(rule.risk, 4)) for name, rule in report.rules.items()]
    [('min', 0.04), ('one_se', 0.0333)]
    """
    if not isinstance(result, RiskEstimate):
        raise InputError(
            f"compare_rules takes the result of a run, got {type(result).__name__}."
        )
    record = record_of(result)
    probability("level", level)
    if record.table.inner is None:
        raise InputError(
            "inner=None chooses nothing, so there are no rules to compare; give inner."
        )
    losses, reasons = every_outer_loss(result), []
    chosen: dict[str, np.ndarray] = {}
    asked = _named(("min", "one_se") if rules is None else rules)
    if not asked:
        raise InputError(
            "rules is empty; give names such as 'min' and 'one_se', or functions."
        )
    for name, select in asked.items():
        try:
            rule = rule_of(select, record.family, record.work.kinds, record.loss)
            rule.refuse(record.plan)
        except InputError as error:
            if rules is not None:
                raise
            reasons.append(str(error))
            continue
        chosen[name] = np.array(
            [
                _choice(rule, inner, outer)
                for inner, outer in zip(record.table.inner, losses, strict=False)
            ]
        )
    first = next(iter(chosen.values()))
    compared = {
        name: _risk(result, name, which, first, losses, level)
        for name, which in chosen.items()
    }
    return RuleComparison(result, compared, level, tuple(reasons))


def _named(rules: Any) -> dict[str, Any]:
    if isinstance(rules, Mapping):
        return {str(name): rule for name, rule in rules.items()}
    if isinstance(rules, str) or not isinstance(rules, Iterable):
        rules = [rules]
    named: dict[str, Any] = {}
    for rule in rules:
        name = rule if isinstance(rule, str) else getattr(rule, "__name__", repr(rule))
        named[name if name not in named else f"{name} {len(named) + 1}"] = rule
    return named


def _choice(rule: Rule, inner: np.ndarray, outer: np.ndarray) -> int:
    """What a run with this rule would have taken: a choice that fails on the whole training part gives way."""
    inner = inner.copy()
    while True:
        chosen = rule.choose(inner)
        if chosen is None:
            raise InputError(
                "every setting failed in some outer split, so this rule has nothing to choose there."
            )
        if not np.isnan(outer[chosen]):
            return chosen
        inner[:, chosen] = np.nan


def _risk(
    result: RiskEstimate,
    name: str,
    which: np.ndarray,
    first: np.ndarray,
    losses: np.ndarray,
    level: float,
) -> RuleRisk:
    mine, theirs = (
        losses[np.arange(len(losses)), which],
        losses[np.arange(len(losses)), first],
    )
    d = mine - theirs
    if which is first:
        return RuleRisk(name, which, mine, 0.0, None, None, None)
    if np.array_equal(which, first):
        return RuleRisk(
            name, which, mine, 0.0, None, None, None, "the same choice in every split."
        )
    try:
        refuse_time(result)
        sizes = split_sizes(result)
        p = corrected_t(d, *sizes)[1]
        low, high = corrected_t_interval(d, *sizes, level) if d.any() else (None, None)
    except InputError as error:
        return RuleRisk(
            name, which, mine, float(d.mean()), None, None, None, str(error)
        )
    return RuleRisk(name, which, mine, float(d.mean()), low, high, p)
