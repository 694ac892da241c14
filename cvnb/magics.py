"""%%nestedcv: nested cross-validation of what the cell describes.

The line says on which data and how; the body is Python whose last expression is the family. Whatever the magic does, two lines
of Python do too: `recipe = Recipe(...)`, `recipe.run(family, X, y)`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from . import shorthands
from .comparison import Comparison
from .display import recipes_text
from .errors import CvnbError, Interrupted
from .estimate import RiskEstimate
from .families import Family
from .inputs import is_frame
from .losses import NAMED
from .recipes import Recipe

AT_HAND = {
    "Family": Family,
    "Recipe": Recipe,
    **{
        name: getattr(shorthands, name)
        for name in ["knn", "ridge", "lasso", "elastic_net", "logistic", "tree", "boosting", "forest"]
    },
}
OPTIONS_OF = {  # recipe -> what --outer and --inner stand for there
    "train_validation_test": {"outer": "test", "inner": "validation"},
    "cv_test": {"outer": "test", "inner": "inner"},
    "resampling_test": {"outer": "test", "inner": "samples"},
    "nested_cv": {"outer": "outer", "inner": "inner"},
    "nested_dev": {"outer": "outer"},
    "nested_resampling": {"outer": "outer", "inner": "inner"},
    "external_cv": {"outer": "folds"},
    "internal_cv": {"inner": "folds"},
    "dev_set": {"inner": "dev"},
    "validation": {"outer": "test"},
    "leave_one_out": {},
}


def unquoted(text: str) -> str:
    """The line's quotes keep a word together; they are no part of it."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


