"""X, y, groups and weights: checked once, with errors that say what to type."""
