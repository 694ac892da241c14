"""Every result from its definition: loops over splits, settings, rows and classes, NumPy only.

A model enters as a plug-in, fit_predict(setting, X_train, y_train, X_test, w_train) ->
predictions; the loops around it know nothing else about it. Splits are explicit, in row
numbers of the whole data.
"""

import itertools
from typing import NamedTuple

import numpy as np

SAME = 1e-12
ROUNDING = 8 * 2.0**-52
EVEN = 1e-9


# Grids


def settings_of(grid):
    """List of dicts in the order of ParameterGrid: keys sorted, the last key fastest."""
    grids = grid if isinstance(grid, list) else [grid]
    return [
        dict(zip(sorted(axes), values, strict=True))
        for axes in grids
        for values in itertools.product(*(axes[key] for key in sorted(axes)))
    ]


def own(setting, name, default):
    """Value of a parameter in a setting, whatever step it is addressed to."""
    return {key.split("__")[-1]: value for key, value in setting.items()}.get(
        name, default
    )


# Nearest neighbours


def distances(X_train, x, metric="minkowski", p=2):
    """Distance of x to every training row."""
    X_train, x = X_train.astype(np.float64), x.astype(np.float64)
    if metric == "cosine":  # 1 - cos, without its loss of digits
        X_train, x = (
            X_train / np.sqrt((X_train**2).sum(axis=1))[:, None],
            x / np.sqrt((x**2).sum()),
        )
        return ((X_train - x) ** 2).sum(axis=1) / 2
    gaps = np.abs(X_train - x)
    if metric == "chebyshev" or (metric == "minkowski" and p == np.inf):
        return gaps.max(axis=1)
    if metric in ("manhattan", "l1", "cityblock") or (metric == "minkowski" and p == 1):
        return gaps.sum(axis=1)
    if metric in ("euclidean", "l2") or (metric == "minkowski" and p == 2):
        return np.sqrt((gaps**2).sum(axis=1))
    return (gaps**p).sum(axis=1) ** (1 / p)


def slack(x, metric="minkowski", p=2):
    """d -> how much farther a row may be and still count as equally far: rounding of d and x."""
    if metric == "cosine":  # half the square of a distance between rows of length 1
        return lambda d: SAME * d + ROUNDING * np.sqrt(2 * d) + ROUNDING**2 / 2
    blur = ROUNDING * distances(np.zeros((1, len(x))), x, metric, p)[0]
    return lambda d: SAME * d + blur


def ranked(X_train, x, metric="minkowski", p=2):
    """(training rows, distances) by (distance, row number), with ties up to rounding.

    A class of equals is the nearest row that is left and all that are as far; its distance
    is that of its first row.
    """
    d, more = distances(X_train, x, metric, p), slack(x, metric, p)
    d = np.where(d <= more(0.0), 0.0, d)
    order, rows, levels = np.argsort(d), [], []
    while len(rows) < len(d):
        start = end = len(rows)
        limit = d[order[start]] + more(d[order[start]])
        while end < len(d) and (end == start or d[order[end]] <= limit):
            end += 1
        rows += sorted(order[start:end])
        levels += [d[rows[start]]] * (end - start)
    return np.array(rows), np.array(levels)


def voters(setting, X_train, x):
    """The k nearest training rows by (distance, row number), and the weight of each one's vote."""
    rows, d = ranked(
        X_train, x, own(setting, "metric", "minkowski"), own(setting, "p", 2)
    )
    nearest, d = (
        rows[: own(setting, "n_neighbors", 5)],
        d[: own(setting, "n_neighbors", 5)],
    )
    if own(setting, "weights", "uniform") == "uniform":
        return nearest, np.ones(len(nearest))
    if own(setting, "weights", "uniform") == "softmax":
        return nearest, np.exp(-d / own(setting, "temperature", 0.07))
    if (d == 0).any():
        return nearest, (d == 0).astype(np.float64)
    return nearest, 1 / d


def knn_regressor(setting, X_train, y_train, X_test, w_train=None):
    """Weighted mean y of each test row's neighbours."""
    predictions = np.empty(len(X_test))
    for t, x in enumerate(X_test):
        nearest, votes = voters(setting, X_train, x)
        predictions[t] = sum(
            v * y for v, y in zip(votes, y_train[nearest].astype(float), strict=True)
        ) / sum(votes)
    return predictions


