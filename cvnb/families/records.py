"""BUILT_IN: the one table of cvnb's own algorithms. To add one, write its path and its record."""

from __future__ import annotations

from typing import Any

from .algorithm import Algorithm, Lazy, refuses_nothing

TIES = {
    "margins": (
        "At {n} the classes are equal up to rounding: another computation may choose the "
        "other class."
    )
}
LINEAR: dict[str, Any] = {
    "shared_path": Lazy("cvnb.paths.linear.path:LinearPath"),
    "predictions_of_split": Lazy("cvnb.paths.linear.path:predictions_of_split"),
    "notes": TIES,
    "memory": Lazy("cvnb.paths.memory:of_sums"),
}
PREFIX: dict[str, Any] = {  # the largest model holds the smaller ones
    "axis": Lazy("cvnb.paths.prefix:axis_of"),
    "refuses": Lazy("cvnb.paths.prefix:refuses"),
    "prepare": Lazy("cvnb.paths.dispatch:staged"),
}
SIMPLER_TREES = {
    "max_leaf_nodes": "small",
    "max_depth": "small",
    "min_samples_leaf": "large",
    "min_samples_split": "large",
    "ccp_alpha": "large",
}

SIMPLER_BOOSTING = {
    **SIMPLER_TREES,
    "n_estimators": "small",
    "max_iter": "small",
    "iterations": "small",
    "num_iterations": "small",
    "num_boost_round": "small",
    "num_trees": "small",
    "num_leaves": "small",
    "max_leaves": "small",
    "depth": "small",
    "min_child_weight": "large",
    "min_child_samples": "large",
    "min_data_in_leaf": "large",
    "l2_regularization": "large",
    "l2_leaf_reg": "large",
    "reg_lambda": "large",
    "reg_alpha": "large",
}

