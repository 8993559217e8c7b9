"""Rows that are not in this process, as `separate`, `verify` and `fit` know them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound


class RemoteRows:
    """Labelled rows that are somewhere else: `novikoff.cluster.rows` makes them.

    They stand in the place of X, and there is no y. What is asked of them is the same as of
    arrays, and the answers are the same objects.
    """

    d: int
    labels: list[Any]  # sorted
    names: Sequence[Any]  # of the columns, or their numbers
    named: bool  # whether columns have names

    def separate(
        self,
        *,
        positive: Hashable,
        fit_intercept: bool,
        tol: float,
        goal: Any,
        budget: float | None,
        progress: Any,
    ) -> Any:
        """Decide as `novikoff.separate` does, with the same options."""
        raise NotImplementedError

    def verify(self, certificate: Certificate | ErrorBound) -> None:
        """Check every claim of a certificate; CertificateError says what does not hold."""
        raise NotImplementedError

    def fit(self, plan: Any, scheme: Any, labels: Any, fit_intercept: bool) -> Any:
        """Run the perceptron for all rules of a scheme."""
        raise NotImplementedError

    def fewest_mistakes(self, plan: Any, sides: Any, fit_intercept: bool, **options: Any) -> Any:
        """Find a rule with few mistakes for each pair of sides, with the options of `Pocket`."""
        raise NotImplementedError