def knn_probabilities(setting, X_train, y_train, X_test, w_train=None):
    """Share of the votes of each class [test row, class], classes sorted."""
    classes = np.unique(y_train)
    shares = np.zeros((len(X_test), len(classes)))
    for t, x in enumerate(X_test):
        nearest, votes = voters(setting, X_train, x)
        for label, vote in zip(y_train[nearest], votes, strict=True):
            shares[t, np.flatnonzero(classes == label)[0]] += vote
        shares[t] /= shares[t].sum()
    return shares


def knn_classifier(setting, X_train, y_train, X_test, w_train=None):
    """Class with most votes among each row's neighbours; ties up to rounding: smallest label."""
    shares = knn_probabilities(setting, X_train, y_train, X_test)
    return np.unique(y_train)[
        np.argmax(shares >= (1 - EVEN) * shares.max(axis=1, keepdims=True), axis=1)
    ]


# Normal classes


def classes_of(X_train, y_train, w_train=None):
    """(class, share of weights, mean, weighted covariance of its rows) of each class."""
    w = np.ones(len(y_train)) if w_train is None else w_train
    for label in np.unique(y_train):
        own_w, own_X = w[y_train == label], X_train[y_train == label].astype(np.float64)
        mean = own_X[0] + own_w @ (own_X - own_X[0]) / own_w.sum()
        gaps = own_X - mean
        yield (
            label,
            own_w.sum() / w.sum(),
            mean,
            (gaps * own_w[:, None]).T @ gaps / own_w.sum(),
        )


def gaussian_nb_log(setting, X_train, y_train, X_test, w_train=None):
    """log(share * prod_c normal density of column c) [test row, class], with smoothed variances."""
    X = X_train.astype(np.float64)
    more = (
        own(setting, "var_smoothing", 1e-9)
        * np.mean((X - X.mean(axis=0)) ** 2, axis=0).max()
    )
    columns = []
    for _, share, mean, covariance in classes_of(X_train, y_train, w_train):
        variance = np.diag(covariance) + more
        z = (X_test - mean) ** 2 / variance
        columns.append(
            np.log(share) - 0.5 * (z + np.log(2 * np.pi * variance)).sum(axis=1)
        )
    return np.column_stack(columns)


def gaussian_nb(setting, X_train, y_train, X_test, w_train=None):
    """The class of the largest density."""
    return np.unique(y_train)[
        gaussian_nb_log(setting, X_train, y_train, X_test, w_train).argmax(axis=1)
    ]


def lda_log(setting, X_train, y_train, X_test, w_train=None):
    """log(share * normal density) [test row, class], up to a term equal for all classes.

    The covariance is the mean of those of the classes, each shrunken towards its own mean variance.
    """
    s, p = own(setting, "shrinkage", 0.0), X_train.shape[1]
    centre = X_train.astype(np.float64).mean(axis=0)
    classes = list(classes_of(X_train, y_train))
    pooled = sum(
        share * ((1 - s) * cov + s * np.trace(cov) / p * np.eye(p))
        for _, share, _, cov in classes
    )
    columns = []
    for _, share, mean, _ in classes:
        by = np.linalg.solve(pooled, mean - centre)
        columns.append((X_test - centre - (mean - centre) / 2) @ by + np.log(share))
    return np.column_stack(columns)


def lda(setting, X_train, y_train, X_test, w_train=None):
    """The class of the largest density."""
    return np.unique(y_train)[lda_log(setting, X_train, y_train, X_test).argmax(axis=1)]


def probabilities(logs):
    """The plug-in that turns log densities [test row, class] into probabilities."""

    def shares(setting, X_train, y_train, X_test, w_train=None):
        given = logs(setting, X_train, y_train, X_test, w_train)
        densities = np.exp(given - given.max(axis=1, keepdims=True))
        return densities / densities.sum(axis=1, keepdims=True)

    return shares


# Linear models


