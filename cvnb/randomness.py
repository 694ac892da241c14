"""NumPy's global random state belongs to the user: cvnb leaves it as it was found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def global_state(*seed: int) -> Iterator[None]:
    """Put the state back on leaving; inside it is seeded with `seed`, where given.

    An estimator with random_state=None draws from the global state. Seeding it per fit gives the same numbers whatever the
    order of the fits and the number of workers.
    """
    state = np.random.get_state()  # noqa: NPY002 - the legacy state is the one that estimators share
    try:
        if seed:
            np.random.seed(np.random.SeedSequence(seed).generate_state(4))  # noqa: NPY002
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
