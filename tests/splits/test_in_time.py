"""Forward splits, times of rows, and buffers in time, at both levels."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

import cvnb
from cvnb import Family, Plan, Recipe, Resampling, knn, ridge
from cvnb.errors import (
    DataError,
    InfeasibleError,
    InputError,
    RecipeError,
    WrongTypeError,
)
from cvnb.pictures.split_map import nest_of, opened
from cvnb.splits.layouts import Pairs
from cvnb.studies import learning_curve, null_test, over_seeds
from cvnb.views.methods import methods_of

N = 120
DAYS = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) // 2, unit="D")


def rows(n_rows=N):
    rng = np.random.default_rng(3)
    return rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows)


def shuffled_days():
    """Two rows a day, in an order of their own."""
    return DAYS[np.random.default_rng(5).permutation(N)]


def levels(plan):
    """(rows to split, (train, test)) of every split of both levels."""
    for j in range(plan.n_parts):
        if len(plan.outer):
            yield np.arange(plan.n_rows), plan.outer[j]
        for pair in plan.inner[j]:
            yield plan.part(j)[0], pair


# Forward


@pytest.mark.parametrize("n_rows", [97, 120, 131])
@pytest.mark.parametrize("gap", [0, 1, 3])
def test_forward_folds_are_those_of_time_series_split(n_rows, gap):
    """At both levels, with the buffer as its gap."""
    X, y = rows(n_rows)
    plan = Recipe(outer=4, inner=3, time_ordered="forward", buffer=gap).plan(X, y)
    outer = TimeSeriesSplit(4, gap=gap).split(X)
    for j, (train, test) in enumerate(outer):
        assert np.array_equal(plan.outer[j][0], train)
        assert np.array_equal(plan.outer[j][1], test)
        inner = TimeSeriesSplit(3, gap=gap).split(train)
        for own, (a, b) in zip(plan.inner[j], inner, strict=True):
            assert np.array_equal(own[0], train[a])
            assert np.array_equal(own[1], train[b])
    assert plan.audit().ok


def test_a_forward_run_equals_grid_searches_on_time_series_splits():
    """The chosen settings and the risk are scikit-learn's."""
    X, y = rows()
    y = y + X @ [1.0, -2.0, 0.5]
    grid = {"alpha": [0.1, 10.0, 1000.0]}
    recipe = Recipe(outer=4, inner=3, time_ordered="forward", buffer=2)
    result = recipe.run(Family(Ridge(), grid), X, y)
    for j, (train, test) in enumerate(TimeSeriesSplit(4, gap=2).split(X)):
        search = GridSearchCV(
            Ridge(),
            grid,
            cv=TimeSeriesSplit(3, gap=2),
            scoring="neg_mean_squared_error",
        ).fit(X[train], y[train])
        assert result.chosen[j] == search.best_params_
        loss = np.mean((search.predict(X[test]) - y[test]) ** 2)
        assert np.isclose(result.fold_risks[j], loss, rtol=1e-9)


@pytest.mark.parametrize("time_ordered", [True, "forward"])
def test_a_share_is_the_last_rows_in_both_designs(time_ordered):
    """The buffer lies in front of them."""
    X, y = rows()
    plan = Recipe(0.25, 0.2, time_ordered=time_ordered, buffer=4).plan(X, y)
    assert np.array_equal(plan.outer[0][1], np.arange(90, 120))
    assert np.array_equal(plan.outer[0][0], np.arange(86))
    assert np.array_equal(plan.inner[0][0][1], np.arange(68, 86))
    assert np.array_equal(plan.inner[0][0][0], np.arange(64))
    assert plan.audit().ok


def test_forward_with_given_rows_trains_on_older_ones_only():
    """test_rows= and dev_rows= in the middle: nothing newer trains."""
    X, y = rows()
    test, dev = np.arange(60, 80), np.arange(40, 50)
    recipe = Recipe(test_rows=test, dev_rows=dev, time_ordered="forward", buffer=2)
    plan = recipe.plan(X, y)
    assert np.array_equal(plan.outer[0][0], np.arange(58))
    assert np.array_equal(plan.inner[0][0][0], np.arange(38))
    assert plan.audit().ok


