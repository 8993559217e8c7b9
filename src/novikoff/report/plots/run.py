"""A run of the perceptron: mistakes below their bound, the proof; and the pocket's (B1, B3, E2)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.margins import LinearClassifier, Rule, Side, find_rule, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from novikoff.core.counts import Trace
    from novikoff.core.problem import Problem
    from novikoff.core.rows import Indices, SparseMatrix, Vector

_LOG_FROM_RATIO = 10.0  # curves further apart than this get a logarithmic axis


class TracedRun(NamedTuple):
    """A run with its trace; the rule and the rows as the run saw them, given X and y."""

    trace: Trace
    delta: float
    rule: Rule | None
    problem: Problem | None


def traced_run(
    estimator: LinearClassifier,
    X: npt.ArrayLike | SparseMatrix | None,
    y: npt.ArrayLike | None,
    side: Side | None,
) -> TracedRun:
    """The run of a perceptron, repeated where it was not traced; it made one update at least."""
    found: Trace | list[Trace] | None = getattr(estimator, "trace_", None)
    if found is None:
        if X is None or y is None:
            raise ValueError("There is no trace: fit with trace=True, or give X and y.")
        found = _repeated(estimator, X, y).trace_
    trace = found[find_rule(estimator, side)[0]] if isinstance(found, list) else found
    if len(trace) == 0:
        raise ValueError("The trace is empty: the run made no update.")
    delta = float(getattr(estimator, "margin", 0.0))
    if X is None or y is None:
        return TracedRun(trace, delta, None, None)
    from novikoff.core.problem import pose

    rule = rule_of(estimator, X, y, side)
    signs = (rule.flip * rule.signs).astype(np.int8)
    problem = pose(rule.X, signs, bool(getattr(estimator, "fit_intercept", True)))
    if trace.problem is not None:
        acted = np.unique(trace.index)
        seen, at = trace.problem, np.searchsorted(rule.rows, acted)
        same = seen.X.shape[1] == rule.X.shape[1] and bool(np.isin(acted, rule.rows).all())
        if not (same and (seen.signs == signs[at]).all() and abs(rule.X[at] - seen.X).max() == 0):
            raise ValueError(
                "The run saw other rows than these: give the X and y of its fit, and scale them "
                "before the fit if they are to be scaled."
            )
    return TracedRun(trace, delta, rule, problem)


def _repeated(
    estimator: LinearClassifier, X: npt.ArrayLike | SparseMatrix, y: npt.ArrayLike
) -> LinearClassifier:
    """The same fit once more, with a trace; ValueError if it is not the same."""
    options = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if "trace" not in options:
        name = type(estimator).__name__
        raise ValueError(f"A {name} makes no updates to draw: give a fitted novikoff.Perceptron.")
    seed = getattr(estimator, "random_state_", options["random_state"])
    again = type(estimator)(**options | {"trace": True, "random_state": seed, "warm_start": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned before
        again.fit(X, y)
    if not (
        np.array_equal(again.coef_, estimator.coef_)
        and np.array_equal(again.intercept_, estimator.intercept_)
    ):
        raise ValueError(
            "The run cannot be repeated from X and y alone, as it ended with other weights (of "
            "other rows, a start, sample_weight, a stream or a file): fit with trace=True."
        )
    return again


def separating(problem: Problem) -> tuple[Vector, float] | None:
    """The w* of the largest margin, and a γ that is proved; None if there is none."""
    from novikoff.geometry.separability import decide

    verdict = decide(problem, ("+1", "-1"))
    if verdict.coef is None or verdict.intercept is None or verdict.kind != "separable":
        return None
    return np.append(verdict.coef, verdict.intercept), verdict.margin.lo


@dataclass(eq=False, repr=False)
class MistakesDisplay(style.Display):
    """Mistakes so far against rows visited, and the bound R²/γ² on them.

    ``visited`` is the number of rows up to each update. ``updates`` and ``mistakes`` differ if
    the perceptron has a margin δ > 0; the bound is (R² + 2δ/μ)/γ² then, and one on updates.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, y)
    >>> display = MistakesDisplay.from_estimator(clf, X, y, ax=blank_axes()[0])
    >>> int(display.mistakes[-1]), round(display.bound)
    (18, 51)
    """

    visited: Indices
    updates: Indices
    mistakes: Indices
    bound: float | None = None

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
        """Draw the mistakes of a `novikoff.Perceptron`.

        Given the rows of its fit, the run is repeated if it has no trace, and the bound is drawn
        if the rows are separable: from γ, or a number below it, as ``margin``, and R, or a number
        above it, as ``radius``, if they are given. A fit with ``trace`` needs no X and y.
        """
        trace, delta, _, problem = traced_run(estimator, X, y, rule)
        theorem = trace.margin[0] == 0.0 and bool((trace.tau == trace.tau[0]).all())
        if problem is not None and theorem:
            found = separating(problem) if margin is None else None
            margin = margin if found is None else found[1]
            radius = problem.radius if radius is None else radius
        bound = None
        if margin is not None and radius is not None:
            _check_start(trace)
            if not theorem:
                raise ValueError(
                    "The steps of this run differ in size, by weights of rows or classes: R²/γ² "
                    "bounds runs of equal steps. Leave out margin and radius."
                )
            # From t·μ·γ ≤ ‖w_t‖ and ‖w_t‖² ≤ t·(μ²·R² + 2·δ·μ).
            bound = (radius**2 + 2.0 * delta / float(trace.tau[0])) / margin**2
        updates = np.arange(1, len(trace) + 1)
        return cls(trace.step + 1, updates, np.cumsum(trace.margin <= 0.0), bound).plot(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
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
            label = f"bound {formula} = {style.format_number(style.whole_bound(self.bound))}"
            ax.axhline(self.bound, color=style.INK, lw=1.4, ls=style.DASHES, label=label)
        logarithmic = self.bound is not None and self.bound > _LOG_FROM_RATIO * most
        ax.set_yscale("log" if logarithmic else "linear")
        ax.set_ylim(bottom=0.8 if logarithmic else 0.0)
        ax.set_xlim(left=0.0)
        names = " and ".join(name for _, name, _, _ in curves)
        style.label_axes(ax, x="rows visited", y=f"{names} so far")
        style.format_counts(ax, "x", "y")
        style.legend_below(ax, columns=3)


@dataclass(eq=False, repr=False)
class ProofDisplay(style.Display):
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
    >>> clf = nv.Perceptron(order="cyclic").fit(X, y)
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
    _panels = 3

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
        """Draw the proof for a `novikoff.Perceptron` that was fitted from zero weights.

        Given the rows of its fit, the run is repeated if it has no trace. w* is the ``trace=w*`` of
        the fit, or else that of the largest margin. Without ``margin``, it is
        γ = min ⟨a_i, w*⟩/‖w*‖ of the rows, and without ``radius`` R = max ‖a_i‖; with both, a fit
        with ``trace=w*`` needs no X and y. ``ax`` are three axes.
        """
        trace, delta, found, problem = traced_run(estimator, X, y, rule)
        _check_start(trace)
        given = getattr(estimator, "trace", False)
        w_star = None if isinstance(given, bool | np.bool_) else np.asarray(given, dtype=float)
        if found is not None and problem is not None:
            aligned = _aligned(found, problem, w_star)
            inner = np.cumsum(trace.tau * aligned[np.searchsorted(found.rows, trace.index)])
            margin = float(aligned.min()) if margin is None else margin
            radius = problem.radius if radius is None else radius
        elif trace.inner is not None and w_star is not None:
            inner = trace.inner / math.hypot(*w_star)
        else:
            raise ValueError("The proof needs a rule w* that separates the rows: give X and y.")
        if margin is None or radius is None or not (margin > 0.0 and radius > 0.0):
            raise ValueError(
                f"The proof needs a positive margin and radius, not {margin}, {radius}."
            )
        length = np.sqrt(trace.squared_norm)
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

    def _draw(self, axes: list[Axes]) -> None:
        gamma, R = style.format_number(self.margin), style.format_number(self.radius)
        last = style.format_number(style.whole_bound((self.radius / self.margin) ** 2))
        below, above, slope = "t·γ", "t·R²", f"√t·γ/R (dashed; it is 1 at t = R²/γ² = {last})"
        if not self.plain:
            below, above, slope = "γ·Στ", "R²·Στ² + 2δ·Στ", "their quotient (dashed)"
        draw_panel(axes[0], self.inner, self.inner_bound, np.inf)
        draw_panel(axes[1], self.squared_norm, self.squared_norm_bound, 0.0)
        draw_panel(axes[2], self.cosine, self.cosine_bound, 1.0)
        style.label_axes(axes[0], title=f"⟨w*, wₜ⟩ (solid) ≥ {below} (dashed), γ = {gamma}")
        style.label_axes(axes[1], title=f"‖wₜ‖² (solid) ≤ {above} (dashed), R = {R}")
        style.label_axes(axes[2], x="updates t", title=f"cos∠(w*, wₜ) (solid) ≥ {slope}")


@dataclass(eq=False, repr=False)
class PocketDisplay(style.Display):
    """The mistakes of the pocket's rule against updates, and below them the proved bound (A6, E2).

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> clf = nv.Pocket(random_state=0).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> display = PocketDisplay.from_estimator(clf, ax=blank_axes()[0])
    >>> int(display.mistakes[-1]), display.lower_bound
    (1, 1)
    """

    updates: Vector
    mistakes: Vector
    lower_bound: float
    title: str

    @classmethod
    def from_estimator(
        cls, estimator: LinearClassifier, *, rule: Side | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the history of a fitted `novikoff.Pocket`."""
        if not hasattr(estimator, "history_"):
            name = type(estimator).__name__
            raise ValueError(f"A {name} has no history_ to draw: give a fitted novikoff.Pocket.")
        at, positive, negative = find_rule(estimator, rule)
        several = isinstance(estimator.history_, list)
        history = estimator.history_[at] if several else estimator.history_
        bounds = estimator.errors_lower_bound_
        other = "the rest" if negative is None else style.clean_name(negative)
        title = f"{style.clean_name(positive)} against {other}"
        updates, mistakes = np.array(history).T
        return cls(updates, mistakes, bounds[at] if several else bounds, title).plot(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        last = style.format_number(float(self.mistakes[-1]))
        look: Any = {"drawstyle": "steps-post", "color": style.POSITIVE, "lw": 1.8, "ms": 3.0}
        look["marker"] = "o" if len(self.updates) <= 60 else ""
        name = f"mistakes of the best rule so far ({last} at the end)"
        ax.plot(self.updates, self.mistakes, label=name, **look)
        if self.lower_bound > 0:
            name = f"proved: every rule makes {style.format_number(self.lower_bound)} at least"
            ax.axhline(self.lower_bound, color=style.INK, lw=1.4, ls=style.DASHES, label=name)
        ax.set_ylim(0.0, 1.05 * max(float(self.mistakes.max()), 1.0))
        ax.set_xlim(left=0.0)
        style.label_axes(ax, x="updates", y="mistakes", title=self.title)
        style.format_counts(ax, "x", "y")
        style.legend_below(ax, columns=1)


def draw_panel(
    ax: Axes, values: Vector, bound: Vector, until: float, shown: int | None = None
) -> list[Line2D]:
    """A quantity, its bound, and the allowed side of the bound, up to a limit, in colour.

    Of the quantity, whose line is returned, only the first values are ``shown``, if not all.
    """
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
    past = slice(None) if shown is None else some < shown
    lines = ax.plot(t[past], y[past], color=style.POSITIVE, lw=1.8, marker=marker, ms=3.0)
    ax.plot(t, limit, color=style.INK, lw=1.2, ls=style.DASHES, marker=marker, ms=2.0)
    ax.set_ylim(bottom, top)
    ax.set_xlim(0.0, 1.02 * len(values) + 0.5)
    style.format_counts(ax, "x")
    if until != 1.0:
        ax.yaxis.set_major_formatter(lambda value, _: style.format_number(value))
    return lines


def _aligned(rule: Rule, problem: Problem, w_star: Vector | None) -> Vector:
    """All ⟨a_i, w*⟩ for w* at length 1; ValueError if one is not positive."""
    from novikoff.core.problem import products

    if w_star is None:
        found = separating(problem)
        if found is None:
            raise ValueError(
                "No rule separates these rows, so there is no w* and nothing to prove: "
                "novikoff.separate shows why."
            )
        w_star = found[0]
    w_star = np.append(w_star, 0.0)[: problem.p] / math.hypot(*w_star)
    aligned = products(problem, w_star)
    worst = int(np.argmin(aligned))
    if not aligned[worst] > 0.0:
        raise ValueError(
            f"The rule w* does not separate the rows: y·f(x) is {aligned[worst]:.3g} in row "
            f"{rule.rows[worst]}, and nothing is proved by it."
        )
    return aligned


def _check_start(trace: Trace) -> None:
    if trace.margin[0] != 0.0:
        raise ValueError(
            "The run did not start from zero weights, as the theorem has it: fit without "
            "warm_start, coef_init and intercept_init."
        )
