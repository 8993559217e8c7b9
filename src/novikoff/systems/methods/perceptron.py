"""The perceptron and von Neumann's algorithm, on the homogeneous form of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novikoff.core.orders import Order, named
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import dense
from novikoff.systems.methods.attempt import TINY, Attempt, most_steps, steps, unit_rows


def perceptron_method(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    order: str | Sequence[int] | Indices | Order = "permuted",
    seed: int = 0,
) -> Attempt:
    """The perceptron on the homogeneous rows: if ⟨h_i, u⟩ ≤ 0, u ← u + h_i.

    Guarantee: the rows h_i of `UnitRows` have length 1. If their margin is γ > 0, there are at most
    1/γ² steps in every order (`theory.unit_ball_bound`). After t steps, u/t is a convex combination
    of the rows with ‖u/t‖ ≤ 1/√t. Hence, if γ ≤ 0, counts/t tends to a λ ≥ 0 with Σ λ_i h_i = 0.

    The parameters and the result are those of `relaxation_method`. The trace has the index i, the
    margin ⟨h_i, u⟩ before each step, and the norm ‖u‖ after it.

    References
    ----------
    Rosenblatt, F. (1958). The perceptron: a probabilistic model for information storage and
    organization in the brain. *Psychological Review* 65(6), 386-408.

    Examples
    --------
    >>> perceptron_method(np.array([[1.0, 0.0], [-0.6, 0.8]])).w.tolist()
    [0.4, 0.8]
    """
    from novikoff.core.runs import (
        Plan,  # imported here: compiled code loads slowly
        train_rule,
    )
    from novikoff.core.updates import perceptron as update

    system = unit_rows(A, c, w0)
    signs = np.ones(system.H.shape[0], dtype=np.int8)
    problem = signed_problem(system.H, signs, fit_intercept=False)
    limits = limits or Limits()
    run_limits = replace(limits, updates=most_steps(limits))
    state = train_rule(problem, Plan(update(), named(order), run_limits, seed, trace=trace))
    counts = np.asarray(state.update_counts.toarray(), dtype=np.float64)[0]
    attempt = system.attempt(state.W[:-1, 0], None if state.converged else counts, state.updates)
    if trace:
        trace_of_run, norm = state.traces[0], np.sqrt(state.traces[0].squared_norm)
        attempt = attempt._replace(
            trace={"index": trace_of_run.index, "margin": trace_of_run.margin, "norm": norm}
        )
    return attempt


def von_neumann(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """Von Neumann's algorithm: move a convex combination of the rows towards the origin.

        j = argmin ⟨h_i, u⟩:    u ← the point nearest to 0 on the segment from u to h_j

    where u = Σ x_i h_i. Guarantee: while ⟨h_j, u⟩ ≤ 0, 1/‖u⁺‖² ≥ 1/‖u‖² + 1 for the unit rows of
    `UnitRows`. Hence ‖u_k‖ ≤ 1/√(k+1), and if the margin is γ > 0 there are at most 1/γ² steps
    (`theory.unit_ball_bound`). If the origin lies at depth ρ inside the convex hull of the rows,
    ‖u_k‖ ≤ (1 − ρ²)^(k/2), and x tends to a λ with Σ λ_i h_i = 0.

    The parameters and the result are those of `relaxation_method`. The trace has the index j, the
    margin ⟨h_j, u⟩ before each step, and the norm ‖u‖ after it.

    References
    ----------
    Dantzig, G. B. (1992). An ε-precise feasible solution to a linear program with a convexity
    constraint in 1/ε² iterations independent of problem size. Technical report SOL 92-5, Stanford
    University.

    Epelman, M. and Freund, R. M. (2000). Condition number complexity of an elementary algorithm for
    computing a reliable solution of a conic linear system. *Mathematical Programming* 88(3),
    451-485.

    Examples
    --------
    >>> von_neumann(np.array([[1.0, 0.0], [-0.6, 0.8]])).w.round(3).tolist()
    [0.2, 0.4]
    """
    system = unit_rows(A, c, w0, trace)
    H = system.H
    x = np.eye(1, H.shape[0])[0]
    u, square = dense(H[[0]])[0], 1.0
    n_steps = 0
    for _ in steps(limits):
        products = H @ u
        j = int(products.argmin())
        m = float(products[j])
        if m > 0.0 or square <= TINY**2:
            break
        share = (square - m) / (square - 2.0 * m + 1.0)
        x *= 1.0 - share
        x[j] += share
        u = (1.0 - share) * u + share * dense(H[[j]])[0]
        square = float(u @ u)
        n_steps += 1
        if trace:
            system.note(index=j, margin=m, norm=square**0.5)
    return system.attempt(u, x, n_steps)
