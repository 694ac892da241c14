"""Families on the same splits: paired fold losses."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..errors import InputError, WrongTypeError
from ..results.comparison import Comparison
from ..results.estimate import record_of
from ..wording import number
from .look import BELOW, FAINT, LINES, ORANGE, named_axis, plain


def comparison_figure(comparison: Comparison) -> go.Figure:
    """The fold losses of every family, those of one split joined by a line, and their means.

    Lines that cross say that the splits do not agree on which family is better.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, logistic, nested_cv
    >>> comparison = nested_cv({"k-NN": knn(k=[1, 5]), "logistic": logistic(C=[1])}, *load_iris(return_X_y=True))
    >>> [trace.name for trace in comparison_figure(comparison).data]
    ['ε<sub>j</sub>, one line for each outer split', 'mean: zero-one risk']
    """
    if not isinstance(comparison, Comparison):
        raise WrongTypeError(
            f"comparison_figure takes a Comparison of several families, got {type(comparison).__name__}."
        )
    names, loss = list(comparison), record_of(next(iter(comparison.values()))).loss
    n = min(len(result.fold_risks) for result in comparison.values())
    if not n:
        raise InputError(
            "there are no fold losses to compare: no outer split was finished, or outer=None measures nothing."
        )
    folds = np.array(
        [
            [loss.shown(risk) for risk in result.fold_risks[:n]]
            for result in comparison.values()
        ]
    )
    gap = np.full((1, n), np.nan)
    text = [
        [
            f"<b>{name}</b>, split {j}: {number(folds[f, j])}"
            for f, name in enumerate(names)
        ]
        for j in range(n)
    ]
    means = folds.mean(axis=1).tolist()  # over the splits that all of them finished
    figure = go.Figure()
    figure.add_scatter(
        x=np.tile([*range(len(names)), np.nan], n), y=np.vstack([folds, gap]).T.ravel(), mode="lines+markers",
        name="ε<sub>j</sub>, one line for each outer split", line={"color": FAINT, "width": 1.5},
        marker={"color": "#5b9bd5", "size": 7}, hoverinfo="text", hovertext=[one for line in text for one in [*line, ""]],
    )  # fmt: skip
    figure.add_scatter(
        x=list(range(len(names))), y=means, mode="markers", name=f"mean: {loss.shown_name}",
        marker={"symbol": "line-ew", "size": 38, "line": {"color": ORANGE, "width": 3}}, hoverinfo="text",
        hovertext=[f"<b>{name}</b>: {number(mean)}" for name, mean in zip(names, means, strict=True)],
    )  # fmt: skip
    x_axis = named_axis("", names) | {"range": [-0.5, len(names) - 0.5]}
    axes = {"xaxis": x_axis, "yaxis": {"title": {"text": loss.words}} | LINES}
    return figure.update_layout(
        plain(height=430)
        | axes
        | {"legend": BELOW, "margin": {"l": 70, "r": 20, "t": 20, "b": 50}}
    )
