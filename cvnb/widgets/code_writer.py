"""What a builder was given and what is in the user's namespace, by name: the other half of the copied code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV

from ..data.checks import check_groups, is_frame
from ..errors import DataError, FamilyError, InputError
from ..families.family import Family, as_families
from ..families.registry import short_hands
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
from .spelling import call_of, values_of
from .typed_grid import names_in, numpy_imports, read_arguments, read_grid

GIVEN = "(as given)"  # what no control says and no name stands for
OF_THE_USER = " (yours)"


class Written:
    """Names of X, y, groups and estimators, families made from what is typed, and the code of all of it.

    `names` holds the texts by which X, y and groups were given, where they are known; else they are looked for in the namespace
    each time: a name that stands for something else by now is none of theirs.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        groups: Any,
        namespace: dict[str, Any],
        names: dict[str, str],
    ) -> None:
        self.namespace, self._texts = namespace, names
        self._given = {"X": X, "y": y, "groups": groups}
        self.groups_name = "" if groups is None else self.name("groups")
        self._groups = {} if groups is None else {self.groups_name: groups}
        self._named: dict[
            tuple[str, str], Family
        ] = {}  # families whose names in the controls are our own

    def name(self, what: str) -> str:
        """What X, y or groups is called; your_X where it has no name, and X is another thing."""
        if what in self._texts:
            return self._texts[what]
        value = self._given[what]
        found = [
            name
            for name, one in self.namespace.items()
            if one is value and not name.startswith("_")
        ]
        if found:
            return what if what in found else found[0]
        return what if what not in self.namespace else f"your_{what}"

    def groups_called(self, values: Any, n_rows: int) -> str:
        """The name of these groups; "" for none, GIVEN where no name stands for them."""
        if values is None:
            return ""
        same = (
            name
            for name in self.group_names(n_rows)
            if np.array_equal(check_groups(self.groups(name)), values)
        )
        return next(same, GIVEN)

    def groups(self, name: str) -> Any:
        """The groups of that name."""
        if name in self._groups:
            return self._groups[name]
        if name.startswith("_") or name not in self.namespace:
            raise DataError(
                f"groups={name!r} is no public name of the notebook; choose one of the list."
            )
        return self.namespace[name]

    def group_names(self, n_rows: int) -> list[str]:
        """What could be groups: one value for each row."""
        return list(
            dict.fromkeys(
                [
                    *self._groups,
                    *(name for name, one in self._public() if _is_column(one, n_rows)),
                ]
            )
        )

    def estimators(self) -> list[str]:
        """Estimators, searches and families of the user's namespace, as they are called in the list."""
        return [_listed(name) for name, one in self._public() if _is_estimator(one)]

    def _public(self) -> list[tuple[str, Any]]:
        return sorted(
            (name, one)
            for name, one in self.namespace.items()
            if not name.startswith("_")
        )

    def takes_grid(self, listed: str) -> bool:
        """Whether a grid is said beside this family; a search or a family has its own."""
        return listed in short_hands() or not isinstance(
            self.namespace.get(_name(listed)), Family | GridSearchCV
        )

    def cv(self, listed: str) -> Any:
        """The inner splitter that this family brings along; None for none."""
        return None if self.takes_grid(listed) else self.namespace[_name(listed)].cv

    def family(self, listed: str, grid: str) -> Family:
        """The family that is so called in the list, with the grid that was typed."""
        return self.read(listed, grid)()

    def read(self, listed: str, grid: str) -> Callable[[], Family]:
        """What makes the family; the grid (keywords of a short-hand, or a dict) is read at once, as syntax."""
        try:
            return self._read(listed, grid)
        except FamilyError:
            given = self._named.get((listed, grid))
            if given is None or (
                listed not in short_hands()
                and given.estimator is not self.namespace.get(_name(listed))
            ):
                raise
            return lambda: (
                given
            )  # a text of our own, with objects that no text makes again

    def _read(self, listed: str, grid: str) -> Callable[[], Family]:
        name = _name(listed)
        if listed in short_hands():
            return self._short_hand(name, grid)
        if name.startswith("_") or not _is_estimator(self.namespace.get(name)):
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
        """(name in the list, grid) that stand for a family: its short-hand, its name in the namespace, or ("", "")."""
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
            one = self.namespace[_name(listed)]
            if one is family or (family.search is not None and one is family.search):
                return listed, ""
            if (
                one is family.estimator
                and family.name == _name(listed)
                and family.search is None
            ):
                return listed, expression(family.grid, set()) if family.settings != [
                    {}
                ] else ""
        return "", ""

    def python(self, shown: Any) -> str:
        """Imports, recipe and run."""
        imports: set[tuple[str, str]] = set()
        arguments = [
            self._family(shown, imports),
            self.name("X"),
            self.name("y"),
            *_options(shown, imports),
        ]
        made, taken = (
            self._recipe(shown, imports),
            {word for one in arguments for word in names_in(one)},
        )
        imports.add(("cvnb", "Recipe"))
        if (
            self.namespace.get("Recipe", at_hand()["Recipe"]) is not at_hand()["Recipe"]
        ):  # the user's own of that name
            imports ^= {("cvnb", "Recipe"), ("cvnb", "Recipe as cvnb_Recipe")}
            made = f"cvnb_{made}"
        name = "recipe" if "recipe" not in taken else "cv_recipe"
        lines = [f"{name} = {made}", f"result = {name}.run({', '.join(arguments)})"]
        missing = [
            f"# {word}: what the builder was given; it has no name here"
            for word in (one.removeprefix("groups=") for one in arguments)
            if word.startswith("your_") and word.isidentifier()
        ]
        if YOURS in " ".join(lines):
            missing.append(
                f"# {YOURS}: something of yours that no expression makes again"
            )
        return "\n".join([*import_lines(imports), "", *missing, *lines])

    def cell(self, shown: Any) -> str:
        """A %%nestedcv cell; "" where the options of the magic cannot say the recipe."""
        imports: set[tuple[str, str]] = set()
        family = self._family(shown, imports)
        ours = {("cvnb", name) for name in at_hand()}
        options = call_of(_exact(shown)).options
        options += (
            "" if "--seed" in options else " --seed 0"
        )  # %config may have another
        select = (
            f"--select {shown.select}"
            if shown.select != "min" or _configured_rule() != "min"
            else ""
        )
        groups = f"--groups {_word(shown.groups)}" if shown.groups else ""
        data = _word(self.name("X")), _word(self.name("y"))
        line = " ".join(
            filter(
                None,
                [
                    "%%nestedcv",
                    *data,
                    groups,
                    options.strip(),
                    select,
                    _loss_option(shown),
                ],
            )
        )
        return "\n".join([line, *import_lines(imports - ours), family])

    def _family(self, shown: Any, imports: set[tuple[str, str]]) -> str:
        """As it was chosen by name and typed; else an expression that makes it."""
        listed, grid = shown.family_name, shown.grid
        if not self._reads(listed, grid):  # no text that was refused is copied
            return family_expression(as_families(shown.family), imports)  # type: ignore[arg-type]
        name = _name(listed)
        if not self.takes_grid(listed):
            return name
        imports |= numpy_imports(grid)
        if listed not in short_hands():
            return f"({name}, {grid.strip() or '{}'})"
        if (
            self.namespace.get(name, at_hand()[name]) is not at_hand()[name]
        ):  # the user's own of that name is not covered
            imports.add(("cvnb.families.shorthands", f"{name} as cvnb_{name}"))
            return f"cvnb_{name}({grid})"
        imports.add(("cvnb", name))
        imports |= {
            one for one in shown._imports_of_family() if one[0] not in ("cvnb", "numpy")
        }
        return f"{name}({grid})"

    def _recipe(self, shown: Any, imports: set[tuple[str, str]]) -> str:
        if not shown._is_expressible:
            return recipe_expression(shown.recipe, imports)
        expression = call_of(_exact(shown)).python
        if "Resampling(" in expression:
            imports.add(("cvnb", "Resampling"))
        return expression


