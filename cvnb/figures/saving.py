"""A result, a comparison or a figure as a file for slides and papers."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from ..errors import InputError, WrongTypeError
from ..pictures.curves import curve_of
from ..pictures.drawing import Picture
from ..pictures.split_map import nest_of, nest_of_result
from ..pictures.steps import draw_steps
from ..pictures.svg import draw_curve, draw_nest
from ..results.comparison import Comparison
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from ..splits.plan import Plan
from .comparison import comparison_figure
from .curve import curve_figure
from .nest import nest_figure

ENDINGS = (".svg", ".png", ".pdf")
WIDEST = 20_000  # pixels
DRAWN = 800  # pixels that a figure is laid out for, and then scaled
INSTALL = (
    "install it with `pip install 'cvnb[images]'` (it also needs Chrome or Chromium), or save "
    "a result, a comparison or a plan as .svg, which needs neither."
)


def save(shown: Any, path: str | os.PathLike[str], width: int = DRAWN) -> Path:
    """Write a picture for slides and papers, and return its path.

    shown  a result (its tuning curve, or its row map where nothing was tuned), a comparison,
           a plan, or any figure of cvnb.figures or of a study
    path   ends in .svg, .png or .pdf; an older file is replaced
    width  in pixels; everything is scaled with it

    An SVG of a result, a comparison or a plan is drawn without a browser; everything else
    needs the package kaleido.

    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> result = nested_cv(knn(k=[1, 5]), *load_iris(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(result, f"{folder}/curve.svg", width=1200).read_text()[:4]
    '<svg'
    """
    path = _checked(path)
    if isinstance(width, bool) or not isinstance(width, int) or not 0 < width <= WIDEST:
        raise InputError(f"width={width!r} is no number of pixels from 1 to {WIDEST}.")
    figure_of = _figure_maker(shown)
    if path.suffix.lower() == ".svg" and not isinstance(shown, go.Figure):
        picture = _picture(shown)
        if picture is not None:
            return _write(path, picture.sized(width, for_page=True).encode())
    return _write(path, _image(figure_of(), path.suffix.lower()[1:], width))


def _checked(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise WrongTypeError(f"path={path!r} must be the name of a file: 'curve.svg'.")
    path = Path(path).expanduser()
    if path.suffix.lower() not in ENDINGS:
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise InputError(
            f"{path.name!r} {ending}; use .svg, .png or .pdf: {path.stem + '.svg'!r}."
        )
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {str(path.parent)!r}; make it first.")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the name of a file.")
    return path


def _figure_maker(shown: Any) -> Callable[[], go.Figure]:
    if isinstance(shown, go.Figure):
        return lambda: shown
    if isinstance(shown, RiskEstimate):
        tuned = curve_of(shown) is not None
        return lambda: curve_figure(shown) if tuned else nest_figure(shown)
    if isinstance(shown, Comparison):
        return lambda: comparison_figure(shown)
    if isinstance(shown, Plan):
        return lambda: nest_figure(shown)
    if callable(figure := getattr(shown, "figure", None)) and not isinstance(
        shown, type
    ):
        return figure
    raise WrongTypeError(
        "save takes a result, a comparison, a plan, a study or a figure, got "
        f"{type(shown).__name__}."
    )


def _picture(shown: Any) -> Picture | None:
    """The script-free picture; None for a study, which is drawn by its figure."""
    if isinstance(shown, Plan):
        return draw_nest(nest_of(shown))
    if isinstance(shown, RiskEstimate):
        curve = curve_of(shown)
        return draw_nest(nest_of_result(shown)) if curve is None else draw_curve(curve)
    return _models(shown) if isinstance(shown, Comparison) else None


def _models(comparison: Comparison) -> Picture | None:
    """The models with their intervals, the best first; None where nothing was measured."""
    results = {name: comparison[name] for name in comparison.ranked}
    if any(result.risk is None for result in results.values()):
        raise InputError(
            "there is nothing to draw: outer=None measures nothing, or no fold was finished."
        )
    loss, lines = record_of(next(iter(results.values()))).loss, []
    for name, result in results.items():
        ends = [loss.shown(result.risk)] * 2
        try:
            interval = result.interval()
        except InputError:  # too few folds or groups for one
            lines.append((name, loss.shown(result.risk), *ends))
            continue
        lines.append((name, loss.shown(result.risk), interval.low, interval.high))
    scale = scale_of(*results.values())
    return draw_steps(lines, set(results), loss.shown_name, scale)


def _image(figure: go.Figure, kind: str, width: int) -> bytes:
    if find_spec("kaleido") is None:
        raise InputError(
            f"a .{kind} of this needs the package kaleido, which is missing: {INSTALL}"
        )
    height = figure.layout.height
    try:
        return figure.to_image(kind, width=DRAWN, height=height, scale=width / DRAWN)
    except RuntimeError as error:  # no browser, or one that does not start
        raise InputError(
            f"kaleido found no browser that draws a .{kind}: {INSTALL}"
        ) from error


def _write(path: Path, content: bytes) -> Path:
    """Write to a file next to it first, so that no half of a picture is left."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise InputError(
            f"{str(path)!r} cannot be written: {error.strerror}."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return path
