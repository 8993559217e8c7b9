"""A traced run of the perceptron: mistakes below their bound, and the proof (B1, B3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.margins import LinearClassifier, Rule, Side, find_rule, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.counts import Trace
    from novikoff.core.rows import Indices, SparseMatrix, Vector

_LOG_FROM_RATIO = 10.0  # curves further apart than this get a logarithmic axis


@dataclass(eq=False)
class MistakesDisplay:
    """Mistakes so far against rows visited, and the bound R²/γ² on them.

    ``visited`` is the number of rows up to each update. ``updates`` and ``mistakes`` differ if
    the perceptron has a margin δ > 0; the bound is (R² + 2δ/μ)/γ² then, and one on updates.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.Perceptron(order="cyclic", trace=True).fit(X, y)
    >>> axes = blank_axes()
    >>> display = MistakesDisplay.from_estimator(clf, X, y, margin=0.15, radius=1.8, ax=axes[0])
    >>> int(display.mistakes[-1]), round(display.bound)
    (18, 144)
    """

    visited: Indices
    updates: Indices
    mistakes: Indices
    bound: float | None = None
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: LinearClassifier,
        X: npt.ArrayLike | SparseMatrix | None = None,
        y: npt.ArrayLike | None = None,
        *,
        rule: Side | None = None,
        margin: float | None = None,
        radius: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the mistakes of a `novikoff.Perceptron` that was fitted with ``trace``.

        Given γ, or a number below it, as ``margin``, and R, or a number above it, as ``radius``,
        the bound is drawn. X and y are not needed.
        """
        trace, delta = _trace_of(estimator, rule), float(getattr(estimator, "margin", 0.0))
        bound = None
        if margin is not None and radius is not None:
            _check_start(trace)
            if (trace.tau != trace.tau[0]).any():
                raise ValueError(
                    "The steps of this run differ in size, by weights of rows or classes: R²/γ² "
                    "bounds runs of equal steps. Leave out margin and radius."
                )
            # From t·μ·γ ≤ ‖w_t‖ and ‖w_t‖² ≤ t·(μ²·R² + 2·δ·μ).
            bound = (radius**2 + 2.0 * delta / float(trace.tau[0])) / margin**2
        updates = np.arange(1, len(trace) + 1)
        return cls(trace.step + 1, updates, np.cumsum(trace.margin <= 0.0), bound).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on these axes or on a new figure of pyplot."""
        ax = style.blank_axes(pyplot=True)[0] if ax is None else ax
        most = int(self.updates[-1])
        some = style.thinned(most)
        steps = "steps-post" if len(some) == most else "default"  # where steps can be seen
        curves = [(self.mistakes, "mistakes", "-", 1.8)]
        if (self.mistakes != self.updates).any():
            curves.append((self.updates, "updates", ":", 1.4))
        for numbers, name, dashes, width in curves:
            label = f"{name} ({int(numbers[-1]):,})"
            x, y = np.append(0, self.visited[some]), np.append(0, numbers[some])
            ax.plot(x, y, dashes, lw=width, color=style.POSITIVE, drawstyle=steps, label=label)
        if self.bound is not None and np.isfinite(self.bound):
            formula = "R²/γ²" if len(curves) == 1 else "(R² + 2δ/μ)/γ²"
            label = f"bound {formula} = {style.format_number(self.bound)}"
            ax.axhline(self.bound, color=style.INK, lw=1.4, ls=style.DASHES, label=label)
        logarithmic = self.bound is not None and self.bound > _LOG_FROM_RATIO * most
        ax.set_yscale("log" if logarithmic else "linear")
        ax.set_ylim(bottom=0.8 if logarithmic else 0.0)
        ax.set_xlim(left=0.0)
        names = " and ".join(name for _, name, _, _ in curves)
        style.label_axes(ax, x="rows visited", y=f"{names} so far")
        style.format_counts(ax, "x", "y")
        style.legend_below(ax, columns=3)
        self.ax_, self.figure_ = ax, style.figure_of(ax)
        return self


@dataclass(eq=False)
class ProofDisplay:
    """⟨w*, w_t⟩ ≥ t·γ, ‖w_t‖² ≤ t·R² and cos∠(w*, w_t) ≥ √t·γ/R, one below the other.

    As no cosine is above 1, the third ends the run at t = R²/γ² at the latest. w* is taken
    at length 1. Where the steps τ differ from 1, or the perceptron has a margin δ, the bounds
    are those of the same proof: γ·Στ, R²·Στ² + 2δ·Στ, and the one over the root of the other;
    ``plain`` is False then.

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
    ax_: Sequence[Axes] = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: LinearClassifier,
        X: npt.ArrayLike | SparseMatrix | None = None,
        y: npt.ArrayLike | None = None,
        *,
        margin: float | None = None,
        radius: float | None = None,
        rule: Side | None = None,
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the proof for a `novikoff.Perceptron` that was fitted from zero with ``trace=w*``.

        Without ``margin``, it is γ = min ⟨a_i, w*⟩/‖w*‖ of the rows, and without ``radius``
        R = max ‖a_i‖; with both, X and y are not needed. ``ax`` are three axes.
        """
        trace, delta = _trace_of(estimator, rule), float(getattr(estimator, "margin", 0.0))
        if trace.inner is None:
            raise ValueError("The proof needs a rule w* that separates the rows: fit with trace=w*")
        _check_start(trace)
        w_star = np.asarray(getattr(estimator, "trace"), dtype=np.float64)  # noqa: B009
        if X is not None and y is not None and (margin is None or radius is None):
            bias = float(bool(getattr(estimator, "fit_intercept", True)))
            found = _margin_and_radius(rule_of(estimator, X, y, rule), w_star, bias)
            margin = found[0] if margin is None else margin
            radius = found[1] if radius is None else radius
        if margin is None or radius is None or not (margin > 0.0 and radius > 0.0):
            raise ValueError(
                f"The proof needs a positive margin and radius, not {margin}, {radius}."
            )
        inner, length = trace.inner / math.hypot(*w_star), np.sqrt(trace.squared_norm)
        inner_bound = margin * np.cumsum(trace.tau)
        squared_bound = radius**2 * np.cumsum(trace.tau**2) + 2.0 * delta * np.cumsum(trace.tau)
        return cls(
            inner=inner,
            inner_bound=inner_bound,
            squared_norm=trace.squared_norm,
            squared_norm_bound=squared_bound,
            cosine=np.divide(inner, length, out=np.zeros_like(length), where=length > 0.0),
            cosine_bound=inner_bound / np.sqrt(squared_bound),
            margin=margin,
            radius=radius,
            plain=delta == 0.0 and bool((trace.tau == 1.0).all()),
        ).plot(ax)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw, on these three axes or on a new figure of pyplot."""
        axes = style.blank_axes(3, pyplot=True) if ax is None else ax
        if len(axes) != 3:
            raise ValueError(f"The proof needs three axes, not {len(axes)}.")
        gamma, R = style.format_number(self.margin), style.format_number(self.radius)
        last = style.format_number((self.radius / self.margin) ** 2)
        below, above, slope = "t·γ", "t·R²", f"√t·γ/R (dashed; it is 1 at t = R²/γ² = {last})"
        if not self.plain:
            below, above, slope = "γ·Στ", "R²·Στ² + 2δ·Στ", "their quotient (dashed)"
        _panel(axes[0], self.inner, self.inner_bound, np.inf)
        _panel(axes[1], self.squared_norm, self.squared_norm_bound, 0.0)
        _panel(axes[2], self.cosine, self.cosine_bound, 1.0)
        style.label_axes(axes[0], title=f"⟨w*, wₜ⟩ (solid) ≥ {below} (dashed), γ = {gamma}")
        style.label_axes(axes[1], title=f"‖wₜ‖² (solid) ≤ {above} (dashed), R = {R}")
        style.label_axes(axes[2], x="updates t", title=f"cos∠(w*, wₜ) (solid) ≥ {slope}")
        self.ax_, self.figure_ = axes, style.figure_of(axes[0])
        return self


