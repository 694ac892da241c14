"""What the lists of the builder's form offer: models, scores, groups, recipes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..data.table import Data
from ..families.registry import short_hand, short_hands
from .code_writer import GIVEN, CodeWriter
from .fields import NAMED, OF_RUN, STRATIFY
from .offered_scores import scores_for, words_of_scorer
from .setting_form import SettingForm


def choices_of(
    shown: Any, writer: CodeWriter, data: Data, settings: SettingForm
) -> dict[str, list[list[str]]]:
    """Return the name of each list -> [[value, label], ...].

    shown     the controls, whose own values are always offered
    writer    knows the names of the notebook
    data      the rows that the models and the scores must suit
    settings  the rows of the chosen model
    """
    choices = {
        "named": _same([*NAMED, "–", GIVEN]),
        "stratify": _same(STRATIFY),
        "groups": [["", "none"], *_groups(writer, data)],
        "family_name": _same(_models(shown, writer, data)),
        "settings": settings.choices(shown.family_name, shown.grid),
        "loss": _scores(shown, data),
        "select": [["min", "minimum"], ["one_se", "one standard error"]],
    }
    for name in OF_RUN:
        if getattr(shown, name) == GIVEN:
            choices[name] += _same([GIVEN])
    return choices


def _models(shown: Any, writer: CodeWriter, data: Data) -> list[str]:
    """Return the models that suit the targets, and the one that is chosen."""
    names = [name for name in short_hands() if _learns(name, data.task)]
    names += writer.estimators(data.task)
    return list(dict.fromkeys([*names, shown.family_name]))


def _groups(writer: CodeWriter, data: Data) -> list[list[str]]:
    columns = writer.columns
    return [
        [name, f"{columns[name]} (column)" if name in columns else name]
        for name in writer.group_names(data.n_rows)
    ]


def _scores(shown: Any, data: Data) -> list[list[str]]:
    """Return the scores that fit the task, and the one that is chosen."""
    found = scores_for(data, shown._known_family.task(data.task))
    if shown.loss not in (GIVEN, *(value for value, _ in found)):
        found.append([shown.loss, words_of_scorer(shown.loss)])
    return found


def _learns(name: str, task: str) -> bool:
    """Whether a short-hand can learn such targets; one that needs arguments may."""
    try:
        return bool(short_hand(name)().task(task) == task)
    except Exception:  # a function of another package that needs arguments
        return True


def _same(values: Iterable[str]) -> list[list[str]]:
    """[value, label] of choices whose value is their label."""
    return [[value, value] for value in values]
