"""The perceptron over shards: iterative parameter mixing (McDonald, Hall and Mann 2010).

In each epoch, every shard i starts from the common w, makes k_i updates and ends at w_i. Then
w ← Σ μ_i w_i with μ ≥ 0 and Σ μ_i = 1. On data with margin γ > 0, from w = 0,

    Σ over epochs of Σ_i μ_i k_i  ≤  R²/γ².

Proof: for the unit vector u of the margin, ⟨u, w⟩ grows by at least γΣμk, and ‖w‖² grows by at most
R²Σμk, because ‖·‖² is convex. The weights are added in a tree that depends only on the numbers of
the shards, so the bits of the sum do not depend on which worker adds them, or when.

References
----------
R. McDonald, K. Hall and G. Mann (2010). Distributed training strategies for the structured
perceptron. NAACL HLT.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from novikoff.cluster.shards import Shard
from novikoff.cluster.tasks import Cluster, ShardVisit
from novikoff.core.class_labels import Label
from novikoff.core.rows import Indices, Vector
from novikoff.core.runs import Plan, train
from novikoff.core.schemes import Scheme
from novikoff.core.stops import Limits, Stop
from novikoff.geometry.passes import OutOfTimeError

Mix: TypeAlias = Literal["mistakes", "uniform"]


@dataclass
class MixedRun:
    """The result of a mixed run: the weights of all rules, and the counts.

    ``mixed_updates`` is ΣΣ μ_i k_i for each rule. The theorem bounds it by R²/γ².
    """

    W: Vector  # (p, K); the last row has the biases
    totals: Indices  # (3, K): rows visited, updates and mistakes
    epochs: int
    stops: list[Stop]
    mixed_updates: list[Fraction]

    @property
    def converged(self) -> bool:
        """Whether every rule ended with a clean epoch."""
        return all(stop is Stop.CLEAN for stop in self.stops)


@dataclass
class Epoch(ShardVisit):
    """One epoch of every shard, all from the same weights, and the sums that mix the results.

    ``sums[level, place]`` is Σ c_i w_i over the shards place·2^level, …, (place + 1)·2^level − 1,
    with c_i = k_i, or c_i = 1 if mixing is uniform. Two neighbouring sums are added as soon as both
    are known.
    """

    plan: Plan
    scheme: Scheme
    labels: tuple[Label, ...]
    fit_intercept: bool
    mix: Mix
    W: Vector
    number: int = 0
    sums: dict[tuple[int, int], Vector] = field(init=False, default_factory=dict)
    totals: Indices = field(init=False)  # (3, K)
    squares: Indices = field(init=False)  # Σ k_i² for each rule
    shards: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        n_rules = self.scheme.sides.shape[1]
        self.totals = np.zeros((3, n_rules), dtype=np.int64)
        self.squares = np.zeros(n_rules, dtype=np.int64)

    def look_at_shard(self, shard: Shard) -> None:
        """Run one epoch over the rows of a shard."""
        W, totals = self._run(shard, self.W)
        k = totals[1]
        factors = np.ones_like(k) if self.mix == "uniform" else k
        self._add(0, shard.number, W * factors)
        self.totals, self.squares = self.totals + totals, self.squares + k * k
        self.shards += 1

    def merge(self, other: Epoch) -> None:
        """Add the sums and the counts of both."""
        for (level, place), summed in other.sums.items():
            self._add(level, place, summed)
        self.totals, self.squares = self.totals + other.totals, self.squares + other.squares
        self.shards += other.shards

    def mixed(self) -> tuple[Vector, list[Fraction]]:
        """The mixed weights and Σ μ_i k_i of each rule."""
        k, end = self.totals[1], max((place + 1) << level for level, place in self.sums)
        total = self._total((end - 1).bit_length(), 0)
        whole = np.full_like(k, self.shards) if self.mix == "uniform" else k
        squares = k if self.mix == "uniform" else self.squares
        W = np.where(k > 0, total / np.maximum(whole, 1), self.W)
        pairs = zip(squares.tolist(), whole.tolist(), strict=True)
        return W, [Fraction(square, max(1, number)) for square, number in pairs]

    def _run(self, shard: Shard, W: Vector) -> tuple[Vector, Indices]:
        state = np.random.SeedSequence([self.plan.seed, self.number, shard.first])
        plan = replace(self.plan, seed=int(state.generate_state(1)[0]), limits=Limits(epochs=1))
        run = train(
            shard.rows(self.fit_intercept),
            shard.classes(self.labels),
            self.scheme,
            plan,
            start=W,
        )
        return run.W, run.counts.totals

    def _add(self, level: int, place: int, summed: Vector) -> None:
        while (level, place ^ 1) in self.sums:  # add the sum of the neighbour
            summed = summed + self.sums.pop((level, place ^ 1))
            level, place = level + 1, place // 2
        self.sums[level, place] = summed

    def _total(self, level: int, place: int) -> Vector:
        """The sum of a subtree; shards without rows are not in the tree."""
        if (level, place) in self.sums or level == 0:
            return self.sums.get((level, place), np.zeros_like(self.W))
        return self._total(level - 1, 2 * place) + self._total(level - 1, 2 * place + 1)


def mixed_run(cluster: Cluster, first: Epoch, limits: Limits) -> MixedRun:
    """Run epochs until no shard makes an update, or a limit is reached."""
    n_rules = first.W.shape[1]
    run = MixedRun(first.W, first.totals, 0, [], [Fraction(0)] * n_rules)
    stop: Stop | None = Stop.UPDATES if limits.most_updates() <= 0 else limits.reached()
    try:
        while stop is None:
            epoch = replace(first, W=run.W, number=run.epochs)
            done = cluster.over(epoch, limits)
            run.W, counted = done.mixed()
            run.epochs, run.totals = run.epochs + 1, run.totals + done.totals
            run.mixed_updates = [a + b for a, b in zip(run.mixed_updates, counted, strict=True)]
            if not np.isfinite(run.W).all():
                raise ValueError("The weights are beyond the range of float64: scale the features.")
            if not done.totals[1].any():
                stop = Stop.CLEAN
            elif int(run.totals[1].max()) >= limits.most_updates():  # the updates of each rule
                stop = Stop.UPDATES
            else:
                stop = limits.reached(run.epochs)
    except OutOfTimeError:
        stop = limits.reached() or Stop.SECONDS
    except KeyboardInterrupt:
        limits.interrupt()
        stop = Stop.INTERRUPTED
    run.stops = [stop] * n_rules
    return run
