"""Nest map and error-versus-θ curve: their numbers and their SVG."""

import base64
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn, ridge
from cvnb.families.labels import shown_settings
from cvnb.pictures.axes import nice_ticks, tick_labels
from cvnb.pictures.curves import curve_of
from cvnb.pictures.split_map import nest_of, nest_of_result
from cvnb.pictures.svg import draw_curve, draw_nest
from plans import PLANS, RNG, X, y
from stopped import finished_part


@pytest.mark.parametrize("case", PLANS)
def test_a_nest_map_counts_the_rows_of_every_split(case):
    """The spans of a bar cover all rows, and each role has as many as in the plan."""
    plan = PLANS[case].plan(X, y)
    nest = nest_of(plan)
    assert len(nest.bars) == min(8, max(1, len(plan.outer)))
    assert nest.bars[-1].split == nest.n_splits - 1
    for bar in nest.bars:
        ends = [0] + [end for _, end, _ in bar.spans]
        assert [start for start, _, _ in bar.spans] == ends[:-1]
        assert ends[-1] == 60
        counts = {}
        for start, end, role in bar.spans:
            counts[role] = counts.get(role, 0) + end - start
        train, test = plan.part(bar.split)
        n_test = test.size if plan.outer_layout is not None else 0
        n_train = sum(n for role, n in counts.items() if is_trained_on(role))
        left_out = counts.get("buffer", 0) + counts.get("unused", 0)
        assert counts.get("test", 0) == n_test
        assert n_train == train.size
        assert left_out == 60 - train.size - n_test
        if nest.n_inner:
            for k, (_, dev) in enumerate(plan.inner[bar.split]):
                assert counts.get(k, 0) == dev.size
    assert nest.in_order == (case in ("time with a buffer", "leave-one-out"))
    roles = {role for bar in nest.bars for _, _, role in bar.spans}
    assert ("buffer" in roles) == (case == "time with a buffer")


def is_trained_on(role):
    return role == "train" or isinstance(role, int)


def parsed(picture):
    """The SVG as a tree; every coordinate is finite and inside the picture."""
    data = re.search(r"base64,([A-Za-z0-9+/=]+)", picture.img)[1]
    tree = ElementTree.fromstring(base64.b64decode(data))
    assert "nan" not in picture.body
    sizes = {"x": picture.width, "y": picture.height}
    for name, most in sizes.items():
        for value in re.findall(rf" c?{name}=\"([-0-9.]+)\"", picture.body):
            assert -0.1 <= float(value) <= most + 0.1
    return tree


@pytest.mark.parametrize("case", PLANS)
def test_a_nest_map_is_drawn_inside_its_frame(case):
    """The SVG is well-formed and has an alternative text."""
    nest = nest_of(PLANS[case].plan(X, y))
    picture = draw_nest(nest)
    tree = parsed(picture)
    paths = tree.findall("{*}path")
    drawn = {path.get("class"): path.get("d").count("z") for path in paths}
    spans = [role for bar in nest.bars for _, _, role in bar.spans]
    assert drawn.get("t", 0) == spans.count("test")
    assert drawn.get("a", 0) + drawn.get("b", 0) == sum(map(is_trained_on, spans))
    assert picture.alt.startswith(f"Row map of {nest.n_splits} fold")


def numbers():
    return X, X[:, 0] + RNG.normal(size=60)


def test_a_curve_has_the_numbers_of_the_result():
    """Sorted along the axis; choices at their inner losses; flat and nested levels."""
    result = Recipe(5, 3).run(knn(k=[9, 1, 5]), X, y)
    curve = curve_of(result)
    assert curve.axis.name == "k"
    assert curve.axis.x.tolist() == [1, 5, 9]
    np.testing.assert_array_equal(curve.inner, result.inner_curves[:, [1, 2, 0]])
    np.testing.assert_allclose(curve.mean, result.inner_curves.mean(axis=0)[[1, 2, 0]])
    assert curve.levels == {"same folds": result.flat, "nested": result.risk}
    chosen = [setting["k"] for setting in result.chosen]
    assert curve.axis.x[curve.chosen].tolist() == chosen
    np.testing.assert_array_equal(curve.outer, result.outer_curves[:, [1, 2, 0]])
    assert not curve.axis.log
    parsed(draw_curve(curve))


