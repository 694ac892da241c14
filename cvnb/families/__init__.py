"""Estimators with their grids, and the registry of algorithms that have a fast path."""
