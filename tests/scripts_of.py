"""The scripts of benchmarks/ and scripts/, imported as modules."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def script(name, folder="benchmarks"):
    """Import <folder>/<name>.py by its path; some names equal those of installed packages."""
    spec = importlib.util.spec_from_file_location(
        f"{folder}_{name}", ROOT / folder / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
