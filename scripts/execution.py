"""Running a notebook in the kernel of the running interpreter, and writing it as a page:
what the scripts here share."""

import os
from pathlib import Path

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"

# An exercise's answer, folded in JupyterLab, is folded on the page too.
FOLDED = """{% extends 'lab/index.html.j2' %}
{% block codecell %}
{% if cell.metadata.get('jupyter', {}).get('source_hidden') %}
<details style="margin:0 0 1em 4.5em"><summary>The answer</summary>{{ super() }}</details>
{% else %}{{ super() }}{% endif %}
{% endblock codecell %}"""


class ThisInterpreter(AsyncKernelManager):
    """The kernel of the running interpreter: the name "python3" may be registered for
    another one."""

    @property
    def kernel_spec(self):
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())


def read(path):
    return nbformat.read(path, as_version=4)


def run(notebook, folder, on_cell=None):
    """Run all cells of a notebook in place, in this folder; nbclient's CellExecutionError
    where one fails."""
    os.environ["CVNB_PROGRESS"] = "off"  # results are kept; a bar would be its leftover
    os.environ["CVNB_COMPILE"] = "off"  # the path of a result must not depend on caches
    NotebookClient(
        notebook,
        kernel_manager_class=ThisInterpreter,
        extra_arguments=[
            "--log-level=ERROR"
        ],  # the kernel's advice on its sockets is nobody's output
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        on_cell_executed=on_cell,
    ).execute()


def page_of(notebook, theme="light"):
    """The notebook as HTML that asks nothing of another machine."""
    nowhere = {
        "mathjax_url": "",
        "require_js_url": "",
        "mermaid_js_url": "",
        "jquery_url": "",
    }
    exporter = HTMLExporter(
        raw_template=FOLDED, embed_images=True, theme=theme, **nowhere
    )
    return exporter.from_notebook_node(notebook)[0]
