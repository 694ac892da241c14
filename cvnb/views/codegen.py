"""Python source that makes a result again."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics._scorer import _BaseScorer

from ..families.distributions import call_of, is_distribution
from ..families.family import Family, keywords_of
from ..inference.rules import OneStandardError, Rule, UserRule
from ..losses.loss import NAMED
from ..splits.recipes import Recipe
from ..splits.specs import GivenSplitter, LikeOuterTest, ListedSplits

if TYPE_CHECKING:
    from ..results.estimate import Record

Imports = set[tuple[str, str]]  # (module, name)
EXPERIMENTAL = {  # what scikit-learn has imported before the import of a class
    "HalvingGridSearchCV": "enable_halving_search_cv",
    "HalvingRandomSearchCV": "enable_halving_search_cv",
    "IterativeImputer": "enable_iterative_imputer",
}
YOURS = "your_function"
COMMENT = f"# {YOURS}: the function that this run was given; it has no name to import"


def code_of(record: Record) -> str:
    """Return imports, the recipe and its run.

    X, y, groups, sample_weight and times are names of the user's.
    """
    imports: Imports = {("cvnb", "Recipe")}
    names = {name: repr(column) for name, column in record.data.names.items()}
    arguments = [family_expression(record.family, imports), "X", names.get("y", "y")]
    if record.data.groups is not None:
        arguments.append(f"groups={names.get('groups', 'groups')}")
    if record.data.weights is not None:
        arguments.append(f"sample_weight={names.get('sample_weight', 'sample_weight')}")
    if record.data.times is not None:
        arguments.append(f"times={names.get('times', 'times')}")
    arguments += loss_arguments(record, imports)
    arguments += select_arguments(record.work.rule, imports)
    if record.table.flat:
        arguments.append("flat=True")
    recipe = f"recipe = {recipe_expression(record.recipe, imports)}"
    run = f"result = recipe.run({', '.join(arguments)})"
    comment = [COMMENT] if YOURS in run else []
    return "\n".join([*import_lines(imports), "", *comment, recipe, run])


def expression(value: Any, imports: Imports) -> str:
    """Return an expression that makes this value; its imports are added to `imports`."""
    if isinstance(value, np.ndarray):
        imports.add(("numpy", ""))
        return f"np.array({value.tolist()!r})"
    if isinstance(value, np.generic):
        return expression(value.item(), imports)
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    if type(value) in (list, tuple, dict):
        return _container(value, imports)
    if is_distribution(value):
        return _distribution(value, imports)
    if inspect.isfunction(value) and "<" in value.__qualname__:
        return YOURS  # a lambda, or a function within a function
    if isinstance(value, type) or inspect.isfunction(value) or inspect.isbuiltin(value):
        return _imported(value, imports)
    if callable(value) and _is_importable(value):
        return _imported(value, imports)
    if isinstance(value, _BaseScorer):
        imports |= {("sklearn.metrics", "make_scorer"), _home(value._score_func)}
        return " ".join(repr(value).split())
    if isinstance(value, BaseEstimator):
        parameters = _changed_parameters(value)
        return _call(_imported(type(value), imports), parameters, imports)
    return _from_repr(value, imports)


def _container(value: Any, imports: Imports) -> str:
    if type(value) is dict:
        pairs = [
            f"{expression(key, imports)}: {expression(item, imports)}"
            for key, item in value.items()
        ]
        return f"{{{', '.join(pairs)}}}"
    inside = ", ".join(expression(item, imports) for item in value)
    if type(value) is list:
        return f"[{inside}]"
    return f"({inside},)" if len(value) == 1 else f"({inside})"


def _distribution(value: Any, imports: Imports) -> str:
    """The call of a distribution of scipy.stats, such as loguniform(0.001, 1000.0)."""
    call = call_of(value)
    if call is None:
        return YOURS
    name, arguments, keywords = call
    imports.add(("scipy.stats", name))
    texts = [expression(argument, imports) for argument in arguments]
    texts += [f"{key}={expression(x, imports)}" for key, x in keywords.items()]
    return f"{name}({', '.join(texts)})"


def _from_repr(value: Any, imports: Imports) -> str:
    """The repr, if it is an expression; of splitters with a random state a call."""
    text = repr(value)
    if hasattr(value, "get_n_splits") and re.search(r"array\(|RandomState|<", text):
        return _splitter(value, imports)
    is_random = isinstance(value, np.random.RandomState | np.random.Generator)
    if is_random or text.startswith("<"):
        return YOURS
    if type(value).__module__ != "builtins":
        imports.add(_home(type(value)))
    return " ".join(text.split())


def _call(function: str, keywords: dict[str, Any], imports: Imports) -> str:
    """A call with keyword arguments."""
    arguments = [f"{key}={expression(x, imports)}" for key, x in keywords.items()]
    return f"{function}({', '.join(arguments)})"


def _imported(value: Any, imports: Imports) -> str:
    """The name of a class or function, which is imported."""
    imports.add(_home(value))
    if value.__name__ in EXPERIMENTAL and value.__module__.startswith("sklearn."):
        imports.add(("sklearn.experimental", EXPERIMENTAL[value.__name__]))
    return str(value.__name__)


def family_expression(family: Family, imports: Imports) -> str:
    """Return an expression that makes this family; its imports are added to `imports`."""
    if family.call:
        name, keywords = family.call
        imports.add(("cvnb", name))
        return _call(name, keywords, imports)
    imports.add(("cvnb", "Family"))
    if family.search is not None:
        return f"Family({expression(family.search, imports)})"
    estimator = expression(family.estimator, imports)
    grid = expression(family.grid, imports)
    more = "".join(f", {key}={value!r}" for key, value in keywords_of(family).items())
    return f"Family({estimator}, {grid}{more})"


def loss_arguments(record: Record, imports: Imports) -> list[str]:
    """Return loss=... or scoring=..., as in the call that started this run."""
    loss = record.loss
    if loss.scorer is not None and not isinstance(loss.scoring, str):
        return [f"scoring={expression(loss.scoring, imports)}"]
    if loss.score_name is not None:
        return [f"scoring={loss.score_name!r}"]
    for name, named in NAMED.items():
        if named.rows is loss.rows:
            return [f"loss={name!r}"]
    return [f"loss={expression(loss.rows, imports)}"]


def select_arguments(rule: Rule, imports: Imports) -> list[str]:
    """Return select=...; nothing for the minimum."""
    if isinstance(rule, UserRule):
        return [f"select={expression(rule.function, imports)}"]
    if not isinstance(rule, OneStandardError):
        return []
    if not rule.simplest:
        return ["select='one_se'"]
    imports.add(("cvnb.inference", "OneSE"))
    return [f"select=OneSE({expression(dict(rule.simplest), imports)})"]


def recipe_expression(recipe: Recipe, imports: Imports) -> str:
    """Return an expression that makes this recipe; its imports are added to `imports`."""
    like_outer = isinstance(recipe.inner_spec, LikeOuterTest)
    keywords = {}
    for field in fields(recipe):
        name = field.name
        if not field.init or (like_outer and name == "inner"):
            continue
        value: Any = getattr(recipe, name)
        always = name in ("outer", "inner", "seed")
        default: Any = field.default
        if not always and (value is default or np.array_equal(value, default)):
            continue
        spec = getattr(recipe, f"{name}_spec", None)
        if isinstance(spec, GivenSplitter):
            value = spec.splitter
        elif isinstance(spec, ListedSplits):
            value = list(spec.splits)
        keywords[name] = value
    return _call("Recipe.nested_dev" if like_outer else "Recipe", keywords, imports)


def _changed_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    signature = inspect.signature(type(estimator).__init__)
    defaults: dict[str, Any] = {
        p.name: p.default for p in signature.parameters.values()
    }
    changed = {}
    for name, value in estimator.get_params(deep=False).items():
        default = defaults.get(name, inspect.Parameter.empty)
        is_same = type(value) is type(default) and np.array_equal(value, default)
        if value is not default and not is_same:
            changed[name] = value
    return changed


def _splitter(value: Any, imports: Imports) -> str:
    """A call that makes a splitter again, if its attributes have the names of its parameters."""
    kind = type(value)
    names = [
        name for name in inspect.signature(kind.__init__).parameters if name != "self"
    ]
    has_all = all(hasattr(value, name) for name in names)
    if not has_all or "<locals>" in kind.__qualname__:
        return YOURS
    keywords = {name: getattr(value, name) for name in names}
    return _call(_imported(kind, imports), keywords, imports)


def _is_importable(value: Any) -> bool:
    """Whether its module has it under its name, as for np.argmin, which is no Python function."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    return getattr(sys.modules.get(module), name, None) is value


def _home(thing: Any) -> tuple[str, str]:
    """(module, name) to import; the module is public if a public package exports the name."""
    public = []
    for part in thing.__module__.split("."):
        if part.startswith("_") and part != "__main__":
            break
        public.append(part)
    module, name = ".".join(public), thing.__name__
    if module in ("__main__", thing.__module__):
        return module, name
    exported = hasattr(importlib.import_module(module), name)
    return (module if exported else thing.__module__), name


def import_lines(imports: Iterable[tuple[str, str]]) -> list[str]:
    """Return the import statements of these names."""
    names: dict[str, list[str]] = {}
    for module, name in sorted(imports):
        if module not in ("__main__", "builtins"):
            names.setdefault(module, []).append(name)
    lines = []
    for module, of_module in names.items():
        if module == "numpy" and "" in of_module:
            lines.append("import numpy as np")
        if any(of_module):
            lines.append(f"from {module} import {', '.join(filter(None, of_module))}")
    return lines
