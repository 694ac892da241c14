"""How Sphinx reads the sources that scripts/docs.py gathers: warnings are errors, and no
page needs a network."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

import cvnb
from cvnb import figures, inference, studies, widgets

project, author, copyright = "cvnb", "the cvnb authors", "the cvnb authors"
version = release = cvnb.__version__
extensions = ["sphinx.ext.autodoc", "myst_nb"]
language, smartquotes = "en", False  # "loo" and 'loo' are code, in plain text too
nitpicky = True

html_theme = "furo"
html_title = f"cvnb {release}"
html_static_path, html_css_files = ["_static"], ["site.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_show_search_summary = (
    False  # it fetches pages, which a browser refuses where they are files
)
pygments_dark_style = "github-dark"
html_math_renderer = "mathml"  # drawn by the browser itself; MathJax comes from a CDN

nb_execution_mode = "off"  # what the notebooks hold is what the suite compares with
nb_merge_streams = True
nb_ipywidgets_js = {}  # the static copy below a widget stands for it
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None)
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # names and defaults; the docstring says what each may be
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 96

DOORS = (cvnb, inference, studies, widgets, figures)
NAMES = {
    name: f"{door.__name__}.{name}" for door in reversed(DOORS) for name in door.__all__
}
MADE_BY_A_RUN = (
    "cvnb.RiskEstimate",
    "cvnb.Plan",
    "cvnb.Comparison",
)  # nobody calls these


def code(text):
    """`x` as code, and as a link where x is a public name."""
    role = f":py:obj:`{text} <{NAMES[text]}>`" if text in NAMES else f"``{text}``"
    return f"\\ {role}\\ "


def prose(text):
    """Words as they are, and what stands in backticks as code."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(
        code(part) if i % 2 else re.sub(r"([\\*_|`])", r"\\\1", part)
        for i, part in enumerate(parts)
    )


def is_kept(block):
    """Whether the lines of a block stay as they are: a formula is indented, a table has its
    columns aligned."""
    return all(line.startswith("    ") for line in block) or any(
        re.search(r"\S {3,}\S|[├└]", line) for line in block
    )


def as_rst(app, what, name, obj, options, lines):
    """Docstrings are plain text, for Shift-Tab: examples, formulas and tables stay as they
    are, the rest is prose."""
    blocks = [block.split("\n") for block in re.split(r"\n\s*\n", "\n".join(lines))]
    lines.clear()
    for block in blocks:
        if block[0].startswith(">>>"):
            lines += block
        elif is_kept(block):
            dent = "" if block[0].startswith("    ") else "    "
            lines += [
                ".. code-block:: text",
                "    :class: formula",
                "",
                *(dent + line for line in block),
            ]
        else:
            lines += prose("\n".join(block)).split("\n")
        lines.append("")


def signature(app, what, name, obj, options, text, returned):
    """No arguments where nobody gives any."""
    return ("", None) if name in MADE_BY_A_RUN else None


def inline_math(self, node):
    self.body.append(tex2mathml(node.astext()))
    raise SkipNode


def block_math(self, node):
    self.body.append(
        f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>'
    )
    raise SkipNode


def setup(app):
    app.connect("autodoc-process-docstring", as_rst)
    app.connect("autodoc-process-signature", signature)
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
