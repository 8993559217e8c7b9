"""Kernel functions K(x, z) by name, or as functions like scikit-learn's pairwise kernels.

Kernel values are computed by NumPy and SciPy as products of matrices; nothing is compiled.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Matrix, Vector, as_dense, stored_numbers

Function: TypeAlias = Callable[[Any, Any], Any]
KERNEL_NAMES = ("linear", "poly", "rbf")
# A setting of a kernel is a number with this least value, or one of these names.
KERNEL_SETTINGS = {"kernel": KERNEL_NAMES, "gamma": 0.0, "degree": 1, "coef0": 0.0}
BLOCK = 1 << 21  # the number of kernel values that are computed at the same time
# If γ·(‖x‖² + ‖z‖²) is above this number, ‖x − z‖² is computed from x − z, not from ⟨x, z⟩.
CANCELS = 2.0**16


@dataclass(frozen=True)
class Kernel:
    """A kernel: ⟨x, z⟩, (γ·⟨x, z⟩ + c)^degree, exp(−γ·‖x − z‖²) or a function; plus a bias.

    Examples
    --------
    >>> Kernel("rbf", gamma=0.5).gram(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3).tolist()
    [[1.0], [0.135]]
    """

    form: str | Function
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    bias: float = 0.0

    def gram(self, X: Matrix, Z: Matrix, squares: Vector | None = None) -> Vector:
        """Compute K(x_i, z_j) for all rows of X and Z; ``squares`` has the ‖x_i‖² if known."""
        X, Z = (part.astype(np.float64, copy=False) for part in (X, Z))
        if 0 in (X.shape[0], Z.shape[0]):  # a kernel function may reject empty matrices
            return np.zeros((X.shape[0], Z.shape[0]))
        with np.errstate(all="ignore"):
            if not isinstance(self.form, str):
                gram = np.array(self.form(_writeable(X), _writeable(Z)), dtype=np.float64)
                if gram.shape != (X.shape[0], Z.shape[0]):
                    raise ValueError(
                        f"The kernel function returned an array of shape {gram.shape} for "
                        f"matrices of {X.shape[0]} and {Z.shape[0]} rows."
                    )
            else:
                scale = {"poly": self.gamma, "rbf": 2.0 * self.gamma}.get(self.form)
                with one_blas_thread():
                    product = X @ (Z if scale is None else Z * scale).T
                gram = as_dense(product)
            if self.form == "poly":
                gram = (gram + self.coef0) ** self.degree
            elif self.form == "rbf":  # −γ·‖x − z‖² = 2γ·⟨x, z⟩ − γ·‖x‖² − γ·‖z‖²
                squares = squared_norms(X) if squares is None else squares
                gram -= self.gamma * squares[:, None]
                others = squared_norms(Z)
                gram -= self.gamma * others
                if self.gamma * (squares.max() + others.max()) > CANCELS:
                    self._subtract_first(gram, X, Z, self.gamma * (squares[:, None] + others))
                np.minimum(gram, 0.0, out=gram)
                np.exp(gram, out=gram)
            if self.bias:
                gram += self.bias
            total = gram.sum()  # not finite if one value is not finite
        if not np.isfinite(total) and not np.isfinite(gram).all():
            i, j = np.argwhere(~np.isfinite(gram))[0]
            raise ValueError(
                f"The kernel of two rows is {gram[i, j]}, but must be finite (rows {i} and {j} of "
                "the two matrices that were compared): scale the data down, or correct the kernel "
                "function."
            )
        return gram

    def _subtract_first(self, exponents: Vector, X: Matrix, Z: Matrix, sizes: Vector) -> None:
        """Compute −γ·‖x − z‖² again, from x − z, for pairs of rows where digits may be lost.

        Values below −746 are not computed again, because their exponential is 0.
        """
        near = np.nonzero((sizes > CANCELS) & (exponents > -746.0 - 2.0**-40 * sizes))
        step = max(1, BLOCK // max(1, X.shape[1]))
        for begin in range(0, len(near[0]), step):
            i, j = (places[begin : begin + step] for places in near)
            exponents[i, j] = -self.gamma * squared_norms(X[i] - Z[j])

    def diagonal(self, X: Matrix) -> Vector:
        """Compute K(x_i, x_i) for every row."""
        if self.form == "rbf":
            return np.full(X.shape[0], 1.0 + self.bias)
        out = np.empty(X.shape[0])
        for begin in range(0, len(out), 64):
            part = X[begin : begin + 64]
            out[begin : begin + 64] = np.diagonal(self.gram(part, part))
        return out

    def blocks(self, X: Matrix, Z: Matrix) -> Iterator[tuple[int, int, Vector]]:
        """Yield ranges of rows of X, each with its kernel values with all rows of Z.

        Nothing is yielded if Z has no rows.
        """
        size = max(1, BLOCK // max(1, Z.shape[0]))
        for begin in range(0, X.shape[0] if Z.shape[0] > 0 else 0, size):
            end = min(X.shape[0], begin + size)
            yield begin, end, self.gram(X[begin:end], Z)


class KernelRows:
    """A cache of the rows K(x_i, ·) of a kernel matrix, of at most ``cache_bytes`` bytes.

    If the form of the kernel is "precomputed", X is the matrix of the kernel values.
    """

    def __init__(self, kernel: Kernel, X: Matrix, cache_bytes: float) -> None:
        self._kernel, self._X = kernel, _writeable(X) if callable(kernel.form) else X
        self._given = kernel.form == "precomputed"
        self._squares = squared_norms(X) if kernel.form == "rbf" else None
        self._kept: OrderedDict[int, Vector] = OrderedDict()
        self._most = max(1, int(cache_bytes / (8 * max(1, X.shape[0]))))

    def __getitem__(self, i: int) -> Vector:
        row = self._kept.get(i)
        if row is not None:
            self._kept.move_to_end(i)
            return row
        if self._given:
            row = as_dense(self._X[i : i + 1])[0] + self._kernel.bias
        else:
            row = self._kernel.gram(self._X, self._X[i : i + 1], self._squares)[:, 0]
        if len(self._kept) >= self._most:
            self._kept.popitem(last=False)
        self._kept[i] = row
        return row


def _writeable(X: Matrix) -> Matrix:
    """X or a writeable copy: a compiled kernel function may reject read-only arrays."""
    return X if stored_numbers(X).flags.writeable else X.copy()


def squared_norms(X: Matrix) -> Vector:
    """‖x_i‖² of every row."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return np.asarray(X.astype(np.float64).multiply(X).sum(axis=1), dtype=np.float64).ravel()


def seems_semidefinite(gram: Vector) -> bool:
    """Whether a kernel matrix is symmetric and passes two tests for positive semidefiniteness.

    It fails if K_ij² > K_ii·K_jj for some pair, or if a matrix of at most 500 of its rows and
    columns has a negative eigenvalue, in both cases by more than rounding.
    """
    if not np.allclose(gram, gram.T):
        return False
    diagonal = np.diagonal(gram)
    lengths = np.sqrt(np.maximum(diagonal, 1e-12 * np.abs(diagonal).max()))
    if (np.abs(gram) > 1.001 * lengths[:, None] * lengths).any():
        return False
    chosen = np.unique(np.linspace(0, len(gram) - 1, 500).astype(int))
    values = np.linalg.eigvalsh(gram[np.ix_(chosen, chosen)])
    return bool(values[0] >= -1e-8 * max(abs(values[0]), abs(values[-1])))
