"""The Grid field: what can be typed is read as syntax, all else is refused at the control,
and nothing of it is run."""

import ast
import builtins
import os
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import cvnb.widgets
from cvnb import Family, Recipe, elastic_net, knn, ridge
from cvnb.errors import FamilyError
from cvnb.views.codegen import expression, family_expression
from cvnb.widgets import CurveExplorer
from cvnb.widgets.typed_grid import MOST, read_arguments, read_grid

X, y = load_iris(return_X_y=True)
RUN = []  # what was run of the things in the notebook


class Trap:
    """An object of the notebook that says what is done with it."""

    shape = None  # looked at where groups are listed, whatever is typed

    def __getattr__(self, name):
        if name != "columns":
            RUN.append(name)
        raise AttributeError(name)

    def __repr__(self):
        RUN.append("repr")
        return "trap"

    def __iter__(self):
        RUN.append("iter")
        return iter([1])

    def __add__(self, other):
        RUN.append("add")
        return self

    def __neg__(self):
        RUN.append("neg")
        return self

    def __getitem__(self, key):
        RUN.append("getitem")
        return self

    def __hash__(self):
        RUN.append("hash")
        return 0

    def __eq__(self, other):
        RUN.append("eq")
        return False

    def __bool__(self):
        RUN.append("bool")
        return True

    def __array__(self, *given, **options):
        RUN.append("array")
        return np.zeros(1)

    @property
    def path(self):
        RUN.append("property")
        return self


def probe(*given, **options):
    RUN.append("called")
    return [1, 2, 3]


def endless():
    RUN.append("generated")
    while True:
        yield 1


@pytest.fixture
def names():
    """A notebook with things that must not be touched."""
    RUN.clear()
    return {
        "X": X,
        "y": y,
        "np": np,
        "pd": pd,
        "os": os,
        "open": open,
        "eval": eval,
        "probe": probe,
        "trap": Trap(),
        "Trap": Trap,
        "numbers": endless(),
        "In": ["secret cell"],
        "Out": {},
        "password": "hunter2",
        "_private": [1, 2],
        "__builtins__": builtins,
        "model": SVC(),
        "_hidden": SVC(),
        "ks": [1, 5],
        "many": range(10**12),
        "scaler": MinMaxScaler(),
        "steps": make_pipeline(StandardScaler(), SVC()),
        "grids": [{"svc__C": [1]}, {"svc__C": [10, 100]}],
    }


def front_end_says(widget, **values):
    """The message that form.js sends when these are entered."""
    known = widget._form.entered
    n = max([n for _, n in known.values()], default=0)
    entered = {
        **known,
        **{
            name: [value, n + i]
            for i, (name, value) in enumerate(values.items(), start=1)
        },
    }
    data = {"method": "update", "state": {"entered": entered}, "buffer_paths": []}
    widget._form._handle_msg({"content": {"data": data}, "buffers": []})


