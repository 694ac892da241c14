"""result.report(path): one page without network, and a paragraph for a paper."""

import platform
import re
from html import unescape

import numpy as np
import pytest
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold

from cvnb import Family, Recipe, knn, ridge
from cvnb.views.methods import checklist_of, methods_of, references_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
t = X[:, 0] + RNG.normal(size=60)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A result and the text of its page."""
    result = Recipe(4, 3).run(knn(k=[1, 5, 9]), X, y)
    path = tmp_path_factory.mktemp("report") / "risk.html"
    assert result.report(path, figures=True) == path
    return result, path.read_text(encoding="utf-8")


def test_a_page_without_figures_is_small_and_has_no_script(tmp_path):
    """Pictures in place of plotly; of a comparison likewise, with every model's paragraph."""
    families = {"knn": knn(k=[1, 5]), "flat": Family(DummyClassifier(), {})}
    comparison = Recipe(4, 3).run(families, X, y)
    for shown in (comparison, comparison["knn"]):
        text = shown.report(tmp_path / "page.html").read_text(encoding="utf-8")
        assert "<script" not in text
        assert len(text) < 200_000
        assert "data:image/svg+xml" in text
    text = comparison.report(tmp_path / "all.html").read_text(encoding="utf-8")
    assert unescape(text).count("was estimated by") == 2
    assert comparison.verdict in unescape(text)


def test_the_paragraph_cites_what_it_uses():
    """Works by authors and year, and the items of a checklist by number; no symbols."""
    result = Recipe(4, 3).run(knn(k=[1, 5, 9]), X, y)
    assert "ℓ" not in methods_of(result)
    assert "(Varma and Simon 2006)" in methods_of(result)
    assert [work.split()[0] for work in references_of(result)] == ["Varma", "Bayle"]
    assert "5f (baseline)" in checklist_of(result)
    internal = Recipe.internal_cv(3).run(knn(k=[1, 5]), X, y)
    assert "7b" not in checklist_of(internal)
    assert references_of(internal) == []


def test_the_page_holds_plotly_once_and_loads_nothing(page):
    """Nothing is loaded; there are two figures, and static pictures without scripts."""
    _, text = page
    assert text.count("plotly.js v") == 1
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", outside)
    assert not re.search(r"<script[^>]+src", text)
    assert "@import" not in outside
    assert [text.count(f'id="{name}"') for name in ("curve", "nest")] == [1, 1]
    assert re.search(r"<noscript>.*<img.*</noscript>", outside, flags=re.S)


def test_the_page_has_all_words_of_the_display(page):
    """Number, quantity, interval, every split, notes, code."""
    result, text = page
    no_scripts = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    shown = unescape(re.sub(r"<[^>]+>", "", no_scripts))
    assert f"{100 * result.risk:.0f} % of new rows misclassified" in shown
    interval = result.interval()
    ends = f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"
    assert ends in shown
    assert all(f"{100 * loss:.0f} %" in shown for loss in result.fold_risks)
    assert result.quantity.replace("_", "") in shown
    assert all(note in shown for note in result.notes)
    assert result.code() in shown


def test_the_page_is_the_same_every_time(page, tmp_path):
    """No clock, no random ids."""
    result, text = page
    again = result.report(str(tmp_path / "again.html"), figures=True)
    assert again.read_text(encoding="utf-8") == text


def test_names_of_the_user_are_escaped(tmp_path):
    """A family called <script> is text."""
    grid = {"strategy": ["prior", "uniform"]}
    family = Family(DummyClassifier(), grid, name="<script>alert(1)</script>")
    path = Recipe(3, 2).run(family, X, y).report(tmp_path / "risk.html")
    text = path.read_text(encoding="utf-8")
    assert "<script>alert" not in text


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.external_cv(3),
        Recipe.validation(),
        Recipe.leave_one_out(),
        Recipe.internal_cv(3),
        Recipe.dev_set(),
    ],
    ids=lambda recipe: recipe.name,
)
def test_every_recipe_has_a_page(recipe, tmp_path):
    """Without a curve, without outer splits, with many of them."""
    family = knn(k=3) if recipe.inner_spec is None else knn(k=[1, 3])
    result = recipe.run(family, X, y)
    path = result.report(tmp_path / "risk.html", figures=True)
    text = path.read_text(encoding="utf-8")
    assert ('id="curve"' in text) == (len(result.settings) > 1)
    assert text.count("<tr>") == max(1, len(result.plan.outer)) + 1


