"""The interactive figures: the numbers of the static pictures, small, readable in grey."""

import re
from collections import Counter

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.decomposition import PCA
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from cvnb import Family, Recipe, knn, ridge
from cvnb.figures import (
    comparison_figure,
    curve_figure,
    nest_figure,
    optimism_figure,
    theta_figure,
)
from cvnb.figures.nest import ROLES
from cvnb.inference import optimism, theta_report
from cvnb.pictures.curves import Surface, curve_of
from cvnb.pictures.split_map import nest_of, opened
from cvnb.results.scales import scale_of
from plans import PLANS, X, y

NAMES = {name: role for role, (name, _, _) in ROLES.items()}


def rows_of(figure, view):
    """{(line, role): number of rows} of one view of the menu."""
    menu = figure.layout.updatemenus
    visible = [True] * len(figure.data)
    if menu:
        visible = menu[0].buttons[view].args[0]["visible"]
    n_rows = Counter()
    for trace, shown in zip(figure.data, visible, strict=True):
        if shown and trace.name in NAMES:
            for line, size in zip(trace.y, trace.x, strict=True):
                n_rows[int(line), NAMES[trace.name]] += int(size)
    return n_rows


@pytest.mark.parametrize("case", PLANS)
def test_a_nest_map_has_the_rows_of_the_plan_in_every_view(case):
    """Test, inner test and training rows of every line are as many as in the plan."""
    plan = PLANS[case].plan(X, y)
    figure = nest_figure(plan)
    n_rows = rows_of(figure, 0)
    for line, bar in enumerate(nest_of(plan, 20).bars):
        train, test = plan.part(bar.split)
        n_test = test.size if plan.outer_layout is not None else 0
        assert n_rows[line, "test"] == n_test
        assert n_rows[line, "train"] + n_rows[line, "stripe"] == train.size
    if plan.inner_layouts is None:
        assert figure.layout.updatemenus == ()
        return
    assert len(figure.layout.updatemenus[0].buttons) == 1 + min(12, plan.n_parts)
    for j in range(min(3, plan.n_parts)):
        n_rows = rows_of(figure, 1 + j)
        for line, bar in enumerate(opened(plan, j, 20).bars[1:], start=1):
            train, dev = plan.inner[j][bar.inner]
            assert n_rows[line, "train"] == train.size
            assert n_rows[line, "dev"] == dev.size


def test_the_pointer_names_the_row_and_its_role():
    """On a small table every row has a shape of its own; its class is in a strip."""
    plan = Recipe(3, 2).plan(X, y)
    figure = nest_figure(plan)
    test = next(trace for trace in figure.data if trace.name == "test fold")
    named = [
        int(re.match(r"row (\d+)<br>fold 1: test fold$", text)[1])
        for text in test.hovertext[:20]
    ]
    assert sorted(named) == plan.outer[0][1].tolist()
    strip = next(trace for trace in figure.data if trace.name == "class")
    assert sum(strip.x) == 60
    assert re.search(r"class [01]$", strip.hovertext[0])


def test_one_split_can_be_shown_alone():
    """The inside of one outer split; an index out of range is an error."""
    result = Recipe(3, 2).run(knn(k=[1, 3]), X, y)
    figure = nest_figure(result, split=1)
    assert figure.layout.updatemenus == ()
    assert list(figure.layout.yaxis.ticktext) == [
        "class",
        "fold 2",
        "inner 1",
        "inner 2",
    ]
    with pytest.raises(
        ValueError, match="split=3 is no outer split; they are numbered 0 to 2"
    ):
        nest_figure(result, split=3)


def bands_of(plan):
    """name -> trace of each band above the first outer split."""
    return {
        band.name: band for band in nest_figure(plan, 0).data if band.name not in NAMES
    }


