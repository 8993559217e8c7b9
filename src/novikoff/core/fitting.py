"""Fit a model: run the loop on the original or on standardised features, then check its rules.

Every estimator and `novikoff fit` call `fit_model`, so that the same data, plan and seed give the
same weights, bit for bit.

Scale and translation change R and γ, and with them the mistake bound R²/γ². The perceptron may
run on standardised features, but every statement about its rules is about the original features:
`Scaling` maps rules from one to the other.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.model import LinearModel, Model
from novikoff.core.problem import Rows, row_blocks
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.core.runs import Plan, Run

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, eq=False)
class Fit(Generic[M]):
    """A fitted model and the run that fitted it.

    Attributes
    ----------
    model : Model
        The model, for the original features.
    run : Run
        The counts of the run, and the reason why it ended.
    rows : Rows
        The rows that the run visited: the standardised rows if the run was on them.
    separates_original : bool
        Whether the run converged and the model classifies every original row correctly, computed
        as `predict` computes it.
    """

    model: M
    run: Run
    rows: Rows
    separates_original: bool


def fit_model(
    model: M,
    rows: Rows,
    codes: Indices,
    plan: Plan,
    *,
    standardised: bool = False,
    sample_weight: Vector | None = None,
) -> Fit[M]:
    """Run the loop from the weights of a model until a cycle is clean or a limit is reached.

    Parameters
    ----------
    model : Model
        The model to start from. It is not changed.
    rows, codes
        The original rows and the class of each row.
    plan : Plan
        Update rule, order, limits and seed.
    standardised : bool
        Whether the run sees features of mean 0 and variance 1. Its rules are then mapped back to
        the original features. Only a `LinearModel` can be mapped back.
    sample_weight : array of shape (n,), optional
        A factor on the steps of each row; rows of weight 0 are not visited.

    Examples
    --------
    >>> from novikoff.core.orders import Cyclic
    >>> from novikoff.core.stops import Limits
    >>> from novikoff.core.updates import perceptron
    >>> rows = Rows.of(np.array([[0.0], [1.0], [3.0]]), fit_intercept=True)
    >>> plan = Plan(perceptron(), Cyclic(), Limits(epochs=100))
    >>> fit = fit_model(LinearModel(np.array([0, 1]), 1), rows, np.array([0, 0, 1]), plan)
    >>> fit.separates_original, fit.run.mistakes
    (True, 8)
    """
    threshold, fitted = plan.update.threshold, model.copy()
    if not standardised:
        run = fitted.train(rows, codes, plan, sample_weight)
        separates = run.converged and is_correct(fitted, rows, codes, threshold, sample_weight)
        return Fit(fitted, run, rows, separates)
    if not isinstance(fitted, LinearModel):
        raise TypeError(f"A {type(model).__name__} cannot be mapped back from scaled features.")
    scaled, scaling = standardise(rows)
    fitted.W = scaling.to_scaled(fitted.W)
    run = fitted.train(scaled, codes, plan, sample_weight)
    original = scaling.model_to_original(fitted)
    separates = run.converged and is_correct(original, rows, codes, threshold, sample_weight)
    return Fit(cast(M, original), run, scaled, separates)


def is_correct(
    model: Model,
    rows: Rows,
    codes: Indices,
    threshold: float,
    sample_weight: Vector | None = None,
) -> bool:
    """Whether y·f(x) of the last weights exceeds the threshold on every row of positive weight.

    The scores are computed as `predict` computes them. The scores inside a run may differ from them
    by rounding, because a run adds the same terms in a different order or uses scaled features.
    """
    with np.errstate(all="ignore"):
        margins = model.last_scores(rows.X) * model.sides[codes]
    compared = model.sides[codes] != 0
    if sample_weight is not None:
        compared &= (sample_weight > 0.0)[:, None]
    return bool(np.isfinite(margins).all() and (margins[compared] > threshold).all())


@dataclass(frozen=True, eq=False)
class Scaling:
    """The map x ↦ (x − mean)/scale, column by column.

    A column is not changed if it is constant or if its variance is beyond the range of float64.

    Examples
    --------
    >>> X = np.array([[1.0, 7.0], [3.0, 7.0]])
    >>> scaling = Scaling.of(X, centre=True)
    >>> scaling.apply(X).tolist()
    [[-1.0, 7.0], [1.0, 7.0]]
    >>> scaling.to_original(np.array([[2.0], [1.0], [0.0]])).ravel().tolist()
    [2.0, 1.0, -4.0]
    """

    mean: Vector
    scale: Vector

    @classmethod
    def of(cls, X: Matrix, *, centre: bool) -> Scaling:
        """Measure the columns of X; without ``centre``, 0 takes the place of all means."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean, variance = _moments(X)
        scale = np.sqrt(variance)
        usable = np.isfinite(mean) & np.isfinite(scale) & (scale > 0.0)
        centred = usable & (centre and isinstance(X, np.ndarray))
        return cls(np.where(centred, mean, 0.0), np.where(usable, scale, 1.0))

    def apply(self, X: Matrix) -> Matrix:
        """Return the standardised rows in the precision of X.

        If X is a memory map, the result is in a temporary file.
        """
        if not isinstance(X, np.ndarray):
            data = _empty_like(X.data)
            for first in range(0, X.nnz, 1 << 20):
                part = slice(first, first + (1 << 20))
                data[part] = X.data[part] / self.scale[X.indices[part]]
            return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
        scaled = _empty_like(X)
        for first, last in row_blocks(X):
            scaled[first:last] = (X[first:last] - self.mean) / self.scale
        return scaled

    @property
    def is_far_from_standard(self) -> bool:
        """Whether some column is far from mean 0 and variance 1."""
        return bool(((np.abs(np.log2(self.scale)) > 1.0) | (np.abs(self.mean) > self.scale)).any())

    def to_scaled(self, W: Vector) -> Vector:
        """Convert weights for original rows to weights for standardised rows with equal scores."""
        scaled = W.copy()
        scaled[-1] += self.mean @ scaled[:-1]
        scaled[:-1] *= self.scale[:, None]
        return scaled

    def to_original(self, W: Vector) -> Vector:
        """Convert weights for standardised rows to weights for original rows with equal scores."""
        given = W.copy()
        given[:-1] /= self.scale[:, None]
        given[-1] -= self.mean @ given[:-1]
        return given

    def model_to_original(self, model: LinearModel) -> LinearModel:
        """Convert a model for standardised features to a model for original features."""
        given = model.copy()
        given.W = self.to_original(model.W)
        if model.averages:
            given.weighted = self.to_original(model.weighted)
        return given


