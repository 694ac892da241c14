"""No figure has the button that uploads it."""

import plotly.graph_objects as go
import pytest

import cvnb.figures
from cvnb import Recipe, knn
from cvnb.figures.look import UPLOADS, cloud_buttons, plain
from cvnb.studies import ladder, learning_curve, null_test, over_seeds
from cvnb.widgets import CurveExplorer
from plans import X, y


@pytest.fixture(scope="module")
def figures():
    """name -> every public figure, those of studies among them."""
    result = Recipe(3, 2).run(knn(k=[1, 3, 5]), X, y)
    comparison = Recipe(3, 2).run({"near": knn(k=[1, 3]), "far": knn(k=[9])}, X, y)
    made = {
        name: getattr(cvnb.figures, name)(
            comparison if "comparison" in name else result
        )
        for name in cvnb.figures.__all__
        if name.endswith("_figure")
    }
    return made | {
        "seeds": over_seeds(result, n=3).figure(),
        "null": null_test(result, n=5).figure(),
        "learning": learning_curve(result, sizes=3, repeats=2).figure(),
        "ladder": ladder(knn(k=[1, 3]), X, y, samples=2).figure(),
        "comparison.figure": comparison.figure(),
        "result.curve_figure": result.curve_figure(),
        "result.nest_figure": result.nest_figure(),
        "widget": CurveExplorer(result)._curve.widget,
    }


def test_every_figure_removes_the_button(figures):
    """By the layout, which a notebook keeps, whatever renders the figure."""
    assert len(figures) >= 12
    for name, figure in figures.items():
        assert isinstance(figure, go.Figure | go.FigureWidget)
        assert set(figure.layout.modebar.remove) == set(cloud_buttons()), name


def test_this_plotly_knows_the_button_by_one_of_its_names():
    """Else a new name would bring it back unseen."""
    assert set(cloud_buttons()) & set(UPLOADS)
    assert go.Figure(layout=plain(300)).layout.modebar.remove
