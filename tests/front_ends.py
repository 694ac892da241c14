"""JupyterLab, Notebook 7 and voila in a headless Chromium: open, run, save, read."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from jupyter_client import BlockingKernelClient

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    # Other machines are not reached. (Playwright's routes would do it too, without a cache.)
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
HERE = re.compile(r"(data|blob|file|about):|(https?|ws)://(127\.0\.0\.1|localhost)[:/]")
# Messages of the front ends themselves, with any notebook.
OWN_COMPLAINTS = {
    # its debugger, where a kernel is restarted or a notebook closed before it has an answer
    "lab": (re.compile(r"Could not restore the debugger state"),),
    "notebook": (
        # Notebook 7.6, at its start, with an empty notebook too
        re.compile(r"reading 'schema'"),
        # it restores what JupyterLab left open
        re.compile(r"Command 'filebrowser:open-path' not registered"),
    ),
    # its page asks for a font elsewhere, and loads JupyterLab's extensions, not made for it
    "voila": (
        re.compile(r"fontawesome|net::ERR_"),
        re.compile(r"shared module is not a function|doesn't exist in shared scope"),
    ),
}
SETTINGS = {
    # every output is drawn, also far down
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}
# Leaves a kernel as it was at its start, but for what it has imported.
EMPTIED = """import ipywidgets
ipywidgets.Widget.close_all()
get_ipython().extension_manager.unload_extension('cvnb')
get_ipython().reset(new_session=True, aggressive=False)"""
NOTEBOOK = "(window.jupyterapp?.shell?.currentWidget)"
COUNTS = f"{NOTEBOOK}?.content?.widgets?.map(cell => cell.model.executionCount ?? null)"
STATUS = f"{NOTEBOOK}?.sessionContext?.session?.kernel?.status"
THEME = (
    "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
)

OPEN = (
    "path => window.jupyterapp.commands"
    ".execute('docmanager:open', {path, factory: 'Notebook'}).then(() => {})"
)
CLOSE_ALL = (
    "() => [...window.jupyterapp.shell.widgets('main')].forEach(one => one.dispose())"
)
# Parts of a widget that are wider than their place, that overlap, or that have no name.
OVERFLOWING = """() => {
    const scrolls = one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX);
    const overflows = one => !(one instanceof SVGElement) && one.tagName !== 'INPUT'
        && one.clientWidth > 0 && one.scrollWidth > one.clientWidth
        && getComputedStyle(one).display !== 'inline' && !scrolls(one)
        && !one.closest('.js-plotly-plot');
    const all = [...document.querySelectorAll('.cvnb-host, .cvnb-host *')];
    return all.filter(overflows)
        .map(one => [one.tagName, one.className, one.scrollWidth, one.clientWidth]);
}"""
OVERLAPPING = """() => {
    const controls = '.cvnb-form input, .cvnb-form select, .cvnb-form button, .cvnb-form label';
    const boxes = [...document.querySelectorAll(controls)].filter(one => one.checkVisibility())
        .map(one => [one.outerHTML, one.getBoundingClientRect()]);
    const apart = (p, q) => p.right - 1 <= q.left || q.right - 1 <= p.left
        || p.bottom - 1 <= q.top || q.bottom - 1 <= p.top;
    const others = (p, i) => boxes.slice(i + 1).filter(([, q]) => !apart(p, q));
    return boxes.flatMap(([a, p], i) => others(p, i).map(([b]) => [a, b]));
}"""
NAMELESS = """() => {
    const kinds = 'input, select, textarea, button, summary, a[href], [tabindex]';
    const labelled = one => [...(one.labels ?? [])].some(label => label.textContent.trim());
    const named = one => one.ariaLabel || one.title || one.dataset.title || labelled(one)
        || (one.tagName !== 'INPUT' && one.textContent.trim());
    const focusable = one => one.tabIndex >= 0 && one.offsetParent;
    return [...document.querySelectorAll(`.cvnb-host :is(${kinds})`)]
        .filter(one => focusable(one) && !named(one))
        .map(one => one.outerHTML.slice(0, 200));
}"""


def private_settings(home):
    """Return the variables that keep a server's settings, data and history below home."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    variables = {name: str(home / folder) for name, folder in folders.items()}
    return {**variables, "JUPYTER_PLATFORM_DIRS": "1", "CVNB_PROGRESS": "auto"}