class OneLine:
    """An error that a cell shows in one line, and that fails the cell all the same."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class NestedCVError(OneLine, CvnbError):
    """What the user can mend."""


class NestedCVInterrupted(OneLine, Interrupted):
    """Stopped; what was finished is shown and bound."""


@magics_class
class NestedCVMagics(Magics):
    """The magics that %load_ext cvnb registers."""

    @property
    def _shell(self) -> Any:
        return self.shell

    @magic_arguments()
    @argument("data", nargs="*", help="X and y: names (or expressions without spaces); with --target one frame")
    @argument("--outer", help="outer splits: folds, a share, 'loo', or the name of a splitter (default 5)")
    @argument("--inner", help="inner splits, likewise (default: the cv of a GridSearchCV, else 5)")
    @argument("--seed", help="seed of every split (default 0)")
    @argument("--recipe", help=f"a named recipe: {', '.join(OPTIONS_OF)}")
    @argument("--loss", help="zero_one, squared, absolute, log, or the name of a function of (y, ŷ)")
    @argument("--target", help="the column of the frame that is y")
    @argument("--groups", help="groups: a name, or a column of the frame")
    @argument("-o", "--output", metavar="NAME", help="bind the result to this name")
    @argument("-h", "--help", action="store_true", help="show this help")
    @output_can_be_silenced
    @no_var_expand
    @line_cell_magic
    def nestedcv(self, line: str, cell: str | None = None) -> RiskEstimate | Comparison | None:
        """Risk of "choose θ, then train", for the family that the cell's last expression gives.

        The body is Python run in your namespace; Family, Recipe and the short-hands (knn, ridge, ...) are at hand in it. Its
        last expression is a Family, an (estimator, grid) pair, a GridSearchCV, or a dict of those by name.
        """
        try:
            arguments = parse_argstring(self.nestedcv, line)
        except UsageError as error:
            raise NestedCVError(f"{error} See %nestedcv.") from None
        if cell is None or arguments.help:
            print(f"{recipes_text()}\n\n{self.nestedcv.__doc__}")
            return None
        try:
            return self._run(arguments, cell)
        except Interrupted as error:
            raise NestedCVInterrupted(str(error)) from None
        except CvnbError as error:
            raise NestedCVError(str(error)) from None

    def _run(self, arguments: Any, cell: str) -> RiskEstimate | Comparison:
        if arguments.output is not None and not arguments.output.isidentifier():
            raise NestedCVError(f"-o {arguments.output!r} is no name of a variable.")
        recipe = self._recipe(arguments)
        X, y, groups = self._data(arguments)
        loss = None if arguments.loss is None else self._value("--loss", arguments.loss, tuple(NAMED))
        result = recipe.run(self._body(cell), X, y, groups=groups, loss=loss)
        if arguments.output is not None:
            self._shell.user_ns[arguments.output] = result
        if not result.complete:
            display(result)
            self._shell.displayhook.update_user_ns(result)
            last = result if isinstance(result, RiskEstimate) else list(result.values())[-1]
            raise NestedCVInterrupted(next(note for note in last.notes if note.startswith("Interrupted")))
        return result

    def _recipe(self, arguments: Any) -> Recipe:
        name = arguments.recipe or "nested_cv"
        if name not in OPTIONS_OF:
            raise NestedCVError(f"--recipe {name!r} is not known; the recipes are {', '.join(OPTIONS_OF)}.")
        options = {}
        for option in ("outer", "inner"):
            text = getattr(arguments, option)
            if text is None:
                continue
            if option not in OPTIONS_OF[name]:
                raise NestedCVError(f"--{option} means nothing to --recipe {name}; leave it out.")
            options[OPTIONS_OF[name][option]] = self._value(f"--{option}", text, ("loo", "auto"))
        if arguments.seed is not None:
            options["seed"] = self._value("--seed", arguments.seed)
        return getattr(Recipe, name)(**options)

    def _data(self, arguments: Any) -> tuple[Any, Any, Any]:
        values = [self._value("data", text) for text in arguments.data]
        if arguments.target is None:
            if len(values) != 2:
                raise NestedCVError(
                    f"give X and y (got {len(values)} names): %%nestedcv X y, or %%nestedcv frame --target column."
                )
            groups = None if arguments.groups is None else self._value("--groups", arguments.groups)
            return values[0], values[1], groups
        if len(values) != 1 or not is_frame(values[0]):
            raise NestedCVError("--target names a column of one DataFrame: %%nestedcv frame --target column.")
        return self._columns(values[0], arguments)

    def _columns(self, frame: Any, arguments: Any) -> tuple[Any, Any, Any]:
        """X, y and groups out of one frame; the group column is no feature."""
        target, group, names = unquoted(arguments.target), unquoted(arguments.groups or ""), list(frame.columns)
        if target not in names:
            raise NestedCVError(f"--target {target!r} is no column; the columns are {', '.join(map(str, names))}.")
        groups = None
        if group in names:
            groups = frame[group]
        elif arguments.groups is not None:
            groups = self._value("--groups", arguments.groups)
        return frame[[name for name in names if name not in (target, group)]], frame[target], groups

    def _value(self, option: str, text: str, words: Collection[str] = ()) -> Any:
        """A word of the option's own, a literal, or an expression of the user's namespace."""
        text = unquoted(text)
        if text in words:
            return text
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            pass  # no literal: a name or an expression
        try:
            return eval(text, self._shell.user_ns)
        except NameError:
            known = f"; it knows {', '.join(words)}" if words else ""
            raise NestedCVError(f"{option}: {text!r} is not defined{known}.") from None
        except Exception as error:
            raise NestedCVError(f"{option}: {text!r} cannot be evaluated: {type(error).__name__}: {error}") from None

    def _body(self, cell: str) -> Any:
        """Run the body in the user's namespace and return its last expression."""
        source = self._shell.transform_cell(cell)
        filename = self._shell.compile.cache(source)
        tree = ast.parse(source, filename)
        if not tree.body or not isinstance(tree.body[-1], ast.Expr):
            raise NestedCVError("the cell must end in an expression that gives the family, such as knn(k=range(1, 51)).")
        last = ast.Expression(tree.body.pop().value)
        namespace = self._shell.user_ns
        lent = {name: value for name, value in AT_HAND.items() if name not in namespace}
        namespace.update(lent)
        try:
            exec(compile(tree, filename, "exec"), namespace)
            return eval(compile(last, filename, "eval"), namespace)
        finally:
            for name, value in lent.items():
                if namespace.get(name) is value:
                    del namespace[name]