# Arguments of a short-hand, and what they stand for.
ARGUMENTS = {
    "": ([], {}),
    "  ": ([], {}),
    "k=range(1, 31)": ([], {"k": range(1, 31)}),
    "range(1, 31, 2), False": ([range(1, 31, 2), False], {}),
    "k=[1, 3, 5,], scale=False,": ([], {"k": [1, 3, 5], "scale": False}),
    "k=(1, 2), weights='distance', metric=\"manhattan\"": (
        [],
        {"k": (1, 2), "weights": "distance", "metric": "manhattan"},
    ),
    "alpha=np.logspace(-3, 3, 7)": ([], {"alpha": np.logspace(-3, 3, 7)}),
    "alpha=logspace(-3, 3, num=7, base=2)": (
        [],
        {"alpha": np.logspace(-3, 3, 7, base=2)},
    ),
    "alpha=np.linspace(0, 1, 11, endpoint=False)": (
        [],
        {"alpha": np.linspace(0, 1, 11, endpoint=False)},
    ),
    "alpha=geomspace(start=1e-3, stop=10**3, num=5)": (
        [],
        {"alpha": np.geomspace(1e-3, 1000, 5)},
    ),
    "alpha=np.linspace(0, 1)": ([], {"alpha": np.linspace(0, 1)}),
    "k=np.arange(5)": ([], {"k": np.arange(5)}),
    "k=arange(1, 10, 2)": ([], {"k": np.arange(1, 10, 2)}),
    "k=np.arange(10, 1, step=-3)": ([], {"k": np.arange(10, 1, -3)}),
    "k=np.arange(5, 1)": ([], {"k": np.arange(5, 1)}),
    "alpha=np.array([0.1, 1.0])": ([], {"alpha": np.array([0.1, 1.0])}),
    "C=[10**-2, -1/4 + 0.5, 2*3, +1, 1e3 - 1]": ([], {"C": [0.01, 0.25, 6, 1, 999.0]}),
    "C=[float('inf'), np.inf, -np.inf]": ([], {"C": [np.inf, np.inf, -np.inf]}),
    "k=ks": ([], {"k": [1, 5]}),
    "alpha=[None, True, 'it''s']": ([], {"alpha": [None, True, "its"]}),
}

GRIDS = {
    "": {},
    "{}": {},
    " {'C': [1, 10], 'kernel': ['rbf', 'linear']} ": {
        "C": [1, 10],
        "kernel": ["rbf", "linear"],
    },
    "[{'C': [1]}, {'C': [10, 100]}]": [{"C": [1]}, {"C": [10, 100]}],
    "{'class_weight': [None, {0: 1, -1: 5.5}]}": {
        "class_weight": [None, {0: 1, -1: 5.5}]
    },
    "{\n'C': [1,\n10]\n}": {"C": [1, 10]},
    "grids": [{"svc__C": [1]}, {"svc__C": [10, 100]}],
}

