"""Classical methods for systems of linear inequalities, by name.

Every method has the form ``method(A, c, *, w0, limits, trace, …) -> Attempt``. It proposes a point
with A w ≤ c, or multipliers that prove A w ≤ c infeasible. A method may be slow, and it may find
nothing, but its answer cannot be wrong: the caller verifies the proposal exactly.
"""

from __future__ import annotations

from collections.abc import Callable

from novikoff.systems.methods.attempt import Attempt, MethodTrace
from novikoff.systems.methods.perceptron import perceptron_method, von_neumann
from novikoff.systems.methods.projections import relaxation_method, spingarn
from novikoff.systems.methods.rescaling import dunagan_vempala, projection_rescaling, rescaled
from novikoff.systems.methods.smooth import smooth, smooth_primal_dual

METHODS: dict[str, Callable[..., Attempt]] = {
    "relaxation": relaxation_method,
    "perceptron": perceptron_method,
    "von_neumann": von_neumann,
    "smooth": smooth,
    "smooth_primal_dual": smooth_primal_dual,
    "rescaled": rescaled,
    "dunagan_vempala": dunagan_vempala,
    "projection_rescaling": projection_rescaling,
    "spingarn": spingarn,
}

__all__ = ["METHODS", "Attempt", "MethodTrace"]
