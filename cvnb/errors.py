"""Every exception and warning of cvnb; the magic shows them in one line of its own (magics.py)."""


class CvnbError(Exception):
    """Base of everything that cvnb raises; they are in cvnb.errors.

    CvnbError
    ├── InputError (ValueError)        something given cannot be used
    │   ├── DataError                  X, y, groups or weights
    │   ├── RecipeError                outer, inner and their options
    │   ├── FamilyError                estimator, grid, one setting
    │   ├── LossError                  loss, scoring
    │   ├── InfeasibleError            each of them is fine, together they leave a split that cannot work
    │   └── WrongTypeError (TypeError) an object of a kind that cannot play this part
    ├── FitError (RuntimeError)        every setting failed
    └── Interrupted (KeyboardInterrupt)

    CvnbWarning (UserWarning)          said once, and kept in result.notes

    >>> from cvnb import Recipe
    >>> try:
    ...     Recipe(outer=1)
    ... except CvnbError as error:
    ...     print(error)
    outer=1 leaves no fold to test on; use outer >= 2.
    """


class InputError(CvnbError, ValueError):
    """Something given cannot be used; the message says what to type instead."""


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
    """An object of a kind that cannot play this part."""


class FitError(CvnbError, RuntimeError):
    """Every setting failed, so nothing can be chosen."""


class Interrupted(CvnbError, KeyboardInterrupt):
    """Stopped by the user."""


class CvnbWarning(UserWarning):
    """Something that deserves a look; also kept in `result.notes`."""