@pytest.mark.parametrize("flat", [0.0001, 0.3])
def test_names_of_levels_are_never_written_over_each_other(flat):
    """With room only above, the lower one is at the other end."""
    curve = curve_of(Recipe(5, 3).run(knn(k=[9, 1, 5]), X, y))
    levels = {"same folds": flat, "nested": flat + 0.0001}
    texts = parsed(draw_curve(replace(curve, levels=levels))).findall(".//{*}text")
    flat, nested = (text for text in texts if text.get("class") == "o")
    assert [flat.text.split()[0], nested.text.split()[0]] == ["same", "nested"]
    apart = abs(float(flat.get("y")) - float(nested.get("y")))
    assert apart >= 10 or flat.get("text-anchor") != nested.get("text-anchor")


def test_a_strip_of_classes_is_for_classifications():
    """The family decides, not the values of y: a regression may have few whole numbers."""
    whole = np.arange(60) % 5
    for task, names in {"classification": ["class"], "regression": []}.items():
        plan = Recipe(3, 3).plan(X, whole, knn(k=[1], task=task))
        assert [band.name for band in nest_of(plan).strips] == names


def test_a_wide_grid_of_penalties_is_on_a_log_axis():
    """Powers of ten are; an even grid is not."""
    even = ridge(alpha=np.arange(1.0, 100.0))
    assert curve_of(Recipe(3, 3).run(ridge(), *numbers())).axis.log
    assert not curve_of(Recipe(3, 3).run(even, *numbers())).axis.log


@pytest.mark.parametrize(
    ("family", "axis"),
    [
        (Family(SVC(), {"kernel": ["rbf", "linear"]}), "kernel"),
        (knn(k=[1, 2]), "k"),
    ],
)
def test_every_kind_of_grid_has_a_curve(family, axis):
    """Words and numbers."""
    curve = curve_of(Recipe(3, 2).run(family, X, y))
    assert curve.axis.name == axis
    parsed(draw_curve(curve))


def shown_texts(picture):
    """(words, left end, right end) of every horizontal text, as wide as a wide font makes it."""
    texts = []
    for text in parsed(picture).findall(".//{*}text"):
        if text.get("transform"):
            continue
        x, width = float(text.get("x")), 6.8 * len(text.text or "")
        start = (
            x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
        )
        texts.append((text.text, start, start + width))
    return texts


def test_a_heat_map_has_the_names_of_both_axes_and_clips_nothing():
    """Long names of values, and a pipeline's, which lose the names of its steps."""
    pipe = make_pipeline(ColumnTransformer([("a", SimpleImputer(), [0, 1])]), SVC())
    grid = {
        "columntransformer__a__strategy": ["median", "mean", "most_frequent"],
        "svc__C": [0.001, 1000.0, 1.0, 31.6227766],
    }
    result = Recipe(3, 2).run(Family(pipe, grid), X, y, scoring="roc_auc")
    picture = draw_curve(curve_of(result))
    words = [text for text, _, _ in shown_texts(picture)]
    assert {"C", "most_frequent", "0.001", "31.6", "1000"} <= set(words)
    turned = [
        t.text for t in parsed(picture).findall(".//{*}text") if t.get("transform")
    ]
    assert turned == ["strategy"]
    for text, start, end in shown_texts(picture):
        assert start >= 0, text
        assert end <= picture.width, text


def test_settings_of_three_parameters_are_a_list():
    """The best first, with its loss and how often it was chosen; nothing is clipped."""
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0], "kernel": ["rbf", "poly"]}
    result = Recipe(3, 2).run(Family(SVC(), grid), X, y)
    picture = draw_curve(curve_of(result))
    texts = shown_texts(picture)
    best = int(np.argmin(result.inner_curves.mean(axis=0)))
    name = shown_settings(result.settings)[best]
    assert any(text == f"1. {name}" for text, _, _ in texts)
    counts = [text.split("×")[1] for text, _, _ in texts if "chosen ×" in text]
    assert sum(map(int, counts)) == 3
    for text, start, end in texts:
        assert start >= 0, text
        assert end <= picture.width, text


