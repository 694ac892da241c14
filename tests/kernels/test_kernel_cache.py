"""Kernels are compiled and kept privately even if the package and the home are read-only."""

import ctypes
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_iris

import cvnb
from cvnb import kernels, nested_cv

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="needs the users and modes of POSIX"
)

DROP_FROM_BOUNDING_SET, OVERRIDE_MODES = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
SMALLEST = PLSRegression(), {"n_components": [1, 2]}  # the least to compile
SENTENCE = "cvnb cannot keep its compiled loops"

# First asks Numba whether it has a cache directory for a file of the same folder: the test must not
# pass if it can write.
SCRIPT = """
import json, sys
import numba
from pathlib import Path
import cvnb
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_iris

def own():
    pass

own.__code__ = own.__code__.replace(co_filename=cvnb.__file__)
try:
    numba.njit(cache=True)(own)
    refused = ""
except RuntimeError as error:
    refused = str(error)
before = numba.njit, numba.config.CACHE_DIR
from cvnb.kernels import neighbours, pls, votes
X, y = load_iris(return_X_y=True)
family = PLSRegression(), {"n_components": [1, 2]}
results = [cvnb.nested_cv(family, X, y, seed=seed, progress="off") for seed in RUNS]
functions = [
    value
    for module in (neighbours, pls, votes)
    for value in vars(module).values()
    if hasattr(value, "stats")
]
found = {
    "refused": refused,
    "risks": [result.fold_risks.tolist() for result in results],
    "places": sorted({str(function.stats.cache_path) for function in functions}),
    "compiled": sum(sum(function.stats.cache_misses.values()) for function in functions),
    "untouched": (numba.njit, numba.config.CACHE_DIR) == before,
}
if WORKERS:
    from joblib import Parallel, delayed
    import elsewhere
    found["workers"] = Parallel(n_jobs=2)(delayed(elsewhere.place)() for _ in range(2))
print(json.dumps(found))
"""
ELSEWHERE = """
def place():
    from cvnb.kernels import votes
    functions = [value for value in vars(votes).values() if hasattr(value, "stats")]
    return sorted({str(function.stats.cache_path) for function in functions})
"""


def without_override():
    """Make file modes count for root too, in the new process."""
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(
        DROP_FROM_BOUNDING_SET, OVERRIDE_MODES, 0, 0, 0
    ):
        raise OSError("this root cannot give up its right to write everywhere")


@pytest.fixture
def installed(tmp_path):
    """A read-only copy of the package, a folder for temporary files, and no home."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip(
            "root can write everywhere, and gives that up on Linux alone; run the tests "
            "as another user"
        )
    shutil.copytree(
        Path(cvnb.__file__).parent,
        tmp_path / "site" / "cvnb",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "site" / "elsewhere.py").write_text(ELSEWHERE)
    (tmp_path / "temporary").mkdir(mode=0o700)
    lock(tmp_path / "site", 0o555)
    yield tmp_path
    lock(tmp_path / "site", 0o755)


def lock(folder, mode):
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(mode)


def start(installed, runs=(), workers=False, **environment):
    """Return what a new process found, and what it logged."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_", "XDG_", "JOBLIB_"))
    }
    home = {
        "HOME": str(installed / "site" / "home"),
        "TMPDIR": str(installed / "temporary"),
    }
    env |= {
        "PYTHONPATH": str(installed / "site"),
        "PYTHONWARNINGS": "error",
        **home,
        **environment,
    }
    script = SCRIPT.replace("RUNS", repr(list(runs))).replace("WORKERS", repr(workers))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=env,
        cwd=installed,
        capture_output=True,
        text=True,
        preexec_fn=without_override,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_a_read_only_installation_runs_and_keeps_its_kernels_for_the_next_process(
    installed,
):
    """The numbers do not change, one note names the place, and nothing is compiled again."""
    found, log = start(installed, runs=[0, 1], workers=True)
    assert "no locator available" in found["refused"]
    X, y = load_iris(return_X_y=True)
    expected = [
        nested_cv(SMALLEST, X, y, seed=seed, progress="off").fold_risks
        for seed in (0, 1)
    ]
    np.testing.assert_array_equal(found["risks"], expected)
    kept = installed / "temporary" / f"cvnb-numba-{os.geteuid()}"
    assert [Path(place).parent for place in found["places"]] == [kept]
    assert found["workers"] == [found["places"]] * 2
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert found["untouched"]
    lines = [line for line in log.splitlines() if SENTENCE in line]
    assert len(set(lines)) == 1
    assert len(lines) <= 3  # this process, and each of two workers
    assert f"They are kept in {kept}; set NUMBA_CACHE_DIR" in lines[0]
    assert found["compiled"] > 0
    again, log = start(installed, runs=[0, 1])
    assert again["risks"] == found["risks"]
    assert again["compiled"] == 0
    assert log.count(SENTENCE) == 1


