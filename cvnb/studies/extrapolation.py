"""Continue a learning curve beyond its data: a + b n^-c."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ..wording import rounded

LEAST = 4  # sizes: a formula of three numbers needs more than three
POWERS = np.geomspace(0.1, 2.0, 30)
STEP = float(POWERS[1] / POWERS[0])


@dataclass(frozen=True)
class PowerLaw:
    """loss(n) = a + b n^-c with b >= 0.

    >>> law = fit_power_law(np.array([10, 20, 40, 80]), np.array([2.0, 1.5, 1.25, 1.125]))
    >>> round(law(160), 3)
    1.062
    """

    a: float
    b: float
    c: float

    def __call__(self, n: float) -> float:
        return float(self.a + self.b * n**-self.c)

    @property
    def formula(self) -> str:
        """The formula with its numbers."""
        return f"{rounded(self.a, 3)} + {rounded(self.b, 3)} n^-{self.c:.2g}"


def fit_power_law(
    sizes: np.ndarray, risks: np.ndarray, least: float | None = None
) -> PowerLaw | None:
    """Return the law with the smallest squared error; None for fewer than four sizes.

    sizes  numbers of training rows, all different
    risks  the loss at each
    least  a lower bound of a, such as 0 for losses that are never negative
    """
    if sizes.size < LEAST:
        return None

    def law(c: float) -> tuple[PowerLaw, float]:
        """Return the best law with this power, and its squared error."""
        x = (sizes / sizes[0]) ** -c
        b = max(0.0, float(np.cov(x, risks, ddof=0)[0, 1] / x.var()))
        a = float(risks.mean() - b * x.mean())
        if least is not None and a < least:
            a = least
            b = max(0.0, float(((risks - a) * x).sum() / (x**2).sum()))
        error = float(((a + b * x - risks) ** 2).sum())
        return PowerLaw(a, b * float(sizes[0]) ** c, c), error

    best = min(POWERS, key=lambda c: law(c)[1])
    around = best / STEP, best * STEP
    found = minimize_scalar(lambda c: law(c)[1], bounds=around, method="bounded")
    c = float(found.x if found.fun < law(best)[1] else best)
    return law(c)[0]
