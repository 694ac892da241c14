"""The user's namespace: values of the options of a magic, and the body of a cell."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from ..families.family import Family
from ..families.registry import short_hand, short_hands
from ..splits.recipes import Recipe
from ..splits.specs import Resampling
from .cell_errors import NestedCVSyntaxError, show_cell
from .magic_line import NestedCVError, unquoted


def at_hand() -> dict[str, Any]:
    """Return what the body of a cell may use without an import, by name.

    These are all short-hands, and the classes that families and recipes are made with.
    """
    families = {name: short_hand(name) for name in short_hands()}
    return {**families, "Family": Family, "Recipe": Recipe, "Resampling": Resampling}


def _not_in(namespace: dict[str, Any]) -> dict[str, Any]:
    """The names of cvnb that the user has not bound."""
    return {name: x for name, x in at_hand().items() if name not in namespace}


def value_of(
    namespace: dict[str, Any], option: str, text: str, words: Collection[str] = ()
) -> Any:
    """Return the value of an option: one of its words, a literal, or an expression."""
    text = unquoted(text)
    if text in words:
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass  # not a literal: a name or an expression
    try:
        return eval(text, namespace, _not_in(namespace))
    except NameError:
        known = f"; it knows {', '.join(words)}" if words else ""
        raise NestedCVError(f"{option}: {text!r} is not defined{known}.") from None
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise NestedCVError(
            f"{option}: {text!r} cannot be evaluated: {problem}"
        ) from None


def run_body(shell: Any, cell: str) -> Any:
    """Run the body of a cell in the user's namespace and return its last expression.

    An error of the user's code is shown with the lines of the cell, not with those of cvnb.
    """
    # the line of the magic is the first of the cell
    source = "\n" + shell.transform_cell(cell)
    filename = shell.compile.cache(source, shell.execution_count)
    try:
        tree = ast.parse(source, filename)
    except SyntaxError as error:
        raise NestedCVSyntaxError(shell, error) from None
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        raise NestedCVError(f"the cell must end in {_expected(tree.body)}.")
    last = ast.Expression(tree.body.pop().value)
    namespace = shell.user_ns
    lent = _not_in(namespace)
    namespace.update(lent)
    try:
        exec(compile(tree, filename, "exec"), namespace)
        return eval(compile(last, filename, "eval"), namespace)
    except Exception as error:
        show_cell(filename, shell, error)
        raise
    finally:
        for name, value in lent.items():
            if namespace.get(name) is value:
                del namespace[name]


def _expected(body: list[ast.stmt]) -> str:
    """Return what the last line of the body should be."""
    last = body[-1] if body else None
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        name = last.targets[0].id
        return f"an expression that gives the family; add {name} as its last line"
    return "an expression that gives the family, such as knn(k=range(1, 51))"