def test_bands_show_groups_and_time():
    """Groups if there are groups; time if the rows are in the order of time."""
    grouped = Recipe(3, 2).plan(X, y, groups=np.arange(60) // 4)
    assert list(bands_of(grouped)) == ["class", "group"]
    in_time = Recipe(3, 2, time_ordered=True, buffer=2).plan(X, y)
    bands = bands_of(in_time)
    assert list(bands) == ["class", "time"]
    assert sum(bands["time"].x) == 60


def test_many_short_runs_are_joined():
    """Their hover text names up to three groups, or both classes."""
    recipe = Recipe(3, 3, shuffle=False, stratify=False)
    many = Recipe(3, 2).plan(
        np.zeros((4000, 1)), np.arange(4000.0), groups=np.arange(4000) // 2
    )
    band = bands_of(many)["group"]
    assert len(band.x) <= 350
    assert sum(band.x) == 4000
    joined = r"group no. \d+, no. \d+, no. \d+ and \d+ more$"
    assert re.search(joined, band.hovertext[0])
    labels = np.array(["<=50K", ">50K"])[np.arange(3000) // 2 % 2]
    mixed = bands_of(recipe.plan(np.zeros((3000, 1)), labels))["class"]
    assert mixed.hovertext[0].endswith("class <=50K and >50K")


@pytest.mark.parametrize(
    "recipe",
    [Recipe(5, 5), Recipe("loo", None), Recipe.nested_resampling(), Recipe(10, 20)],
    ids=repr,
)
def test_ten_thousand_rows_are_less_than_two_megabytes(recipe):
    """Runs of rows are drawn as few shapes."""
    rng = np.random.default_rng(0)
    plan = recipe.plan(rng.normal(size=(10000, 2)), rng.integers(0, 2, 10000))
    assert len(nest_figure(plan).to_json()) < 2e6


def test_roles_differ_in_lightness_not_in_hue_alone():
    """In grey, on white and on black, any two roles of one line differ, or one of them is
    hatched."""

    lightness = np.array([0.299, 0.587, 0.114]) / 255

    def grey(colour, behind):
        if colour.startswith("#"):
            return lightness @ [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        *rgb, alpha = map(float, re.findall(r"[\d.]+", colour))
        return alpha * (lightness @ rgb) + (1 - alpha) * behind

    plain = [colour for _, colour, pattern in ROLES.values() if not pattern]
    for behind in (0.0, 1.0):
        greys = sorted(grey(colour, behind) for colour in plain)
        assert min(np.diff(greys)) > 0.09
    hatched = [pattern for _, _, pattern in ROLES.values() if pattern]
    assert len(set(hatched)) == len(hatched)


def lines(trace):
    """[curves, points] of a trace that holds several curves, a gap after each."""
    x, y = np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)
    curves = np.split(y, np.flatnonzero(np.isnan(x)) + 1)[:-1]
    return np.array([curve[:-1] for curve in curves])


def test_a_curve_figure_has_the_numbers_of_the_result():
    """Inner curves, their mean and band, choices, outer curves, levels, all in percent."""
    result = Recipe(5, 3).run(knn(k=[9, 1, 5]), X, y)
    by_name = {trace.name: trace for trace in result.curve_figure().data}
    inner = lines(by_name["each fold's inner curve"])
    np.testing.assert_allclose(inner, 100 * result.inner_curves[:, [1, 2, 0]])
    texts = by_name["each fold's inner curve"].hovertext
    written = scale_of(result).write(result.inner_curves[1, 2])
    assert texts[5] == f"<b>k=5</b>: {written} (inside fold 2)"
    mean = by_name["mean of folds"].y
    np.testing.assert_allclose(mean, inner.mean(axis=0))
    outer = by_name["each fold's test error"]
    np.testing.assert_allclose(lines(outer), 100 * result.outer_curves[:, [1, 2, 0]])
    assert outer.visible == "legendonly"
    band = by_name["± 1 sd of the 5 folds"].y
    np.testing.assert_allclose(band, inner.mean(0) + inner.std(0, ddof=1))
    chosen = by_name["chosen in each fold"]
    assert list(chosen.x) == [setting["k"] for setting in result.chosen]
    np.testing.assert_allclose(
        chosen.y, 100 * result.inner_curves[np.arange(5), result.chosen_index]
    )
    one_se = Recipe(5, 3).run(knn(k=[9, 1, 5]), X, y, select="one_se")
    marks = by_name["one-standard-error choice"].x
    assert list(marks) == [setting["k"] for setting in one_se.chosen]
    write = scale_of(result).write
    for name, loss in {"same folds": result.flat, "nested": result.risk}.items():
        level = by_name[f"{name} {write(loss)}"]
        np.testing.assert_allclose(level.y, 100 * loss)
        assert f" {level.name}" in by_name["labels"].text
    assert result.curve_figure().layout.yaxis.ticksuffix == " %"


def test_every_curve_has_the_same_traces():
    """A widget can update them: a missing curve is an empty trace without a legend entry."""
    cases = [
        Recipe(5, 3),
        Recipe.cv_test(inner=3),
        Recipe.internal_cv(3),
        Recipe.nested_resampling(3, 2),
    ]
    figures = [recipe.run(knn(k=[1, 5]), X, y).curve_figure() for recipe in cases]
    assert len({len(figure.data) for figure in figures}) == 1
    internal = {trace.name: trace for trace in figures[2].data}
    assert len(internal["nested"].x) == 0
    assert not internal["nested"].showlegend


def test_many_outer_splits_are_drawn_in_part():
    """The first curves of leave-one-out are drawn, as named; the mean is that of all."""
    result = Recipe("loo", 3).run(knn(k=[1, 5]), X, y + np.arange(60) % 2)
    by_name = {trace.name: trace for trace in result.curve_figure().data}
    assert len(lines(by_name["each fold's inner curve"])) == 60
    bigger = Recipe("loo", 3).run(knn(k=[1, 5]), np.vstack([X, X + 1]), np.append(y, y))
    by_name = {trace.name: trace for trace in bigger.curve_figure().data}
    inner = by_name["each fold's inner curve (the first 60 of 120)"]
    assert len(lines(inner)) == 60
    mean = by_name["mean of folds"].y
    np.testing.assert_allclose(mean, 100 * bigger.inner_curves.mean(axis=0))


def test_a_log_grid_is_drawn_on_a_log_axis_and_words_on_an_axis_of_words():
    """As in the static picture."""
    figure = Recipe(3, 3).run(ridge(), X, X[:, 0]).curve_figure()
    assert figure.layout.xaxis.type == "log"
    family = Family(SVC(), {"kernel": ["rbf", "linear"]})
    figure = Recipe(3, 2).run(family, X, y).curve_figure()
    assert list(figure.layout.xaxis.ticktext) == ["rbf", "linear"]


def test_a_grid_of_two_parameters_is_a_heat_map():
    """Cells are mean inner losses; circles count the choices."""
    family = Family(SVC(), {"gamma": [0.1, 1.0], "C": [10, 0.1, 1]})
    result = Recipe(4, 2).run(family, X, y)
    curve = curve_of(result)
    assert isinstance(curve, Surface)
    assert (curve.x.name, curve.y.name, curve.times.sum()) == ("C", "gamma", 4)
    heat, dots = result.curve_figure().data
    for s, setting in enumerate(result.settings):
        row = [0.1, 1.0].index(setting["gamma"])
        column = [0.1, 1, 10].index(setting["C"])
        loss = result.inner_curves[:, s].mean()
        assert heat.z[row][column] == pytest.approx(100 * loss)
        assert curve.times[row, column] == list(result.chosen_index).count(s)
        name = f"gamma={setting['gamma']:g}, C={setting['C']:g}"
        assert heat.text[row][column] == f"{name}: {scale_of(result).write(loss)}"
    assert sum(map(int, dots.text)) == 4


def test_the_best_cell_has_the_largest_score():
    """Large scores are good."""
    family = Family(SVC(), {"gamma": [0.1, 1.0], "C": [10, 0.1]})
    surface = curve_of(Recipe(4, 2).run(family, X, y, scoring="roc_auc"))
    best = np.unravel_index(np.argmax(surface.goodness), (2, 2))
    assert surface.mean[best] == surface.mean.max()


@pytest.mark.parametrize(
    "grid",
    [
        {"C": [1, 10], "gamma": [0.1, 1.0], "kernel": ["rbf", "poly"]},
        [{"C": [1, 10]}, {"gamma": [0.1]}],
        [{"C": [1, 10], "gamma": [0.1]}, {"C": [1], "gamma": [1.0]}],
    ],
)
def test_other_grids_are_a_list_of_settings_the_best_first(grid):
    """Three parameters, lists of grids, a grid with a hole: names, losses, choices."""
    result = Recipe(3, 2).run(Family(SVC(), grid), X, y)
    (dots,) = result.curve_figure().data
    losses = result.inner_curves.mean(axis=0)
    np.testing.assert_allclose(dots.x, 100 * np.sort(losses))
    order = np.argsort(losses, kind="stable")
    names = [note.text for note in result.curve_figure().layout.annotations]
    for place, s in enumerate(order):
        (name, value), *_ = result.settings[s].items()
        assert f"{name}={value}" in names[place]
        times = list(result.chosen_index).count(s)
        assert dots.text[place] == (str(times) if times else "")
        assert ("chosen in" in dots.hovertext[place]) == bool(times)


def test_a_long_list_of_settings_shows_the_best_and_every_choice():
    """Of sixty settings, those chosen are shown however far down they are."""
    grid = {
        "C": np.geomspace(0.01, 10, 15),
        "gamma": [0.1, 1.0],
        "kernel": ["rbf", "poly"],
    }
    result = Recipe(4, 2).run(Family(SVC(), grid), X, y)
    ranking = curve_of(result)
    chosen = set(np.flatnonzero(ranking.times).tolist())
    shown = ranking.shown(5)
    assert len(shown) == 5
    assert set(shown) >= chosen
    assert set(shown) - chosen == set(
        [place for place in range(60) if place not in chosen][: 5 - len(chosen)]
    )
    assert len(result.curve_figure().data[0].x) == 15


def test_a_setting_that_failed_leaves_a_gap():
    """NaN in the curve."""
    grid = {"pca__n_components": [1, 2, 40]}
    family = Family(make_pipeline(PCA(), Ridge()), grid)
    figure = Recipe(3, 2).run(family, X, X[:, 0]).curve_figure()
    assert np.isnan(mean_of(figure).y).tolist() == [False, False, True]


def mean_of(figure):
    """The trace of the mean inner curve."""
    return next(t for t in figure.data if t.name == "mean of folds")


def test_without_a_choice_there_is_no_curve():
    """An error explains why; the nest map exists."""
    result = Recipe.external_cv(3).run(knn(k=3), X, y)
    message = "there is no curve: nothing was chosen among several settings"
    with pytest.raises(ValueError, match=message):
        curve_figure(result)
    assert result.nest_figure().data


def test_figures_are_deterministic():
    """No random ids."""
    one, two = (Recipe(3, 2).run(knn(k=[1, 3]), X, y) for _ in range(2))
    assert one.nest_figure().to_json() == two.nest_figure().to_json()
    assert one.curve_figure().to_json() == two.curve_figure().to_json()


def test_a_comparison_is_drawn_as_paired_fold_losses():
    """One line for each split over the families, and their means."""
    comparison = Recipe(4, 2).run({"near": knn(k=[1, 3]), "far": knn(k=[15, 21])}, X, y)
    folds, means = comparison_figure(comparison).data
    expected = np.column_stack([result.fold_risks for result in comparison.values()])
    np.testing.assert_allclose(lines(folds), 100 * expected)
    assert folds.hovertext[4].startswith("<b>far</b>, fold 2: ")
    np.testing.assert_allclose(
        means.y, [100 * result.risk for result in comparison.values()]
    )
    with pytest.raises(
        TypeError, match="takes a Comparison of several families, got RiskEstimate"
    ):
        comparison_figure(comparison["near"])
    inside = Recipe.internal_cv(3).run({"a": knn(k=[1]), "b": knn(k=[3])}, X, y)
    with pytest.raises(ValueError, match="there are no fold losses to compare"):
        comparison_figure(inside)


def test_optimism_is_drawn_with_the_numbers_of_its_report():
    """Each estimate once, BBC-CV with its interval; scores as scores."""
    result = Recipe(5, 3).run(knn(k=[1, 5, 9]), X, y)
    report = optimism(result)
    shown = {trace.name.split(" (")[0]: trace for trace in optimism_figure(result).data}
    values = {name: trace.x[0] for name, trace in shown.items()}
    expected = {
        "same folds": report.flat,
        "Tibshirani–Tibshirani": report.tibshirani,
        "BBC-CV": report.bbc.estimate,
        "nested": report.nested,
    }
    assert values == pytest.approx({name: 100 * x for name, x in expected.items()})
    error = shown["BBC-CV"].error_x
    upper, lower = (
        report.bbc.high - report.bbc.estimate,
        report.bbc.estimate - report.bbc.low,
    )
    assert error.array[0] == pytest.approx(100 * upper)
    assert error.arrayminus[0] == pytest.approx(100 * lower)
    scored = Recipe(5, 3).run(knn(k=[1, 5, 9]), X, y, scoring="roc_auc")
    values = [trace.x[0] for trace in optimism_figure(scored).data]
    assert values[0] == pytest.approx(-optimism(scored).flat)


def test_choices_are_drawn_as_regret_or_as_counts():
    """Regret if the outer losses of all settings are known, else the number of choices."""
    result = Recipe(4, 2).run(knn(k=[1, 5, 9]), X, y)
    (heat,) = theta_figure(result).data
    np.testing.assert_allclose(heat.z, 100 * theta_report(result).regret)
    unmeasured = Recipe(4, 2).run(Family(SVC(), {"C": [0.01, 10]}), X, X[:, 1] > 0)
    if theta_report(unmeasured).regret is None:
        (bars,) = theta_figure(unmeasured).data
        assert sum(bars.x) == 4
    counted = Recipe.internal_cv(3).run(knn(k=[1, 5, 9]), X, y)
    (bars,) = theta_figure(counted).data
    assert list(bars.x) == [1]
    assert list(bars.hovertext) == [f"k={counted.chosen[0]['k']}"]


def test_settings_drawn_from_several_ranges_are_dots_over_each_parameter():
    """Each dot is a setting at its own value and mean inner loss; what was chosen is dark."""
    family = Family(
        ElasticNet(),
        [
            {"alpha": loguniform(1e-3, 1e3), "l1_ratio": uniform(0.1, 0.9)},
            {"alpha": [1.0], "selection": ["cyclic", "random"], "random_state": [0]},
        ],
        n=12,
        seed=3,
    )
    result = Recipe(4, 3).run(family, X, X[:, 0])
    figure = result.curve_figure()
    titles = [axis.title.text for axis in figure.select_xaxes() if axis.title.text]
    assert titles == ["alpha", "l1_ratio", "selection"]
    assert [axis.type for axis in figure.select_xaxes()][:2] == ["log", "linear"]
    mean = result.inner_curves.mean(axis=0)
    chosen = set(result.chosen_index.tolist())
    for place, key in enumerate(titles[:2]):
        never, some = figure.data[2 * place : 2 * place + 2]
        for trace, is_chosen in ((never, False), (some, True)):
            own = [
                (setting[key], mean[s])
                for s, setting in enumerate(result.settings)
                if key in setting and (s in chosen) == is_chosen
            ]
            assert list(zip(trace.x, trace.y, strict=True)) == own
    assert [trace.showlegend for trace in figure.data] == [True, True] + 4 * [False]
    assert "chosen in 0 splits" in figure.data[0].hovertext[0]


def test_one_drawn_parameter_keeps_its_curve():
    """It has an axis."""
    one = Family(ElasticNet(), {"alpha": loguniform(1e-3, 1e3)}, n=6)
    names = [t.name for t in Recipe(4, 3).run(one, X, X[:, 0]).curve_figure().data]
    assert "mean of folds" in names
