"""Draw the pictures of README and docs, for light and for dark pages: ``make pictures``."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import novikoff as nv
from novikoff.report.plots import style

FOLDER = Path(__file__).parent
# The colours of nv.plots on a dark page.
DARK = {
    style.INK: "#e6edf3",
    "#000000": "#e6edf3",
    style.GREY: "#9aa4ae",
    style.POSITIVE: "#79b8ff",
    style.NEGATIVE: "#ffab57",
    style.POSITIVE_SIDE: "#14283c",
    style.NEGATIVE_SIDE: "#332512",
    style.LIMIT: "#ff7c98",
    style.FORBIDDEN_SIDE: "#40202a",
    "#ffffff": "#14181e",
}


def proof() -> Figure:
    """The rule among the rows, and beside it the convergence proof as it happens."""
    iris = load_iris()
    chosen = iris.target < 2
    X, y = iris.data[chosen][:, [0, 2]], iris.target_names[iris.target[chosen]]
    run = nv.Perceptron(order="cyclic").fit(X, y)
    run.feature_names_in_ = ["sepal length (cm)", "petal length (cm)"]
    figure = Figure(figsize=(11.0, 5.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1.0])
    nv.plots.BoundaryDisplay.from_estimator(run, X, y, ax=left.subplots())
    nv.plots.ProofDisplay.from_estimator(run, X, y, ax=right.subplots(3, sharex=True))
    return figure


def darkened(svg: str) -> str:
    """The picture for a dark page."""
    found = re.sub("#[0-9a-f]{6}", lambda colour: DARK[colour[0]], svg)
    return found.replace(' style="', f' style="fill: {DARK[style.INK]}; ', 1)  # of text


if __name__ == "__main__":
    nv.plots.save_figure(proof(), FOLDER / "proof.svg")
    light = (FOLDER / "proof.svg").read_text("utf-8")
    (FOLDER / "proof-dark.svg").write_text(darkened(light), encoding="utf-8")
