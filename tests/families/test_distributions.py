"""Settings drawn from distributions: which they are, what is refused, what the result says."""

import pickle
import re

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import expon, geom, loguniform, norm, randint, uniform
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    ParameterSampler,
    RandomizedSearchCV,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from cvnb import Family, Recipe, ridge
from cvnb.errors import CvnbError, FamilyError
from cvnb.families.distributions import Range, distribution_text, ranges_of
from cvnb.inference import theta_report
from cvnb.pictures.curves import Ranking, curve_of
from cvnb.views.methods import methods_of

MIXED = {
    "C": loguniform(1e-3, 1e3),
    "gamma": [0.01, 0.1, "scale"],
    "degree": randint(1, 6),
}
LISTED = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
GRIDS = {
    "distributions and lists": MIXED,
    "lists alone": LISTED,
    "a list of dicts": [MIXED, {"kernel": ["linear"], "C": uniform(1, 2)}],
    "a list of dicts of lists": [LISTED, {"kernel": ["linear"], "C": [3.0]}],
    "an array": {"C": np.logspace(-2, 2, 9), "tol": uniform(1e-4, 1e-2)},
    "nothing": {},
}
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X @ [1.0, 0.5, 0.0] + rng.normal(size=60)


@pytest.mark.filterwarnings("ignore:The total space:UserWarning")  # of ParameterSampler
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@given(seed=st.integers(0, 2**32 - 2), n=st.integers(1, 12))
def test_random_draws_are_those_of_parameter_sampler(grid, seed, n):
    """In their order, with replacement only where there is a distribution."""
    family = Family(SVC(), grid, n=n, seed=seed)
    assert family.settings == list(ParameterSampler(grid, n, random_state=seed))


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 2), n=st.integers(1, 40))
def test_sobol_draws_are_repeated_by_their_seed(grid, seed, n):
    """Every draw lies in its list or range, and the first n do not depend on n."""
    draws = Family(SVC(), grid, n=n, draw="sobol", seed=seed).settings
    assert draws == Family(SVC(), grid, n=64, draw="sobol", seed=seed).settings[:n]
    grids = [grid] if isinstance(grid, dict) else grid
    for setting in draws:
        assert any(
            setting.keys() == one.keys()
            and all(_is_in(setting[key], values) for key, values in one.items())
            for one in grids
        )


def _is_in(value, values):
    if not hasattr(values, "support"):
        return any(type(value) is type(one) and value == one for one in values)
    low, high = values.support()
    is_whole = isinstance(value, int)
    return low <= value <= high and is_whole == hasattr(values, "pmf")


def test_sobol_points_fill_the_range_evenly():
    """Of 2^k points one lies in each of 2^k cells of equal probability, half in half a list."""
    grid = {"C": loguniform(1e-3, 1e3), "gamma": [0.1, 1.0]}
    points = Family(SVC(), grid, n=64, draw="sobol", seed=5).settings
    shares = loguniform(1e-3, 1e3).cdf([setting["C"] for setting in points])
    assert sorted((64 * shares).astype(int)) == list(range(64))
    assert sum(setting["gamma"] == 1.0 for setting in points) == 32
    assert points != Family(SVC(), grid, n=64, seed=5).settings
    many = Family(SVC(), [grid, {}], n=64, draw="sobol").settings
    assert sum(setting == {} for setting in many) == 32


def test_sobol_points_of_unbounded_distributions_are_finite():
    """A point at 0 is moved off the end, where ppf is infinite."""
    grid = {"C": expon(), "tol": norm(1, 0.1), "degree": geom(0.3)}
    for setting in Family(SVC(), grid, n=512, draw="sobol").settings:
        assert np.isfinite([setting["C"], setting["tol"], setting["degree"]]).all()
        assert setting["degree"] >= 1


class OnlyRvs:
    """All that ParameterSampler needs of a distribution."""

    def rvs(self, random_state=None):
        return float(check_random_state(random_state).randint(1, 9))


class NoState:
    def rvs(self):
        return 1.0


