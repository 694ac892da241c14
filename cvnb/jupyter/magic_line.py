"""The line of a magic: the recipe that its options make, and the words that they know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

from ..calls import MEANT
from ..errors import CvnbError
from ..losses.loss import NAMED
from ..splits.durations import PART as DURATION
from ..splits.recipes import Recipe
from ..splits.timing import FORWARD

SHARES = {"test": "test", "validation": "validation"}

# Recipe -> option of the line -> keyword of the recipe's constructor.
OPTIONS_OF = {
    "train_validation_test": {"outer": "test", "inner": "validation", **SHARES},
    "cv_test": {"outer": "test", "inner": "inner", "test": "test"},
    "resampling_test": {
        "outer": "test",
        "inner": "samples",
        "samples": "samples",
        **SHARES,
    },
    "nested_cv": {"outer": "outer", "inner": "inner"},
    "nested_dev": {"outer": "outer"},
    "nested_resampling": {"outer": "outer", "inner": "inner", **SHARES},
    "external_cv": {"outer": "folds"},
    "internal_cv": {"inner": "folds"},
    "dev_set": {"inner": "dev", "validation": "dev"},
    "validation": {"outer": "test", "test": "test"},
    "leave_one_out": {},
}
OF_RECIPE = ("outer", "inner", "test", "validation", "samples")

# Option -> the words that it knows; most of them take names of the notebook as well.
WORDS = {
    "--recipe": tuple(OPTIONS_OF),
    "--loss": tuple(NAMED),
    "--outer": ("loo",),
    "--inner": ("loo", "auto"),
    "--select": ("min", "one_se"),
    "--path": ("auto", "refit"),
}


# Keyword of the functions -> the option that has another name, or where it is given instead.
OPTION_OF = {"n_jobs": "jobs", "sample_weight": "weights"}
IN_BODY = {
    ("family",): "the model is the last expression of the cell",
    ("grid",): "the grid follows the model in the cell: SVC(), {'C': [1, 10]}",
}


class OneLine:
    """An error that a cell shows in one line and that still fails the cell."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class NestedCVError(OneLine, CvnbError):
    """An error that the user can fix."""


def unquoted(text: str) -> str:
    """Return the text without the quotes that keep it together on the line."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def recipe_of(
    arguments: Any, value: Callable[..., Any], defaults: dict[str, str]
) -> Recipe:
    """Return the recipe that the options describe.

    arguments  the parsed line
    value      value(option, text, words) evaluates the text of one option
    defaults   texts of "outer", "inner" and "seed" where the line has none
    """
    name = arguments.recipe or "nested_cv"
    if name not in OPTIONS_OF:
        raise NestedCVError(
            f"--recipe {name!r} is not known; the recipes are {', '.join(OPTIONS_OF)}."
        )
    keywords = _split_keywords(arguments, name, value)
    for option in ("outer", "inner"):
        keyword, default = OPTIONS_OF[name].get(option, ""), defaults[option]
        # The defaults are numbers of splits, which other keywords do not take.
        counts = keyword in ("outer", "inner", "folds") and name != "nested_resampling"
        if default and counts and keyword not in keywords:
            config, words = f"%config NestedCVMagics.{option}", WORDS[f"--{option}"]
            keywords[keyword] = value(config, default, words)
    seed = arguments.seed
    if seed is None:
        seed = defaults["seed"] or None
    if seed is not None:
        keywords["seed"] = value("--seed", seed)
    return getattr(Recipe, name)(**keywords, **_structure(arguments, value))


def _structure(arguments: Any, value: Callable[..., Any]) -> dict[str, Any]:
    """Keywords of strata and time."""
    keywords: dict[str, Any] = {}
    if arguments.stratify is not None:
        keywords["stratify"] = arguments.stratify
    if arguments.bins is not None:
        if arguments.stratify is not None:
            raise NestedCVError(
                "--bins stratifies; leave out --stratify and --no-stratify."
            )
        keywords["stratify"] = value("--bins", arguments.bins)
    if arguments.time_ordered and arguments.forward:
        raise NestedCVError("--time-ordered and --forward are two designs; give one.")
    if arguments.time_ordered or arguments.forward:
        keywords["time_ordered"] = FORWARD if arguments.forward else True
    if (text := arguments.buffer) is not None:
        is_duration = DURATION.match(unquoted(text))
        keywords["buffer"] = unquoted(text) if is_duration else value("--buffer", text)
    return keywords


def _split_keywords(
    arguments: Any, recipe: str, value: Callable[..., Any]
) -> dict[str, Any]:
    """Keywords of a named recipe, from the options of its splits."""
    keyword_of = OPTIONS_OF[recipe]
    option_of: dict[str, str] = {}
    keywords: dict[str, Any] = {}
    for option in OF_RECIPE:
        text = getattr(arguments, option)
        if text is None:
            continue
        if option not in keyword_of:
            raise NestedCVError(
                f"--{option} means nothing to --recipe {recipe}; leave it out."
            )
        keyword = keyword_of[option]
        if keyword in option_of:
            raise NestedCVError(
                f"--{option_of[keyword]} and --{option} are the same to "
                f"--recipe {recipe}; give one of them."
            )
        option_of[keyword] = option
        words = WORDS.get(f"--{option}", ())
        keywords[keyword] = value(f"--{option}", text, words)
    return keywords


def explained(message: str, options: list[str]) -> str:
    """Return argparse's message, with the option that was probably meant."""
    unknown = re.search(r"unrecognized arguments: (--?[\w-]+)", message)
    instead = _instead(unknown[1], options) if unknown else "."
    return f"{message}{instead} See %nestedcv."


def _instead(option: str, options: list[str]) -> str:
    """Return what to type instead of an unknown option."""
    word = option.strip("-").replace("-", "_")
    meant = MEANT.get(word, (word,))
    if meant in IN_BODY:
        return f"; {IN_BODY[meant]}."
    texts = [f"--{OPTION_OF.get(name, name).replace('_', '-')}" for name in meant]
    if set(texts) <= set(options):
        return f"; use {' and '.join(texts)}."
    close = difflib.get_close_matches(option, options, n=1)
    return f". Did you mean {close[0]}?" if close else "."
