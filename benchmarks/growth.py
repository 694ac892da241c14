"""How cost grows: seconds and peak memory of nested CV against the rows m, settings |Θ0|,
outer folds J and inner folds K.

Prints a table and writes it to docs/growth.md, with docs/growth.svg. Each row has a process
of its own; memory is what the process takes at its peak beyond what it took with X and y in
it (Linux; elsewhere it is left out).
"""

import json
import os
import platform
import subprocess
import sys
import time
from html import escape
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import sklearn
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Family, Recipe

DOCS = Path(__file__).parents[1] / "docs"
COMMAND = "python benchmarks/growth.py"
AMONG = (2, 5, 10, 20)  # folds
ENOUGH = 2.0  # seconds in a row after which it is not run once more
RIDGE, KNN, LASSO, LOOPS = (
    "ridge 20000 50",
    "knn 5000 20",
    "lasso 20000 50",
    "loops 1000 50",
)
BLOCKS = {  # what grows -> what is shared; rows "family m columns |Θ0| J K"
    "m": (
        "rows m",
        "Ridge sums products of columns over blocks of rows, once for each outer "
        "training part, and every inner training part is a sum of those sums. The "
        "neighbours of each row are searched once among all rows, of few columns by a "
        "tree.",
        [
            *(f"ridge {m} 50 17 5 5" for m in (1_000, 10_000, 100_000, 1_000_000)),
            *(f"knn {m} 20 50 5 5" for m in (2_000, 10_000, 50_000)),
            *(f"knn {m} 3 50 5 5" for m in (10_000, 100_000, 1_000_000)),
        ],
    ),
    "settings": (
        "settings |Θ0|",
        "One factorisation of a training part, one descent along the penalties, one list "
        "of neighbours serves every setting; what is left for each is to say something "
        "of the test rows. In loops every setting is fitted anew in every split. Memory "
        "is that of the results: the loss of every row under every setting, in a byte "
        "where it is a mistake or none.",
        [
            *(
                f"{name} {n} 5 5"
                for name in (RIDGE, KNN, LASSO)
                for n in (1, 10, 100, 1000)
            ),
            *(f"{LOOPS} {n} 5 5" for n in (1, 10, 100)),
        ],
    ),
    "outer": (
        "outer folds J",
        "The lists of neighbours serve every outer split. The sums of ridge and lasso "
        "are taken anew in every outer training part, so that no row of its test part is "
        "in them: as many passes over X as there are outer folds.",
        [
            f"{name} {j} 5"
            for name in (f"{RIDGE} 17", f"{KNN} 50", f"{LASSO} 50")
            for j in AMONG
        ],
    ),
    "inner": (
        "inner folds K",
        "The lists serve every inner split, and so do the sums over blocks: a further "
        "fold is a factorisation or a descent more, and no pass over X.",
        [
            f"{name} 5 {k}"
            for name in (f"{RIDGE} 17", f"{KNN} 50", f"{LASSO} 50")
            for k in AMONG
        ],
    ),
    "columns": (
        "columns p, on wide, sparse and narrow tables",
        "3 × 3 folds on the tables of `benchmarks/regimes.py`. Logistic regression, lasso "
        "and ridge on more columns than rows, or on sparse rows, make products of X with a "
        "few vectors, so time grows with the numbers in X, and that of lasso on sparse "
        "rows with the columns that enter too; memory is a copy of a training "
        "part in each thread, and never columns × columns. Behind PCA, and in PLS and "
        "boosting, one fit of the most components or rounds serves the fewer; scikit-learn "
        "and the libraries fit those of PCA and boosting.",
        [
            *(f"logistic 200 {p} 9 3 3" for p in (1_250, 5_000, 20_000)),
            *(f"embeddings 3000 {p} 9 3 3" for p in (64, 256)),
            *(f"wide_lasso 200 {p} 50 3 3" for p in (5_000, 20_000, 50_000)),
            *(f"wide_net 200 {p} 50 3 3" for p in (5_000, 20_000)),
            *(f"sparse_ridge 3000 {p} 13 3 3" for p in (10_000, 40_000)),
            *(f"sparse_lasso 3000 {p} 50 3 3" for p in (10_000, 40_000)),
            *(f"sparse_logistic 3000 {p} 9 3 3" for p in (10_000, 40_000)),
            *(f"pls 300 {p} 20 3 3" for p in (200, 800)),
            *(f"pca_ols {m} {p} 40 3 3" for m, p in ((2_000, 60), (8_000, 240))),
            *(f"pca_knn 2000 {p} 40 3 3" for p in (45, 85)),
            *(f"xgboost 2000 {p} 10 3 3" for p in (20, 80)),
            *(f"lightgbm 2000 {p} 10 3 3" for p in (20, 80)),
        ],
    ),
}
LIMITS = {  # what a row is held against
    "ridge 1000000 50 17 5 5": {"fits": 8.0, "of_X": 1.5},
    "knn 50000 20 50 5 5": {"megabytes": 2000.0},
}
NAMES = {
    "ridge": "ridge",
    "knn": "k-NN",
    "lasso": "lasso",
    "loops": "ridge, GridSearchCV in cross_validate",
    "logistic": "logistic regression",
    "embeddings": "logistic regression, float32, 10 classes",
    "wide_lasso": "lasso",
    "wide_net": "elastic net",
    "sparse_ridge": "ridge, sparse",
    "sparse_lasso": "lasso, sparse",
    "sparse_logistic": "logistic regression, sparse, 4 classes",
    "pls": "PLS",
    "pca_ols": "PCA + least squares",
    "pca_knn": "PCA + k-NN",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
}
BOOSTERS = {  # packages whose rows are left out where they are absent
    "xgboost": ("XGBClassifier", {}),
    "lightgbm": ("LGBMClassifier", {"verbose": -1}),
}


