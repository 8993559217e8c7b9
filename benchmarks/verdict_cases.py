"""What is measured of the verdict: one function per line of its table of targets.

Rows have length 1 and two classes apart by a margin (`verdict_data`). Both sides get the
same arrays; certificates are verified, and answers compared, outside of the timing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

import numpy as np
from threadpoolctl import threadpool_limits

import novikoff
from benchmarks.data import Labels
from benchmarks.fresh import in_new_process
from benchmarks.measure import Answers, Mine, Theirs, compare_answers, timed
from benchmarks.peers import CORES, Vector
from benchmarks.quality import NOT_ASKED, Quality
from benchmarks.scale import Scale
from benchmarks.table import Row, figure
from benchmarks.verdict_data import flipped, unit_rows
from benchmarks.verdict_peers import highs, libsvm, proved, same_gap, same_kind
from novikoff.geometry.separability import Goal, Verdict

_TOL = 1e-8
_PASSES = 20  # products X @ w that are timed together


def long(scale: Scale, repeats: int) -> list[Row]:
    """Many rows, few columns: kind, and margin to 1e-8, against whether at all by HiGHS."""
    n, p = scale.long
    return [_against_highs(n, p, k, 40.0, scale, repeats) for k in scale.long_flips]


def wide(scale: Scale, repeats: int) -> list[Row]:
    """The same with more columns.

    With flipped labels HiGHS's time hangs on the draw: it runs out of time on most, and
    ends within seconds on some. A time that ran out makes the ratio a lower bound.
    """
    n, p = scale.wide
    targets = [100.0 if k > 0 else 10.0 for k in scale.wide_flips]
    return [
        _against_highs(n, p, k, target, scale, repeats)
        for k, target in zip(scale.wide_flips, targets, strict=True)
    ]


def widest_gap(scale: Scale, repeats: int) -> list[Row]:
    """The hyperplane of the largest margin, the bias free, to 1e-6; LIBSVM's to 1e-3."""
    n, p = scale.widest_gap
    X, y = unit_rows(n, p, 1e-2)
    tol = 1e-6

    def ours() -> Verdict:
        verdict = novikoff.MaxMargin(tol=tol).fit(X, y).verdict_
        assert isinstance(verdict, Verdict)
        return verdict

    found = compare_answers(ours, libsvm(X, y), repeats, scale.patience)
    quality = same_gap(found.ours, found.peer, X, y, tol)
    return [_per_answer(f"max margin, {n} × {p}", "LIBSVM", found, 50.0, quality)]


def kind_only(scale: Scale, repeats: int) -> list[Row]:
    """Proof that a large set is separable, in units of one product ``X @ w`` on both cores."""
    n, p = scale.kind_only
    X, y = unit_rows(n, p, 0.02)
    w = np.ones(p)

    def read() -> None:
        for _ in range(_PASSES):
            X @ w

    with threadpool_limits(CORES, user_api="blas"):
        found = compare_answers(_ours(X, y, _TOL, "kind"), read, repeats, math.inf)
    passes = [_PASSES / ratio for ratio in found.times.ratios]
    quality = proved(found.ours, X, y, "separable")
    return [_with_times(figure(f"kind, {n} × {p} (passes)", passes, 60.0, quality), found)]


def growth(scale: Scale, repeats: int) -> list[Row]:
    """Time against the number of rows: the slope of the logarithms, one for each turn."""
    p = scale.long[1]
    rows = []
    for name, margin, share in (
        ("margin 1e-2", 1e-2, 0.0),
        ("margin 1e-3", 1e-3, 0.0),
        ("1 % flipped", 1e-3, 0.01),
    ):
        seconds, quality = _seconds_by_size(scale.growth, p, margin, share, repeats)
        slopes = [
            float(np.polyfit(np.log(scale.growth), np.log(turn), 1)[0])
            for turn in zip(*seconds, strict=True)
        ]
        row = figure(f"growth with n, {name} (slope)", slopes, 1.1, quality)
        details = {**row.details, "sizes": list(scale.growth), "seconds": seconds}
        rows.append(replace(row, details=details))
    return rows


def verdict_memory(scale: Scale, repeats: int) -> list[Row]:
    """Peak memory of a verdict beyond the data, as a share of it, and its time."""
    rows = []
    for kind in ("mushroom", "separable", "flipped"):
        size = map(str, scale.images)
        share, seconds = in_new_process("verdict", kind, *size)
        name = "mushroom" if kind == "mushroom" else f"{'{} × {}'.format(*scale.images)}, {kind}"
        rows.append(figure(f"memory beyond the data, {name}", [share], 0.3))
        rows.append(figure(f"verdict, {name} (s)", [seconds], None))
    return rows


VERDICT_CASES: dict[str, Callable[[Scale, int], list[Row]]] = {
    "verdict-long": long,
    "verdict-wide": wide,
    "verdict-widest-gap": widest_gap,
    "verdict-kind": kind_only,
    "verdict-growth": growth,
    "verdict-memory": verdict_memory,
}


def _ours(X: Vector, y: Labels, tol: float, goal: Goal = "margin") -> Callable[[], Verdict]:
    return lambda: novikoff.separate(X, y, tol=tol, goal=goal)


def _against_highs(n: int, p: int, flips: int, target: float, scale: Scale, repeats: int) -> Row:
    X, y = unit_rows(n, p, 1e-3)
    y = flipped(y, flips)
    peer = highs(X, y, scale.patience)
    found = compare_answers(_ours(X, y, _TOL), peer, repeats, scale.patience)
    quality = same_kind(found.ours, found.peer, X, y, _TOL)
    name = f"verdict, {n} × {p}" + (f", {flips} flipped" if flips > 0 else "")
    return _per_answer(name, "HiGHS", found, target, quality)


def _seconds_by_size(
    sizes: Sequence[int], p: int, margin: float, share: float, repeats: int
) -> tuple[list[list[float]], Quality]:
    """The seconds of a verdict for every size and turn, and whether all were proved."""
    seconds = []
    quality = NOT_ASKED
    for n in sizes:
        X, y = unit_rows(n, p, margin)
        y = flipped(y, round(share * n))
        ask = _ours(X, y, _TOL)
        found = proved(ask(), X, y, "inseparable" if share > 0.0 else "separable")
        quality = found if quality.same else quality
        seconds.append([timed(ask)[0] for _ in range(repeats)])
    return seconds, quality


def _per_answer(
    name: str, peer: str, found: Answers[Mine, Theirs], target: float, quality: Quality
) -> Row:
    low, ratio, high = found.times.quartiles()
    ours, theirs = statistics.median(found.times.ours), statistics.median(found.times.peer)
    return _with_times(Row(name, peer, ours, theirs, low, ratio, high, target, quality), found)


def _with_times(row: Row, found: Answers[Mine, Theirs]) -> Row:
    more = {
        "answers": asdict(found.times),
        "peer_runs": found.peer_runs,
        "compilation": found.compilation,
    }
    return replace(row, details={**row.details, **more})
