"""Loops compiled by Numba: arrays in, arrays filled. No kernel file imports another, for the cache looks at one file only."""
