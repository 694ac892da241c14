"""Names of the data and estimators of a builder, and the code that its copy buttons give."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.checks import check_groups
from ..errors import DataError, FamilyError, InputError
from ..families.family import Family, as_families
from ..families.registry import short_hands
from ..families.searches import OPENED
from ..jupyter.magics import at_hand
from ..views.codegen import (
    YOURS,
    expression,
    family_expression,
    import_lines,
    loss_arguments,
    recipe_expression,
    select_arguments,
)
from .notebook_names import (
    grouping_columns,
    is_column,
    is_estimator,
    is_model,
    user_namespace,
)
from .spelling import CONTROLS, call_of, values_of
from .typed_grid import names_in, numpy_imports, read_arguments, read_grid

GIVEN = "(as given)"  # a value that was set and that has no name
OF_THE_USER = " (yours)"


class CodeWriter:
    """Names of X, y, groups and estimators, families made from a typed grid, and code.

    `names` holds the expressions of X, y and groups if they are known. Otherwise they are looked
    up in the namespace each time, because a name may have been bound to another object since.
    The namespace is by default that of the notebook.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        groups: Any,
        namespace: dict[str, Any] | None,
        names: dict[str, str],
    ) -> None:
        self.namespace = user_namespace() if namespace is None else namespace
        columns = {"y": y, "groups": groups}
        texts = {what: repr(v) for what, v in columns.items() if isinstance(v, str)}
        self._texts = texts | names
        self._given = {"X": X, "y": y, "groups": groups}
        self.columns = grouping_columns(X)  # columns of X by their code
        self.columns.pop(self._texts.get("y", ""), None)
        self.groups_name = "" if groups is None else self.name("groups")
        is_column_of_X = isinstance(groups, str)
        own = groups is not None and not is_column_of_X
        self._groups = {self.groups_name: groups} if own else {}
        if is_column_of_X:
            self.columns.setdefault(self.groups_name, groups)
        # Families by the texts that names_of gave for them.
        self._named: dict[tuple[str, str], Family] = {}

    def name(self, what: str) -> str:
        """Return the name of X, y or groups; "your_X" if it has none and X is another object."""
        if what in self._texts:
            return self._texts[what]
        value = self._given[what]
        names = [
            name
            for name, other in self.namespace.items()
            if other is value and not name.startswith("_")
        ]
        if names:
            return what if what in names else names[0]
        return what if what not in self.namespace else f"your_{what}"

    def groups_called(self, values: Any, n_rows: int) -> str:
        """Return the name of these groups; "" for none, GIVEN if they have no name."""
        if values is None:
            return ""
        same = (
            name
            for name in self.group_names(n_rows)
            if name not in self.columns
            and np.array_equal(check_groups(self.groups(name)), values)
        )
        return next(same, GIVEN)

    def groups(self, name: str) -> Any:
        """Return the groups of a name."""
        if name in self._groups:
            return self._groups[name]
        if name.startswith("_") or name not in self.namespace:
            raise DataError(
                f"groups={name!r} is no public name of the notebook; choose one of the list."
            )
        return self.namespace[name]

    def group_names(self, n_rows: int) -> list[str]:
        """Return the names of what could be groups: one value for each row."""
        columns = [
            name
            for name, value in self._public()
            if value is not self._given["y"] and is_column(value, n_rows)
        ]
        return list(dict.fromkeys([*self._groups, *self.columns, *columns]))

    def estimators(self, task: str | None = None) -> list[str]:
        """Return the estimators, searches and families of the namespace, by their listed names.

        task: only what can be a model of such targets
        """
        return [
            _listed(name)
            for name, value in self._public()
            if (is_estimator(value) if task is None else is_model(value, task))
        ]

    def _public(self) -> list[tuple[str, Any]]:
        names = sorted(name for name in self.namespace if not name.startswith("_"))
        return [(name, self.namespace[name]) for name in names]

    def takes_grid(self, listed: str) -> bool:
        """Whether this family needs a typed grid; a search or a Family has its own."""
        if listed in short_hands():
            return True
        value = self.namespace.get(name_of(listed))
        return not (isinstance(value, Family) or type(value) in OPENED)

    def cv(self, listed: str) -> Any:
        """Return the inner splitter of this family's search; None if it has none."""
        return None if self.takes_grid(listed) else self.namespace[name_of(listed)].cv

    def family(self, listed: str, grid: str) -> Family:
        """Return the family of a listed name with a typed grid."""
        return self.read(listed, grid)()

    def read(self, listed: str, grid: str) -> Callable[[], Family]:
        """Return a function that makes the family.

        The grid (keywords of a short-hand, or a dict) is read now, as syntax.
        """
        try:
            return self._read(listed, grid)
        except FamilyError:
            family = self._named.get((listed, grid))
            if family is None or not self._is_current(listed, family):
                raise
            return lambda: (
                family
            )  # the text is ours; it names objects that it cannot make

    def _is_current(self, listed: str, family: Family) -> bool:
        """Whether a listed name still stands for the estimator of the family."""
        if listed in short_hands():
            return True
        return family.estimator is self.namespace.get(name_of(listed))

    def _read(self, listed: str, grid: str) -> Callable[[], Family]:
        name = name_of(listed)
        if listed in short_hands():
            return self._short_hand(name, grid)
        if name.startswith("_") or not is_estimator(self.namespace.get(name)):
            raise FamilyError(
                f"{name!r} is no family that could be chosen again; choose another."
            )
        estimator = self.namespace[name]
        if not self.takes_grid(listed):
            return lambda: as_families(estimator)  # type: ignore[return-value]
        values = read_grid(grid, self.namespace, "{'C': [0.1, 1, 10]}")
        return lambda: Family(estimator, values, name=name)

    def _short_hand(self, name: str, grid: str) -> Callable[[], Family]:
        make = at_hand()[name]
        signature = inspect.signature(make)
        given, named = read_arguments(
            grid, self.namespace, f"{next(iter(signature.parameters))}=[1, 10, 100]"
        )
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            raise FamilyError(
                f"{name}: {error}; it takes {', '.join(signature.parameters)}."
            ) from None
        return lambda: make(*given, **named)

    def _reads(self, listed: str, grid: str) -> bool:
        try:
            self.read(listed, grid)
        except InputError:
            return False
        return True

    def names_of(self, family: Family) -> tuple[str, str]:
        """Return (listed name, grid text) of a family; ("", "") if it has no name."""
        listed, grid = self._names_of(family)
        if listed:
            self._named[listed, grid] = family
        return listed, grid

    def _names_of(self, family: Family) -> tuple[str, str]:
        if family.call:
            imports: set[tuple[str, str]] = set()
            call = family_expression(family, imports)
            return family.call[0], call.removeprefix(f"{family.call[0]}(")[:-1]
        for listed in self.estimators():
            name = name_of(listed)
            value = self.namespace[name]
            if value is family or (value is family.search is not None):
                return listed, ""
            is_own = value is family.estimator and family.search is None
            if is_own and family.name == name and family.drawing is None:
                has_grid = family.settings != [{}]
                return listed, expression(family.grid, set()) if has_grid else ""
        return "", ""

    def python(self, shown: Any) -> str:
        """Return Python code: imports, recipe and run."""
        imports: set[tuple[str, str]] = set()
        arguments = [self._family(shown, imports), self.name("X"), self.name("y")]
        arguments += _options(shown, imports)
        recipe = self._recipe(shown, imports)
        if self._is_free("Recipe"):
            imports.add(("cvnb", "Recipe"))
        else:
            imports.discard(("cvnb", "Recipe"))
            imports.add(("cvnb", "Recipe as cvnb_Recipe"))
            recipe = f"cvnb_{recipe}"
        taken = {word for argument in arguments for word in names_in(argument)}
        name = "recipe" if "recipe" not in taken else "cv_recipe"
        run = f"result = {name}.run({', '.join(arguments)})"
        lines = [f"{name} = {recipe}", run]
        if shown.spread:
            imports.add(("cvnb.studies", "over_seeds"))
            lines.append("seeds = over_seeds(result, n=100)")
        return "\n".join(
            [*import_lines(imports), "", *_missing(arguments, lines), *lines]
        )

    def _is_free(self, name: str) -> bool:
        """Whether the namespace binds this public name of cvnb to nothing else."""
        ours = at_hand()[name]
        return self.namespace.get(name, ours) is ours

    def cell(self, shown: Any) -> str:
        """Return a %%nestedcv cell for a recipe that the magic's options can express."""
        imports: set[tuple[str, str]] = set()
        family = self._family(shown, imports)
        words = ["%%nestedcv", _word(self.name("X")), _word(self.name("y"))]
        if shown.groups:
            words.append(f"--groups {_word(shown.groups)}")
        words += call_of(_exact(shown)).options.split()
        if "--seed" not in words:  # %config may have another default
            words.append("--seed 0")
        if shown.select != "min" or _configured_rule() != "min":
            words.append(f"--select {shown.select}")
        words += [f"--{name} {value}" for name, value in _loss(shown).items()]
        words += ["--seeds 100"] if shown.spread else []
        ours = {("cvnb", name) for name in at_hand()}
        return "\n".join([" ".join(words), *import_lines(imports - ours), family])

    def _family(self, shown: Any, imports: set[tuple[str, str]]) -> str:
        """Return the family as chosen and typed; otherwise an expression that makes it."""
        listed, grid = shown.family_name, shown.grid
        if not self._reads(listed, grid):  # a refused text is not copied
            return family_expression(as_families(shown.family), imports)  # type: ignore[arg-type]
        name = name_of(listed)
        if not self.takes_grid(listed):
            return name
        imports |= numpy_imports(grid)
        if listed not in short_hands():
            return f"({name}, {grid.strip() or '{}'})"
        if not self._is_free(name):
            imports.add(("cvnb", f"{name} as cvnb_{name}"))
            return f"cvnb_{name}({grid})"
        imports.add(("cvnb", name))
        for module, imported in shown._imports_of_family():
            if module not in ("cvnb", "numpy"):
                imports.add((module, imported))
        return f"{name}({grid})"

    def _recipe(self, shown: Any, imports: set[tuple[str, str]]) -> str:
        if not shown._is_expressible:
            return recipe_expression(shown.recipe, imports)
        expression = call_of(_exact(shown)).python
        if "Resampling(" in expression:
            imports.add(("cvnb", "Resampling"))
        return expression


