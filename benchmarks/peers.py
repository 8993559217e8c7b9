"""The learners and solvers that are compared, behind one signature each, and whole processes.

The settings that make a peer a fair counterpart (no tolerance, no penalty, no early stop) are
here and nowhere else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.svm
from scipy.optimize import linprog

import novikoff as nv
from benchmarks.data import Labels, Matrix

LEAD = 10  # examples of a stream that are learned before the clock starts
ROOT = Path(__file__).parent.parent
POLL_SECONDS = 0.01
_THEIR_CSV_JOB = """
import sys, pandas
from sklearn.linear_model import Perceptron
frame = pandas.read_csv(sys.argv[1])
y = frame.pop("label")
Perceptron(max_iter=1, tol=None, shuffle=False).fit(frame.to_numpy(), y)
"""
_FIRST_FIT_JOB = """
import sys, time, warnings
import numba, numpy, novikoff
warnings.simplefilter("ignore")
learner = getattr(novikoff, sys.argv[1])()
X = numpy.random.default_rng(0).normal(size=(60, 4))
times = [time.process_time()]
for _ in range(2):
    learner.fit(X, X[:, 0] > 0)
    times.append(time.process_time())
print(2 * times[1] - times[0] - times[2])
"""
_RIVER_JOB = """
import csv, sys
from river.linear_model import Perceptron

lines = csv.reader(sys.stdin)
names = next(lines)[:-1]
model, mistakes = Perceptron(), 0
for *values, label in lines:
    x, y = dict(zip(names, map(float, values))), label == "1"
    mistakes += model.predict_one(x) != y
    model.learn_one(x, y)
print(mistakes)
"""


# In this process


def our_perceptron(
    X: Matrix, y: Labels, order: str, kind: Callable[..., Any] = nv.Perceptron
) -> Callable[[int, int], Any]:
    """`novikoff.Perceptron`, or another learner, for so many epochs, by a seed."""

    def fit(epochs: int, seed: int) -> Any:
        model = kind(order=order, fit_intercept=_bias(X), max_epochs=epochs, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it did not converge, and cannot
            model.fit(X, y)
        if model.converged_ or model.n_iter_ != epochs:
            raise RuntimeError("The data was separated: this would not measure full epochs.")
        return model

    return fit


def their_perceptron(X: Matrix, y: Labels, shuffle: bool) -> Callable[[int, int], Any]:
    """scikit-learn's Perceptron, without its tolerance."""

    def fit(epochs: int, seed: int) -> Any:
        model = sklearn.linear_model.Perceptron(
            shuffle=shuffle, fit_intercept=_bias(X), tol=None, max_iter=epochs, random_state=seed
        )
        return model.fit(X, y)

    return fit


def their_passive_aggressive(X: Matrix, y: Labels) -> Callable[[int, int], Any]:
    """scikit-learn's PA-I, in cyclic order, without its tolerance."""

    def fit(epochs: int, seed: int) -> Any:
        model = sklearn.linear_model.SGDClassifier(
            loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False,
            fit_intercept=_bias(X), tol=None, max_iter=epochs,
        )  # fmt: skip
        return model.fit(X, y)

    return fit


def machine(X: Matrix, y: Any, gamma: float) -> int:
    """LIBSVM with the rbf kernel: the training rows that it gets wrong."""
    model = sklearn.svm.SVC(gamma=gamma).fit(X, y)
    return int((model.predict(X) != y).sum())


def quiet(kind: Callable[..., Any], X: Matrix, y: Any, **options: Any) -> Any:
    """A fitted learner that is not asked to end with a clean cycle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**options).fit(X, y)


def first_fit(name: str) -> float:
    """The seconds of the first fit of a learner with empty caches, less those of the second."""
    with tempfile.TemporaryDirectory() as cache:
        return float(python("-c", _FIRST_FIT_JOB, name, NUMBA_CACHE_DIR=cache))


def _bias(X: Matrix) -> bool:
    # On sparse data scikit-learn shrinks the steps of the intercept a hundredfold.
    return isinstance(X, np.ndarray)


def one_by_one(model: Any, xs: Sequence[Any], ys: Sequence[bool]) -> int:
    """Predict, learn, predict, learn: the mistakes on a stream, but for the first examples."""
    mistakes = 0
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        mistakes += k >= LEAD and model.predict_one(x) != y
        model.learn_one(x, y)
    return mistakes


def river_perceptron() -> Any:
    """The Perceptron of river."""
    import river.linear_model

    return river.linear_model.Perceptron()


def highs(X: Matrix, y: Labels, seconds: float) -> str:
    """Is there a w with ⟨a_i, w⟩ ≥ 1 for all rows? A linear program without objective."""
    A = -y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    found = linprog(
        np.zeros(A.shape[1]),
        A_ub=A,
        b_ub=np.full(len(X), -1.0),
        bounds=(None, None),
        method="highs",
        options={"time_limit": seconds},
    )
    return {0: "separable", 2: "inseparable"}.get(found.status, "out of time")


def libsvm(X: Matrix, y: Labels) -> float:
    """The largest margin, by a penalty that allows no row inside it, to LIBSVM's 1e-3."""
    model = sklearn.svm.SVC(kernel="linear", C=1e10, tol=1e-3).fit(X, y)
    return 1.0 / float(np.linalg.norm(model.coef_))