# What is refused, with words of the message.
HOSTILE = {
    "k=[open('pwned', 'w').write('x')]": "a call, \"open('pwned', 'w').write('x')\"",
    "k=open('pwned', 'w')": "a call",
    "k=__import__('os').system('touch pwned')": "a call",
    "k=__import__": "the private name '__import__'",
    "k=__builtins__": "the private name '__builtins__'",
    "k=_private": "the private name '_private'",
    "k=\uff3f\uff3fimport\uff3f\uff3f('os')": "SyntaxError: invalid character",
    "k=eval(\"open('pwned', 'w')\")": "a call",
    "k=\uff45val('1')": "a call",
    "k=probe()": "a call, 'probe()'",
    "k=[probe(1)]": "a call, 'probe(1)'",
    "k=probe": "a function or class of the notebook",
    "k=[1], metric=probe": "a function or class of the notebook",
    "k=[Trap]": "a function or class of the notebook",
    "k=Trap()": "a call",
    "k=numbers": "an iterator; write numbers = list(numbers)",
    "k=In": "the private name 'In'",
    "k=password": "the name of a text",
    "k=nobody": "the name 'nobody', which the notebook does not have",
    "k=os.environ": "an attribute, 'os.environ'",
    "k=trap.path": "an attribute",
    "k=().__class__.__bases__[0].__subclasses__()": "a call",
    "k=().__class__": "an attribute",
    "k=np.lib.npyio": "an attribute",
    "k=np.load('pwned', allow_pickle=True)": "a call",
    "k=np.fromfile('pwned')": "a call",
    "k=pd.read_pickle('pwned')": "a call",
    "k=pd.eval('1')": "a call",
    "k=np.array(trap)": "a call",
    "k=np.array([trap])": "np.array of something else",
    "k=np.array([[1, 2]])": "np.array of something else",
    "k=np.array([1], dtype=probe)": "a call",
    "k=np.linspace(0, 1, trap)": "linspace of what is no number",
    "k=np.linspace(trap, 1)": "linspace of what is no number",
    "k=np.linspace(0, 1, 3, dtype=probe)": "a function or class of the notebook",
    "k=np.linspace(0, 1, 3, dtype='O')": (
        "linspace with arguments that are not start, stop, num, endpoint"
    ),
    "k=np.linspace(0, 1, num=2.5)": "linspace that cannot be computed",
    "k=np.linspace(0, 1, -5)": "linspace that cannot be computed",
    "k=np.linspace(0, 1, 5, start=3)": "linspace with arguments",
    "k=np.linspace(0, 1, 5, trap)": "linspace with arguments",
    "k=np.linspace(5)": "linspace of what is no number",
    "k=np.linspace(1, 2, 3, True, 5)": "a call",
    "k=np.logspace(0, 1000, 5)": "logspace that cannot be computed",
    "k=np.logspace(0, 1.5, 5, base=-2)": "logspace that cannot be computed",
    "k=np.geomspace(0, 10, 5)": "geomspace that cannot be computed",
    "k=np.arange(0, 5, 0)": "arange that cannot be computed",
    "k=np.arange()": "arange of what is no number",
    "k=float(trap)": "a call",
    "k=float('1e5')": "a call",
    "k=range(trap)": "a range of something else",
    "k=range(1, 2, 0)": "a range of something else",
    "k=range(1.5)": "a range of something else",
    "k=range(stop=3)": "a call",
    "k=range(*ks)": "a star",
    "k=lambda: probe()": "a lambda",
    "k=(lambda: probe())()": "a call",
    "k=[probe() for _ in ks]": "a comprehension",
    "k={probe() for _ in ks}": "a comprehension",
    "k={1: probe() for _ in ks}": "a comprehension",
    "k=(probe() for _ in ks)": "a comprehension",
    "probe() for _ in ks": "a comprehension",
    "k=(a := probe())": "an assignment",
    "k:=probe()": "an assignment",
    "*trap": "a star",
    "k=[*trap]": "a star",
    "**trap": "two stars",
    "k={**trap}": "a key that is no word and no number",
    "k={trap: 1}": "a key that is no word and no number",
    "k={1, 2}": "a set",
    "k=f'{probe()}'": "an f-string",
    "k=f'{trap}'": "an f-string",
    "k=ks[0]": "a subscript",
    "k=trap[0]": "a subscript",
    "k=trap + 1": "arithmetic on a value of type Trap",
    "k=-trap": "arithmetic on a value of type Trap",
    "k='%s' % trap": "an expression",
    "k=not trap": "an expression",
    "k=trap == 1": "an expression",
    "k=trap and 1": "an expression",
    "k=1 if trap else 2": "an expression",
    "k=~5": "an expression",
    "k=await probe()": "an expression",
    "k=(yield)": "an expression",
    "k=...": "an expression",
    "k=b'x'": "an expression",
    "k=[3j]": "an expression",
    "k=1 << 10**9": "an expression",
    "k=[0] * 10**9": "arithmetic on a value of type list",
    "k='a' * 10**9": "arithmetic on a value of type str",
    "k=10**10**10": "a whole number of more than 1024 bits",
    "k=(2**1000)**1000": "a whole number of more than 1024 bits",
    "k=2**1000 * 2**1000": "a whole number of more than 1024 bits",
    "k=(-2)**10**12": "a whole number of more than 1024 bits",
    "k=10.0**10**9": "a number that cannot be computed",
    "k=0**-1": "a number that cannot be computed",
    "k=1/0": "a number that cannot be computed",
    "k=(-8)**0.5": "arithmetic on a value of type complex",
    "k=0x" + "f" * 40_000: "a whole number of more than 1024 bits",
    "k=" + "9" * 40_000: "Exceeds the limit",
    "k=range(10**12)": "ranges and arrays of more than 10000 values",
    "k=range(-10**200, 10**200)": "ranges and arrays of more than 10000 values",
    "k=range(10**12, 0, -1)": "ranges and arrays of more than 10000 values",
    "k=[" + "range(9000), " * 3000 + "]": "ranges and arrays of more than 10000 values",
    "k=np.linspace(0, 1, 10**12)": "ranges and arrays of more than 10000 values",
    "k=np.logspace(0, 1, num=10**9)": "ranges and arrays of more than 10000 values",
    "k=np.arange(10**12)": "ranges and arrays of more than 10000 values",
    "k=np.arange(0, 1, 1e-12)": "ranges and arrays of more than 10000 values",
    "k=np.arange(0.0, 1e18, 1e-300)": "arange that cannot be computed",
    "k=np.arange(10**200)": "arange of what is no number, or too large a one",
    "k=np.array(["
    + "'', " * 2000
    + "'"
    + "a" * 20_000
    + "'])": "ranges and arrays of more than 10000 values",
    "k=many": "more than 10000 settings",
    "k=range(200), alpha=range(200)": "more than 10000 settings",
    "k=[" + "1, " * 11_000 + "]": "more than 10000 settings",
    "k=[" + "1, " * 100_000 + "]": "300004 characters, more than 50000",
    "k='" + "a" * 10**6 + "'": "1000004 characters, more than 50000",
    "k="
    + "(" * 40
    + "1"
    + ",)" * 40: "too many brackets or operators inside each other",
    "k="
    + "[" * 40
    + "1"
    + "]" * 40: "too many brackets or operators inside each other",
    "k=" + "(" * 10_000: "SyntaxError: too many nested parentheses",
    "k=" + "-" * 40_000 + "1": "too many brackets or operators inside each other",
    "k=1" + " + 1" * 9_000: "too many brackets or operators inside each other",
    "k=1" + "**1" * 9_000: "too many brackets or operators inside each other",
    "k=" + "lambda: " * 5_000 + "1": "too many brackets or operators inside each other",
    "k=a" + ".b" * 9_000: "too many brackets or operators inside each other",
    "k=a" + "()" * 9_000: "too many brackets or operators inside each other",
    "k=[1\0]": "null bytes",
    "k='\ud800'": "UnicodeEncodeError",
    "k=[1]) or open('pwned', 'w'": "a bracket that closes too early",
    "k=[1])(probe(": "SyntaxError",
    "k=[1])(k=[2]": "a bracket that closes too early",
    "k=[1]).x(k=[2]": "a bracket that closes too early",
    "k=[1]) if probe() else f(k=[2]": "a bracket that closes too early",
    "k=[1]), probe(": "a bracket that closes too early",
    "k=[1]) #": "SyntaxError",
    "k=[1])\nprobe(": "SyntaxError",
    "k=[1]); import os; (": "SyntaxError",
    "k=1, k=2": "'k' twice",
    "import os": "SyntaxError",
    "k=range(1,": "SyntaxError",
    "q=3": "unexpected keyword argument 'q'; it takes k, scale, weights, metric, task",
    "k=1, __class__=2": "unexpected keyword argument '__class__'",
    "1, 2, 3, 4, 5, 6, 7": "too many positional arguments",
}


