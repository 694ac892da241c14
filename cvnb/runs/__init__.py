"""From a recipe and data to a result: checks, forecast, advice and the scikit-learn estimator."""
