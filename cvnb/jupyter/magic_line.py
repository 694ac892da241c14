"""What stands on the line of the magics: options, the recipe they make, the words they know."""

from __future__ import annotations

import difflib
import re
from typing import Any

from ..errors import CvnbError
from ..losses.loss import NAMED
from ..splits.recipes import Recipe

OPTIONS_OF = {  # recipe -> what these options stand for there
    "train_validation_test": {"outer": "test", "inner": "validation", "test": "test", "validation": "validation"},
    "cv_test": {"outer": "test", "inner": "inner", "test": "test"},
    "resampling_test": {
        "outer": "test", "inner": "samples", "test": "test", "samples": "samples", "validation": "validation",
    },
    "nested_cv": {"outer": "outer", "inner": "inner"},
    "nested_dev": {"outer": "outer"},
    "nested_resampling": {"outer": "outer", "inner": "inner", "test": "test", "validation": "validation"},
    "external_cv": {"outer": "folds"},
    "internal_cv": {"inner": "folds"},
    "dev_set": {"inner": "dev", "validation": "dev"},
    "validation": {"outer": "test", "test": "test"},
    "leave_one_out": {},
}  # fmt: skip
OF_RECIPE = ("outer", "inner", "test", "validation", "samples")
WORDS = {  # option -> the words that it knows; names of the notebook may be given to most of them too
    "--recipe": tuple(OPTIONS_OF),
    "--loss": tuple(NAMED),
    "--outer": ("loo",),
    "--inner": ("loo", "auto"),
    "--select": ("min", "one_se"),
    "--path": ("auto", "refit"),
}


class OneLine:
    """An error that a cell shows in one line, and that fails the cell all the same."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class NestedCVError(OneLine, CvnbError):
    """What the user can mend."""


def unquoted(text: str) -> str:
    """The line's quotes keep a word together; they are no part of it."""
    return (
        text[1:-1]
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        else text
    )


def recipe_of(arguments: Any, value: Any, defaults: dict[str, str]) -> Recipe:
    """The recipe that the options describe: value(option, text, words) reads one, defaults stand for those not given."""
    name = arguments.recipe or "nested_cv"
    if name not in OPTIONS_OF:
        raise NestedCVError(
            f"--recipe {name!r} is not known; the recipes are {', '.join(OPTIONS_OF)}."
        )
    known = OPTIONS_OF[name]
    options: dict[str, Any] = {}
    given: dict[str, str] = {}
    for option in OF_RECIPE:
        text = getattr(arguments, option)
        if text is None:
            continue
        if option not in known:
            raise NestedCVError(
                f"--{option} means nothing to --recipe {name}; leave it out."
            )
        keyword = known[option]
        if keyword in given:
            raise NestedCVError(
                f"--{given[keyword]} and --{option} are the same to --recipe {name}; give one of them."
            )
        given[keyword] = option
        options[keyword] = value(f"--{option}", text, WORDS.get(f"--{option}", ()))
    for option in (
        "outer",
        "inner",
    ):  # a default counts splits, so it stands only where splits are counted
        keyword, default = known.get(option, ""), defaults.get(option)
        if (
            default
            and keyword in ("outer", "inner", "folds")
            and keyword not in given
            and name != "nested_resampling"
        ):
            options[keyword] = value(
                f"%config NestedCVMagics.{option}", default, WORDS[f"--{option}"]
            )
    for option in ("seed", "buffer"):
        text = getattr(arguments, option)
        text = defaults.get(option) or None if text is None else text
        if text is not None:
            options[option] = value(f"--{option}", text)
    if arguments.stratify is not None:
        options["stratify"] = arguments.stratify
    if arguments.time_ordered:
        options["time_ordered"] = True
    return getattr(Recipe, name)(**options)


def explained(message: str, options: list[str]) -> str:
    """What argparse said, with the option that may have been meant."""
    found = re.search(r"unrecognized arguments: (--?[\w-]+)", message)
    close = difflib.get_close_matches(found[1], options, n=1) if found else []
    return f"{message}{f' Did you mean {close[0]}?' if close else ''} See %nestedcv."
