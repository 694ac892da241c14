"""Colours that must be told apart are, in both themes and by readers who see fewer of them."""

import itertools

import numpy as np
import pytest

from cvnb.figures import look
from cvnb.pictures.colours import CLASSES, DARK, LIGHT, style

# How a colour looks to somebody without one kind of cone: Machado, Oliveira and Fernandes
# (2009), severity 1, in linear RGB.
CONES = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [
    [0.4124, 0.3576, 0.1805],
    [0.2126, 0.7152, 0.0722],
    [0.0193, 0.1192, 0.9505],
]
WHITE = [0.9505, 1.0, 1.089]
PARTS = ["page", "test", "stripe", "train", "inner test"]  # they touch in a row map
LINES = ["mean", "test", "fold", "ink"]  # they cross in a curve
# A difference of 2.3 in CIELAB is just noticed; these are seen at a glance.
CLEAR = 12.0


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.array(TO_XYZ) @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one, other, cones):
    first, second = (lab(np.array(CONES[cones]) @ linear(c)) for c in (one, other))
    return np.linalg.norm(first - second)


def contrast(one, other):
    """WCAG's: 1 for equal colours, 21 for black on white."""
    low, high = sorted(linear(colour) @ TO_XYZ[1] + 0.05 for colour in (one, other))
    return high / low


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("cones", CONES)
def test_parts_and_lines_are_told_apart_by_every_eye(colours, cones):
    """Any two parts of a row map, and any two lines of a curve."""
    for roles in (PARTS, LINES):
        for one, other in itertools.combinations(roles, 2):
            seen = difference(colours[one], colours[other], cones)
            assert seen > CLEAR, (one, other)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_stripes_have_contrast(colours):
    """Text 4.5 on its page; a stripe 3 to its neighbour; lines 3 to the page."""
    for role in ("text", "ink", "level", "mean", "test"):
        assert contrast(colours[role], colours["page"]) >= 4.5
    assert contrast(colours["stripe"], colours["train"]) >= 3
    assert contrast(colours["inner test"], colours["train"]) >= 3
    assert contrast(colours["test"], colours["train"]) >= 3
    for role in ("fold", "unused", "stripe"):
        assert contrast(colours[role], colours["page"]) >= 3


def test_orange_is_the_test_fold_and_what_was_measured_on_it():
    """No other class of the pictures has it, and no other constant of the figures."""
    orange = {name for name, (_, role) in CLASSES.items() if role == "test"}
    assert orange == {".t", ".n"}
    same = {name for name in vars(look) if getattr(look, name) == LIGHT["test"]}
    assert same == {"ORANGE"}
    assert set(LIGHT) == set(DARK)


def test_the_style_follows_the_theme_unless_it_is_for_a_page():
    """A saved picture is light for whoever opens it."""
    assert "prefers-color-scheme:dark" in style()
    assert "prefers-color-scheme" not in style(themes=False)
    assert DARK["mean"] not in style(themes=False)
