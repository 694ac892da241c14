"""Ridge, least squares, lasso and elastic net from sums over blocks of rows."""
