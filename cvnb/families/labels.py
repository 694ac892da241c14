"""Labels of estimators, settings and values, for displays and messages."""

from __future__ import annotations

import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

Setting = dict[str, Any]
PASS = (None, "passthrough")  # steps of a pipeline that do nothing
# of an object without a repr of its own; it differs between processes
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def estimator_label(estimator: Any) -> str:
    """Return the class names of the steps: "StandardScaler → KNeighborsClassifier"."""
    if type(estimator) is not Pipeline:
        return type(estimator).__name__
    steps = [step for _, step in estimator.steps if step not in PASS]
    return " → ".join(map(estimator_label, steps))


def format_setting(setting: Setting) -> str:
    """Return a setting as "C=10, gamma=0.1"."""
    return ", ".join(f"{key}={format_value(value)}" for key, value in setting.items())


def shown_settings(settings: Sequence[Setting]) -> list[str]:
    """Return settings for a reader: "C=10" for {"logisticregression__C": 10}.

    Names of pipeline steps are left out where no other parameter of the grid has the same
    last name.

    >>> shown_settings([{"svc__C": 1, "pca__n": 2}, {"svc__C": 9, "rbf__n": 2}])
    ['C=1, pca__n=2', 'C=9, rbf__n=2']
    """
    names = shown_names(settings)
    texts = shown_values(settings)
    return [
        ", ".join(f"{names[key]}={texts[key, place]}" for key in setting)
        for place, setting in enumerate(settings)
    ]


def shown_names(settings: Sequence[Setting]) -> dict[str, str]:
    """Return the last part of each parameter's name, or all of it where that is ambiguous."""
    last = {key: key.rpartition("__")[2] for setting in settings for key in setting}
    times = Counter(last.values())
    return {name: short if times[short] == 1 else name for name, short in last.items()}


def shown_values(settings: Sequence[Setting]) -> dict[tuple[str, int], str]:
    """Return the text of each value by (parameter, index of the setting).

    Numbers have three significant digits, or as many as tell the values apart.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, setting in enumerate(settings):
        for key in setting:
            places[key].append(place)
    texts = {}
    for key, found in places.items():
        values = [settings[place][key] for place in found]
        full = [format_value(value) for value in values]
        candidates = (
            [format_value(value, digits) for value in values] for digits in (3, 4, 5)
        )
        n_distinct = len(set(full))
        shown = next((x for x in candidates if len(set(x)) == n_distinct), full)
        texts.update({(key, i): x for i, x in zip(found, shown, strict=True)})
    return texts


def format_value(value: Any, digits: int = 6) -> str:
    """Return a number with so many significant digits, any other value as one line of repr."""
    if isinstance(value, float | np.floating):
        return f"{value:.{digits}g}"
    if inspect.isroutine(value) or isinstance(value, np.ufunc):
        return value.__name__
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = ADDRESS.sub("", " ".join(text.split()))
    return text if len(text) <= 60 else text[:57] + "..."
