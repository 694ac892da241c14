"""The lists of tests/kinds.py name files and tests that exist, and the kinds are as they say."""

import ast

import pytest

import kinds

FILES = {
    *kinds.PAGES,
    *kinds.SHARING,
    kinds.ROWS,
    *kinds.EXHAUSTIVE,
    *kinds.SLOW_FILES,
    *kinds.SLOW_TESTS,
    *kinds.CLUSTERS,
    kinds.LINT,
}


@pytest.mark.parametrize("file", sorted(FILES))
def test_a_listed_file_exists(file):
    """A file that is renamed is renamed in the list too."""
    assert (kinds.TESTS / file).is_file()


@pytest.mark.parametrize("file", kinds.SLOW_TESTS)
def test_a_listed_test_exists(file):
    """A test that is renamed is renamed in the list too."""
    tree = ast.parse((kinds.TESTS / file).read_text(encoding="utf-8"))
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(kinds.SLOW_TESTS[file]) <= tests


def test_no_test_is_listed_twice():
    """A file is slow as a whole, or some tests of it are."""
    assert not {*kinds.SLOW_FILES} & {*kinds.EXHAUSTIVE, *kinds.SLOW_TESTS}


def test_some_cases_of_an_exhaustive_test_stay_in_make_check():
    """Two of seven, spread over them; a test without parameters stays."""
    items = [Item("paths/test_agreement.py", "test_a", case) for case in range(7)]
    items.append(Item("paths/test_agreement.py", "test_b", None))
    kinds.mark_surplus_cases(items)
    assert [item.case for item in items if not item.marks] == [0, 3, None]


class Item:
    """As much of pytest's items as the marking of cases needs."""

    def __init__(self, file, originalname, case):
        self.path, self.originalname = kinds.TESTS / file, originalname
        self.case, self.marks = case, []

    def add_marker(self, name):
        self.marks.append(name)

    def get_closest_marker(self, name):
        return name if name in self.marks else None


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("notebooks/a.ipynb::Cell 3", "notebooks/a.ipynb"),
        ("tests/browser/test_lab.py::test_a[lab]", "browser"),
        ("tests/browser/test_pages.py::test_a", "pages"),
        ("tests/project/test_docs.py::test_a", "pages"),
        ("tests/engine/test_cluster.py::test_a[1]", "engine/test_cluster.py"),
        ("tests/jupyter/test_kernel.py::test_a", "jupyter/test_kernel.py"),
        ("tests/engine/test_run.py::test_a[b]", "engine/test_run.py"),
        ("tests/paths/test_agreement.py::test_a[x]", "paths/test_agreement.py[x]"),
    ],
)
def test_tests_that_share_something_are_one_group(nodeid, group):
    """A server, a cluster, a kernel or a notebook is started in one process only."""
    assert kinds.group_of(nodeid) == group


def test_a_slow_test_is_a_group_of_its_own():
    """The next free process takes it."""
    for file, names in kinds.SLOW_TESTS.items():
        for name in names:
            assert kinds.group_of(f"tests/{file}::{name}").endswith(name)
