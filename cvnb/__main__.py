"""python -m cvnb COMMAND: what is useful outside of a notebook."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m cvnb", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    add_compile(commands)
    options = vars(parser.parse_args(arguments))
    return options.pop("command")(**options)


def add_compile(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `compile`."""
    words = (
        "compile all kernels now, so that no first run waits for it (container images)"
    )
    parser = commands.add_parser("compile", help=words, description=words)
    parser.add_argument(
        "--background",
        action="store_true",
        help="with low priority, silently, and only as long as the standard input is open",
    )
    parser.set_defaults(command=compile_all)


def compile_all(background: bool) -> int:
    """Compile all kernels into Numba's cache; return 1 if there is no cache."""
    if background:
        if hasattr(os, "nice"):
            os.nice(19)
        threading.Thread(target=_end_with_input, daemon=True).start()
    started = time.perf_counter()
    from .runs.ahead import all_kernels, compile_kernels

    place = all_kernels()[0].stats.cache_path
    if place is None:
        print("Nothing compiled can be kept: set NUMBA_CACHE_DIR.", file=sys.stderr)
        return 1
    for name in compile_kernels():
        if not background:
            print(f"{name:<40}{time.perf_counter() - started:6.1f} s", flush=True)
    if not background:
        print(f"All kernels are compiled, in {os.path.dirname(place)}.")
    return 0


def _end_with_input() -> None:
    """Wait until the standard input is closed, and end this process."""
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
