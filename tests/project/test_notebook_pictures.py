"""The charts of the notebooks: every mark is drawn and named, in words too."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from scripts_of import script

pictures = script("pictures", "notebooks")
SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart):
    """The SVG as a tree: it is well formed."""
    return ElementTree.fromstring(chart.picture.svg)


def texts(chart):
    return [one.text for one in drawn(chart).iter(f"{SVG}text")]


def height(chart):
    return int(drawn(chart).get("height"))


def test_every_mark_is_drawn():
    """Lines and levels as paths, a circle for each dot, a shape for each bar; what is not
    finite is left out."""
    marks = (
        pictures.line([1, 2, 3], [1, 2, np.nan], "truth"),
        pictures.dots([1, 2], [3, np.nan], "estimates"),
        pictures.bars([1, 2, 3], [1, 1, 1], "rows"),
        pictures.level(2.5, "half"),
    )
    chart = pictures.chart("m", "risk", *marks)
    found = drawn(chart)
    assert len(list(found.iter(f"{SVG}circle"))) == 1
    assert sum(one.get("d", "").count("h-") for one in found.iter(f"{SVG}path")) == 3
    assert (
        sum("stroke-dasharray" in one.attrib for one in found.iter(f"{SVG}path")) == 1
    )
    assert {"m", "risk", "truth", "estimates", "rows", "half"} <= set(texts(chart))
    assert repr(chart) == "risk against m: truth 1 to 2; estimates 3; rows 1; half 2.5."
    assert 'alt="risk against m: truth' in chart._repr_html_()


def test_names_are_text():
    """A name that looks like markup stays a name."""
    chart = pictures.chart("<b>", "risk & loss", pictures.line([0, 1], [0, 1], '"<i>"'))
    assert {"<b>", "risk & loss", '"<i>"'} <= set(texts(chart))
    assert "<i>" not in chart._repr_html_()


def test_marks_of_one_name_share_a_colour():
    """Unless they are given another."""
    chart = pictures.chart(
        "x",
        "y",
        *(pictures.line([0, 1], [i, i], "same") for i in range(3)),
        pictures.line([0, 1], [0, 1]),
    )
    lines = [
        one.get("class")
        for one in drawn(chart).iter(f"{SVG}path")
        if (one.get("class") or "").startswith("w ")
    ]
    assert lines == ["w l0", "w l0", "w l0", "w l1"]
    assert texts(chart).count("same") == 1


def test_a_long_legend_takes_more_rows():
    """The picture grows below; no name is cut off."""
    short = pictures.chart("x", "y", pictures.line([0, 1], [0, 1], "a"))
    long = pictures.chart(
        "x",
        "y",
        *(pictures.line([0, 1], [0, i], f"{i} {'long ' * 8}name") for i in range(3)),
    )
    assert height(long) == height(short) + 32
    at = [
        float(one.get("x"))
        for one in drawn(long).iter(f"{SVG}text")
        if "name" in one.text
    ]
    assert len(set(at)) == 1


@pytest.mark.parametrize(
    ("last", "expected"),
    [(100, ["1", "2", "5", "10", "20", "50", "100"]), (10**5, ["1", "10", "100000"])],
)
def test_a_logarithmic_axis_has_round_numbers(last, expected):
    """At equal distances for equal ratios."""
    chart = pictures.chart("x", "y", pictures.line([1, last], [0, 1]), log=True)
    assert set(expected) <= set(texts(chart))
    at = {
        one.text: float(one.get("x"))
        for one in drawn(chart).iter(f"{SVG}text")
        if one.get("x")
    }
    if last == 100:
        assert abs((at["10"] - at["5"]) - (at["100"] - at["50"])) < 0.11


def test_both_themes_have_every_colour():
    """A class for lines and one for shapes, of each colour, in the light and in the dark."""
    for i in range(len(pictures.COLOURS)):
        assert len(re.findall(rf"\.[lf]{i}{{", pictures.STYLE)) == 4


def test_rows_are_drawn_in_their_order():
    """A shape for each row with a role, in each split, and below them how often it had the
    role that was asked for."""
    splits = [{"train": [0, 1], "test": [2]}, {"train": [0, 3], "test": [2]}]
    chart = pictures.rows_of(splits, "test")
    shapes = {
        one.get("class"): one.get("d", "").count("M")
        for one in drawn(chart).iter(f"{SVG}path")
    }
    assert shapes == {"b": 4, "t": 2}
    assert texts(chart) == [
        "0",
        "1",
        "times",
        "0",
        "0",
        "2",
        "0",
        "trains",
        "tests",
        "times: how often a row tests",
    ]
    assert repr(chart) == "2 splits of 4 rows: each tests 0 to 2 times."


def test_the_module_is_beside_the_notebooks():
    """Where a kernel finds it."""
    assert Path(pictures.__file__).parent.name == "notebooks"
