"""Mistakes as they are made, below the bound that the theorem sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.rule import LinearClassifier, Side, rule_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.rows import Indices, SparseMatrix
    from novikoff.core.trace import Trace

# A bound so many times above the curve would press it flat: the axis is logarithmic then.
_FAR_ABOVE = 10.0


def trace_of(estimator: LinearClassifier, rule: Side | None) -> Trace:
    """The trace of one rule, of which there must be an update."""
    found: Trace | list[Trace] | None = getattr(estimator, "trace_", None)
    if found is None:
        raise ValueError("There is no trace: fit a novikoff.Perceptron with trace=True first.")
    trace = found[rule_number(estimator, rule)] if isinstance(found, list) else found
    if len(trace) == 0:
        raise ValueError("The trace is empty: the run made no update.")
    return trace


def refuse_other_starts(trace: Trace) -> None:
    """Raise ValueError if the run did not begin at zero, as the theorem's does."""
    if trace.margin[0] != 0.0:
        raise ValueError(
            "The run did not start from zero weights, as the theorem has it: fit without "
            "warm_start, coef_init and intercept_init."
        )


@dataclass(eq=False)
class MistakesDisplay:
    """Mistakes so far against rows looked at, and the bound R²/γ² on them.

    Attributes
    ----------
    looked_at : array of int
        How many rows had been looked at with each update.
    updates, mistakes : arrays of int
        How many there had been; they differ if the perceptron has a margin δ > 0.
    bound : float or None
        R²/γ², given both; (R² + 2δ/μ)/γ² with a margin δ and a step μ.
    bound_name : str
        The formula of the bound.
    ax_, figure_
        What it was drawn on.

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

    looked_at: Indices
    updates: Indices
    mistakes: Indices
    bound: float | None = None
    bound_name: str = "R²/γ²"
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
        """Draw the mistakes of a traced run.

        Parameters
        ----------
        estimator : novikoff.Perceptron
            Fitted with ``trace``.
        X, y
            Not needed; taken for the sake of the convention.
        rule : label, or pair of labels for one-vs-one
            Which of several rules.
        margin, radius : float, optional
            γ, or a number below it, and R, or a number above it. Given both, the bound is
            drawn.
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        MistakesDisplay
        """
        trace = trace_of(estimator, rule)
        bound, name = None, "R²/γ²"
        if margin is not None and radius is not None:
            bound, name = _bound(estimator, trace, radius, margin)
        display = cls(
            trace.step + 1,
            np.arange(1, len(trace) + 1),
            np.cumsum(trace.margin <= 0.0),
            bound,
            name,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        MistakesDisplay
            This one, with ``ax_`` and ``figure_``.
        """
        style.require_matplotlib()
        ax = style.pyplot_axes(4.4)[0] if ax is None else ax
        most = int(self.updates[-1])
        logarithmic = self.bound is not None and self.bound > _FAR_ABOVE * most
        some = style.thinned(most)
        x = np.append(0, self.looked_at[some])
        steps = "steps-post" if len(some) == most else "default"  # where steps can be seen
        curves = [(self.mistakes, "mistakes", "-", 1.6)]
        if (self.mistakes != self.updates).any():
            curves.append((self.updates, "updates", ":", 1.4))
        for numbers, name, dashes, width in curves:
            ax.plot(
                x,
                np.append(0, numbers[some]),
                ls=dashes,
                lw=width,
                color=style.INK,
                drawstyle=steps,
                label=f"{name} ({int(numbers[-1]):,})",
            )
        if self.bound is not None and np.isfinite(self.bound):
            name = f"bound {self.bound_name} = {style.format_number(self.bound)}"
            ax.axhline(self.bound, color=style.GREY, lw=1.4, ls=(0, (5, 3)), label=name)
        if logarithmic:
            ax.set_yscale("log")
            ax.set_ylim(bottom=0.8)
        else:
            ax.set_ylim(bottom=0.0)
        ax.set_xlim(left=0.0)
        counted = " and ".join(name for _, name, _, _ in curves)
        style.label_axes(ax, x="rows looked at", y=f"{counted} so far")
        style.number_ticks(ax, "x", "y")
        style.legend_below(ax, columns=3)
        self.ax_, self.figure_ = ax, style.figure_of(ax)
        return self


def _bound(
    estimator: LinearClassifier, trace: Trace, radius: float, margin: float
) -> tuple[float, str]:
    """From t·μ·γ ≤ ‖w_t‖ and ‖w_t‖² ≤ t·(μ²·R² + 2·δ·μ)."""
    from novikoff.theory.bounds import mistake_bound

    refuse_other_starts(trace)
    if (trace.tau != trace.tau[0]).any():
        raise ValueError(
            "The steps of this run differ in size, by weights of rows or classes: R²/γ² bounds "
            "runs of equal steps. Leave out margin and radius."
        )
    bound = mistake_bound(radius, margin)
    delta = float(getattr(estimator, "margin", 0.0))
    if delta == 0.0:
        return bound, "R²/γ²"
    return bound + 2.0 * delta / float(trace.tau[0]) / margin**2, "(R² + 2δ/μ)/γ²"
