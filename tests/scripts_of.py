"""The scripts of benchmarks/ as modules, for tests that look at what they measure."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "benchmarks"


def script(name):
    """benchmarks/<name>.py, loaded by its path: some of their names are those of installed packages."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
