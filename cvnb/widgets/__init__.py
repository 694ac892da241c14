"""Widgets: set a recipe up, see its folds, run it, explore its result. They are views;
results are the record."""

from .bound_explorer import BoundExplorer
from .builder import RecipeBuilder
from .curve_explorer import CurveExplorer
from .nest_map import NestMap
from .spread_explorer import SpreadExplorer

__all__ = [
    "BoundExplorer",
    "CurveExplorer",
    "NestMap",
    "RecipeBuilder",
    "SpreadExplorer",
]
