"""Pages without a kernel: the report, an exported notebook and the documentation, with the
network cut."""

from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from sklearn.datasets import load_iris

from cvnb import Recipe, knn
from front_ends import broken_pictures, contrast

pytestmark = pytest.mark.browser

QUICKSTART = Path(__file__).parents[2] / "notebooks" / "01_quickstart.ipynb"
RISK = "of new rows misclassified"


def test_a_report_is_complete_without_a_network(visit, tmp_path, scheme):
    """Both figures are drawn, the menu opens a split, nothing is asked for."""
    path = (
        Recipe(4, 3)
        .run(knn(k=range(1, 20)), *load_iris(return_X_y=True))
        .report(tmp_path / "risk.html", figures=True)
    )
    seen = visit(scheme=scheme)
    seen.page.goto(path.as_uri())
    figures = seen.page.locator(".js-plotly-plot")
    figures.nth(1).locator(".barlayer .point").first.wait_for(timeout=20_000)
    assert figures.nth(0).locator(".scatterlayer .trace").count() > 6
    width = seen.page.evaluate(
        "() => [document.body.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width[0] <= width[1]
    figures.nth(1).locator(".updatemenu-header").click()
    figures.nth(1).locator(".updatemenu-dropdown-button").nth(2).click()
    seen.page.wait_for_selector("text=inner 2", timeout=10_000)
    assert (
        seen.page.locator("blockquote")
        .inner_text()
        .startswith("The error rate on new rows of")
    )
    seen.shot("report")


def test_an_exported_notebook_is_complete_without_a_network(visit, tmp_path, scheme):
    """nbconvert's page: number, pictures and table; what its own template asks of other
    machines is not needed."""
    notebook = nbformat.read(QUICKSTART, as_version=4)
    page, _ = HTMLExporter(theme=scheme).from_notebook_node(notebook)
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    seen = visit(
        "voila", scheme
    )  # the template asks for MathJax and require.js elsewhere
    seen.page.goto(path.as_uri())
    output = seen.page.locator(f".jp-OutputArea-output:has-text('{RISK}')").first
    assert output.is_visible()
    assert output.locator("td").count() == 3 * 3 + 5 * 7  # three dots, five folds
    assert output.locator("img").count() == 3 + 2
    assert broken_pictures(output) == []
    seen.shot("exported", output)


@pytest.mark.parametrize(
    "name",
    [
        "index",
        "notebooks/01_quickstart",
        "api/cvnb/RiskEstimate",
        "api/cvnb.inference/bbc",
    ],
)
def test_the_documentation_can_be_read_without_a_network(visit, site, scheme, name):
    """Pictures are drawn, words and code stand out from what is behind them, and no page is
    wider than the window."""
    seen = visit(scheme=scheme)
    seen.page.goto((site / f"{name}.html").as_uri())
    article = seen.page.locator("article")
    assert broken_pictures(article) == []
    assert contrast(article.locator("p").first) > 7
    assert contrast(article.locator(".highlight pre").first) > 7
    for width in (700, 1400, 1800):
        seen.page.set_viewport_size({"width": width, "height": 1200})
        assert seen.page.evaluate("() => document.documentElement.scrollWidth") <= width
        seen.shot(f"docs_{name.replace('/', '_')}_{width}")


def test_pictures_of_the_documentation_follow_a_theme_that_is_chosen(visit, site):
    """On a light machine, after a click for the dark theme, they are asked for in dark."""
    seen = visit(scheme="light")
    seen.page.goto((site / "notebooks" / "01_quickstart.html").as_uri())
    schemes = []
    for _ in range(3):
        seen.page.locator(".content-icon-container .theme-toggle").click()
        schemes.append(
            seen.page.evaluate(
                "() => [document.body.dataset.theme, getComputedStyle(document.body).colorScheme]"
            )
        )
    assert ["dark", "dark"] in schemes
    assert ["light", "light"] in schemes


def test_the_documentation_is_searched_without_a_network(visit, site):
    """A word of a docstring leads to the page of the name."""
    seen = visit()
    seen.page.goto(f"{(site / 'search.html').as_uri()}?q=Tsamardinos")
    seen.page.locator("ul.search a").first.wait_for(timeout=20_000)
    assert any(
        "bbc.html" in link
        for link in seen.page.locator("ul.search a").evaluate_all(
            "all => all.map(one => one.href)"
        )
    )
