"""What all tests share."""

import os

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# The same examples in every run, and no clock: a slow machine is no failure.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")

# Before any kernel starts: with a progress bar, a cell's first output is not its last.
os.environ["CVNB_PROGRESS"] = "off"


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """On tables this small the threads of BLAS and OpenMP only wait for each other, for minutes on busy cores."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def rng():
    """The same random numbers in every test."""
    return np.random.default_rng(0)
