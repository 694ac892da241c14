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
    server = Server(home)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser with a profile on disk: it compiles the front ends' scripts once, not for
    every page."""
    if CHROMIUM is None:
        pytest.skip(
            "no Chromium on this machine (chromium, chromium-browser, google-chrome)"
        )
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=CHROMIUM, args=FLAGS
        )
        yield browser
        browser.close()


def pytest_generate_tests(metafunc):
    """Give both applications and both themes, of their four pairs two; where the application
    changes nothing, a test has the mark in_lab."""
    values = {"app": ["lab", "notebook"], "scheme": ["dark", "light"]}
    names = [name for name in values if name in metafunc.fixturenames]
    if metafunc.definition.get_closest_marker("in_lab"):
        values = {name: chosen[:1] for name, chosen in values.items()}
    if names:
        pairs = list(zip(*(values[name] for name in names), strict=True))
        metafunc.parametrize(names, pairs)


@pytest.fixture(scope="session")
def running():
    """Pages in which JupyterLab runs and no notebook is open: its start takes seconds."""
    return []


@pytest.fixture
def visit(chromium, running, request):
    """visit() opens a page. A message in its console, or a request to another machine, fails
    the test."""
    visits = []

    def make(app="lab", scheme="light", server=None):
        reused = running and app == "lab" and server is not None
        page = running.pop() if reused else chromium.new_page()
        page.bring_to_front()
        page.set_viewport_size({"width": 1280, "height": 1400})
        page.emulate_media(color_scheme=scheme)
        visits.append(Visit(page, server, app, scheme))
        return visits[-1]

    yield make
    for seen in visits:
        in_lab = seen.app == "lab" and seen.server is not None
        if in_lab and not request.session.testsfailed:
            seen.leave()
            running.append(seen.page)
        else:
            seen.page.close()
    for seen in visits:
        assert seen.complaints == []
        assert seen.app == "voila" or seen.asked == []
