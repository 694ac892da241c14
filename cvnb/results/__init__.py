"""What a run returns: estimates, comparisons, predictors, notes and reports."""
