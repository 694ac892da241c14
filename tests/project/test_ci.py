"""The workflow of a public forge runs what pyproject.toml and the Makefile promise."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"
JOBS = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PREFIX = "Programming Language :: Python :: "
PYTHONS = [
    name.removeprefix(PREFIX)
    for name in PROJECT["classifiers"]
    if re.fullmatch(rf"{PREFIX}3\.\d+", name)
]


def commands(job):
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def python_versions(job):
    """The versions that a job sets up."""
    matrix = JOBS[job].get("strategy", {}).get("matrix", {})
    if "python" in matrix:
        return matrix["python"]
    used = [step["with"] for step in JOBS[job]["steps"] if "with" in step]
    return [
        options["python-version"] for options in used if "python-version" in options
    ]


def lower_bound(specifier):
    (bound,) = (part for part in specifier if part.operator == ">=")
    return Version(bound.version)


def oldest_pins():
    lines = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {pin.name: Version(next(iter(pin.specifier)).version) for pin in pins}


def bounds(requirements):
    """Lower bounds by name; a requirement without one, as cvnb[docs], has none."""
    parsed = [Requirement(text) for text in requirements]
    return {one.name: lower_bound(one.specifier) for one in parsed if one.specifier}


BOUNDS = bounds(PROJECT["dependencies"])
TEST_BOUNDS = bounds(PROJECT["optional-dependencies"]["test"])
PINS = oldest_pins()


def test_the_classifiers_start_at_the_oldest_python():
    """requires-python is the first of the classifiers, which have no gap."""
    oldest = lower_bound(SpecifierSet(PROJECT["requires-python"]))
    minors = [int(name.split(".")[1]) for name in PYTHONS]
    assert minors == list(range(oldest.minor, oldest.minor + len(minors)))


@pytest.mark.parametrize("job", ["whole", "check"])
def test_every_python_of_the_classifiers_is_run(job):
    """On Linux, macOS and Windows."""
    assert python_versions(job) == PYTHONS


def test_the_oldest_releases_are_run_on_the_oldest_python():
    """The newest Python has no wheels of them."""
    assert python_versions("oldest") == PYTHONS[:1]
    assert any(
        "--constraint .ci/oldest.txt" in command for command in commands("oldest")
    )


def test_the_three_systems_are_run():
    """Linux in full, the others without browser, cluster and notebooks."""
    assert JOBS["whole"]["runs-on"] == "ubuntu-latest"
    assert JOBS["check"]["strategy"]["matrix"]["os"] == [
        "macos-latest",
        "windows-latest",
    ]
    assert ".ci/run" in commands("whole")


@pytest.mark.parametrize("name", PINS)
def test_the_oldest_release_is_the_lower_bound(name):
    """The same number, up to the digits that the bound leaves open."""
    bound = (BOUNDS | TEST_BOUNDS)[name].release
    assert PINS[name].release[: len(bound)] == bound


def test_every_dependency_has_its_oldest_release():
    """Tests may need the newest release of their own tools."""
    assert PINS.keys() >= BOUNDS.keys()


@pytest.mark.parametrize("job", ["check", "oldest"])
def test_the_quick_tests_are_those_of_make_check(job):
    """The same selection by markers."""
    (selection,) = re.findall(r"(?m)^QUICK := (.+)$", MAKEFILE)
    command = f'python -m pytest cvnb tests -n auto -m "{selection}"'
    assert any(one.startswith(command) for one in commands(job))


@pytest.mark.parametrize("job", ["check", "oldest"])
def test_the_extras_are_those_of_the_makefile(job):
    """A machine of the forge has what .venv has."""
    (extras,) = re.findall(r"--editable '(.+)'", MAKEFILE)
    assert any(f'--editable "{extras}"' in command for command in commands(job))
