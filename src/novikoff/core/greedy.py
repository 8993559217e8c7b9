"""The maximal rules: look at all margins before every step and take the worst row (A4).

    i = argmin of (⟨a_i, w⟩ − δ)/‖a_i‖, or of ⟨a_i, w⟩ − δ
    w ← w + τ·a_i

A step costs a pass over the rows, an epoch is n updates, and there is no clean cycle to wait for:
the run is clean as soon as the worst row is no mistake.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from novikoff.core.counts import Counts, Tape, record
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dot, sqnorm


@njit(cache=True, nogil=True)
def climb(
    rows: Rows, deck: Indices, lengths: Vector, steps: int, update: Update, weights: Vector,
    w: Vector, counts: Counts, tape: Tape,
) -> bool:  # fmt: skip
    """Act on the worst row of the deck, ``steps`` times; True once no row is a mistake.

    Among equals the first row is the worst. A row of length 0, which no w satisfies, comes last.
    """
    shift = update.threshold if update.threshold < np.inf else 0.0
    for _ in range(steps):
        i, m, least = -1, 0.0, np.inf
        for k in deck:
            margin = dot(rows, k, w)
            counts.beyond[0] += margin - margin
            if not margin > update.threshold:
                violation = (margin - shift) / lengths[k] if lengths[k] > 0.0 else np.inf
                if i < 0 or violation < least:
                    i, m, least = k, margin, violation
        if i < 0:
            return True
        squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
        step = tau(update, m, squared)
        if len(weights) > 0:
            step *= weights[i]
        axpy(step, rows, i, w)
        if len(counts.weighted) > 0:
            axpy(counts.totals[0] * step, rows, i, counts.weighted)
        if len(tape.entries) > 0:
            record(tape, counts.totals[0], i, m, step, w)
        counts.per_row[i] += 1
        counts.totals[0] += 1
        counts.totals[1] += 1
        counts.totals[2] += m <= 0.0
    return False
