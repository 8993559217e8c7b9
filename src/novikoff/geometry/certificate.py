"""A proof that a stranger can check: it needs the data and nothing of the solver.

The claim behind every kind is one theorem (Gordan 1873, Stiemke 1915; Goldman and Tucker
1956): for given rows a_i there are w and λ ≥ 0 with ⟨a_i, w⟩ ≥ 0 for all i, Σ λ_i a_i = 0,
and for each row either ⟨a_i, w⟩ > 0 or λ_i > 0, never both. The rows fall into the
separated, I, and the others, J. *Separable* is J = ∅, *inseparable* is I = ∅, and
*quasi-separable* is what lies between. A certificate holds w and λ.

On J, λ = 1 + μ with μ on at most p rows; so it is short however many rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy.typing as npt

from novikoff.geometry import exact
from novikoff.geometry.checker import CertificateError, Dependence, Margin, check, matching_rows
from novikoff.geometry.sealed import Record, open_sealed, read_dependence, sealed, write_dependence
from novikoff.geometry.table import Label

if TYPE_CHECKING:
    from novikoff.geometry.error_bound import ErrorBound

Kind: TypeAlias = Literal["separable", "quasi-separable", "inseparable", "not separable"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True)
class Certificate:
    """The proof of a verdict (C2, C3).

    Attributes
    ----------
    kind : str
        One of "separable", "quasi-separable", "inseparable", or "not separable" where
        only the contradiction is known.
    n, d : int
        Rows and columns of X.
    fit_intercept : bool
        Whether the rows are padded with 1.
    positive, negative : str, int, float, bool or None
        The labels; ``negative`` is None where every other label is.
    sha256 : str
        The digest of the data, the same for dense and sparse storage.
    w : tuple of Fraction or None
        The weights, the bias last; None stands for zero.
    dependence : Dependence or None
        λ on the rows that w leaves at zero; or, if inseparable, on p + 1 rows with the origin
        inside their simplex: a verified solve with p of them shows that they span
        everything, so that Σ λ_i⟨a_i, w⟩ = 0 leaves no w with all ⟨a_i, w⟩ ≥ 0 but zero.
    contradiction : Dependence or None
        A few rows that no w can separate.
    margin : Margin or None
        Bounds on the margin.
    radius : float or None
        An upper bound on R = max‖a_i‖.
    mistake_bound : int or None
        ⌈R²/γ²⌉ for γ = margin.lo.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> proof = nv.separate(X, y).certificate
    >>> proof.kind
    'inseparable'
    >>> nv.Certificate.from_json(proof.to_json()).verify(X, y)
    >>> proof.verify(X, [0, 1, 1, 1])
    Traceback (most recent call last):
        ...
    novikoff.geometry.checker.CertificateError: The certificate is for other data: the \
digest of the rows and labels differs.
    """

    kind: Kind
    n: int
    d: int
    fit_intercept: bool
    positive: Label
    negative: Label
    sha256: str
    w: tuple[Fraction, ...] | None = None
    dependence: Dependence | None = None
    contradiction: Dependence | None = None
    margin: Margin | None = None
    radius: float | None = None
    mistake_bound: int | None = None

    def verify(self, X: object, y: object = None) -> None:
        """Check every claim against the data, in exact arithmetic.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d), or blocks
            The data.
        y : array of shape (n,)
            The labels; blocks have their own.

        Raises
        ------
        CertificateError
            If anything does not hold; the message says what.
        """
        check(self, matching_rows(self, X, y, self._named()))

    def _named(self) -> list[int]:
        """The rows that it speaks of by number."""
        claims = [self.dependence, self.contradiction]
        named = [row for claim in claims if claim is not None for row in claim.named]
        return named if self.margin is None else [*named, *self.margin.rows]

    def to_json(self) -> str:
        """The certificate as text, numbers exact."""
        return self._text

    @cached_property
    def _text(self) -> str:
        return sealed(_write(self))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; one that was altered is refused with CertificateError."""
        return _read(Record(open_sealed(text), ""))


def verify(
    certificate: Certificate | ErrorBound,
    X: object,
    y: object = None,
    sample_weight: npt.ArrayLike | None = None,
) -> None:
    """Check a certificate against data; CertificateError says what does not hold.

    Parameters
    ----------
    certificate : Certificate or ErrorBound
        The proof.
    X, y
        The rows and labels that it is about, or blocks alone.
    sample_weight : array of shape (n,), optional
        The price of a mistake on each row, for an ErrorBound about prices.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdict = nv.separate([[1.0], [2.0], [4.0]], ["low", "low", "high"])
    >>> nv.verify(verdict.certificate, [[1.0], [2.0], [4.0]], ["low", "low", "high"])
    """
    if isinstance(certificate, Certificate):
        certificate.verify(X, y)
    elif hasattr(certificate, "contradictions"):
        certificate.verify(X, y, sample_weight)
    else:
        raise TypeError(
            "A Certificate or an ErrorBound is checked, one at a time, not "
            f"{type(certificate).__name__}; from_json() makes one from text."
        )


def _write(proof: Certificate) -> dict[str, object]:
    """The certificate in terms of JSON, every number exact."""
    margin = proof.margin
    return {
        "kind": proof.kind,
        "n": proof.n,
        "d": proof.d,
        "fit_intercept": proof.fit_intercept,
        "positive": proof.positive,
        "negative": proof.negative,
        "sha256": proof.sha256,
        "w": None if proof.w is None else [exact.write(value) for value in proof.w],
        "dependence": write_dependence(proof.dependence),
        "contradiction": write_dependence(proof.contradiction),
        "margin": None
        if margin is None
        else {
            "lo": margin.lo.hex(),
            "hi": margin.hi.hex(),
            "rows": list(margin.rows),
            "weights": [exact.write(value) for value in margin.weights],
        },
        "radius": None if proof.radius is None else proof.radius.hex(),
        "mistake_bound": proof.mistake_bound,
    }


def _read(record: Record) -> Certificate:
    """The certificate from terms of JSON; whatever is not as it should be is refused."""

    def bounds() -> Margin | None:
        claim = record.part("margin")
        if claim is None:
            return None
        return Margin(
            claim.number("lo"), claim.number("hi"), claim.rows("rows"), claim.numbers("weights")
        )

    kind = next((kind for kind in KINDS if kind == record.get("kind")), None)
    if kind is None:
        raise CertificateError(
            f"The certificate's kind is {record.get('kind')!r}: a 'lower bound' is read by "
            "ErrorBound.from_json, others are not known."
        )
    limit = None if record.get("mistake_bound") is None else record.count("mistake_bound")
    return Certificate(
        kind=kind,
        n=record.count("n"),
        d=record.count("d"),
        fit_intercept=record.flag("fit_intercept"),
        positive=record.label("positive"),
        negative=record.label("negative"),
        sha256=record.text("sha256"),
        w=None if record.get("w") is None else record.numbers("w"),
        dependence=read_dependence(record.part("dependence")),
        contradiction=read_dependence(record.part("contradiction")),
        margin=bounds(),
        radius=None if record.get("radius") is None else record.number("radius"),
        mistake_bound=limit,
    )