def is_equal(a, b):
    """Also of arrays, and of the same types."""
    if type(a) in (list, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_equal, a, b))
    if type(a) is dict:
        return (
            type(a) is type(b)
            and a.keys() == b.keys()
            and all(is_equal(a[key], b[key]) for key in a)
        )
    return type(a) is type(b) and np.array_equal(a, b)


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments_are_read(names, text):
    """As Python reads them."""
    found, expected = read_arguments(text, names, "k=[1]"), ARGUMENTS[text]
    assert is_equal(found, expected)


@pytest.mark.parametrize("text", GRIDS)
def test_grids_are_read(names, text):
    """As Python reads them."""
    assert is_equal(read_grid(text, names, "{}"), GRIDS[text])


def test_names_stand_for_values_of_the_notebook(names):
    """An estimator in a list, a list as all the values, a grid as a whole; each as it is."""
    grid = read_grid(
        '{"standardscaler": [scaler, "passthrough"], "svc__C": ks}', names, ""
    )
    assert grid["standardscaler"][0] is names["scaler"]
    assert grid["svc__C"] is names["ks"]
    assert read_grid("grids", names, "") is names["grids"]
    assert RUN == []


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.integers(-5, 5).map(np.int64)
    | st.floats(width=32).map(np.float32)
    | st.booleans().map(np.bool_)
    | st.builds(
        range, st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([-2, 1, 3])
    )
    | st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
        max_size=5,
    ).map(np.array)
    | st.lists(st.text("ab", max_size=3), max_size=3).map(np.array)
)
VALUES = st.recursive(
    PLAIN,
    lambda inside: (
        st.lists(inside, max_size=3) | st.lists(inside, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["C", "gamma", "svc__C"]), VALUES, max_size=3))
