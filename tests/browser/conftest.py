"""A real Jupyter server and a headless Chromium."""

import shutil
from pathlib import Path

import pytest

from front_ends import CHROMIUM, FLAGS, Server, Visit

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """JupyterLab, Notebook 7 and voila over a copy of the notebooks."""
    if CHROMIUM is None:
        pytest.skip(
            "no Chromium on this machine (chromium, chromium-browser, google-chrome)"
        )
    home = tmp_path_factory.mktemp("server")
    shutil.copytree(NOTEBOOKS, home / "notebooks")
    one = Server(home)
    yield one
    one.stop()


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip(
            "no Chromium on this machine (chromium, chromium-browser, google-chrome)"
        )
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture(params=["lab", "notebook"])
def app(request):
    return request.param


@pytest.fixture
def visit(chromium, request):
    """visit(): a page of its own; its console is silent and it asks nothing of another machine, or the test fails."""
    made = []

    def make(app="lab", scheme="light", server=None):
        page = chromium.new_page(
            viewport={"width": 1280, "height": 1400}, color_scheme=scheme
        )
        made.append(Visit(page, server, app, scheme))
        return made[-1]

    yield make
    for one in made:
        one.page.close()
    for one in made:
        assert one.complaints == []
        assert one.app == "voila" or one.asked == []
