"""The output of the scripts of benchmarks/ on small tables; never their times."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from scripts_of import script

SMALLEST = "ridge 1000 50 17 5 5"


@pytest.fixture(scope="module")
def growth():
    """benchmarks/growth.py."""
    return script("growth")


@pytest.fixture(scope="module")
def records(growth):
    """A record for each of its rows: the smallest as it is measured, said of the others too."""
    smallest = growth.ask(SMALLEST)
    found = {}
    for what, (_, _, rows) in growth.BLOCKS.items():
        found[what] = []
        for row in rows:
            name, *numbers = row.split()
            own = dict(
                zip(
                    ("m", "columns", "settings", "outer", "inner"),
                    map(int, numbers),
                    strict=True,
                )
            )
            found[what].append({**smallest, **own, "row": row, "name": name})
    return found


def test_growth_measures_a_row(growth):
    """A row in a process of its own gives what the page and the figure need, by the shared path."""
    record = growth.ask(SMALLEST)
    assert record["row"] == SMALLEST == growth.BLOCKS["m"][2][0]
    assert record["path"] == "shared:ridge"
    assert record["X"] == 0.4
    assert min(record["seconds"], record["fits"]) > 0
    assert json.loads(json.dumps(record)) == record


def test_growth_measures_the_loops_beside_it(growth):
    """GridSearchCV in cross_validate is measured in the same way."""
    assert growth.measure("loops", 100, 3, 2, 2, 2)["seconds"] > 0


def test_growth_page_has_a_table_for_each_quantity(growth, records):
    """Every row stands in a table whose rows have as many cells as its head; command and
    figure are named."""
    page = growth.page(records)
    for title, shared, _ in growth.BLOCKS.values():
        assert f"## Against {title}\n\n{shared}\n\n" in page
    rows = [text for text in page.splitlines() if text.startswith("|")]
    assert {text.count("|") for text in rows} == {
        growth.HEAD.splitlines()[0].count("|")
    }
    assert len(rows) == sum(2 + len(found) for found in records.values())
    assert f"`{growth.COMMAND}`" in page
    assert "](growth.svg)" in page


def test_growth_figure_marks_every_row(growth, records):
    """The figure is one well-formed SVG without a script, with a mark for each row and
    panel, all inside."""
    root = ElementTree.fromstring(growth.figure(records))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names[0] == "svg"
    assert "script" not in names
    marks = [element for element in root.iter() if element.tag.endswith("circle")]
    assert len(marks) == sum(len(records[what]) for what, _ in growth.PANELS)
    assert all(0 < float(mark.get("cx")) < float(root.get("width")) for mark in marks)
    assert all(0 < float(mark.get("cy")) < float(root.get("height")) for mark in marks)
    assert "prefers-color-scheme:dark" in "".join(root.itertext())


def test_growth_says_how_far_a_limit_is(growth, records):
    """A row that is held against limits says the measured number and the limit."""
    assert set(growth.LIMITS) <= {record["row"] for record in records["m"]}
    large = next(
        record for record in records["m"] if record["row"] == "ridge 1000000 50 17 5 5"
    )
    said = growth.beside({**large, "fits": 3.94, "megabytes": 180.0, "X": 400.0})
    assert (
        said
        == "3.9 of one `Ridge().fit` (limit 8), 1.45 of X with X itself (limit 1.5)"
    )


@pytest.mark.parametrize("place", range(7))
def test_speed_skips_a_peer_that_is_absent(place, monkeypatch, capsys):
    """Where a package is not installed its row is one line that says so."""
    speed = script("speed")
    name = list(speed.PEERS)[place]
    monkeypatch.setattr(speed, "find_spec", lambda package: None)
    speed.row(speed.ROWS.index(name))
    assert (
        capsys.readouterr().out
        == f"{name:<46}{speed.PEERS[name][1]} is not installed: row skipped\n"
    )


def test_speed_answers_of_a_path_by_hand_are_ours():
    """What walks a peer's path by hand has the risk of a run, with scikit-learn's own path
    in the peer's place."""
    speed = script("speed")
    from sklearn.linear_model import Lasso, lasso_path

    from cvnb import Family

    X, y = speed.numbers(60, 4)
    theirs = speed.along_path(
        lambda X, y, alphas: lasso_path(X, y, alphas=alphas, tol=1e-10)[1], X, y
    )
    ours = speed.ran(Family(Lasso(), {"alpha": speed.PENALTIES}), X, y)
    assert theirs() == pytest.approx(ours(), rel=1e-6)


