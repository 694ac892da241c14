"""Comparison of the notebooks: a number with a decimal point to 9 digits, all else to the
character.

The last bits of a sum differ between processors. So before nbval compares a cell, each new
number that is close enough to the stored one is spelt like it; what is left is a
difference, and nbval's report shows no other.
"""

import math
import os
import re

import pytest

# Before any kernel starts: with a progress bar, a cell's first output (nbval's) is not its
# last (the file's).
os.environ["CVNB_PROGRESS"] = "off"

# No child process of %load_ext: which path runs must not depend on what is compiled already.
os.environ["CVNB_COMPILE"] = "off"

# Whole numbers are counts and row numbers: exact. 3.11.7 is a version, no number.
DECIMAL = re.compile(r"(?<![\w.])([-+]?\d*+\.\d++(?:[eE][-+]?\d++)?+)(?!\.\d)")


def close(new, stored):
    """Equal to 9 digits; the absolute bound is for rounding noise around 0."""
    return math.isclose(new, stored, rel_tol=1e-9, abs_tol=1e-12)


def spelt_as(stored, new):
    """The new value, with each number close to the stored one written as that one."""
    if isinstance(new, dict) and isinstance(stored, dict):
        return {key: spelt_as(stored.get(key), value) for key, value in new.items()}
    if isinstance(new, list) and isinstance(stored, list) and len(new) == len(stored):
        return [spelt_as(old, value) for old, value in zip(stored, new, strict=True)]
    if isinstance(new, float) and isinstance(stored, float) and close(new, stored):
        return stored
    if isinstance(new, str) and isinstance(stored, str):
        return text_spelt_as(stored, new)
    return new


def text_spelt_as(stored, new):
    """The same for the numbers inside a text, where the text around them agrees."""
    old_parts, new_parts = (
        DECIMAL.split(stored),
        DECIMAL.split(new),
    )  # even places: text; odd places: numbers
    if old_parts[::2] != new_parts[::2]:
        return new
    for i in range(1, len(new_parts), 2):
        if close(float(new_parts[i]), float(old_parts[i])):
            new_parts[i] = old_parts[i]
    return "".join(new_parts)


def comparison(exact):
    """The comparison of one cell, made to see only differences that count."""

    def compare(new_outputs, stored_outputs, *args, **kwargs):
        if len(new_outputs) == len(stored_outputs):
            for new, stored in zip(new_outputs, stored_outputs, strict=True):
                for field in new.keys() & stored.keys() & {"data", "text", "evalue"}:
                    new[field] = spelt_as(stored[field], new[field])
        return exact(new_outputs, stored_outputs, *args, **kwargs)

    return compare


def pytest_configure(config):
    """Name nbval's rules from the root: as an option they would be looked for in the
    current folder."""
    config.option.nbval_sanitize_with = str(
        config.rootpath / "tests" / "nbval_sanitize.cfg"
    )


@pytest.hookimpl(tryfirst=True)  # before -m selects by the marks
def pytest_collection_modifyitems(items):
    """Replace the exact comparison by the tolerant one, and mark the cells."""
    for item in items:
        if hasattr(item, "compare_outputs"):
            item.compare_outputs = comparison(item.compare_outputs)
            item.add_marker("notebook")
            item.add_marker(
                pytest.mark.timeout(600)
            )  # nbval ends a cell after 300 seconds
