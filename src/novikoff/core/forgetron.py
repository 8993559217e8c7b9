"""The Forgetron: a kernel perceptron that keeps at most B points.

A mistake adds the point to the model, with the coefficient β = y. Let f' be the new function. If
the model now has more than B points, two steps follow. First all coefficients β are multiplied by
the largest φ in (0, 1] with

    Q + Ψ(φσ, φμ) ≤ 15/32·M,    Ψ(λ, μ) = λ² + 2λ − 2λμ.

Then the oldest point r is removed. Here σ = |β_r| and μ = y_r·f'(x_r) are the values before the
multiplication, M is the number of mistakes including the present mistake, and Q is the sum of the
Ψ of all points that were removed before.

If K(x, x) ≤ 1 and B ≥ 83, the number of mistakes is at most 2‖g‖² + 4·Σℓ for every function g of
length at most ¼·√((B + 1)/ln(B + 1)) (`novikoff.bounds.forgetron_bound`). Kernels other than "rbf"
are normalised: K(x, z)/√(K(x, x)·K(z, z)).

References
----------
Dekel, O., Shalev-Shwartz, S. and Singer, Y. (2008). The Forgetron: a kernel-based perceptron on a
budget. *SIAM Journal on Computing* 37(5), 1342-1372. This is the self-tuned Forgetron.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit

from novikoff.core.blas import one_blas_thread
from novikoff.core.kernels import KERNEL_SETTINGS, Kernel
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, Vector, as_dense, stacked
from novikoff.core.state_model import RuleVisit, StateModel
from novikoff.core.sweep import Counts

SHARE = 15.0 / 32.0  # the largest ratio of Q to the number of mistakes
CHUNK = 128  # the number of rows whose kernel values are computed together
HEAD, SIZE, SCALE, DAMAGE, MISTAKES = range(5)


class ForgetronModel(StateModel):
    """The model of the Forgetron: each rule has a ring of B + 1 places for points.

    A place that is in use has β ≠ 0.
    """

    points: Vector
    beta: Vector  # the coefficients of the points, divided by the scale of the rule
    gram: Vector
    ring: Vector  # the oldest place, the number of places in use, the scale of β, Q, and M

    shapes: ClassVar = {"points": "KCd", "beta": "KC", "gram": "KCC", "ring": "K5"}
    negated_on_swap: ClassVar = ("beta",)
    allowed_settings: ClassVar = {**KERNEL_SETTINGS, "budget": 1}

    def blank_arrays(self) -> dict[str, Vector]:
        """No points."""
        shape = self.n_rules, int(self.settings["budget"]) + 1
        ring = np.tile([0.0, 0.0, 1.0, 0.0, 0.0], (self.n_rules, 1))
        gram, points = np.zeros((*shape, shape[1])), np.zeros((*shape, self.n_features))
        return {"points": points, "beta": np.zeros(shape), "gram": gram, "ring": ring}

    @property
    def kernel(self) -> Kernel:
        """The kernel before it is normalised."""
        parameters = {name: self.settings[name] for name in ("gamma", "degree", "coef0")}
        return Kernel(self.settings["kernel"], **parameters)

    def rule_loop(
        self, rows: Rows, codes: Indices, sample_weight: Vector, counts: Counts
    ) -> RuleVisit:
        """The loop over these rows; ``sample_weight`` is not used."""
        X, signs, kernel = rows.X, self.sides[codes].astype(np.float64), self.kernel

        def sweep(rule: int, epoch: Indices) -> None:
            with one_blas_thread():
                for at in range(0, max(len(epoch), 1), CHUNK):
                    visit(rule, epoch[at : at + CHUNK])

        def visit(rule: int, chunk: Indices) -> None:
            points, beta, gram_of_members, ring = (array[rule] for array in self.state.values())
            own_rows = X[chunk].astype(np.float64)
            used, members = np.flatnonzero(beta), np.zeros(len(beta), np.int64)
            members[used] = np.arange(len(used))
            gram = _normalised(kernel, own_rows, stacked(points[used], own_rows))
            tallies = counts.totals[:, rule], counts.per_row[:, rule]
            memory = members, beta, gram_of_members, ring
            sweep_forgetting(gram, signs[chunk, rule], chunk, len(used), *memory, *tallies)
            new = np.flatnonzero((members >= len(used)) & (beta != 0.0))
            points[new] = as_dense(own_rows[members[new] - len(used)])

        return sweep

    def last_scores(self, X: Matrix) -> Vector:
        """Compute the scores Σ β·K(x_j, x)."""
        out = np.zeros((X.shape[0], self.n_rules))
        for rule in range(self.n_rules):
            points, beta = self.support_of(rule)
            for begin in range(0, X.shape[0] if len(beta) > 0 else 0, 1 << 13):
                part = X[begin : begin + (1 << 13)]
                out[begin : begin + (1 << 13), rule] = _normalised(self.kernel, part, points) @ beta
        return out

    def support_of(self, rule: int) -> tuple[Vector, Vector]:
        """The points of a rule, the oldest first, and their coefficients."""
        head, size, scale = (self.ring[rule, k] for k in (HEAD, SIZE, SCALE))
        places = (int(head) + np.arange(int(size))) % self.beta.shape[1]
        return self.points[rule, places], scale * self.beta[rule, places]

    def check(self) -> None:
        """Raise ValueError if the arrays, which may come from a file, contradict each other."""
        super().check()
        n_places = self.beta.shape[1]
        if n_places != int(self.settings["budget"]) + 1:
            raise ValueError("its number of places does not fit its budget")
        for beta, ring in zip(self.beta, self.ring, strict=True):
            head, size = ring[HEAD], ring[SIZE]
            whole = head % 1.0 == 0.0 and size % 1.0 == 0.0
            if not (whole and 0 <= head < n_places and 0 <= size < n_places):
                raise ValueError("its ring points to places that do not exist")
            used = (int(head) + np.arange(int(size))) % n_places
            if set(np.flatnonzero(beta)) != set(used.tolist()) or not 0.0 < ring[SCALE] <= 1.0:
                raise ValueError("its coefficients are not in the places that are in use")


def _normalised(kernel: Kernel, X: Matrix, Z: Matrix) -> Vector:
    """K(x, z)/√(K(x, x)·K(z, z)), which is at most 1; 0 if K(x, x) or K(z, z) is 0."""
    gram = kernel.gram(X, Z)
    if kernel.form == "rbf" or gram.size == 0:
        return gram
    lengths = (np.sqrt(np.maximum(kernel.diagonal(part), 0.0)) for part in (X, Z))
    first, second = (np.divide(1.0, n, out=np.zeros_like(n), where=n > 0.0) for n in lengths)
    return gram * first[:, None] * second


@njit(cache=True, nogil=True)
def sweep_forgetting(
    gram: Vector, signs: Vector, chunk: Indices, n_used: int, members: Indices, beta: Vector,
    gram_of_members: Vector, ring: Vector, totals: Indices, per_row: Indices,
) -> None:  # fmt: skip
    """Visit the rows of a chunk, given their kernel values with the points and with each other.

    The point in place j belongs to column ``members[j]`` of ``gram``. ``kept[j]`` has the kernel
    values of this point with the older points.
    """
    n_places = len(beta)
    for t in range(len(chunk)):
        f = 0.0
        for j in range(n_places):
            f += beta[j] * gram[t, members[j]]
        if signs[t] * f > 0.0:
            continue
        ring[MISTAKES] += 1.0
        new = int(ring[HEAD] + ring[SIZE]) % n_places
        members[new], beta[new] = n_used + t, signs[t] / ring[SCALE]
        ring[SIZE] += 1.0
        for j in range(n_places):
            gram_of_members[new, j] = gram[t, members[j]]
        if ring[SIZE] == n_places:  # the ring has one point more than the budget
            oldest = int(ring[HEAD])
            sigma = abs(beta[oldest]) * ring[SCALE]
            mu = 0.0
            for j in range(n_places):
                mu += beta[j] * gram_of_members[j, oldest]
            mu *= ring[SCALE] * np.sign(beta[oldest])
            phi = shrinking(sigma, mu, ring[DAMAGE], ring[MISTAKES])
            ring[DAMAGE] += (phi * sigma) ** 2 + 2.0 * phi * sigma * (1.0 - phi * mu)
            ring[SCALE] *= phi
            beta[oldest] = 0.0
            ring[HEAD] = (oldest + 1) % n_places
            ring[SIZE] -= 1.0
            if ring[SCALE] < 2.0**-500:
                for j in range(n_places):
                    beta[j] *= ring[SCALE]
                ring[SCALE] = 1.0
        per_row[chunk[t]] += 1
        totals[1] += 1
        totals[2] += 1


@njit(cache=True, nogil=True)
def shrinking(sigma: float, mu: float, damage: float, mistakes: float) -> float:
    """Return the largest φ in (0, 1] with Q + Ψ(φσ, φμ) ≤ 15/32·M.

    It is 1, or a root of the quadratic equation a·φ² + b·φ + c = 0.
    """
    a, b, c = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma, damage - SHARE * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return -2.0 * c / (b + np.sqrt(b * b - 4.0 * a * c))
