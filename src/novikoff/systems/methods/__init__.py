"""The methods by name: each proposes a point of A w ≤ c, or multipliers that contradict it (D1–D5).

Every method has the form ``method(A, c, *, w0, limits, trace, …) -> Attempt``. It may be slow, and
it may find nothing, but it cannot be wrong: what it proposes is verified exactly by its caller.
"""

from __future__ import annotations

from collections.abc import Callable

from novikoff.systems.methods.attempt import Attempt, MethodTrace
from novikoff.systems.methods.perceptron import perceptron, von_neumann
from novikoff.systems.methods.relaxation import relaxation, spingarn
from novikoff.systems.methods.rescaling import dunagan_vempala, projection_rescaling, rescaled
from novikoff.systems.methods.smooth import smooth, smooth_primal_dual

METHODS: dict[str, Callable[..., Attempt]] = {
    "relaxation": relaxation,
    "perceptron": perceptron,
    "von_neumann": von_neumann,
    "smooth": smooth,
    "smooth_primal_dual": smooth_primal_dual,
    "rescaled": rescaled,
    "dunagan_vempala": dunagan_vempala,
    "projection_rescaling": projection_rescaling,
    "spingarn": spingarn,
}

__all__ = ["METHODS", "Attempt", "MethodTrace"]
