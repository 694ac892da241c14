"""Labels of estimators, settings and values, for displays and messages."""

from __future__ import annotations

import inspect
import re
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


def format_value(value: Any) -> str:
    """Return a number with six significant digits, or the repr of any other value on one line."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if inspect.isroutine(value) or isinstance(value, np.ufunc):
        return value.__name__
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = ADDRESS.sub("", " ".join(text.split()))
    return text if len(text) <= 60 else text[:57] + "..."
