"""Small pictures without scripts, as SVG, and the numbers that they draw."""