def _panel(ax: Axes, values: Vector, bound: Vector, until: float) -> None:
    """A quantity, its bound, and the allowed side of the bound, up to a limit, in colour."""
    some = style.thinned(len(values))
    t, y, limit = some + 1, values[some], bound[some]
    bottom = min(0.0, float(y.min()))
    top = 1.02 if until == 1.0 else 1.05 * max(float(y.max()), float(limit.max()), 1e-300)
    if until != 1.0 and max(y[-1] / limit[-1], limit[-1] / y[-1]) > _LOG_FROM_RATIO:
        ax.set_yscale("log")
        bottom, top = min(y.min(), limit.min()) / 1.5, 1.5 * top
    allowed = np.clip(until, bottom, top)
    ax.fill_between(t, limit, allowed, color=style.POSITIVE_SIDE, lw=0, zorder=0)
    marker = "o" if len(values) <= 30 else ""
    ax.plot(t, y, color=style.POSITIVE, lw=1.8, marker=marker, ms=3.0)
    ax.plot(t, limit, color=style.INK, lw=1.2, ls=style.DASHES, marker=marker, ms=2.0)
    ax.set_ylim(bottom, top)
    ax.set_xlim(0.0, 1.02 * len(values) + 0.5)
    style.format_counts(ax, "x")
    if until != 1.0:
        ax.yaxis.set_major_formatter(lambda value, _: style.format_number(value))


def _margin_and_radius(rule: Rule, w_star: Vector, bias: float) -> tuple[float, float]:
    """γ and R of the rows; ValueError if w* does not separate them."""
    shift = bias * w_star[-1] if len(w_star) > len(rule.w) else 0.0
    aligned = rule.signs * (rule.X @ w_star[: len(rule.w)] + shift) / math.hypot(*w_star)
    worst = int(np.argmin(aligned))
    if not aligned[worst] > 0.0:
        raise ValueError(
            f"The rule w* does not separate the rows: y·f(x) is {aligned[worst]:.3g} in row "
            f"{rule.rows[worst]}, and nothing is proved by it."
        )
    squares: Any = rule.X * rule.X  # entry by entry, dense or sparse
    return float(aligned[worst]), float(np.sqrt(squares.sum(axis=1).max() + bias))


def _trace_of(estimator: LinearClassifier, rule: Side | None) -> Trace:
    """The trace of one rule; it must not be empty."""
    found: Trace | list[Trace] | None = getattr(estimator, "trace_", None)
    if found is None:
        raise ValueError("There is no trace: fit a novikoff.Perceptron with trace=True first.")
    trace = found[find_rule(estimator, rule)[0]] if isinstance(found, list) else found
    if len(trace) == 0:
        raise ValueError("The trace is empty: the run made no update.")
    return trace


def _check_start(trace: Trace) -> None:
    if trace.margin[0] != 0.0:
        raise ValueError(
            "The run did not start from zero weights, as the theorem has it: fit without "
            "warm_start, coef_init and intercept_init."
        )
