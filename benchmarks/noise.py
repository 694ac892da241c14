"""What is claimed where nothing can be learnt: coin flips as classes, so that every rule
errs half the time.

k-NN on 40 rows and 100 columns, k = 1...25 chosen inside, 5 × 5 folds, one line for each
way to report the result.

python benchmarks/noise.py [seeds] [docs/coin_flips.svg]: the second draws flat and nested
"""

import sys
from pathlib import Path

import numpy as np

import cvnb
from cvnb.inference import optimism

ESTIMATES = ("flat", "Tibshirani–Tibshirani", "BBC-CV", "nested")


def claims(n_seeds: int) -> tuple[np.ndarray, float]:
    """([seeds, estimates] errors claimed, how often BBC's interval of 95 % holds the truth)."""
    found, held = [], 0
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 100)), rng.integers(0, 2, 40)
        family = cvnb.knn(k=range(1, 26), scale=False, task="classification")
        result = cvnb.Recipe(5, 5, seed=seed, stratify=False).run(
            family, X, y, progress="off"
        )
        report = optimism(result, n_boot=200)
        found.append(
            (report.flat, report.tibshirani, report.bbc.estimate, report.nested)
        )
        held += report.bbc.low <= 0.5 <= report.bbc.high
    return np.array(found), held / n_seeds


STYLE = """
text{font:13px system-ui,sans-serif;fill:#444}
.flat{fill:#d9480f}
.nested{fill:#1565c0}
.truth{stroke:#444;stroke-width:1.5;stroke-dasharray:5 3}
@media(prefers-color-scheme:dark){
text{fill:#ccc}
.flat{fill:#f4793e}
.nested{fill:#64a8ec}
.truth{stroke:#ccc}
}
"""
WIDTH, LEFT, RIGHT, ROW = 640, 20, 620, 90
LOW, HIGH, BIN = 0.0, 1.0, 0.025  # one row of forty
WORDS = {
    "flat": "chosen and scored on the same folds",
    "nested": "nested cross-validation",
}


def picture(found: np.ndarray) -> str:
    """SVG of how often each error was claimed, flat above nested, with the truth."""

    def x(error: float) -> float:
        return LEFT + (error - LOW) / (HIGH - LOW) * (RIGHT - LEFT)

    parts = []
    for row, (name, words) in enumerate(WORDS.items()):
        errors, bottom = found[:, ESTIMATES.index(name)], ROW * (row + 1)
        bins, counts = np.unique(np.rint(errors / BIN).astype(int), return_counts=True)
        for place, n in zip(bins.tolist(), counts.tolist(), strict=True):
            height = 56 * n / counts.max()
            corner = f'x="{x((place - 0.4) * BIN):.1f}" y="{bottom - height:.1f}"'
            size = f'width="{x(0.8 * BIN) - LEFT:.1f}" height="{height:.1f}"'
            parts.append(f'<rect class="{name}" {corner} {size}/>')
        parts.append(f'<text x="{LEFT}" y="{bottom - 62}">{words}</text>')
        mean = f"{100 * errors.mean():.1f} % on average"
        place = f'x="{RIGHT}" y="{bottom - 62}" text-anchor="end"'
        parts.append(f"<text {place}>{mean}</text>")
    bottom = ROW * len(WORDS)
    for tenth in range(0, 11, 2):
        place = f'x="{x(tenth / 10):.1f}" y="{bottom + 16}" text-anchor="middle"'
        parts.append(f"<text {place}>{10 * tenth} %</text>")
    parts.append(f'<path class="truth" d="M{x(0.5):.1f} 4V{bottom}"/>')
    parts.append(f'<text x="{x(0.5) + 6:.1f}" y="14">the truth: 50 %</text>')
    caption = f"error claimed on coin flips, {len(found)} data sets of 40 rows"
    place = f'x="{WIDTH / 2}" y="{bottom + 36}" text-anchor="middle"'
    parts.append(f"<text {place}>{caption}</text>")
    size = f'width="{WIDTH}" height="{bottom + 46}"'
    tag = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return f"{tag}<style>{STYLE}</style>{''.join(parts)}</svg>\n"


def main(n_seeds: int, path: str | None = None) -> None:
    found, held = claims(n_seeds)
    print(
        f"error claimed on coin flips, mean of {n_seeds} seeds (standard error); the truth is 0.5"
    )
    for name, errors in zip(ESTIMATES, found.T, strict=True):
        print(
            f"{name:24}{errors.mean():.3f} ({errors.std(ddof=1) / np.sqrt(n_seeds):.3f})"
        )
    if path is not None:
        Path(path).write_text(picture(found), encoding="utf-8")
    print(f"BBC-CV's interval of 95 % holds it in {100 * held:.1f} % of them")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, *sys.argv[2:3])
