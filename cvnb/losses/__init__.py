"""Losses and scores, and the response of an estimator that each needs."""
