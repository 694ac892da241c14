"""How long a nest map of 10,000 rows takes to draw, and how large it is: below one second
and two megabytes."""

import time

import numpy as np

from cvnb import Recipe
from cvnb.figures import nest_figure

RECIPES = (
    Recipe(5, 5),
    Recipe(10, 20),
    Recipe("loo", None),
    Recipe.train_validation_test(),
    Recipe.nested_resampling(),
    Recipe(5, 5, time_ordered=True, buffer=50),
)


def main():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 3)), rng.integers(0, 3, 10_000)
    groups = np.arange(10_000) // 5
    nest_figure(Recipe(3, 2).plan(X[:30], y[:30]))  # imports
    for recipe in RECIPES:
        plan = recipe.plan(X, y, groups=None if recipe.time_ordered else groups)
        started = time.perf_counter()
        text = nest_figure(plan).to_json()
        print(
            f"{plan.words[:70]:70} {time.perf_counter() - started:6.2f} s {len(text) / 1e6:6.2f} MB"
        )


if __name__ == "__main__":
    main()