def ridge(setting, X_train, y_train, X_test, w_train=None):
    """Predictions of the shortest argmin sum_i w_i (y_i - b - x_i'beta)^2 + alpha |beta|^2."""
    intercept = own(setting, "fit_intercept", True)
    origin = X_train[0].astype(np.float64) * intercept  # an offset costs no digits
    X, y = X_train.astype(np.float64) - origin, y_train.astype(np.float64)
    w = np.ones(len(y)) if w_train is None else w_train
    centre, level = np.zeros(X.shape[1]), 0.0
    if intercept:  # the best b for any beta is the weighted mean of y - X beta
        centre, level = w @ X / w.sum(), w @ y / w.sum()
    root = np.sqrt(w)
    penalty = np.sqrt(own(setting, "alpha", 1.0)) * np.eye(X.shape[1])
    rows = np.vstack([root[:, None] * (X - centre), penalty])
    target = np.concatenate([root * (y - level), np.zeros(X.shape[1])])
    beta = np.linalg.lstsq(rows, target, rcond=None)[0]
    return level + (X_test.astype(np.float64) - origin - centre) @ beta


def lasso(setting, X_train, y_train, X_test, w_train=None):
    """Predictions of the elastic net.

    argmin_(b, beta) sum_i w_i (y_i - b - x_i'beta)^2 / (2 sum w)
                     + alpha (r |beta| + (1 - r) beta^2 / 2)"""
    alpha, r = own(setting, "alpha", 1.0), own(setting, "l1_ratio", 1.0)
    w = np.ones(len(y_train)) if w_train is None else w_train
    X, y = X_train.astype(np.float64), y_train.astype(np.float64)
    centre, level = w @ X / w.sum(), w @ y / w.sum()  # the best b for any beta
    X, y, share = X - centre, y - level, w / w.sum()
    beta, gram, moments = (
        np.zeros(X.shape[1]),
        X.T @ (share[:, None] * X),
        share * y @ X,
    )
    size = gram.diagonal()

    def is_settled(columns):
        """Minimise along each of these coordinates; whether nothing has moved."""
        before = beta.copy()
        for c in columns:
            along = moments[c] - gram[c] @ beta + size[c] * beta[c]
            shrunken = np.sign(along) * max(abs(along) - alpha * r, 0.0)
            beta[c] = shrunken / (size[c] + alpha * (1 - r))
        change = np.abs(beta - before).max(initial=0.0)
        return change <= 1e-13 * np.abs(beta).max(initial=1.0)

    for _ in range(100_000):
        if is_settled(np.flatnonzero(size > 1e-20)):
            break
        for _ in range(100_000):  # the others stay at zero meanwhile
            if is_settled(np.flatnonzero(beta)):
                break
    return level + (X_test.astype(np.float64) - centre) @ beta


def ols(setting, X_train, y_train, X_test, w_train=None):
    """Predictions of least squares with an intercept."""
    return ridge({**setting, "alpha": 0.0}, X_train, y_train, X_test, w_train)


def pls(setting, X_train, y_train, X_test, w_train=None):
    """Predictions of partial least squares, each component taken out of X and y.

    w = X'y of length 1,  t = Xw,  X -= t (t'X) / t't,  y -= t (t'y) / t't
    The same is done to the test rows, whose predictions are the sums of what is taken out.
    """
    X, y = X_train.astype(np.float64), y_train.astype(np.float64)
    mean, level, scale = X.mean(axis=0), y.mean(), np.ones(X.shape[1])
    if own(setting, "scale", True):
        for c in range(X.shape[1]):
            if X[:, c].min() < X[:, c].max():
                scale[c] = np.std(X[:, c], ddof=1)
    Z, left = (X - mean) / scale, y - level
    Z_test = (X_test.astype(np.float64) - mean) / scale
    predictions = np.full(len(X_test), level)
    for _ in range(own(setting, "n_components", 2)):
        w = Z.T @ left
        if np.abs(left).max() <= 1e-15 * np.abs(y).max():
            break
        w = w / np.linalg.norm(w)
        t, t_test = Z @ w, Z_test @ w
        loadings, share = t @ Z / (t @ t), t @ left / (t @ t)
        Z, left = Z - np.outer(t, loadings), left - share * t
        Z_test = Z_test - np.outer(t_test, loadings)
        predictions = predictions + share * t_test
    return predictions