def main():
    found = {}
    for what, (title, _, rows) in BLOCKS.items():
        print(f"\n{title}\n\n{HEAD}", flush=True)
        found[what] = []
        for row in filter(can_run, rows):
            found[what].append(ask(row))
            print(line(found[what][-1]), flush=True)
    DOCS.mkdir(exist_ok=True)
    (DOCS / "growth.md").write_text(page(found), encoding="utf-8")
    (DOCS / "growth.svg").write_text(figure(found) + "\n", encoding="utf-8")


def can_run(row):
    name = row.split()[0]
    return name not in BOOSTERS or find_spec(name) is not None


def ask(row):
    """The record of one row, measured in a process of its own."""
    asked = subprocess.run(
        [sys.executable, __file__, *row.split()],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(asked.stdout)


def problem(name, m, n_columns, n_settings):
    """(family, X, y) of a row."""
    if name not in ("ridge", "knn", "lasso", "loops"):
        return as_people_have_them(name, m, n_columns, n_settings)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    y = X[:, 0] + rng.normal(size=m)
    if name == "knn":
        y, family = (
            (y > 0).astype(int),
            Family(KNeighborsClassifier(), {"n_neighbors": range(1, n_settings + 1)}),
        )
    elif name == "lasso":
        family = Family(Lasso(), {"alpha": np.logspace(-4, 0, n_settings)})
    else:
        family = Family(Ridge(), {"alpha": np.logspace(-3, 3, n_settings)})
    return family, X, y


def as_people_have_them(name, m, p, n):
    """(family, X, y) of a row with a table of regimes.py."""
    import regimes

    if name in BOOSTERS:
        model, more = BOOSTERS[name]
        return regimes.boosted(name, model, **more), *regimes.classes(m, p)
    penalties, shares = np.logspace(-2, 0.5, n), np.logspace(-3, 3, n)
    logistic = Family(LogisticRegression(), {"C": shares})
    lasso = Family(Lasso(), {"alpha": penalties})
    pls = Family(PLSRegression(), {"n_components": range(1, n + 1)})
    wide, words, falling = regimes.few_rows, regimes.sparse, regimes.falling
    table, family = {
        "logistic": (regimes.labelled(wide), logistic),
        "embeddings": (regimes.embeddings, logistic),
        "wide_lasso": (wide, lasso),
        "wide_net": (wide, Family(ElasticNet(), {"alpha": penalties})),
        "sparse_ridge": (words, Family(Ridge(), {"alpha": np.logspace(-2, 4, n)})),
        "sparse_lasso": (words, lasso),
        "sparse_logistic": (regimes.sparse_quarters, logistic),
        "pls": (falling, pls),
        "pca_ols": (falling, regimes.after(PCA(), LinearRegression())),
        "pca_knn": (
            regimes.labelled(falling),
            regimes.after(PCA(), KNeighborsClassifier()),
        ),
    }[name]
    return family, *table(m, p)


def measure(name, m, n_columns, n_settings, n_outer, n_inner):
    """The record of one row, measured here."""
    (family, X, y), recipe = (
        problem(name, m, n_columns, n_settings),
        Recipe(n_outer, n_inner),
    )
    loops = GridSearchCV(
        family.estimator, family.grid, cv=KFold(n_inner, shuffle=True, random_state=1)
    )
    outer = KFold(n_outer, shuffle=True, random_state=0)
    runs = {
        "ours": lambda X, y: recipe.run(family, X, y, progress="off").path,
        "theirs": lambda X, y: cross_validate(loops, X, y, cv=outer) and "loops",
    }
    run = runs["theirs" if name == "loops" else "ours"]
    n_small = max(500, 4 * n_settings) if name == "knn" else min(500, m // 2)
    small = np.random.default_rng(0).permutation(m)[:n_small]
    if name != "loops":
        run(X[small], y[small])  # imports, kernels
    row = f"{name} {m} {n_columns} {n_settings} {n_outer} {n_inner}"
    fits = [
        seconds_of(lambda: Ridge().fit(X, y))
        for _ in range(6 if name == "ridge" and row in BLOCKS["m"][2] else 0)
    ][1:]
    before = start_over()
    path = []
    seconds = [seconds_of(lambda: path.append(run(X, y)))]
    peak = None if before is None else max(0.0, memory("VmHWM") - before)
    while len(seconds) < 5 and sum(seconds) < ENOUGH:
        seconds.append(seconds_of(lambda: run(X, y)))
    return {
        "row": row, "name": name, "path": path[0], "m": m, "columns": n_columns,
        "settings": n_settings, "outer": n_outer, "inner": n_inner,
        "seconds": float(np.median(seconds)), "megabytes": peak, "X": bytes_of(X) / 1e6,
        "fits": float(np.median(seconds) / np.median(fits)) if fits else None,
    }  # fmt: skip


def bytes_of(X):
    return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes


def seconds_of(run):
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def start_over():
    """Megabytes of this process now, from where its peak is counted anew; None where the
    system does not tell."""
    counter = Path("/proc/self/clear_refs")
    if not counter.exists():
        return None
    counter.write_text("5")
    return memory("VmRSS")


def memory(what):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1e3


HEAD = (
    "| family | rows × columns | settings | J × K | seconds | peak beyond X and y | X | beside |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def line(record):
    """One row of the table."""
    megabytes = "" if record["megabytes"] is None else f"{record['megabytes']:.0f} MB"
    seconds = format(record["seconds"], ".2g" if record["seconds"] < 99 else ".0f")
    cells = (
        NAMES[record["name"]], f"{record['m']:,} × {record['columns']}", f"{record['settings']:,}",
        f"{record['outer']} × {record['inner']}", seconds, megabytes,
        f"{record['X']:.3g} MB", beside(record),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def beside(record):
    """What the row is held against, and how far it is from there."""
    limits, said = LIMITS.get(record["row"], {}), []
    of_X = (
        None
        if record["megabytes"] is None or record["X"] < 10
        else 1 + record["megabytes"] / record["X"]
    )
    for key, value, words in (
        ("fits", record["fits"], "{:.1f} of one `Ridge().fit`"),
        (
            "of_X",
            of_X if record["name"] == "ridge" and record["fits"] else None,
            "{:.2f} of X with X itself",
        ),
        (
            "megabytes",
            record["megabytes"] if "megabytes" in limits else None,
            "{:.0f} MB",
        ),
    ):
        if value is not None:
            said.append(
                words.format(value)
                + (f" (limit {limits[key]:g})" if key in limits else "")
            )
    if record["path"] == "refit" and record["settings"] == 1:
        said.append("scikit-learn's own fits: of one setting nothing is shared")
    return ", ".join(said)


def page(found):
    """docs/growth.md: a table for each quantity that grows."""
    python, learn = platform.python_version(), sklearn.__version__
    about = f"{os.cpu_count()} processors, Python {python}, scikit-learn {learn}"
    parts = [
        "# How cost grows",
        f"Whole runs of nested cross-validation on {about}: seconds are medians of up to "
        "five runs, each row in a process of its own; memory is what the process takes "
        "at its peak beyond X and y. A limit is what the project holds itself to. "
        f"Written by `{COMMAND}`.",
        "![Seconds and memory against rows and settings, seconds against folds, on "
        "logarithmic axes](growth.svg)",
    ]
    for what, records in found.items():
        title, shared, _ = BLOCKS[what]
        parts += [f"## Against {title}", shared, "\n".join([HEAD, *map(line, records)])]
    return "\n\n".join(parts) + "\n"


SIZE = {"left": 52, "top": 52, "width": 270, "height": 170, "gap_x": 84, "gap_y": 62}
LINES = {  # (family, columns) -> (class, words)
    ("ridge", 50): ("ridge", "ridge, 50 columns"),
    ("lasso", 50): ("lasso", "lasso, 50 columns"),
    ("knn", 20): ("knn", "k-NN, 20 columns"),
    ("knn", 3): ("knn dash", "k-NN, 3 columns"),
    ("loops", 50): ("loops dash", "ridge 1,000 × 50 by GridSearchCV"),
}
STYLE = (
    "<style>.ridge,.lasso,.knn,.loops{fill:none;stroke-width:2}"
    ".ridge{stroke:#1565c0}.lasso{stroke:#d9480f}.knn{stroke:#2b8a3e}.loops{stroke:#777}"
    ".dash{stroke-dasharray:5 3}.mark{stroke-dasharray:none;fill:#fff}.back{fill:#fff}"
    "@media(prefers-color-scheme:dark){"
    ".ridge{stroke:#64a8ec}.lasso{stroke:#f4793e}.knn{stroke:#69c37c}.loops{stroke:#aaa}"
    ".mark,.back{fill:#0d1117}}</style>"
)


PANELS = (  # what grows, what it costs
    ("m", "seconds"), ("m", "megabytes"),
    ("settings", "seconds"), ("settings", "megabytes"),
    ("outer", "seconds"), ("inner", "seconds"),
)  # fmt: skip
COSTS = {"seconds": "seconds", "megabytes": "MB beyond X and y (less than 1 as 1)"}


def figure(found):
    """docs/growth.svg: small panels on logarithmic axes, those of the same cost with the
    same axis upward."""
    from cvnb.pictures.svg import Axes, Picture  # older versions keep it elsewhere

    width, height = (
        2 * SIZE["width"] + SIZE["left"] + SIZE["gap_x"] + 40,
        3 * (SIZE["height"] + SIZE["gap_y"]) + 32,
    )
    parts = [STYLE, f'<rect class="back" width="{width}" height="{height}"/>']
    for place, (kind, words) in enumerate(LINES.values()):
        x, y = SIZE["left"] + 225 * (place % 3), 12 + 16 * (place // 3)
        parts.append(
            f'<path class="{kind}" d="M{x} {y}h24"/>{text(x + 30, y + 4, words)}'
        )
    for place, (what, of) in enumerate(PANELS):
        left = SIZE["left"] + (place % 2) * (SIZE["width"] + SIZE["gap_x"])
        top = SIZE["top"] + (place // 2) * (SIZE["height"] + SIZE["gap_y"])
        grown = np.log10([record[what] for record in found[what]])
        costs = [
            cost(record, of)
            for shown in dict(PANELS)
            for record in found[shown]
            if record[of] is not None
        ] or [0.0]
        ends = (
            grown.min(),
            grown.max(),
            np.floor(min(costs)),
            max(np.ceil(max(costs)), np.floor(min(costs)) + 1),
        )
        axes = Axes(
            *ends,
            left=left,
            right=left + SIZE["width"],
            top=top,
            bottom=top + SIZE["height"],
        )
        parts += panel(what, of, found[what], axes)
    return Picture("".join(parts), "", width, height).svg


def cost(record, of):
    """The height of a mark: the decimal logarithm of seconds or megabytes."""
    return float(np.log10(record[of] if of == "seconds" else max(1.0, record[of])))


def panel(what, of, records, axes):
    """Grid, marks and lines of one panel."""
    for power in range(int(axes.low), int(axes.high) + 1):
        y = axes.y(power)
        label = text(axes.left - 6, y + 4, f"{10.0**power:g}", "end")
        yield f'<path class="g" d="M{axes.left} {y:.1f}H{axes.right}"/>{label}'
    for value in sorted({record[what] for record in records}):
        if what in ("outer", "inner") or np.log10(value) % 1 == 0:
            yield text(
                axes.x(np.log10(value)), axes.bottom + 15, f"{value:,}", "middle"
            )
    yield text(
        (axes.left + axes.right) / 2,
        axes.bottom + 31,
        f"{BLOCKS[what][0]}; up: {COSTS[of]}",
        "middle",
    )
    for key, (kind, _) in LINES.items():
        own = [
            record
            for record in records
            if (record["name"], record["columns"]) == key and record[of] is not None
        ]
        x, y = (
            np.log10([record[what] for record in own]),
            np.array([cost(record, of) for record in own]),
        )
        if own:
            yield f'<path class="{kind}" d="{axes.path(x, y)}"/>'
        for a, b in zip(x, y, strict=True):
            yield f'<circle class="{kind} mark" cx="{axes.x(a):.1f}" cy="{axes.y(b):.1f}" r="2.5"/>'


def text(x, y, words, anchor="start"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
    )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *map(int, sys.argv[2:])))) if len(
        sys.argv
    ) > 1 else main()
