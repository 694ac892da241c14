"""Compile the kernels ahead, in a child process, while this one waits for its user.

The child has low priority and a session of its own, prints nothing, and ends when its standard
input closes: at `stop`, or whenever and however this process ends.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

COMMAND = ("-P", "-m", "cvnb", "compile", "--background")
_children: list[subprocess.Popen[bytes]] = []


def start() -> None:
    """Start the child, unless it runs already or CVNB_COMPILE is "off"."""
    if is_running() or not sys.executable:
        return
    if os.environ.get("CVNB_COMPILE", "") == "off":
        return
    nothing, windows = subprocess.DEVNULL, sys.platform == "win32"
    try:
        child = subprocess.Popen(
            [sys.executable, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_folders())},
            start_new_session=not windows,  # an interrupt is for this process alone
            creationflags=0x0800_0040 if windows else 0,  # no window, lowest priority
        )
    except OSError:  # no processes here: kernels are compiled where they are needed
        return
    if not _children:
        atexit.register(stop)
    _children.append(child)


def _folders() -> list[str]:
    """Return where the child finds modules: as here, but not in the folder of the notebook.

    There a file of the user's may have the name of a module.
    """
    here, own = os.getcwd(), os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    paths = [os.path.abspath(folder) for folder in sys.path if folder]
    return [*(path for path in paths if path == own or path != here), own]


def stop() -> None:
    """End the child."""
    while _children:
        child = _children.pop()
        assert child.stdin is not None
        child.stdin.close()
        child.kill()
        child.wait()


def is_running() -> bool:
    """Whether the child is still compiling."""
    return any(child.poll() is None for child in _children)


def is_kept(kernel: Any) -> bool:
    """Whether a compiled form of this kernel is in this process, or in Numba's cache.

    True also where Numba has no cache, or compiles nothing: then no child can help.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is None or kernel.signatures:
        return True
    processor = kernel.targetctx.codegen().magic_tuple()
    with suppress(PermissionError):  # another process is writing it, on Windows
        return any(key[1] == processor for key in file._load_index())
    return True


def name_data_apart(kernels: list[Any], suffix: str) -> None:
    """Let this process name its data files in Numba's cache as no other process does.

    Numba numbers them. Of two processes that compile different forms of a kernel at once, one
    could replace the data to which the other's index refers.
    """
    for kernel in kernels:
        file = getattr(kernel._cache, "_cache_file", None)
        if file is not None:
            pattern = file._data_name_pattern
            file._data_name_pattern = pattern.replace(".nbc", f"-{suffix}.nbc")