def test_what_the_builder_writes_is_read_as_python_reads_it(grid):
    """Numbers, words and arrays, Python's and numpy's, in lists and tuples, not finite ones too."""
    text = expression(grid, set())
    assert repr(read_grid(text, {}, "")) == repr(eval(text, {"np": np}))
    arguments = ", ".join(
        f"{key}={expression(value, set())}" for key, value in grid.items()
    )
    assert repr(read_arguments(arguments, {}, "")) == repr(
        ([], eval(f"dict({arguments})", {"np": np}))
    )


@pytest.mark.parametrize(
    "given",
    [
        knn(k=[1, 2], metric=cosine),
        knn(k=np.arange(1, 5), scale=False),
        elastic_net(alpha=np.logspace(-3, 0, 4), l1_ratio=[np.float64(0.5), 1]),
        ridge(alpha=[np.float32(0.5), 10**3]),
        Family(SVC(), {"C": [1.0, float("inf")], "kernel": ["rbf", "linear"]}),
    ],
    ids=["metric", "array", "numpy number", "float32", "estimator"],
)
def test_a_family_that_is_given_can_be_chosen_again_by_its_own_text(
    builder, names, given
):
    """Also with a function in it, that no text may name: its own text stands for it."""
    if given.call is None:
        given = Family(names["model"], given.grid, name="model")
    builder.family = given
    name, grid = builder.family_name, builder.grid
    builder.family_name, builder.grid = "forest", ""
    assert builder.family.call == ("forest", {})
    builder.grid, builder.family_name = grid, name
    assert family_expression(builder.family, set()) == family_expression(given, set())
    assert builder.wait(60)
    assert "the grid" not in builder.error


def test_a_given_text_does_not_bring_back_another_estimator(builder, names):
    """The name stands for something else by now, and the text cannot be read."""
    builder.family = Family(
        names["steps"],
        {"standardscaler": [StandardScaler(), "passthrough"]},
        name="steps",
    )
    grid = builder.grid
    names["steps"] = make_pipeline(StandardScaler(), SVC(C=3))
    builder.grid = ""
    builder.grid = grid
    assert builder.wait(60)
    assert "the grid has a call, 'StandardScaler()'" in builder.error


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("alpha=np.logspace(-1, 1, 3)", "import numpy as np\n"),
        ("alpha=logspace(-1, 1, 3)", "from numpy import logspace\n"),
    ],
)
def test_what_is_typed_is_copied_with_its_imports(builder, text, code):
    """The copied Python gives the numbers on screen, in a notebook that has X and y alone."""
    builder.family_name, builder.grid = "ridge", text
    assert builder.wait(60)
    assert code in builder.to_python()
    space = {"X": X, "y": y}
    exec(builder.to_python(), space)
    assert space["result"].risk == builder.result.risk
    assert [setting["alpha"] for setting in builder.result.settings] == [0.1, 1.0, 10.0]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[1:40])
