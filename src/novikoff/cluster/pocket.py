"""The rule with the fewest mistakes that are found on a cluster, and a proved lower bound.

Each shard is searched for a rule and for contradictions among its rows, and this process searches a
sample of all rows. Then the mistakes of all rules are counted on all rows. Different shards have no
row in common, so the lower bounds that their contradictions prove can be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from novikoff.cluster.shards import Setting, Shard
from novikoff.cluster.tasks import ShardVisit
from novikoff.core.blas import one_blas_thread
from novikoff.core.pocket import compile_pocket_loop
from novikoff.core.problem import Problem, norms, scores
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.descent import whitening
from novikoff.geometry.fewest_mistakes import fewest_mistakes, renumbered
from novikoff.proofs import exact
from novikoff.proofs.dependence import Dependence
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.hitting import add_up

if TYPE_CHECKING:
    from novikoff.cluster.rows import ClusterRows
    from novikoff.core.class_labels import Label
    from novikoff.geometry.verdict import Verdict
    from novikoff.proofs.certificate import Certificate

# Rows are counted in blocks of about this many scores, and of at least this many rows.
_SCORES_PER_BLOCK, _MIN_ROWS_PER_BLOCK = 1 << 20, 64
# The sample has at most this many entries.
SHARD_SAMPLE_ENTRIES = 1 << 20
_EPSILON = float(np.finfo(np.float64).eps)
_SCORES_OUT_OF_RANGE = (
    "The scores of some rows are beyond the range or the precision of float64: scale the columns."
)


@dataclass(frozen=True)
class CountedRule:
    """A rule, its mistakes on all rows, and a proved lower bound for every rule."""

    w: Vector
    mistakes: int
    updates: int
    proof: ErrorBound

    @property
    def bound(self) -> Fraction:
        """A proved lower bound on the mistakes of every hyperplane."""
        return self.proof.bound

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no hyperplane makes fewer mistakes."""
        return self.mistakes <= self.bound

    @property
    def wrong(self) -> None:
        """The rows that the rule misclassifies are not listed on a cluster."""
        return

    @property
    def history(self) -> list[tuple[int, float]]:
        """A list with one entry: the updates of all shards, and the mistakes after them."""
        return [(self.updates, float(self.mistakes))]


