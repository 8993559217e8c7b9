"""The kernel of a stream: each row is predicted, then learned, by all rules at once (A5)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import int64, uint64

from novikoff.core.rows import Indices, Vector


class Rows(NamedTuple):
    """Rows as in a CSR matrix; with ``dense``, all of them have the columns ``indices``."""

    indptr: Indices
    indices: npt.NDArray[np.uint32]
    values: Vector
    dense: bool


class State(NamedTuple):
    """The rules, and how they change."""

    W: Vector
    lazy: Vector
    tally: Indices
    sides: npt.NDArray[np.int8]
    pairs: Indices  # the classes of each rule, for one-vs-one
    steps: Vector  # of each class
    margin: float
    bias: float


class Record(NamedTuple):
    """What is counted: rows, mistakes, those in the window, and how far w may have drifted."""

    window: npt.NDArray[np.uint8]
    counts: Indices
    drift: Vector


@njit(cache=True, nogil=True)
def advance(
    rows: Rows,
    codes: Indices,
    state: State,
    record: Record,
    first: int,
    last: int,
    novel: bool,
    scores: Vector,
    votes: Vector,
) -> int:
    """Predict, then learn, each row; the first that cannot be, nothing of which is learned."""
    indptr, indices, values, dense = rows
    W, lazy, tally, sides, pairs, steps, margin, bias = state
    window, counts, drift = record
    bottom, n_rules = len(W) - 1, W.shape[1]
    for i in range(first, last):
        begin, end, code = uint64(indptr[i]), uint64(indptr[i + 1]), codes[i - first]
        shift = begin if dense else uint64(0)
        for c in range(n_rules):
            scores[c] = 0.0
        for j in range(begin, end):
            for c in range(n_rules):
                scores[c] += values[j] * W[indices[j - shift], c]
        for c in range(n_rules):
            scores[c] += W[bottom, c]
            if not abs(scores[c]) < math.inf:
                return i
            tau = steps[code] * sides[code, c]
            if tau != 0.0 and sides[code, c] * scores[c] <= margin:
                for j in range(begin, end):
                    if not abs(W[indices[j - shift], c] + tau * values[j]) < math.inf:
                        return i
                    if len(lazy) > 0:
                        late = tally[0, c] * tau * values[j]
                        if not abs(lazy[indices[j - shift], c] + late) < math.inf:
                            return i
                if not abs(W[bottom, c] + tau * bias) < math.inf:
                    return i
                late = tally[0, c] * tau * bias
                if len(lazy) > 0 and not abs(lazy[bottom, c] + late) < math.inf:
                    return i
        mistake = novel or _mistaken(scores, code, sides, pairs, votes)
        novel = False
        at = counts[0] % len(window)
        counts[0] += 1
        counts[1] += mistake
        counts[2] += int64(mistake) - int64(window[at])
        window[at] = mistake
        for c in range(n_rules):
            if sides[code, c] == 0 or steps[code] == 0.0:  # a weight of 0: no part in it
                continue
            m = sides[code, c] * scores[c]
            t = tally[0, c]
            tally[0, c] += 1
            if m > margin:
                continue
            tally[1, c] += 1
            tally[2, c] += m <= 0.0
            tau = steps[code] * sides[code, c]
            rounded = 0.0
            for j in range(begin, end):
                column = indices[j - shift]
                W[column, c] += tau * values[j]
                rounded += abs(W[column, c]) + abs(tau * values[j])
            W[bottom, c] += tau * bias
            if c == 0:  # how far the weights may have drifted from the exact sum of the rows
                drift[0] += rounded + abs(W[bottom, 0]) + abs(tau * bias)
            if len(lazy) > 0:
                for j in range(begin, end):
                    lazy[indices[j - shift], c] += t * tau * values[j]
                lazy[bottom, c] += t * tau * bias
    return last


@njit(cache=True, nogil=True)
def _mistaken(
    scores: Vector, code: int, sides: npt.NDArray[np.int8], pairs: Indices, votes: Vector
) -> bool:
    """Whether another class has a score as high: the scheme does not choose this one alone."""
    if len(scores) == 1:
        return bool(sides[code, 0] * scores[0] <= 0.0)
    if len(pairs) == 0:
        rivals = 0
        for c in range(len(scores)):
            rivals += c != code and scores[c] >= scores[code]
        return rivals > 0
    for k in range(votes.shape[1]):
        votes[0, k] = votes[1, k] = 0.0
    for c in range(len(scores)):
        lower, upper = pairs[c, 0], pairs[c, 1]
        votes[0, upper if scores[c] > 0.0 else lower] += 1.0
        votes[1, upper] += scores[c]
        votes[1, lower] -= scores[c]
    for k in range(votes.shape[1]):
        level = votes[0, k] == votes[0, code] and votes[1, k] >= votes[1, code]
        if k != code and (votes[0, k] > votes[0, code] or level):
            return True
    return False
