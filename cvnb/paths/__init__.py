"""Ways to fill the loss table: one file per algorithm, the same numbers."""
