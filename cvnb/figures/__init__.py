"""Plan or result -> plotly Figure: the interactive twins of the small static pictures, from the same numbers.

Pure functions. Backgrounds are transparent and texts of a middle grey, so that a figure can be read in a light and in a dark
theme. Roles differ in lightness, not in hue alone.
"""

from .comparison import comparison_figure
from .curve import curve_figure
from .nest import nest_figure
from .optimism import optimism_figure
from .theta import theta_figure

__all__ = [
    "comparison_figure",
    "curve_figure",
    "nest_figure",
    "optimism_figure",
    "theta_figure",
]
