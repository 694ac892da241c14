"""The text and HTML of results, plans, recipes and families."""

import html.parser
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvnb import Recipe, knn, ridge
from cvnb.families.labels import shown_settings
from cvnb.results.estimate import record_of
from cvnb.views.card import REPORT_THIS, SAME_FOLDS

X, y = load_iris(return_X_y=True)


VOID = ("br", "img")


class Outline(html.parser.HTMLParser):
    """Tags in order, so that a test can see that they nest."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open += [] if tag in VOID else [tag]
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(thing):
    bundle = thing._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


@pytest.fixture(scope="module")
def result():
    return Recipe(4, 3).run(knn(k=[1, 5, 9]), X, y, flat=True)


@pytest.fixture(scope="module")
def shown(result):
    """Results, comparisons, plans, recipes and families."""
    comparison = Recipe(3, 2).run({"a": knn(k=[1, 5]), "b": ridge(alpha=[1.0])}, X, y)
    internal = Recipe.internal_cv().run(knn(k=[1, 5]), X, y)
    external = Recipe.leave_one_out().run(KNeighborsClassifier(3), X, y)
    scored = Recipe(3, 2).run(
        (Ridge(), {"alpha": [0.1, 1.0]}), *load_diabetes(return_X_y=True), scoring="r2"
    )
    families = [record_of(result).family, knn(), ridge(alpha=[1.0])]
    return [
        result,
        comparison,
        internal,
        external,
        scored,
        result.plan,
        record_of(result).recipe,
        *families,
    ]


def test_pages_are_wellformed_and_need_no_script(shown):
    """Tags nest, nothing is loaded, nothing runs."""
    for thing in shown:
        outline = Outline(page_of(thing))
        assert outline.open == []
        assert not {"script", "style", "link", "iframe", "svg"} & set(outline.tags)
        names = {name for name, _ in outline.attributes}
        assert not {"id", "href"} & names
        assert not any(name.startswith("on") for name in names)
        sources = [value for name, value in outline.attributes if name == "src"]
        texts = [value for name, value in outline.attributes if name == "alt"]
        assert all(x.startswith("data:image/svg+xml;base64,") for x in sources)
        assert all(texts)
        assert len(texts) == outline.tags.count("img")
        assert len(page_of(thing)) < 60_000


def test_text_is_the_same_each_time(result):
    """No seconds, ids, addresses or paths."""
    again = Recipe(4, 3).run(knn(k=[1, 5, 9]), X, y, flat=True)
    assert repr(again) == repr(result)
    assert page_of(again) == page_of(result)
    varying = r"0x[0-9a-f]{6}|\d s\b|/home|/tmp"
    assert not re.search(varying, repr(result) + page_of(result))


def test_seconds_are_metadata(result):
    """The output's metadata has them, which comparisons of outputs ignore."""
    assert result._repr_mimebundle_()[1]["cvnb"]["seconds"] > 0


def test_the_number_is_next_to_its_name(result):
    """The first line of the text is the number in words; the last the estimated quantity."""
    first, *_, last = repr(result).splitlines()
    assert first == f"{100 * result.risk:.1f} %  of new rows misclassified"
    assert last.strip() == f"in symbols: {result.quantity}"


def test_a_flat_estimate_that_equals_the_risk_is_shown_as_equal():
    """Rounding errors do not count: here the two sums differ by 3e-18."""
    X, y = load_breast_cancer(return_X_y=True)
    result = Recipe.nested_cv(6, 5, seed=3).run(knn(), X, y)
    assert abs(result.optimism) < 1e-15
    words = "Choosing and scoring on the same folds would have said the same."
    assert words in repr(result)


def test_the_flat_estimate_is_called_too_good(result):
    """If it is known, it is shown with its difference from the risk, in percentage points."""
    flat, optimism = 100 * result.flat, 100 * result.optimism
    words = f"would have said {flat:.1f} %: too good by {optimism:.1f} points."
    assert words in repr(result)


def test_a_baseline_is_shown_and_one_that_is_as_good_is_urgent(result):
    """Always guessing one of three classes; where X tells nothing, the result says so."""
    shown = f"{100 * result.baseline.risk:.1f} % wrong."
    assert f"Always guessing the commonest class: {shown}" in repr(result)
    noise = Recipe(3, 2).run(ridge(alpha=[1e9]), X[:, :1] * 0, np.arange(150) % 2.0)
    assert "! No better than always " in repr(noise)
    assert "No better than always" in page_of(noise)