def test_what_is_hostile_is_said_at_the_control_and_not_run(
    builder, names, text, tmp_path, monkeypatch
):
    """Sent as the browser sends it: an error with its reason, no file, no call, no code to
    copy, and the next entry works."""
    monkeypatch.chdir(tmp_path)
    assert builder.wait(60)
    RUN.clear()
    began = time.monotonic()
    front_end_says(builder, grid=text)
    assert builder.wait(60)
    assert time.monotonic() - began < 5
    assert HOSTILE[text] in builder.error
    assert builder._form.error == builder.error
    assert len(builder.error) < 700
    assert builder.result is None
    assert builder._form.codes == {}
    assert builder.to_python().endswith("result = recipe.run(knn(), X, y)")
    assert builder.family.call == ("knn", {})
    assert RUN == []
    assert list(tmp_path.iterdir()) == []
    front_end_says(builder, grid="k=[1, 5]")
    assert builder.wait(60)
    assert builder.error == ""
    assert len(builder.result.settings) == 2


def test_nothing_hostile_gets_through_a_row(builder, tmp_path, monkeypatch):
    """The same texts in the field of a setting, as values and as the first of its steps."""
    monkeypatch.chdir(tmp_path)
    assert builder.wait(60)
    RUN.clear()
    pieces = [text.removeprefix("k=") for text in HOSTILE if text.startswith("k=")]
    for piece in pieces:
        for row in (["k", "list", [piece]], ["k", "whole", [piece, "9", "1"]]):
            front_end_says(builder, settings=[row])
            assert builder.wait(60)
            assert builder.error, row
            assert builder._form.error_at == "settings"
            assert builder.result is None
            assert builder._form.codes == {}
    assert RUN == []
    assert list(tmp_path.iterdir()) == []
    front_end_says(builder, settings=[["k", "list", ["1, 5"]]])
    assert builder.wait(60)
    assert builder.error == ""
    assert len(builder.result.settings) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("open('pwned', 'w')", "a call"),
        ("{'C': [open('pwned', 'w').write('x')]}", "a call"),
        ("{'C': [1]}), (probe(), {}", "SyntaxError"),
        ("{'C': [1]}, probe()", "a call"),
        ("dict(C=probe())", "a call"),
        ("{'C': [1]} | trap", "an expression"),
        ("{'C': trap.path}", "an attribute"),
        ("{probe(): [1]}", "a key that is no word and no number"),
        ("{**trap}", "a key that is no word and no number"),
        ("{name: [1] for name in trap}", "a comprehension"),
        ("{'C': range(200), 'gamma': range(200)}", "more than 10000 settings"),
        (
            "[{'C': range(6000)}, {'C': [1] }, {'gamma': many}]",
            "more than 10000 settings",
        ),
        ("{'C': [" + "1," * 20_000 + "]}", "more than 10000 settings"),
        ("{'C': [1]}; probe()", "SyntaxError"),
        ("{'C': [1]}\nprobe()", "SyntaxError"),
        ("C=[1]", "SyntaxError"),
        ("{'C': 5}", "write {'C': [5]}"),
        ("{'nothing': [5]}", "has no parameter 'nothing'"),
        ("probe", "a function or class of the notebook"),
    ],
    ids=lambda one: one[:40],
)
def test_a_hostile_grid_of_an_estimator_is_said_and_not_run(
    builder, names, text, words, tmp_path, monkeypatch
):
    """Where a dict is typed."""
    monkeypatch.chdir(tmp_path)
    front_end_says(builder, family_name="model", grid="{'C': [1]}")
    assert builder.wait(60)
    assert builder.error == ""
    RUN.clear()
    front_end_says(builder, grid=text)
    assert builder.wait(60)
    assert words in builder.error
    assert builder._form.codes == {}
    assert RUN == []
    assert list(tmp_path.iterdir()) == []


