"""Draw the pictures of README and docs: ``make pictures``."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import novikoff as nv

FOLDER = Path(__file__).parent


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


if __name__ == "__main__":
    nv.plots.save_figure(proof(), FOLDER / "proof.svg")