class Server:
    """One Jupyter server with JupyterLab, Notebook 7 and voila, its own folder and settings."""

    def __init__(self, home):
        self.folder, self.token = home / "notebooks", secrets.token_hex(16)
        self.runtime, self.session = home / "runtime", None
        self.folder.mkdir(exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        for name, values in SETTINGS.items():
            path = home / "settings" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(values), encoding="utf-8")
        command = [sys.executable, "-m", "jupyterlab", *self._options(port)]
        environment = os.environ | private_settings(home)
        self.log = home / "log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment
            )
        self._wait()

    def _options(self, port):
        options = [
            "--no-browser",
            f"--port={port}",
            "--ServerApp.ip=127.0.0.1",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.folder}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        return [*options, "--allow-root"] if is_root else options

    def _wait(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/api", timeout=5):
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(self.log.read_text(encoding="utf-8")[-2000:])

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)

    def call(self, method, place, **values):
        """Return the answer of the server's API."""
        request = urllib.request.Request(
            f"{self.url}/api/{place}",
            json.dumps(values).encode() if values else None,
            {"Authorization": f"token {self.token}"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def hand_over(self, name):
        """Give a notebook the kernel of the one before it, emptied: a start and the imports
        take more than what most tests run."""
        of = {"path": name, "name": name, "type": "notebook"}
        if self.session is None:
            self.session = self.call(
                "POST", "sessions", kernel={"name": "python3"}, **of
            )
            return
        kernel = self.session["kernel"]["id"]
        if self.call("GET", f"kernels/{kernel}")["execution_state"] == "idle":
            self._empty(kernel)
        else:  # a test that failed left it so
            self.call("POST", f"kernels/{kernel}/restart")
        self.call("PATCH", f"sessions/{self.session['id']}", **of)

    def _empty(self, kernel):
        path = str(self.runtime / f"kernel-{kernel}.json")
        client = BlockingKernelClient(connection_file=path)
        client.load_connection_file()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            reply = client.execute(EMPTIED, reply=True, timeout=60, store_history=False)
            assert reply["content"]["status"] == "ok", reply["content"]
        finally:
            client.stop_channels()

    def write(self, name, cells):
        """Write a notebook of code cells that were never run, and give it a kernel."""
        code = [
            {
                "cell_type": "code",
                "id": f"c{i}",
                "metadata": {},
                "source": text,
                "outputs": [],
                "execution_count": None,
            }
            for i, text in enumerate(cells)
        ]
        kernel = {
            "kernelspec": {
                "name": "python3",
                "display_name": "Python 3",
                "language": "python",
            }
        }
        notebook = {
            "cells": code,
            "metadata": kernel,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.folder / name).write_text(json.dumps(notebook), encoding="utf-8")
        self.hand_over(name)

    def strip(self, name, to):
        """Copy a notebook without outputs."""
        notebook = json.loads((self.folder / name).read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        (self.folder / to).write_text(json.dumps(notebook), encoding="utf-8")

    def clone(self, name, to):
        """Copy a notebook as it comes from another machine: not trusted here."""
        notebook = json.loads((self.folder / name).read_text(encoding="utf-8"))
        notebook["metadata"]["title"] = to  # another text has another signature
        (self.folder / to).write_text(json.dumps(notebook), encoding="utf-8")
        return notebook

    def address(self, app, name):
        where = {
            "lab": f"lab/tree/{name}?reset&",
            "notebook": f"notebooks/{name}?",
            "voila": f"voila/render/{name}?",
        }
        return f"{self.url}/{where[app]}token={self.token}"


class Visit:
    """A page, what its console complained of, and what it asked of other machines (which it
    does not get)."""

    def __init__(self, page, server=None, app="lab", scheme="light"):
        self.page, self.server, self.app, self.scheme = page, server, app, scheme
        self.complaints, self.asked = [], []
        self._hears = {
            "console": self._read,
            "pageerror": lambda error: self._complain(str(error)),
            "request": lambda request: self._note(request.url),
            "websocket": lambda socket: self._note(socket.url),
        }
        for event, heard in self._hears.items():
            page.on(event, heard)

    def _read(self, message):
        if message.type == "error":
            self._complain(message.text)

    def _complain(self, text):
        if not any(known.search(text) for known in OWN_COMPLAINTS[self.app]):
            self.complaints.append(text)

    def _note(self, url):
        if not HERE.match(url):
            self.asked.append(url)

    def open(self, name):
        """Open a notebook and wait until it is drawn, in the theme asked for; in a JupyterLab
        that runs already as a click in its file browser does."""
        if self.page.evaluate("() => Boolean(window.jupyterapp?.restored)"):
            self.page.evaluate(OPEN, name)
        else:
            self.page.goto(self.server.address(self.app, name))
        if self.app == "voila":
            self.page.wait_for_load_state("networkidle", timeout=120_000)
            return self
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        self.page.wait_for_function("() => window.jupyterapp?.restored", timeout=60_000)
        self.page.evaluate(
            THEME, "JupyterLab Dark" if self.scheme == "dark" else "JupyterLab Light"
        )
        light = "false" if self.scheme == "dark" else "true"
        self.page.wait_for_selector(
            f"body[data-jp-theme-light={light}]", timeout=20_000, state="attached"
        )
        return self

    def leave(self):
        """Hear no more and close the notebooks, so that another visit can have the page."""
        for event, heard in self._hears.items():
            self.page.remove_listener(event, heard)
        self.page.evaluate(CLOSE_ALL)

    def start(self):
        """Run all cells without waiting."""
        self.idle()
        self.command("notebook:run-all-cells")
        return self

    def run(self, timeout=120_000):
        """Run all cells and wait for the last; a cell that fails ends it."""
        self.start()
        cells = f"{NOTEBOOK}?.content?.widgets"
        done = f"""() => {{
            const code = {cells}?.filter(cell => cell.model.type === 'code');
            return code?.length && code.every(cell => cell.model.executionCount);
        }}"""
        self.page.wait_for_function(done, timeout=timeout)
        self.idle()
        return self

    def idle(self):
        self.page.wait_for_function(f"() => {STATUS} === 'idle'", timeout=60_000)

    def command(self, name):
        self.page.evaluate(
            "name => { window.jupyterapp.commands.execute(name); }", name
        )

    def run_cell(self, i, text):
        """Write into cell i, run it, and wait: what its output says. (Of two runs in a row
        JupyterLab may drop the second.)"""
        self.idle()
        n_runs = self.page.evaluate(f"() => Math.max(0, ...{COUNTS})")
        self.page.evaluate(
            f"([i, text]) => {{ const {{ content }} = {NOTEBOOK}; content.activeCellIndex = i;"
            " content.widgets[i].model.sharedModel.setSource(text);"
            " window.jupyterapp.commands.execute('notebook:run-cell'); }",
            [i, text],
        )
        self.page.wait_for_function(
            f"([i, n]) => {COUNTS}[i] > n", arg=[i, n_runs], timeout=60_000
        )
        self.idle()
        return (
            self.page.locator(".jp-Notebook .jp-Cell")
            .nth(i)
            .locator(".jp-Cell-outputArea")
            .inner_text()
        )

    def save(self):
        self.page.evaluate(f"async () => {{ await {NOTEBOOK}.context.save(); }}")

    def quit(self):
        """Shut the kernel down; the kernels of all notebooks at once would fill the memory."""
        self.page.evaluate(
            f"async () => {{ await {NOTEBOOK}.sessionContext.shutdown(); }}"
        )

    def output(self, text):
        """Return the last output that contains a text."""
        found = self.page.locator(f".jp-OutputArea-output:has-text('{text}')").last
        found.wait_for(timeout=60_000)
        return found

    def shot(self, name, found=None):
        """A screenshot for a person to look at, where one is asked for by
        CVNB_SCREENSHOTS=folder."""
        if folder := os.environ.get("CVNB_SCREENSHOTS"):
            path = Path(folder) / f"{name}_{self.app}_{self.scheme}.png"
            (self.page if found is None else found).screenshot(path=path)


def contrast(locator):
    """Return the WCAG contrast of an element's text with its background."""
    colours = """element => {
        const parse = text => text.match(/[0-9.]+/g).map(Number);
        let node = element, back = null;
        while (node && !back) {
            const colour = parse(getComputedStyle(node).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) back = colour;
            node = node.parentElement;
        }
        return [parse(getComputedStyle(element).color), back ?? [255, 255, 255]];
    }"""

    def luminance(colour):
        channels = [c / 255 for c in colour[:3]]
        linear = [
            c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
            for c in channels
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    text, back = map(luminance, locator.evaluate(colours))
    return (max(text, back) + 0.05) / (min(text, back) + 0.05)


def broken_pictures(locator):
    """Return the pictures that are not drawn or have no alternative text."""
    return locator.locator("img").evaluate_all(
        "all => all.filter(one => !one.naturalWidth || !one.alt).map(one => one.src)"
    )


def unfolded(page):
    """Open the folds of the builder's form."""
    for words in ("settings as text", "more: seed"):
        page.locator(f".cvnb-form summary:has-text('{words}')").first.click()
