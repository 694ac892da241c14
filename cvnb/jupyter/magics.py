"""%%nestedcv runs nested cross-validation, %folds shows its splits, %recipe a form.

The line gives the data and the options; the body is Python whose last expression is the
family. Two lines of Python do the same: `recipe = Recipe(...)`, `recipe.run(family, X, y)`.
"""

from __future__ import annotations

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
from IPython.core.magic_arguments import magic_arguments, parse_argstring
from IPython.display import display
from sklearn.metrics import get_scorer_names
from traitlets import Enum, Unicode

from ..data.table import Data
from ..engine.progress import Slot, in_notebook
from ..errors import CvnbError, Interrupted
from ..results.comparison import finished
from ..runs.forecast import Forecast, Forecasts
from ..runs.options import DEFAULTS, Options
from ..runs.prepare import dry_run, prepare
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..views.display import bundle_of
from ..views.inputs import recipes_text
from .background import BackgroundRun, Result, begin
from .cell_errors import show_cause
from .magic_data import apart, data_texts, rows_of
from .magic_line import (
    OPTIONS_OF,
    WORDS,
    NestedCVError,
    OneLine,
    explained,
    recipe_of,
    unquoted,
)
from .magic_options import (
    DATA,
    EXAMPLE,
    GROUPS,
    HELP,
    HELP_OR_RECIPES,
    OUTPUT,
    RUN,
    SPLITS,
    TARGET,
    options_of,
    with_options,
)
from .magic_studies import STUDIES, studies_of, wanted_studies
from .namespace import at_hand, run_body, value_of


class NestedCVInterrupted(OneLine, Interrupted):
    """The run was interrupted; the finished part is shown and bound."""