def test_a_wrong_path_is_refused(page, tmp_path):
    """A folder, a missing folder, not a path; nothing is written."""
    result, _ = page
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        result.report(tmp_path)
    missing = "is in the folder .*, which does not exist; give the name of a file"
    with pytest.raises(ValueError, match=missing):
        result.report(tmp_path / "none" / "risk.html")
    example = r'give the name of a file, such as result.report\("risk.html"\)'
    with pytest.raises(TypeError, match=example):
        result.report(3)
    assert list(tmp_path.iterdir()) == []


def test_the_paragraph_names_everything_a_reader_needs():
    """Recipe, splits, seed, loss, rule, versions, number."""
    result = Recipe(4, 3, seed=7).run(knn(k=range(1, 13)), X, y)
    paragraph = methods_of(result)
    interval = result.interval()
    for words in (
        "The error rate on new rows of choosing the setting and training was estimated by "
        "nested CV (Varma and Simon 2006).",
        "60 rows with 3 columns",
        "StandardScaler → KNeighborsClassifier, with 12 settings: k in {1, 2, 3, …, 12}.",
        "Outside: 4-fold CV (45 training rows, 15 test rows).",
        "Inside each outer training part: 3-fold CV.",
        "drawn once from seed 7 (inside: seed 8), before any fit: rows shuffled, classes "
        "kept in proportion.",
        "The setting with the smallest mean error rate on the inner test rows was chosen, the "
        "first in the order of the grid where several were equal.",
        f"The error rate was {100 * result.risk:.0f} %, the mean over 4 outer splits",
        f"95 % interval {100 * interval.low:.0f} to {100 * interval.high:.0f} %, for the 4 "
        "models tested (Bayle et al. 2020).",
        f"would have given {100 * result.flat:.0f} %.",
        f"scikit-learn {sklearn.__version__}",
        f"numpy {np.__version__}",
        f"Python {platform.python_version()}",
        f"method {result.path}.",
    ):
        assert words in paragraph


def test_the_paragraph_follows_recipe_data_and_rule():
    """Time and its buffer, groups, weights, given splits, scores, one-SE, no outer splits."""
    in_time = Recipe(4, 3, time_ordered=True, buffer=2)
    time = methods_of(in_time.run(ridge(), X, t, select="one_se"))
    parts = "test parts contiguous in time with 2 rows left out on both sides."
    assert f"before any fit: {parts}" in time
    assert "The setting was chosen by the one-standard-error rule." in time
    assert "interval" not in time
    groups, weights = np.arange(60) // 3, np.ones(60)
    grouped = Recipe(4, 3).run(ridge(), X, t, groups=groups, sample_weight=weights)
    paragraph = methods_of(grouped)
    assert "60 rows with 3 columns, 20 groups, weights of the rows." in paragraph
    assert "rows shuffled, groups kept together." in paragraph
    given = methods_of(Recipe(KFold(3), KFold(2)).run(ridge(), X, t))
    assert "The splits were used as given." in given
    scored = methods_of(Recipe(3, 2).run(knn(k=[1, 5]), X, y, scoring="roc_auc"))
    assert "The ROC AUC on new rows of" in scored
    assert "The setting with the largest mean ROC AUC on the inner test rows" in scored
    internal = methods_of(Recipe.internal_cv(3).run(ridge(), X, t))
    found = (
        "The setting was found by tuning by internal CV; its error on new rows was not"
    )
    assert found in internal
    optimistic = (
        "after training on 40 rows, is too optimistic as an estimate for new rows."
    )
    assert optimistic in internal
    one = methods_of(Recipe.validation().run(ridge(alpha=1.0), X, t))
    estimand = "The mean squared error on new rows of the model"
    assert f"{estimand} was estimated by validation on a test set." in one
    assert "The estimator was StandardScaler → Ridge with alpha=1." in one
