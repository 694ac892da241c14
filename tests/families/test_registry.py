"""One record per algorithm: an added one is known everywhere, like a built-in one."""

import ast
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from IPython.utils.capture import capture_output
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import ElasticNet
from sklearn.neighbors import KNeighborsRegressor, KNeighborsTransformer
from sklearn.svm import SVR

import cvnb
import cvnb.widgets
import toys
from cvnb import Family, Recipe
from cvnb.errors import FamilyError, InfeasibleError, InputError, WrongTypeError
from cvnb.families import registry, simplicity
from cvnb.families.algorithm import Algorithm, Lazy, imported
from cvnb.families.records import BUILT_IN
from cvnb.jupyter.magics import at_hand
from cvnb.paths import prefix as stages
from cvnb.paths import remove_path
from cvnb.paths.refit import Refit
from cvnb.runs import forecast
from cvnb.runs.prepare import dry_run
from shell_cells import completions, run
from toys import KERNEL, Kernel, kernel

PACKAGE = Path(cvnb.__file__).parent
NESTED = Recipe(outer=3, inner=2)
X, y = (part[:120] for part in load_diabetes(return_X_y=True))
X = X * 20.0
GRID = {"bandwidth": [0.3, 1.0, 3.0]}


@pytest.fixture
def added():
    """A record with everything of its own, forgotten afterwards."""
    registry.add(KERNEL)
    yield KERNEL
    registry.remove(KERNEL)


@pytest.fixture
def computed(monkeypatch):
    """One entry for each split that the path computes."""
    made = []
    ask = toys.kernels
    monkeypatch.setattr(
        toys, "kernels", lambda *given, **more: made.append(1) or ask(*given, **more)
    )
    return made


def varied(**changes):
    """The record with something else in it, added in its place."""
    record = dataclasses.replace(KERNEL, **changes)
    registry.add(record)
    return record


@pytest.fixture
def replaced():
    """Whatever is added for the toy is forgotten."""
    yield varied
    remove_path(Kernel)


# One test for each use of a record


def test_dispatch_takes_the_path_of_the_record(added):
    """With the numbers of refit."""
    ours, refit = (
        NESTED.run(kernel(), X, y, path=path, progress="off")
        for path in ("auto", "refit")
    )
    assert ours.path == "path:kernel"
    np.testing.assert_allclose(ours.inner_curves, refit.inner_curves, rtol=1e-12)
    assert ours.chosen == refit.chosen


def test_one_function_and_one_record_are_enough():
    """Everything else has a default: the path, its name, a forecast, and the numbers of refit."""
    record = Algorithm(
        "centroids",
        (toys.Centroids,),
        "shrink",
        predictions_of_split=Lazy("toys:centroids_of_split"),
        compiles=False,
    )
    family, labels = (
        Family(toys.Centroids(), {"shrink": [0.0, 0.3, 0.9]}),
        (y > np.median(y)).astype(int),
    )
    registry.add(record)
    try:
        ours, refit = (
            NESTED.run(family, X, labels, path=path, progress="off")
            for path in ("auto", "refit")
        )
        assert dry_run(NESTED, family, X, labels).path.name == "path:centroids"
    finally:
        registry.remove(record)
    assert ours.path == "path:centroids"
    np.testing.assert_array_equal(ours.inner_curves, refit.inner_curves)
    assert ours.chosen == refit.chosen


def test_a_forecast_is_of_the_record(added, computed, monkeypatch):
    """By its cost, rate and memory; no split is computed for it."""
    # the measured one differs from call to call
    monkeypatch.setattr(forecast, "_per_multiplication", lambda: 1e-9)
    cheap = dry_run(NESTED, kernel(), X, y)
    assert (cheap.path.name, computed) == ("path:kernel", [])
    assert 0 < cheap.seconds < 10
    dear = varied(cost=lambda *sizes: 1e12, memory=lambda work, plan: 5e9)
    costly = dry_run(NESTED, kernel(), X, y)
    assert costly.seconds > 100 * cheap.seconds
    assert costly.megabytes > 5000
    slow = varied(cost=dear.cost, rate=10 * dear.rate)
    assert dry_run(NESTED, kernel(), X, y).seconds == pytest.approx(
        10 * costly.seconds, rel=1e-3
    )
    registry.remove(slow)
    registry.add(KERNEL)


def test_without_a_cost_a_fit_is_timed(replaced):
    """A name that no table has is no error."""
    replaced(cost=None)
    cost = dry_run(NESTED, kernel(), X, y)
    assert cost.path.name == "path:kernel"
    assert 0 < cost.seconds < 10


