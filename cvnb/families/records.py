"""The algorithms of cvnb's own, a record each: the one table of them. To add one, write its file and its record."""

from __future__ import annotations

from typing import Any

from .algorithm import Algorithm, Lazy

MARGINS = {
    "margins": "At {n} the classes are level up to rounding: another computation may name the other class."
}
LINEAR: dict[str, Any] = {
    "sweep": Lazy("cvnb.paths.linear.path:LinearSweep"),
    "answers_of_split": Lazy("cvnb.paths.linear.path:answers_of_split"),
    "notes": MARGINS,
    "memory": Lazy("cvnb.paths.memory:of_sums"),
}
STAGED: dict[str, Any] = {
    "axis": Lazy("cvnb.paths.prefix:axis_of"),
    "refuses": Lazy("cvnb.paths.prefix:refuses"),
    "prepare": Lazy("cvnb.paths.dispatch:staged"),
}
GROWN: dict[str, str] = {
    "max_leaf_nodes": "small", "max_depth": "small", "min_samples_leaf": "large", "min_samples_split": "large",
    "ccp_alpha": "large",
}  # fmt: skip

BUILT_IN = (
    Algorithm(
        name="knn",
        models=(
            "sklearn.neighbors:KNeighborsClassifier",
            "sklearn.neighbors:KNeighborsRegressor",
        ),
        axis="n_neighbors",
        short_hands=("cvnb.families.shorthands:knn",),
        sweep=Lazy("cvnb.paths.knn.path:KnnSweep"),
        answers_of_split=Lazy("cvnb.paths.knn.path:answers_of_split"),
        refuses=Lazy("cvnb.paths.knn.path:refuses"),
        in_float32=Lazy("cvnb.paths.knn.path:in_float32"),
        simplest={"n_neighbors": "large"},
        needs_rows=("n_neighbors",),
        notes={
            "equal distances": (
                "At {n} the k-th and the next neighbour are equally far: distance, then row number, decided."
            )
        },
        rate=2.2,
        memory=Lazy("cvnb.paths.memory:of_neighbours"),
    ),
    Algorithm(
        name="ridge",
        models=("sklearn.linear_model:Ridge", "sklearn.linear_model:RidgeClassifier"),
        axis="alpha",
        short_hands=("cvnb.families.shorthands:ridge",),
        refuses=Lazy("cvnb.paths.linear.path:refuses"),
        simplest={"alpha": "large"},
        closed_form=True,
        **LINEAR,
    ),
    Algorithm(
        name="ols",
        models=("sklearn.linear_model:LinearRegression",),
        axis="alpha",  # which it has not: one setting each
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
        iterated=True,
        simplest={"alpha": "large", "l1_ratio": "large"},
        **LINEAR,
    ),
    Algorithm(
        name="logistic",
        models=("sklearn.linear_model:LogisticRegression",),
        axis="C",
        short_hands=("cvnb.families.shorthands:logistic",),
        sweep=Lazy("cvnb.paths.logistic:LogisticSweep"),
        answers_of_split=Lazy("cvnb.paths.logistic:answers_of_split"),
        refuses=Lazy("cvnb.paths.logistic:refuses"),
        iterated=True,
        simplest={"C": "small"},
        two_classes=("LogisticRegression",),
        notes=MARGINS,
        memory=Lazy("cvnb.paths.memory:of_columns"),
    ),
    Algorithm(
        name="lda",
        models=("sklearn.discriminant_analysis:LinearDiscriminantAnalysis",),
        axis="shrinkage",
        sweep=Lazy("cvnb.paths.classes.lda:sweep"),
        answers_of_split=Lazy("cvnb.paths.classes.lda:answers_of_split"),
        refuses=Lazy("cvnb.paths.classes.lda:refuses"),
        simplest={"shrinkage": "large"},
        rate=10.0,
        memory=Lazy("cvnb.paths.classes.lda:memory"),
    ),
    Algorithm(
        name="gaussian_nb",
        models=("sklearn.naive_bayes:GaussianNB",),
        axis="var_smoothing",
        sweep=Lazy("cvnb.paths.classes.gaussian_nb:sweep"),
        answers_of_split=Lazy("cvnb.paths.classes.gaussian_nb:answers_of_split"),
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
        simplest=GROWN,
        **STAGED,
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
        short_hands=("cvnb.families.shorthands:boosting",),
        simplest={
            **GROWN,
            "n_estimators": "small",
            "max_iter": "small",
            "l2_regularization": "large",
        },
        two_classes=("GradientBoostingClassifier",),
        **STAGED,
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
        simplest=GROWN,  # more trees are smoother, not less simple
        **STAGED,
    ),
)
