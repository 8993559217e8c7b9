"""The loop for K classes at once: every row is read once and shown to K perceptrons."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.ledger import Ledger, annotate, grown, weight
from novikoff.core.margins import UNDERFLOW
from novikoff.core.readahead import AHEAD, publish
from novikoff.core.rows import Indices, Rows, Vector, axpy, dot_in_order, dots, fetch, sqnorm
from novikoff.core.updates import Update, reads_margin, tau, threshold

Codes: TypeAlias = npt.NDArray[np.int64]


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
    exact = reads_margin(update) or ledger.annotated
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
                if ledger.annotated:
                    annotate(ledger, c, t, rows, i, m, sign * step, W[:, c])
                if ledger.updates[c] >= ledger.limit:
                    ledger.active[c] = False
    return True