def linear_models(X: Matrix, y: Labels) -> tuple[list[int], list[float]]:
    """Mistakes and seconds of each of scikit-learn's linear models."""
    linear = sklearn.linear_model
    models = [
        linear.Perceptron(),
        *(linear.LogisticRegression(C=C) for C in (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)),
        sklearn.svm.LinearSVC(),
        linear.SGDClassifier(random_state=0),
        sklearn.discriminant_analysis.LinearDiscriminantAnalysis(),
    ]
    errors, seconds = [], []
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            model.fit(X, y)
            seconds.append(time.perf_counter() - start)
        errors.append(int((model.predict(X) != y).sum()))
    return errors, seconds


def logistic_regression(X: Matrix, y: Labels) -> Any:
    """scikit-learn's logistic regression, as it comes."""
    return sklearn.linear_model.LogisticRegression().fit(X, y)


# Whole processes


def python(*arguments: str | Path, pipe: Path | None = None, **variables: str) -> str:
    """The output of a Python process; a pipe comes from another process, ``cat``."""
    command = [sys.executable, *map(str, arguments)]
    keep: dict[str, Any] = {"cwd": ROOT, "env": environment(**variables), "check": True}
    if pipe is None:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, **keep).stdout  # noqa: S603
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as cat:  # noqa: S603, S607
        done = subprocess.run(  # noqa: S603
            command, stdin=cat.stdout, stdout=subprocess.PIPE, text=True, **keep
        )
    return done.stdout


def environment(**variables: str) -> dict[str, str]:
    """The variables of a process that keeps bytecode, as an installed package has it."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **variables}


def novikoff(*arguments: str | Path, pipe: Path | None = None) -> str:
    """The output of our command."""
    return python("-m", "novikoff", *arguments, pipe=pipe)


def fit_file(path: Path, *options: str | Path) -> dict[str, Any]:
    """The report of ``novikoff fit``; model and certificate go beside the data."""
    text = novikoff("fit", path, *options, "--out", path.parent, "--force", "--format", "json")
    report: dict[str, Any] = json.loads(text)
    return report


def stream_pipe(path: Path, *options: str | Path) -> int:
    """The mistakes of ``novikoff stream -``, each row predicted before it is learned."""
    text = novikoff("stream", "-", "--quiet", "--format", "json", *options, pipe=path)
    return int(json.loads(text.splitlines()[-1])["mistakes"])


def river_pipe(path: Path) -> int:
    """The same of river's perceptron."""
    return int(python("-c", _RIVER_JOB, pipe=path))


def pandas_and_scikit_learn(path: Path) -> None:
    """A CSV file to a model, one pass."""
    python("-c", _THEIR_CSV_JOB, path)


def vowpal_wabbit(data: Path, model: Path, *, piped: bool = False) -> None:
    """Learn by gradient steps on the hinge loss, one pass over Vowpal Wabbit's text form."""
    source = "/dev/stdin" if piped else data
    options = ("--quiet", "-d", source, "-f", model, "--sgd", "--loss_function", "hinge")
    python("-m", "vowpalwabbit", *options, pipe=data if piped else None)


def our_error(model: Path, X: Matrix, y: Labels) -> float:
    """The share of rows that the model of a file gets wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows have no names, the model has
        return float(np.mean(nv.load(model).predict(X) != y))


def vowpal_wabbit_error(model: Path, test: Path, signs: Labels) -> float:
    """The same of a model of Vowpal Wabbit."""
    guesses = model.with_suffix(".txt")
    options = ("--quiet", "-t", "-i", model, "-d", test, "--binary", "-p", guesses)
    python("-m", "vowpalwabbit", *options)
    found: npt.NDArray[np.float64] = np.loadtxt(guesses)
    return float(np.mean(found != signs))


def peak_anonymous_megabytes(*arguments: str | Path) -> float:
    """The peak of resident anonymous memory of our command: pages of mapped files are not in it."""
    command = [sys.executable, "-m", "novikoff", *map(str, arguments)]
    keep: dict[str, Any] = {"cwd": ROOT, "env": environment(), "stdout": subprocess.DEVNULL}
    with subprocess.Popen(command, **keep) as process:  # noqa: S603
        peak, status = 0, Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            lines = status.read_text().splitlines()
            peak = max([peak, *(int(line.split()[1]) for line in lines if "RssAnon" in line)])
            time.sleep(POLL_SECONDS)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}.")
    return peak * 1024 / 1e6
