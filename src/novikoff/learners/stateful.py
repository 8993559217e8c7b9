"""Learners whose model has a loop of its own.

Each is its parameters, its model (`_kind`), and `_settings`, the numbers of the model's formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy.typing as npt

from novikoff.core.model import Model
from novikoff.core.orders import Greedy, Order
from novikoff.core.updates import Update, perceptron
from novikoff.learners.inputs import MatrixLike, OrderLike, RandomState, Rule
from novikoff.learners.online import OnlineLearner, Start, check_resumable, streams


@dataclass(kw_only=True, eq=False, repr=False)
class StateLearner(OnlineLearner):
    """A learner whose rules keep more than weights."""

    order: OrderLike = "permuted"
    max_epochs: int | None = 1000
    max_seconds: float | None = None
    multi_class: Literal["ovr", "ovo"] = "ovr"
    warm_start: bool = False
    random_state: RandomState = None
    verbose: int = 0

    _rules: ClassVar[Mapping[str, Rule]] = {
        name: OnlineLearner._rules[name]
        for name in (
            *("fit_intercept", "order", "max_epochs", "max_seconds", "multi_class"),
            *("class_weight", "warm_start", "random_state", "verbose"),
        )
    }

    def _update(self) -> Update:
        return perceptron()  # a mistake is m ≤ 0

    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle is clean or a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the steps; a row of weight 0 does not take part.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; the estimator then holds what it has learned. After any other exception it is
            what it was before.
        """
        return self._fit(X, y, sample_weight)

    def _order(self) -> Order:
        order = super()._order()
        if isinstance(order, Greedy):
            raise ValueError(
                f"A {type(self).__name__} takes no maximal rule: the order must be one of "
                "cyclic, fixed, permuted, blocks and random, a list, or such an object."
            )
        return order

    def _first_model(self, blank: Model, before: Model | None, start: Start) -> Model:
        """Blank, or a copy of the model of the last fit, to go on from."""
        if before is None:
            return blank
        try:
            streams(self)
        except AttributeError as error:
            raise ValueError(f"warm_start goes on as a stream does. {error}") from None
        check_resumable(before, blank)
        self._check_unchanged(before)
        return before.copy()