def test_a_text_of_the_notebook_is_not_shown(builder):
    """A message that repeats a value would read the notebook's secrets to everybody."""
    for text in ("k=password", "k=[password]", "k=In", "metric=password"):
        front_end_says(builder, grid=text)
        assert builder.wait(60)
        assert builder.error
        assert "hunter2" not in builder.error
        assert "secret cell" not in builder.error


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("family_name", "os"),
        ("family_name", "_hidden"),
        ("family_name", "__builtins__"),
        ("family_name", "probe"),
        ("family_name", "knn() or probe()"),
        ("groups", "_private"),
        ("groups", "os"),
        ("groups", "trap"),
        ("groups", "probe()"),
        ("loss", "open('pwned', 'w')"),
        ("loss", "f1 --weights probe()"),
        ("loss", "probe"),
        ("select", "probe"),
        ("stratify", "probe()"),
        ("family_name", ["model"]),
        ("loss", {"a": 1}),
        ("grid", 5),
        ("grid", ["k=[1]"]),
        ("cell", "folds/folds/folds"),
        ("cell", "__class__/x"),
        ("settings", "probe()"),
        ("settings", [["__class__", "", []]]),
        ("keep_as", 5),
        ("outer", "probe()"),
    ],
    ids=str,
)
def test_words_that_are_not_offered_are_refused(
    builder, field, value, tmp_path, monkeypatch
):
    """Families, groups, losses and rules are chosen from a list, whatever the browser sends."""
    monkeypatch.chdir(tmp_path)
    before = builder.to_python(), builder.to_cell()
    RUN.clear()
    front_end_says(builder, **{field: value})
    assert builder.wait(60)
    assert builder._form.error
    assert (builder.to_python(), builder.to_cell()) == before
    assert RUN == []
    assert list(tmp_path.iterdir()) == []
    front_end_says(builder, **{field: builder._form.values[field]})
    assert builder.wait(60)
    assert builder._form.error == ""


@pytest.mark.parametrize("name", ["_hidden", "probe", "os", "np.linspace", "nobody"])
def test_a_family_is_an_estimator_with_a_public_name(builder, name):
    """In Python too."""
    builder.family_name = name
    assert builder.wait(60)
    assert "is no family that could be chosen again" in builder.error
    assert RUN == []


def test_groups_have_a_public_name(builder):
    """In Python too."""
    builder.groups = "_private"
    assert builder.wait(60)
    assert "groups='_private' is no public name of the notebook" in builder.error


@pytest.mark.parametrize(
    "field",
    ["children", "family", "recipe", "result", "given", "_work", "layout", "outside"],
)
def test_the_browser_sets_the_fields_of_the_form_alone(builder, field):
    """Neither other traits nor methods."""
    before = getattr(builder, field)
    front_end_says(builder, **{field: []})
    assert builder.wait(60)
    assert getattr(builder, field) == before
    assert field not in vars(builder)


def test_the_browser_sets_the_fields_of_a_view_alone():
    """A method stays what it is."""
    view = CurveExplorer(Recipe(3, 2).run(knn(k=[1, 2]), X, y))
    front_end_says(view, _show="gone", children=[], log_y=True)
    assert view.wait(30)
    assert view.log_y
    assert callable(view._show)
    assert len(view.children) == 1
    view.close()


@pytest.mark.parametrize(
    "text",
    [text for text, words in HOSTILE.items() if "more than" in words],
    ids=lambda text: text[:40],
)
def test_what_is_too_large_is_refused_before_it_is_made(names, text):
    """At the cost of reading the text."""
    tracemalloc.start()
    try:
        with pytest.raises(FamilyError, match="more than"):
            read_arguments(text, names, "k=[1]")
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


def test_as_many_values_as_are_allowed_are_read():
    """And not one more."""
    assert len(read_arguments(f"k=range({MOST})", {}, "")[1]["k"]) == MOST
    with pytest.raises(FamilyError, match="more than 10000 values"):
        read_arguments(f"k=range({MOST + 1})", {}, "")
    assert len(read_arguments(f"k=[{'1, ' * MOST}]", {}, "")[1]["k"]) == MOST


MODULES = sorted(Path(cvnb.widgets.__file__).parent.glob("*.py"))
RUNNERS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "execfile",
    "import_module",
    "run_module",
    "run_cell",
    "literal_eval",
    "query",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_widget_runs_text(path):
    """No module of cvnb.widgets names what runs, compiles or imports a text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    named |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert (named | imported) & RUNNERS == set()