def ols_leave_one_out(X, y):
    """Leave-one-out residuals e_i = r_i / (1 - h_ii) of least squares with an intercept."""
    design = np.column_stack([np.ones(len(X)), X])
    hat = design @ np.linalg.pinv(design)
    return (y - hat @ y) / (1 - np.diag(hat))


# Plug-ins made of plug-ins


def scaled(fit_predict):
    """The plug-in after standardisation (ddof 0; a constant column has scale 1)."""

    def fit_predict_scaled(setting, X_train, y_train, X_test, w_train=None):
        origin = X_train[0].astype(np.float64)
        A, B = X_train.astype(np.float64) - origin, X_test.astype(np.float64) - origin
        mean, scale = A.mean(axis=0), np.ones(A.shape[1])
        for c in range(A.shape[1]):
            if A[:, c].min() < A[:, c].max():
                scale[c] = np.sqrt(np.mean((A[:, c] - mean[c]) ** 2))
        return fit_predict(
            setting, (A - mean) / scale, y_train, (B - mean) / scale, w_train
        )

    return fit_predict_scaled


def on_components(fit_predict):
    """The plug-in on the first n_components principal components, found anew for each number."""

    def fit_predict_on_components(setting, X_train, y_train, X_test, w_train=None):
        origin = X_train[0].astype(np.float64)
        A, B = X_train.astype(np.float64) - origin, X_test.astype(np.float64) - origin
        mean = A.mean(axis=0)
        directions = np.linalg.svd(A - mean)[2][: own(setting, "n_components", None)].T
        scores = (A - mean) @ directions, (B - mean) @ directions
        return fit_predict(setting, scores[0], y_train, scores[1], w_train)

    return fit_predict_on_components


def fixed(fit_predict, **parameters):
    """The plug-in with parameters that are no part of the grid."""

    def fit_predict_fixed(setting, X_train, y_train, X_test, w_train=None):
        return fit_predict({**parameters, **setting}, X_train, y_train, X_test, w_train)

    return fit_predict_fixed


# Losses


def row_losses(loss, y, predictions, classes=None):
    """Loss of each row; for "log" the predictions are probabilities [row, class]."""
    losses = np.empty(len(y))
    for t in range(len(y)):
        if loss == "zero_one":
            losses[t] = y[t] != predictions[t]
        elif loss == "squared":
            losses[t] = (float(y[t]) - predictions[t]) ** 2
        elif loss == "absolute":
            losses[t] = abs(float(y[t]) - predictions[t])
        else:
            share = predictions[t, np.flatnonzero(classes == y[t])[0]]
            losses[t] = -np.log(
                np.clip(share, np.finfo(float).eps, 1 - np.finfo(float).eps)
            )
    return losses


def weighted_mean(losses, w=None):
    """sum_t w_t l_t / sum_t w_t."""
    w = np.ones(len(losses)) if w is None else w
    return sum(w * losses) / sum(w)


def split_loss(fit_predict, setting, X, y, train, test, loss, w=None):
    """Loss on the test rows of the model of the training rows, and its predictions."""
    train = np.sort(train)  # ties go to the smaller row number, in any order of rows
    predictions = fit_predict(
        setting, X[train], y[train], X[test], None if w is None else w[train]
    )
    losses = row_losses(loss, y[test], predictions, np.unique(y))
    return weighted_mean(losses, None if w is None else w[test]), predictions


# Selection and estimates


def tied(curve, loss):
    """True where a setting's loss equals the smallest one, up to rounding."""
    low = np.nanmin(curve)
    scale = 1.0 if loss == "zero_one" else np.maximum(np.abs(curve), abs(low))
    return np.asarray(curve) - low <= SAME * scale


def select(curve, loss):
    """Index of the first setting with the smallest loss."""
    return int(np.flatnonzero(tied(curve, loss))[0])


def inner_curve(fit_predict, settings, X, y, splits, loss, w=None):
    """Mean over splits of the fold losses of each setting (n_settings,)."""
    curve = np.empty(len(settings))
    for s, setting in enumerate(settings):
        folds = [
            split_loss(fit_predict, setting, X, y, train, test, loss, w)[0]
            for train, test in splits
        ]
        curve[s] = sum(folds) / len(folds)
    return curve


