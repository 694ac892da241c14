"""What to change where a fit failed for a usual reason: text, sparse rows, a new category."""

from __future__ import annotations

import inspect
import re
from typing import Any

import scipy.sparse as sp
from sklearn.preprocessing import OrdinalEncoder

from ..data.checks import is_frame
from ..data.columns import first_text, text_columns
from .row_needs import steps_of

ABOUT_TEXT = re.compile(r"convert|to float|dtype|string|'str'|categor|2D array", re.I)
SPARSE_REFUSED = re.compile(r"sparse.*(dense|not supported)|toarray", re.I | re.S)
LIBRARIES = (
    "sklearn.",
    "numpy",
    "scipy.",
    "xgboost.",
    "lightgbm.",
    "catboost.",
    "cvnb.",
)
SHOWN = 5  # columns that a message names
ENCODER = 'OneHotEncoder(handle_unknown="ignore")'


def remedy_of(cause: str, X: Any, estimator: Any) -> str | None:
    """Return a sentence on what to change; None where the cause is not a usual one.

    cause      the message of the exception that a fit or a prediction raised
    X          the table of all rows
    estimator  the model that was fitted
    """
    if not _is_of_libraries(estimator):
        return None  # its own traceback tells more
    if "unknown categories" in cause:
        return f"A category is in the test part only: use {_encoder_of(estimator)}."
    if SPARSE_REFUSED.search(cause):
        return _dense(X, estimator)
    is_text = len(X.shape) == 1
    if ABOUT_TEXT.search(cause) and (is_text or text_columns(X)):
        return _numbers_of_documents() if is_text else _numbers_of_columns(X, estimator)
    return None


def _is_of_libraries(estimator: Any) -> bool:
    """Whether no step and no function in it is the user's own."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    functions = [part for part in parts if inspect.isroutine(part)]
    classes = [type(part) for part in parts if hasattr(part, "fit")]
    homes = [str(code.__module__) for code in (*functions, *classes)]
    return all(home.startswith(LIBRARIES) for home in homes)


def _encoder_of(estimator: Any) -> str:
    """Return the encoder that takes categories which it has not seen."""
    parts = estimator.get_params(deep=True).values()
    if any(isinstance(part, OrdinalEncoder) for part in parts):
        return 'OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)'
    return ENCODER


def _dense(X: Any, estimator: Any) -> str:
    if sp.issparse(X):
        return "X is sparse: use X.toarray(), or another model."
    kinds = {type(step).__name__ for step in steps_of(estimator)}
    if "ColumnTransformer" in kinds:
        return "The ColumnTransformer gives sparse rows: set its sparse_threshold=0."
    return "A transformer gives sparse rows: use OneHotEncoder(sparse_output=False)."


def _numbers_of_documents() -> str:
    return (
        "X is a row of texts: put TfidfVectorizer() ahead of the model, with "
        "make_pipeline(TfidfVectorizer(), ...)."
    )


def _numbers_of_columns(X: Any, estimator: Any) -> str:
    columns = text_columns(X)
    names = [list(X.columns)[c] for c in columns] if is_frame(X) else columns
    example = f"{names[0]!r} holds text such as {first_text(X, columns[0])!r}"
    if len(names) > 1:
        example += f", and so do {len(names) - 1} more"
    shown = ", ".join(map(repr, names[:SHOWN])) + (", ..." if names[SHOWN:] else "")
    sentence = (
        f"Column {example}: encode it ahead of the model, with make_column_transformer(("
        f'{ENCODER}, [{shown}]), remainder="passthrough")'
    )
    takes_categories = hasattr(steps_of(estimator)[-1], "categorical_features")
    if takes_categories and hasattr(X, "astype"):
        sentence += f", or X.astype(dict.fromkeys([{shown}], 'category'))"
    return f"{sentence}."