def standardise(rows: Rows) -> tuple[Rows, Scaling]:
    """The rows with features of mean 0 and variance 1, and their scaling.

    If there is no bias, or if X is sparse, columns are divided but their means are not subtracted.
    """
    scaling = Scaling.of(rows.X, centre=rows.fit_intercept)
    return Rows.of(scaling.apply(rows.X), rows.fit_intercept), scaling


def _moments(X: Matrix) -> tuple[Vector, Vector]:
    """The mean and the variance of each column; the variance of a constant column is 0."""
    n, d = X.shape
    sums, squares = np.zeros(d), np.zeros(d)
    if isinstance(X, np.ndarray):
        low, high = np.full(d, np.inf), np.full(d, -np.inf)
        for first, last in row_blocks(X):
            sums += X[first:last].sum(axis=0, dtype=np.float64)
            low = np.minimum(low, X[first:last].min(axis=0))
            high = np.maximum(high, X[first:last].max(axis=0))
        mean = sums / n
        # The variance needs a second pass: a difference of large squares would lose digits.
        for first, last in row_blocks(X):
            squares += np.square(X[first:last] - mean).sum(axis=0)
        return mean, np.where(low < high, squares / n, 0.0)
    for first, last in row_blocks(X):
        part = X[first:last]
        values = part.data.astype(np.float64, copy=False)
        sums += np.bincount(part.indices, values, minlength=d)
        squares += np.bincount(part.indices, values * values, minlength=d)
    mean = sums / n
    variance = squares / n - mean**2
    # Rounding may give a constant column a small positive variance, which is replaced by 0.
    return mean, np.where(variance > 1e-12 * squares / n, variance, 0.0)


def _empty_like(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """An array in memory, or in a temporary file if the values are a memory map."""
    owner: object = values
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    if not isinstance(owner, np.memmap):
        return np.empty_like(values)
    with tempfile.TemporaryFile() as file:  # the memory map keeps the file alive
        return np.memmap(file, dtype=values.dtype, mode="w+", shape=values.shape)
