"""Interactive plotly figures of plans, results and comparisons.

They show the same numbers as the small static pictures, in the same colours. The functions
are pure. A figure has a white page of its own, so that it is readable in a light and in a dark
theme, and no button that uploads it. `save` writes pictures for slides and papers.
"""

from .comparison import comparison_figure
from .curve import curve_figure
from .nest import nest_figure
from .optimism import optimism_figure
from .saving import save
from .theta import theta_figure

__all__ = [
    "comparison_figure",
    "curve_figure",
    "nest_figure",
    "optimism_figure",
    "save",
    "theta_figure",
]
