"""The proof that every rule makes so many mistakes, for a stranger to check (C5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from novikoff.geometry import exact
from novikoff.geometry.checker import (
    CertificateError,
    Dependence,
    check_contradiction,
    matching_rows,
)
from novikoff.geometry.sealed import Record, open_sealed, read_dependence, sealed, write_dependence
from novikoff.geometry.table import Label


@dataclass(frozen=True)
class ErrorBound:
    """Contradictions that share no row: every hyperplane errs on each of them.

    Attributes
    ----------
    bound : Fraction
        What the mistakes of any hyperplane cost at least; with prices of 1, their number.
    contradictions : tuple of Dependence
        Sets of rows that no hyperplane gets right, without a common row.
    n, d, fit_intercept, positive, negative, sha256
        The data, as in `Certificate`.
    """

    bound: Fraction
    contradictions: tuple[Dependence, ...]
    n: int
    d: int
    fit_intercept: bool
    positive: Label
    negative: Label
    sha256: str

    def verify(
        self, X: object, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> None:
        """Check every claim against the data, in exact arithmetic; blocks have their own labels.

        Raises
        ------
        CertificateError
            If anything does not hold; the message says what.
        """
        named = [row for claim in self.contradictions for row in claim.named]
        rows = matching_rows(self, X, y, named)
        prices = _prices(sample_weight, self.n)
        seen: set[int] = set()
        total = Fraction(0)
        for claim in self.contradictions:
            check_contradiction(claim, rows)
            among = claim.among or ()
            if seen & set(among):
                raise CertificateError(f"Row {min(seen & set(among))} is in two contradictions.")
            seen |= set(among)
            total += min(prices[i] for i in among)
        if total < self.bound:
            raise CertificateError(
                f"The contradictions prove mistakes of {_short(total)}, not of "
                f"{_short(self.bound)}; is it about prices, that is sample_weight?"
            )
        if self.bound < 0:
            raise CertificateError("A bound below zero claims nothing.")

    def to_json(self) -> str:
        """The proof as text, numbers exact."""
        return self._text

    @cached_property
    def _text(self) -> str:
        body: dict[str, object] = {
            "kind": "lower bound",
            "bound": exact.write(self.bound),
            "n": self.n,
            "d": self.d,
            "fit_intercept": self.fit_intercept,
            "positive": self.positive,
            "negative": self.negative,
            "sha256": self.sha256,
            "contradictions": [write_dependence(claim) for claim in self.contradictions],
        }
        return sealed(body)

    @classmethod
    def from_json(cls, text: str) -> ErrorBound:
        """Read a proof; one that was altered is refused with CertificateError."""
        record = Record(open_sealed(text), "")
        if record.get("kind") != "lower bound":
            raise CertificateError(f"The certificate's kind is {record.get('kind')!r}.")
        claims = map(read_dependence, record.parts("contradictions"))
        return cls(
            bound=record.exact("bound"),
            contradictions=tuple(claim for claim in claims if claim is not None),
            n=record.count("n"),
            d=record.count("d"),
            fit_intercept=record.flag("fit_intercept"),
            positive=record.label("positive"),
            negative=record.label("negative"),
            sha256=record.text("sha256"),
        )


def _short(number: Fraction) -> str:
    try:
        return f"{float(number):g}"
    except OverflowError:
        return "more than float64 can hold"


def _prices(sample_weight: npt.ArrayLike | None, n: int) -> Sequence[Fraction]:
    if sample_weight is None:
        return [Fraction(1)] * n
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0.0).any():
        raise CertificateError(f"The weights are not {n} numbers ≥ 0.")
    return [Fraction(value) for value in weights.tolist()]
