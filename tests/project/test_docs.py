"""The documentation is built from this repository, without a warning, and needs no network."""

import functools
import inspect
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from cvnb import paths
from cvnb.jupyter.magics import NestedCVMagics
from scripts_of import script

ROOT = Path(__file__).resolve().parents[2]
docs = script("docs", "scripts")

NAMES = [(door, name) for door in docs.DOORS for name in door.__all__]
CLASSES = [(door, name) for door, name in NAMES if inspect.isclass(getattr(door, name))]
# These return no number of their own, so they need no formula.
NO_FORMULA = {
    "Comparison",
    "CvnbError",
    "Family",
    "Interrupted",
    "Plan",
    "Recipe",
    "Resampling",
    "OneSE",
}
every_name = pytest.mark.parametrize(
    ("door", "name"), NAMES, ids=lambda value: getattr(value, "__name__", value)
)


class Page(HTMLParser):
    """The resources, links and anchors of one page."""

    def __init__(self, path):
        super().__init__()
        self.asked, self.links, self.anchors = [], [], {""}
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        given = {key: value or "" for key, value in attrs}
        self.anchors.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag != "a":
            found = [given[key] for key in ("src", "data", "poster") if key in given]
            self.asked += [
                *found,
                *(
                    [given["href"]]
                    if tag in ("link", "use", "image") and "href" in given
                    else []
                ),
            ]


@functools.cache
def read(path):
    return Page(path)


def pages(site):
    return sorted(site.rglob("*.html"))


def examples(value):
    """Return the lines of a docstring that are typed."""
    return re.findall(
        r"^\s*(?:>>>|\.\.\.) .*", inspect.getdoc(value) or "", re.MULTILINE
    )


def has_formula(text):
    """Return whether a block of lines is indented and is no example."""
    return bool(re.search(r"\n\n    (?!>>>)\S", text))


def targets(site, page):
    """(link, file, anchor) of each link of a page that stays on this site."""
    for link in [*read(page).links, *read(page).asked]:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            yield (
                link,
                (page.parent / unquote(parts.path)).resolve() if parts.path else page,
                unquote(parts.fragment),
            )


def test_every_notebook_and_text_has_a_page(site):
    """Whatever *.ipynb and *.md is added to the folders appears, and is in the list at the side."""
    sources = [
        *(ROOT / "notebooks").glob("*.ipynb"),
        *(ROOT / "docs").glob("*.md"),
        *(
            ROOT / f"{name}.md"
            for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
        ),
    ]
    expected = {
        path.relative_to(ROOT).with_suffix(".html").as_posix() for path in sources
    }
    assert expected - set(read(site / "index.html").links) == set()
    assert [name for name in expected if not (site / name).is_file()] == []


def test_notebooks_show_the_outputs_that_they_hold(site):
    """Nothing is run: the pictures of a page are those of the notebook."""
    text = (ROOT / "notebooks" / "01_quickstart.ipynb").read_text(encoding="utf-8")
    pictures = set(re.findall(r"data:image/svg\+xml[^\"\\ ]+", text))
    assert pictures
    assert (
        pictures - set(read(site / "notebooks" / "01_quickstart.html").asked) == set()
    )


@every_name
def test_every_public_name_has_a_page(site, door, name):
    """With an example, and with the formula where there is one."""
    page = site / "api" / door.__name__ / f"{name}.html"
    assert f"api/{door.__name__}/index.html" in read(site / "index.html").links
    assert f'id="{door.__name__}.{name}"' in read(page).text
    assert "&gt;&gt;&gt;" in read(page).text
    assert (
        'class="formula' in read(page).text
        or name in NO_FORMULA
        or door in (docs.widgets, docs.figures)
    )


@every_name
def test_every_public_name_says_what_comes_back(door, name):
    """A first line that ends in a full stop, an example, and a formula where there is a number."""
    text = inspect.getdoc(getattr(door, name))
    assert text.split("\n")[0].endswith(".")
    assert examples(getattr(door, name))
    assert (
        has_formula(text) or name in NO_FORMULA or door in (docs.widgets, docs.figures)
    )


@pytest.mark.parametrize(
    ("door", "name"), CLASSES, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_method_is_said_and_shown(door, name):
    """Each public method and property has a docstring, and is used in an example of its class."""
    kind = getattr(door, name)
    values = {
        member: inspect.getattr_static(kind, member) for member in docs.members(kind)
    }
    assert [
        member for member, value in values.items() if not inspect.getdoc(value)
    ] == []
    shown = "\n".join(
        [
            *examples(kind),
            *(line for value in values.values() for line in examples(value)),
        ]
    )
    assert [member for member in values if not re.search(rf"\.{member}\b", shown)] == []


def parameters(value):
    """Names of the parameters of a function or class; self and **kwargs are none."""
    return [
        name
        for name, one in inspect.signature(value).parameters.items()
        if name != "self" and one.kind != one.VAR_KEYWORD
    ]


def calls():
    """(name, function, class or method) of what is public and can be called."""
    for door in (*docs.DOORS, paths):
        for name in door.__all__:
            value = getattr(door, name)
            if inspect.isclass(value) and issubclass(value, Exception):
                continue
            if callable(value):
                yield f"{door.__name__}.{name}", value
            if inspect.isclass(value):
                for member in docs.members(value):
                    method = getattr(value, member)
                    if inspect.isfunction(method) or inspect.ismethod(method):
                        yield f"{door.__name__}.{name}.{member}", method


CALLS = [(name, value) for name, value in calls() if len(parameters(value)) > 2]


@pytest.mark.parametrize(("name", "value"), CALLS, ids=[name for name, _ in CALLS])
def test_every_parameter_is_named_in_the_docstring(name, value):
    """Of each public function, class and method with more than two parameters."""
    text = inspect.getdoc(value)
    unnamed = [
        name for name in parameters(value) if not re.search(rf"\b{name}\b", text)
    ]
    assert unnamed == []


def test_every_option_of_the_magics_is_there(site):
    """As the parsers know them."""
    text = read(site / "api" / "magics.html").text
    parsers = [
        getattr(NestedCVMagics, name).parser
        for names in docs.MAGICS.values()
        for name in names
    ]
    options = {
        option
        for parser in parsers
        for action in parser._actions
        for option in action.option_strings
    }
    assert "--time-ordered" in options
    assert [option for option in sorted(options) if option not in text] == []


def test_nothing_is_asked_of_another_machine(site):
    """No script, style, font or picture: all of them are on the site or in the page."""
    asked = {link for page in pages(site) for link in read(page).asked}
    assert [link for link in asked if re.match(r"(\w+:)?//", link)] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert len(styles) > 2
    assert [
        text
        for text in styles
        if re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", text)
    ] == []


def test_every_link_inside_leads_somewhere(site):
    """To a file that is there, and to a place on its page."""
    found = [(page, *target) for page in pages(site) for target in targets(site, page)]
    assert len(found) > 1000
    missing = {(page.name, link) for page, link, path, _ in found if not path.exists()}
    lost = {
        (page.name, link)
        for page, link, path, anchor in found
        if anchor
        and path.suffix == ".html"
        and path.exists()
        and anchor not in read(path).anchors
    }
    assert (missing, lost) == (set(), set())


def test_no_path_of_this_machine_is_on_a_page(site):
    """The pages are the same wherever they are built."""
    assert [page.name for page in pages(site) if str(ROOT) in read(page).text] == []
