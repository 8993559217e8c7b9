"""Write the tables of docs/family.md: ``python docs/family.py``, some minutes.

Every learner sees each stream once, predicting before it learns. Two thirds of a set of rows are
the stream, in random order, and the rest are the test. Spam and mushroom are read from the folder
that NOVIKOFF_DATA names, and left out where they are missing.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from river import linear_model as river
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.svm import SVC

import novikoff as nv

PAGE = Path(__file__).with_name("family.md")
DATA = Path(os.environ.get("NOVIKOFF_DATA", ""))


class Stream(NamedTuple):
    """Rows in the order of the stream, of two classes, and rows to test on, if there are any."""

    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None


def split(X: Any, y: Any) -> Stream:
    """Two thirds to learn from, standardised by them; a third to test on."""
    at = np.random.default_rng(0).permutation(len(y))
    first, rest = at[: 2 * len(y) // 3], at[2 * len(y) // 3 :]
    deviations = X[first].std(axis=0)
    Z = (X - X[first].mean(axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
    return Stream(Z[first], y[first], Z[rest], y[rest])


def digits() -> Iterator[tuple[str, Stream]]:
    """Each digit against the rest."""
    X, y = load_digits(return_X_y=True)
    for digit in range(10):
        yield str(digit), split(X, y == digit)


def streams() -> Iterator[tuple[str, Stream]]:
    """Real sets, and three streams that were made for one learner each."""
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", split(X, y == 1)
    for name, file in (("spam", "spam.csv.gz"), ("mushroom", "mushroom.svm")):
        if (DATA / file).is_file():
            found = nv.data.read(DATA / file)
            rows = found.X if isinstance(found.X, np.ndarray) else found.X.toarray()
            yield name, split(rows, np.unique(found.y, return_inverse=True)[1] == 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10))
    angle = 2.0 * math.pi * np.arange(6000) / 6000  # the target turns once around
    yield "drift", Stream(X, X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) > 0)
    X = rng.normal(size=(4500, 20)) * np.append(np.full(19, 5.0), 1.0)
    yield "skewed", Stream(X[:3000], X[:3000, -1] > 0, X[3000:], X[3000:, -1] > 0)
    X = rng.choice([-1.0, 1.0], size=(4500, 300))
    y = X[:, :3].sum(axis=1) > 0
    yield "sparse target", Stream(X[:3000], y[:3000], X[3000:], y[3000:])


def ours(make: Callable[[int], Any]) -> Callable[[Stream], tuple[int, Any]]:
    """One of our learners, made for so many features."""

    def learn(stream: Stream) -> tuple[int, Any]:
        clf = make(stream.X.shape[1])
        clf.partial_fit(stream.X, stream.y, classes=[False, True])
        return clf.n_mistakes_, clf.predict

    return learn


def theirs(make: Callable[[], Any]) -> Callable[[Stream], tuple[int, Any]]:
    """One of scikit-learn's, row by row."""

    def learn(stream: Stream) -> tuple[int, Any]:
        clf, mistakes = make(), 1
        clf.partial_fit(stream.X[:1], stream.y[:1], classes=[False, True])
        for k in range(1, len(stream.y)):
            mistakes += clf.predict(stream.X[k : k + 1])[0] != stream.y[k]
            clf.partial_fit(stream.X[k : k + 1], stream.y[k : k + 1])
        return mistakes, clf.predict

    return learn


def rivers(make: Callable[[], Any]) -> Callable[[Stream], tuple[int, Any]]:
    """One of river's, on dicts."""

    def learn(stream: Stream) -> tuple[int, Any]:
        clf, mistakes = make(), 0
        for row, label in zip(stream.X, stream.y.tolist(), strict=True):
            x = dict(enumerate(row.tolist()))
            mistakes += clf.predict_one(x) != label
            clf.learn_one(x, label)
        return mistakes, lambda X: [bool(clf.predict_one(dict(enumerate(r)))) for r in X.tolist()]

    return learn


def machine(stream: Stream) -> tuple[None, Any]:
    """All rows at once."""
    return None, SVC().fit(stream.X, stream.y).predict


LEARNERS: dict[str, Callable[[Stream], tuple[int | None, Any]]] = {
    "`Perceptron`": ours(lambda d: nv.Perceptron()),
    "`Perceptron`, averaged": ours(lambda d: nv.Perceptron(average=True)),
    "`PassiveAggressive`": ours(lambda d: nv.PassiveAggressive(C=0.01)),
    "`PNormPerceptron`, p = 2·ln d": ours(lambda d: nv.PNormPerceptron(max(2.0, 2 * math.log(d)))),
    "`SecondOrderPerceptron`": ours(lambda d: nv.SecondOrderPerceptron()),
    "`KernelPerceptron`, rbf": ours(lambda d: nv.KernelPerceptron()),
    "`Forgetron`, 100 points": ours(lambda d: nv.Forgetron()),
    "scikit-learn `Perceptron`": theirs(Perceptron),
    "scikit-learn `SGDClassifier`, PA-I": theirs(
        lambda: SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=0.01)
    ),
    "river `PAClassifier`": rivers(lambda: river.PAClassifier(C=0.01, mode=1)),
    "scikit-learn `SVC`, rbf, all rows at once": machine,
}


def table(columns: dict[str, Stream], *, summed: bool = False) -> str:
    """Mistakes and test error of every learner; with ``summed`` the mean error at the end."""
    head = [*columns, *(["test error"] if summed else [])]
    lines = [f"| | {' | '.join(head)} |", "|---" * (len(head) + 1) + "|"]
    for name, learn in LEARNERS.items():
        cells, errors = [], []
        for stream in columns.values():
            mistakes, predict = learn(stream)
            cells.append("–" if mistakes is None else f"{mistakes:,}")
            if stream.X_test is not None:
                errors.append(float(np.mean(np.asarray(predict(stream.X_test)) != stream.y_test)))
                cells[-1] += "" if summed else f" · {errors[-1]:.1%}"
        cells += [f"{np.mean(errors):.2%}"] if summed else []
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Put the tables between their marks."""
    warnings.simplefilter("ignore")
    text = PAGE.read_text("utf-8")
    made = {"digits": table(dict(digits()), summed=True), "streams": table(dict(streams()))}
    for name, found in made.items():
        mark = f"<!-- {name} -->"
        text = re.sub(f"{mark}\n.*?{mark}", f"{mark}\n{found}\n{mark}", text, flags=re.DOTALL)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