BUILT_IN = (
    Algorithm(
        name="knn",
        models=(
            "sklearn.neighbors:KNeighborsClassifier",
            "sklearn.neighbors:KNeighborsRegressor",
        ),
        axis="n_neighbors",
        short_hands=("cvnb.families.shorthands:knn",),
        shared_path=Lazy("cvnb.paths.knn.path:KnnPath"),
        predictions_of_split=Lazy("cvnb.paths.knn.path:predictions_of_split"),
        predictions_of_leading=Lazy("cvnb.paths.knn.leading:predictions_of_leading"),
        refuses=Lazy("cvnb.paths.knn.path:refuses"),
        simplest={"n_neighbors": "large"},
        needs_rows=("n_neighbors",),
        notes={
            "equal distances": (
                "At {n} the k-th and the next neighbour are equally far: distance, then "
                "row number, decided."
            )
        },
        rate=2.2,
        kernel="cvnb.kernels.votes:predict",
        compile_seconds=3.0,
        memory=Lazy("cvnb.paths.memory:of_neighbours"),
    ),
    Algorithm(
        name="ridge",
        models=("sklearn.linear_model:Ridge", "sklearn.linear_model:RidgeClassifier"),
        axis="alpha",
        short_hands=("cvnb.families.shorthands:ridge",),
        predictions_of_leading=Lazy("cvnb.paths.linear.path:predictions_of_leading"),
        refuses=Lazy("cvnb.paths.linear.path:refuses"),
        refuses_sparse=Lazy("cvnb.paths.linear.krylov:refuses_sparse"),
        simplest={"alpha": "large"},
        closed_form=True,
        kernel="cvnb.kernels.linear:ridge_of_totals",
        compile_seconds=4.0,
        **LINEAR,
    ),
    Algorithm(
        name="ols",
        models=("sklearn.linear_model:LinearRegression",),
        axis="alpha",  # a parameter that it does not have: one setting each
        predictions_of_leading=Lazy("cvnb.paths.linear.path:predictions_of_leading"),
        refuses=Lazy("cvnb.paths.linear.path:refuses"),
        closed_form=True,
        **LINEAR,
    ),
    Algorithm(
        name="lasso",
        models=("sklearn.linear_model:Lasso", "sklearn.linear_model:ElasticNet"),
        axis="alpha",
        short_hands=(
            "cvnb.families.shorthands:lasso",
            "cvnb.families.shorthands:elastic_net",
        ),
        refuses=Lazy("cvnb.paths.linear.lasso:refuses"),
        refuses_sparse=refuses_nothing,
        iterated=True,
        simplest={"alpha": "large", "l1_ratio": "large"},
        kernel="cvnb.kernels.lasso:descend",
        compile_seconds=5.5,
        **LINEAR,
    ),
    Algorithm(
        name="pls",
        models=("sklearn.cross_decomposition:PLSRegression",),
        axis="n_components",
        predictions_of_split=Lazy("cvnb.paths.pls:predictions_of_split"),
        in_threads=True,
        simplest={"n_components": "small"},
        needs_rows=("n_components",),
        rate=6.0,
        cost=Lazy("cvnb.paths.pls:cost"),
    ),
    Algorithm(
        name="logistic",
        models=("sklearn.linear_model:LogisticRegression",),
        axis="C",
        short_hands=("cvnb.families.shorthands:logistic",),
        shared_path=Lazy("cvnb.paths.logistic:LogisticPath"),
        predictions_of_split=Lazy("cvnb.paths.logistic:predictions_of_split"),
        refuses=Lazy("cvnb.paths.logistic:refuses"),
        refuses_sparse=Lazy("cvnb.paths.logistic:refuses_sparse"),
        shares_sparse=True,
        iterated=True,
        simplest={"C": "small"},
        kernel="cvnb.kernels.logistic:along_C",
        compile_seconds=5.5,
        two_classes=("LogisticRegression",),
        notes=TIES,
        memory=Lazy("cvnb.paths.memory:of_columns"),
    ),
    Algorithm(
        name="lda",
        models=("sklearn.discriminant_analysis:LinearDiscriminantAnalysis",),
        axis="shrinkage",
        shared_path=Lazy("cvnb.paths.classes.lda:shared_path"),
        predictions_of_split=Lazy("cvnb.paths.classes.lda:predictions_of_split"),
        refuses=Lazy("cvnb.paths.classes.lda:refuses"),
        simplest={"shrinkage": "large"},
        rate=10.0,
        memory=Lazy("cvnb.paths.classes.lda:memory"),
    ),
    Algorithm(
        name="gaussian_nb",
        models=("sklearn.naive_bayes:GaussianNB",),
        axis="var_smoothing",
        shared_path=Lazy("cvnb.paths.classes.gaussian_nb:shared_path"),
        predictions_of_split=Lazy(
            "cvnb.paths.classes.gaussian_nb:predictions_of_split"
        ),
        refuses=Lazy("cvnb.paths.classes.gaussian_nb:refuses"),
        simplest={"var_smoothing": "large"},
        rate=10.0,
    ),
    Algorithm(
        name="tree",
        models=(
            "sklearn.tree:DecisionTreeClassifier",
            "sklearn.tree:DecisionTreeRegressor",
        ),
        short_hands=("cvnb.families.shorthands:tree",),
        simplest=SIMPLER_TREES,
        **PREFIX,
    ),
    Algorithm(
        name="boosting",
        models=(
            "sklearn.ensemble:GradientBoostingClassifier",
            "sklearn.ensemble:GradientBoostingRegressor",
            "sklearn.ensemble:HistGradientBoostingClassifier",
            "sklearn.ensemble:HistGradientBoostingRegressor",
            "sklearn.ensemble:AdaBoostClassifier",
            "sklearn.ensemble:AdaBoostRegressor",
        ),
        optional=(
            "xgboost.sklearn:XGBClassifier",
            "xgboost.sklearn:XGBRegressor",
            "lightgbm.sklearn:LGBMClassifier",
            "lightgbm.sklearn:LGBMRegressor",
            "catboost.core:CatBoostClassifier",
            "catboost.core:CatBoostRegressor",
        ),
        short_hands=("cvnb.families.shorthands:boosting",),
        simplest=SIMPLER_BOOSTING,
        two_classes=("GradientBoostingClassifier", "CatBoostClassifier"),
        **PREFIX,
    ),
    Algorithm(
        name="forest",
        models=(
            "sklearn.ensemble:RandomForestClassifier",
            "sklearn.ensemble:RandomForestRegressor",
            "sklearn.ensemble:ExtraTreesClassifier",
            "sklearn.ensemble:ExtraTreesRegressor",
            "sklearn.ensemble:BaggingClassifier",
            "sklearn.ensemble:BaggingRegressor",
        ),
        short_hands=("cvnb.families.shorthands:forest",),
        simplest=SIMPLER_TREES,  # more trees are smoother, not less simple
        **PREFIX,
    ),
)
