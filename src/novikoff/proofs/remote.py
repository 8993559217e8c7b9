"""Rows in other processes: the interface that `separate`, `verify` and `fit` use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.error_bound import ErrorBound


class RemoteRows(ABC):
    """Labelled rows in other processes, which may be passed instead of X and y.

    `novikoff.cluster.rows` makes them. The results have the same types as for arrays.
    """

    d: int
    labels: list[Any]  # sorted
    names: Sequence[Any]  # the names of the columns, or their numbers
    named: bool  # whether columns have names

    def check_alone(self, y: object) -> None:
        """Raise ValueError if y is given: the rows of a cluster include their labels."""
        if y is not None:
            raise ValueError("Rows of a cluster include their labels: do not pass y.")

    @abstractmethod
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

    @abstractmethod
    def verify(self, certificate: Certificate | ErrorBound) -> None:
        """Check every claim of a certificate; raise CertificateError if a claim is false."""

    @abstractmethod
    def fit(self, plan: Any, scheme: Any, labels: Any, fit_intercept: bool) -> Any:
        """Run the perceptron for all rules of a scheme."""

    @abstractmethod
    def fewest_mistakes(
        self, sides: Any, fit_intercept: bool, limits: Any, seed: int, **options: Any
    ) -> Any:
        """Find a rule with few mistakes for each pair of sides, with the options of `Pocket`."""
