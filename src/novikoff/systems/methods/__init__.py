"""The methods by name: each proposes a point of A w ≤ c, or multipliers that contradict it (D1–D5).

Every method has the form ``method(A, c, *, w0, limits, trace, …) -> Attempt``. It may be slow, and
it may find nothing, but it cannot be wrong: what it proposes is verified exactly by its caller.
"""

from __future__ import annotations

from collections.abc import Callable

from novikoff.systems.methods.attempt import Attempt, Trace
from novikoff.systems.methods.dunagan_vempala import dunagan_vempala
from novikoff.systems.methods.perceptron import perceptron
from novikoff.systems.methods.projection_rescaling import projection_rescaling
from novikoff.systems.methods.relaxation import relaxation
from novikoff.systems.methods.rescaled import rescaled
from novikoff.systems.methods.smooth import smooth
from novikoff.systems.methods.smooth_primal_dual import smooth_primal_dual
from novikoff.systems.methods.spingarn import spingarn
from novikoff.systems.methods.von_neumann import von_neumann

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

__all__ = ["METHODS", "Attempt", "Trace"]
