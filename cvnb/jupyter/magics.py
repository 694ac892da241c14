"""%%nestedcv: nested cross-validation of what the cell describes; %folds: its splits alone.

The line says on which data and how; the body is Python whose last expression is the family. Whatever the magic does, two lines
of Python do too: `recipe = Recipe(...)`, `recipe.run(family, X, y)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from keyword import iskeyword
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
    output_can_be_silenced,
)
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display
from sklearn.metrics import get_scorer_names
from traitlets import Enum, Unicode

from ..data.checks import is_frame
from ..data.table import Data
from ..engine.progress import Slot, in_notebook
from ..errors import CvnbError, Interrupted
from ..families.family import Family
from ..families.registry import short_hand, short_hands
from ..results.comparison import finished
from ..runs.forecast import Forecast
from ..runs.prepare import DEFAULTS, Options, Ready, dry_run, prepare
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..splits.specs import Resampling
from ..views.display import bundle_of, recipes_text
from .background import Job, Result, begin
from .magic_line import (
    OPTIONS_OF,
    WORDS,
    NestedCVError,
    OneLine,
    explained,
    recipe_of,
    unquoted,
)


def at_hand() -> dict[str, Any]:
    """What the body of a cell may call without an import: every short-hand, and what families and recipes are made with."""
    hands = {name: short_hand(name) for name in short_hands()}
    return {**hands, "Family": Family, "Recipe": Recipe, "Resampling": Resampling}


class NestedCVInterrupted(OneLine, Interrupted):
    """Stopped; what was finished is shown and bound."""


def _split_options(magic: Any) -> Any:
    """The options of both magics: data, and how they are split."""
    options = [
        argument(
            "data",
            nargs="*",
            help="X and y: names (or expressions without spaces); with --target one frame",
        ),
        argument(
            "--recipe",
            help=f"a named recipe: {', '.join(OPTIONS_OF)} (default nested_cv)",
        ),
        argument(
            "--outer",
            help="outer splits: folds, a share, 'loo', or the name of a splitter (default 5)",
        ),
        argument(
            "--inner",
            help="inner splits, likewise (default: the cv of a GridSearchCV, else 5)",
        ),
        argument(
            "--test", help="share of the rows in the test part, of recipes with one"
        ),
        argument(
            "--validation",
            help="share of the rows in a validation set, of recipes with one",
        ),
        argument("--samples", help="number of random validation sets"),
        argument("--seed", help="seed of every split (default 0)"),
        argument(
            "--stratify",
            action="store_true",
            default=None,
            help="keep the proportions of the classes",
        ),
        argument(
            "--no-stratify",
            dest="stratify",
            action="store_false",
            help="do not keep them",
        ),
        argument(
            "--time-ordered",
            action="store_true",
            help="rows are in the order of time: contiguous test parts",
        ),
        argument(
            "--buffer", help="rows thrown away on both sides of every test part in time"
        ),
        argument("--target", help="the column of the frame that is y"),
        argument("--groups", help="groups: a name, or a column of the frame"),
    ]
    for option in reversed(options):
        magic = option(magic)
    return magic


@magics_class
class NestedCVMagics(Magics):
    """The magics that %load_ext cvnb registers; defaults by %config NestedCVMagics.seed = "1", and so on."""

    outer = Unicode("", help="default of --outer").tag(config=True)
    inner = Unicode("", help="default of --inner").tag(config=True)
    seed = Unicode("", help="default of --seed").tag(config=True)
    jobs = Unicode("", help="default of --jobs").tag(config=True)
    select = Unicode("min", help="default of --select").tag(config=True)
    path = Enum(["auto", "refit"], "auto", help="default of --path").tag(config=True)
    progress = Enum(
        ["auto", "off"], "auto", help="whether runs show how far they are"
    ).tag(config=True)

    @property
    def _shell(self) -> Any:
        return self.shell

    @magic_arguments()
    @_split_options
    @argument(
        "--loss",
        help="zero_one, squared, absolute, log, or the name of a function of (y, ŷ)",
    )
    @argument(
        "--scoring",
        help="a scorer of scikit-learn by name, or the name of one of yours",
    )
    @argument("--weights", help="weights of the rows: a name, or a column of the frame")
    @argument("--select", help="min, one_se, or the name of a rule (default min)")
    @argument(
        "--jobs", help="number of threads or worker processes; -1 for all processors"
    )
    @argument("--path", help="auto, or refit for one fit per setting and split")
    @argument(
        "--flat",
        action="store_true",
        help="also measure every setting outside, for the flat estimate",
    )
    @argument(
        "--dry-run",
        action="store_true",
        help="say what the run would do and cost; two fits at most",
    )
    @argument(
        "--background",
        action="store_true",
        help="return a job at once: .wait(), .cancel(), .progress, .result",
    )
    @argument("-o", "--output", metavar="NAME", help="bind the result to this name")
    @argument(
        "-q",
        "--quiet",
        action="store_true",
        help="show nothing; _ and -o hold the result",
    )
    @argument("-h", "--help", action="store_true", help="show this help")
    @output_can_be_silenced
    @no_var_expand
    @line_cell_magic
    def nestedcv(
        self, line: str, cell: str | None = None
    ) -> Result | Forecast | Job | None:
        """Risk of "choose θ, then train", for the family that the cell's last expression gives.

        The body is Python run in your namespace; Family, Recipe and the short-hands (knn, ridge, ...) are at hand in it. Its
        last expression is a Family, an (estimator, grid) pair, a GridSearchCV, or a dict of those by name.
        """
        arguments = self._parsed(self.nestedcv, line)
        if cell is None or arguments.help:
            print(
                f"{recipes_text()}\n\n{self.nestedcv.__doc__}\nat hand in the body: {', '.join(at_hand())}"
            )
            return None
        slot = Slot()
        try:
            return self._run(arguments, cell, slot)
        except NestedCVInterrupted:
            raise
        except KeyboardInterrupt:
            slot.clear()
            raise NestedCVInterrupted("Interrupted before the first fit.") from None
        except CvnbError as error:
            slot.clear()
            if error.__cause__ is not None:
                raise  # an estimator or a loss failed, and its traceback says where
            raise NestedCVError(str(error)) from None
        except BaseException:
            slot.clear()
            raise

    @magic_arguments()
    @_split_options
    @argument("-h", "--help", action="store_true", help="show this help")
    @no_var_expand
    @line_magic
    def folds(self, line: str) -> Plan | None:
        """The splits of a recipe on these rows, without fitting anything."""
        arguments = self._parsed(self.folds, line)
        if arguments.help:
            print(self.folds.__doc__)
            return None
        try:
            X, y, groups, _ = self._data(arguments)
            return recipe_of(arguments, self._value, self._defaults()).plan(
                X, y, groups=groups
            )
        except CvnbError as error:
            raise NestedCVError(str(error)) from None

    @magic_arguments()
    @argument(
        "data",
        nargs="*",
        help="X and y: names (or expressions without spaces); with --target one frame",
    )
    @argument("--target", help="the column of the frame that is y")
    @argument("--groups", help="groups: a name, or a column of the frame")
    @argument("-h", "--help", action="store_true", help="show this help")
    @no_var_expand
    @line_magic
    def recipe(self, line: str) -> Any:
        """The RecipeBuilder: choose a recipe and a family for these rows by hand, and watch the curve."""
        arguments = self._parsed(self.recipe, line)
        if arguments.help:
            print(self.recipe.__doc__)
            return None
        from ..widgets import RecipeBuilder

        try:
            X, y, groups, _ = self._data(arguments)
            return RecipeBuilder(
                X,
                y,
                groups,
                namespace=self._shell.user_ns,
                names=self._texts(arguments, X),
            )
        except CvnbError as error:
            raise NestedCVError(str(error)) from None

    def _parsed(self, magic: Any, line: str) -> Any:
        try:
            return parse_argstring(magic, line)
        except (
            UsageError,
            ValueError,
        ) as error:  # ValueError: a quote that is not closed
            raise NestedCVError(explained(str(error), options_of(magic))) from None

    def _run(
        self, arguments: Any, cell: str, slot: Slot
    ) -> Result | Forecast | Job | None:
        if arguments.output is not None:
            arguments.output = unquoted(arguments.output)
            if not arguments.output.isidentifier() or iskeyword(arguments.output):
                raise NestedCVError(
                    f"-o {arguments.output!r} is no name of a variable."
                )
        recipe = recipe_of(arguments, self._value, self._defaults())
        X, y, groups, weights = self._data(arguments)
        options, quiet = (
            self._options(arguments),
            arguments.quiet or DisplayHook.semicolon_at_end_of_expression(cell),
        )
        if arguments.dry_run and arguments.background:
            raise NestedCVError("--dry-run is over at once; leave out --background.")
        family = self._body(cell)
        if arguments.dry_run:
            found = dry_run(
                recipe, family, X, y, groups=groups, sample_weight=weights, **options
            )
            return self._show_forecast(found, arguments.output, quiet)
        data, asked = (
            Data.check(X, y, groups, weights),
            Options(**{**DEFAULTS, **options}),
        )
        ready = prepare(recipe, family, data, asked, apart=arguments.background)
        if arguments.background:
            return self._begin(ready, arguments, quiet)
        shows = self.progress == "auto" and not quiet
        return self._show(ready.run(slot if shows else None), arguments, slot, quiet)

    def _begin(self, ready: Ready, arguments: Any, quiet: bool) -> Job | None:
        """Bind the job of a run in the background; its cell shows it, or in a terminal returns it."""
        job = begin(ready.run, self._shell, quiet, self.progress == "auto")
        if arguments.output is not None:
            self._shell.user_ns[arguments.output] = job
        if in_notebook() or quiet:
            self._shell.displayhook.update_user_ns(job)
            return None
        return job

    def _show_forecast(
        self, found: Any, output: str | None, quiet: bool
    ) -> Forecast | None:
        """A forecast is the value of its cell; those of several families are shown one after the other."""
        if output is not None:
            self._shell.user_ns[output] = found
        if isinstance(found, dict) or quiet:
            for one in found.values() if isinstance(found, dict) and not quiet else ():
                display(one)
            self._shell.displayhook.update_user_ns(found)
            return None
        return found

    def _show(
        self, result: Result, arguments: Any, slot: Slot, quiet: bool
    ) -> Result | None:
        """Bind the result, and show it in the slot where there was progress; else the cell returns it."""
        if arguments.output is not None:
            self._shell.user_ns[arguments.output] = result
        try:
            if slot.used:
                slot.take(*bundle_of(result))
            elif not result.complete and not quiet:
                display(result)
        except KeyboardInterrupt:
            slot.clear()
            self._shell.displayhook.update_user_ns(result)
            raise NestedCVInterrupted(
                "Interrupted while the result was drawn; _ holds it.", result
            ) from None
        if not result.complete:
            self._shell.displayhook.update_user_ns(result)
            raise NestedCVInterrupted(f"Interrupted: {finished(result)}.", result)
        if slot.used or quiet:
            self._shell.displayhook.update_user_ns(result)
            return None
        return result

    def _defaults(self) -> dict[str, str]:
        return {"outer": self.outer, "inner": self.inner, "seed": self.seed}

    def _options(self, arguments: Any) -> dict[str, Any]:
        """What is said of the run itself."""
        options: dict[str, Any] = {
            "flat": arguments.flat,
            "path": arguments.path or self.path,
        }
        if options["path"] not in WORDS["--path"]:
            raise NestedCVError(
                f"--path {options['path']!r} is not known; use {' or '.join(WORDS['--path'])}."
            )
        for option, keyword, default in (
            ("loss", "loss", ""),
            ("select", "select", self.select),
            ("jobs", "n_jobs", self.jobs),
        ):
            text = getattr(arguments, option) or default
            if text:
                options[keyword] = self._value(
                    f"--{option}", text, WORDS.get(f"--{option}", ())
                )
        if arguments.scoring is not None:
            options["scoring"] = self._scoring(arguments.scoring)
        return options

    def _scoring(self, text: str) -> Any:
        """The name of a scorer, or a scorer of the notebook."""
        text = unquoted(text)
        if text in get_scorer_names() or (
            text.isidentifier() and text not in self._shell.user_ns
        ):
            return text
        return self._value("--scoring", text)

    def _data(self, arguments: Any) -> tuple[Any, Any, Any, Any]:
        """X, y, groups and weights."""
        values = [self._value("data", text) for text in arguments.data]
        named = {
            option: getattr(arguments, option, None) for option in ("groups", "weights")
        }
        if arguments.target is not None:
            if len(values) != 1 or not is_frame(values[0]):
                raise NestedCVError(
                    "--target names a column of one DataFrame: %%nestedcv frame --target column."
                )
            return self._columns(values[0], unquoted(arguments.target), named)
        if len(values) != 2:
            raise NestedCVError(
                f"give X and y (got {len(values)} names): %%nestedcv X y, or %%nestedcv frame --target column."
            )
        groups, weights = (
            None if text is None else self._value(f"--{option}", text)
            for option, text in named.items()
        )
        return values[0], values[1], groups, weights

    def _texts(self, arguments: Any, X: Any) -> dict[str, str]:
        """How X, y and groups can be written again."""
        words, groups = (
            list(map(unquoted, arguments.data)),
            unquoted(arguments.groups or ""),
        )
        if arguments.target is None:
            return {"X": words[0], "y": words[1], "groups": groups}
        frame = words[0]
        names = {str(name): name for name in self._value("data", frame).columns}
        column = f"{frame}[{names[groups]!r}]" if groups in names else groups
        return {
            "X": f"{frame}[{list(X.columns)!r}]",
            "y": f"{frame}[{names[unquoted(arguments.target)]!r}]",
            "groups": column,
        }

    def _columns(
        self, frame: Any, target: str, named: dict[str, str | None]
    ) -> tuple[Any, Any, Any, Any]:
        """X, y, groups and weights out of one frame; columns of groups and weights are no features."""
        names = {
            str(name): name for name in frame.columns
        }  # a column may be called by a number
        if target not in names:
            raise NestedCVError(
                f"--target {target!r} is no column; the columns are {', '.join(names)}."
            )
        taken, found = {target}, []
        for option, text in named.items():
            column = unquoted(text or "")
            if column in names:
                taken.add(column)
                found.append(frame[names[column]])
            else:
                found.append(None if text is None else self._value(f"--{option}", text))
        features = [name for text, name in names.items() if text not in taken]
        return frame[features], frame[names[target]], found[0], found[1]

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
            lent = {
                name: value
                for name, value in at_hand().items()
                if name not in self._shell.user_ns
            }
            return eval(text, self._shell.user_ns, lent)
        except NameError:
            known = f"; it knows {', '.join(words)}" if words else ""
            raise NestedCVError(f"{option}: {text!r} is not defined{known}.") from None
        except Exception as error:
            raise NestedCVError(
                f"{option}: {text!r} cannot be evaluated: {type(error).__name__}: {error}"
            ) from None

    def _body(self, cell: str) -> Any:
        """Run the body in the user's namespace and return its last expression."""
        source = self._shell.transform_cell(cell)
        filename = self._shell.compile.cache(source)
        tree = ast.parse(source, filename)
        if not tree.body or not isinstance(tree.body[-1], ast.Expr):
            raise NestedCVError(
                "the cell must end in an expression that gives the family, such as knn(k=range(1, 51))."
            )
        last = ast.Expression(tree.body.pop().value)
        namespace = self._shell.user_ns
        lent = {
            name: value for name, value in at_hand().items() if name not in namespace
        }
        namespace.update(lent)
        try:
            exec(compile(tree, filename, "exec"), namespace)
            return eval(compile(last, filename, "eval"), namespace)
        finally:
            for name, value in lent.items():
                if namespace.get(name) is value:
                    del namespace[name]


def options_of(magic: Callable[..., Any]) -> list[str]:
    """The options of one magic, in the order of its help: --outer, ..., -o, --output."""
    return [text for action in magic.parser._actions for text in action.option_strings]  # type: ignore[attr-defined]
