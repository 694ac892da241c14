"""Ways to fill the loss table, one per algorithm, all with the same numbers.

`add_path` adds one of your own.
"""

from ..families.algorithm import Algorithm
from .base import Unsuited
from .user import add_path, remove_path

__all__ = ["Algorithm", "Unsuited", "add_path", "remove_path"]
