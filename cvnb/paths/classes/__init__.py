"""Classifiers fitted to sums over the rows of each class: discriminant analysis, naive Bayes."""
