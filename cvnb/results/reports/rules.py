"""Report that compares rules of selection by the nested risk of each; nothing is fitted again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...families.labels import format_setting
from ...inference.checked import probability
from ...inference.measured import every_outer_loss
from ...inference.rules import Rule, rule_of
from ...wording import number
from ..estimate import RiskEstimate, record_of
from ..record import Record
from .base import Report, refuse_no_result
from .paired_risk import PairedRisk, paired_with_first


@dataclass(frozen=True, eq=False)
class RuleRisk(PairedRisk):
    """One rule, compared with the first one.

    chosen_index  setting chosen in each outer split
    """

    chosen_index: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class RuleComparison(Report):
    """Rules by name, each a RuleRisk; differences from the first one, on the same splits."""

    result: RiskEstimate
    rules: dict[str, RuleRisk]
    level: float
    reasons: tuple[str, ...]

    def __getitem__(self, name: str) -> RuleRisk:
        return self.rules[name]

    @property
    def title(self) -> str:
        name = record_of(self.result).loss.shown_name
        return f"Rules of selection in the same nest: {name} of the tuned rule"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        first, loss = next(iter(self.rules)), record_of(self.result).loss
        risk = "score" if loss.is_score else "risk"
        level = f"{100 * self.level:g} % interval"
        rows = []
        for name, rule in self.rules.items():
            difference = number(loss.shown_difference(rule.difference))
            rows.append(
                [
                    name,
                    number(loss.shown(rule.risk)),
                    self._chosen_by(rule),
                    "–" if name == first else difference,
                    rule.shown_interval(self.result),
                    number(rule.p),
                ]
            )
        return ["rule", risk, "θ_j", f"minus {first}", level, "p"], rows

    def _chosen_by(self, rule: RuleRisk) -> str:
        """Return the first four distinct settings."""
        settings = self.result.settings
        chosen = [format_setting(settings[s]) for s in rule.chosen_index]
        distinct = list(dict.fromkeys(chosen))
        return "; ".join(distinct[:4]) + ("; …" if len(distinct) > 4 else "")

    @property
    def sentences(self) -> list[str]:
        own_words = record_of(self.result).work.rule.words
        quantity = self.result.quantity.replace(own_words, "")
        reasons = [
            f"{name}: {rule.reason}" for name, rule in self.rules.items() if rule.reason
        ]
        sentence = f"Each risk estimates {quantity}, by its own rule."
        return [sentence, *reasons, *self.reasons]


def compare_rules(
    result: RiskEstimate, rules: Any = None, level: float = 0.95
) -> RuleComparison:
    """The nested risk of each rule, on the fits of this run.

        risk of a rule = mean_j loss of A_θj(S_-j) on S_j
        θ_j            = setting that the rule chooses by the inner losses of j

    result: must have outer_curves; a run by path "refit" has them if flat=True. rules: names,
    rules or functions as for select=, or a dict of those by name; by default "min" and
    "one_se". level: coverage probability of the intervals (corrected resampled t) for the
    differences from the first rule.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> report = compare_rules(nested_cv(knn(k=range(1, 30)), *load_iris(return_X_y=True)))
    >>> [(name, round(rule.risk, 4)) for name, rule in report.rules.items()]
    [('min', 0.04), ('one_se', 0.0333)]
    """
    refuse_no_result("compare_rules", result)
    probability("level", level)
    record = record_of(result)
    if record.table.inner is None:
        raise InputError(
            "inner=None chooses nothing, so there are no rules to compare; give inner."
        )
    losses = every_outer_loss(result)
    bound, reasons = _bound_rules(record, rules)
    chosen = {}
    for name, rule in bound.items():
        pairs = zip(record.table.inner, losses, strict=False)
        chosen[name] = np.array([_choice(rule, inner, outer) for inner, outer in pairs])
    first = next(iter(chosen.values()))
    compared = {
        name: _risk(result, name, indices, first, losses, level)
        for name, indices in chosen.items()
    }
    return RuleComparison(result, compared, level, tuple(reasons))


def _bound_rules(record: Record, rules: Any) -> tuple[dict[str, Rule], list[str]]:
    """Return (rules by name, why others are left out); only default rules are left out."""
    by_name = _named(("min", "one_se") if rules is None else rules)
    if not by_name:
        raise InputError(
            "rules is empty; give names such as 'min' and 'one_se', or functions."
        )
    bound, reasons = {}, []
    for name, select in by_name.items():
        try:
            rule = rule_of(select, record.family, record.work.kinds, record.loss)
            rule.refuse(record.plan)
        except InputError as error:
            if rules is not None:
                raise
            reasons.append(str(error))
        else:
            bound[name] = rule
    return bound, reasons


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
    """Return what a run with this rule would choose: a setting that fails outside is left out."""
    inner = inner.copy()
    while True:
        chosen = rule.choose(inner)
        if chosen is None:
            raise InputError(
                "every setting failed in some outer split, so this rule has nothing to "
                "choose there."
            )
        if not np.isnan(outer[chosen]):
            return chosen
        inner[:, chosen] = np.nan


def _risk(
    result: RiskEstimate,
    name: str,
    chosen: np.ndarray,
    first: np.ndarray,
    losses: np.ndarray,
    level: float,
) -> RuleRisk:
    splits = np.arange(len(losses))
    fold_risks = losses[splits, chosen]
    d = fold_risks - losses[splits, first]
    own = RuleRisk(name, fold_risks, float(d.mean()), chosen_index=chosen)
    if chosen is first:
        return own
    if np.array_equal(chosen, first):
        return replace(own, reason="the same choice in every split.")
    return paired_with_first(result, own, d, level)
