"""The rules for notebooks of this project: each takes a text and returns what breaks it."""

import ast
import json
import re

from IPython.core.inputtransformer2 import TransformerManager

SILENT = {
    "Assign",
    "AnnAssign",
    "AugAssign",
    "Import",
    "ImportFrom",
    "Assert",
    "FunctionDef",
    "ClassDef",
}
BLOCKS = {"For", "While", "With", "If"}
KERNEL = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}
STATIC = {
    "text/plain",
    "text/html",
    "image/svg+xml",
    "image/png",
}  # shown without a kernel, a script or a network
MOST = 300_000
SEEDS = 20
PATH = re.compile(
    r"(?<![\w.:/<])/(home|root|tmp|usr|var|opt|work|Users|private)/|\b[A-Z]:\\"
)
SECONDS = re.compile(r"\b\d[\d.]* ?(s|ms|µs|μs|ns|seconds?|minutes?|hours?)\b")
DATA = re.compile(r"data:image/[\w+]+;base64,[\w+/=]+")
STYLE = re.compile(r'style="[^"]*"')


def text_of(value):
    return "".join(value) if isinstance(value, list) else value


def cells(text):
    return json.loads(text)["cells"]


def source(cell):
    return text_of(cell["source"])


def code_cells(text):
    """Return (id, source, cell) of each code cell."""
    return [
        (cell.get("id"), source(cell), cell)
        for cell in cells(text)
        if cell["cell_type"] == "code"
    ]


def outputs(text):
    """Return (id of the cell, output) of each output."""
    return [
        (name, output)
        for name, _, cell in code_cells(text)
        for output in cell["outputs"]
    ]


def words(output):
    """Return the texts of an output without pictures and styles."""
    data = output.get("data", {})
    texts = [
        output.get("text", ""),
        *(value for kind, value in data.items() if not kind.startswith("image/")),
    ]
    return STYLE.sub("", DATA.sub("", "\n".join(str(text_of(one)) for one in texts)))


def tags(cell):
    return cell["metadata"].get("tags", [])


def ends_silently(body):
    """Return whether the last statement shows nothing; of a block, its own last one."""
    if not body:
        return True
    kind = type(body[-1]).__name__
    return kind in SILENT or (kind in BLOCKS and ends_silently(body[-1].body))


def is_silent(code):
    """Return whether no output is expected: the code ends silently or loads an extension."""
    return code.splitlines()[-1].startswith("%load_ext ") or ends_silently(
        ast.parse(TransformerManager().transform_cell(code)).body
    )


def sections(text):
    """Return [(heading, [cells below it])] of level 2."""
    found = []
    for cell in cells(text):
        if cell["cell_type"] == "markdown":
            prose = re.sub(r"(?ms)^```.*?^```", "", source(cell))
            found += [
                (heading, []) for heading in re.findall(r"(?m)^## +(.+?) *$", prose)
            ]
        if found:
            found[-1][1].append(cell)
    return found


def is_exercise(heading):
    return heading.startswith("Exercise")


def was_not_run(text):
    """nbval compares nothing if a cell was never run."""
    counts = [cell["execution_count"] for _, _, cell in code_cells(text)]
    return (
        []
        if counts and counts == list(range(1, len(counts) + 1))
        else [f"execution counts {counts}"]
    )


def shows_nothing(text):
    """nbval compares nothing if no output is stored."""
    return [
        name
        for name, code, cell in code_cells(text)
        if not cell["outputs"] and not is_silent(code)
    ]


def complains(text):
    """No stderr (warnings, UsageError), and no errors that are not the purpose of a cell."""
    bad = {name: "raises-exception" in tags(cell) for name, _, cell in code_cells(text)}
    return [
        (name, output.get("name") or output.get("ename"))
        for name, output in outputs(text)
        if output.get("name") == "stderr"
        or (output["output_type"] == "error" and not bad[name])
    ]


def needs_more_than_a_page(text):
    """No widget state, and no output that needs a kernel, a script or a network."""
    found = ["widget state"] if "widgets" in json.loads(text)["metadata"] else []
    found += [
        (name, kind)
        for name, output in outputs(text)
        for kind in set(output.get("data", ())) - STATIC
    ]
    asks = re.compile(r"<script|<iframe|<link|(src|srcset)=[\"']?(https?:)?//")
    return found + [
        (name, "asks for more")
        for name, output in outputs(text)
        if asks.search(words(output))
    ]