def test_a_closed_form_is_advised(replaced):
    """Leave-one-out is suggested only if the record says that it costs one fit."""
    replaced(prepare=Shared.of, closed_form=True)
    only = Family(Kernel())
    assert (
        Recipe.suggest(X, y, family=only, goal="predictor").recipe
        == Recipe.leave_one_out()
    )
    replaced(prepare=Shared.of, closed_form=False)
    assert (
        Recipe.suggest(X, y, family=only, goal="predictor").recipe
        != Recipe.leave_one_out()
    )


class Shared(Refit):
    """A path by name alone: advice looks at no more."""

    name = "shared:kernel"

    @classmethod
    def of(cls, request):
        return cls(
            request.family, request.evaluator.data, request.evaluator.loss, "shared"
        )


def test_a_note_of_a_kind_of_its_own_is_shown(added):
    """In the words of the record: two in each of the nine splits."""
    result = NESTED.run(kernel(), X, y, progress="off")
    assert "At 18 predictions every kernel is far away." in result.notes
    assert "far away" in repr(result)


def test_a_note_outlives_its_record():
    """A kind of close call without a record is shown by its name."""
    registry.add(KERNEL)
    result = NESTED.run(kernel(), X, y, progress="off")
    registry.remove(KERNEL)
    assert "Far rows: 18 predictions." in result.notes
    assert "Far rows" in repr(result)


def test_one_se_takes_the_simplest_by_the_record(replaced):
    """ "large", "small" or a list in its order; an unknown direction is an error."""
    bandwidths = [3.0, 5.0, 8.0]
    for simplest, expected in (("large", 8.0), ("small", 3.0), ([5.0, 3.0, 8.0], 5.0)):
        replaced(simplest={"bandwidth": simplest})
        ties = NESTED.run(
            kernel(bandwidths), X, np.zeros(120), select="one_se", progress="off"
        )
        assert {setting["bandwidth"] for setting in ties.chosen} == {expected}
    replaced(simplest={})
    with pytest.raises(InputError, match="which bandwidth is simpler is not known"):
        NESTED.run(kernel(bandwidths), X, y, select="one_se", progress="off")


@pytest.mark.parametrize(
    ("step", "parameter", "direction"),
    [
        (KNeighborsTransformer(), "n_neighbors", "large"),
        (KNeighborsRegressor(), "n_neighbors", "large"),
        (type("Near", (KNeighborsRegressor,), {})(), "n_neighbors", "large"),
        (HistGradientBoostingRegressor(), "max_iter", "small"),
        (RandomForestRegressor(), "n_estimators", None),
        (ElasticNet(), "l1_ratio", "large"),
        (SVR(), "C", "small"),
    ],
)
def test_steps_with_and_without_a_record_have_a_direction(step, parameter, direction):
    """A subclass has that of its model; a step that no algorithm is for has its own."""
    assert simplicity._known(parameter, step) == direction


def test_more_than_the_training_rows_is_refused_by_the_record(replaced):
    """Before any fit, in the words for neighbours."""
    replaced(needs_rows=("bandwidth",))
    with pytest.raises(
        InfeasibleError,
        match="bandwidth=60 needs 60 training rows, but inner split 0 of outer split 0 has 40",
    ):
        NESTED.run(kernel([1, 60]), X, y, progress="off")


def test_one_class_is_refused_by_the_record():
    """Whatever package the classifier is of."""
    record = Algorithm(
        "centroids", (toys.Centroids,), "shrink", two_classes=("Centroids",)
    )
    two = np.repeat([0, 1], 60)
    halves = Recipe(outer=[(np.arange(60), np.arange(60, 120))], inner=None)
    registry.add(record)
    try:
        with pytest.raises(InfeasibleError, match="Centroids needs two classes"):
            halves.run(Family(toys.Centroids()), X, two, progress="off")
    finally:
        registry.remove(record)


def test_the_body_of_a_cell_has_it(added, shell):
    """Without an import, as the others."""
    shell.user_ns.update(X=X, y=y)
    assert (
        run(shell, "%%nestedcv X y --outer 3 --inner 2\nkernel()").path == "path:kernel"
    )
    assert at_hand()["kernel"] is kernel


def test_the_help_of_the_magic_names_it(added, shell):
    """After the short-hands that are built in."""
    with capture_output() as shown:
        shell.run_cell("%nestedcv").raise_error()
    assert "available in the body: knn, ridge, lasso" in shown.stdout
    assert "forest, kernel, Family" in shown.stdout