def test_forward_groups_are_not_cut():
    """Boundaries move to the nearest end of a group."""
    X, y = rows()
    groups = np.repeat(np.arange(24), 5)
    plan = Recipe(outer=4, inner=2, time_ordered="forward").plan(X, y, groups=groups)
    assert plan.audit().ok
    for _, (train, test) in levels(plan):
        assert not set(groups[train]) & set(groups[test])
        assert train.max() < test.min()


def test_contiguous_blocks_tell_that_later_rows_predict_earlier_ones():
    """In the words of the plan; forward needs no such words."""
    X, y = rows()
    blocks = Recipe(3, 2, time_ordered=True).plan(X, y)
    assert blocks.words == (
        "3-fold CV in blocks of time (later rows predict earlier ones), "
        "inside each training part 2-fold CV in blocks of time"
    )
    forward = Recipe(3, 2, time_ordered="forward").plan(X, y)
    assert (
        forward.words
        == "3-step forward CV, inside each training part 2-step forward CV"
    )
    assert forward.in_time
    assert Recipe(3, 2, time_ordered="forward").name == "nested CV, forward in time"
    assert Recipe(3, 2, time_ordered=True).name == "nested CV"
    assert Recipe.validation(time_ordered="forward").name == "validation on a test set"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"outer": "loo"}, "outer='loo' tests the oldest row too"),
        ({"inner": "loo"}, "inner='loo' tests the oldest row too"),
        ({"inner": Resampling(5, 0.2)}, "time_ordered='forward' forbids"),
        ({"stratify": True}, "with time_ordered='forward' use stratify='auto'"),
        ({"outer": TimeSeriesSplit(3)}, "does not touch outer="),
        ({"time_ordered": "backward"}, "must be True or False, or 'forward'"),
    ],
)
def test_what_forward_cannot_be_combined_with(options, words):
    """Refused when the recipe is made."""
    with pytest.raises(RecipeError, match=words):
        Recipe(**{"time_ordered": "forward"} | options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"outer": 120},
            "120 outer folds need 121 rows, but there are 120; use outer<=119",
        ),
        (
            {"outer": 5, "inner": 30},
            "30 inner folds need 31 rows, but outer training part 0 has 20",
        ),
        (
            {"outer": 5, "buffer": 20},
            "outer training part 0 has 0 rows|has an empty part",
        ),
    ],
)
def test_too_many_forward_steps_are_refused(options, words):
    """Before anything is fitted."""
    X, y = rows()
    with pytest.raises(InfeasibleError, match=words):
        Recipe(time_ordered="forward", **options).plan(X, y)


def test_a_forward_dev_set_larger_than_the_oldest_part_tells_what_to_type():
    """The oldest training part is about as large as a test part."""
    X, y = rows()
    with pytest.raises(InfeasibleError, match=r"use inner=0\.2, a share of it"):
        Recipe.nested_dev(outer=5, time_ordered="forward").plan(X, y)


# Times


@pytest.mark.parametrize("time_ordered", [True, "forward"])
@pytest.mark.parametrize("buffer", [0, 2, "2D"])
def test_rows_in_another_order_get_the_splits_of_sorted_rows(time_ordered, buffer):
    """Row numbers stay those of X; sorted by time the splits are equal."""
    X, y = rows()
    rng = np.random.default_rng(0)
    when = DAYS[:N:2].repeat(1)  # one row a day
    X, y = X[: len(when)], y[: len(when)]
    recipe = Recipe(outer=4, inner=2, time_ordered=time_ordered, buffer=buffer)
    in_order = recipe.plan(X, y, times=when)
    mixed = rng.permutation(len(when))  # mixed[i]: the sorted row that is row i now
    plan = recipe.plan(X[mixed], y[mixed], times=when[mixed])
    both = zip(levels(plan), levels(in_order), strict=True)
    for (_, (train, test)), (_, (sorted_train, sorted_test)) in both:
        assert np.array_equal(np.sort(mixed[train]), sorted_train)
        assert np.array_equal(np.sort(mixed[test]), sorted_test)
        assert np.array_equal(train, np.sort(train))