def _listed(name: str) -> str:
    """How something of the user's is called in the list: a short-hand of the same name stands there too."""
    return name + OF_THE_USER if name in short_hands() else name


def _name(listed: str) -> str:
    return listed.removesuffix(OF_THE_USER)


def _exact(shown: Any) -> dict[str, Any]:
    """The controls' values for the recipe on screen."""
    rest = {
        "outer": shown.outer,
        "inner": shown.inner,
        "test": shown.test,
        "validation": shown.validation,
    }
    return rest | (values_of(shown.recipe) or {})


def _options(shown: Any, imports: set[tuple[str, str]]) -> list[str]:
    options = (
        [f"groups={'your_groups' if shown.groups == GIVEN else shown.groups}"]
        if shown.groups
        else []
    )
    if shown.loss == GIVEN:
        options += loss_arguments(shown.given, imports)
    elif shown.loss != "auto":
        options.append(
            f"{'loss' if shown.loss in LOSSES else 'scoring'}={shown.loss!r}"
        )
    if shown.select == GIVEN:
        return options + select_arguments(shown.given.work.rule, imports)
    return [*options, *([f"select={shown.select!r}"] if shown.select != "min" else [])]


def _loss_option(shown: Any) -> str:
    return (
        ""
        if shown.loss == "auto"
        else f"--{'loss' if shown.loss in LOSSES else 'scoring'} {shown.loss}"
    )


def _word(text: str) -> str:
    """One word of the magic's line."""
    return text if " " not in text else f'"{text}"'


def _configured_rule() -> str:
    """What %config NestedCVMagics.select says."""
    from IPython import get_ipython

    shell = get_ipython()
    magics = (
        None if shell is None else shell.magics_manager.registry.get("NestedCVMagics")
    )
    return "min" if magics is None else str(magics.select)


LOSSES = ("zero_one", "squared", "absolute", "log")


def _is_estimator(value: Any) -> bool:
    """Whether it can be chosen as a family."""
    return isinstance(value, BaseEstimator | Family) and not isinstance(value, type)


def _is_column(value: Any, n_rows: int) -> bool:
    """Whether it is one value for each row; what fails when it is looked at is none."""
    try:
        return _has_rows(value, n_rows)
    except Exception:
        return False


def _has_rows(value: Any, n_rows: int) -> bool:
    if is_frame(value) or isinstance(value, str | bytes | dict | type):
        return False
    shape = getattr(value, "shape", None)
    if shape is None:
        return isinstance(value, list) and len(value) == n_rows
    return (
        isinstance(shape, tuple)
        and len(shape) == 1
        and shape[0] == n_rows
        and np.asarray(value).dtype.kind in "iuUSOb"
    )
