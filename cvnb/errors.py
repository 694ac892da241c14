"""Every exception and warning of cvnb; the magics show them as one line."""

from __future__ import annotations

from typing import Any


class CvnbError(Exception):
    """Base class of all exceptions that cvnb raises; the others are in cvnb.errors.

    CvnbError
    ├── InputError (ValueError)        an argument cannot be used
    │   ├── DataError                  X, y, groups or weights
    │   ├── RecipeError                outer, inner and their options
    │   ├── FamilyError                estimator, grid, one setting
    │   ├── LossError                  loss, scoring
    │   ├── InfeasibleError            valid arguments that together give an impossible split
    │   └── WrongTypeError (TypeError) an argument of the wrong type
    └── FitError (RuntimeError)        every setting failed

    Interrupted (KeyboardInterrupt)    stopped by the user; `except Exception` does not catch it
    CvnbWarning (UserWarning)          shown once, and kept in result.notes

    >>> from cvnb import Recipe
    >>> try:
    ...     Recipe(outer=1)
    ... except CvnbError as error:
    ...     print(error)
    outer=1 leaves no fold to test on; use outer >= 2.
    """


class InputError(CvnbError, ValueError):
    """An argument cannot be used; the message says what to type instead."""


class DataError(InputError):
    """X, y, groups or weights cannot be used."""


class RecipeError(InputError):
    """A recipe, splitter or list of splits cannot be used."""


class FamilyError(InputError):
    """An estimator, its grid or one of its settings cannot be used."""


class LossError(InputError):
    """A loss or scoring cannot be used."""


class InfeasibleError(InputError):
    """A split of this plan leaves a part that cannot be fitted or measured."""


class WrongTypeError(InputError, TypeError):
    """An argument has the wrong type."""


class FitError(CvnbError, RuntimeError):
    """Every setting failed, so nothing can be chosen."""


class Interrupted(KeyboardInterrupt):
    """Raised by a run that the user stopped; `result` is the finished part.

    result  a RiskEstimate of the finished outer splits, or a Comparison of the finished
            families; None if nothing was finished

    >>> from itertools import count
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from cvnb import Interrupted, Recipe
    >>> fits = count(1)
    >>> class Stopped(DummyClassifier):
    ...     def fit(self, X, y, sample_weight=None):
    ...         if next(fits) == 4:
    ...             raise KeyboardInterrupt  # as if Ctrl-C had been pressed
    ...         return super().fit(X, y, sample_weight)
    >>> try:
    ...     result = Recipe.external_cv(5).run(Stopped(), *load_iris(return_X_y=True))
    ... except Interrupted as error:
    ...     print(str(error).partition(";")[0])
    ...     result = error.result
    3 of 5 outer splits were finished
    >>> result.complete, len(result.fold_risks)
    (False, 3)
    """

    def __init__(self, message: str = "", result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class CvnbWarning(UserWarning):
    """A result that deserves a second look; also kept in `result.notes`."""
