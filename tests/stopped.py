"""What is left of a run that was interrupted: what the user is given, and what displays are made from."""

import pytest

from cvnb import Interrupted
from cvnb.data.table import Data
from cvnb.runs.prepare import DEFAULTS, Options, prepare


def finished_part(run):
    """The finished part of a run that is interrupted; the run has to raise it."""
    with pytest.raises(Interrupted) as caught:
        run()
    return caught.value.result


def shown_part(recipe, family, X, y, groups=None, sample_weight=None, **options):
    """The result that magics and widgets show of a run that is interrupted, even where nothing was finished."""
    data = Data.check(X, y, groups, sample_weight)
    return prepare(recipe, family, data, Options(**{**DEFAULTS, **options})).run(None)
