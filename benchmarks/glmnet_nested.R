# Nested cross-validation of the lasso by cv.glmnet, for benchmarks/regimes.py, which starts it
# and writes to its standard input, in the machine's own bytes:
#
#   integers  rows, columns, outer folds, penalties; the outer fold of each row, from 1; for
#             each outer fold the inner fold of each row, 0 outside its training part
#   doubles   penalties; y; X, column by column
#
# It prints the seconds of the faster of two runs, without reading and the start of R; then the
# risk of each outer fold, and the penalty that was chosen there (its number, from 0).

suppressPackageStartupMessages(library(glmnet))

input <- file("stdin", "rb")
integers <- function(n) readBin(input, "integer", n)
doubles <- function(n) readBin(input, "double", n)
size <- integers(4)
m <- size[1]
outer <- integers(m)
inner <- matrix(integers(m * size[3]), m)
penalties <- doubles(size[4])
y <- doubles(m)
X <- matrix(doubles(m * size[2]), m)

nested <- function() {
  sapply(seq_len(size[3]), function(j) {
    train <- outer != j
    search <- cv.glmnet(X[train, ], y[train], lambda = penalties, foldid = inner[train, j],
                        type.measure = "mse", standardize = FALSE)
    found <- predict(search, X[!train, , drop = FALSE], s = "lambda.min")
    chosen <- which.min(abs(penalties - search$lambda.min)) - 1
    c(mean((y[!train] - found)^2), chosen)
  })
}

seconds <- min(replicate(2, system.time(found <<- nested())[["elapsed"]]))
for (numbers in list(seconds, found[1, ], found[2, ])) {
  cat(sprintf("%.12g", numbers), "\n")
}
