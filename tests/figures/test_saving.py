"""Pictures for slides: SVG without a browser, everything else by kaleido, or a clear error."""

import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from cvnb import Recipe, knn
from cvnb.figures import curve_figure, save, saving
from plans import X, y


@pytest.fixture(scope="module")
def result():
    return Recipe(3, 2).run(knn(k=[1, 3, 5]), X, y)


def test_an_svg_needs_no_browser(result, tmp_path, monkeypatch):
    """Of a result, a result without a curve, a comparison and a plan; at the width asked for."""
    monkeypatch.setitem(sys.modules, "kaleido", None)
    comparison = Recipe(3, 2).run({"near": knn(k=[1, 3]), "far": knn(k=[9])}, X, y)
    single = Recipe.external_cv(3).run(knn(k=3), X, y)
    for shown in (result, single, comparison, result.plan):
        path = save(shown, tmp_path / "picture.SVG", width=1200)
        tree = ElementTree.fromstring(path.read_text())
        assert tree.get("width") == "1200"
        _, _, width, height = map(float, tree.get("viewBox").split())
        assert float(tree.get("height")) == pytest.approx(
            1200 * height / width, rel=1e-5
        )
        assert "prefers-color-scheme" not in path.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["picture.SVG"]


def test_without_kaleido_the_error_says_what_to_install(result, tmp_path, monkeypatch):
    """And what works without it."""
    monkeypatch.setattr(saving, "find_spec", lambda name: None)
    for shown, name in (
        (result, "a.png"),
        (result, "a.pdf"),
        (curve_figure(result), "a.svg"),
    ):
        with pytest.raises(ValueError, match=r"pip install 'cvnb\[images\]'.*as \.svg"):
            save(shown, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_figure_goes_through_kaleido_at_its_width(result, tmp_path, monkeypatch):
    """Laid out for 800 pixels and scaled, so that a wide picture has large words."""
    given = []

    def to_image(figure, kind, **options):
        given.append((kind, options["width"] * options["scale"]))
        return b"image"

    monkeypatch.setattr(saving, "find_spec", lambda name: SimpleNamespace())
    monkeypatch.setattr(go.Figure, "to_image", to_image)
    for shown, name in ((result, "a.png"), (curve_figure(result), "a.svg")):
        assert save(shown, tmp_path / name, width=1600).read_bytes() == b"image"
    assert given == [("png", 1600), ("svg", 1600)]


def test_without_a_browser_the_error_says_so(result, tmp_path, monkeypatch):
    """kaleido is there, Chrome is not."""

    def to_image(figure, kind, **options):
        raise RuntimeError("Kaleido requires Google Chrome to be installed.")

    monkeypatch.setattr(saving, "find_spec", lambda name: SimpleNamespace())
    monkeypatch.setattr(go.Figure, "to_image", to_image)
    with pytest.raises(ValueError, match="kaleido found no browser"):
        save(result, tmp_path / "a.png")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "curve.gif",
            r"'curve.gif' ends in '.gif'; use .svg, .png or .pdf: 'curve.svg'",
        ),
        ("curve", "'curve' has no ending"),
        ("nowhere/curve.svg", "there is no folder '.*nowhere'; make it first"),
        ("folder.svg", "is a folder; give the name of a file"),
    ],
)
def test_what_is_no_place_for_a_picture_is_refused(result, tmp_path, path, message):
    """Before anything is drawn."""
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(ValueError, match=message):
        save(result, tmp_path / path)


def test_what_is_no_picture_is_refused(result, tmp_path):
    """By its type; a width by its value; a path that is none."""
    with pytest.raises(TypeError, match=r"save takes a result.*got list"):
        save([result], tmp_path / "a.svg")
    with pytest.raises(ValueError, match="width=0 is no number of pixels"):
        save(result, tmp_path / "a.svg", width=0)
    with pytest.raises(TypeError, match="path=None must be the name of a file"):
        save(result, None)
    inside = Recipe.internal_cv(3).run({"a": knn(k=[1]), "b": knn(k=[3])}, X, y)
    with pytest.raises(ValueError, match="there is nothing to draw"):
        save(inside, tmp_path / "a.svg")


def test_a_picture_that_cannot_be_written_leaves_the_older_one(
    result, tmp_path, monkeypatch
):
    """No half of a file, and nothing beside it."""
    path = save(result, tmp_path / "a.svg")
    before = path.read_bytes()

    def full(part, place):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving.os, "replace", full)
    with pytest.raises(ValueError, match="cannot be written: No space left on device"):
        save(result, path, width=500)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
