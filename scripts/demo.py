"""Run the quickstart notebook: its results as text in the terminal, everything as a page in build/.

The notebook itself is left as it is.
"""

import sys

from nbclient.exceptions import CellExecutionError

from execution import NOTEBOOKS, ROOT, page_of, read, run

NOTEBOOK = NOTEBOOKS / "01_quickstart.ipynb"
PAGE = ROOT / "build" / "01_quickstart.html"


def text_of(cell):
    """What a cell printed, then its last result as plain text."""
    printed = [output.text for output in cell.outputs if output.output_type == "stream"]
    shown = [
        output.data["text/plain"]
        for output in cell.outputs
        if "text/plain" in output.get("data", {})
    ]
    return "\n".join(part.rstrip() for part in [*printed, *shown[-1:]])


def show(cell, **_):
    """Print a cell's text as soon as the cell is done."""
    if cell.cell_type == "code" and (text := text_of(cell)):
        print(text, end="\n\n", flush=True)


def main():
    notebook = read(NOTEBOOK)
    print(f"Running {NOTEBOOK.relative_to(ROOT)}\n", flush=True)
    try:
        run(notebook, NOTEBOOKS, show)
    except CellExecutionError as error:
        sys.exit(f"{error}\n{NOTEBOOK.relative_to(ROOT)} stopped at the cell above.")
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page_of(notebook), encoding="utf-8")
    print(f"All cells ran. The same as a page: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
