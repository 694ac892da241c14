"""Fill the loss table: choose a setting inside, measure it outside, refit what a path refuses."""