def is_large(text):
    """A notebook is read, diffed and cloned: it must be small."""
    size = len(text.encode())
    return [f"{size} bytes, more than {MOST}"] if size > MOST else []


def would_change_by_itself(text):
    """No ids, versions, times or states that differ in another run or on another machine."""
    notebook = json.loads(text)
    names = [cell.get("id") for cell in notebook["cells"]]
    found = [
        name
        for name in names
        if not re.fullmatch(r"cell-\d\d", name or "") or names.count(name) > 1
    ]
    metadata = notebook["metadata"]
    if (
        metadata.get("kernelspec") != KERNEL
        or "version" in metadata.get("language_info", {})
        or len(metadata) > 2
    ):
        found.append("metadata")
    found += [
        (cell["id"], key)
        for cell in notebook["cells"]
        for key in set(cell["metadata"]) - {"tags", "jupyter"}
    ]
    found += [
        (name, "metadata of an output")
        for name, output in outputs(text)
        if output.get("metadata")
    ]
    return found + ["no newline at the end"] * (not text.endswith("}\n"))


def escapes_comparison(text):
    """No marks that make nbval skip a cell or ignore its output."""
    marked = [
        name for name, code, _ in code_cells(text) if re.search(r"(?i)nbval[_-]", code)
    ]
    return marked + [
        (cell["id"], tag)
        for cell in cells(text)
        for tag in tags(cell)
        if tag != "raises-exception"
    ]


def tells_of_the_machine(text):
    """No paths and no seconds: they differ everywhere."""
    said = [(name, words(output)) for name, output in outputs(text)]
    return [
        (name, found.group())
        for name, one in said
        for rule in (PATH, SECONDS)
        if (found := rule.search(one))
    ]


def claims_without_proof(text):
    """A section that computes has an assert, which is checked in every run."""
    found = []
    for heading, inside in sections(text):
        code = [source(cell) for cell in inside if cell["cell_type"] == "code"]
        if (
            code
            and not is_exercise(heading)
            and not any(has_assert(one) for one in code)
        ):
            found.append(heading)
    return found


def has_assert(code):
    return re.search(r"(?m)^\s*assert\b", code) is not None


def lacks_a_figure(text):
    """At least one picture is stored in the notebook."""
    drawn = [
        output
        for _, output in outputs(text)
        if any(kind.startswith("image/") for kind in output.get("data", ()))
        or re.search(
            r'<img[^>]+src="data:image/',
            text_of(output.get("data", {}).get("text/html", "")),
        )
    ]
    return [] if drawn else ["no figure"]


def lacks_an_exercise(text):
    """One section is an "Exercise" with a folded answer."""
    inside = [
        cell
        for heading, below in sections(text)
        if is_exercise(heading)
        for cell in below
    ]
    folded = [
        cell
        for cell in inside
        if (
            cell["cell_type"] == "code"
            and cell["metadata"].get("jupyter", {}).get("source_hidden")
        )
        or (
            cell["cell_type"] == "markdown"
            and re.search(r"(?s)<details>.*<summary>.*</details>", source(cell))
        )
    ]
    return [] if folded else ["no exercise with a folded answer"]


def lacks_other_seeds(text):
    """One cell asserts its conclusion for twenty seeds or more."""
    for _, code, _ in code_cells(text):
        spans = [
            ast.literal_eval(f"({span},)")
            for span in re.findall(r"\bseed in range\(([\d, ]+)\)", code)
        ]
        if has_assert(code) and any(len(range(*span)) >= SEEDS for span in spans):
            return []
    return [f"no assert over {SEEDS} seeds"]


def needs_mathjax(text):
    """Formulas are plain letters: a page without a network typesets nothing."""
    prose = {
        cell["id"]: source(cell)
        for cell in cells(text)
        if cell["cell_type"] == "markdown"
    }
    plain = {
        name: re.sub(r"(?s)```.*?```|`[^`]*`", "", one) for name, one in prose.items()
    }
    return [
        name
        for name, one in plain.items()
        if re.search(r"\$[^$\n]+\$|\\\(|\\\[|\\begin\{", one)
    ]


RULES = (
    was_not_run,
    shows_nothing,
    complains,
    needs_more_than_a_page,
    is_large,
    would_change_by_itself,
    escapes_comparison,
    tells_of_the_machine,
    claims_without_proof,
    lacks_a_figure,
    lacks_an_exercise,
    lacks_other_seeds,
    needs_mathjax,
)