DRAWN = {"alpha": loguniform(1e-3, 1e3)}
REFUSED = {
    "a distribution without n": (
        DRAWN,
        {},
        "alpha=loguniform(0.001, 1000.0), a distribution; say how many settings to draw: "
        "Family(estimator, grid, n=60).",
    ),
    "no settings": (DRAWN, {"n": 0}, "n=0 must be a positive int"),
    "a fraction": (DRAWN, {"n": 2.5}, "n=2.5 must be a positive int"),
    "a bool": (DRAWN, {"n": True}, "n=True must be a positive int"),
    "a text": (DRAWN, {"n": "60"}, "n='60' must be a positive int"),
    "another draw": (
        DRAWN,
        {"n": 3, "draw": "halton"},
        "draw='halton' is not known; use 'random' or 'sobol'.",
    ),
    "no seed": (
        DRAWN,
        {"n": 3, "seed": None},
        "seed=None must be an int from 0 to 4294967294, so that every run has the same "
        "settings; use seed=0.",
    ),
    "a state": (DRAWN, {"n": 3, "seed": np.random.RandomState(0)}, "must be an int"),
    "a negative seed": (DRAWN, {"n": 3, "seed": -1}, "seed=-1 must be an int from 0"),
    "a seed without n": (
        {"alpha": [1.0]},
        {"seed": 3},
        "draw= and seed= are for settings that are drawn; give their number too",
    ),
    "no parameters": (
        {"alpha": loguniform},
        {"n": 3},
        "alpha=loguniform without its parameters; write them, such as loguniform(1e-3, 1e3).",
    ),
    "an empty range": (
        {"alpha": loguniform(2, 1)},
        {"n": 3},
        "alpha=loguniform(2, 1) cannot be drawn: Domain error",
    ),
    "an empty range by its points": (
        {"alpha": loguniform(2, 1)},
        {"n": 3, "draw": "sobol"},
        "alpha=loguniform(2, 1) cannot be drawn: Domain error",
    ),
    "no random state": (
        {"alpha": NoState()},
        {"n": 3},
        "alpha=NoState cannot be drawn",
    ),
    "no ppf": (
        {"alpha": OnlyRvs()},
        {"n": 3, "draw": "sobol"},
        "alpha=OnlyRvs has no ppf, which draw='sobol' needs; use draw='random'.",
    ),
    "n_iter": (DRAWN, {"n_iter": 3}, "Family takes no n_iter=; use n=."),
    "random_state": (
        DRAWN,
        {"n": 3, "random_state": 0},
        "Family takes no random_state=; use seed=.",
    ),
}