class Nested(NamedTuple):
    """The numbers of one nested procedure."""

    inner_curves: np.ndarray
    chosen_index: np.ndarray
    fold_risks: np.ndarray
    outer_curves: np.ndarray
    predictions: list

    @property
    def risk(self):
        """Mean of the fold losses."""
        return sum(self.fold_risks) / len(self.fold_risks)

    @property
    def flat(self):
        """Smallest mean outer loss over settings; of one outer split, the smallest inner loss."""
        several = len(self.fold_risks) > 1
        return (
            self.outer_curves.mean(axis=0) if several else self.inner_curves[0]
        ).min()

    @property
    def optimism(self):
        """Risk minus flat."""
        return self.risk - self.flat


def nested(fit_predict, settings, X, y, outer, inner, loss, w=None):
    """Choose by the inner splits of each outer split, then test; inner=None: one setting."""
    curves = np.full((len(outer), len(settings)), np.nan)
    chosen = np.zeros(len(outer), dtype=int)
    outer_curves = np.empty((len(outer), len(settings)))
    fold_risks, predictions = np.empty(len(outer)), []
    for j, (train, test) in enumerate(outer):
        if inner is not None:
            curves[j] = inner_curve(fit_predict, settings, X, y, inner[j], loss, w)
            chosen[j] = select(curves[j], loss)
        for s, setting in enumerate(settings):
            outer_curves[j, s], predicted = split_loss(
                fit_predict, setting, X, y, train, test, loss, w
            )
            if s == chosen[j]:
                fold_risks[j] = outer_curves[j, s]
                predictions.append(predicted)
    return Nested(curves, chosen, fold_risks, outer_curves, predictions)


# Bounds


def dev_set_bound(n_dev, n_settings, delta=0.05, range=1.0):
    """range sqrt((2 / n_dev) ln(2 n_settings / delta))."""
    return range * np.sqrt(2 / n_dev * np.log(2 * n_settings / delta))


def dev_set_size(width, n_settings, delta=0.05, range=1.0):
    """Smallest n_dev whose bound is at most width."""
    n_dev = 1
    while dev_set_bound(n_dev, n_settings, delta, range) > width:
        n_dev += 1
    return n_dev


# Rules


def standard_error(losses):
    """sd of the fold losses with ddof 1, over the square root of their number."""
    mean = sum(losses) / len(losses)
    return np.sqrt(
        sum((loss - mean) ** 2 for loss in losses) / (len(losses) - 1)
    ) / np.sqrt(len(losses))


def one_standard_error(curve, se, simplest_first):
    """First setting of the list whose loss is at most the smallest one plus se."""
    for s in simplest_first:
        if curve[s] <= min(curve) + se:
            return s
    raise AssertionError("the minimum is not in the list")


def regret(outer_curves, chosen):
    """[i, j]: loss of split i under the choice of split j, minus that under its own."""
    n = len(chosen)
    return np.array(
        [
            [outer_curves[i, chosen[j]] - outer_curves[i, chosen[i]] for j in range(n)]
            for i in range(n)
        ]
    )


# Corrections of the smallest loss


def tibshirani_bias(losses):
    """(index of the smallest mean, its mean excess over each fold's smallest loss)."""
    n_settings, n_folds = losses.shape
    means = [sum(losses[s]) / n_folds for s in range(n_settings)]
    chosen = means.index(min(means))
    excess = [
        losses[chosen, k] - min(losses[s, k] for s in range(n_settings))
        for k in range(n_folds)
    ]
    return chosen, sum(excess) / n_folds


def bbc(losses, bags, units=None, w=None):
    """[bags] out-of-bag mean loss of the setting with the smallest mean loss in the bag."""
    units = np.arange(len(losses)) if units is None else units
    w = np.ones(len(losses)) if w is None else w
    names, outside = np.unique(units), []
    for bag in bags:
        inside = np.concatenate([np.flatnonzero(units == names[u]) for u in bag])
        means = [
            weighted_mean(losses[inside, s], w[inside]) for s in range(losses.shape[1])
        ]
        left = np.array(
            [i for i in range(len(losses)) if units[i] not in set(names[bag])]
        )
        outside.append(weighted_mean(losses[left, int(np.argmin(means))], w[left]))
    return np.array(outside)