def _listed(name: str) -> str:
    """Return the listed name of a user's object; a short-hand may have the same name."""
    return name + OF_THE_USER if name in short_hands() else name


def name_of(listed: str) -> str:
    """Return the name of the notebook that a listed name stands for."""
    return listed.removesuffix(OF_THE_USER)


def _exact(shown: Any) -> dict[str, Any]:
    """Return the controls' values for the recipe on screen."""
    values = {name: getattr(shown, name) for name in CONTROLS}
    return values | (values_of(shown.recipe) or {})


def _options(shown: Any, imports: set[tuple[str, str]]) -> list[str]:
    """Keyword arguments of the run."""
    options = []
    if shown.groups:
        name = "your_groups" if shown.groups == GIVEN else shown.groups
        options.append(f"groups={name}")
    if shown.loss == GIVEN:
        options += loss_arguments(shown.given, imports)
    else:
        options += [f"{name}={value!r}" for name, value in _loss(shown).items()]
    if shown.select == GIVEN:
        options += select_arguments(shown.given.work.rule, imports)
    elif shown.select != "min":
        options.append(f"select={shown.select!r}")
    return options


def _loss(shown: Any) -> dict[str, str]:
    """The keyword, loss or scoring, of a loss that was chosen by name."""
    if shown.loss == "auto":
        return {}
    return {"loss" if shown.loss in LOSSES else "scoring": shown.loss}


def _missing(arguments: list[str], lines: list[str]) -> list[str]:
    """Comments on what the code names and the notebook does not have."""
    words = [argument.removeprefix("groups=") for argument in arguments]
    comments = [
        f"# {word}: what the builder was given; it has no name here"
        for word in words
        if word.startswith("your_") and word.isidentifier()
    ]
    if YOURS in " ".join(lines):
        comments.append(f"# {YOURS}: something of yours that no expression makes again")
    return comments


def _word(text: str) -> str:
    """Quote a text so that it is one word of the magic's line."""
    return text if " " not in text else f'"{text}"'


def _configured_rule() -> str:
    """Return the value of %config NestedCVMagics.select."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return "min"
    magics = shell.magics_manager.registry.get("NestedCVMagics")
    return "min" if magics is None else str(magics.select)


LOSSES = ("zero_one", "squared", "absolute", "log")
