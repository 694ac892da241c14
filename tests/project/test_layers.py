"""Imports between rooms, lengths of modules and functions, and the cost of `import cvnb`."""

import ast
import graphlib
import subprocess
import sys
from importlib.util import resolve_name
from inspect import ismodule
from pathlib import Path

import pytest

import cvnb

PACKAGE = Path(cvnb.__file__).parent

# A room imports only earlier rooms; a module directly in cvnb/ is a room of its own.
ORDER = (
    "errors",
    "wording",
    "calls",
    "runtime",
    "data",
    "splits",
    "families",
    "losses",
    "inference",
    "kernels",
    "paths",
    "engine",
    "results",
    "runs",
    "pictures",
    "studies",
    "figures",
    "views",
    "jupyter",
    "widgets",
    "__main__",
)

# The front doors: for the user's convenience these import later rooms, inside functions only.
FRONT_DOORS = {
    "engine": {"pictures"},
    "splits": {"runs", "views"},
    "families": {"views"},
    "results": {"figures", "pictures", "views"},
    "studies": {"figures"},
    "jupyter": {"widgets"},
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(path):
    """cvnb/paths/base.py -> cvnb.paths.base; cvnb/paths/__init__.py -> cvnb.paths."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path): path for path in MODULES}


def room(name):
    """cvnb.paths.linear.rows -> paths; the package itself -> ""."""
    return name.split(".")[1] if "." in name else ""


def is_for_types_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )


def imported_modules(node, package):
    """The modules of cvnb that one import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        source = (
            resolve_name("." * node.level + (node.module or ""), package)
            if node.level
            else node.module
        )
        full = [f"{source}.{alias.name}" for alias in node.names]
        names = [
            name if name in NAMES else source for name in full
        ]  # from cvnb import errors: the module is in the alias
    return [name for name in names if name.split(".")[0] == "cvnb"]


def imports(node, package, inside=False):
    """(imported module, inside a function or not) for all that is imported at run time
    below this node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            for name in imported_modules(child, package):
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


def imports_of(name):
    path = NAMES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return list(imports(ast.parse(path.read_text(encoding="utf-8")), package))


IMPORTS = {name: imports_of(name) for name in NAMES}


def is_allowed(importer, imported, inside):
    """Whether a module of one room may import one of another."""
    if imported not in ORDER:
        return False
    if imported == importer:
        return (
            importer != "kernels"
        )  # a compiled kernel is not compiled anew when another file changes
    return ORDER.index(imported) < ORDER.index(importer) or (
        inside and imported in FRONT_DOORS.get(importer, ())
    )


def test_every_module_has_a_room():
    """A new room gets a place in ORDER."""
    assert {room(name) for name in NAMES} == {"", *ORDER}


def test_few_modules_lie_outside_the_rooms():
    """At most six modules are directly in cvnb/."""
    assert len(list(PACKAGE.glob("*.py"))) <= 6


def test_imports_point_down():
    """No room imports a later one, front doors apart; names for the type checker are free."""
    offenders = [
        f"{name} imports {imported}{' in a function' if inside else ''}"
        for name, found in IMPORTS.items()
        if room(name) in ORDER
        for imported, inside in found
        if not is_allowed(room(name), room(imported), inside)
    ]
    assert offenders == []


@pytest.mark.parametrize("own", ORDER)
def test_imports_inside_a_room_are_acyclic(own):
    """The modules of a room can be read in an order in which each needs only those before it."""
    graph = {
        name: {
            imported
            for imported, _ in found
            if room(imported) == own and imported != name
        }
        for name, found in IMPORTS.items()
        if room(name) == own
    }
    tuple(
        graphlib.TopologicalSorter(graph).static_order()
    )  # CycleError names the modules


def test_every_front_door_is_used():
    """An exception that nothing needs any more is taken back."""
    found = {
        (room(name), room(imported))
        for name, pairs in IMPORTS.items()
        for imported, inside in pairs
        if inside
    }
    assert {
        (door, behind) for door, rooms in FRONT_DOORS.items() for behind in rooms
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
    slow = "{'sklearn', 'IPython', 'pandas'} & sys.modules.keys()"
    code = f"import sys, cvnb; slow = {slow}; assert not slow, slow"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout + done.stderr == ""