def test_a_fold_that_was_not_run_is_not_drawn_as_done():
    """No stripe and no filled test part: an outline with a word, in the alternative text too."""
    plan = Recipe(5, 3).plan(X, y)
    every = draw_nest(nest_of(plan))
    some = draw_nest(nest_of(plan).under_way({3: "running", 4: "waiting"}))
    drawn, left = (
        {path.get("class"): path.get("d") for path in parsed(p).findall("{*}path")}
        for p in (every, some)
    )
    assert drawn["t"].count("z") == 5
    assert left["t"].count("z") == 3
    assert left["n f"].count("z") == 2
    for stripes in ("a", "b"):
        rows = {float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)", left[stripes])}
        assert len(rows) == 3
    assert some.alt.endswith("fold 4 running; fold 5 waiting.")
    assert "running" in [text for text, _, _ in shown_texts(some)]


def test_an_interrupted_result_has_a_row_map_of_what_was_run():
    """From the result itself."""
    fits = []

    class Stopping(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            fits.append(1)
            if len(fits) > 12:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    family = Family(Stopping(), {"strategy": ["prior", "uniform"]})
    result = finished_part(lambda: Recipe(5, 2).run(family, X, y))
    n = len(result.fold_risks)
    assert 0 < n < 5
    states = [bar.state for bar in nest_of_result(result).bars]
    assert states == [""] * n + ["not run"] * (5 - n)
    left = {t.name: set(t.y) for t in result.nest_figure().data if t.visible}
    assert left["not run"] == set(range(n, 5))
    assert left["test fold"] == set(range(n))


def test_scores_are_drawn_as_scores():
    """roc_auc goes up."""
    result = Recipe(3, 2).run(knn(k=[1, 5, 9]), X, y, scoring="roc_auc")
    curve = curve_of(result)
    np.testing.assert_allclose(
        np.sort(curve.inner, axis=None), np.sort(-result.inner_curves, axis=None)
    )
    assert curve.levels["nested"] == result.score
    assert curve.ylabel == "ROC AUC (large is good)"


def test_where_nothing_is_chosen_there_is_no_curve():
    """One setting, or no inner splits."""
    assert curve_of(Recipe.external_cv(3).run(knn(k=3), X, y)) is None
    assert curve_of(Recipe(3, 2).run(knn(k=3), X, y)) is None


def test_a_setting_that_failed_leaves_a_gap():
    """NaN is not drawn, and breaks nothing."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    grid = {"pca__n_components": [1, 2, 40]}
    family = Family(make_pipeline(PCA(), Ridge()), grid)
    result = Recipe(3, 2).run(family, *numbers())
    curve = curve_of(result)
    assert np.isnan(curve.mean).any()
    parsed(draw_curve(curve))
    assert "<img" in result._repr_mimebundle_()[0]["text/html"]


def test_ticks_are_round_and_cover():
    """Around an interval, or inside it."""
    for low, high in [(0, 1), (0.013, 0.065), (-3, 7), (1e-9, 2e-9), (2900, 6100)]:
        ticks = nice_ticks(low, high)
        assert ticks[0] <= low < high <= ticks[-1]
        assert 3 <= len(ticks) <= 8
        assert all(low <= tick <= high for tick in nice_ticks(low, high, inside=True))
    assert nice_ticks(0.2, 0.2) == [0.2]
    tiny, huge = [(2e-17, 3e-17), (1e-13, 3e-13)], [(-5e-300, 5e-300), (1e300, 3e300)]
    for low, high in [*tiny, (1e6, 1e6 + 1e-3), *huge]:
        ticks = nice_ticks(low, high)
        assert ticks[0] <= low < high <= ticks[-1]
        assert len(set(tick_labels(ticks))) == len(ticks) >= 3
