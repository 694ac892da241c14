"""From a changed control to a repainted curve: 2000 x 20 k-NN, 5 x 5, k = 1...50, in a real
JupyterLab.

Thirty changes each of the seed, K, J and the grid: milliseconds from the input event in the
browser to plotly's "plotly_afterplot". Needs a Chromium; the median must stay below 150. What
follows the first repaint delays the second change, which is printed on its own.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from front_ends import CHROMIUM, FLAGS, Server, Visit

SETUP = """%load_ext cvnb
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)"""
CHANGE = """([label, value]) => new Promise(done => {
    const labels = [...document.querySelectorAll('.cvnb-form label')];
    const field = labels.find(one => one.textContent === label).control;
    const plot = document.querySelector('.cvnb-host .js-plotly-plot');
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, value);
    const started = performance.now();
    plot.once('plotly_afterplot', () => done(performance.now() - started));
    field.dispatchEvent(new Event(field.type === 'text' ? 'change' : 'input', {bubbles: true}));
})"""
CHANGES = {
    "seed": [("Seed", str(i)) for i in range(1, 31)],
    "K": [("Outer folds", str(3 + i % 5)) for i in range(30)],
    "J": [("Inner folds", str(3 + i % 5)) for i in range(30)],
    "grid": [("Settings as text", f"k=range(1, {51 - i % 5})") for i in range(1, 31)],
}


def main():
    if CHROMIUM is None:
        print("no Chromium on this machine: nothing measured")
        return
    with tempfile.TemporaryDirectory() as home, sync_playwright() as engine:
        server = Server(Path(home))
        try:
            server.write("live.ipynb", [SETUP, "%recipe X y"])
            browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            seen = (
                Visit(
                    browser.new_page(viewport={"width": 1280, "height": 1000}), server
                )
                .open("live.ipynb")
                .run()
            )
            seen.page.locator(
                ".cvnb-strip:has-text('of new rows misclassified')"
            ).wait_for(timeout=60_000)
            seen.page.wait_for_timeout(2000)
            for name, changes in CHANGES.items():
                taken = []
                for change in changes:
                    taken.append(seen.page.evaluate(CHANGE, list(change)))
                    seen.page.wait_for_timeout(250)  # a person, not a flood
                print(
                    f"{name:5} {len(taken)} changes: median {median(taken):.0f} ms, "
                    f"second {taken[1]:.0f} ms, slowest {max(taken):.0f} ms"
                )
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