def test_where_nothing_can_be_kept_kernels_are_compiled_without_a_cache(installed):
    """A folder prepared by another user is not used."""
    planted = installed / "temporary" / f"cvnb-numba-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    found, log = start(installed, runs=[0])
    assert "no locator available" in found["refused"]
    X, y = load_iris(return_X_y=True)
    np.testing.assert_array_equal(
        found["risks"], [nested_cv(SMALLEST, X, y, progress="off").fold_risks]
    )
    assert found["places"] == ["None"]
    assert found["untouched"]
    assert list(planted.iterdir()) == []
    assert log.count(SENTENCE) == 1
    assert "They are compiled again in every process" in log


def test_a_directory_that_the_user_names_is_used(installed):
    """NUMBA_CACHE_DIR is used without a note."""
    (installed / "mine").mkdir()
    found, log = start(installed, NUMBA_CACHE_DIR=str(installed / "mine"))
    assert [Path(place).parent for place in found["places"]] == [installed / "mine"]
    assert log == ""
    assert list((installed / "temporary").iterdir()) == []


def test_a_home_that_can_be_written_to_is_used(installed):
    """Numba's own choice is used without a note."""
    (installed / "home").mkdir()
    found, log = start(installed, HOME=str(installed / "home"))
    assert all(
        Path(place).is_relative_to(installed / "home") for place in found["places"]
    )
    assert log == ""
    assert list((installed / "temporary").iterdir()) == []


def test_a_package_that_can_be_written_to_keeps_its_kernels_beside_it(installed):
    """This is the usual case, without a note."""
    lock(installed / "site", 0o755)
    found, log = start(installed)
    assert found["refused"] == ""
    assert found["places"] == [
        str(installed / "site" / "cvnb" / "kernels" / "__pycache__")
    ]
    assert log == ""
    assert list((installed / "temporary").iterdir()) == []


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files with the mode of /tmp."""
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_directory_is_made_once_and_is_the_users_alone(temporary):
    """The next process finds it again."""
    made = kernels._own_directory()
    assert made == str(temporary / f"cvnb-numba-{os.geteuid()}")
    assert stat.S_IMODE(os.stat(made).st_mode) == 0o700
    assert kernels._own_directory() == made


@pytest.mark.parametrize(
    "planted", ["open to others", "a link", "a file", "of somebody else", "replaceable"]
)
def test_a_directory_that_somebody_else_may_have_planted_is_not_used(
    temporary, planted
):
    """Its contents would be run."""
    place = temporary / f"cvnb-numba-{os.geteuid()}"
    if planted == "open to others":
        place.mkdir()
        place.chmod(0o750)
    elif planted == "a link":
        (temporary / "theirs").mkdir(mode=0o700)
        place.symlink_to(temporary / "theirs")
    elif planted == "a file":
        place.touch(mode=0o600)
    elif planted == "replaceable":
        temporary.chmod(0o777)
    elif os.geteuid() == 0:
        place.mkdir(mode=0o700)
        os.chown(place, 65534, 65534)
    else:
        pytest.skip("only root can give a directory to another user")
    assert kernels._own_directory() is None


def test_without_a_place_for_temporary_files_there_is_no_directory(
    tmp_path, monkeypatch
):
    """There is no error either."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert kernels._own_directory() is None


def test_an_error_of_another_kind_is_not_taken_for_a_missing_place(monkeypatch):
    """A locator that does not exist is an error for the user to fix."""
    if not hasattr(kernels.numba.config, "CACHE_LOCATOR_CLASSES"):
        pytest.skip("this Numba has no locators to name")
    monkeypatch.setattr(
        kernels.numba.config, "CACHE_LOCATOR_CLASSES", "no.such.Locator"
    )
    with pytest.raises(RuntimeError, match=r"no\.such\.Locator"):
        kernels._can_cache()
