"""Iris as one pair of arrays: a builder finds the names of its rows by identity."""

from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
