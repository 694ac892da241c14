"""Python source that makes a result again."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics._scorer import _BaseScorer

from ..families.family import Family
from ..inference.rules import OneStandardError, Own, Rule
from ..losses.loss import NAMED
from ..splits.recipes import Recipe
from ..splits.specs import Given, LikeOuterTest, Listed

if TYPE_CHECKING:
    from ..results.estimate import Record

Imports = set[tuple[str, str]]
YOURS = "your_function"


def code_of(record: Record) -> str:
    """Imports, the recipe and its run; X, y (and groups, sample_weight) are the user's."""
    imports: Imports = {("cvnb", "Recipe")}
    arguments = [family_expression(record.family, imports), "X", "y"]
    for name in ("groups", "sample_weight"):
        if (
            getattr(record.data, "weights" if name == "sample_weight" else name)
            is not None
        ):
            arguments.append(f"{name}={name}")
    arguments += loss_arguments(record, imports)
    arguments += select_arguments(record.work.rule, imports)
    if record.table.flat:
        arguments.append("flat=True")
    body = [
        f"recipe = {recipe_expression(record.recipe, imports)}",
        f"result = recipe.run({', '.join(arguments)})",
    ]
    missing = (
        [f"# {YOURS}: the function that this run was given; it has no name to import"]
        if YOURS in body[-1]
        else []
    )
    return "\n".join([*import_lines(imports), "", *missing, *body])


def expression(value: Any, imports: Imports) -> str:
    """An expression that makes this value; what has to be imported is added to `imports`."""
    if isinstance(value, np.ndarray):
        imports.add(("numpy", ""))
        return f"np.array({value.tolist()!r})"
    if isinstance(value, np.generic):
        return expression(value.item(), imports)
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    if type(value) in (list, tuple):
        inside = ", ".join(expression(one, imports) for one in value)
        return (
            f"[{inside}]"
            if type(value) is list
            else f"({inside},)"
            if len(value) == 1
            else f"({inside})"
        )
    if type(value) is dict:
        return (
            "{"
            + ", ".join(
                f"{expression(k, imports)}: {expression(v, imports)}"
                for k, v in value.items()
            )
            + "}"
        )
    if inspect.isfunction(value) and "<" in value.__qualname__:
        return YOURS
    if isinstance(value, type) or inspect.isfunction(value) or inspect.isbuiltin(value):
        imports.add(_home(value))
        return value.__name__
    if callable(value) and _is_importable(value):
        imports.add(_home(value))
        return str(value.__name__)
    if isinstance(value, _BaseScorer):
        imports |= {("sklearn.metrics", "make_scorer"), _home(value._score_func)}
        return " ".join(repr(value).split())
    if isinstance(value, BaseEstimator):
        imports.add(_home(type(value)))
        return (
            f"{type(value).__name__}({', '.join(_changed_parameters(value, imports))})"
        )
    if hasattr(value, "get_n_splits") and re.search(
        r"array\(|RandomState|<", repr(value)
    ):
        return _splitter(value, imports) or YOURS
    if repr(value).startswith("<") or isinstance(
        value, np.random.RandomState | np.random.Generator
    ):
        return YOURS
    if type(value).__module__ != "builtins":
        imports.add(_home(type(value)))
    return " ".join(repr(value).split())


def family_expression(family: Family, imports: Imports) -> str:
    """An expression that makes this family."""
    if family.call:
        name, keywords = family.call
        imports.add(("cvnb", name))
        return f"{name}({', '.join(f'{key}={expression(value, imports)}' for key, value in keywords.items())})"
    imports.add(("cvnb", "Family"))
    if family.search is not None:
        return f"Family({expression(family.search, imports)})"
    name = "" if family.name is None else f", name={family.name!r}"
    return f"Family({expression(family.estimator, imports)}, {expression(family.grid, imports)}{name})"


