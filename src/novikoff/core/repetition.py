"""A run that comes back to its weights goes round for ever (B8; Thm 1.35 of the source notes).

On any data ‖w_t‖ stays bounded, so that integer weights take finitely many values. Where every
epoch visits the rows in the same order, the weights at its end decide all that follows: once they
repeat, the run cycles. The rows acted on within a period then add up to zero with positive factors,
Σ k_i·a_i = 0, and no w has ⟨a_i, w⟩ > 0 for all of them: no rule separates the data.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, stretches
from novikoff.core.rows import Vector
from novikoff.core.updates import Update

_EXACT = 2.0**53  # integers up to here, and their sums, are exact in float64


class Repetition:
    """Watches the weights of K rules at the ends of epochs, by Brent's algorithm (1980).

    The weights are compared with those at the last power of two of epochs: the first time that
    they are equal, the distance is the smallest period. ``periods`` has it for each rule, or None.

    Examples
    --------
    >>> watch = Repetition(np.zeros((1, 1)))
    >>> for w in (1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0):
    ...     watch.look(np.array([[w]]), active=np.array([True]))
    >>> watch.periods
    [3]
    """

    def __init__(self, W: Vector) -> None:
        self.periods: list[int | None] = [None] * W.shape[1]
        self._start = self._saved = W.copy()
        self._since, self._power = 0, 1

    def look(self, W: Vector, active: npt.NDArray[np.bool_]) -> None:
        """Compare the weights at the end of an epoch with those kept, of rules that go on."""
        self._since += 1
        for rule in np.flatnonzero((self._saved == W).all(axis=0) & active).tolist():
            self.periods[rule] = self.periods[rule] or self._since
        if self._since == self._power:
            self._saved, self._since, self._power = W.copy(), 0, 2 * self._power

    def proved(self, problem: Problem, update: Update, updates: int) -> list[int | None]:
        """The periods, if every sum of the run was one of integers below 2⁵³."""
        largest, whole = 1.0, update.eta == 0.0 and update.step % 1.0 == 0.0
        whole = whole and bool((self._start % 1.0 == 0.0).all())
        for begin, end in stretches(problem.X) if whole and any(self.periods) else ():
            part = problem.X[begin:end]
            entries = part if isinstance(part, np.ndarray) else part.data
            whole = whole and bool((entries % 1.0 == 0.0).all())
            largest = max(largest, float(np.abs(entries).max(initial=0.0)))
        reach = float(np.abs(self._start).max()) + updates * update.step * largest
        exact = whole and reach * largest * problem.longest < _EXACT
        return self.periods if exact else [None] * len(self.periods)
