"""Interactive plotly figures of plans, results and comparisons.

They show the same numbers as the small static pictures. The functions are pure. Backgrounds
are transparent and texts are medium grey, so that a figure is readable in a light and in a
dark theme. Roles differ in lightness, not in hue alone.
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
