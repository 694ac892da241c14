"""What ARCHITECTURE.md and CONTRIBUTING.md name is there."""

import importlib
import re
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")
ROOMS = sorted(
    path.name for path in (ROOT / "cvnb").iterdir() if (path / "__init__.py").exists()
)


def code_of(page):
    """All that is in single backticks."""
    return re.findall(r"`([^`\n]+)`", (ROOT / page).read_text(encoding="utf-8"))


def names():
    """room.module.attribute, as the pages name them; the first rooms are packages of cvnb."""
    pattern = re.compile(rf"(?:cvnb\.)?((?:{'|'.join(ROOMS)})(?:\.\w+)+)(?:\(.*\))?")
    found = [pattern.fullmatch(text) for page in PAGES for text in code_of(page)]
    return sorted(
        {match[1] for match in found if match and not match[1].endswith(".py")}
    )


def looked_up(name):
    """The object of a dotted name below cvnb: as many modules as there are, then attributes."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(["cvnb", *parts[:n]]))
        except ModuleNotFoundError:
            continue
        return attrgetter(".".join(parts[n:]))(module) if n < len(parts) else module
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", names())
def test_every_name_exists(name):
    """A walk through the source leads somewhere."""
    assert looked_up(name) is not None


def test_every_file_exists():
    """Paths from the root of the repository, with a slash; <name> stands for any."""
    paths = {
        text
        for page in PAGES
        for text in code_of(page)
        if re.fullmatch(r"[\w./]+\.\w+", text)
    }
    missing = {path for path in paths if "/" in path and not (ROOT / path).exists()}
    assert missing == set()


def test_every_room_is_described():
    """The table of rooms has all of them."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert [room for room in ROOMS if f"| `{room}/` |" not in text] == []
