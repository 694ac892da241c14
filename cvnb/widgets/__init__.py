"""Widgets: set a recipe up, see its folds, run it, explore its result. They are views; results are the record."""

from .builder import RecipeBuilder

__all__ = ["RecipeBuilder"]
