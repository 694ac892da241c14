"""A package and a home that cannot be written to: kernels are compiled all the same, and kept where nobody else can write."""

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
from sklearn.datasets import load_iris

import cvnb
from cvnb import kernels, knn, nested_cv

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="needs the users and modes of POSIX"
)

DROP_FROM_BOUNDING_SET, OVERRIDE_MODES = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
SENTENCE = "cvnb cannot keep its compiled loops"

# Asks Numba itself first whether there is a place, in a file of the same folder: the test must not pass where it can write.
SCRIPT = """
import json, sys
import numba
from pathlib import Path
import cvnb
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
from cvnb.kernels import votes
X, y = load_iris(return_X_y=True)
risks = [cvnb.nested_cv(cvnb.knn(), X, y, seed=seed, progress="off").fold_risks.tolist() for seed in RUNS]
from cvnb.kernels import neighbours
functions = [one for module in (votes, neighbours) for one in vars(module).values() if hasattr(one, "stats")]
found = {
    "refused": refused,
    "risks": risks,
    "places": sorted({str(one.stats.cache_path) for one in functions}),
    "compiled": sum(sum(one.stats.cache_misses.values()) for one in functions),
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
    return sorted({str(one.stats.cache_path) for one in vars(votes).values() if hasattr(one, "stats")})
"""


def without_override():
    """Modes of files count for root too, in the program that is started."""
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(
        DROP_FROM_BOUNDING_SET, OVERRIDE_MODES, 0, 0, 0
    ):
        raise OSError("this root cannot give up its right to write everywhere")


@pytest.fixture
def installed(tmp_path):
    """The package in a folder that is read-only, beside a folder for temporary files; a home that cannot be made."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip(
            "root can write everywhere, and gives that up on Linux alone; run the tests as another user"
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
    """What a new process found, and what it said."""
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
    """The numbers are those of any other installation, one note says where, and the second process compiles nothing."""
    found, said = start(installed, runs=[0, 1], workers=True)
    assert "no locator available" in found["refused"]
    X, y = load_iris(return_X_y=True)
    expected = [
        nested_cv(knn(), X, y, seed=seed, progress="off").fold_risks for seed in (0, 1)
    ]
    np.testing.assert_array_equal(found["risks"], expected)
    kept = installed / "temporary" / f"cvnb-numba-{os.geteuid()}"
    assert [Path(place).parent for place in found["places"]] == [kept]
    assert found["workers"] == [found["places"]] * 2
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert found["untouched"]
    lines = [line for line in said.splitlines() if SENTENCE in line]
    assert len(set(lines)) == 1
    assert len(lines) <= 3  # this process, and each of two workers
    assert f"They are kept in {kept}; set NUMBA_CACHE_DIR" in lines[0]
    assert found["compiled"] > 0
    again, said = start(installed, runs=[0, 1])
    assert again["risks"] == found["risks"]
    assert again["compiled"] == 0
    assert said.count(SENTENCE) == 1


def test_where_nothing_can_be_kept_kernels_are_compiled_without_a_cache(installed):
    """The folder that somebody else has prepared is not used."""
    planted = installed / "temporary" / f"cvnb-numba-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    found, said = start(installed, runs=[0])
    assert "no locator available" in found["refused"]
    X, y = load_iris(return_X_y=True)
    np.testing.assert_array_equal(
        found["risks"], [nested_cv(knn(), X, y, progress="off").fold_risks]
    )
    assert found["places"] == ["None"]
    assert found["untouched"]
    assert list(planted.iterdir()) == []
    assert said.count(SENTENCE) == 1
    assert "They are compiled again in every process" in said


def test_a_directory_that_the_user_names_is_used(installed):
    """NUMBA_CACHE_DIR, and no word about it."""
    (installed / "mine").mkdir()
    found, said = start(installed, NUMBA_CACHE_DIR=str(installed / "mine"))
    assert [Path(place).parent for place in found["places"]] == [installed / "mine"]
    assert said == ""
    assert list((installed / "temporary").iterdir()) == []


def test_a_home_that_can_be_written_to_is_used(installed):
    """As Numba has it, and no word about it."""
    (installed / "home").mkdir()
    found, said = start(installed, HOME=str(installed / "home"))
    assert all(
        Path(place).is_relative_to(installed / "home") for place in found["places"]
    )
    assert said == ""
    assert list((installed / "temporary").iterdir()) == []


def test_a_package_that_can_be_written_to_keeps_its_kernels_beside_it(installed):
    """As ever."""
    lock(installed / "site", 0o755)
    found, said = start(installed)
    assert found["refused"] == ""
    assert found["places"] == [
        str(installed / "site" / "cvnb" / "kernels" / "__pycache__")
    ]
    assert said == ""
    assert list((installed / "temporary").iterdir()) == []


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, as /tmp is."""
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_directory_is_made_once_and_is_the_users_alone(temporary):
    """Found again by the next process."""
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
    """What lies in it would be run."""
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
    """Nor an error."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert kernels._own_directory() is None


def test_an_error_of_another_kind_is_not_taken_for_a_missing_place(monkeypatch):
    """A locator that the user names and that does not exist is the user's to mend."""
    if not hasattr(kernels.numba.config, "CACHE_LOCATOR_CLASSES"):
        pytest.skip("this Numba has no locators to name")
    monkeypatch.setattr(
        kernels.numba.config, "CACHE_LOCATOR_CLASSES", "no.such.Locator"
    )
    with pytest.raises(RuntimeError, match=r"no\.such\.Locator"):
        kernels._can_cache()
