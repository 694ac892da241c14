"""The controls of a recipe, a family and a run, as traits and as a form that follow each other."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import traitlets as t

from ..data.table import Data
from ..errors import CvnbError, FamilyError, LossError
from ..families.family import Family, as_families
from ..families.registry import short_hand
from ..splits.recipes import Recipe
from ..views.codegen import family_expression
from .choices import choices_of
from .code_writer import GIVEN, CodeWriter
from .fields import (
    CELL,
    FIELDS,
    IN_A_CELL,
    KEEP,
    NAMED,
    NAMES,
    OF_FAMILY,
    OF_RECIPE,
    OF_RUN,
    OF_VIEW,
    STRATIFY,
)
from .form import Form
from .setting_form import SettingForm
from .spelling import CELLS, INNER, OUTER, call_of, used, values_of
from .static_copy import WithStaticCopy

# The control that a message begins with: "outer=1 leaves ...", "200 outer folds need ...".
BEGINS = r"(?:\d+ )?(outer|inner|test|validation|stratify|groups|buffer|seed)\b"


class Made(t.Any):
    """A lazily built trait: the worker fills it, or the first read does."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        """Return the value for the current controls."""
        obj._settle_family()
        return super().get(obj, cls)


class Controls(WithStaticCopy):
    """Traits for every choice, and `recipe` and `family`, which follow from them.

    `_ask` is called after every change.
    """

    outside = t.Enum(OUTER, "folds")
    inside = t.Enum(INNER, "folds")
    outer = t.Int(5)
    inner = t.Int(5)
    test = t.Float(0.2)
    validation = t.Float(0.25)
    seed = t.Int(0)
    stratify = t.Enum(tuple(STRATIFY), "auto")
    groups = t.Unicode("")
    time_ordered = t.Bool(False)
    buffer = t.Int(0)
    family_name = t.Unicode("knn")
    grid = t.Unicode("")
    loss = t.Unicode("auto")
    select = t.Enum(("min", "one_se", GIVEN), "min")
    keep_as = t.Unicode("risk")
    recipe = t.Any()
    family = Made()
    # The record of a result that was set: its groups, loss and rule where a control is GIVEN.
    given: Any = None

    _changed = ""  # the field that was changed last

    def __init__(self, writer: CodeWriter, data: Data) -> None:
        self._writer, self._data = writer, data
        self._n_rows = data.n_rows
        self._settings = SettingForm(writer, data)
        self._lock = (
            threading.RLock()
        )  # guards what is shown; nothing is computed under it
        self._problems: dict[str, str] = {}
        self._unmade: Once | None = None
        self._form = Form(fields=[*FIELDS, KEEP])
        super().__init__()
        controls = [*OF_RECIPE, *OF_FAMILY, *OF_RUN]
        self._known: dict[str, Any] = {name: getattr(self, name) for name in controls}
        recipe = call_of(self._values()).recipe
        self._put(groups=writer.groups_name, recipe=recipe, family=short_hand("knn")())
        self.observe(self._control_changed, names=controls)
        self.observe(self._recipe_set, names="recipe")
        self.observe(self._family_set, names="family")
        self._form.observe(self._form_changed, names="entered")

    def _ask(self, asked: bool) -> None:
        raise NotImplementedError

    def _say(self, words: str, at: str = "") -> None:
        raise NotImplementedError

    def to_python(self) -> str:
        """Return Python code for what is on screen."""
        return self._writer.python(self)

    def to_cell(self) -> str:
        """Return a %%nestedcv cell for what is on screen; "" if the magic has no such options."""
        given = GIVEN in (self.groups, self.loss, self.select)
        return self._writer.cell(self) if self._is_expressible and not given else ""

    @property
    def _is_expressible(self) -> bool:
        """Whether the controls can express the recipe: no given splits, no cv of a search."""
        if values_of(self.recipe) is None:
            return False
        is_given = self.family_name == GIVEN
        cv = self.family.cv if is_given else self._writer.cv(self.family_name)
        return cv is None or self.recipe.inner_spec != "auto"

    @property
    def _known_family(self) -> Family:
        """The family of now, or the one before it while it is being made."""
        family: Family = self._known["family"]
        return family

    # From the controls to recipe and family.

    def _values(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in OF_RECIPE}
        values["stratify"] = STRATIFY[self.stratify]
        if not self.time_ordered:
            values["buffer"] = 0
        return values

    def _control_changed(self, change: Any) -> None:
        if self._known.get(change.name) == change.new:
            return  # set by _put
        self._known[change.name] = change.new
        self._changed = change.name
        with self._lock:
            if change.name in OF_RECIPE:
                self._recipe_from_controls()
            elif change.name in OF_FAMILY:
                name, grid = self.family_name, self.grid
                self._unmade = Once(lambda: self._writer.family(name, grid))
                self._try("family", lambda: self._writer.read(name, grid))
            self._show_controls()
        self._ask(False)

    def _imports_of_family(self) -> set[tuple[str, str]]:
        """Imports that the keywords of a family need which was set, not typed."""
        imports: set[tuple[str, str]] = set()
        if self._unmade is None and self._known["family"].call:
            family_expression(self._known["family"], imports)
        return imports

    def _family_wanted(self) -> Callable[[], Family]:
        """Return a function that makes the chosen family; a large grid takes a while."""
        family = self._known_family
        return self._unmade or (lambda: family)

    def _settle_family(self) -> None:
        """Make the chosen family if it is not made yet; the worker reports errors."""
        if (make := self._unmade) is None:
            return
        try:
            family = make()
        except Exception:
            return
        with self._lock:
            self._family_made(make, family)

    def _family_made(self, make: Callable[[], Family], family: Family) -> None:
        if self._unmade is make:  # nothing else was chosen meanwhile
            self._put(family=family)
            self._show_controls()

    def _family_refused(self, make: Callable[[], Family], words: str) -> None:
        if self._unmade is make:
            self._problems["family"] = words
            self._show_controls()

    def _recipe_from_controls(self) -> None:
        self._try("recipe", lambda: self._put(recipe=call_of(self._values()).recipe))

    def _try(self, what: str, act: Any) -> None:
        """Call `act`; keep the message of an error, which the panel shows."""
        self._problems.pop(what, None)
        try:
            act()
        except Exception as error:
            self._problems[what] = message(error)

    def _put(self, **values: Any) -> None:
        """Set traits that belong together; the observers ignore known values."""
        self._known.update(values)
        if "family" in values:
            self._unmade = None
        for name, value in values.items():
            self.set_trait(name, value)

    def _recipe_set(self, change: Any) -> None:
        if change.new is self._known["recipe"]:
            return
        if not isinstance(change.new, Recipe):
            self._put(recipe=change.old)
            raise t.TraitError(
                f"builder.recipe must be a Recipe, got {type(change.new).__name__}."
            )
        self._problems.pop("recipe", None)
        self._put(recipe=change.new, **controls_of(change.new))
        self._show_controls()
        self._ask(False)

    def _family_set(self, change: Any) -> None:
        if change.new is self._known["family"]:
            return
        try:
            self._adopt(change.new)
        except Exception as error:
            unmade = self._unmade
            self._put(family=change.old)
            self._unmade = unmade
            if isinstance(error, FamilyError):
                raise t.TraitError(str(error)) from None
            raise
        self._show_controls()
        self._ask(False)

    def _adopt(self, value: Any) -> None:
        """Take a family that is set, with its name and its grid."""
        given = as_families(value)
        if not isinstance(given, Family):
            raise FamilyError(
                "builder.family takes one family; compare several with recipe.run({...}, X, y)."
            )
        name, grid = self._writer.names_of(given)
        self._problems.pop("family", None)
        self._put(family=given, family_name=name or GIVEN, grid=grid)

    # From the form to the controls, and back.

    def _form_changed(self, change: Any) -> None:
        """Set the traits from the browser's values; the panel shows what a trait refuses."""
        with self._lock:
            try:
                self._take_values(self._form.news())
            except (
                Exception
            ) as error:  # for example from an odd object in the namespace
                self._say(message(error))

    def _take_values(self, entered: dict[str, Any]) -> None:
        new: dict[str, Any] = {}
        cell, had_problems = "", bool(self._problems)
        for name, value in self._acceptable(entered).items():
            if name in ("named", "cell"):  # two fields for one value: the later counts
                cell = NAMED.get(value, "") if name == "named" else value
            elif name == "settings":
                listed = new.get("family_name", self.family_name)
                grid = new.get("grid", self.grid)
                act = partial(self._settings.enter, value, listed, grid)
                self._try(name, lambda act=act: new.update(grid=act()))
            else:
                new[name] = value
        if cell:
            new["outside"], new["inside"] = cell.split("/")
        with self.hold_trait_notifications():
            for name, value in new.items():
                self._try(name, partial(self.set_trait, name, value))
        self._changed = next(reversed(entered), self._changed)
        if self._problems or had_problems:
            self._ask(False)
        elif cell and not self._is_expressible:  # the cell of a recipe that was set
            self._recipe_from_controls()
            self._ask(False)
        self._show_controls()

    def _acceptable(self, entered: dict[str, Any]) -> dict[str, Any]:
        """Keep the values of known fields; of a choice only offered values.

        The browser may send anything.
        """
        offered = {"cell": ["/".join(cell) for cell in CELLS]}
        for name, choices in self._choices().items():
            if name == "settings":  # a list of rows, which SettingForm checks
                continue
            offered[name] = [value for value, _ in choices]
        found = {}
        for name, value in entered.items():
            if name not in NAMES:
                continue
            problem = "cell" if name == "named" else name
            self._problems.pop(problem, None)
            if name in OF_FAMILY:
                self._problems.pop("settings", None)
            if value in offered.get(name, [value]):
                found[name] = value
            else:
                self._problems[problem] = (
                    f"{name}={str(value)[:40]!r} is not in its list; choose one of them."
                )
        return found

    def _show_controls(self) -> None:
        with self._lock:
            self._show_values()

    def _show_values(self) -> None:
        self._form.choices = self._choices()
        shown = [*OF_RECIPE, *OF_FAMILY, *OF_RUN, *OF_VIEW]
        values = {name: getattr(self, name) for name in shown if name not in CELL}
        values |= {"cell": "", "named": GIVEN}
        if self._is_expressible:
            cell = f"{self.outside}/{self.inside}"
            names = [name for name, other in NAMED.items() if other == cell]
            values |= {"cell": cell, "named": names[0] if names else "–"}
        rows = self._settings.rows(self.family_name, self.grid)
        values["settings"] = None if rows is None else [row.plain for row in rows]
        self._form.show(values)
        off = set(IN_A_CELL) - used((self.outside, self.inside))
        if not self.time_ordered:
            off.add("buffer")
        if self.family_name == GIVEN or not self._writer.takes_grid(self.family_name):
            off |= {"grid", "settings"}
        self._form.disabled = sorted(off)
        codes = {}
        if not self._problems:
            codes = {"%%nestedcv": self.to_cell(), "Python": self.to_python()}
        self._form.codes = {label: text for label, text in codes.items() if text}

    def _choices(self) -> dict[str, list[list[str]]]:
        return choices_of(self, self._writer, self._data, self._settings)

    def _place_of(self, error: BaseException | None, words: str) -> str:
        """Return the field that an error is about: the one it names, or the last changed one."""
        if named := re.match(BEGINS, words):
            return named[1]
        of_model = (*OF_FAMILY, "settings")
        if isinstance(error, LossError):
            return "loss"
        if isinstance(error, FamilyError) and self._changed not in of_model:
            return "family_name"
        if self._changed in (*CELL, "cell"):
            return "named"
        return self._changed or "family_name"

    def _first_problem(self) -> tuple[str, str]:
        """Return the message of an entry that cannot be used, and the field it is about."""
        what, words = next(iter(self._problems.items()))
        if what in NAMES and what not in ("cell", "named"):
            return words, what
        if what == "family":
            last = self._changed
            return words, last if last in (*OF_FAMILY, "settings") else "family_name"
        return words, self._place_of(None, words)


class Once:
    """A function that is called once; all threads get the value of that call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._made: list[Any] = []

    def __call__(self) -> Any:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def controls_of(recipe: Recipe) -> dict[str, Any]:
    """Return the values of the controls for a recipe; {} if they cannot express it."""
    values = values_of(recipe) or {}
    if values:
        words = {value: word for word, value in STRATIFY.items()}
        values["stratify"] = words[values["stratify"]]
    return values


def message(error: BaseException) -> str:
    """The message of an error; the type comes first unless the error is cvnb's own."""
    return (
        str(error)
        if isinstance(error, CvnbError)
        else f"{type(error).__name__}: {error}"
    )
