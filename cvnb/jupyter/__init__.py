"""The magics, their completion, and runs in the background of a notebook."""
