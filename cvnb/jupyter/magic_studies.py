"""The studies that may follow a run: --seeds, --shuffles and --sizes of %%nestedcv."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import Interrupted
from ..results.comparison import Comparison
from ..results.estimate import RiskEstimate
from ..splits.specs import check_count, is_whole

# option of the line -> (function of cvnb.studies, its argument that the option gives)
STUDIES = {
    "seeds": ("over_seeds", "n"),
    "shuffles": ("null_test", "n"),
    "sizes": ("learning_curve", "sizes"),
}


def wanted_studies(arguments: Any, value: Callable[..., Any]) -> dict[str, Any]:
    """Return option -> its value, checked, for the studies that the line asks for.

    arguments  the parsed line
    value      value(option, text) evaluates the text of one option
    """
    wanted = {}
    for option in STUDIES:
        text = getattr(arguments, option)
        if text is None:
            continue
        wanted[option] = value(f"--{option}", text)
        if option != "sizes" or is_whole(wanted[option]):
            check_count(f"--{option}", wanted[option], 1)
    return wanted


def studies_of(
    result: RiskEstimate | Comparison, wanted: dict[str, Any], progress: str
) -> Iterator[tuple[str, str, Any]]:
    """Yield (option, name of the family, study) for a result, or each member of a comparison.

    Of an interrupted study the finished part is yielded, then Interrupted is raised.

    wanted    option -> its value
    progress  "auto" or "off"
    """
    from .. import studies

    members = dict(result) if isinstance(result, Comparison) else {"": result}
    for option, value in wanted.items():
        function, argument = STUDIES[option]
        keywords = {argument: value, "progress": progress}
        for name, member in members.items():
            try:
                yield option, name, getattr(studies, function)(member, **keywords)
            except Interrupted as error:
                if error.result is not None:
                    yield option, name, error.result
                raise
