"""Methods that project on the half-spaces of the rows, one at a time or all at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from novikoff.core.orders import Greedy, Order, named
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Matrix, Vector, side_by_side
from novikoff.core.stops import Limits, Stop
from novikoff.systems.matrices import scaled
from novikoff.systems.methods.attempt import (
    TINY,
    UNLIMITED,
    Attempt,
    TraceBuilder,
    lengths_of,
    most_steps,
    steps,
)

# The perceptron's loop computes ⟨row, w⟩ without a constant. The constants c_i are therefore an
# additional column −c_i/S, whose weight is S = 2²⁰⁰: ⟨[a_i, −c_i/S], (w, S)⟩ = ⟨a_i, w⟩ − c_i. An
# update changes this weight by τ·c_i/S. As long as |τ·c_i| < 2³⁴⁷, that is less than half the
# distance from S to the next float, so that rounding leaves the weight exactly at S. Larger numbers
# make the proposal wrong, but not the answer, because every proposal is verified.
_CONSTANT_WEIGHT = 2.0**200
# After this many halvings, δ is below the rounding error of its first value.
_HALVINGS = 50
# For floats, m < 0 and m ≤ BELOW_ZERO are the same condition.
BELOW_ZERO = -math.ulp(0.0)


def relaxation_method(
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
    """The relaxation method: move w towards the half-space of a violated row, repeatedly.

        r = (⟨a_i, w⟩ − c_i)/‖a_i‖ > 0:    w ← w − η·(r + δ)·a_i/‖a_i‖

    η = 1 projects on the half-space, η = 2 reflects at its boundary; δ > 0 aims inside. For every z
    with slack s_i ≥ 0 on the row, measured as a distance, and δ = 0,

        ‖w⁺ − z‖² = ‖w − z‖² − η(2 − η)·r² − 2η·r·s_i        (Fejér)

    so that no step leads away from any solution. The following holds for every index rule, if z is
    the centre of a ball of solutions of radius ε > 0:

    * η = 1 and 0 < δ < 2ε: at most ‖w₀ − z‖²/(δ·(2ε − δ)) steps (`theory.shifted_bound`).
    * η = 1 and δ by halving: finitely many steps, although ε is not known. In round j = 0, 1, … δ
      falls from δ₀/2ʲ, with (p+1)·4ʲ steps for each value. While δ > 2ε, a round adds at most
      4/3·(p+1)·δ₀² to ‖w − z‖². Once δ₀/2ʲ ≤ ε, the first δ of the round needs at most
      2ʲ·‖w − z‖²/(δ₀·ε) steps, and may take (p+1)·4ʲ.
    * η = 2 and δ = 0: finitely many steps, but no bound is known. Without interior the method need
      not converge.
    * maximal distance and δ = 0: the distance to the set of solutions falls by a constant factor at
      every step, with or without interior (`theory.agmon_rate`).

    If there is no solution, the steps of one more epoch, summed by row, are the multipliers. With δ
    = 0 in a repeated order they tend to a Farkas certificate, because Σ τ_t·a_t = w − w⁺ tends to 0
    while each step adds −η(1 − η/2)·r² to ⟨c, λ⟩.

    Parameters
    ----------
    A, c : array (n, p) or CSR, array (n,)
        The system A w ≤ c, without rows of zeros. Without ``c``, the system is A w > 0.
    w0 : array of shape (p,), optional
        The start; the origin by default.
    limits : Limits, optional
        Limits on epochs, updates and seconds.
    trace : bool
        Whether to record a trace.
    order, seed : str, sequence of int or Order; int
        The index rule and its seed. With a shift, the rows are scaled to unit length, so that the
        residual is the distance.
    eta : float in (0, 2]
        η.
    shift : float or "halving"
        δ as a distance; "halving" starts with an eighth of the largest violation at w₀.

    Returns
    -------
    Attempt
        The trace has, for each step, the index i, the residual ⟨a_i, w⟩ − c_i before the step, the
        multiple of a_i that was subtracted as ``step``, and ``delta``. If there is a shift, a_i has
        unit length.

    References
    ----------
    Agmon, S. (1954). The relaxation method for linear inequalities. *Canadian Journal of
    Mathematics* 6, 382-392.

    Motzkin, T. S. and Schoenberg, I. J. (1954). The relaxation method for linear inequalities.
    *Canadian Journal of Mathematics* 6, 393-404.

    Goffin, J. L. (1980). The relaxation method for solving systems of linear inequalities.
    *Mathematics of Operations Research* 5(3), 388-414.

    Examples
    --------
    >>> A, c = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 0, 0])
    >>> attempt = relaxation_method(A, c)
    >>> bool(attempt.w.sum() <= 1.0 and (attempt.w >= 0.0).all())
    True
    """
    from novikoff.core.runs import (
        Plan,  # imported here: compiled code loads slowly
        train_rule,
    )
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
    problem = signed_problem(
        side_by_side(A, (c / -_CONSTANT_WEIGHT)[:, None]), signs, fit_intercept=False
    )
    w = np.append(np.zeros(A.shape[1]) if w0 is None else w0, [_CONSTANT_WEIGHT, 0.0])
    if shift == "halving":
        schedule = _halving(float((A @ w[:-2] - c).max(initial=0.0)) / 8.0, A.shape[1] + 1)
    else:
        schedule = iter([(float(shift), UNLIMITED)])

    best, smallest = w, math.inf  # the point of the smallest shift so far
    n_steps, n_epochs = 0, 0
    steps_left = most_steps(limits)
    notes = TraceBuilder()
    for k, (delta, granted) in enumerate(schedule):
        phase = replace(
            limits,
            epochs=None if limits.epochs is None else limits.epochs - n_epochs,
            updates=min(steps_left, granted),
        )
        update = Update(BELOW_ZERO, eta=eta, goal=delta)
        state = train_rule(problem, Plan(update, rule, phase, seed + k, trace=trace), start=w)
        w = state.W[:, 0]
        if state.converged or delta <= smallest:
            best, smallest = w, delta
        n_epochs += state.epochs
        n_steps += state.updates
        steps_left -= state.updates
        for path in state.traces:
            for i, margin, step in zip(path.index, path.margin, path.tau, strict=True):
                notes.note(index=i, residual=-margin, step=step, delta=delta)
        if state.stops[0] is not Stop.UPDATES or steps_left == 0:
            break
    multipliers = None
    if not (state.converged or limits.interrupted):
        last = Limits(
            epochs=1, updates=min(n_steps, 100 * len(w)) if isinstance(rule, Greedy) else None
        )
        plan = Plan(update._replace(goal=0.0), rule, last, seed, trace=True)
        path = train_rule(problem, plan, start=best).traces[0]
        multipliers = np.bincount(path.index, path.tau, minlength=problem.n) * factors
    return Attempt(best[:-2].copy(), multipliers, n_steps, notes.trace() if trace else None)


def _one_away(A: Matrix) -> tuple[Matrix, Vector]:
    """Write A w > 0 as A w ≤ c with unit rows: w must be at least 1 away from every hyperplane.

    Every solution of A w > 0 satisfies this after it is multiplied by a large number.
    """
    return scaled(A, -1.0 / lengths_of(A)), np.full(A.shape[0], -1.0)


def _halving(first: float, m: int) -> Iterator[tuple[float, int]]:
    """The shifts δ, and the number of steps for each of them."""
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
    """Spingarn's method: project on all half-spaces at once, and take the mean.

        r_i = max(0, ⟨a_i, x − ȳ⟩ + α_i − c_i),    α ← r,    ȳ ← (1/n)·Σ r_i·a_i,    x ← x − ȳ

    for unit rows a_i. Each half-space has its own point x + y_i, where y_i = α_i·a_i − ȳ, and this
    point is projected on it. This is Douglas–Rachford splitting in the product space.

    Guarantee: no step of the points (x + y_i) is longer than the step before. If there is a
    solution, x converges to a solution. If the interior is not empty, some x is a solution after
    finitely many steps, but no bound on their number is known. If there is no solution, α/Σα tends
    to a Farkas certificate.

    The parameters and the result are those of `relaxation_method`. The trace has the residual
    max(⟨a_i, x⟩ − c_i) before each step, the length of the step as ``change``, and after the step
    the balance ‖Σ α_i a_i‖/Σα and the right side ⟨c, α⟩/Σα.

    References
    ----------
    Spingarn, J. E. (1985). A primal-dual projection method for solving systems of linear
    inequalities. *Linear Algebra and its Applications* 65, 45-62.

    Spingarn, J. E. (1987). A projection method for least-squares solutions to overdetermined
    systems of linear inequalities. *Linear Algebra and its Applications* 86, 211-236.

    Examples
    --------
    >>> spingarn(np.array([[1.0], [-1.0]]), np.array([1.0, -2.0])).multipliers.round(2).tolist()
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
    multipliers = alpha / lengths
    shares = multipliers / multipliers.sum() if alpha.any() else None
    return Attempt(x, shares, n_steps, None if notes is None else notes.trace())
