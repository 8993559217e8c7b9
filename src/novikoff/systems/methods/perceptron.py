"""The perceptron on the homogeneous form of a system (D2; Ex 1.22 of the source notes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novikoff.core.orders import Order, named
from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix
from novikoff.systems.methods.attempt import Attempt, cone, most_steps


def perceptron(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    order: str | Sequence[int] | Indices | Order = "permuted",
    seed: int = 0,
) -> Attempt:
    """Add a row that is not yet positive: where ⟨h_i, u⟩ ≤ 0, u ← u + h_i (D2; Ex 1.22).

    Guarantee: the rows h_i of `Cone` have length 1; if their margin is γ > 0, at most 1/γ² steps
    in every order (`theory.unit_ball_bound`). After t steps u/t is a convex combination of the
    rows with ‖u/t‖ ≤ 1/√t, so that counts/t tends to a λ ≥ 0 with Σ λ_i h_i = 0 if γ ≤ 0.

    The trace has index, margin ⟨h_i, u⟩ before and norm ‖u‖ after each step.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> perceptron(np.array([[1.0, 0.0], [-0.6, 0.8]])).w.tolist()
    [0.4, 0.8]
    """
    from novikoff.core.runs import Plan  # Numba: here, for those who use other methods
    from novikoff.core.sweep import run
    from novikoff.core.updates import perceptron as update

    system = cone(A, c, w0)
    signs = np.ones(system.H.shape[0], dtype=np.int8)
    problem = pose(system.H, signs, fit_intercept=False)
    limits = limits or Limits()
    own = replace(limits, updates=most_steps(limits))
    state = run(problem, Plan(update(), named(order), own, seed, trace=trace))
    limits.interrupted |= own.interrupted
    counts = np.asarray(state.update_counts.toarray(), dtype=np.float64)[0]
    found = system.attempt(state.W[:-1, 0], None if state.converged else counts, state.updates)
    if trace:
        seen, norm = state.traces[0], np.sqrt(state.traces[0].squared_norm)
        found = found._replace(trace={"index": seen.index, "margin": seen.margin, "norm": norm})
    return found