@pytest.mark.parametrize("time_ordered", [True, "forward"])
def test_times_in_order_change_nothing(time_ordered):
    """Distinct increasing times and a buffer of rows: as without times."""
    X, y = rows()
    recipe = Recipe(outer=4, inner=3, time_ordered=time_ordered, buffer=2)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) ** 2, unit="h")
    assert recipe.plan(X, y, times=when) == recipe.plan(X, y)
    numbered = recipe.plan(X, y, times=np.arange(N))
    assert numbered.outer == recipe.plan(X, y).outer
    # inside contiguous blocks rows are counted across the outer test part, time is not
    assert (numbered == recipe.plan(X, y)) is (time_ordered == "forward")


@pytest.mark.parametrize("time_ordered", [True, "forward"])
@pytest.mark.parametrize("level", [0.2, 3])
def test_rows_of_equal_time_stay_together(time_ordered, level):
    """In every split of both levels."""
    X, y = rows()
    when = np.random.default_rng(1).integers(0, 25, N)
    plan = Recipe(outer=4, inner=level, time_ordered=time_ordered).plan(
        X, y, times=when
    )
    for _, (train, test) in levels(plan):
        assert not set(when[train]) & set(when[test])
    assert plan.audit().ok


@pytest.mark.parametrize(
    "buffer",
    [
        "3D",
        "72h",
        np.timedelta64(3, "D"),
        np.timedelta64(72, "h"),
        pd.Timedelta("3 days"),
        datetime.timedelta(days=3),
    ],
    ids=str,
)
@pytest.mark.parametrize("time_ordered", [True, "forward"])
def test_a_duration_is_measured_in_time(time_ordered, buffer):
    """Exactly the rows at most three days away are left out: on both sides, or before."""
    X, y = rows()
    when = shuffled_days()
    day = ((when - when.min()) // pd.Timedelta("1D")).to_numpy()
    recipe = Recipe(outer=3, inner=2, time_ordered=time_ordered, buffer=buffer)
    assert recipe == Recipe(3, 2, time_ordered=time_ordered, buffer="3D")
    assert "buffer='3D'" in repr(recipe)
    plan = recipe.plan(X, y, times=when)
    for among, (train, test) in levels(plan):
        expected = [
            row
            for row in among
            if row not in set(test)
            and min(abs(day[row] - day[t]) for t in test) > 3
            and (time_ordered is True or day[row] < day[test].min())
        ]
        assert train.tolist() == expected
    assert plan.audit().ok


def test_a_number_is_a_buffer_in_the_units_of_numeric_times():
    """2.5 hours, where times are in hours."""
    X, y = rows()
    when = np.random.default_rng(2).uniform(0, 100, N)
    plan = Recipe(outer=4, inner=2, time_ordered=True, buffer=2.5).plan(
        X, y, times=when
    )
    for among, (train, test) in levels(plan):
        near = np.abs(when[among][:, None] - when[test]).min(axis=1) <= 2.5
        assert np.array_equal(train, among[~near])
    assert "2.5 units of time" in plan.timing.words


def naive_forward(when, K, gap):
    """Steps over distinct times, by loops."""
    order = sorted(range(len(when)), key=lambda row: (when[row], row))
    size = len(when) // (K + 1)
    ends = [c for c in range(1, len(when)) if when[order[c - 1]] < when[order[c]]]
    wanted = [len(when) - size * (K - k) for k in range(K)]
    cuts = [min(ends, key=lambda end, cut=cut: (abs(end - cut), end)) for cut in wanted]
    for start, stop in zip(cuts, [*cuts[1:], len(when)], strict=True):
        test = sorted(order[start:stop])
        first = min(when[t] for t in test)
        yield [row for row in range(len(when)) if first - when[row] > gap], test


@pytest.mark.parametrize("gap", [0, 2.5])
def test_forward_splits_of_tied_times_equal_a_naive_loop(gap):
    """Boundaries go to the nearest change of time, the earlier of two equally near."""
    X, y = rows()
    when = np.random.default_rng(8).integers(0, 40, N).astype(float)
    plan = Recipe(5, None, time_ordered="forward", buffer=gap).plan(X, y, times=when)
    expected = list(naive_forward(when.tolist(), 5, gap))
    assert [(a.tolist(), b.tolist()) for a, b in plan.outer] == expected


def test_leave_one_out_of_times_leaves_one_time_out():
    """A unit is a moment; the buffer is in time."""
    X, y = rows()
    when = shuffled_days()
    plan = Recipe("loo", None, time_ordered=True, buffer="1D").plan(X, y, times=when)
    assert len(plan.outer) == 60
    for train, test in plan.outer:
        assert len(set(when[test])) == 1
        assert (abs(when[train] - when[test][0]) > pd.Timedelta("1D")).all()


def test_groups_that_overlap_in_time_are_one_unit():
    """Two groups with rows of the same days cannot be parted, those after them can."""
    X, y = rows(40)
    when = np.arange(40)
    groups = np.concatenate([np.tile([0, 1], 5), np.repeat([2, 3, 4], 10)])
    plan = Recipe(4, None, time_ordered=True).plan(X, y, groups=groups, times=when)
    assert [test.tolist()[0] for _, test in plan.outer] == [0, 10, 20, 30]
    assert plan.audit().ok
    words = (
        "5 outer folds need 5 separate times of groups, but there are 4; use outer<=4"
    )
    with pytest.raises(InfeasibleError, match=words):
        Recipe(5, None, time_ordered=True).plan(X, y, groups=groups, times=when)


KINDS = {
    "days": DAYS.to_numpy().astype("datetime64[D]"),
    "series": pd.Series(DAYS),
    "time zone": pd.Series(DAYS.tz_localize("Europe/Berlin")),
    "periods": pd.Series(DAYS.to_period("D")),
    "dates": [day.date() for day in DAYS],
    "stamps": list(DAYS),
    "seconds": DAYS.to_numpy().astype("datetime64[s]"),
    "numbers": (np.arange(N) // 2).astype(np.float32),
    "objects": [int(day) for day in np.arange(N) // 2],
    "small": (np.arange(N) // 2).astype(np.uint8),
}


@pytest.mark.parametrize("kind", KINDS)
def test_dates_of_every_kind_give_the_same_splits(kind):
    """Whatever holds them; two days are two units of plain numbers."""
    X, y = rows()
    numeric = kind in ("numbers", "objects", "small")
    buffer = 2 if numeric else "2D"
    plan = Recipe(4, 2, time_ordered="forward", buffer=buffer).plan(
        X, y, times=KINDS[kind]
    )
    expected = Recipe(4, 2, time_ordered="forward", buffer="2D").plan(X, y, times=DAYS)
    assert plan == expected
    assert Plan.from_json(plan.to_json()).audit().ok


def test_a_duration_finer_than_the_dates_counts_whole_days():
    """Dates by the day, a buffer of 36 hours: rows one day away are left out, two days are not."""
    X, y = rows()
    when = KINDS["days"]
    hours = Recipe(4, 2, time_ordered=True, buffer="36h").plan(X, y, times=when)
    assert hours == Recipe(4, 2, time_ordered=True, buffer="1D").plan(X, y, times=when)


def test_a_string_names_the_column_of_times():
    """X then lacks it, a note says so, and code() writes the name."""
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["day"] = shuffled_days()
    recipe = Recipe(4, 2, time_ordered="forward", buffer="1D")
    result = recipe.run(ridge(), frame, y, times="day")
    plain = recipe.run(ridge(), frame[list("abc")], y, times=frame["day"])
    assert result.plan == plain.plan
    assert result.risk == plain.risk
    assert "Column 'day' of X holds the times: it is no feature." in result.notes
    assert "times='day'" in result.code()
    assert "times=times" in plain.code()
    again = {"X": frame[list("abc")], "y": y, "times": frame["day"]}
    exec(plain.code(), again)
    assert again["result"].risk == plain.risk


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (
            DAYS.astype(str),
            r"holds text \('2024-01-01'\).*times=pandas.to_datetime\(times\)",
        ),
        (list(DAYS.astype(str)), "holds text"),
        (np.ones(N, bool), "times holds bool"),
        (np.full(N, np.nan), "times has no value in 120 rows"),
        (np.r_[np.arange(N - 1.0), np.inf], "times must be finite"),
        (DAYS.where(DAYS[3] < DAYS), r"no value \(NaT\) in row 0"),
        (np.arange(N - 1), "X has 120 rows but times has 119"),
        (np.arange(2 * N).reshape(N, 2), "times must be a 1d array"),
        (DAYS - DAYS[0], "times holds durations"),
        ([1, *DAYS[1:]], "one kind for all rows"),
        (np.arange(N) + (2**63 - 200), "too large for differences"),
        (np.ones(N, complex), "times holds complex128"),
        ("day", "names a column, but X is no DataFrame"),
    ],
)
def test_bad_times_are_refused_with_what_to_type(times, words):
    """Before anything is split."""
    X, y = rows()
    with pytest.raises(DataError, match=words):
        Recipe(time_ordered=True).plan(X, y, times=times)


class Unfittable(Ridge):
    """Fails the test if anything fits it."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted")


@pytest.mark.parametrize(
    ("options", "times", "words"),
    [
        ({}, DAYS, "times= orders the rows in time, .* add time_ordered=True"),
        ({"outer": TimeSeriesSplit(3)}, DAYS, "times= orders the rows in time"),
        (
            {"time_ordered": True, "buffer": "3D"},
            None,
            "is a duration and needs the time",
        ),
        ({"time_ordered": True, "buffer": 1.5}, None, "must be a whole number of rows"),
        (
            {"time_ordered": True, "buffer": "3D"},
            np.arange(N),
            "times holds plain numbers",
        ),
        (
            {"time_ordered": True, "buffer": 2.5},
            DAYS,
            "has no unit, and times holds dates",
        ),
        ({"time_ordered": True}, np.zeros(N), "rows of one time cannot be split"),
        ({"time_ordered": True, "outer": 61}, DAYS, "61 outer folds need 61 times"),
        (
            {"time_ordered": "forward", "outer": 60},
            DAYS,
            "need 61 times, .* use outer<=59",
        ),
        ({"time_ordered": True, "buffer": "90D"}, DAYS, "has 0 rows|empty part"),
        (
            {"time_ordered": True, "outer": 0.2, "buffer": "90D"},
            DAYS,
            "90 days: no row is left",
        ),
    ],
)
def test_times_and_buffers_that_cannot_be_are_refused(options, times, words):
    """With zero fits made."""
    X, y = rows()
    family = Family(Unfittable(), {"alpha": [1.0, 2.0]})
    with pytest.raises((RecipeError, InfeasibleError), match=words):
        Recipe(**options).run(family, X, y, times=times)


@pytest.mark.parametrize(
    "buffer",
    [
        "3 dyas",
        "3",
        "",
        "D",
        "3M",
        "1Y",
        "-3D",
        np.timedelta64(3, "M"),
        np.timedelta64(3),
        np.timedelta64("NaT"),
        pd.Timedelta("-1D"),
        pd.NaT,
        float("inf"),
        -0.5,
        [3],
    ],
    ids=repr,
)
def test_a_buffer_that_is_no_length_is_refused(buffer):
    """When the recipe is made."""
    with pytest.raises(RecipeError, match="buffer"):
        Recipe(time_ordered=True, buffer=buffer)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("3 days", "3D"),
        ("2W", "14D"),
        ("1h30min", "90min"),
        ("1500ms", "1500ms"),
        ("24 hours", "1D"),
        ("1 Hour", "1h"),
        ("60s", "1min"),
        ("7us", "7us"),
    ],
)
def test_durations_are_kept_in_their_shortest_form(text, kept):
    """So equal lengths are equal recipes."""
    recipe = Recipe(time_ordered=True, buffer=text)
    assert recipe.buffer == kept
    assert eval(repr(recipe)) == recipe
    assert pd.Timedelta(text) == pd.Timedelta(kept)


def test_nested_cv_takes_times_with_their_design():
    """One call; without time_ordered it is refused."""
    X, y = rows()
    options = {"times": DAYS, "time_ordered": "forward", "buffer": "1D"}
    result = cvnb.nested_cv(ridge(), X, y, 4, 2, **options)
    recipe = Recipe(4, 2, time_ordered="forward", buffer="1D")
    assert result.plan == recipe.plan(X, y, times=DAYS)
    with pytest.raises(RecipeError, match="add time_ordered=True"):
        cvnb.nested_cv(ridge(), X, y, times=DAYS)


def test_words_of_other_packages_are_explained():
    """gap and embargo are buffers; times belong to the run."""
    with pytest.raises(WrongTypeError, match="takes no gap=; use buffer="):
        Recipe(time_ordered=True, gap=3)
    with pytest.raises(
        WrongTypeError, match=r"recipe\.run\(model, X, y, times=\.\.\.\)"
    ):
        Recipe(times=DAYS)


# What follows the plan


def test_the_final_choice_of_a_run_is_in_time_too():
    """θ̂ for all rows is chosen on forward splits of all rows."""
    X, y = rows()
    when = shuffled_days()
    recipe = Recipe(4, 3, time_ordered="forward", buffer="1D")
    result = recipe.run(knn(k=[1, 3]), X, y, times=when)
    chosen = Recipe(None, 3, time_ordered="forward", buffer="1D").plan(X, y, times=when)
    assert result._final_plan.inner[0] == chosen.inner[0]
    assert result.predictor() is not None


def test_intervals_and_studies_of_forward_runs_are_refused_with_the_reason():
    """Formulas assume independent rows; a shift of y keeps the order of time."""
    X, y = rows()
    when = shuffled_days()
    recipe = Recipe(4, 2, time_ordered="forward")
    result = recipe.run(knn(k=[1, 5]), X, y, times=when)
    with pytest.raises(
        InputError, match="rows in the order of time depend on each other"
    ):
        result.interval()
    with pytest.raises(
        InputError, match="rows in the order of time cannot be exchanged"
    ):
        null_test(result, n=9, progress="off")
    with pytest.raises(InputError, match="gaps in time"):
        learning_curve(result, progress="off")
    with pytest.raises(InputError, match="every seed gives the same number"):
        over_seeds(result, n=3, progress="off")
    null = null_test(result, n=3, within="shift", progress="off")
    order = np.argsort(when, kind="stable")
    for moved in null.permutations:
        step = (np.flatnonzero(moved[order[0]] == order)[0]) % N
        assert np.array_equal(moved[order], np.roll(order, -step))
        assert step > 0
    again = recipe.run(knn(k=[1, 5]), X, y[null.permutations[0]], times=when)
    assert null.risks[0] == again.risk


def test_the_methods_paragraph_names_the_design():
    """Forward and its buffer; blocks as before."""
    X, y = rows()
    forward = Recipe(4, 2, time_ordered="forward", buffer="1D").run(
        ridge(), X, y, times=DAYS
    )
    words = (
        "every training row older than every test row, with 1 day left out between them"
    )
    assert words in methods_of(forward)
    blocks = Recipe(4, 2, time_ordered=True, buffer=2).run(ridge(), X, y)
    assert "contiguous in time with 2 rows left out on both sides" in methods_of(blocks)


def test_advice_takes_forward_time():
    """Folds forward at both levels, with the buffer in time."""
    X, y = rows()
    advice = Recipe.suggest(
        X, y, time_ordered="forward", buffer="1D", times=DAYS, family=ridge()
    )
    with pytest.raises(InfeasibleError, match="empty part"):
        Recipe(5, 5, time_ordered="forward", buffer="1D").plan(X, y, times=DAYS)
    assert advice.recipe == Recipe(5, 4, time_ordered="forward", buffer="1D")
    words = "Rows within 1 day before every test part are left out of training."
    assert words in advice.sentences
    single = Recipe.suggest(X, y, time_ordered="forward", family=Family(Ridge()))
    assert single.recipe == Recipe.external_cv(5, time_ordered="forward")
    choice = Recipe.suggest(X, y, time_ordered="forward", goal="choose")
    assert choice.recipe == Recipe.internal_cv(5, time_ordered="forward")


def test_the_picture_shows_rows_in_the_order_of_time():
    """Forward: train, buffer, test, and newer rows unused, from left to right."""
    X, y = rows()
    when = shuffled_days()
    plan = Recipe(4, None, time_ordered="forward", buffer="1D").plan(X, y, times=when)
    nest = nest_of(plan)
    assert nest.in_order
    for bar in nest.bars:
        roles = [role for _, _, role in bar.spans]
        assert roles in (
            ["train", "buffer", "test", "unused"],
            ["train", "buffer", "test"],
        )
        assert when[bar.order].is_monotonic_increasing
    assert nest.strips[-1].names[:2] == ("from 2024-01-01", "from 2024-01-03")
    tuned = Recipe(4, 2, time_ordered="forward", buffer="1D").plan(X, y, times=when)
    inner = opened(tuned, 3).bars[1]
    assert [role for _, _, role in inner.spans][:3] == ["train", "buffer", "dev"]
    assert "step forward CV" in tuned._repr_mimebundle_()["text/html"]


# Audit and JSON


def test_the_audit_finds_newer_and_near_training_rows():
    """Forged forward splits are found out, split by split."""
    X, y = rows()
    when = shuffled_days()
    plan = Recipe(4, None, time_ordered="forward", buffer="2D").plan(X, y, times=when)
    fields = {name: getattr(plan, name) for name in Plan.__dataclass_fields__}
    train, test = plan.outer[1]
    newest = np.flatnonzero(when > when[test].max())[:3]
    day_before = np.flatnonzero(when == when[test].min() - pd.Timedelta("1D"))
    pairs = [*plan.outer]
    pairs[1] = np.sort(np.concatenate([train, newest, day_before])), test
    forged = Plan(**fields | {"outer_layout": Pairs(pairs, N)})
    assert forged.audit().findings == (
        "outer split 1: 3 training rows not older than every test row",
        "outer split 1: 2 training rows within the buffer of 2 days",
    )
    assert Plan.from_json(forged.to_json()).audit().findings == forged.audit().findings


def test_the_audit_finds_a_cut_moment():
    """Contiguous blocks: two rows of one day on both sides."""
    X, y = rows()
    plan = Recipe(4, None, time_ordered=True).plan(X, y, times=DAYS)
    fields = {name: getattr(plan, name) for name in Plan.__dataclass_fields__}
    pairs = [
        (np.r_[np.arange(31), np.arange(60, N)], np.arange(31, 60)),
        *plan.outer[1:],
    ]
    forged = Plan(**fields | {"outer_layout": Pairs(pairs, N)})
    assert forged.audit().findings == (
        "outer split 0: 1 training row at the time of a test row",
    )


@pytest.mark.parametrize(
    "times", [None, DAYS, np.linspace(0, 1, N)], ids=["no", "dates", "numbers"]
)
def test_json_keeps_times_and_design(times):
    """And a plan without either is written as before, so old readers read it."""
    X, y = rows()
    plan = Recipe(4, 2, time_ordered="forward").plan(X, y, times=times)
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.forward
    assert again.audit().ok
    if times is not None:
        assert np.array_equal(again.times.values, plan.times.values)
        assert again.times.unit == plan.times.unit
    record = json.loads(plan.to_json())
    assert record["format"] == "cvnb plan 2"
    old = json.loads(Recipe(4, 2, time_ordered=True, buffer=2).plan(X, y).to_json())
    assert old["format"] == "cvnb plan 1"
    assert set(old) == set(record) - {"times", "forward"}
    assert Plan.from_json(json.dumps(old)).audit().ok


@pytest.mark.parametrize("time_ordered", [True, "forward"])
@pytest.mark.parametrize("buffer", [0, "1D"])
def test_fast_paths_equal_refits_on_splits_in_time(time_ordered, buffer):
    """Whatever a path shares among splits, the numbers are those of one fit per setting."""
    X, y = rows()
    recipe = Recipe(4, 2, time_ordered=time_ordered, buffer=buffer)
    for family in (Family(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), knn(k=[1, 3])):
        fast = recipe.run(family, X, y, times=shuffled_days())
        slow = recipe.run(family, X, y, times=shuffled_days(), path="refit")
        assert fast.path != slow.path
        np.testing.assert_allclose(fast.fold_risks, slow.fold_risks, rtol=1e-9)
        np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)
