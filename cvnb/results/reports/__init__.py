"""Reports on a result: arithmetic over its loss table, shown as a table with sentences."""