@magics_class
class NestedCVMagics(Magics):
    """The magics that %load_ext cvnb registers.

    Defaults are set by %config NestedCVMagics.seed = "1", and so on.
    """

    outer = Unicode("", help="default of --outer").tag(config=True)
    inner = Unicode("", help="default of --inner").tag(config=True)
    seed = Unicode("", help="default of --seed").tag(config=True)
    jobs = Unicode("", help="default of --jobs").tag(config=True)
    select = Unicode("min", help="default of --select").tag(config=True)
    path = Enum(["auto", "refit"], "auto", help="default of --path").tag(config=True)
    progress = Enum(
        ["auto", "off"], "auto", help="whether runs show their progress"
    ).tag(config=True)

    @property
    def _shell(self) -> Any:
        return self.shell

    @magic_arguments()
    @with_options(*SPLITS, *RUN, HELP_OR_RECIPES)
    @output_can_be_silenced
    @no_var_expand
    @line_cell_magic
    def nestedcv(
        self, line: str, cell: str | None = None
    ) -> Result | Forecast | Forecasts | BackgroundRun | None:
        """Risk of "choose θ, then train", for the family that the cell's last expression gives.

        The body is Python run in your namespace; Family, Recipe and the short-hands (knn,
        ridge, ...) are available in it. Its last expression is a Family, an (estimator, grid)
        pair, a GridSearchCV or RandomizedSearchCV, or a dict of those by name.
        """
        arguments = _parsed(self.nestedcv, line)
        if arguments.help == "recipes":
            print(recipes_text(OPTIONS_OF))
            return None
        if cell is None or arguments.help:
            print(
                f"{EXAMPLE}\n\n{self.nestedcv.__doc__}\n"
                f"available in the body: {', '.join(at_hand())}"
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
            if isinstance(error, NestedCVError):
                raise
            if error.__cause__ is not None:  # an estimator or a loss failed
                show_cause(self._shell, error, error.__cause__)
                raise
            raise NestedCVError(str(error)) from None
        except BaseException:
            slot.clear()
            raise

    @magic_arguments()
    @with_options(*SPLITS, HELP)
    @no_var_expand
    @line_magic
    def folds(self, line: str) -> Plan | None:
        """The splits of a recipe on these rows, without fitting anything."""
        arguments = _parsed(self.folds, line)
        if arguments.help:
            print(self.folds.__doc__)
            return None
        try:
            X, y, groups, _, times = rows_of(arguments, self._value)
            return self._recipe(arguments).plan(X, y, groups=groups, times=times)
        except CvnbError as error:
            raise NestedCVError(str(error)) from None

    @magic_arguments()
    @with_options(DATA, TARGET, GROUPS, OUTPUT, HELP)
    @no_var_expand
    @line_magic
    def recipe(self, line: str) -> Any:
        """The RecipeBuilder: choose a model, a score and the splits of these rows by hand.

        With -o NAME every complete result gets this name; without, its Keep button asks for one.
        """
        arguments = _parsed(self.recipe, line)
        if arguments.help:
            print(self.recipe.__doc__)
            return None
        from ..widgets import RecipeBuilder

        try:
            rows = rows_of(arguments, self._value)
            names = data_texts(arguments, rows, self._value)
            X, y, groups, *_ = apart(rows)
            return RecipeBuilder(
                X,
                y,
                groups,
                namespace=self._shell.user_ns,
                names=names,
                output=_output_name(arguments),
            )
        except CvnbError as error:
            raise NestedCVError(str(error)) from None

    def _run(
        self, arguments: Any, cell: str, slot: Slot
    ) -> Result | Forecast | Forecasts | BackgroundRun | None:
        output = _output_name(arguments)
        recipe = self._recipe(arguments)
        X, y, groups, weights, times = rows_of(arguments, self._value)
        options = self._options(arguments)
        wanted = wanted_studies(arguments, self._value)
        _refuse_together(arguments, wanted)
        family = run_body(self._shell, cell)
        quiet = arguments.quiet or DisplayHook.semicolon_at_end_of_expression(cell)
        if arguments.dry_run:
            forecast = dry_run(recipe, family, X, y, groups, weights, times, **options)
            return self._show_forecast(forecast, output, quiet)
        data = Data.check(X, y, groups, weights, times)
        ready = prepare(
            recipe,
            family,
            data,
            Options(**{**DEFAULTS, **options}),
            on_copies=arguments.background,
        )
        shows = self.progress == "auto"
        if arguments.background:
            job = begin(ready.run, self._shell, quiet, shows)
            return self._show_job(job, output, quiet)
        result = ready.run(slot if shows and not quiet else None)
        if not wanted or not result.complete:
            return self._show(result, output, slot, quiet)
        if not slot.used and not quiet:
            display(result)
        self._show(result, output, slot, quiet=True)
        self._run_studies(result, wanted, output, quiet)
        return None

    def _run_studies(
        self, result: Result, wanted: dict[str, Any], output: str | None, quiet: bool
    ) -> None:
        """Show each study; with -o NAME bind them to NAME_seeds, NAME_shuffles, NAME_sizes.

        Of a comparison these are dicts by the name of the family.
        """
        found: dict[str, Any] = {}
        try:
            progress = "off" if quiet else self.progress
            for option, name, study in studies_of(result, wanted, progress):
                if name:
                    found.setdefault(option, {})[name] = study
                else:
                    found[option] = study
                if not quiet:
                    display(study)
        except Interrupted as error:
            words = str(error).partition(";")[0]
            raise NestedCVInterrupted(f"Interrupted: {words}.", result) from None
        finally:
            for option, study in found.items():
                self._bind(output and f"{output}_{option}", study)

    def _bind(self, output: str | None, value: Any) -> None:
        if output is not None:
            self._shell.user_ns[output] = value

    def _hold(self, value: Any) -> None:
        """Make it the value of _ and Out, for a cell that returns nothing."""
        self._shell.displayhook.update_user_ns(value)

    def _show_job(
        self, job: BackgroundRun, output: str | None, quiet: bool
    ) -> BackgroundRun | None:
        """Bind a run in the background; its cell shows it, or in a terminal returns it."""
        self._bind(output, job)
        if in_notebook() or quiet:
            self._hold(job)
            return None
        return job

    def _show_forecast(
        self, forecast: Any, output: str | None, quiet: bool
    ) -> Forecast | Forecasts | None:
        """Return a forecast as the value of its cell."""
        self._bind(output, forecast)
        if not quiet:
            return forecast
        self._hold(forecast)
        return None

    def _show(
        self, result: Result, output: str | None, slot: Slot, quiet: bool
    ) -> Result | None:
        """Bind the result, and show it in place of the progress; else the cell returns it."""
        self._bind(output, result)
        try:
            if slot.used:
                slot.take(*bundle_of(result))
            elif not result.complete and not quiet:
                display(result)
        except KeyboardInterrupt:
            slot.clear()
            self._hold(result)
            raise NestedCVInterrupted(
                "Interrupted while the result was drawn; _ holds it.", result
            ) from None
        if result.complete and not slot.used and not quiet:
            return result
        self._hold(result)
        if not result.complete:
            raise NestedCVInterrupted(f"Interrupted: {finished(result)}.", result)
        return None

    def _recipe(self, arguments: Any) -> Recipe:
        defaults = {"outer": self.outer, "inner": self.inner, "seed": self.seed}
        return recipe_of(arguments, self._value, defaults)

    def _options(self, arguments: Any) -> dict[str, Any]:
        """The keyword arguments of the run, apart from its data."""
        path = arguments.path or self.path
        if path not in WORDS["--path"]:
            known = " or ".join(WORDS["--path"])
            raise NestedCVError(f"--path {path!r} is not known; use {known}.")
        options: dict[str, Any] = {"flat": arguments.flat, "path": path}
        texts = {
            "loss": arguments.loss,
            "select": arguments.select or self.select,
            "jobs": arguments.jobs or self.jobs,
        }
        for option, text in texts.items():
            if text:
                keyword = "n_jobs" if option == "jobs" else option
                words = WORDS.get(f"--{option}", ())
                options[keyword] = self._value(f"--{option}", text, words)
        if arguments.scoring is not None:
            options["scoring"] = self._scoring(arguments.scoring)
        return options

    def _scoring(self, text: str) -> Any:
        """The name of a scorer, or a scorer of the notebook."""
        text = unquoted(text)
        is_unbound = text.isidentifier() and text not in self._shell.user_ns
        if is_unbound or text in get_scorer_names():
            return text
        return self._value("--scoring", text)

    def _value(self, option: str, text: str, words: Collection[str] = ()) -> Any:
        return value_of(self._shell.user_ns, option, text, words)


def _parsed(magic: Callable[..., Any], line: str) -> Any:
    try:
        return parse_argstring(magic, line)
    except (UsageError, ValueError) as error:  # ValueError: an unclosed quote
        raise NestedCVError(explained(str(error), options_of(magic))) from None


def _refuse_together(arguments: Any, studies: Collection[str]) -> None:
    if arguments.dry_run and arguments.background:
        raise NestedCVError("--dry-run is over at once; leave out --background.")
    for option in studies:
        if arguments.dry_run:
            raise NestedCVError(
                f"--dry-run tells the cost of one run; leave out --{option}, which takes "
                "at most that many times as long."
            )
        if arguments.background:
            function = STUDIES[option][0]
            raise NestedCVError(
                f"--{option} needs the result; leave it out here, and later call "
                f"cvnb.studies.{function}(job.result)."
            )


def _output_name(arguments: Any) -> str | None:
    if arguments.output is None:
        return None
    name = unquoted(arguments.output)
    if not name.isidentifier() or iskeyword(name):
        raise NestedCVError(f"-o {name!r} is no name of a variable.")
    return name
