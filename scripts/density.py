"""How dense a source is: lines of modules and functions, tokens of functions, tokens a line.

    python scripts/density.py [folder ...]

Without a folder: cvnb. Tokens are those of Python's tokenizer without comments, docstrings, line
ends and indents. A line of code is one with a token. p90: nine of ten are at most this long.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

import numpy as np

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def main(folders):
    columns = [measures(Path(folder)) for folder in folders]
    print("| | " + " | ".join(folders) + " |")
    print("| --- " * (1 + len(folders)) + "|")
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")


def measures(folder):
    """Name -> text of every measure of the modules below a folder."""
    modules, functions, function_tokens = [], [], []
    n_tokens = n_code_lines = longest = 0
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines = source.splitlines()
        tokens = code_tokens(source, tree)
        modules.append(len(lines))
        longest = max([longest, *map(len, lines)])
        n_tokens += len(tokens)
        n_code_lines += len(rows_of(tokens))
        for node in ast.walk(tree):
            if isinstance(node, FUNCTION):
                rows = range(node.lineno, node.end_lineno + 1)
                functions.append(len(rows))
                function_tokens.append(sum(first in rows for first, _ in tokens))
    return {
        "modules, functions": f"{len(modules)}, {len(functions)}",
        "lines, lines of code": f"{sum(modules):,}, {n_code_lines:,}",
        "tokens": f"{n_tokens:,}",
        "longest line": str(longest),
        "module lines, median / p90 / max": spread(modules),
        "function lines, median / p90 / max": spread(functions),
        "function tokens, median / p90 / max": spread(function_tokens),
        "tokens a code line": f"{n_tokens / n_code_lines:.1f}",
    }


def code_tokens(source, tree):
    """(first row, last row) of every token that is code."""
    spans = set(docstrings(tree))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        span = token.start[0], token.end[0]
        is_docstring = token.type == tokenize.STRING and span in spans
        if token.type not in LAYOUT and not is_docstring:
            found.append(span)
    return found


def docstrings(tree):
    """(first row, last row) of every docstring."""
    kinds = ast.Module | ast.ClassDef | FUNCTION
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].lineno, node.body[0].end_lineno


def rows_of(spans):
    return {row for first, last in spans for row in range(first, last + 1)}


def spread(values):
    return f"{np.median(values):.0f} / {np.quantile(values, 0.9):.0f} / {max(values)}"


if __name__ == "__main__":
    main(sys.argv[1:] or ["cvnb"])
