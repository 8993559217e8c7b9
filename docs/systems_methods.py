"""Write the tables of docs/systems_methods.md: every method and rule on six systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import novikoff as nv
from novikoff.core.orders import BY_NAME
from novikoff.core.stops import Limits
from novikoff.systems.methods import METHODS, Attempt

PAGE = Path(__file__).with_suffix(".md")
MAX_STEPS, N, P = 100_000, 200, 8


def systems() -> Iterator[tuple[str, Any, Any]]:
    """Name, A and c of the six systems; c is None for A w > 0."""
    rng = np.random.default_rng(1962)
    A, z = rng.normal(size=(N, P)), rng.normal(size=P)
    lengths = np.linalg.norm(A, axis=1)
    slack = rng.uniform(1.0, 10.0, size=N)
    slack[: P + 1] = 1.0
    yield "wide", A, A @ z + 0.1 * slack * lengths
    yield "thin", A, A @ z + 1e-5 * slack * lengths
    whole, w = rng.integers(-9, 10, size=(N, P)).astype(float), rng.integers(-3, 4, size=P)
    right = whole @ w + rng.integers(1, 9, size=N)
    yield (
        "flat",
        np.vstack([whole, whole[:1], -whole[:1]]),
        np.append(right, [0, 0]) + np.append(np.zeros(N), [whole[0] @ w, -whole[0] @ w]),
    )
    yield (
        "point",
        np.vstack([whole, -whole[:P]]),
        np.append(np.where(np.arange(N) < P, whole @ w, right), -whole[:P] @ w),
    )
    yield "infeasible", A, A @ z - 0.1 * rng.uniform(size=N) * lengths
    u = z / np.linalg.norm(z)
    across = A - np.outer(A @ u, u)
    across /= np.linalg.norm(across, axis=1)[:, None]
    yield "cone", across + 1e-3 * slack[:, None] * u, None


def contestants() -> Iterator[tuple[str, Any]]:
    """The methods with their options, `auto` last."""
    for order in BY_NAME:
        yield f"`relaxation`, {order}", partial(METHODS["relaxation"], order=order)
    plain = partial(METHODS["relaxation"], order="permuted", shift=0.0)
    yield "`relaxation`, δ = 0, η = 1", partial(plain, eta=1.0)
    yield "`relaxation`, δ = 0, η = 1.9", partial(plain, eta=1.9)
    yield "`relaxation`, δ = 0, η = 2", partial(plain, eta=2.0)
    for order in BY_NAME:
        yield f"`perceptron`, {order}", partial(METHODS["perceptron"], order=order)
    yield "`von_neumann`", METHODS["von_neumann"]
    yield "`smooth`, entropy", METHODS["smooth"]
    yield "`smooth`, Euclidean", partial(METHODS["smooth"], prox="euclidean")
    for name in (
        *("smooth_primal_dual", "spingarn", "rescaled", "dunagan_vempala", "projection_rescaling"),
    ):
        yield f"`{name}`", METHODS[name]
    yield "`auto`", "auto"


def bounded(method: Callable[..., Attempt]) -> Callable[..., Attempt]:
    """The method with a limit on its steps."""

    def run(A: Any, c: Any, *, limits: Limits, **options: Any) -> Attempt:
        return method(A, c, limits=Limits(updates=MAX_STEPS), **options)

    return run


def cell(A: Any, c: Any, method: Any) -> str:
    """Steps and milliseconds of one run, verification included."""
    started = time.perf_counter()
    found = nv.solve(A, c, strict=c is None, method=method)
    milliseconds = 1000.0 * (time.perf_counter() - started)
    if found.kind == "undecided":
        return "–"
    taken = f"{milliseconds:,.0f} ms" if milliseconds >= 1.0 else "< 1 ms"
    return taken if method == "auto" else f"{found.n_steps:,} · {taken}"


def table() -> str:
    """The whole table as Markdown."""
    cases = list(systems())
    lines = ["| method | " + " | ".join(name for name, *_ in cases) + " |"]
    lines.append("|---|" + "--:|" * len(cases))
    for label, method in contestants():
        tried = method if method == "auto" else bounded(method)
        cell(*cases[0][1:], tried)  # compiles
        cells = [cell(A, c, tried) for _, A, c in cases]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text[: text.index("| method |")], text[text.index("\n\n## What each") :]
    PAGE.write_text(head + table() + tail, encoding="utf-8")
