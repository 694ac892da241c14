"""The curve's scale fits its numbers."""

import re

from sklearn.datasets import make_regression

from cvnb import Recipe, ridge


def test_tiny_losses_have_a_curve_and_not_a_line():
    """Ticks have as many digits as it takes."""
    Xr, yr = make_regression(60, 4, noise=5, random_state=0)
    result = Recipe(3, 3).run(ridge(alpha=[0.1, 1, 10]), Xr, yr * 1e-9)
    from cvnb.pictures.curves import curve_of
    from cvnb.pictures.svg import draw_curve

    body = draw_curve(curve_of(result)).body
    path = re.search(r'class="m" d="M([^"]+)"', body)[1]
    heights = [float(point.split()[1]) for point in path.split("L")]
    assert max(heights) - min(heights) > 50
