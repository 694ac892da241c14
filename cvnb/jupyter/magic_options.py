"""The options of the magics, with their help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.magic_arguments import argument

from .magic_line import OPTIONS_OF


def _flag(*names: str, help: str, **options: Any) -> argument:
    return argument(*names, action="store_true", help=help, **options)


DATA = argument(
    "data",
    nargs="*",
    help="X and y: names (or expressions without spaces); with --target one frame",
)
TARGET = argument("--target", help="the column of the frame that is y")
GROUPS = argument("--groups", help="groups: a name, or a column of the frame")
OUTPUT = argument("-o", "--output", metavar="NAME", help="bind the result to this name")
TIMES = argument(
    "--times",
    help="time of every row, with --time-ordered or --forward: a name, or a column",
)
HELP = _flag("-h", "--help", help="show this help")
HELP_OR_RECIPES = argument(
    "-h",
    "--help",
    nargs="?",
    const="options",
    help="show this help; --help recipes: the recipes and what each estimates",
)
EXAMPLE = """\
    %load_ext cvnb

    %%nestedcv X y --outer 5 --inner 5 -o risk
    knn(k=range(1, 51))

estimates how good "choose k, then train" is on new rows, and binds the result to risk.
In place of knn(...): ridge(), logistic(), tree(), any (estimator, grid) pair, a
GridSearchCV or RandomizedSearchCV, or a dict of those by name, which compares them on
the same splits.
Other ways to split: %nestedcv --help recipes"""

SPLITS = (
    DATA,
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
        help="inner splits, likewise (default: the cv of a search, else 5)",
    ),
    argument("--test", help="share of the rows in the test part, of recipes with one"),
    argument(
        "--validation",
        help="share of the rows in a validation set, of recipes with one",
    ),
    argument("--samples", help="number of random validation sets"),
    argument("--seed", help="seed of every split (default 0)"),
    _flag("--stratify", help="keep the proportions of the classes", default=None),
    argument("--bins", help="keep those of so many quantile bins of a continuous y"),
    argument(
        "--no-stratify",
        dest="stratify",
        action="store_false",
        help="do not keep them",
    ),
    _flag(
        "--time-ordered",
        help="rows are in the order of time: contiguous test parts",
    ),
    _flag(
        "--forward", help="the same, but every training row is older than the test part"
    ),
    argument(
        "--buffer",
        help="rows thrown away next to a test part in time; with --times also '3D'",
    ),
    TARGET,
    GROUPS,
    TIMES,
)
RUN = (
    argument(
        "--loss",
        help="zero_one, squared, absolute, log, or the name of a function of (y, ŷ)",
    ),
    argument(
        "--scoring",
        help="a scorer of scikit-learn by name, or the name of one of yours",
    ),
    argument("--weights", help="weights of the rows: a name, or a column of the frame"),
    argument("--select", help="min, one_se, or the name of a rule (default min)"),
    argument(
        "--jobs",
        help="number of threads or worker processes; -1 for all processors",
    ),
    argument("--path", help="auto, or refit for one fit per setting and split"),
    _flag("--flat", help="also measure every setting outside, for the flat estimate"),
    argument(
        "--seeds",
        help="then the same run under so many other seeds: how far the number moves",
    ),
    argument(
        "--shuffles",
        help="then the same run on so many shuffles of y: is it better than chance?",
    ),
    argument(
        "--sizes",
        help="then the same run at so many training sizes: would more rows help?",
    ),
    _flag("--dry-run", help="say what the run would do and cost; one split at most"),
    _flag(
        "--background",
        help="return a job at once: .wait(), .cancel(), .progress, .result",
    ),
    OUTPUT,
    _flag("-q", "--quiet", help="show nothing; _ and -o hold the result"),
)


def with_options(*options: argument) -> Callable[[Any], Any]:
    """Return a decorator that gives a magic these options, in the order of its help."""

    def decorate(magic: Any) -> Any:
        for option in reversed(options):
            magic = option(magic)
        return magic

    return decorate


def options_of(magic: Any) -> list[str]:
    """Return the options of a magic, in the order of its help: --outer, ..., -o, --output."""
    return [text for action in magic.parser._actions for text in action.option_strings]