def test_completion_offers_it(added, shell):
    """In the body of a cell at the start of a name; not after a dot, nor on other lines."""
    assert "kernel" in completions(shell, "%%nestedcv X y\nkern")
    assert "elastic_net" in completions(shell, "%%nestedcv X y\n{'a': elas")
    assert "kernel" not in completions(shell, "%%nestedcv X y\nX.kern")
    assert "kernel" not in completions(shell, "kern")


def test_the_builder_lists_it_and_runs_it_at_once(added):
    """A cost makes it live; the code that it shows runs."""
    builder = cvnb.widgets.RecipeBuilder(X, y, namespace={"X": X, "y": y})
    try:
        builder.family_name = "kernel"
        assert builder.wait(60)
        assert builder.result.path == "path:kernel"
        space = {"X": X, "y": y}
        exec(builder.to_python(), space)
        assert space["result"].fold_risks.tolist() == builder.result.fold_risks.tolist()
        assert ["kernel", "kernel"] in builder._choices()["family_name"]
    finally:
        builder.close()


def test_the_builder_waits_where_the_cost_is_not_known(replaced):
    """Until the run button is pressed."""
    replaced(cost=None)
    builder = cvnb.widgets.RecipeBuilder(X, y, namespace={"X": X, "y": y})
    try:
        builder.family_name = "kernel"
        assert builder.wait(60)
        assert builder.result is None
        builder.run()
        assert builder.wait(60)
        assert builder.result.path == "path:kernel"
    finally:
        builder.close()


def test_the_package_has_its_short_hand(added):
    """As long as the record is there."""
    assert cvnb.kernel is kernel
    assert "kernel" in dir(cvnb)
    registry.remove(KERNEL)
    assert not hasattr(cvnb, "kernel")
    assert "kernel" not in dir(cvnb)


# The one table


def names_of(record):
    """The names by which a module might list an algorithm."""
    addresses = [*record.models, *record.short_hands]
    return {record.name, *(address.rpartition(":")[2] for address in addresses)}


def words_in(literal):
    for node in ast.walk(literal):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name | ast.Attribute):
            yield node.id if isinstance(node, ast.Name) else node.attr


def test_no_other_module_lists_the_algorithms():
    """No literal anywhere names three of them."""
    offenders = []
    for path in sorted(PACKAGE.rglob("*.py")):
        # the table, and the path with a method for each kind of prefix
        if path.name in ("records.py", "prefix.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
                words = set(words_in(node))
                if sum(bool(words & names_of(record)) for record in BUILT_IN) > 2:
                    offenders.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert offenders == []


@pytest.mark.parametrize("record", BUILT_IN, ids=lambda record: record.name)
def test_every_address_leads_somewhere(record):
    """Models to classes, functions to functions."""
    assert all(isinstance(model, type) for model in record.classes)
    assert all(callable(imported(hand)) for hand in record.short_hands)
    given = [getattr(record, field.name) for field in dataclasses.fields(record)]
    assert all(
        callable(imported(one.address)) for one in given if isinstance(one, Lazy)
    )


def test_the_staged_models_are_those_of_their_path():
    """Which knows each of them by its own trick."""
    of = {record.name: set(record.classes) for record in BUILT_IN}
    assert [of["tree"], of["boosting"], of["forest"]] == [
        set(stages.TREES),
        set(stages.BOOSTING),
        set(stages.FORESTS),
    ]


# Records that are refused


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"models": (Kernel())}, TypeError, "not iterable"),
        (
            {"models": (Kernel(),)},
            WrongTypeError,
            "names Kernel.* as a model, which is no class",
        ),
        ({"name": "knn"}, FamilyError, "'knn' is an algorithm of cvnb's own"),
        ({"short_hands": ("toys:knn",)}, FamilyError, "'knn' is a short-hand already"),
        ({"short_hands": ("toys:nothing",)}, AttributeError, "nothing"),
        (
            {"notes": {"margins": "Else."}},
            FamilyError,
            "'margins' is a kind of note already",
        ),
    ],
)
def test_a_clash_is_refused_by_name(changes, error, match):
    """Nothing of the record stays."""
    with pytest.raises(error, match=match):
        registry.add(dataclasses.replace(KERNEL, **changes))
    assert registry.records() == BUILT_IN


def test_what_is_no_record_is_refused():
    """The message shows how to make one."""
    with pytest.raises(
        WrongTypeError, match=r"no Algorithm; make one: cvnb.paths.Algorithm\("
    ):
        registry.add("kernel")


