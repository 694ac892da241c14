"""Reports on a result: free functions that do arithmetic over its loss table, and show themselves as a table with sentences."""
