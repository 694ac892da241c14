"""Record docs/recipe_builder.gif, and its last state as docs/recipe_builder.png, from the
builder in a real JupyterLab.

python scripts/record_builder.py: needs a Chromium and `pip install playwright pillow`.
"""

import io
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CELLS = [
    "%load_ext cvnb\nimport sklearn.datasets\nX, y = "
    "sklearn.datasets.load_breast_cancer(return_X_y=True)",
    "%recipe X y",
]
POINTER = """() => {  // a headless browser paints none
    const path = '<path d="M1 1v17l4-4 3 8 3-1-3-8h6z" stroke="#fff"/>';
    const pointer = document.createElement('div'), style = pointer.style;
    pointer.innerHTML = `<svg width="18" height="24">${path}</svg>`;
    document.body.appendChild(pointer);
    Object.assign(style, { position: 'fixed', zIndex: 9999, pointerEvents: 'none' });
    const follow = at => {
        Object.assign(style, { left: at.clientX + 'px', top: at.clientY + 'px' });
    };
    addEventListener('mousemove', follow, true);
}"""
# The strip shows these words, and nothing is computed: nothing older is visible.
SETTLED = """words => {
    const strip = document.querySelector('.cvnb-strip');
    const { busy, stale } = document.querySelector('.cvnb-form')?.dataset ?? {};
    return strip?.textContent.includes(words) && busy === 'false' && !stale;
}"""


def frames(page):
    """(milliseconds, PNG) of each frame: the outer folds, the seed, then the slider of the
    inner folds."""

    def look(milliseconds, outer, inner, seed):
        folds = f"{outer}-fold CV, inside each training part {inner}-fold CV"
        words = f"nested CV ({folds}), seed {seed}"
        page.wait_for_function(SETTLED, arg=words, timeout=60_000)
        page.wait_for_timeout(400)  # the curve is painted a little after its legend
        return milliseconds, page.locator(".jp-Notebook .jp-Cell").nth(1).screenshot()

    page.get_by_text("more: seed").click()
    yield look(1200, 5, 5, 0)
    for label, value, *now in [("Outer folds", j, j, 5, 0) for j in (4, 3, 6)] + [
        ("Seed", s, 6, 5, s) for s in (1, 2, 4)
    ]:
        page.get_by_label(label, exact=True).hover()
        page.get_by_label(label, exact=True).fill(str(value))
        yield look(700, *now)
    slider = page.get_by_label("Inner folds, slider")
    low, high, box = (
        int(slider.get_attribute("min")),
        int(slider.get_attribute("max")),
        slider.bounding_box(),
    )
    for k in range(5, 11):
        page.mouse.move(
            box["x"] + 8 + (box["width"] - 16) * (k - low) / (high - low), box["y"] + 8
        )  # the thumb is 16 wide
        page.mouse.down()  # it stays down: the next move drags
        yield look(400, 6, k, 4)
    page.mouse.up()
    page.mouse.move(0, 0)
    yield look(1800, 6, 10, 4)


def main():
    try:
        from PIL import Image
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        sys.exit(f"{error.name} is not installed; type pip install playwright pillow")
    sys.path.insert(0, str(ROOT / "tests"))
    from front_ends import CHROMIUM, FLAGS, Server, Visit

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        sync_playwright() as engine,
        ExitStack() as after,
    ):
        server = Server(Path(home))
        after.callback(server.stop)
        server.write("builder.ipynb", CELLS)
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(
            viewport={"width": 1322, "height": 1300}, device_scale_factor=2
        )
        Visit(page, server).open("builder.ipynb").run(120_000)
        page.evaluate(POINTER)
        times, shots = zip(*frames(page), strict=True)
    whole = [Image.open(io.BytesIO(png)).convert("RGB") for png in shots]
    large = [
        one.crop((64, 8, *one.size)) for one in whole
    ]  # without the frame of the cell
    palette = large[-1].quantize(
        255, Image.Quantize.MAXCOVERAGE
    )  # white stays white; one for all: what rests costs nothing
    large[-1].quantize(palette=palette, dither=0).save(
        ROOT / "docs/recipe_builder.png", optimize=True
    )
    first, *others = [
        one.reduce(2).quantize(palette=palette, dither=0) for one in large
    ]
    first.save(
        ROOT / "docs/recipe_builder.gif",
        save_all=True,
        append_images=others,
        duration=times,
        loop=0,
    )


if __name__ == "__main__":
    main()
