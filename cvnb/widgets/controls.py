"""The controls of a recipe, a family and a run, as traits and as a form: each follows the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import traitlets as t
from sklearn.metrics import get_scorer_names

from ..errors import CvnbError
from ..families.family import Family, as_families
from ..families.registry import short_hand, short_hands
from ..splits.recipes import Recipe
from ..views.codegen import family_expression
from .code_writer import GIVEN, LOSSES, Written
from .form import Form, number
from .spelling import CELLS, INNER, OUTER, call_of, used, values_of
from .static_copy import Twinned

NAMED = {
    "1. train/validation/test": "holdout/holdout",
    "2. CV then test": "holdout/folds",
    "3. resampling then test": "holdout/resampling",
    "4. nested CV": "folds/folds",
    "nested CV with an inner dev set": "folds/holdout",
    "nested resampling": "resampling/resampling",
    "external CV": "folds/none",
    "leave-one-out": "loo/none",
    "internal CV": "none/folds",
    "tuning on a dev set": "none/holdout",
    "validation on a test set": "holdout/none",
}
WORDS = {
    "none": "none",
    "holdout": "holdout",
    "folds": "K-fold",
    "loo": "LOO",
    "resampling": "samples",
}
FIELDS: list[dict[str, Any]] = [
    {"name": "named", "label": "Recipe", "kind": "choice"},
    {
        "name": "cell",
        "label": "outside (rows) × inside (columns)",
        "kind": "table",
        "row": "outside",
        "column": "inside",
        "rows": [[kind, WORDS[kind]] for kind in OUTER],
        "columns": [
            [kind, {"none": "no θ", "holdout": "dev set"}.get(kind, WORDS[kind])]
            for kind in INNER
        ],
        "empty": [
            f"{outside}/{inside}"
            for outside in OUTER
            for inside in INNER
            if (outside, inside) not in CELLS
        ],
    },
    number("outer", "Outer folds", 2, 20),
    number("inner", "Inner folds", 2, 20),
    number("test", "Test share", 0.05, 0.5, 0.05),
    number("validation", "Validation share", 0.05, 0.5, 0.05),
    number("seed", "Seed", 0, 50),
    {"name": "stratify", "label": "Stratify", "kind": "choice"},
    {"name": "groups", "label": "Groups", "kind": "choice"},
    {"name": "time_ordered", "label": "In order of time", "kind": "check"},
    number("buffer", "Buffer, rows", 0, 50),
    {"name": "family_name", "label": "Family", "kind": "choice"},
    {
        "name": "grid",
        "label": "Grid",
        "kind": "text",
        "placeholder": "default; or k=range(1, 31)",
    },
    {"name": "loss", "label": "Loss or score", "kind": "choice"},
    {"name": "select", "label": "Rule", "kind": "choice"},
]
NAMES = [field["name"] for field in FIELDS]
AUTO = "auto"
STRATIFY = {"auto": "auto", "yes": True, "no": False}
OF_RECIPE = (
    "outside",
    "inside",
    "outer",
    "inner",
    "test",
    "validation",
    "seed",
    "stratify",
    "time_ordered",
    "buffer",
)
OF_FAMILY = ("family_name", "grid")
OF_RUN = ("groups", "loss", "select")


class Made(t.Any):
    """A trait that the worker makes; who reads it before that makes it."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        """Its value, of the controls as they are."""
        obj._settle_family()
        return super().get(obj, cls)


class Controls(Twinned):
    """Traits for what can be chosen, and `recipe` and `family`, which they make; `_ask` is called after every change."""

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
    recipe = t.Any()
    family = Made()
    given: Any = None  # the record of a result that was set: its groups, loss and rule where the controls say GIVEN

    def __init__(self, written: Written, n_rows: int) -> None:
        self._written, self._n_rows = written, n_rows
        self._lock = (
            threading.RLock()
        )  # of everything that is shown; nothing is computed under it
        self._problems: dict[str, str] = {}
        self._unmade: Once | None = None
        self._form = Form(fields=FIELDS)
        super().__init__()
        self._known: dict[str, Any] = {
            name: getattr(self, name) for name in (*OF_RECIPE, *OF_FAMILY, *OF_RUN)
        }
        self._put(
            groups=written.groups_name,
            recipe=call_of(self._values()).recipe,
            family=short_hand("knn")(),
        )
        self.observe(self._control_changed, names=[*OF_RECIPE, *OF_FAMILY, *OF_RUN])
        self.observe(self._recipe_set, names="recipe")
        self.observe(self._family_set, names="family")
        self._form.observe(self._form_changed, names="entered")

    def _ask(self, asked: bool) -> None:
        raise NotImplementedError

    def _say(self, words: str) -> None:
        raise NotImplementedError

    def to_python(self) -> str:
        """Python that does what is on screen."""
        return self._written.python(self)

    def to_cell(self) -> str:
        """The same as a %%nestedcv cell; "" where no options of it stand for what is on screen."""
        given = GIVEN in (self.groups, self.loss, self.select)
        return self._written.cell(self) if self._is_expressible and not given else ""

    @property
    def _is_expressible(self) -> bool:
        """Whether the controls can say the recipe: not one with given splits, nor one that takes the cv of a search."""
        cv = (
            self.family.cv
            if self.family_name == GIVEN
            else self._written.cv(self.family_name)
        )
        return values_of(self.recipe) is not None and not (
            self.recipe.inner_spec == "auto" and cv is not None
        )

    # What the controls say.

    def _values(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in OF_RECIPE} | {
            "stratify": STRATIFY[self.stratify]
        }
        return values if self.time_ordered else values | {"buffer": 0}

    def _control_changed(self, change: Any) -> None:
        if self._known.get(change.name) == change.new:
            return  # set by ourselves
        self._known[change.name] = change.new
        with self._lock:
            if change.name in OF_RECIPE:
                self._recipe_from_controls()
            elif change.name in OF_FAMILY:
                name, grid = self.family_name, self.grid
                self._unmade = Once(lambda: self._written.family(name, grid))
                self._try("family", lambda: self._written.read(name, grid))
            self._show_controls()
        self._ask(False)

    def _imports_of_family(self) -> set[tuple[str, str]]:
        """What its keywords need, where it was given and not typed."""
        imports: set[tuple[str, str]] = set()
        if self._unmade is None and self._known["family"].call:
            family_expression(self._known["family"], imports)
        return imports

    def _family_wanted(self) -> Callable[[], Family]:
        """What makes the family that was chosen: it takes as long as its grid is large."""
        family = self._known["family"]
        return self._unmade or (lambda: family)

    def _settle_family(self) -> None:
        """Make the family that was chosen, if nobody has yet; what cannot be made is said by the worker."""
        if (make := self._unmade) is None:
            return
        try:
            family = make()
        except Exception:
            return
        with self._lock:
            self._family_made(make, family)

    def _family_made(self, make: Callable[[], Family], family: Family) -> None:
        if self._unmade is make:  # and nothing else was chosen meanwhile
            self._put(family=family)
            self._show_controls()

    def _family_refused(self, make: Callable[[], Family], words: str) -> None:
        if self._unmade is make:
            self._problems["family"] = words
            self._show_controls()

    def _recipe_from_controls(self) -> None:
        self._try("recipe", lambda: self._put(recipe=call_of(self._values()).recipe))

    def _try(self, what: str, act: Any) -> None:
        """Do it, or keep why it cannot be done."""
        self._problems.pop(what, None)
        try:
            act()
        except (
            Exception
        ) as error:  # whatever is wrong with what was typed is said in the panel
            self._problems[what] = said(error)

    def _put(self, **values: Any) -> None:
        """Set traits that belong together, without hearing of it."""
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
            given = as_families(change.new)
            if not isinstance(given, Family):
                raise t.TraitError(
                    "builder.family takes one family; compare several with recipe.run({...}, X, y)."
                )
        except Exception:
            unmade = self._unmade
            self._put(family=change.old)
            self._unmade = unmade
            raise
        name, grid = self._written.names_of(given)
        self._problems.pop("family", None)
        self._put(family=given, family_name=name or GIVEN, grid=grid)
        self._show_controls()
        self._ask(False)

    # What the form shows.

    def _form_changed(self, change: Any) -> None:
        """The browser's values, as traits; what is no value of a trait is said in the panel."""
        with self._lock:
            try:
                self._take_values(self._form.news())
            except Exception as error:  # an odd object of the user's, say; the panel is where it is looked for
                self._say(said(error))

    def _take_values(self, entered: dict[str, Any]) -> None:
        new, cell, had_problems = {}, "", bool(self._problems)
        for name, value in self._acceptable(entered).items():
            if name in ("named", "cell"):  # two ways to say the same: the later counts
                cell = NAMED.get(value, "") if name == "named" else value
            else:
                new[name] = value
        if cell:
            new["outside"], new["inside"] = cell.split("/")
        with self.hold_trait_notifications():
            for name, value in new.items():
                self._try(
                    name, lambda name=name, value=value: self.set_trait(name, value)
                )
        if self._problems or had_problems:
            self._ask(False)
        elif cell and not self._is_expressible:  # the cell of a recipe that was given
            self._recipe_from_controls()
            self._ask(False)
        self._show_controls()

    def _acceptable(self, entered: dict[str, Any]) -> dict[str, Any]:
        """Values of the form's own fields, of a choice what is offered; the browser may send anything."""
        offered = {
            name: [value for value, _ in choices]
            for name, choices in self._choices().items()
        }
        offered["cell"] = ["/".join(cell) for cell in CELLS]
        found = {}
        for name, value in entered.items():
            if name not in NAMES:
                continue
            problem = "cell" if name == "named" else name
            self._problems.pop(problem, None)
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
        cell = f"{self.outside}/{self.inside}"
        expressible = self._is_expressible
        named = (
            next((name for name, one in NAMED.items() if one == cell), "–")
            if expressible
            else GIVEN
        )
        values = {
            name: getattr(self, name) for name in (*OF_RECIPE[2:], *OF_FAMILY, *OF_RUN)
        }
        self._form.show(values | {"cell": cell if expressible else "", "named": named})
        off = {"outer", "inner", "test", "validation"} - used(
            (self.outside, self.inside)
        )
        if not self.time_ordered:
            off.add("buffer")
        if self.family_name == GIVEN or not self._written.takes_grid(self.family_name):
            off.add("grid")
        self._form.disabled = sorted(off)
        codes = (
            {}
            if self._problems
            else {"%%nestedcv": self.to_cell(), "Python": self.to_python()}
        )
        self._form.codes = {label: text for label, text in codes.items() if text}

    def _choices(self) -> dict[str, list[list[str]]]:
        families = [*short_hands(), *self._written.estimators()]
        if self.family_name not in families:
            families.append(self.family_name)
        groups = [
            ["", "none"],
            *([name, name] for name in self._written.group_names(self._n_rows)),
        ]
        losses, rules = (
            [AUTO, *LOSSES, *sorted(get_scorer_names())],
            [["min", "minimum"], ["one_se", "one standard error"]],
        )
        groups += [[GIVEN, GIVEN]] if self.groups == GIVEN else []
        losses += [GIVEN] if self.loss == GIVEN else []
        rules += [[GIVEN, GIVEN]] if self.select == GIVEN else []
        return {
            "named": [[name, name] for name in (*NAMED, "–", GIVEN)],
            "stratify": [[word, word] for word in STRATIFY],
            "groups": groups,
            "family_name": [[name, name] for name in families],
            "loss": [[name, name] for name in losses],
            "select": rules,
        }


class Once:
    """A call that is made by the first who needs its value; all others wait for it and are given the same."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._made: list[Any] = []

    def __call__(self) -> Any:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def controls_of(recipe: Recipe) -> dict[str, Any]:
    """What the controls are for a recipe; nothing where they cannot say it."""
    values = values_of(recipe) or {}
    if values:
        values["stratify"] = next(
            word for word, value in STRATIFY.items() if value == values["stratify"]
        )
    return values


def said(error: BaseException) -> str:
    """An error in words: our own as they are, others with their kind."""
    return (
        str(error)
        if isinstance(error, CvnbError)
        else f"{type(error).__name__}: {error}"
    )
