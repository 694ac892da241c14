"""Loops compiled by Numba: arrays in, arrays filled.

No kernel file imports another, because Numba's cache checks one file only.

Numba keeps compiled loops next to this file or in the user's home directory. If it can write to
neither (containers, hubs), it refuses to compile at all. Then they are kept in a private directory
among the temporary files, or else nowhere.
"""

from __future__ import annotations

import importlib
import logging
import os
import pkgutil
import stat
import tempfile
from contextlib import suppress
from typing import Any

import numba


def _probe() -> None:
    """Lies next to the kernels, so Numba finds a cache directory for both or for neither."""


def _can_cache() -> bool:
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return False
    return True


def _own_directory() -> str | None:
    """Return a private directory among the temporary files, or None.

    Cached code is run when it is loaded, and the name can be guessed. So the owner and the mode
    are checked, and whether another user could replace the directory.
    """
    try:
        parent, user = tempfile.gettempdir(), os.geteuid()
        directory = os.path.join(parent, f"cvnb-numba-{user}")
        with suppress(FileExistsError):
            os.mkdir(directory, 0o700)
        above, status = os.stat(parent), os.lstat(directory)
    except (OSError, AttributeError):  # no temporary files; no users, on Windows
        return None
    replaceable = above.st_mode & 0o022 and not above.st_mode & stat.S_ISVTX
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == user
    private = is_own and not status.st_mode & 0o077
    return directory if private and not replaceable else None


def _import_kernels() -> None:
    """Import all kernels now: Numba picks the cache directory where a function is decorated."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def _import_cached_in(directory: str) -> bool:
    """Import all kernels with this cache directory; return False if Numba cannot use it.

    The setting is restored, so the user's own functions are cached where they were.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = directory
    try:
        able = _can_cache()
        if able:
            _import_kernels()
    finally:
        numba.config.CACHE_DIR = before
    return able


def _import_uncached() -> None:
    njit = numba.njit

    def without_cache(*args: Any, **options: Any) -> Any:
        return njit(*args, **options | {"cache": False})

    numba.njit = without_cache
    try:
        _import_kernels()
    finally:
        numba.njit = njit


def _fall_back() -> None:
    """Import the kernels although Numba has no cache directory, and log where they are kept.

    It is logged, because a warning may be an error.
    """
    directory = _own_directory()
    if directory is not None and _import_cached_in(directory):
        instead = f"They are kept in {directory}"
    else:
        _import_uncached()
        instead = "They are compiled again in every process, for some seconds"
    logging.getLogger("cvnb").warning(
        "cvnb cannot keep its compiled loops: neither %s nor a cache in the home "
        "directory can be written. %s; set NUMBA_CACHE_DIR to a directory of yours to "
        "keep them there.",
        os.path.dirname(__file__),
        instead,
    )


if not _can_cache():
    _fall_back()
