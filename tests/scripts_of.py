"""The scripts of benchmarks/ and scripts/ as modules, for tests that look at what they do."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def script(name, folder="benchmarks"):
    """<folder>/<name>.py, loaded by its path: some of their names are those of installed packages."""
    spec = importlib.util.spec_from_file_location(
        f"{folder}_{name}", ROOT / folder / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