@pytest.fixture(scope="module")
def regimes():
    """benchmarks/regimes.py, which imports benchmarks/speed.py by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(script("speed").__file__.rpartition("/")[0])
        yield script("regimes")


# scikit-learn's iterations, some of which do not end
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "ridge, float32 5000×512",
        "logistic, float32 2000×768, 2 classes",
        "k-NN, cosine, float32 5000×512",
        "lasso 200×5000",
        "ridge, sparse 3000×10000",
    ],
)
def test_regimes_compare_answers_on_the_same_splits(regimes, name, capsys):
    """A row names its path and every peer, and its risks are scikit-learn's at the end of its
    iterations."""
    regimes.row(name, seconds=0, shape=(150, 12))
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(name)
    for peer in regimes.ROWS[name].peers:
        assert any(peer.name in line for line in lines)
    assert any(": " in line and line.startswith("    ") for line in lines)
    assert re.search(
        r"differ by (0e\+00|\de-(09|1\d)), 3 of 3 choices are equal$", last
    )


@pytest.mark.filterwarnings("ignore")
def test_regimes_say_what_is_absent(regimes, monkeypatch, capsys):
    """A row or a peer whose package is not installed is a line that says so."""
    installed = {"sklearn": "its spec"}
    monkeypatch.setattr(regimes, "find_spec", installed.get)
    monkeypatch.setattr(regimes.shutil, "which", {}.get)
    for name in ("XGBoost 2000×20, 10 sizes", "lasso 200×5000"):
        regimes.row(name, seconds=0, shape=(60, 12))
    out = capsys.readouterr().out
    assert "xgboost is not installed: row skipped\n" in out
    assert "    celer's path by hand: not installed\n" in out
    assert "    R's cv.glmnet: not installed\n" in out


def test_regimes_read_what_r_answers(regimes, tmp_path, monkeypatch):
    """Its own seconds count; the table that it gets has the folds and penalties of a run."""
    answer = tmp_path / "Rscript"
    answer.write_text(
        f"#!/bin/sh\ncat > {tmp_path}/table\nprintf '2.5\\n1 2 3\\n0 4 5\\n'\n"
    )
    answer.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    X, y = regimes.few_rows(60, 12)
    seconds, found = regimes.timed(regimes.by_glmnet(X, y))
    assert seconds == 2.5
    np.testing.assert_array_equal(found.risks, [1, 2, 3])
    np.testing.assert_array_equal(found.chosen, [0, 4, 5])
    table = (tmp_path / "table").read_bytes()
    codes = np.frombuffer(table, np.int32, 4 + 4 * 60)
    assert codes[:4].tolist() == [60, 12, 3, 50]
    outer, *inner = codes[4:].reshape(4, 60)
    plan = regimes.ran(regimes.shrunk(regimes.Lasso)(), X, y).plan
    for j, (train, test) in enumerate(plan.outer):
        np.testing.assert_array_equal(np.flatnonzero(outer == j + 1), test)
        np.testing.assert_array_equal(np.flatnonzero(inner[j]), train)
        for k, (_, held) in enumerate(plan.inner[j]):
            np.testing.assert_array_equal(np.flatnonzero(inner[j] == k + 1), held)
    numbers = np.frombuffer(table, offset=codes.nbytes)
    np.testing.assert_array_equal(numbers[:50], regimes.PENALTIES)
    np.testing.assert_array_equal(numbers[50:110], y)
    np.testing.assert_array_equal(numbers[110:].reshape(12, 60).T, X)


def test_regimes_glmnet_has_our_answers(regimes):
    """Where R and glmnet are installed: the same choices, and the digits that it computes."""
    if not regimes.is_in_r("glmnet"):
        pytest.skip("R has no glmnet here")
    X, y = regimes.few_rows(150, 12)
    result = regimes.ran(regimes.shrunk(regimes.Lasso)(), X, y)
    found = regimes.by_glmnet(X, y)()
    assert 0 < found.seconds < 60
    assert regimes.relative(result.fold_risks, found.risks) < 1e-3
    np.testing.assert_array_equal(found.chosen, result.chosen_index)


def test_regimes_are_named_after_their_size(regimes):
    """The name of a row tells the shape of its table."""
    for name, regime in regimes.ROWS.items():
        assert "{}×{}".format(*regime.shape) in name, name


def test_regimes_do_not_hide_a_difference(regimes):
    """Other risks and other choices are told."""
    family = regimes.ridge()()
    X, y = regimes.few_rows(60, 12)
    result = regimes.ran(family, X, y)
    search = regimes.grid_search(family.estimator, family.grid, -3 * y**2, 3)
    risks, searches = regimes.nested(search, X, -3 * y**2, 3)
    said = regimes.difference(result, risks, regimes.indices(searches))
    assert re.match(r"differ by \de[+-]0[01], [012] of 3 choices are equal", said)