def find_counted_rules(
    rows: ClusterRows,
    settings: tuple[Setting, ...],
    limits: Limits,
    seed: int,
    options: dict[str, Any],
    verdicts: Sequence[Verdict] = (),
) -> list[CountedRule]:
    """Find the best rule for each setting; several settings stand for classes against the rest.

    1. Find the verdicts that are not given. Each has a w or a contradiction.
    2. If not all settings are separable, find rules and contradictions in a sample of all rows and
       in each shard.
    3. Count the mistakes of all these rules on all rows, and move each rule away from the rows that
    lie on its hyperplane. Count again for the best rule of each setting, the rules that are best
    together, and the constant rules that predict the most frequent class.
    4. Add up the lower bounds that the contradictions of all shards prove.
    """
    rng, n_settings = np.random.default_rng(seed), len(settings)
    if not verdicts:
        verdicts = [_kind_verdict(rows, own, limits.part(0.2 / n_settings)) for own in settings]
    parts: list[list[ShardRule]] = []  # for each setting: from the sample, then from each shard
    if any(verdict.kind != "separable" for verdict in verdicts):
        visit = ShardSearch(
            settings, options, limits.updates, limits.part(0.3 / n_settings).seconds, seed
        )
        parts.append(visit.among(*_sampled(rows, settings, rng)))
        turns = -(-rows.n_shards // sum(rows.cluster.client.nthreads().values()))
        visit = replace(visit, seconds=limits.part(0.8 / (n_settings * turns)).seconds)
        by_shard = rows.cluster.over(visit, Limits()).rules
        parts += [by_shard[number] for number in sorted(by_shard)]
    W = _best_rules(rows, settings, _candidates(rows.d, settings, verdicts, parts), rng)
    mistakes = _misclassified(rows, settings, W)
    digests = _digests(rows, settings, verdicts)
    rules = []
    for k, setting in enumerate(settings):
        shard_rules = [part[k] for part in parts]
        proof = _joint_bound(rows, setting, digests[k], verdicts[k].certificate, shard_rules)
        updates = sum(own.updates for own in shard_rules)
        if mistakes[k] < proof.bound:
            raise ValueError(_SCORES_OUT_OF_RANGE)
        rules.append(CountedRule(W[:, k], int(mistakes[k]), updates, proof))
    return rules


def _kind_verdict(rows: ClusterRows, setting: Setting, limits: Limits) -> Verdict:
    verdict = rows.decide(setting, "kind", 1e-8, limits, None)
    limits.raise_if_interrupted()
    return verdict


def _sampled(
    rows: ClusterRows, settings: tuple[Setting, ...], rng: np.random.Generator
) -> tuple[list[Problem], Indices]:
    """A random sample of the rows with the signs of each setting, and the numbers of its rows."""
    size = min(rows.n, max(1, SHARD_SAMPLE_ENTRIES // (rows.d + 1)))
    numbers = np.sort(rng.choice(rows.n, size=size, replace=False))
    samples = [rows.passes(setting, Limits()).subset(numbers) for setting in settings]
    return [passes.problem for passes in samples], numbers


def _candidates(
    d: int,
    settings: tuple[Setting, ...],
    verdicts: Sequence[Verdict],
    parts: list[list[ShardRule]],
) -> Vector:
    """The candidates W[:, c, k] for each setting k; of equally good candidates, the first wins.

    The candidates are the constant rule, the w of the verdict, the rules of the sample and of the
    shards, the mean of the rules of the shards, and the quickly computed rules of the sample, whose
    scores have a common scale.
    """
    constant, decided = np.zeros((2, d + 1, len(settings)))
    for k, (setting, verdict) in enumerate(zip(settings, verdicts, strict=True)):
        proof = verdict.certificate
        if proof is not None and proof.w is not None:
            w = exact.numbers(proof.w).near
            decided[: len(w), k] = w if proof.positive == setting.positive else -w
    weights = [np.column_stack([own.w for own in part]) for part in parts]
    tried = [constant, decided, *weights]
    if parts:
        tried.append(np.mean(weights[1:], axis=0))
        tried += map(np.column_stack, zip(*(own.cheap for own in parts[0]), strict=False))
    W = np.stack(tried, axis=1)
    W[:, ~np.isfinite(W).all(axis=(0, 2))] = 0.0
    return W


def _best_rules(
    rows: ClusterRows, settings: tuple[Setting, ...], W: Vector, rng: np.random.Generator
) -> Vector:
    """The best rule of each setting, after candidates are moved away from rows on their planes."""
    d, n_settings, bias = rows.d, len(settings), settings[0].fit_intercept
    v = np.append(np.zeros(d), 1.0) if bias else np.append(rng.normal(size=d), 0.0)
    counted = rows.cluster.over(MistakeCount(settings, W, v), Limits())
    moved = W + v[:, None, None] * counted.steps()
    best_alone = (counted.wrong - np.maximum(counted.up, counted.down)).argmin(axis=0)
    chosen = [moved[:, best_alone, np.arange(n_settings)], moved[:, counted.together.argmin()]]
    if bias:  # a constant rule classifies the rows of its own class correctly
        largest = np.arange(n_settings) == counted.up[0].argmax()
        chosen.append(np.vstack([np.zeros((d, n_settings)), np.where(largest, 1.0, -1.0)]))
    W = np.stack(chosen, axis=1)
    counted = rows.cluster.over(MistakeCount(settings, W, v), Limits())
    return np.asarray(W[:, int(counted.together.argmin())])


def _misclassified(rows: ClusterRows, settings: tuple[Setting, ...], W: Vector) -> Indices:
    """The number of rows that `predict` misclassifies with each rule."""
    visit = rows.cluster.over(Misclassified(settings, W), Limits())
    if visit.overflow:
        raise ValueError(_SCORES_OUT_OF_RANGE)
    return visit.wrong


def _digests(
    rows: ClusterRows, settings: tuple[Setting, ...], verdicts: Sequence[Verdict]
) -> list[str]:
    """The digests of the rows with the signs of each setting, from the verdicts if possible."""
    known = []
    for setting, verdict in zip(settings, verdicts, strict=True):
        proof = verdict.certificate
        if proof is None or proof.positive != setting.positive:
            return rows.digests(settings)
        known.append(proof.sha256)
    return known


def _joint_bound(
    rows: ClusterRows,
    setting: Setting,
    sha256: str,
    verdict: Certificate | None,
    rules: list[ShardRule],
) -> ErrorBound:
    """The lower bound from the contradictions of all shards, or of the sample if that is larger.

    The first entry of ``rules`` is the result of the sample. The contradiction of the verdict is
    added if it shares no row with the others. Without a bias it is not added, because it may
    contain a row of zeros, which `predict` may classify correctly.
    """
    taken = max(rules[1:], rules[:1], key=lambda some: sum(sum(own.shares) for own in some))
    claims = [claim for own in taken for claim in own.claims]
    shares = [share for own in taken for share in own.shares]
    used = {row for claim in claims for row in claim.among or ()}
    contradiction = None if verdict is None else verdict.contradiction or verdict.dependence
    others = contradiction.among if contradiction is not None and setting.fit_intercept else None
    if contradiction is not None and others and used.isdisjoint(others):
        claims, shares, used = [*claims, contradiction], [*shares, Fraction(1)], used | {*others}
    among = [claim.among or () for claim in claims]
    return ErrorBound(
        bound=add_up(among, shares, dict.fromkeys(used, Fraction(1))),
        contradictions=tuple(claims),
        n=rows.n,
        d=rows.d,
        fit_intercept=setting.fit_intercept,
        positive=setting.positive,
        negative=setting.negative,
        sha256=sha256,
        shares=None if all(share == 1 for share in shares) else tuple(shares),
    )


class ShardRule(NamedTuple):
    """A rule and contradictions for one setting, found among rows whose numbers are stored."""

    w: Vector
    cheap: tuple[Vector, ...]
    claims: list[Dependence]
    shares: list[Fraction]
    updates: int


@dataclass
class ShardSearch(ShardVisit):
    """The search of every shard for each setting; ``seconds`` is the limit for one setting."""

    settings: tuple[Setting, ...]
    options: dict[str, Any]
    updates: int | None
    seconds: float | None
    seed: int
    rules: dict[int, list[ShardRule]] = field(init=False, default_factory=dict)  # by shard

    def look_at_shard(self, shard: Shard) -> None:
        """Search among the rows of a shard."""
        rows = shard.rows(self.settings[0].fit_intercept)
        parts = [shard.part(setting) for setting in self.settings]
        problems = [rows.with_signs(part.signs) for part in parts]
        self.rules[shard.number] = self.among(problems, parts[0].numbers)

    def among(self, problems: list[Problem], numbers: Indices) -> list[ShardRule]:
        """Search among rows with the signs of each setting, as in memory."""
        compile_pocket_loop(problems[0])
        seed, rules = [self.seed, int(numbers[0])], []
        basis = cache(lambda: whitening(problems[0], np.random.default_rng(seed)))
        for setting, problem in zip(self.settings, problems, strict=True):
            limits = Limits(updates=self.updates, seconds=self.seconds)
            best = fewest_mistakes(
                problem,
                limits=limits,
                rng=np.random.default_rng(seed),
                sides=(cast("Label", setting.positive), setting.negative),
                basis=basis,
                **self.options,
            )
            limits.raise_if_interrupted()
            claims = [renumbered(claim, numbers) for claim in best.claims]
            shares = [Fraction(1)] * len(claims) if best.shares is None else [*best.shares]
            rules.append(ShardRule(best.w, best.cheap, claims, shares, best.updates))
        return rules

    def merge(self, other: ShardSearch) -> None:
        """Join the results of both."""
        self.rules |= other.rules


@dataclass
class MistakeCount(ShardVisit):
    """A visit that counts the mistakes of the candidates W[:, c, k] for each setting k.

    ``together`` counts the mistakes of all settings as one classifier. A row counts as a mistake if
    it is so close to the hyperplane that rounding decides its side. A step w + t·v with t > 0
    classifies ``up`` of these rows correctly, and a step with t < 0 classifies ``down`` of them
    correctly. No other row changes its side while ``low`` < t < ``high``.
    """

    settings: tuple[Setting, ...]
    W: Vector  # (p, C, K)
    v: Vector
    wrong: Indices = field(init=False)  # (C, K), like the next four fields
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
        """Count the mistakes block by block."""
        signs = np.column_stack([shard.part(setting).signs for setting in self.settings])
        rows, flat = shard.rows(self.settings[0].fit_intercept), self.W.reshape(len(self.W), -1)
        shape = self.W.shape[1:]
        lengths = norms(rows)
        counted = (signs > 0) | (lengths > 0.0)[:, None]  # `predict` calls a row of zeros negative
        largest = np.abs(self.W).max(axis=0)
        sizes = largest * np.linalg.norm(self.W / np.where(largest > 0.0, largest, 1.0), axis=0)
        doubt = 2.0 * rows.p * _EPSILON * sizes * rows.unit
        size = max(_MIN_ROWS_PER_BLOCK, _SCORES_PER_BLOCK // flat.shape[1])
        with one_blas_thread():
            for first in range(0, rows.n, size):
                block_rows = slice(first, first + size)
                f = scores(rows.X[block_rows], flat).reshape(-1, *shape)
                step = (scores(rows.X[block_rows], self.v[:, None]) * signs[block_rows])[:, None]
                near = ~(np.abs(f) > doubt * lengths[block_rows, None, None])
                at = np.flatnonzero(near.any(axis=(1, 2)))
                if len(at) > 0:  # if columns differ in size, Σ|w_j·x_j| is far below ‖w‖·‖x‖
                    block: Any = rows.X[block_rows][at]
                    terms = scores(abs(block), np.abs(flat)).reshape(-1, *shape)
                    near[at] = ~(np.abs(f[at]) > 2.0 * rows.p * _EPSILON * terms)
                self._count(f, near, signs[block_rows], step, counted[block_rows, None])

    def _count(self, f: Vector, near: Any, signs: Any, step: Vector, counted: Any) -> None:
        """Count some rows, from the scores f (rows × C × K) and the change of y·f along v."""
        s = f * signs[:, None]
        wrong = ((near | ~(s > 0.0)) & counted).sum(axis=0)
        self.wrong = self.wrong + wrong
        self.up = self.up + (near & (step > 0.0)).sum(axis=0)
        self.down = self.down + (near & (step < 0.0)).sum(axis=0)
        t = np.where(near, np.nan, -s / step)  # the t at which a row reaches the hyperplane
        self.low = np.maximum(self.low, np.where(t < 0.0, t, -np.inf).max(axis=0))
        self.high = np.minimum(self.high, np.where(t > 0.0, t, np.inf).min(axis=0))
        missed = wrong[:, 0]
        if len(self.settings) > 1:  # the largest score wins
            missed = (f.argmax(axis=2) != signs.argmax(axis=1)[:, None]).sum(axis=0)
        self.together = self.together + missed

    def merge(self, other: MistakeCount) -> None:
        """Add the counts and keep the narrower interval."""
        self.wrong, self.together = self.wrong + other.wrong, self.together + other.together
        self.up, self.down = self.up + other.up, self.down + other.down
        self.low, self.high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)

    def steps(self) -> Vector:
        """The step along v that moves w off the rows on its plane, to the better side, or 0."""
        right = np.where(np.isfinite(self.high), self.high / 2.0, 1.0)
        down_step = np.where(np.isfinite(self.low), self.low / 2.0, -1.0)
        t = np.where(self.up >= self.down, right, down_step)
        return np.where(self.up + self.down == 0, 0.0, t)


@dataclass
class Misclassified(ShardVisit):
    """A visit that counts the rows that `predict` misclassifies with each rule W[:, k]."""

    settings: tuple[Setting, ...]
    W: Vector  # (p, K)
    wrong: Indices = field(init=False)  # (K,)
    overflow: bool = field(init=False, default=False)  # whether a score is not finite

    def __post_init__(self) -> None:
        self.wrong = np.zeros(self.W.shape[1], dtype=np.int64)

    def look_at_shard(self, shard: Shard) -> None:
        """Count the rows on the wrong side; f(x) = 0 is the negative class."""
        signs = np.column_stack([shard.part(setting).signs for setting in self.settings])
        f = scores(shard.rows(self.settings[0].fit_intercept).X, self.W)
        self.wrong = self.wrong + ((f > 0.0) != (signs > 0)).sum(axis=0)
        self.overflow = self.overflow or not bool(np.isfinite(f).all())

    def merge(self, other: Misclassified) -> None:
        """Add the counts."""
        self.wrong, self.overflow = self.wrong + other.wrong, self.overflow or other.overflow
