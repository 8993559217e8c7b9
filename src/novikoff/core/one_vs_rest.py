"""The loop for K classes at once: every row is read once and shown to K perceptrons.

`sweep_classes` is that loop. `sweep_screened` is the same for many classes: it takes a quick
look at all of them (`screen`), and goes on only with the few that the look does not clear. Both
make the same mistakes to the last bit. What they do about a mistake is written out twice:
as a function it would have the books' references counted at every call.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import uint64

from novikoff.core.lanes import LANES
from novikoff.core.ledger import Ledger, annotate, grown, weight
from novikoff.core.margins import UNDERFLOW
from novikoff.core.readahead import AHEAD, publish
from novikoff.core.rows import Indices, Rows, Vector, axpy, dot_in_order, dots, fetch, sqnorm
from novikoff.core.screen import Screen, allowance, ask_for, bar, glance, move
from novikoff.core.updates import Update, reads_margin, tau, threshold

Codes: TypeAlias = npt.NDArray[np.int64]

# How many rows before its turn a row's weights are asked for.
_SOON: Final = 2
_NONE, _ONE = uint64(0), uint64(1)


@njit(cache=True, nogil=True)
def sweep_classes(
    rows: Rows,
    codes: Codes,
    epoch: Indices,
    first: int,
    last: int,
    update: Update,
    W: Vector,
    ledger: Ledger,
) -> bool:
    """`sweep` for K problems, "class c against the rest"; False if a sum overflows.

    ``rows`` carry no sign of their own; row i counts as +1 for problem ``codes[i]`` and as
    −1 for all others. The weights lie [feature][class], so that one entry of a row meets
    all its weights on neighbouring addresses. Each problem runs exactly as it would alone.
    """
    delta = threshold(update)
    exact = reads_margin(update) or ledger.notes is not None
    products = np.empty(W.shape[1])
    for k in range(first, last):
        if k % 64 == 0:
            publish(ledger.progress, k)
        if ledger.far and k + AHEAD < last:
            fetch(rows, epoch[k + AHEAD])
        i = epoch[k]
        if weight(ledger.weights, i) == 0.0:
            continue
        dots(rows, i, W, products)
        for c in range(len(products)):
            if not ledger.active[c]:
                continue
            t = ledger.steps[c]
            ledger.steps[c] += 1
            sign = 1.0 if codes[i] == c else -1.0
            m = sign * products[c]
            doubt = ledger.rounding * ledger.norm[c] + UNDERFLOW
            if doubt < m - delta < np.inf:
                continue
            close = not doubt < abs(m - delta) < np.inf
            if close or (m <= delta and (exact or abs(m) <= doubt)):
                m = sign * dot_in_order(rows, i, W[:, c])
                if not abs(m) < np.inf:
                    return False
            if m <= delta:
                squared = sqnorm(rows, i) if reads_margin(update) else 0.0
                step = tau(update, m, squared) * weight(ledger.weights, i)
                axpy(sign * step, rows, i, W[:, c])
                ledger.updates[c] += 1
                ledger.mistakes[c] += m <= 0.0
                ledger.norm[c] = grown(ledger.norm[c], ledger.radius, step, m + doubt)
                if len(ledger.counts) > 0:
                    ledger.counts[i, c] += 1
                if ledger.notes is not None:
                    annotate(
                        ledger.notes, ledger.near.names, c, t, rows, i, m, sign * step, W[:, c]
                    )
                if ledger.updates[c] >= ledger.limit:
                    ledger.active[c] = False
    return True


@njit(cache=True, nogil=True)
def sweep_screened(
    rows: Rows,
    codes: Codes,
    epoch: Indices,
    first: int,
    last: int,
    update: Update,
    W: Vector,
    screen: Screen,
    ledger: Ledger,
) -> bool:
    """`sweep_classes`, with a look at the screen of W before the classes are gone through."""
    delta, K = threshold(update), W.shape[1]
    lines, rounding, tiny = screen.lines, screen.rounding, screen.tiny
    exact = reads_margin(update) or ledger.notes is not None
    bars = np.full((len(lines), LANES), np.inf, dtype=np.float32)
    doubts = np.empty(K)
    running = np.zeros(len(lines), dtype=np.uint64)  # a bit for each class
    for c in range(K):
        doubts[c] = allowance(rounding, tiny, ledger.radius, ledger.norm[c])
        bars[c // LANES, c % LANES] = bar(delta, doubts[c])
        if ledger.active[c]:
            running[c // LANES] |= _ONE << uint64(c % LANES)
    found = np.empty(LANES, dtype=np.float32)
    seen = 0  # rows, by every class that still runs
    for k in range(first, last):
        if k % 64 == 0:
            publish(ledger.progress, k)
        if ledger.far and k + AHEAD < last:
            fetch(rows, epoch[k + AHEAD])
        if screen.far and k + _SOON < last:
            ask_for(rows, epoch[k + _SOON], lines)
        i = epoch[k]
        if weight(ledger.weights, i) == 0.0:
            continue
        for block in range(len(lines)):
            unclear = glance(rows, i, block, lines, bars, found)
            own = codes[i] - block * LANES
            if 0 <= own < LANES:  # its margin has the other sign
                unclear &= ~(_ONE << uint64(own))
                if not -found[own] < bars[block, own]:
                    unclear |= _ONE << uint64(own)
            unclear &= running[block]
            lane = -1
            while unclear != _NONE:
                here = unclear & _ONE
                unclear >>= _ONE
                lane += 1
                if here == _NONE:
                    continue
                c = block * LANES + lane
                sign = 1.0 if lane == own else -1.0
                m: float = sign * np.float64(found[lane])
                doubt = doubts[c]
                if exact or not (delta - m > doubt and abs(m) > doubt):
                    m = sign * dot_in_order(rows, i, W[:, c])
                    doubt = ledger.rounding * ledger.norm[c] + UNDERFLOW
                    if not abs(m) < np.inf:
                        return False
                if m <= delta:
                    squared = sqnorm(rows, i) if reads_margin(update) else 0.0
                    step = tau(update, m, squared) * weight(ledger.weights, i)
                    move(sign * step, rows, i, W, c, lines)
                    ledger.updates[c] += 1
                    ledger.mistakes[c] += m <= 0.0
                    ledger.norm[c] = grown(ledger.norm[c], ledger.radius, step, m + doubt)
                    doubts[c] = allowance(rounding, tiny, ledger.radius, ledger.norm[c])
                    bars[block, lane] = bar(delta, doubts[c])
                    if len(ledger.counts) > 0:
                        ledger.counts[i, c] += 1
                    if ledger.notes is not None:
                        t = ledger.steps[c] + seen
                        annotate(
                            ledger.notes, ledger.near.names, c, t, rows, i, m, sign * step, W[:, c]
                        )
                    if ledger.updates[c] >= ledger.limit:
                        ledger.active[c] = False
                        ledger.steps[c] += seen + 1
                        running[block] &= ~(_ONE << uint64(lane))
        seen += 1
    for c in range(K):
        if ledger.active[c]:
            ledger.steps[c] += seen
    return True