def loss_arguments(record: Record, imports: Imports) -> list[str]:
    """loss=... or scoring=..., as this run was asked for it."""
    loss = record.loss
    if loss.scorer is not None:
        shown = (
            repr(loss.score_name)
            if isinstance(loss.asked, str)
            else expression(loss.asked, imports)
        )
        return [f"scoring={shown}"]
    if loss.score_name is not None:
        return [f"scoring={loss.score_name!r}"]
    known = next((name for name, one in NAMED.items() if one.rows is loss.rows), None)
    return [f"loss={known!r}" if known else f"loss={expression(loss.rows, imports)}"]


def select_arguments(rule: Rule, imports: Imports) -> list[str]:
    """select=..., nothing for the minimum."""
    if isinstance(rule, Own):
        return [f"select={expression(rule.function, imports)}"]
    if isinstance(rule, OneStandardError) and rule.simplest:
        imports.add(("cvnb.inference", "OneSE"))
        return [f"select=OneSE({expression(dict(rule.simplest), imports)})"]
    return ["select='one_se'"] if isinstance(rule, OneStandardError) else []


def recipe_expression(recipe: Recipe, imports: Imports) -> str:
    """An expression that makes this recipe."""
    shown, like = [], isinstance(recipe.inner_spec, LikeOuterTest)
    for f in fields(recipe):
        if not f.init or (like and f.name == "inner"):
            continue
        value: Any = getattr(recipe, f.name)
        always = f.name in ("outer", "inner", "seed")
        if not always and (value is f.default or np.array_equal(value, f.default)):  # type: ignore[arg-type]
            continue
        spec = getattr(recipe, f"{f.name}_spec", None)
        if isinstance(spec, Given):
            value = spec.splitter
        elif isinstance(spec, Listed):
            value = list(spec.splits)
        shown.append(f"{f.name}={expression(value, imports)}")
    return f"Recipe{'.nested_dev' * like}({', '.join(shown)})"


def _changed_parameters(estimator: BaseEstimator, imports: Imports) -> list[str]:
    defaults: dict[str, Any] = {
        p.name: p.default
        for p in inspect.signature(type(estimator).__init__).parameters.values()
    }
    changed = []
    for name, value in estimator.get_params(deep=False).items():
        default = defaults.get(name, inspect.Parameter.empty)
        if value is not default and not (
            type(value) is type(default) and np.array_equal(value, default)
        ):
            changed.append(f"{name}={expression(value, imports)}")
    return changed


def _splitter(value: Any, imports: Imports) -> str:
    """A call that makes a splitter again from its attributes; "" where it keeps them otherwise."""
    names = [
        name
        for name in inspect.signature(type(value).__init__).parameters
        if name != "self"
    ]
    if (
        any(not hasattr(value, name) for name in names)
        or "<locals>" in type(value).__qualname__
    ):
        return ""
    imports.add(_home(type(value)))
    return f"{type(value).__name__}({', '.join(f'{name}={expression(getattr(value, name), imports)}' for name in names)})"


def _is_importable(value: Any) -> bool:
    """Whether its module has it under its name: np.argmin is a function, but no Python function."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    return (
        isinstance(module, str)
        and isinstance(name, str)
        and getattr(sys.modules.get(module), name, None) is value
    )


def _home(thing: Any) -> tuple[str, str]:
    """(public module, name): private submodules are left out where their package exports the name."""
    public = []
    for part in thing.__module__.split("."):
        if part.startswith("_") and part != "__main__":
            break
        public.append(part)
    module = ".".join(public)
    exported = module in ("__main__", thing.__module__) or hasattr(
        importlib.import_module(module), thing.__name__
    )
    return (module if exported else thing.__module__), thing.__name__


def import_lines(imports: Imports) -> list[str]:
    """What has to be imported for the expressions."""
    modules: dict[str, list[str]] = {}
    for module, name in sorted(imports):
        if module not in ("__main__", "builtins"):
            modules.setdefault(module, []).append(name)
    lines = []
    for module, names in modules.items():
        lines += ["import numpy as np"] if module == "numpy" and "" in names else []
        lines += (
            [f"from {module} import {', '.join(filter(None, names))}"]
            if any(names)
            else []
        )
    return lines
