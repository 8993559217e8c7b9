"""Whole processes that read a file or a pipe: ours, Vowpal Wabbit, river; and their memory."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import Labels, Matrix
from benchmarks.fresh import installed
from novikoff.report.model_file import load

_ROOT = Path(__file__).parent.parent
_RIVER = """
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
# What the system counts of a process contains the memory of the one that began it: so that one
# is small.
_WATCHER = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
                       file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def novikoff(*arguments: str | Path, pipe: Path | None = None) -> str:
    """What our program prints; it reads the pipe as its standard input."""
    return _python("-m", "novikoff", *map(str, arguments), pipe=pipe)


def river_mistakes(pipe: Path) -> int:
    """The mistakes of river's perceptron on rows of CSV from a pipe, each before it is learned."""
    return int(_python("-c", _RIVER, pipe=pipe))


def our_mistakes(*arguments: str | Path, pipe: Path) -> int:
    """The same of ``novikoff stream -``."""
    text = novikoff("stream", "-", "--quiet", "--format", "json", *arguments, pipe=pipe)
    return int(json.loads(text.splitlines()[-1])["mistakes"])


def vowpal_wabbit(data: Path, model: Path, passes: int = 1, *, piped: bool = False) -> None:
    """Learn by gradient steps on the hinge loss, from VW's text form; later from its cache."""
    again = ("--passes", str(passes), "-c", "-k", "--holdout_off") if passes > 1 else ()
    _vowpal_wabbit(
        *("-d", "/dev/stdin" if piped else str(data), "-f", str(model)),
        *("--sgd", "--loss_function", "hinge", *again),
        pipe=data if piped else None,
    )


def our_error(model: Path, X: Matrix, y: Labels) -> float:
    """The share of rows that the model of a file gets wrong."""
    found = load(model)
    scores = X @ found.coef_[0] + found.intercept_[0]
    return float(np.mean(found.classes_[(scores > 0.0).astype(np.int64)] != y))


def vowpal_wabbit_error(model: Path, test: Path, y: Labels) -> float:
    """The same of a model of VW; ``test`` has the rows as it wants them, labels are −1 and 1."""
    guesses = model.with_suffix(".txt")
    _vowpal_wabbit("-t", "-i", str(model), "-d", str(test), "--binary", "-p", str(guesses))
    return float(np.mean(np.loadtxt(guesses) != y))


def peak_memory(*arguments: str | Path) -> float:
    """The most megabytes (10⁶ bytes) of memory that our program took up, as the system counts."""
    text = _python("-c", _WATCHER, sys.executable, "-m", "novikoff", *map(str, arguments))
    code, kibibytes = map(int, text.split())
    if code != 0:
        raise RuntimeError(f"novikoff {' '.join(map(str, arguments))} ended with {code}.")
    return kibibytes * 1024 / 1e6


def _vowpal_wabbit(*arguments: str, pipe: Path | None = None) -> None:
    _python("-m", "vowpalwabbit", "--quiet", *arguments, pipe=pipe)


def _python(*arguments: str, pipe: Path | None = None) -> str:
    """What a Python process prints; a pipe comes from another process, ``cat``."""
    run = partial(
        subprocess.run,
        [sys.executable, *arguments],
        cwd=_ROOT,
        env=installed(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    if pipe is None:
        return str(run().stdout)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as cat:  # noqa: S603, S607
        return str(run(stdin=cat.stdout).stdout)
