"""Learners with one error each, which the test of a theorem must catch."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from tests.oracle import Vector, margins

Move: TypeAlias = Callable[[Vector, Vector], Vector]  # (w, a_i) → w after a mistake on a_i


def against_the_sign(w: Vector, a: Vector) -> Vector:
    return w - a


def forgets_the_sign(w: Vector, a: Vector) -> Vector:
    """Add x_i whatever its label; with an intercept the last entry of a_i is y_i."""
    return w + a if a[-1] > 0 else w - a


def forgets_the_past(w: Vector, a: Vector) -> Vector:
    return a.copy()


def mistakes_of(move: Move, A: Vector, epochs: Iterable[Iterable[int]]) -> int:
    """Count the mistakes of a perceptron that updates w wrongly."""
    w, mistakes = np.zeros(A.shape[1]), 0
    for epoch in epochs:
        for i in epoch:
            if not margins(A[i : i + 1], w)[0] > 0.0:
                w = move(w, A[i])
                mistakes += 1
    return mistakes


def path_of(move: Move, A: Vector, epochs: Iterable[Iterable[int]]) -> Vector:
    """Return the weights after every update of a perceptron that updates w wrongly."""
    w, path = np.zeros(A.shape[1]), []
    for epoch in epochs:
        for i in epoch:
            if not margins(A[i : i + 1], w)[0] > 0.0:
                w = move(w, A[i])
                path.append(w.copy())
    return np.array(path)


def changed(function: Callable[..., Any], **pieces: str) -> Callable[..., Any]:
    """Return a function with statements inside its loop replaced: ``a="old → new"``.

    The source is compared without its layout, as `ast.unparse` writes it. This is for steps in the
    middle of a function; other mutants are patched functions.
    """
    module = inspect.getmodule(function)
    assert module is not None
    source = ast.unparse(ast.parse(inspect.getsource(module)))
    for piece in pieces.values():
        old, new = piece.split(" → ")
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source, "a mutant", "exec"), names)  # noqa: S102
    return names[function.__name__]
