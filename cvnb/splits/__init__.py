"""Splitters, recipes and plans: how rows are split at both levels, drawn once and kept as data."""
