"""The convergence proof as it happens: its three inequalities, update by update (B3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.mistakes import refuse_other_starts, trace_of
from novikoff.report.plots.rule import LinearClassifier, Rule, Side, norm_of, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.rows import SparseMatrix, Vector
    from novikoff.core.trace import Trace

_FAR_APART = 30.0


@dataclass(eq=False)
class ProofDisplay:
    """⟨w*, w_t⟩ ≥ t·γ, ‖w_t‖² ≤ t·R² and cos∠(w*, w_t) ≥ √t·γ/R, one below the other.

    As no cosine is above 1, the third ends the run at t = R²/γ² at the latest. w* is taken
    at length 1. Where the steps τ differ from 1, or the perceptron has a margin δ, the bounds
    are those of the same proof: γ·Στ, R²·Στ² + 2δ·Στ, and the one over the root of the other.

    Attributes
    ----------
    inner, inner_bound : arrays
        ⟨w*, w_t⟩ for t = 1, 2, …, and what it is at least.
    squared_norm, squared_norm_bound : arrays
        ‖w_t‖², and what it is at most.
    cosine, cosine_bound : arrays
        The cosine of the angle between w* and w_t, and what it is at least.
    margin, radius : float
        γ and R.
    plain : bool
        Whether all steps are 1 and δ is 0.
    ax_ : list of three Axes
        What it was drawn on.
    figure_
        The figure of these.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.Perceptron(order="cyclic", trace=[2, 2, -3]).fit(X, y)
    >>> display = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    >>> bool((display.cosine >= display.cosine_bound).all()), round(display.margin, 3)
    (True, 0.243)
    """

    inner: Vector
    inner_bound: Vector
    squared_norm: Vector
    squared_norm_bound: Vector
    cosine: Vector
    cosine_bound: Vector
    margin: float
    radius: float
    plain: bool = True
    ax_: list[Axes] = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: LinearClassifier,
        X: npt.ArrayLike | SparseMatrix,
        y: npt.ArrayLike,
        *,
        reference: npt.ArrayLike | None = None,
        margin: float | None = None,
        radius: float | None = None,
        rule: Side | None = None,
        ax: Axes | Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the proof for a traced run.

        Parameters
        ----------
        estimator : novikoff.Perceptron
            Fitted with ``trace``, on these rows, from zero weights.
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        reference : array-like of n_features entries, or one more for the bias
            A rule w* that separates the rows; by default what ``trace`` was.
        margin, radius : float, optional
            γ = min ⟨a_i, w*⟩/‖w*‖, or a number below it, and R = max ‖a_i‖, or a number
            above it; by default computed from the rows.
        rule : label, or pair of labels for one-vs-one
            Which of several rules.
        ax : Axes, or three of them, optional
            Where to draw; one is divided into three. By default a new figure of pyplot.

        Returns
        -------
        ProofDisplay

        Raises
        ------
        ValueError
            If there is no trace or no reference, the reference does not separate the rows,
            or the run did not begin at zero.
        """
        trace = trace_of(estimator, rule)
        refuse_other_starts(trace)
        found = rule_of(estimator, X, y, rule)
        bias = float(bool(getattr(estimator, "fit_intercept", True)))
        given = getattr(estimator, "trace", None) if reference is None else reference
        w_star, length = _reference(given, len(found.w), bias)
        aligned = found.signs * (found.X @ w_star[:-1] + bias * w_star[-1])
        gamma = _margin(found, aligned) if margin is None else float(margin)
        R = _radius(found, bias) if radius is None else float(radius)
        if not (gamma > 0.0 and R > 0.0):
            raise ValueError(f"The margin and the radius must be positive, not {gamma} and {R}.")
        inner = trace.inner / length if reference is None and trace.inner is not None else None
        if inner is None:
            inner = _inner(found, trace, aligned)
        delta = float(getattr(estimator, "margin", 0.0))
        squared_bound = R * R * np.cumsum(trace.tau**2) + 2.0 * delta * np.cumsum(trace.tau)
        inner_bound = gamma * np.cumsum(trace.tau)
        lengths = np.sqrt(trace.squared_norm)
        display = cls(
            inner=inner,
            inner_bound=inner_bound,
            squared_norm=trace.squared_norm,
            squared_norm_bound=squared_bound,
            cosine=np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0.0),
            cosine_bound=inner_bound / np.sqrt(squared_bound),
            margin=gamma,
            radius=R,
            plain=delta == 0.0 and bool((trace.tau == 1.0).all()),
        )
        return display.plot(ax)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, or three of them, optional
            Where to draw; one is divided into three. By default a new figure of pyplot.

        Returns
        -------
        ProofDisplay
            This one, with ``ax_`` and ``figure_``.
        """
        style.require_matplotlib()
        axes = _three(ax)
        gamma, R = style.format_number(self.margin), style.format_number(self.radius)
        last = style.format_number((self.radius / self.margin) ** 2)
        below, above, slope = ("t·γ", "t·R²", "√t·γ/R")
        end = f"; it is 1 at t = R²/γ² = {last}"
        if not self.plain:
            below, above, slope, end = "γ·Στ", "R²·Στ² + 2δ·Στ", "their quotient", ""
        titles = (
            f"⟨w*, wₜ⟩ (solid) ≥ {below} (dashed), γ = {gamma}",
            f"‖wₜ‖² (solid) ≤ {above} (dashed), R = {R}",
            f"cos∠(w*, wₜ) (solid) ≥ {slope} (dashed{end})",
        )
        _panel(axes[0], self.inner, self.inner_bound, np.inf)
        _panel(axes[1], self.squared_norm, self.squared_norm_bound, 0.0)
        _panel(axes[2], self.cosine, self.cosine_bound, 1.0)
        for panel, title in zip(axes, titles, strict=True):
            bottom = panel is axes[2]
            style.label_axes(panel, x="updates t" if bottom else "", title=title)
            panel.tick_params(labelbottom=bottom)
            style.number_ticks(panel, "x")
            panel.set_xlim(0.0, 1.02 * len(self.inner) + 0.5)
        self.ax_, self.figure_ = axes, style.figure_of(axes[0])
        return self


def _panel(ax: Axes, values: Vector, bound: Vector, until: float) -> None:
    """A quantity, its bound, and the allowed side of it in light grey, up to a limit."""
    some = style.thinned(len(values))
    t, y, limit = some + 1, values[some], bound[some]
    logarithmic = until != 1.0 and max(y[-1] / limit[-1], limit[-1] / y[-1]) > _FAR_APART
    if logarithmic:
        ax.set_yscale("log")
        bottom, top = min(y.min(), limit.min()) / 1.5, 1.5 * max(y.max(), limit.max())
        style.number_ticks(ax, "y")
    else:
        bottom, top = (
            min(0.0, float(y.min())),
            1.05 * max(float(y.max()), float(limit.max()), 1e-300),
        )
        if top > 1e4:  # a power of ten above the axis would crowd the title
            style.number_ticks(ax, "y")
    ax.fill_between(t, limit, np.clip(until, bottom, top), color=style.SHADE, lw=0, zorder=0)
    marker = "o" if len(values) <= 30 else ""
    ax.plot(t, y, color=style.INK, lw=1.5, marker=marker, ms=3.0)
    ax.plot(t, limit, color=style.GREY, lw=1.4, ls=(0, (5, 3)), marker=marker, ms=3.0)
    ax.set_ylim(bottom, top)


def _three(ax: Axes | Sequence[Axes] | None) -> list[Axes]:
    if ax is None:
        return style.pyplot_axes(6.6, 3)
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    if not isinstance(ax, Axes):
        axes = list(ax)
        if len(axes) != 3:
            raise ValueError(f"The proof needs one or three axes, not {len(axes)}.")
        return axes
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("These axes cannot be divided into three: pass three axes.")
    ax.set_axis_off()
    grid = GridSpecFromSubplotSpec(3, 1, subplot_spec=place)
    return [ax.figure.add_subplot(grid[k]) for k in range(3)]


def _reference(given: npt.ArrayLike | None, n_features: int, bias: float) -> tuple[Vector, float]:
    """w* at length 1, its bias last, and the length that it had."""
    if given is None or isinstance(given, bool | np.bool_):
        raise ValueError("The proof needs a rule w* that separates the rows: pass reference=.")
    w_star = np.asarray(given, dtype=np.float64)
    if w_star.shape not in ((n_features,), (n_features + int(bias),)):
        raise ValueError(
            f"The reference has shape {w_star.shape}, but {n_features} weights are needed"
            + (f", or {n_features + 1} with the bias." if bias else ", as there is no bias.")
        )
    if not np.isfinite(w_star).all() or not w_star.any():
        raise ValueError("The reference must be finite and not zero.")
    length = norm_of(w_star)
    return np.append(w_star / length, 0.0)[: n_features + 1], length


def _margin(rule: Rule, aligned: Vector) -> float:
    worst = int(np.argmin(aligned))
    if not aligned[worst] > 0.0:
        raise ValueError(
            f"The reference does not separate the rows: y·f(x) is {aligned[worst]:.3g} in row "
            f"{rule.rows[worst]}, and nothing is proved by it."
        )
    return float(aligned[worst])


def _radius(rule: Rule, bias: float) -> float:
    if isinstance(rule.X, np.ndarray):
        squares = np.einsum("ij,ij->i", rule.X, rule.X)
    else:
        squares = np.asarray(rule.X.multiply(rule.X).sum(axis=1)).ravel()
    return float(np.sqrt(squares.max() + bias))


def _inner(rule: Rule, trace: Trace, aligned: Vector) -> Vector:
    """⟨w*, w_t⟩, from w_t = Σ τ·a_i over the updates up to t."""
    places = np.searchsorted(rule.rows, trace.index)
    if places.max() >= len(aligned) or (rule.rows[places] != trace.index).any():
        raise ValueError("The trace names rows that are not in X: pass the rows of the fit.")
    return np.cumsum(trace.tau * aligned[places])
