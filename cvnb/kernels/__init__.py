"""Loops compiled by Numba: arrays in, arrays filled. No kernel file imports another, for the cache looks at one file only.

Numba keeps compiled loops beside this file or in the user's home. Where it can write to neither (containers, hubs), it refuses
to compile at all. Then they are kept in a directory of the user's among the temporary files, or else nowhere.
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
    """Lies where the kernels lie, so Numba finds a place for both or for neither."""


def _can_cache() -> bool:
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return False
    return True


def _own_directory() -> str | None:
    """A directory among the temporary files that is the user's alone; None where there is none.

    What is cached is run when it is loaded, and the name can be guessed. So owner and mode are checked, and whether somebody
    else may put another directory in its place.
    """
    try:
        parent, user = tempfile.gettempdir(), os.geteuid()
        directory = os.path.join(parent, f"cvnb-numba-{user}")
        with suppress(FileExistsError):
            os.mkdir(directory, 0o700)
        above, found = os.stat(parent), os.lstat(directory)
    except (OSError, AttributeError):  # no temporary files; no users, on Windows
        return None
    replaceable = above.st_mode & 0o022 and not above.st_mode & stat.S_ISVTX
    private = (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == user
        and not found.st_mode & 0o077
    )
    return directory if private and not replaceable else None


def _import_kernels() -> None:
    """Import all of them now: Numba looks for the place of a function where it is decorated."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def _import_cached_in(directory: str) -> bool:
    """Whether Numba can keep them there; the setting is put back, so that functions of the user's are kept where they were."""
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

    def without_cache(*given: Any, **options: Any) -> Any:
        return njit(*given, **options | {"cache": False})

    numba.njit = without_cache
    try:
        _import_kernels()
    finally:
        numba.njit = njit


def _fall_back() -> None:
    """Import the kernels where Numba can keep nothing, and say so: logged, because a warning may be an error."""
    directory = _own_directory()
    if directory is not None and _import_cached_in(directory):
        instead = f"They are kept in {directory}"
    else:
        _import_uncached()
        instead = "They are compiled again in every process, for some seconds"
    logging.getLogger("cvnb").warning(
        "cvnb cannot keep its compiled loops: neither %s nor a cache in the home directory can be written. %s; set "
        "NUMBA_CACHE_DIR to a directory of yours to keep them there.",
        os.path.dirname(__file__),
        instead,
    )


if not _can_cache():
    _fall_back()