@pytest.mark.parametrize(("grid", "options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_is_refused(grid, options, words):
    """In one line that says what to type instead."""
    with pytest.raises(CvnbError, match=re.escape(words)):
        Family(Ridge(), grid, **options)


@pytest.mark.skipif(
    not hasattr(scipy.stats, "Uniform"), reason="SciPy before 1.15 has no Uniform"
)
def test_a_distribution_without_rvs_is_refused():
    """SciPy's newer kind, which scikit-learn cannot draw from."""
    with pytest.raises(FamilyError, match="a distribution without rvs"):
        Family(Ridge(), {"alpha": scipy.stats.Uniform(a=1.0, b=2.0)}, n=3)


def test_a_distribution_in_a_pair_or_a_short_hand_says_what_to_type():
    """A pair has no place for n, and a short-hand takes values."""
    with pytest.raises(FamilyError, match=r"Family\(estimator, grid, n=60\)"):
        Recipe(3, 2).run((Ridge(), DRAWN), X, y)
    words = r"draw them: loguniform\(0\.1, 3\)\.rvs\(60, random_state=0\)"
    with pytest.raises(FamilyError, match=words):
        ridge(alpha=loguniform(0.1, 3))
    assert ridge(alpha=loguniform(0.1, 3).rvs(60, random_state=0))


def test_a_drawn_value_that_the_estimator_refuses_is_named():
    """Before the first fit."""
    family = Family(KNeighborsRegressor(), {"n_neighbors": uniform(1, 5)}, n=3)
    with pytest.raises(FamilyError, match="n_neighbors"):
        Recipe(3, 2).run(family, X, y)


def test_the_repr_is_the_call_that_makes_the_family():
    """No addresses, defaults left out."""
    family = Family(Ridge(), DRAWN, "mine", n=6, draw="sobol", seed=np.int64(2))
    text = (
        "Family(Ridge(), {'alpha': loguniform(0.001, 1000.0)}, name='mine', n=6, "
        "draw='sobol', seed=2)"
    )
    assert repr(family) == text
    again = eval(text, {"Family": Family, "Ridge": Ridge, "loguniform": loguniform})
    assert again.settings == family.settings
    listed = Family(Ridge(), [DRAWN, {"alpha": [1.0]}], n=2)
    assert "[{'alpha': loguniform(0.001, 1000.0)}, {'alpha': [1.0]}], n=2" in repr(
        listed
    )
    assert pickle.loads(pickle.dumps(family)).settings == family.settings
    page = family._repr_mimebundle_()["text/html"]
    assert "loguniform(0.001, 1000.0)" in page
    assert "0x" not in repr(Family(Ridge(), {"alpha": OnlyRvs()}, n=2))
    assert distribution_text(uniform(loc=1, scale=np.float64(3))) == (
        "uniform(loc=1, scale=3.0)"
    )


def test_an_iterator_of_dicts_is_read_once():
    """The grid is there for the notes, too."""
    family = Family(Ridge(), iter([DRAWN, {"alpha": [1.0]}]), n=4)
    assert family.settings == Family(Ridge(), [DRAWN, {"alpha": [1.0]}], n=4).settings
    assert family.grid == [DRAWN, {"alpha": [1.0]}]


DRAWS = {
    "random": Family(Ridge(), DRAWN, n=12, seed=3),
    "sobol": Family(Ridge(), DRAWN, n=12, draw="sobol"),
    "keywords": Family(Ridge(), {"alpha": uniform(loc=0.5, scale=2)}, n=5),
    "several dicts": Family(
        Ridge(), [DRAWN, {"alpha": [1.0], "fit_intercept": [False]}], n=9
    ),
    "opened": Family(
        RandomizedSearchCV(Ridge(), DRAWN, n_iter=7, cv=3, random_state=4)
    ),
}


@pytest.mark.parametrize("family", DRAWS.values(), ids=DRAWS)
def test_the_code_of_a_result_draws_the_same_settings(family):
    """By the same call; the distribution is imported."""
    result = Recipe(4, 3).run(family, X, y)
    code = result.code()
    assert "from scipy.stats import" in code
    names = {"X": X, "y": y}
    exec(code, names)
    again = names["result"]
    assert again.settings == result.settings == family.settings
    assert again.fold_risks.tolist() == result.fold_risks.tolist()


def test_the_methods_name_the_draw():
    """The distribution, how many settings, how, and the seed."""
    words = methods_of(Recipe(4, 3).run(DRAWS["random"], X, y))
    assert "with 12 settings drawn at random (seed 3): alpha from loguniform(" in words
    words = methods_of(Recipe(4, 3).run(DRAWS["sobol"], X, y))
    assert "with 12 settings drawn as Sobol points (seed 0): alpha from" in words
    assert "the first drawn where several were equal" in words
    listed = methods_of(Recipe(4, 3).run(Family(Ridge(), {"alpha": [1.0, 2.0]}), X, y))
    assert "with 2 settings: alpha in {1, 2}." in listed
    assert "the first in the order of the grid where" in listed


SIDES = {
    "flat in the logarithm": (
        loguniform(1e-3, 1e3),
        {1e-3: "lower", 1.99e-3: "lower", 2.1e-3: "", 1.0: "", 490: "", 510: "upper"},
    ),
    "flat": (uniform(1, 100), {1.0: "lower", 5.9: "lower", 6.1: "", 96.1: "upper"}),
    "whole numbers": (randint(1, 5), {1: "lower", 2: "", 3: "", 4: "upper"}),
    "many whole numbers": (randint(0, 101), {5: "lower", 6: "", 95: "upper"}),
    "a list": ([1, 2, 3, 1000], {1: "lower", 2: "", 1000: "upper"}),
}


@pytest.mark.parametrize(("values", "sides"), SIDES.values(), ids=SIDES)
def test_the_outer_twentieth_of_a_range_is_its_edge(values, sides):
    """On the scale of the distribution; of a list only the end itself."""
    range = ranges_of([{"a": values}])["a"]
    assert {value: range.side(value) for value in sides} == sides


def test_what_has_no_two_finite_ends_has_no_edge():
    """Unbounded distributions, those without support, words, single values."""
    values = (norm(), expon(), geom(0.5), OnlyRvs(), ["a", "b"], [1.0], [True, False])
    for one in values:
        assert ranges_of([{"a": one}]) == {}
    both = ranges_of([{"a": loguniform(1, 10)}, {"a": [0.5, 2.0]}])
    assert both == {"a": Range(0.5, 10.0, True, 0.05)}
    flat = ranges_of([{"a": loguniform(1, 10)}, {"a": uniform(2, 1)}])
    assert flat == {"a": Range(1.0, 10.0, False, 0.05)}
    assert ranges_of([{"a": [0.0]}, {"a": loguniform(1, 10)}])["a"].is_log is False
    assert ranges_of([{"a": [3]}, {"a": [1, 2]}]) == {"a": Range(1, 3)}
    assert ranges_of([{"a": loguniform(1, 10)}, {"a": ["sqrt"]}]) == {}


def test_the_note_is_on_the_range_and_not_on_the_smallest_draw():
    """Noise wants the largest penalty; a choice of the smallest draw inside is no edge."""
    noise = np.random.default_rng(1).normal(size=60)
    near = Recipe(4, 3).run(Family(Ridge(), DRAWN, n=200), X, noise)
    note = next(note for note in near.notes if "range" in note)
    times = sum(setting["alpha"] >= 10**2.7 for setting in near.chosen)
    assert times
    assert note == (
        f"alpha near 1e+03, the upper edge of its range, was chosen in {times} of 4 outer "
        "splits."
    )
    report = theta_report(near)
    assert [(edge.side, edge.value) for edge in report.edges] == [("upper", 1000.0)]
    assert "alpha near 1000, the upper edge of its range: " in " ".join(
        report.sentences
    )
    inside = {"alpha": loguniform(1e-12, 1e12)}
    family = Family(Ridge(), inside, n=4, draw="sobol", seed=1)
    result = Recipe(4, 3).run(family, X, y)
    drawn = sorted(setting["alpha"] for setting in family.settings)
    chosen = {setting["alpha"] for setting in result.chosen}
    assert not any("edge" in note for note in result.notes)
    assert chosen <= set(drawn)


def test_fewer_listed_settings_than_n_are_noted():
    """All of them are tried, without a warning."""
    family = Family(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n=60)
    assert len(family.settings) == 3
    notes = Recipe(4, 3).run(family, X, y).notes
    assert "n=60, but the grid has 3 settings: all were tried." in notes


def test_ties_name_the_order_of_the_draw():
    """Two equal draws tie, and the first is taken."""
    family = Family(KNeighborsRegressor(), {"n_neighbors": randint(3, 5)}, n=8)
    result = Recipe(4, 3).run(family, X, y)
    assert any("the first that was drawn was taken" in note for note in result.notes)
    first = [family.settings.index(setting) for setting in result.chosen]
    assert result.chosen_index.tolist() == first


def test_a_curve_is_sorted_along_the_parameter_on_the_scale_of_its_distribution():
    """Several parameters have no axis: the settings by rank of their mean inner loss."""
    curve = curve_of(Recipe(4, 3).run(DRAWS["random"], X, y))
    assert (np.diff(curve.axis.x) > 0).all()
    assert curve.axis.log
    flat = Family(Ridge(), {"alpha": uniform(1e-3, 100)}, n=20)
    result = Recipe(4, 3).run(flat, X, y)
    assert not curve_of(result).axis.log
    assert result.curve_figure().data
    two = Family(
        ElasticNet(), DRAWN | {"l1_ratio": uniform(0.1, 0.9)}, n=6, draw="sobol"
    )
    result = Recipe(4, 3).run(two, X, y)
    curve = curve_of(result)
    assert isinstance(curve, Ranking)
    assert (np.diff(curve.mean) >= 0).all()
    assert curve.which[0] == result.inner_curves.mean(axis=0).argmin()
    assert curve.settings[0].startswith("alpha=")
    assert result._repr_mimebundle_()


SEARCHES = {
    "no state": (
        RandomizedSearchCV(Ridge(), DRAWN),
        "RandomizedSearchCV(random_state=None) draws other settings in every training part",
    ),
    "a state": (
        RandomizedSearchCV(Ridge(), DRAWN, random_state=np.random.RandomState(0)),
        "use random_state=0",
    ),
    "a rule": (
        RandomizedSearchCV(Ridge(), DRAWN, random_state=0, refit=len),
        "RandomizedSearchCV(refit=<function>) chooses by a rule of its own",
    ),
    "metrics": (
        RandomizedSearchCV(Ridge(), DRAWN, random_state=0, scoring=["r2"], refit="r2"),
        "RandomizedSearchCV(scoring=['r2']) has several metrics",
    ),
}


@pytest.mark.parametrize(("search", "words"), SEARCHES.values(), ids=SEARCHES)
def test_a_random_search_that_cannot_be_opened_says_why(search, words):
    """Nothing of it is silently left out."""
    with pytest.raises(FamilyError, match=re.escape(words)):
        Family(search)


@pytest.mark.parametrize(
    "search",
    [
        RandomizedSearchCV(Ridge(), DRAWN, random_state=0),
        GridSearchCV(Ridge(), {"alpha": [1.0]}),
    ],
)
@pytest.mark.parametrize("more", [{"grid": {"alpha": [1.0]}}, {"n": 3}])
def test_a_search_brings_its_own_grid(search, more):
    """A second grid, or a number of draws, is one too many."""
    with pytest.raises(FamilyError, match=f"a {type(search).__name__} brings its own"):
        Family(search, **more)