def test_numbers_have_the_digits_that_the_interval_can_tell(result):
    """Two digits of its width: an interval of 2.3 to 9.6 % gives one decimal."""
    interval = result.interval()
    ends = f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %"
    assert f"95 % interval {ends}, for the 4 models tested" in repr(result)
    assert not re.search(r"\d\.\d{3}", repr(result))


def test_settings_are_named_without_the_steps_of_a_pipeline():
    """ "C=1" in place of "svc__C=1", unless two steps have a parameter of that name."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    family = model, {"logisticregression__C": [1.0, 10.0]}
    shown = repr(Recipe(3, 2).run(family, X, y))
    assert "C=" in shown
    assert "logisticregression__" not in shown
    assert shown_settings([{"a__n": 1, "b__n": 2}]) == ["a__n=1, b__n=2"]
    assert shown_settings([{"C": 0.31622776}, {"C": 1.0}]) == ["C=0.316", "C=1"]
    assert shown_settings([{"C": 1.0001}, {"C": 1.0002}]) == ["C=1.0001", "C=1.0002"]


def test_a_score_stands_as_a_score_everywhere():
    """Accuracy: number, interval, frame and table are accuracies; risks stay losses."""
    result = Recipe(4, 3).run(knn(k=[1, 5, 9]), X, y, scoring="accuracy")
    interval = result.interval()
    assert interval.low < result.score < interval.high
    assert result.risk == pytest.approx(1 - result.score)
    assert "% of new rows classified correctly" in repr(result).replace("  ", " ")
    frame = result.to_frame()
    assert frame["outer_score"].mean() == pytest.approx(result.score)


def test_a_minimum_of_the_inner_curve_is_not_called_a_risk(shown):
    """Without outer splits the headline explains that it is not an estimate of the risk."""
    words = (
        "on the folds that chose the setting: optimistic, not an estimate for new rows"
    )
    first = repr(shown[2]).splitlines()[0]
    assert f"error rate {words}" in first
    scored = Recipe.internal_cv(3).run(knn(k=[1, 5]), X, y, scoring="f1_macro")
    first = repr(scored).splitlines()[0]
    assert f"f1 macro {words}" in first


def test_a_score_is_shown_as_a_score(shown):
    """The headline notes that large values of R² are good."""
    scored = shown[4]
    headline = f"{scored.score:.2f}  R² on new rows (large is good)"
    assert repr(scored).startswith(headline)
    assert f"{scored.fold_scores[0]:.2f}" in repr(scored)


def test_a_long_table_is_cut_in_the_middle(shown):
    """Leave-one-out on 150 rows shows the first splits, an ellipsis and the last split."""
    lines = repr(shown[3]).splitlines()
    assert len(lines) < 25
    assert any(line.split()[0] == "150" for line in lines)
    assert any("…" in line for line in lines)


def test_user_strings_are_escaped():
    """Labels of classes, settings and notes cannot inject markup."""
    labels = np.where(y == 0, "<b>&", "other")
    family = LogisticRegression(max_iter=500), {"C": [1.0]}
    result = Recipe(3, 2).run({"<i>x": family}, X, labels)
    assert "<i>x" not in page_of(result)
    assert "&lt;i&gt;x" in page_of(result)


def test_every_number_of_the_page_is_in_the_text(result):
    """Every cell of the tables is in the plain text too, but for the names of three dots."""
    cells = set(re.findall(r"<td[^>]*>([^<]*)</td>", page_of(result)))
    assert "majority class" in cells
    cells -= {REPORT_THIS, SAME_FOLDS, "majority class"}
    assert all(cell in repr(result) for cell in cells)


def test_plan_and_recipe_show_their_names(result):
    """Their text names splits and recipe."""
    splits = "4-fold CV, inside each training part 3-fold CV"
    assert repr(result.plan).startswith(f"Plan of 150 rows: {splits}")
    assert "nested CV" in page_of(record_of(result).recipe)


STUDIES = ("over_seeds(risk)", "null_test(risk)", "learning_curve(risk)")


@pytest.mark.parametrize(
    ("recipe", "named"),
    [
        (Recipe(5, 3), STUDIES),
        (Recipe(5, 3, shuffle=False, stratify=False), STUDIES[1:]),
        (Recipe(5, 3, time_ordered=True), ()),
        (Recipe.internal_cv(3), ()),
    ],
)
def test_the_card_names_the_studies_that_answer_what_is_asked_next(recipe, named):
    """Those that this recipe allows; where no split is random, no seed matters."""
    order = np.random.default_rng(0).permutation(150)
    page = page_of(recipe.run(knn(k=[1, 5]), X[order], y[order]))
    assert tuple(study for study in STUDIES if study in page) == named
