"""Tell the user how a fit is going: a line per epoch, and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackContext

from novikoff.core.ledger import Run
from novikoff.learners.inputs import MatrixLike


def print_epoch(epoch: int, updates: int) -> None:
    """The line of an epoch."""
    print(f"epoch {epoch:,}: {updates:,} updates so far")


class Progress:
    """Called with the run after every epoch; True asks it to stop.

    Each epoch is a subtask of the fit, so that ``sklearn.callback.ProgressBar`` and its
    kin can follow the fit, score it and end it.

    Parameters
    ----------
    estimator, context, X, y
        What is being fitted, on what.
    snapshot : callable
        From a run, the attributes of the estimator as if the fit had ended there.
    n_rules : int
        How many rules a complete run has.
    verbose : int
        Print every so many epochs; 0 is never.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        context: CallbackContext,
        X: MatrixLike,
        y: npt.ArrayLike,
        snapshot: Callable[[Run], Mapping[str, object]],
        n_rules: int,
        verbose: int,
    ) -> None:
        self._estimator = estimator
        self._context = context
        self._data = {"X": X, "y": y}
        self._snapshot = snapshot
        self._verbose = verbose
        self._n_rules = n_rules

    def __call__(self, run: Run) -> bool:
        """Report an epoch."""
        epoch = int(run.epochs.max())
        total = int(run.ledger.updates.sum())
        if self._verbose > 0 and epoch % self._verbose == 0:
            print_epoch(epoch, total)
        if run.W.shape[1] != self._n_rules:
            return False  # one rule of several: there is nothing yet to predict with
        task = self._context.subcontext(task_name="epoch")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._estimator,
                reconstruction_attributes=lambda: self._snapshot(run),
                **self._data,
            )
        )
