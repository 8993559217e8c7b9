"""The fewest mistakes on the rows of a cluster, and how few there can be (A6, C5).

Every shard looks for rules and for contradictions among its own rows; then all rules are counted on
all rows. Shards have no row in common, so that what their contradictions prove adds up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from threadpoolctl import threadpool_limits

from novikoff.cluster.passes import ShardVisit
from novikoff.cluster.shards import Setting, Shard
from novikoff.core.pocket import load_kernel
from novikoff.core.problem import norms, scores
from novikoff.core.rows import Indices, Vector
from novikoff.core.runs import Plan
from novikoff.core.schemes import scheme_for
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.checker import Dependence
from novikoff.geometry.descent import whitening
from novikoff.geometry.error_bound import ErrorBound, add_up
from novikoff.geometry.fewest_mistakes import fewest_mistakes
from novikoff.geometry.verdict_search import Finding, find

if TYPE_CHECKING:
    from novikoff.cluster.rows import Rows
    from novikoff.core.validation import Label

# Scores of a block of rows, and its rows at least.
_SCORES, _ROWS = 1 << 20, 64
_ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class CountedRule:
    """A rule, its mistakes on all rows, and the proof of how few there can be."""

    w: Vector
    errors: int
    updates: int
    proof: ErrorBound

    @property
    def bound(self) -> Fraction:
        """The mistakes of any hyperplane, at least."""
        return self.proof.bound

    @property
    def optimal(self) -> bool:
        """Whether no hyperplane is better, by proof."""
        return self.errors <= self.bound

    @property
    def history(self) -> list[tuple[int, float]]:
        """The updates of all shards, and the mistakes after them."""
        return [(self.updates, float(self.errors))]


class ShardRule(NamedTuple):
    """What a shard has found for one rule; rows have their numbers among all."""

    weights: list[Vector]  # its best rule, then the cheap ones
    claims: list[Dependence]
    shares: list[Fraction]
    updates: int


@dataclass
class Candidates(ShardVisit):
    """The best rules of every shard, by its number; the clock, if any, is that of a rule."""

    settings: tuple[Setting, ...]
    options: dict[str, Any]
    updates: int | None
    seconds: float | None
    seed: int
    found: dict[int, list[ShardRule]] = field(init=False, default_factory=dict)

    def look_at_shard(self, shard: Shard) -> None:
        """Search among the rows of a shard, for each rule."""
        rows = shard.problem(self.settings[0].fit_intercept)
        load_kernel(rows)
        seed = [self.seed, shard.first]
        basis = cache(lambda: whitening(rows, np.random.default_rng(seed)))
        self.found[shard.number] = []
        for setting in self.settings:
            best = fewest_mistakes(
                rows.resigned(shard.part(setting).signs),
                limits=Limits(updates=self.updates, seconds=self.seconds),
                rng=np.random.default_rng(seed),
                sides=(cast("Label", setting.positive), setting.negative),
                basis=basis,
                **self.options,
            )
            claims = [_renumbered(claim, shard.first) for claim in best.claims]
            shares = [Fraction(1)] * len(claims) if best.shares is None else [*best.shares]
            own = ShardRule([best.w, *best.cheap], claims, shares, best.updates)
            self.found[shard.number].append(own)

    def merge(self, other: Candidates) -> None:
        """Know the rules of both."""
        self.found |= other.found


@dataclass
class Count(ShardVisit):
    """The mistakes of W[:, c, k] on the sides k, for every c, and how many ``together`` make.

    A row so near to a hyperplane that rounding could have it on either side is a mistake. Of these
    rows a step w + t·v with t > 0 gets ``up`` right, with t < 0 ``down``; no other row changes its
    side while ``low`` < t < ``high``.
    """

    settings: tuple[Setting, ...]
    W: Vector  # (p, C, K)
    v: Vector
    wrong: Indices = field(init=False)  # (C, K), as all that follow
    up: Indices = field(init=False)
    down: Indices = field(init=False)
    low: Vector = field(init=False)
    high: Vector = field(init=False)
    together: Indices = field(init=False)  # (C,)

    def __post_init__(self) -> None:
        shape = self.W.shape[1:]
        self.wrong, self.up, self.down = np.zeros((3, *shape), dtype=np.int64)
        self.low, self.high = np.full(shape, -np.inf), np.full(shape, np.inf)
        self.together = np.zeros(shape[0], dtype=np.int64)

    def look_at_shard(self, shard: Shard) -> None:
        """Count block by block."""
        signs = np.column_stack([shard.part(setting).signs for setting in self.settings])
        rows, flat = shard.problem(self.settings[0].fit_intercept), self.W.reshape(len(self.W), -1)
        lengths = norms(rows)
        taking = (signs > 0) | (lengths > 0.0)[:, None]  # `predict` has zeros negative
        doubt = 2.0 * rows.p * _ULP * np.linalg.norm(self.W, axis=0) * rows.unit
        size = max(_ROWS, _SCORES // flat.shape[1])
        with threadpool_limits(1, user_api="blas"):
            for first in range(0, rows.n, size):
                some = slice(first, first + size)
                f = scores(rows.X[some], flat).reshape(-1, *self.W.shape[1:])
                step = (scores(rows.X[some], self.v[:, None]) * signs[some])[:, None]
                near = ~(np.abs(f) > doubt * lengths[some, None, None])
                self._count(f, near, signs[some], step, taking[some, None])

    def _count(self, f: Vector, near: Any, signs: Any, step: Vector, taking: Any) -> None:
        s = f * signs[:, None]
        wrong = ((near | ~(s > 0.0)) & taking).sum(axis=0)
        self.wrong = self.wrong + wrong
        self.up = self.up + (near & (step > 0.0)).sum(axis=0)
        self.down = self.down + (near & (step < 0.0)).sum(axis=0)
        t = np.where(near, np.nan, -s / step)
        self.low = np.maximum(self.low, np.where(t < 0.0, t, -np.inf).max(axis=0))
        self.high = np.minimum(self.high, np.where(t > 0.0, t, np.inf).min(axis=0))
        missed = f.argmax(axis=2) != signs.argmax(axis=1)[:, None]
        self.together = self.together + (wrong[:, 0] if len(wrong[0]) == 1 else missed.sum(axis=0))

    def merge(self, other: Count) -> None:
        """Add up, and take the narrower interval."""
        self.wrong, self.together = self.wrong + other.wrong, self.together + other.together
        self.up, self.down = self.up + other.up, self.down + other.down
        self.low, self.high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)

    def steps(self) -> Vector:
        """Where to go along v: off the hyperplane, and to the middle of an interval."""
        low, high = np.isfinite(self.low), np.isfinite(self.high)
        right = np.where(high, self.high / 2.0, 1.0)
        left = np.where(low, self.low / 2.0, -1.0)
        middle = np.where(low & high, left + right, 0.0)
        t = np.where(self.up + self.down == 0, middle, np.where(self.up >= self.down, right, left))
        return np.where(self.wrong == 0, 0.0, t)


def search(
    rows: Rows, plan: Plan, settings: tuple[Setting, ...], options: dict[str, Any]
) -> list[CountedRule]:
    """The best rule for each setting; several settings are the classes, each against the rest.

    Candidates are the constants, for each and for all, the verdict's w, the mixed perceptron of
    ``plan``, the best rules of the shards, and means over the shards. Of equals the first is taken.
    """
    K, d, limits = len(settings), rows.d, replace(plan.limits, epochs=None)
    bias, rng = settings[0].fit_intercept, np.random.default_rng(plan.seed)
    verdicts = [_verdict(rows, setting, limits.part(0.2 / K)) for setting in settings]
    tried = [np.zeros((d + 1, K)), np.zeros((d + 1, K))]
    for k, found in enumerate(verdicts):
        if found.w is not None:
            tried[1][: d + bias, k] = exact.numbers(found.w).near
    shards: list[list[ShardRule]] = []
    if any(found.kind != "separable" for found in verdicts):
        tried.append(_mixed(rows, settings, replace(plan, limits=replace(
            limits.part(0.2), epochs=plan.limits.epochs, updates=None))))  # fmt: skip
        turns = -(-rows.n_shards // sum(rows.cluster.client.nthreads().values()))
        left = limits.left()
        seconds = None if left is None else 0.8 * left / (K * turns)
        visit = Candidates(settings, options, limits.updates, seconds, plan.seed)
        by_number = rows.cluster.over(visit, Limits()).found
        shards = [by_number[number] for number in sorted(by_number)]
        best = [np.column_stack([rule.weights[0] for rule in own]) for own in shards]
        most = max(len(rule.weights) for own in shards for rule in own)
        full = [own for own in shards if min(len(rule.weights) for rule in own) == most]
        cheap = [[np.column_stack([rule.weights[kind] for rule in own]) for own in full]
                 for kind in range(most if full else 0)]  # fmt: skip
        tried += best + [np.mean(kind, axis=0) for kind in cheap]
    W = np.stack(tried, axis=1)
    W[:, ~np.isfinite(W).all(axis=(0, 2))] = 0.0
    v = np.append(np.zeros(d), 1.0) if bias else np.append(rng.normal(size=d), 0.0)
    seen = rows.cluster.over(Count(settings, W, v), Limits())
    at = (seen.wrong - np.maximum(seen.up, seen.down)).argmin(axis=0), np.arange(K)
    moved = W + v[:, None, None] * seen.steps()
    off = np.where(seen.up + seen.down > 0, moved, W)  # no rows are left on a hyperplane
    chosen = [moved[:, *at], off[:, *at], off[:, seen.together.argmin()]]
    if bias:  # of the rows on the hyperplane of w = 0, a bias gets its class right
        largest = np.arange(K) == seen.up[0].argmax()
        chosen.append(np.vstack([np.zeros((d, K)), np.where(largest, 1.0, -1.0)]))
    W = np.stack(chosen, axis=1)
    last = rows.cluster.over(Count(settings, W, v), Limits())
    taken = int(last.together.argmin())
    proofs = _proofs(rows, settings, verdicts, shards)
    updates = [sum(own[k].updates for own in shards) for k in range(K)]
    return [
        CountedRule(W[:, taken, k], int(last.wrong[taken, k]), updates[k], proofs[k])
        for k in range(K)
    ]


def _verdict(rows: Rows, setting: Setting, limits: Limits) -> Finding:
    found = find(rows.passes(setting), "kind", 1e-8, limits, None)
    if limits.interrupted:
        raise KeyboardInterrupt
    return found


def _mixed(rows: Rows, settings: tuple[Setting, ...], plan: Plan) -> Vector:
    """What some epochs of the perceptron lead to, for each setting."""
    labels, scheme = rows.labels, scheme_for(len(rows.labels), "ovr")
    run = rows.fit(plan, scheme, labels, settings[0].fit_intercept)
    if plan.limits.interrupted:
        raise KeyboardInterrupt
    of_rule = [labels.index(setting.positive) for setting in settings]
    return run.W if len(labels) == 2 else run.W[:, of_rule]


def _proofs(
    rows: Rows,
    settings: tuple[Setting, ...],
    verdicts: list[Finding],
    shards: list[list[ShardRule]],
) -> list[ErrorBound]:
    """The contradictions of all shards, and that of the verdict if it has no row of theirs.

    Without a bias the verdict's may have a row of zeros, which `predict` may have right.
    """
    proofs = []
    for k, (setting, sha256) in enumerate(zip(settings, rows.digests(settings), strict=True)):
        claims = [claim for own in shards for claim in own[k].claims]
        shares = [share for own in shards for share in own[k].shares]
        used = {row for claim in claims for row in claim.among or ()}
        more = verdicts[k].contradiction or verdicts[k].dependence
        others = more.among if more is not None and setting.fit_intercept else None
        if more is not None and others and used.isdisjoint(others):
            claims, shares, used = [*claims, more], [*shares, Fraction(1)], used | {*others}
        among = [claim.among or () for claim in claims]
        bound = add_up(among, shares, dict.fromkeys(used, Fraction(1)))
        data = rows.n, rows.d, setting.fit_intercept, setting.positive, setting.negative, sha256
        disjoint = all(share == 1 for share in shares)
        proofs.append(ErrorBound(bound, tuple(claims), *data, None if disjoint else tuple(shares)))
    return proofs


def _renumbered(claim: Dependence, first: int) -> Dependence:
    rows, among = (tuple(first + k for k in some or ()) for some in (claim.rows, claim.among))
    return replace(claim, rows=rows, among=among)
