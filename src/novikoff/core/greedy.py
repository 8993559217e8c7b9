"""The maximal rules: look at all margins before every step and take the worst (A4).

All margins are kept up to date: a move of τ along a_i changes ⟨a_j, w⟩ by τ·⟨a_j, a_i⟩. So
an update costs the Gram row of i, n·d the first time and n from then on, while memory
lasts. The margins are summed afresh before rounding can add up, and again before a run is
called clean; the margin on which an update rests is always its own sum, left to right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from novikoff.core.ledger import (
    ENTRIES_PER_CALL,
    Ledger,
    Run,
    annotate,
    check_range,
    grown,
    open_ledger,
    weight,
)
from novikoff.core.memory import aligned_zeros
from novikoff.core.orders import Greedy, MaxDistance
from novikoff.core.problem import Problem, relative_norms
from novikoff.core.rows import Indices, Rows, Vector, axpy, dot_in_order, sqnorm
from novikoff.core.stops import Limits, Stop
from novikoff.core.trace import Recorder
from novikoff.core.updates import Update, tau, threshold

# Memory for Gram rows, and how many updates may pass between two fresh sums.
_GRAM_BYTES = 256 << 20
_REFRESH_EVERY = 1000

_GO_ON, _NO_MISTAKE_SEEN, _OVERFLOW = 0, 1, 2


class Board(NamedTuple):
    """All margins, by position in the deck, and the Gram rows kept so far."""

    margins: Vector
    scale: Vector  # what a violation is divided by: ‖a_i‖ in some unit, or 1
    unit: float
    gram: Vector  # (slots, n): ⟨a_j, a_k⟩/unit
    slot: Indices  # which slot holds the Gram row of a position, or −1
    holder: Indices  # which position a slot belongs to, or −1
    turn: Indices  # (1,) the slot to fill next


def climb_until(
    problem: Problem,
    update: Update,
    order: Greedy,
    limits: Limits,
    *,
    start: Vector | None = None,
    deck: Indices | None = None,
    weights: Vector | None = None,
    average: bool = False,
    recorder: Recorder | None = None,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """Act on the worst row until none is a mistake or a limit is reached.

    The parameters are those of `novikoff.core.sweep.run`; an epoch is n updates here.
    """
    deck = np.arange(problem.n) if deck is None else deck
    n = len(deck)
    limit = limits.most_updates()
    if limits.epochs is not None:
        limit = min(limit, limits.epochs * n)
    W = aligned_zeros((problem.p, 1))
    if start is not None:
        W[:] = start
    tape = None if recorder is None else recorder.tape
    ledger = open_ledger(problem, W, weights, True, average, tape, limit)
    state = Run(W, ledger, np.ones(1, dtype=np.int64), [None])
    board = _set_up(problem, deck, order)
    burst = max(1, min(_REFRESH_EVERY, ENTRIES_PER_CALL // (n * problem.longest)))
    since_fresh = _REFRESH_EVERY
    if limit <= 0:
        state.end(0, Stop.UPDATES)
    try:
        while ledger.active[0]:
            if since_fresh >= _REFRESH_EVERY:
                _sum_afresh(problem.rows, deck, W[:, 0], board)
                since_fresh = 0
            before = int(ledger.updates[0])
            count = min(burst, n - before % n)
            status = _climb(problem.rows, deck, update, W[:, 0], ledger, board, count)
            total = int(ledger.updates[0])
            if recorder is not None:
                recorder.take()
            check_range(status != _OVERFLOW, ledger, W, problem.longest)
            if status == _NO_MISTAKE_SEEN and total == before and since_fresh == 0:
                state.end(0, Stop.CLEAN)
            since_fresh = since_fresh + total - before if status == _GO_ON else _REFRESH_EVERY
            state.epochs[0] = max(1, -(-total // n))
            if total >= limit:
                state.end(0, Stop.UPDATES if total == limits.updates else Stop.EPOCHS)
            if total // n > before // n and after_epoch is not None and after_epoch(state):
                state.end(0, Stop.CALLBACK)
            if (reached := limits.reached()) is not None:
                state.end(0, reached)
    except KeyboardInterrupt:
        limits.interrupted = True
        state.end(0, Stop.INTERRUPTED)
    if recorder is not None:
        state.trace = recorder.trace()
    return state


def _set_up(problem: Problem, deck: Indices, order: Greedy) -> Board:
    n = len(deck)
    scale = np.ones(n)
    if isinstance(order, MaxDistance):
        scale = relative_norms(problem)[deck]
    slots = max(1, min(n, _GRAM_BYTES // (8 * n)))
    return Board(
        np.empty(n),
        scale,
        problem.unit,
        np.empty((slots, n)),
        np.full(n, -1, dtype=np.int64),
        np.full(slots, -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _sum_afresh(rows: Rows, deck: Indices, w: Vector, board: Board) -> None:
    """All margins, summed from left to right: ties fall alike in every storage."""
    for k in range(len(deck)):
        board.margins[k] = dot_in_order(rows, deck[k], w)


@njit(cache=True, nogil=True)
def _climb(
    rows: Rows, deck: Indices, update: Update, w: Vector, ledger: Ledger, board: Board, burst: int
) -> int:
    """Up to ``burst`` updates, each on the worst row."""
    delta = threshold(update)
    for _ in range(burst):
        k = _worst(deck, ledger.weights, board, delta)
        if k < 0:
            return _NO_MISTAKE_SEEN
        i = deck[k]
        m = dot_in_order(rows, i, w)
        if not abs(m) < np.inf:
            return _OVERFLOW
        if m <= delta:
            step = tau(update, m, sqnorm(rows, i)) * weight(ledger.weights, i)
            axpy(step, rows, i, w)
            gram = board.gram[_gram_row(rows, deck, k, board, len(w))]
            for j in range(len(deck)):
                board.margins[j] += step * board.unit * gram[j]
            t = ledger.steps[0]
            ledger.steps[0] += 1
            ledger.updates[0] += 1
            ledger.mistakes[0] += m <= 0.0
            ledger.norm[0] = grown(ledger.norm[0], ledger.radius, step, m)
            ledger.counts[i, 0] += 1
            if ledger.notes is not None:
                annotate(ledger.notes, ledger.near.names, 0, t, rows, i, m, step, w)
            if ledger.updates[0] >= ledger.limit:
                return _GO_ON
        else:
            return _NO_MISTAKE_SEEN
    return _GO_ON


@njit(cache=True, nogil=True)
def _worst(deck: Indices, weights: Vector, board: Board, delta: float) -> int:
    """The position with the largest violation, the first of equals, or −1 if there is none.

    A margin that has left float64 comes first: it must be looked at. A zero row, which no w
    satisfies, comes last.
    """
    worst, at, zero_row = np.inf, -1, -1
    shift = delta if delta < np.inf else 0.0
    for k in range(len(deck)):
        m = board.margins[k]
        if weight(weights, deck[k]) == 0.0:
            continue
        if not abs(m) < np.inf:
            return k
        if m <= delta:
            if board.scale[k] == 0.0:
                zero_row = k if zero_row < 0 else zero_row
            elif (m - shift) / board.scale[k] < worst:
                worst, at = (m - shift) / board.scale[k], k
    return at if at >= 0 else zero_row


@njit(cache=True, nogil=True)
def _gram_row(rows: Rows, deck: Indices, k: int, board: Board, p: int) -> int:
    """The slot that holds the Gram row of k, filled if need be."""
    if board.slot[k] < 0:
        slot = board.turn[0]
        board.turn[0] = (slot + 1) % len(board.holder)
        if board.holder[slot] >= 0:
            board.slot[board.holder[slot]] = -1
        board.holder[slot] = k
        board.slot[k] = slot
        row = np.zeros(p)
        axpy(1.0 / board.unit, rows, deck[k], row)
        for j in range(len(deck)):
            board.gram[slot, j] = dot_in_order(rows, deck[j], row)
    return int(board.slot[k])