def test_a_class_defined_anew_replaces_itself(added):
    """A cell that is run again leaves one record, not two that clash."""
    again = type("Kernel", (Kernel,), {"__module__": Kernel.__module__})
    record = dataclasses.replace(KERNEL, models=(again,))
    registry.add(record)
    assert registry.records() == (*BUILT_IN, record)
    registry.remove(record)


# Other packages

RECORDS = """
from toys import *
from cvnb.paths import Algorithm
loaded = True
ours = [KERNEL]
clash = Algorithm("other", ("sklearn.linear_model:Ridge",), "alpha")
"""
BEGIN = """
import sys, numpy as np
from cvnb import nested_cv, ridge
from cvnb.families import registry
X = np.random.default_rng(0).normal(size=(60, 2))
def nested(*given, **more): return nested_cv(*given, outer=3, inner=2, progress='off', **more)
"""


@pytest.fixture
def package(tmp_path):
    """(entry points) -> output of a program with a package that has them installed."""

    def installed(entries, code):
        info = tmp_path / "plugged-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(
            "[cvnb.algorithms]\n" + "\n".join(entries) + "\n"
        )
        (tmp_path / "plugged.py").write_text(RECORDS)
        folders = [str(tmp_path), str(Path(__file__).parents[1]), str(PACKAGE.parent)]
        given = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        done = subprocess.run(
            [sys.executable, "-c", BEGIN + code],
            capture_output=True,
            text=True,
            env=given,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return installed


def test_a_package_brings_its_algorithm(package):
    """Loaded once, at the first model that is not built in."""
    code = """
nested(ridge(alpha=[0.1, 1.0]), X, X[:, 0])
print('plugged' in sys.modules)
from toys import Kernel
print(nested((Kernel(), {'bandwidth': [0.3, 1.0, 3.0]}), X, X[:, 0]).path)
print('plugged' in sys.modules, len(registry.records()))
print(nested((Kernel(), {'bandwidth': [0.3, 1.0, 3.0]}), X, X[:, 0], path='refit').path)
"""
    assert package(["toy = plugged:ours"], code) == [
        "False",
        "path:kernel",
        f"True {len(BUILT_IN) + 1}",
        "refit",
    ]


def test_a_package_brings_its_short_hand(package):
    """`from cvnb import kernel`, as the code that a result shows has it."""
    code = """
from cvnb import kernel
print(nested(kernel(), X, X[:, 0]).path)
print(hasattr(sys.modules["cvnb"], "nothing"))
"""
    assert package(["toy = plugged:ours"], code) == ["path:kernel", "False"]


def test_a_package_that_fails_ends_no_run(package):
    """Its reason is shown instead; other packages load, and built-in models keep their paths."""
    entries = [
        "broken = plugged:nowhere",
        "gone = not_there:x",
        "rude = plugged:clash",
        "toy = plugged:ours",
    ]
    code = """
from sklearn.svm import SVR
from sklearn.linear_model import Ridge
for model, grid in ((SVR(), {'C': [1.0, 2.0]}), (Ridge(), {'alpha': [1.0, 2.0]}), (Ridge(), {})):
    result = nested((model, grid), X, X[:, 0])
    print(result.path, result.path_reason, sep=' | ')
from toys import Kernel
print(nested((Kernel(), {}), X, X[:, 0]).path)
print(*registry.PLUG_INS.failed, sep=',')
"""
    refit, ridge, _, toy, failed = package(entries, code)
    assert refit.startswith(
        "refit | one fit per setting and split: no other exact way is known for SVR; "
    )
    assert (
        "the entry point 'broken' failed: AttributeError: module 'plugged' has no "
        "attribute 'nowhere'" in refit
    )
    assert (
        "the entry point 'gone' failed: ModuleNotFoundError: No module named 'not_there'"
        in refit
    )
    assert (
        "the entry point 'rude' failed: FamilyError: Ridge has a path of cvnb's own; it stays."
        in refit
    )
    assert ridge.startswith("shared:ridge")
    assert (toy, failed) == ("path:kernel", "broken,gone,rude")


def test_what_the_user_added_stays(package):
    """A package that comes later is refused by name."""
    code = """
from toys import Kernel, kernels
from cvnb.paths import add_path
from sklearn.svm import SVR
add_path(Kernel, 'bandwidth', kernels, name='mine')
print(nested((SVR(), {}), X, X[:, 0]).path_reason)
print(nested((Kernel(), {}), X, X[:, 0]).path)
"""
    reason, path = package(["toy = plugged:ours"], code)
    assert reason.endswith(
        "the entry point 'toy' failed: FamilyError: Kernel has a path already, 'mine'; it stays."
    )
    assert path == "path:mine"
