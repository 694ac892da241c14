"""Every figure at four widths: no words over others, none cut off, no button that uploads."""

import numpy as np
import plotly.io
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import cvnb.figures
from cvnb import Family, Recipe, knn, ridge
from cvnb.figures.studies import beside_curve
from cvnb.studies import ladder, learning_curve, null_test, over_seeds

pytestmark = pytest.mark.browser

WIDTHS = (400, 700, 1280, 1920)
# Boxes of the words of one figure; the menu's and the pointer's are not always there.
BOXES = """figure => {
    const outside = figure.getBoundingClientRect();
    return [...figure.querySelectorAll("text")]
        .filter(text => text.textContent.trim())
        .filter(text => !text.closest(".hoverlayer, .updatemenu-container"))
        .map(text => {
            const box = text.getBoundingClientRect();
            return [text.textContent, box.left - outside.left, box.right - outside.left,
                    box.top - outside.top, box.bottom - outside.top, outside.width,
                    outside.height];
        })
        .filter(box => box[2] > box[1]);
}"""
TURNED = (
    0.35  # of a turned word's box is empty, so such boxes may overlap at their corners
)


@pytest.fixture(scope="module")
def figures():
    """Name -> figure; two of the widest kind of each."""
    X, y = load_iris(return_X_y=True)
    result = Recipe(5, 4).run(knn(k=range(1, 20)), X, y)
    numbers = Recipe(4, 3).run(ridge(), X[:, :3], 1000 * X[:, 3])
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    two = {
        "logisticregression__C": np.geomspace(1e-3, 1e3, 7),
        "logisticregression__solver": ["lbfgs", "newton-cholesky"],
    }
    three = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1], "kernel": ["rbf", "poly"]}
    surface = Recipe(4, 3).run(Family(pipe, two), X, y, scoring="accuracy")
    ranking = Recipe(4, 3).run(Family(SVC(), three), X, y)
    models = {
        "knn": knn(k=[1, 5]),
        "far neighbours": knn(k=[30]),
        "ridge": ridge(alpha=[1]),
    }
    seeds = over_seeds(result, n=30)
    time = Recipe(4, 3, time_ordered=True, buffer=5).run(knn(k=[1, 5]), X, y)
    return {
        "curve": result.curve_figure(),
        "numbers": numbers.curve_figure(),
        "surface": surface.curve_figure(),
        "ranking": ranking.curve_figure(),
        "map": result.nest_figure(),
        "time": time.nest_figure(),
        "optimism": cvnb.figures.optimism_figure(result),
        "choices": cvnb.figures.theta_figure(ranking),
        "regret": cvnb.figures.theta_figure(result),
        "comparison": Recipe(5, 4).run(models, X, y).figure(),
        "seeds": seeds.figure(),
        "beside": beside_curve(result.curve_figure(), seeds),
        "null": null_test(result, n=30).figure(),
        "learning": learning_curve(result, sizes=4, repeats=2).figure(),
        "ladder": ladder(knn(k=[1, 5]), X, y, samples=3).figure(),
    }


@pytest.fixture(scope="module")
def page(figures, tmp_path_factory):
    """A page with all of them, each as wide as the page."""
    parts = [
        f'<div id="{name}">'
        + plotly.io.to_html(
            figure,
            full_html=False,
            include_plotlyjs=place == 0,
            config={
                "responsive": True,
                "displayModeBar": True,
                "showSendToCloud": True,
            },
        )
        + "</div>"
        for place, (name, figure) in enumerate(figures.items())
    ]
    path = tmp_path_factory.mktemp("figures") / "all.html"
    path.write_text(f'<body style="margin:0">{"".join(parts)}', encoding="utf-8")
    return path


def overlap(one, other):
    """The area that two boxes share, as a share of the smaller one."""
    width = min(one[2], other[2]) - max(one[1], other[1])
    height = min(one[4], other[4]) - max(one[3], other[3])
    if width <= 0 or height <= 0:
        return 0.0
    sizes = [(box[2] - box[1]) * (box[4] - box[3]) for box in (one, other)]
    return width * height / min(sizes)


@pytest.mark.parametrize("width", WIDTHS)
def test_words_are_apart_and_whole(chromium, page, figures, width):
    """Titles, ticks, labels of lines, legends."""
    tab = chromium.new_page()
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(page.as_uri())
    tab.wait_for_function(
        f"document.querySelectorAll('.js-plotly-plot .main-svg').length >= {3 * len(figures)}"
    )
    tab.wait_for_timeout(500)
    wrong = []
    for name in figures:
        boxes = tab.locator(f"#{name} .js-plotly-plot").evaluate(BOXES)
        assert len(boxes) > 3
        for place, box in enumerate(boxes):
            if box[1] < -1 or box[2] > box[5] + 1 or box[3] < -1 or box[4] > box[6] + 1:
                wrong.append(f"{name}: {box[0]!r} is cut off")
            for other in boxes[:place]:
                if overlap(box, other) > TURNED / 2:
                    wrong.append(f"{name}: {box[0]!r} over {other[0]!r}")
    tab.close()
    assert wrong == []


def test_no_button_uploads_a_figure(chromium, page):
    """Even where the configuration of the page asks for it."""
    tab = chromium.new_page()
    tab.goto(page.as_uri())
    tab.locator(".modebar-btn").first.wait_for(state="attached")
    titles = tab.locator(".modebar-btn").evaluate_all(
        "buttons => buttons.map(button => button.dataset.title || '')"
    )
    tab.close()
    assert any("Download" in title for title in titles)
    assert not [title for title in titles if "hare" in title or "loud" in title]
