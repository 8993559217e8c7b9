"""Projections on the half-spaces of the rows, one at a time (D1) or all at once (D4).

Agmon 1954; Motzkin and Schoenberg 1954; Goffin 1980; Spingarn 1985, 1987.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from novikoff.core.orders import Greedy, Order, named
from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.systems.matrices import beside, scaled
from novikoff.systems.methods.attempt import (
    TINY,
    UNLIMITED,
    Attempt,
    TraceBuilder,
    lengths_of,
    most_steps,
    steps,
)

# The rows are [a_i, −c_i/s] and the last weight is s: so large that no step moves it.
_FIXED = 2.0**200
_HALVINGS = 50  # until δ is below the rounding of what it began with
# m < 0 and m ≤ BELOW_ZERO are the same condition on floats.
BELOW_ZERO = -math.ulp(0.0)


def relaxation(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    order: str | Sequence[int] | Indices | Order = "permuted",
    eta: float = 1.0,
    shift: float | Literal["halving"] = "halving",
    seed: int = 0,
) -> Attempt:
    """Move w towards the half-space of a violated row, again and again (D1; Agmon 1954).

        r = (⟨a_i, w⟩ − c_i)/‖a_i‖ > 0:    w ← w − η·(r + δ)·a_i/‖a_i‖

    η = 1 projects, η = 2 reflects; δ > 0 aims inside. For every z with slack s_i ≥ 0 on the row,
    as a distance, and δ = 0,

        ‖w⁺ − z‖² = ‖w − z‖² − η(2 − η)·r² − 2η·r·s_i        (Fejér)

    so that no step leads away from any solution. Guarantees for every index rule of A4 (Rem 1.38
    of the source notes), where z is the centre of a ball of radius ε > 0 of solutions:

    * η = 1 and 0 < δ < 2ε: at most ‖w₀ − z‖²/(δ·(2ε − δ)) steps (`theory.shifted_bound`);
    * η = 1 and δ by halving: finitely many steps, without knowledge of ε. In round j = 0, 1, … δ
      falls from δ₀/2ʲ, with (p+1)·4ʲ steps for each value. While δ > 2ε, a round adds at most
      4/3·(p+1)·δ₀² to ‖w − z‖²; once δ₀/2ʲ ≤ ε, this first δ needs 2ʲ·‖w − z‖²/(δ₀·ε) steps at
      most, and gets (p+1)·4ʲ;
    * η = 2 and δ = 0: finitely many steps, but no bound; without interior it need not converge;
    * maximal distance and δ = 0: the distance to the solutions falls by a constant factor at
      every step, with or without interior (`theory.agmon_rate`).

    If there is no solution, the steps of one more epoch, summed by row, are the multipliers: with
    δ = 0 in a repeated order they tend to a Farkas vector, as Σ τ_t·a_t = w − w⁺ tends to 0 while
    each step adds −η(1 − η/2)·r² to ⟨c, λ⟩.

    Parameters
    ----------
    A, c : array (n, p) or CSR, array (n,)
        The system A w ≤ c without rows of zeros; without ``c``, A w > 0.
    w0, limits, trace
        The start; limits on epochs, updates and seconds; whether to record a trace.
    order, seed : str, sequence of int or Order; int
        The index rule. With a shift, rows have unit length, and residual and distance are one.
    eta : float in (0, 2]
    shift : float or "halving"
        δ as a distance; "halving" begins with an eighth of the largest violation at w₀.

    Returns
    -------
    Attempt
        The trace has the index i, residual ⟨a_i, w⟩ − c_i before, the multiple of a_i that was
        subtracted as step, and delta, for each step; a_i has unit length if there is a shift.

    Examples
    --------
    >>> found = relaxation(np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 0, 0]))
    >>> bool(found.w.sum() <= 1.0 and (found.w >= 0.0).all())
    True
    """
    from novikoff.core.runs import Plan  # Numba: here, for those who use other methods
    from novikoff.core.sweep import run
    from novikoff.core.updates import Update

    if not 0.0 < eta <= 2.0:
        raise ValueError(f"The relaxation η must be above 0 and at most 2, not {eta}.")
    if shift != "halving" and not 0.0 <= shift < math.inf:
        raise ValueError(f'The shift δ must be "halving", 0 or a positive number, not {shift!r}.')
    limits = limits or Limits()
    rule = named(order)
    if c is None:
        A, c = _one_away(A)
    factors = np.ones(len(c))
    if shift != 0.0:
        factors = 1.0 / lengths_of(A)
        A, c = scaled(A, factors), c * factors
    signs = np.full(len(c), -1, dtype=np.int8)
    problem = pose(beside(A, (c / -_FIXED)[:, None]), signs, fit_intercept=False)
    w = np.append(np.zeros(A.shape[1]) if w0 is None else w0, [_FIXED, 0.0])
    if shift == "halving":
        schedule = _halving(float((A @ w[:-2] - c).max(initial=0.0)) / 8.0, A.shape[1] + 1)
    else:
        schedule = iter([(float(shift), UNLIMITED)])

    best, smallest = w, math.inf  # the point of the least shift
    n_steps, n_epochs = 0, 0
    left = most_steps(limits)
    notes = TraceBuilder()
    for k, (delta, granted) in enumerate(schedule):
        phase = Limits(
            None if limits.epochs is None else limits.epochs - n_epochs,
            min(left, granted),
            limits.left(),
        )
        update = Update(BELOW_ZERO, eta=eta, goal=delta)
        state = run(problem, Plan(update, rule, phase, seed + k, trace=trace), start=w)
        w = state.W[:, 0]
        if state.converged or delta <= smallest:
            best, smallest = w, delta
        n_epochs += state.epochs
        n_steps += state.updates
        left -= state.updates
        for seen in state.traces:
            for i, margin, step in zip(seen.index, seen.margin, seen.tau, strict=True):
                notes.note(index=i, residual=-margin, step=step, delta=delta)
        if state.stops[0] is not Stop.UPDATES or left == 0:
            break
    weights = None
    limits.interrupted |= phase.interrupted
    if not (state.converged or limits.interrupted):
        last = Limits(
            epochs=1, updates=min(n_steps, 100 * len(w)) if isinstance(rule, Greedy) else None
        )
        plan = Plan(update._replace(goal=0.0), rule, last, seed, trace=True)
        seen = run(problem, plan, start=best).traces[0]
        weights = np.bincount(seen.index, seen.tau, minlength=problem.n) * factors
    return Attempt(best[:-2].copy(), weights, n_steps, notes.trace() if trace else None)


def _one_away(A: Matrix) -> tuple[Matrix, Vector]:
    """A w > 0 in unit rows: a solution, made longer, is at least 1 away from every hyperplane."""
    return scaled(A, -1.0 / lengths_of(A)), np.full(A.shape[0], -1.0)


def _halving(first: float, m: int) -> Iterator[tuple[float, int]]:
    """The shifts δ, and the steps that are granted to each."""
    for j in range(_HALVINGS):
        for k in range(j, _HALVINGS):
            yield math.ldexp(first, -k), m * 4**j


def spingarn(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """Project on all half-spaces at once, each from its own x + y_i, and take the mean (D4).

        r_i = max(0, ⟨a_i, x − ȳ⟩ + α_i − c_i),    α ← r,    ȳ ← (1/n)·Σ r_i·a_i,    x ← x − ȳ

    with y_i = α_i·a_i − ȳ, for unit rows a_i: Douglas and Rachford's splitting in the product
    space. Guarantee: no step of the points (x + y_i) is longer than the step before. If there is a
    solution, x converges to one; if the interior is not empty, some x is a solution after finitely
    many steps, though no bound on their number is known. If there is no solution, α/Σα tends to a
    Farkas vector.

    The trace has residual max(⟨a_i, x⟩ − c_i) before each step, its length change, and balance
    ‖Σ α_i a_i‖/Σα and right ⟨c, α⟩/Σα after it.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> spingarn(np.array([[1.0], [-1.0]]), np.array([1.0, -2.0])).weights.round(2).tolist()
    [0.5, 0.5]
    """
    lengths = lengths_of(A)
    A, c = _one_away(A) if c is None else (scaled(A, 1.0 / lengths), c / lengths)
    n, p = A.shape
    x = np.zeros(p) if w0 is None else w0
    mean, alpha = np.zeros(p), np.zeros(n)
    n_steps = 0
    notes = TraceBuilder() if trace else None
    for _ in steps(limits):
        of_x, of_mean = (A @ np.column_stack([x, mean])).T
        if (of_x <= c).all():
            break
        r = np.maximum(0.0, of_x - of_mean + alpha - c)
        before, mean = mean, A.T @ r / n
        x = x - mean
        total, right = float(r.sum()), float(c @ r)
        balance = n * math.sqrt(mean @ mean)
        if notes is not None:
            change = n * (mean @ mean) + (r - alpha) @ (r - alpha)
            change -= n * (mean - before) @ (mean - before)
            notes.note(change=math.sqrt(max(0.0, change)), residual=float((of_x - c).max()))
            notes.note(balance=balance / total, right=right / total)
        alpha = r
        n_steps += 1
        if balance <= TINY * total and right < -TINY * total:
            break
    weights = alpha / lengths
    shares = weights / weights.sum() if alpha.any() else None
    return Attempt(x, shares, n_steps, None if notes is None else notes.trace())
