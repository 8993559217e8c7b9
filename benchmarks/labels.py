"""How many planted label errors are found: ``python -m benchmarks.labels``.

Labels are flipped at random. Each way lists the rows in its order of suspicion, and the table has
the share of flipped rows among the first k rows of its list, where k is the number of flips. The
ways are `novikoff.suspect_rows`, the distance from the hyperplane of a logistic regression on the
wrong side, and cleanlab with the same logistic regression and five folds, if it is installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file

import novikoff as nv

_SEEDS = 3
_MUSHROOM = Path(__file__).parent.parent / "tests" / "data" / "real" / "mushroom.svm.gz"
SHARES = 0.01, 0.02, 0.05


def problems() -> Iterator[tuple[str, Any, Any]]:
    """Names, rows and labels."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    yield "breast cancer, 30 columns", X, y
    yield "breast cancer, 4 columns", X[:, [0, 1, 4, 6]], y
    X, y = load_digits(return_X_y=True)
    for a, b in ((0, 1), (3, 8), (4, 9)):
        rows = (y == a) | (y == b)
        yield f"digits {a} and {b}, 64 columns", X[rows] / 16.0, (y[rows] == b).astype(int)
    mushroom: Any = load_svmlight_file(str(_MUSHROOM))
    yield "mushroom, 126 columns", mushroom[0].toarray(), mushroom[1].astype(int)


def _logistic() -> Any:
    linear_model = import_module("sklearn.linear_model")
    return linear_model.LogisticRegression(max_iter=2000)


def by_novikoff(X: Any, y: Any) -> Any:
    """The rows in the order of `novikoff.suspect_rows`."""
    return nv.suspect_rows(X, y).index.to_numpy()


def by_distance(X: Any, y: Any) -> Any:
    """The rows by their distance from the hyperplane, the farthest on the wrong side first."""
    return np.argsort(np.where(y == 1, 1, -1) * _logistic().fit(X, y).decision_function(X))


def by_cleanlab(X: Any, y: Any) -> Any:
    """The rows by cleanlab's scores of their labels."""
    selection, rank = import_module("sklearn.model_selection"), import_module("cleanlab.rank")
    chances = selection.cross_val_predict(_logistic(), X, y, cv=5, method="predict_proba")
    return np.argsort(rank.get_label_quality_scores(y, chances))


def ways() -> dict[str, Callable[[Any, Any], Any]]:
    """The ways that are installed."""
    known: dict[str, Callable[[Any, Any], Any]] = {
        "novikoff": by_novikoff,
        "logistic regression": by_distance,
    }
    try:
        import_module("cleanlab")
    except ModuleNotFoundError:
        return known
    return {**known, "cleanlab": by_cleanlab}


def share_found(X: Any, y: Any, share: float, listed: Callable[[Any, Any], Any]) -> float:
    """The share of flipped rows among the first rows of a list: the mean over the seeds."""
    k, hits = max(1, round(share * len(y))), 0
    for seed in range(_SEEDS):
        rows = np.random.default_rng(seed).choice(len(y), k, replace=False)
        noisy = y.copy()
        noisy[rows] = 1 - noisy[rows]
        hits += len({*listed(X, noisy)[:k].tolist()} & {*rows.tolist()})
    return hits / k / _SEEDS


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| data | flips | " + " | ".join(ways()) + " |")
    print("|---|---|" + "---|" * len(ways()))
    flips = " / ".join(f"{share:.0%}" for share in SHARES)
    for name, X, y in problems():
        cells = (
            " / ".join(f"{share_found(X, y, share, listed):.2f}" for share in SHARES)
            for listed in ways().values()
        )
        print(f"| {name} | {flips} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
