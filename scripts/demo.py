"""Run the quickstart notebook: its results as text in the terminal, everything as a page in build/.

The notebook itself is left as it is.
"""

import os
import sys
from pathlib import Path

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks" / "01_quickstart.ipynb"
PAGE = ROOT / "build" / "01_quickstart.html"


class ThisInterpreter(AsyncKernelManager):
    """The kernel of the running interpreter: the name "python3" may be registered for another one."""

    @property
    def kernel_spec(self):
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())


def text_of(cell):
    """What a cell printed, then its last result as plain text."""
    printed = [output.text for output in cell.outputs if output.output_type == "stream"]
    shown = [output.data["text/plain"] for output in cell.outputs if "text/plain" in output.get("data", {})]
    return "\n".join(part.rstrip() for part in [*printed, *shown[-1:]])


def show(cell, **_):
    """Print a cell's text as soon as the cell is done."""
    if cell.cell_type == "code" and (text := text_of(cell)):
        print(text, end="\n\n", flush=True)


def run(notebook):
    """Run all cells of a notebook in place, in the folder where it lives."""
    NotebookClient(
        notebook,
        kernel_manager_class=ThisInterpreter,
        extra_arguments=["--log-level=ERROR"],  # the kernel's advice on its sockets is not the demo's output
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        store_widget_state=False,
        on_cell_executed=show,
    ).execute()


def main():
    os.environ["CVNB_PROGRESS"] = "off"  # the page shows results; a bar would be its leftover
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    print(f"Running {NOTEBOOK.relative_to(ROOT)}\n", flush=True)
    try:
        run(notebook)
    except CellExecutionError as error:
        sys.exit(f"{error}\n{NOTEBOOK.relative_to(ROOT)} stopped at the cell above.")
    page, _ = HTMLExporter(embed_images=True).from_notebook_node(notebook)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page, encoding="utf-8")
    print(f"All cells ran. The same as a page: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
