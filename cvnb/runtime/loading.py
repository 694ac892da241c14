"""Slow imports that an interrupt may hit: they are finished all the same, for half a module breaks what comes later."""

from __future__ import annotations

import importlib
import threading


def load(*names: str) -> None:
    """Import these modules. An interrupt of the main thread leaves at once, while another thread finishes the import."""
    if threading.current_thread() is not threading.main_thread():
        for name in names:
            importlib.import_module(name)
        return
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for name in names:
                importlib.import_module(name)
        except BaseException as error:  # raised where the import was asked for
            errors.append(error)

    thread = threading.Thread(target=work, name="cvnb import", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