# Standard errors of a mean of losses


def bayle_error(folds, within=False):
    """sigma / sqrt(n): all pairs, or the mean sample variance within folds."""
    n = sum(len(fold) for fold in folds)
    centre = sum(sum(fold) / len(fold) for fold in folds) / len(folds)
    if within:
        variances = [
            sum((loss - sum(fold) / len(fold)) ** 2 for loss in fold) / (len(fold) - 1)
            for fold in folds
        ]
        return np.sqrt(sum(variances) / len(folds) / n)
    return np.sqrt(sum((loss - centre) ** 2 for fold in folds for loss in fold) / n / n)


def clustered_error(losses, units, centre):
    """sqrt(U/(U-1) sum_u (sum of (l - centre)/n over unit u)^2)."""
    names = sorted(set(units))
    sums = [
        sum(
            (losses[i] - centre) / len(losses)
            for i in range(len(losses))
            if units[i] == u
        )
        for u in names
    ]
    return np.sqrt(len(names) / (len(names) - 1) * sum(s**2 for s in sums))


def corrected_t(d, n_train, n_test):
    """Nadeau and Bengio's t."""
    mean = sum(d) / len(d)
    variance = sum((x - mean) ** 2 for x in d) / (len(d) - 1)
    return mean / np.sqrt((1 / len(d) + n_test / n_train) * variance)


def hoeffding_half(sizes, level, width):
    """Half width of the interval for the mean risk of len(sizes) rules, by a union bound."""
    delta = (1 - level) / len(sizes)
    return sum(width * np.sqrt(np.log(2 / delta) / (2 * n)) for n in sizes) / len(sizes)


class NCV(NamedTuple):
    """Nested CV of Bates, Hastie and Tibshirani: centre and standard error of the interval."""

    centre: float
    error: float
    inflation: float
    bias: float


def ncv(fit_choose_predict, X, y, repeats, row_loss):
    """Nested CV by its formulas, one fold, one pair and one row at a time.

    fit_choose_predict(r, train, test) -> predictions, θ chosen inside train by the inner
    splits of repeat r; repeats: for each repeat the rows of each of its K folds
    """
    n, K = len(y), len(repeats[0])
    differences, pair_losses, fold_losses = [], [], []
    for r, folds in enumerate(repeats):

        def losses(k, left_out, r=r, folds=folds):
            out = [i for m in left_out for i in folds[m]]
            train = np.array([i for i in range(n) if i not in out])
            predicted = fit_choose_predict(r, train, np.array(folds[k]))
            return [row_loss(y[i], p) for i, p in zip(folds[k], predicted, strict=True)]

        for k in range(K):
            inside = []
            for m in range(K):
                if m != k:
                    inside += losses(m, (m, k))
            own = losses(k, (k,))
            own_mean = sum(own) / len(own)
            variance = sum((loss - own_mean) ** 2 for loss in own) / (len(own) - 1)
            a = sum(inside) / len(inside) - own_mean
            differences.append(a * a - variance / len(own))
            pair_losses += inside
            fold_losses += own
    mean = sum(pair_losses) / len(pair_losses)
    sd = np.sqrt(
        sum((loss - mean) ** 2 for loss in pair_losses) / (len(pair_losses) - 1)
    )
    mse = sum(differences) / len(differences)
    inflation = np.sqrt(max(0, mse)) / (sd / np.sqrt(n * (K - 1) // K))
    inflation = min(max(inflation, 1), np.sqrt(K))
    cv = sum(fold_losses) / len(fold_losses)
    bias = (mean - cv) * (1 + ((K - 2) / K) ** 1.5)
    return NCV(mean - bias, inflation * sd / np.sqrt(n), inflation, bias)


def two_halves(d):
    """(Dietterich's t, Alpaydin's F) of d[5, 2]."""
    squares = []
    for first, second in d:
        mean = (first + second) / 2
        squares.append((first - mean) ** 2 + (second - mean) ** 2)
    return d[0][0] / np.sqrt(sum(squares) / 5), sum(
        x**2 for pair in d for x in pair
    ) / (2 * sum(squares))
