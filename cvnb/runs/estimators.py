"""NestedCV: nested cross-validation as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..calls import explained
from ..errors import FamilyError, Interrupted
from ..families.family import Family, ShortHand
from ..results.estimate import RiskEstimate
from ..splits.recipes import Recipe


def _has(method: str) -> Any:
    """Return a check that the final predictor, or the unfitted estimator, has a method."""

    def check(self: NestedCV) -> bool:
        is_fitted = hasattr(self, "predictor_")
        getattr(self.predictor_ if is_fitted else self._family().kind, method)
        return True

    return check


class NestedCV(MetaEstimatorMixin, BaseEstimator):
    """A scikit-learn estimator that tunes, trains, and estimates the risk of doing so.

        risk_      = mean_j loss of A_θj(S_-j) on S_j
        predictor_ = A_θ̂(S)

    fit runs the recipe. risk_ is the nested estimate, result_ the whole result, and predictor_
    the estimator trained on all rows, with the setting that the inner splitter chooses on all
    rows. fit takes groups and sample_weight.

    estimator   an estimator | a search, such as a GridSearchCV | a Family, such as knn()
    grid        as in Family; None for an estimator that brings its grid
    outer       the splits that measure the risk, as in Recipe
    inner       the splits that choose θ, as in Recipe
    seed        of all random splits
    loss        as in Recipe.run; None: zero-one loss for classes, squared loss for numbers
    scoring     a scikit-learn scorer or its name, in place of loss
    select      rule that chooses θ, as in Recipe.run
    n_jobs      number of workers; -1: all processors

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = NestedCV(LogisticRegression(max_iter=1000), {"C": [1, 10]}).fit(X, y)
    >>> round(model.risk_, 4), model.predictor_, round(model.score(X, y), 4)
    (0.0267, LogisticRegression(C=10, max_iter=1000), 0.98)
    >>> model.predict(X[:2]), model.predict_proba(X[:2]).argmax(axis=1)
    (array([0, 0]), array([0, 0]))
    >>> model.predict_log_proba(X[:2]).argmax(axis=1), model.decision_function(X[:2]).shape
    (array([0, 0]), (2, 3))
    >>> model.classes_, model.n_features_in_, model.feature_names_in_[0]
    (array([0, 1, 2]), 4, 'sepal length (cm)')
    """

    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - scikit-learn reads it as it is

    @explained
    def __init__(
        self,
        estimator: Any,
        grid: Any = None,
        outer: Any = 5,
        inner: Any = "auto",
        seed: int = 0,
        loss: Any = None,
        scoring: Any = None,
        select: Any = "min",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.outer = outer
        self.inner = inner
        self.seed = seed
        self.loss = loss
        self.scoring = scoring
        self.select = select
        self.n_jobs = n_jobs

    def _family(self) -> Family:
        if not isinstance(self.estimator, Family):
            return Family(self.estimator, self.grid)
        if self.grid is not None:
            raise FamilyError(
                f"{self.estimator!r} brings its own grid; leave grid={self.grid!r} out."
            )
        return self.estimator

    def fit(self, X: Any, y: Any = None, **params: Any) -> NestedCV:
        """Estimate the risk, then train on all rows; params: groups, sample_weight.

        An interrupt raises cvnb.Interrupted with the finished part of the estimate, and
        leaves the estimator unfitted.
        """
        unknown = sorted(set(params) - {"groups", "sample_weight"})
        if unknown:
            names = ", ".join(unknown)
            raise TypeError(f"fit takes groups and sample_weight, got {names}.")
        if sklearn.get_config()["enable_metadata_routing"]:
            # refuses what the estimator did not request
            process_routing(self, "fit", **params)
        recipe = Recipe(outer=self.outer, inner=self.inner, seed=self.seed)
        options = {
            "loss": self.loss,
            "scoring": self.scoring,
            "select": self.select,
            "n_jobs": self.n_jobs,
            "progress": "off",
        }
        result = recipe.run(self._family(), X, y, **params, **options)
        assert isinstance(result, RiskEstimate)
        try:
            predictor = result.predictor()
        except KeyboardInterrupt:
            raise Interrupted(
                "every outer split was finished, but no model was trained on all rows; "
                "error.result holds the risk.",
                result,
            ) from None
        self.result_, self.risk_, self.predictor_ = result, result.risk, predictor
        return self

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """Return the predictions of predictor_."""
        check_is_fitted(self)
        return self.predictor_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of predictor_."""
        check_is_fitted(self)
        return self.predictor_.predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class probabilities of predictor_."""
        check_is_fitted(self)
        return self.predictor_.predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of predictor_."""
        check_is_fitted(self)
        return self.predictor_.decision_function(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return `scoring` on new data, or the estimator's own score; larger is better."""
        check_is_fitted(self)
        scorer = check_scoring(self.predictor_, scoring=self.scoring)
        return scorer(self.predictor_, X, y)

    @property
    def classes_(self) -> Any:
        """The class labels of predictor_."""
        _has("classes_")(self)
        return self.predictor_.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns seen in fit."""
        _has("n_features_in_")(self)
        return self.predictor_.n_features_in_

    @property
    def feature_names_in_(self) -> Any:
        """The names of the columns seen in fit."""
        _has("feature_names_in_")(self)
        return self.predictor_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Route groups to the splits and the rest to the estimator's fit, as GridSearchCV does.

        A short-hand makes its own model, on which a user cannot request weights: they are
        requested here.
        """
        request = self._get_metadata_request()
        if isinstance(self.estimator, ShortHand):
            request.fit.add_request(param="sample_weight", alias=True)
            return MetadataRouter(owner=self).add_self_request(request)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(request)
        return router.add(estimator=self._family().estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = self.estimator
        if isinstance(estimator, Family):
            estimator = estimator.kind
        if hasattr(estimator, "__sklearn_tags__"):
            inner = get_tags(estimator)
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags = inner.classifier_tags
            tags.regressor_tags = inner.regressor_tags
            tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = False
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags
