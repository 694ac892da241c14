"""The results that an interrupted run leaves: for the user, and for displays."""

import pytest

from cvnb import Interrupted
from cvnb.data.table import Data
from cvnb.runs.options import DEFAULTS, Options
from cvnb.runs.prepare import prepare


def finished_part(run):
    """Return the finished part from the Interrupted that this run must raise."""
    with pytest.raises(Interrupted) as caught:
        run()
    return caught.value.result


def shown_part(recipe, family, X, y, groups=None, sample_weight=None, **options):
    """Return the result that magics and widgets show, even where nothing was finished."""
    data = Data.check(X, y, groups, sample_weight)
    return prepare(recipe, family, data, Options(**{**DEFAULTS, **options})).run(None)
