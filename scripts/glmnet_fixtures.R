# Nested cross-validation by glmnet, for tests/paths/test_glmnet.py, which defines tables,
# folds and penalties in the same way.
#
#   Rscript scripts/glmnet_fixtures.R FOLDER > tests/paths/glmnet_nested.csv
#
# FOLDER holds scikit-learn's diabetes_data_raw.csv.gz and diabetes_target.csv.gz
# (sklearn/datasets/data). Run from the root of the repository. Lines: table, model, outer
# fold, inner fold or 0, then a loss for each penalty; where the inner fold is "predictions",
# the predictions (of classes: probabilities of the second) of the penalty of least mean inner
# loss on the first outer test part.
#
# glmnet minimises, over columns of mean 0 and mean square 1,
#     |y - b0 - Xw|^2 / (2n) + lambda (a |w| + (1 - a) w'w / (2s)),   s: spread of y,
# as it scales y to spread 1 and lambda by 1 / s, and scikit-learn's elastic net with alpha and
# l1_ratio r without the s. So lambda = alpha (r + (1 - r) s) and a = r alpha / lambda in each
# training part. Ridge is a = 0 and lambda = s alpha / n. With classes there is no spread, and
# lambda = 1 / (n C).

suppressPackageStartupMessages(library(glmnet))
glmnet.control(fdev = 0, devmax = 1, epsnr = 1e-12, mxitnr = 1000)

powers <- function(x) {
  z <- (x - mean(x)) / sqrt(mean((x - mean(x))^2))
  outer(z, 1:5, `^`)
}

tables <- function(folder) {
  auto <- read.csv("notebooks/data/auto.csv")
  X <- as.matrix(read.table(file.path(folder, "diabetes_data_raw.csv.gz")))
  i <- 0:47
  c <- 0:239
  wide <- outer(i, c, function(i, c) (31 * i^2 * c + 17 * i * c^2 + 7 * i + 11 * c) %% 1009)
  wide <- wide / 256
  signal <- 2 * wide[, 1] - 3 * wide[, 6] + wide[, 41] + ((37 * i^3) %% 101) / 64
  list(
    auto = list(X = powers(auto$horsepower), y = auto$mpg),
    diabetes = list(X = X, y = scan(file.path(folder, "diabetes_target.csv.gz"), quiet = TRUE)),
    wide = list(X = wide, y = signal)
  )
}

penalties <- 10^seq(0.5, -1.5, by = -0.5)
models <- list(
  lasso = function(n, s) list(lambda = penalties, alpha = 1),
  elastic_net = function(n, s) {
    list(lambda = penalties * (0.5 + 0.5 * s), alpha = 0.5 / (0.5 + 0.5 * s))
  },
  ridge = function(n, s) list(lambda = s * 100 * penalties / n, alpha = 0),
  logistic = function(n, s) list(lambda = 10 * penalties / n, alpha = 0),
  l1_logistic = function(n, s) list(lambda = 10 * penalties / n, alpha = 1)
)

answers <- function(X, y, train, test, model) {
  is_class <- grepl("logistic", model)
  part <- y[train]
  own <- models[[model]](length(train), sqrt(mean((part - mean(part))^2)))
  family <- if (is_class) "binomial" else "gaussian"
  fit <- glmnet(X[train, ], part, family, alpha = own$alpha, lambda = own$lambda,
                thresh = 1e-20, maxit = 1e8)
  predict(fit, X[test, , drop = FALSE], s = own$lambda, exact = FALSE, type = "response")
}

losses <- function(found, y, model) {
  if (!grepl("logistic", model)) return(colMeans((found - y)^2))
  colMeans(-log(y * found + (1 - y) * (1 - found)))
}

line <- function(...) cat(paste(c(...), collapse = ","), "\n", sep = "")

nested <- function(table, model, X, y) {
  rows <- seq_along(y)
  for (j in 1:4) {
    is_test <- rows %% 4 == j %% 4
    train <- rows[!is_test]
    inner <- 0
    for (k in 1:3) {
      held <- train[(seq_along(train)) %% 3 == k %% 3]
      found <- answers(X, y, setdiff(train, held), held, model)
      loss <- losses(found, y[held], model)
      inner <- inner + loss / 3
      line(table, model, j, k, sprintf("%.12g", loss))
    }
    found <- answers(X, y, train, rows[is_test], model)
    line(table, model, j, 0, sprintf("%.12g", losses(found, y[is_test], model)))
    if (j == 1) line(table, model, 1, "predictions", sprintf("%.10g", found[, which.min(inner)]))
  }
}

for (name in names(all <- tables(commandArgs(TRUE)[1]))) {
  for (model in names(models)) {
    y <- all[[name]]$y
    if (grepl("logistic", model)) y <- as.integer(y > median(y))
    nested(name, model, all[[name]]$X, y)
  }
}
