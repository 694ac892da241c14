"""notebooks/11_recipe_builder.ipynb as a person goes through it: the builder that it opens
is dragged, the number follows."""

import pytest

pytestmark = pytest.mark.browser

NAME = "11_recipe_builder.ipynb"
STRIP = ".cvnb-host .cvnb-strip"


@pytest.mark.in_lab
def test_the_builder_of_the_notebook_follows_the_keyboard(visit, server, app):
    """Run the notebook, turn the seed by the arrow keys, choose a cell of the table:
    another number each time."""
    name = f"dragged_{app}_{NAME}"
    server.strip(NAME, name)
    seen = visit(app, "light", server).open(name).run()
    page = seen.page
    strip = page.locator(STRIP)
    assert strip.count() == 1  # the other views of the notebook are static copies
    page.locator(f"{STRIP}:has-text('seed 0')").wait_for(timeout=60_000)
    page.locator(".cvnb-host .js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
    page.locator(".cvnb-form summary:has-text('more: seed')").click()
    texts = [strip.inner_text()]
    page.get_by_label("Seed, slider").focus()
    for seed in (1, 2):
        page.keyboard.press("ArrowRight")
        page.locator(f"{STRIP}:has-text('seed {seed}')").wait_for(timeout=60_000)
        texts.append(strip.inner_text())
    page.get_by_label("outside: holdout, inside: K-fold").focus()
    page.keyboard.press("Space")
    page.locator(f"{STRIP}:has-text('CV then test')").wait_for(timeout=60_000)
    texts.append(strip.inner_text())
    assert len(set(texts)) == 4
    number = strip.locator("span").first.inner_text()
    seen.shot("notebook_11", page.locator(".cvnb-host"))
    last = page.locator(".jp-Notebook .jp-Cell").count() - 1
    said = seen.run_cell(
        last,
        "print(str(live.result).split('  ')[0], live.seed, live.outside, builder.seed, "
        "builder.outside)",
    )
    # the notebook's own builder is where its cells left it
    assert said.strip() == f"{number} 2 holdout 0 folds"
    seen.quit()
