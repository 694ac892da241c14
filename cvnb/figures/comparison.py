"""Families on the same splits: paired fold losses."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError, WrongTypeError
from ..losses.scale import Scale
from ..results.comparison import Comparison
from ..results.estimate import record_of
from ..results.scales import scale_of
from .look import FOLD, ORANGE, named_axis, plain, titled_axis

NAME_OF_LINES = "test error, one line for each fold"
MEAN = {"symbol": "line-ew", "size": 38, "line": {"color": ORANGE, "width": 3}}


def comparison_figure(comparison: Comparison) -> go.Figure:
    """Return the fold losses of each family, joined by a line for each split, and their means.

    Crossing lines show that the splits do not agree on which family is better.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, logistic, nested_cv
    >>> families = {"k-NN": knn(k=[1, 5]), "logistic": logistic(C=[1])}
    >>> comparison = nested_cv(families, *load_iris(return_X_y=True))
    >>> [trace.name for trace in comparison_figure(comparison).data]
    ['test error, one line for each fold', 'mean of the folds']
    """
    if not isinstance(comparison, Comparison):
        raise WrongTypeError(
            "comparison_figure takes a Comparison of several families, got "
            f"{type(comparison).__name__}."
        )
    names, results = list(comparison), list(comparison.values())
    loss, scale = record_of(results[0]).loss, scale_of(*results)
    n = min(len(result.fold_risks) for result in results)
    if not n:
        raise InputError(
            "there are no fold losses to compare: no outer split was finished, or "
            "outer=None measures nothing."
        )
    # [families, splits], of the splits that all families finished
    folds = np.array([[loss.shown(x) for x in r.fold_risks[:n]] for r in results])
    figure = go.Figure([_lines(names, folds, scale), _means(names, folds, scale)])
    means = [scale.displayed(mean) for mean in folds.mean(axis=1).tolist()]
    ticks = [
        f"{name}<br><b>{mean}</b>" for name, mean in zip(names, means, strict=True)
    ]
    x_axis = named_axis("", ticks) | {"range": [-0.5, len(names) - 0.5]}
    axes = {"xaxis": x_axis, "yaxis": titled_axis(loss.shown_name, scale)}
    return figure.update_layout(plain(430) | axes)


def _means(names: list[str], folds: np.ndarray, scale: Scale) -> go.Scatter:
    means = folds.mean(axis=1).tolist()
    return go.Scatter(
        x=list(range(len(names))),
        y=[scale.factor * mean for mean in means],
        mode="markers",
        name="mean of the folds",
        marker=MEAN,
        hoverinfo="text",
        hovertext=[
            f"<b>{name}</b>: {scale.displayed(mean)}"
            for name, mean in zip(names, means, strict=True)
        ],
    )


def _lines(names: list[str], folds: np.ndarray, scale: Scale) -> go.Scatter:
    """One trace for the lines of all splits: a point without a value ends each."""
    n_splits = folds.shape[1]
    gap = np.full((1, n_splits), np.nan)
    texts = []
    for j in range(n_splits):
        for name, loss in zip(names, folds[:, j], strict=True):
            texts.append(f"<b>{name}</b>, fold {j + 1}: {scale.displayed(loss)}")
        texts.append("")
    return go.Scatter(
        x=np.tile([*range(len(names)), np.nan], n_splits),
        y=scale.factor * np.vstack([folds, gap]).T.ravel(),
        mode="lines+markers",
        name=NAME_OF_LINES,
        line={"color": FOLD, "width": 1},
        marker={"color": FOLD, "size": 6},
        hoverinfo="text",
        hovertext=texts,
    )
