"""Build the documentation: README, notebooks as they are stored, docs/*.md and the
docstrings, in pages that need no network.

python scripts/docs.py [folder]: the pages go to folder/docs (build/docs), and a warning is
an error.
"""

import inspect
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

import cvnb
from cvnb import figures, inference, widgets
from cvnb.jupyter.magics import NestedCVMagics

ROOT = Path(__file__).resolve().parent.parent
DOORS = {
    cvnb: "Recipes, families, results: what most notebooks import.",
    inference: "Rules, intervals, tests, corrections and bounds: "
    "arithmetic on arrays of losses; most take a result as well.",
    widgets: "Recipes to drag and results to explore, in a notebook.",
    figures: "plotly figures of plans, results and comparisons.",
}
TEXTS = ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
MAGICS = {"%%": ("nestedcv",), "%": ("folds", "recipe")}
# What cvnb's own modules, or scikit-learn, ask of these classes: no user needs them.
INTERNAL = {
    "Family": {"inner_splitter", "kind", "parameters", "resolved"},
    "NestedCV": {"get_metadata_routing", "set_fit_request"},
    "Plan": {"bare", "in_time", "inner_kept", "levels", "row_codes"},
}


def members(kind):
    """The public methods and properties that a class has from cvnb, in the order of the sources."""
    own = [one for one in kind.__mro__ if one.__module__.startswith("cvnb")]
    names = dict.fromkeys(
        name for one in own for name, value in vars(one).items() if is_method(value)
    )
    return [
        name
        for name in names
        if not name.startswith("_") and name not in INTERNAL.get(kind.__name__, ())
    ]


def is_method(value):
    return inspect.isroutine(value) or isinstance(value, property)


def page_of(door, name):
    """The page of one public name."""
    value, full = getattr(door, name), f"{door.__name__}.{name}"
    lines = [name, "=" * len(name), ""]
    if inspect.isclass(value) and not issubclass(value, BaseException):
        lines += [
            f".. autoclass:: {full}",
            f"    :members: {', '.join(members(value))}",
        ]
    else:
        lines.append(
            f".. auto{'exception' if inspect.isclass(value) else 'function'}:: {full}"
        )
    return "\n".join([*lines, ""])


def index_of(door, words):
    """The names of one front door, each with the first line of its docstring."""
    rows = [
        f"| [`{name}`]({name}.rst) | {cell(inspect.getdoc(getattr(door, name)))} |"
        for name in door.__all__
    ]
    table = "\n".join(["| name | |", "| --- | --- |", *rows])
    return "\n\n".join([f"# {door.__name__}", words, table, toctree(door.__all__), ""])


def cell(docstring):
    """The first line of a docstring in a cell of a Markdown table."""
    text = docstring.split("\n")[0]
    for mark in "\\|*_<[$":
        text = text.replace(mark, "\\" + mark)
    return text


def page_of_magics():
    """The magics, each with the help that its own parser gives."""
    parts = [
        "# Magics",
        "`%load_ext cvnb` brings them into a notebook; a cell of that form is a whole run:",
    ]
    parts.append(
        "```text\n%%nestedcv X y --outer 5 --inner 5 --seed 0 -o risk\nknn(k=range(1, 21))\n```"
    )
    for sign, names in MAGICS.items():
        for name in names:
            text = (
                getattr(NestedCVMagics, name)
                .parser.format_help()
                .removeprefix("::\n\n")
            )
            parts.append(f"## {sign}{name}\n\n```text\n{text}```")
    options = NestedCVMagics.class_get_help()
    defaults = '## Defaults\n\n`%config NestedCVMagics.seed = "1"`, and so on.'
    parts.append(f"{defaults}\n\n```text\n{options}\n```")
    return "\n\n".join([*parts, ""])


def toctree(names, caption=""):
    head = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["```{toctree}", *head, "", *names, "```"])


def gather(source):
    """All pages where the reader of the repository finds them, so that their links to each
    other hold."""
    for folder in (
        "benchmarks",
        "docs",
        "notebooks",
    ):  # a link to a file that is no page offers the file
        shutil.copytree(
            ROOT / folder, source / folder, ignore=shutil.ignore_patterns("_*", ".*")
        )
    for name in TEXTS:
        shutil.copy(ROOT / f"{name}.md", source)
    for door, words in DOORS.items():
        folder = source / "api" / door.__name__
        folder.mkdir(parents=True)
        write(folder / "index.md", index_of(door, words))
        for name in door.__all__:
            write(folder / f"{name}.rst", page_of(door, name))
    write(source / "api" / "magics.md", page_of_magics())
    write(
        source / "index.md",
        (ROOT / "README.md").read_text(encoding="utf-8") + contents(source),
    )
    for path in [
        *source.rglob("*.md"),
        *source.rglob("*.ipynb"),
    ]:  # README is the first page
        write(
            path,
            path.read_text(encoding="utf-8").replace("](../README.md", "](../index.md"),
        )


def contents(source):
    """The trees of pages, in the order in which they are read."""
    notebooks = sorted(path.stem for path in (source / "notebooks").glob("*.ipynb"))
    texts = sorted(path.stem for path in (source / "docs").glob("*.md"))
    trees = {
        "Tutorials": [
            *(f"notebooks/{name}" for name in notebooks),
            "notebooks/data/README",
        ],
        "API": [*(f"api/{door.__name__}/index" for door in DOORS), "api/magics"],
        "More": [*(f"docs/{name}" for name in texts), *TEXTS],
    }
    return "\n".join(
        f"\n{toctree(names, caption)}\n" for caption, names in trees.items()
    )


def write(path, text):
    path.write_text(text, encoding="utf-8")


def build(folder):
    """0 where all pages were built without a warning."""
    site, work = folder / "docs", folder / "docs-work"
    for old in (site, work):
        shutil.rmtree(old, ignore_errors=True)
    gather(work / "source")
    options = [
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-c",
        str(ROOT / "docs"),
        "-d",
        str(work / "doctrees"),
    ]
    code = sphinx([*options, str(work / "source"), str(site)])
    if code == 0:
        print(f"The first page: {site / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(
        build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve())
    )
