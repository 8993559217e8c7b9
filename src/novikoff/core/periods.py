"""Find the period of a run whose weights repeat, which proves that the run never ends."""

from __future__ import annotations

import numpy as np

from novikoff.core.problem import Rows, row_blocks
from novikoff.core.rows import Mask, Vector, stored_numbers
from novikoff.core.updates import Update
from novikoff.core.validation import MAX_EXACT


class Repetition:
    """Brent's algorithm (1980): find the period of the weights of K rules at the ends of epochs.

    On any data ‖w_t‖ stays bounded, so that integer weights take finitely many values. If
    every epoch visits the rows in the same order, the weights at the end of an epoch determine all
    later weights. So if the weights repeat once, they repeat forever, and the run never ends. In
    that case the updates of one period add up to zero: Σ k_i·a_i = 0, with k_i > 0 for each row i
    that caused an update in the period. Therefore no w has ⟨a_i, w⟩ > 0 on all of these rows.

    The weights at the end of each epoch are compared with weights that were saved before. They are
    saved at the start and after epochs 1, 3, 7, 15, … When the weights equal the saved weights for
    the first time, the number of epochs since these were saved is the smallest period. ``periods``
    has the period of each rule, or None.

    References
    ----------
    Brent, R. P. (1980). An improved Monte Carlo factorization algorithm. *BIT* 20(2), 176-184.

    Examples
    --------
    >>> watch = Repetition(np.zeros((1, 1)))
    >>> for w in (1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0):
    ...     watch.compare(np.array([[w]]), active=np.array([True]))
    >>> watch.periods
    [3]
    """

    def __init__(self, W: Vector) -> None:
        self.periods: list[int | None] = [None] * W.shape[1]
        self._start = self._saved = W.copy()
        self._since, self._power = 0, 1

    def compare(self, W: Vector, active: Mask) -> None:
        """Compare the weights of the active rules at the end of an epoch with the saved weights."""
        self._since += 1
        for rule in np.flatnonzero((self._saved == W).all(axis=0) & active).tolist():
            self.periods[rule] = self.periods[rule] or self._since
        if self._since == self._power:
            self._saved, self._since, self._power = W.copy(), 0, 2 * self._power

    def proved(self, rows: Rows, update: Update, updates: int) -> list[int | None]:
        """Return the periods that are proved; None for each rule where no period is proved.

        A period is proved if all numbers of the run were integers below 2⁵³, because sums of such
        integers are exact.
        """
        largest = 1.0
        whole = update.eta == 0.0 and update.step_size % 1.0 == 0.0
        whole = whole and bool((self._start % 1.0 == 0.0).all())
        for begin, end in row_blocks(rows.X) if whole and any(self.periods) else ():
            numbers = stored_numbers(rows.X[begin:end])
            whole = whole and bool((numbers % 1.0 == 0.0).all())
            largest = max(largest, float(np.abs(numbers).max(initial=0.0)))
        reach = float(np.abs(self._start).max()) + updates * update.step_size * largest
        exact = whole and reach * largest * rows.longest < MAX_EXACT
        return self.periods if exact else [None] * len(self.periods)
