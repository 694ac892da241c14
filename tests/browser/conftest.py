"""A real JupyterLab in a headless Chromium."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The address of a JupyterLab that serves a copy of the notebooks."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (chromium, chromium-browser, google-chrome)")
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(NOTEBOOKS, home / "notebooks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.root_dir={home / 'notebooks'}", "--LabApp.expose_app_in_browser=True", "--ServerApp.ip=127.0.0.1"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    private = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_SETTINGS_DIR")}
    private |= {"JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"), "CVNB_PROGRESS": "auto"}
    with open(home / "log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | private)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api", server, home / "log")
        yield Lab(f"http://127.0.0.1:{port}", token, home / "notebooks")
    finally:
        server.terminate()
        server.wait(timeout=20)


class Lab:
    """Where it runs, and how to write a notebook into its folder."""

    def __init__(self, url, token, folder):
        self.url, self.token, self.folder = url, token, folder

    def write(self, name, cells):
        """A notebook of code cells that were never run."""
        code = [
            {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
            for i, text in enumerate(cells)
        ]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        notebook = {"cells": code, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (self.folder / name).write_text(json.dumps(notebook), encoding="utf-8")

    def address(self, name):
        return f"{self.url}/lab/tree/{name}?reset&token={self.token}"


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (chromium, chromium-browser, google-chrome)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture
def page(chromium, scheme):
    """A page that remembers what its console complained of."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1400}, color_scheme=scheme)
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    page.close()


def _wait_for(url, server, log):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(log.read_text(encoding="utf-8")[-2000:])
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(log.read_text(encoding="utf-8")[-2000:])
