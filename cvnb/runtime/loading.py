"""Slow imports that survive an interrupt: a half-imported module would break later code."""

from __future__ import annotations

import importlib
import threading


def load(*names: str) -> None:
    """Import these modules; an interrupt leaves at once while a thread finishes the import."""
    if threading.current_thread() is not threading.main_thread():
        for name in names:
            importlib.import_module(name)
        return
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for name in names:
                importlib.import_module(name)
        except BaseException as error:  # raised below, in the calling thread
            errors.append(error)

    thread = threading.Thread(target=work, name="cvnb import", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
