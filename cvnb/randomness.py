"""NumPy's global random state belongs to the user: cvnb leaves it as it was found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def global_state() -> Iterator[None]:
    """Put the state back on leaving."""
    state = np.random.get_state()  # noqa: NPY002 - the legacy state is the one that estimators share
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
