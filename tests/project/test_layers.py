"""Data flows down: what a module may import, how long it may be, and what `import cvnb` may cost."""

import ast
import subprocess
import sys
from importlib.util import resolve_name
from inspect import ismodule
from pathlib import Path

import pytest

import cvnb

PACKAGE = Path(cvnb.__file__).parent

# A module imports only from those that stand before its own.
ORDER = (
    "errors",
    "runtime.loading",
    "families.algorithm",
    "families.records",
    "families.registry",
    "wording",
    "runtime.randomness",
    "runtime.thread_warnings",
    "data.checks",
    "data.table",
    "losses.loss",
    "splits.splitters",
    "splits.explicit",
    "splits.layouts",
    "splits.specs",
    "splits.recipes",
    "splits.plan",
    "splits.drawer",
    "families.family",
    "families.self_tuning",
    "families.shorthands",
    "families.simplicity",
    "runs.feasibility",
    "inference",
    "inference.rules",
    "engine.table",
    "kernels",
    "runtime.cores",
    "runtime.cancel",
    "runtime.threads",
    "paths",
    "engine.cluster",
    "engine.progress",
    "engine.compiling",
    "results.predictor",
    "engine.workers",
    "engine.nested",
    "engine.run",
    "results.notes",
    "inference.interval",
    "results.estimate",
    "results.comparison",
    "results.reports",
    "runs.forecast",
    "runs.prepare",
    "runs.advice",
    "runs.estimators",
    "views.codegen",
    "pictures.split_map",
    "pictures.curves",
    "pictures.svg",
    "figures",
    "views.display",
    "views.methods",
    "views.html_report",
    "jupyter.background",
    "jupyter.magic_line",
    "jupyter.magics",
    "jupyter.completion",
    "widgets",
)

# The front doors: for the user's convenience these import what stands after them, and only inside a function.
FRONT_DOORS = {
    "splits.recipes": {"runs.advice", "runs.prepare", "views.display"},
    "families.family": {"views.display"},
    "splits.plan": {"views.display"},
    "inference": {"inference.rules"},
    "results.estimate": {
        "views.display",
        "figures",
        "views.html_report",
        "views.codegen",
    },
    "results.comparison": {"views.display"},
    "jupyter.magics": {"widgets"},
    "results.reports": {"views.display"},
}

MODULES = sorted(PACKAGE.rglob("*.py"))
# from .. import room: the module is in the alias
ROOMS = (
    "cvnb",
    "cvnb.jupyter",
    "cvnb.results",
    "cvnb.runs",
    "cvnb.engine",
    "cvnb.families",
    "cvnb.inference",
    "cvnb.runtime",
    "cvnb.splits",
    "cvnb.views",
)


def module_name(path):
    """cvnb/paths/knn.py -> cvnb.paths.knn.path; cvnb/paths/__init__.py -> cvnb.paths."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(name):
    """cvnb.paths.knn.path -> paths; the package itself, and a room without code of its own -> ""."""
    inside = name.removeprefix("cvnb").lstrip(".")
    fitting = [
        known for known in ORDER if inside == known or inside.startswith(f"{known}.")
    ]
    return max(fitting, key=len, default="")


def is_for_types_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )


def imported_names(node, package):
    """The modules of cvnb that one import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        source = (
            resolve_name("." * node.level + (node.module or ""), package)
            if node.level
            else node.module
        )
        # from cvnb import errors: the module is in the alias
        names = (
            [f"{source}.{alias.name}" for alias in node.names]
            if source in ROOMS
            else [source]
        )
    return [name for name in names if name.split(".")[0] == "cvnb"]


def imports(node, package, inside=False):
    """(imported module, inside a function or not) for all that is imported at run time below this node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            for name in imported_names(child, package):
                yield name, inside
        elif is_for_types_only(child):
            for other in child.orelse:
                yield from imports(other, package, inside)
        else:
            yield from imports(
                child,
                package,
                inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef),
            )


def imports_of(path):
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return name, list(imports(ast.parse(path.read_text(encoding="utf-8")), package))


def is_allowed(importer, imported, inside):
    """Whether a module of one layer may import one of another."""
    if imported not in ORDER:
        return False
    if ORDER.index(imported) < ORDER.index(importer):
        return True
    if imported == importer:
        return (
            importer != "kernels"
        )  # a compiled kernel is not compiled anew when another file changes
    return inside and imported in FRONT_DOORS.get(importer, ())


def test_every_module_has_a_layer():
    """A new module gets a place in ORDER."""
    homeless = [
        path
        for path in MODULES
        if not layer(module_name(path)) and path.name != "__init__.py"
    ]
    assert homeless == []


def test_modules_import_only_from_layers_above():
    """Nothing imports what depends on it, front doors apart; names for the type checker are free."""
    offenders = [
        f"{name} imports {imported}{' in a function' if inside else ''}"
        for name, found in map(imports_of, MODULES)
        if layer(name) in ORDER
        for imported, inside in found
        if not is_allowed(layer(name), layer(imported), inside)
    ]
    assert offenders == []


def test_every_front_door_is_used():
    """An exception that nothing needs any more is taken back."""
    found = {
        (layer(name), layer(imported))
        for name, pairs in map(imports_of, MODULES)
        for imported, _ in pairs
    }
    assert {
        (door, room) for door, rooms in FRONT_DOORS.items() for room in rooms
    } - found == set()


def test_modules_are_short():
    """A module of 400 lines holds two nouns."""
    lengths = {
        str(path.relative_to(PACKAGE)): len(
            path.read_text(encoding="utf-8").splitlines()
        )
        for path in MODULES
    }
    assert {name: length for name, length in lengths.items() if length >= 400} == {}


def test_functions_are_short():
    """A function of 60 lines does two things."""
    lengths = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}": node.end_lineno
        - node.lineno
        + 1
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length >= 60} == {}


def test_public_names_are_sorted():
    """In the order of sorted(), each once."""
    assert list(cvnb.__all__) == sorted(set(cvnb.__all__))


@pytest.mark.parametrize("name", cvnb.__all__)
def test_public_names_are_there(name):
    """Each is offered by completion and can be imported."""
    assert name in dir(cvnb)
    assert hasattr(cvnb, name)


def test_no_public_name_is_left_out():
    """What dir() offers is in __all__, IPython's two hooks and the modules apart."""
    offered = {
        name
        for name in dir(cvnb)
        if not name.startswith("_") and not ismodule(getattr(cvnb, name))
    }
    assert (
        offered - {*cvnb.__all__, "load_ipython_extension", "unload_ipython_extension"}
        == set()
    )


def test_import_is_silent_and_light():
    """import cvnb prints nothing and leaves the slow packages to the first use."""
    code = "import sys, cvnb; slow = {'sklearn', 'IPython', 'pandas'} & sys.modules.keys(); assert not slow, slow"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout + done.stderr == ""
