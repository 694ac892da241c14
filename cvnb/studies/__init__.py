"""Questions that follow a nested estimate: the same nest under other seeds, targets and sizes.

Each study runs the whole recipe again, choice included, many times; what serves all of these
runs is computed once. What a run leaves in memory is its risk.
"""

from .learning import learning_curve
from .null import null_test
from .seeds import over_seeds
from .steps import ladder

__all__ = ["ladder", "learning_curve", "null_test", "over_seeds"]
