"""The colours of every picture and figure, for a light and a dark page.

Blue is what happens inside the training part, orange is the test fold and what was measured
on it, grey is the rest. Numbers of a heat map go from pale to strong blue. Text has a contrast
of 4.5 to the page; parts that touch have a contrast of 3 or a line between them.
"""

LIGHT = {
    "page": "#ffffff",
    "text": "#555555",
    "ink": "#222222",
    "grid": "#dddddd",
    "level": "#6b6b6b",
    "fold": "#767676",
    "mean": "#1565c0",
    "test": "#d0440e",
    "stripe": "#245a94",
    "train": "#cfe2f6",
    "inner test": "#0f2a52",
    "unused": "#767676",
    "pale": "#e8f0fa",
}
DARK = {
    "page": "#111111",
    "text": "#bbbbbb",
    "ink": "#f0f0f0",
    "grid": "#444444",
    "level": "#9a9a9a",
    "fold": "#8a8a8a",
    "mean": "#64a8ec",
    "test": "#f4793e",
    "stripe": "#4a8acb",
    "train": "#1b3550",
    "inner test": "#cfe6ff",
    "unused": "#8a8a8a",
    "pale": "#16273a",
}

# CSS class -> its property and colour
CLASSES = {
    "text": ("fill", "text"),
    ".t": ("fill", "test"),
    ".a": ("fill", "stripe"),
    ".b": ("fill", "train"),
    ".d": ("fill", "inner test"),
    ".u": ("fill", "unused"),
    ".r": ("stroke", "unused"),
    ".g": ("stroke", "grid"),
    ".m": ("stroke", "mean"),
    ".s": ("stroke", "fold"),
    ".l": ("stroke", "level"),
    ".n": ("stroke", "test"),
    ".h": ("fill", "mean"),
    ".p": ("fill", "level"),
    ".q": ("stroke", "level"),
    ".i": ("fill", "ink"),
    ".c": ("fill", "page"),
    ".k": ("fill", "text"),
    ".o": ("stroke", "page"),
}
LOOKS = (
    "text{font:11px system-ui,sans-serif}.m,.q{stroke-width:2;fill:none}"
    ".s,.r{stroke-width:.7;fill:none}.l{stroke-dasharray:4 3}"
    ".o{paint-order:stroke;stroke-width:3px}.e{stroke:#767676;stroke-width:.7}.f{fill:none}"
)


def style(themes: bool = True) -> str:
    """Return the style sheet of a picture, which follows the theme of its page or is light."""
    rules = [
        "".join(
            f"{name}{{{kind}:{colours[role]}}}"
            for name, (kind, role) in CLASSES.items()
        )
        for colours in (LIGHT, DARK)
    ]
    if not themes:
        return LOOKS + rules[0]
    return f"{LOOKS}{rules[0]}@media(prefers-color-scheme:dark){{{rules[1]}}}"
