"""The weights of many classes in single precision: a quick look that is often enough.

Nearly always a row is on the right side of nearly all its hyperplanes, and far from them. To
see that, seven digits will do. A `Screen` keeps W rounded to float32, sixteen classes to a
cache line, so that one entry of a row meets sixteen weights in one read. `glance` names the
classes that it cannot vouch for; the loop asks W itself about those, and moves both together
by `move`.

With u = 2⁻²⁴ the sum that a glance takes of k terms is within (k + 3)·u·‖a_i‖‖w‖ of ⟨a_i, w⟩, to
first order: entry, weight and product are rounded once each, and k sums (Higham, Accuracy
and Stability of Numerical Algorithms, §3.1). `allowance` has twice that, for the higher orders
and its own rounding, and what underflow may add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy import float32, uint64

from novikoff.core.lanes import LANES, Singles, products
from novikoff.core.ledger import Ledger
from novikoff.core.memory import aligned_zeros, prefetch
from novikoff.core.problem import Problem
from novikoff.core.rows import Code, Csr, Dense, Rows, Vector

if TYPE_CHECKING:
    from numba.core.decorators import _JITOptions as JitOptions

# With fewer classes, or fewer entries in a row, the plain loop is as fast.
_FEWEST, _SHORTEST = 2, 16
# Sums of more terms than this could be off by more than `allowance` says.
_LONGEST = 1 << 20
# Beyond these, rows or weights come near the ends of float32.
_SMALLEST, _LARGEST = 1e-12, 1e12
# From `Problem.rounding`, 4(k + 4)·2⁻⁵³·R, to 2(k + 4)·2⁻²⁴·R.
_COARSER = 2.0**28
# Lines beyond this many bytes are asked for before they are needed.
_NEAR = 1 << 18
_LANES = uint64(LANES)  # Numba would turn the product of a word and a plain number to float


class Screen(NamedTuple):
    """W in float32, [block of sixteen classes][feature][class]."""

    lines: Singles
    rounding: float  # a glance is off by at most rounding·‖w‖, underflow aside
    tiny: float  # what underflow adds, times 1 + R + ‖w‖
    far: bool  # whether lines are asked for in advance


def screen_of(problem: Problem, W: Vector, delta: float) -> Screen | None:
    """A screen of W for the threshold δ, or None where it would be of no use."""
    p, K = W.shape
    fits = problem.longest < _LONGEST and _SMALLEST < problem.radius < _LARGEST
    pays = K >= _FEWEST and _entries(problem.rows) >= _SHORTEST * problem.n
    if not fits or not pays or not np.isfinite(delta):
        return None
    blocks = -(-K // LANES)
    lines = aligned_zeros((blocks, p * LANES // 2)).view(np.float32).reshape(blocks, p, LANES)
    with np.errstate(over="ignore"):
        for c in range(K):
            lines[c // LANES, :, c % LANES] = W[:, c]
    return Screen(
        lines,
        _COARSER * problem.rounding(),
        2.0**-149 * (problem.longest + 4),
        lines.nbytes > _NEAR,
    )


def in_range(ledger: Ledger) -> bool:
    """Whether the weights are of a size that float32 can tell apart."""
    largest = float(ledger.norm.max())
    return largest == 0.0 or _SMALLEST < largest < _LARGEST


@njit(cache=True, nogil=True, forceinline=True)
def allowance(rounding: float, tiny: float, radius: float, norm: float) -> float:
    """How far a glance may be from ⟨a_i, w⟩; infinite where float32 could overflow."""
    if radius < 1e30 and norm < 1e30 and radius * norm < 1e30:
        return rounding * norm + tiny * (1.0 + radius + norm)
    return np.inf


@njit(cache=True, nogil=True, forceinline=True)
def bar(delta: float, doubt: float) -> np.float32:
    """−(δ + doubt), rounded down: a sum below it is the negative of a margin above δ."""
    bound = -(delta + doubt)
    return float32(bound - abs(bound) * 2.0**-22 - 2.0**-148)


def glance(
    rows: Rows, i: int, block: int, lines: Singles, bars: Singles, out: Singles
) -> np.uint64:
    """``out[k]`` ≈ ⟨a_i, w⟩ for class k of a block; bit k is set unless out[k] < bars[block, k]."""
    raise TypeError("A glance is for kernels: outside of them there are no lanes.")


def move(step: float, rows: Rows, i: int, W: Vector, c: int, lines: Singles) -> None:
    """W[:, c] ← W[:, c] + step·a_i, exactly as `axpy` does it, and the same on the screen."""


def ask_for(rows: Rows, i: int, lines: Singles) -> None:
    """Ask for the lines that row i will meet soon."""


def _entries(rows: Rows) -> int:
    """How many entries are stored in all rows together."""
    return rows.X.size if isinstance(rows, Dense) else len(rows.data)


def _dense_glance(
    rows: Dense, i: int, block: int, lines: Singles, bars: Singles, out: Singles
) -> np.uint64:
    d = uint64(rows.X.shape[1])
    first = uint64(i) * d
    return products(rows.X, None, first, first + d, rows.bias, lines, uint64(block), bars, out)


def _csr_glance(
    rows: Csr, i: int, block: int, lines: Singles, bars: Singles, out: Singles
) -> np.uint64:
    first, last = uint64(rows.indptr[i]), uint64(rows.indptr[i + 1])
    return products(
        rows.data, rows.indices, first, last, rows.bias, lines, uint64(block), bars, out
    )


def _dense_move(step: float, rows: Dense, i: int, W: Vector, c: int, lines: Singles) -> None:
    block, k, at = uint64(c) // _LANES, uint64(c) % _LANES, uint64(c)
    d = uint64(rows.X.shape[1])
    signed = step * rows.signs[i]
    for j in range(d):
        W[j, at] += signed * rows.X[i, j]
        lines[block, j, k] = float32(W[j, at])
    W[d, at] += signed * rows.bias
    lines[block, d, k] = float32(W[d, at])


def _csr_move(step: float, rows: Csr, i: int, W: Vector, c: int, lines: Singles) -> None:
    block, k, at = uint64(c) // _LANES, uint64(c) % _LANES, uint64(c)
    signed = step * rows.signs[i]
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        j = rows.indices[e]
        W[j, at] += signed * rows.data[e]
        lines[block, j, k] = float32(W[j, at])
    W[rows.d, at] += signed * rows.bias
    lines[block, rows.d, k] = float32(W[rows.d, at])


def _dense_ask_for(rows: Dense, i: int, lines: Singles) -> None:
    pass  # every row meets all lines, from front to back


def _csr_ask_for(rows: Csr, i: int, lines: Singles) -> None:
    whole = uint64(lines.shape[1]) * _LANES
    for block in range(uint64(len(lines))):
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            prefetch(lines, int(block * whole + uint64(rows.indices[j]) * _LANES))


_INLINE: Final[JitOptions] = {"forceinline": True}


def _pick(rows: types.NamedTuple, dense: Code, csr: Code) -> Code:
    return dense if rows.instance_class is Dense else csr


@overload(glance, strict=False, jit_options=_INLINE)
def _glance(
    rows: types.NamedTuple,
    i: types.Type,
    block: types.Type,
    lines: types.Type,
    bars: types.Type,
    out: types.Type,
) -> Code:
    return _pick(rows, _dense_glance, _csr_glance)


@overload(move, strict=False, jit_options=_INLINE)
def _move(
    step: types.Type,
    rows: types.NamedTuple,
    i: types.Type,
    W: types.Type,
    c: types.Type,
    lines: types.Type,
) -> Code:
    return _pick(rows, _dense_move, _csr_move)


@overload(ask_for, strict=False, jit_options=_INLINE)
def _ask_for(rows: types.NamedTuple, i: types.Type, lines: types.Type) -> Code:
    return _pick(rows, _dense_ask_for, _csr_ask_for)
