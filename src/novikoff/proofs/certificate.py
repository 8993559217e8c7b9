"""A proof that a stranger can check: it needs the data and nothing of the solver.

The claim behind every kind is one theorem (Gordan 1873, Stiemke 1915; Goldman and Tucker
1956): for given rows a_i there are w and λ ≥ 0 with ⟨a_i, w⟩ ≥ 0 for all i, Σ λ_i a_i = 0,
and for each row either ⟨a_i, w⟩ > 0 or λ_i > 0, never both. The rows fall into the
separated, I, and the others, J. *Separable* is J = ∅, *inseparable* is I = ∅, and
*quasi-separable* is what lies between. A certificate holds w and λ.

On J, λ = 1 + μ with μ on at most p rows; so it is short however many rows there are.

`proof_text` writes and reads it, `checker` checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy.typing as npt

from novikoff.proofs.checker import Checking, Dependence, GeometricMargin, Label, Margin
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.proof_text import Proof, describe
from novikoff.proofs.remote import RemoteRows
from novikoff.proofs.system_certificate import SystemCertificate

Kind: TypeAlias = Literal["separable", "quasi-separable", "inseparable", "not separable"]


@dataclass(frozen=True)
class Certificate(Proof):
    """The proof of a verdict (C2, C3, C4).

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
    geometric_margin : GeometricMargin or None
        Bounds on the margin with a free bias, with weights of their own.
    radius : float or None
        An upper bound on R = max‖a_i‖.
    mistake_bound : int or None
        ⌊R²/γ²⌋ for γ = margin.lo. A mistake is y·f(x) ≤ 0: f(x) = 0 counts.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> proof = nv.separate(X, y).certificate
    >>> proof.claim()
    'Inseparable: no hyperplane with a bias, not even weakly, has 1 on one side and 0 on the \
other, in 4 rows of 2 columns.'
    >>> {row: str(weight) for row, weight in proof.multipliers.items()}
    {0: '1', 1: '1', 2: '1', 3: '1'}
    >>> nv.Certificate.from_json(proof.to_json()).verify(X, y)
    >>> proof.verify(X, [0, 1, 1, 1])
    Traceback (most recent call last):
        ...
    novikoff.errors.CertificateError: The certificate is for other data: the \
rows or labels differ from those it is about (another SHA-256 digest).
    """

    kinds = get_args(Kind)
    kinds_of_others = ": a 'lower bound' is read by ErrorBound.from_json, others are not known"

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
    geometric_margin: GeometricMargin | None = None
    radius: float | None = None
    mistake_bound: int | None = None

    def verify(self, X: object, y: object = None) -> None:
        """Check every claim against the data, in exact arithmetic; the data is read once.

        X may be an array, memory-mapped or not, a data frame or a sparse matrix, or rows of a
        cluster, which have their labels with them. CertificateError says what does not hold, or
        where a number is NaN or infinite.
        """
        if isinstance(X, RemoteRows):
            X.check_alone(y)
            X.verify(self)
        else:
            checking = Checking(self)
            checking.look_at(X, y)
            checking.finish()

    def claim(self) -> str:
        """What is proved, in a sentence with its hypotheses."""
        says = {
            "separable": "Separable: a hyperplane {where} has {sides} strictly apart",
            "quasi-separable": "Quasi-separable: no hyperplane {where} has {sides} strictly apart, "
            "but one has them weakly, and some rows strictly",
            "inseparable": "Inseparable: no hyperplane {where}, not even weakly, has {on_sides}",
            "not separable": "Not separable: no hyperplane {where} has {sides} strictly apart",
        }[self.kind]
        return describe(says, self)

    @property
    def multipliers(self) -> dict[int, Fraction]:
        """λ by row, of rows on which it is not zero.

        For a separable set it bounds the margin from above: γ ≤ ‖Σ λ_i a_i‖/Σ λ_i. Else
        Σ λ_i a_i = 0, over the few rows of the contradiction where there is one; over all rows
        that w leaves at zero λ = 1 + μ, and rows that only these are follow from w and the data.
        Where a verified solve proves that λ exists, the numbers here are near it.
        """
        if self.kind == "separable":
            bounds = self.margin
            return {} if bounds is None else dict(zip(bounds.rows, bounds.multipliers, strict=True))
        claim = self.contradiction or self.dependence
        if claim is None:
            return {}
        among: Sequence[int] = claim.rows if claim.among is None else claim.among
        if claim.among is None and self.w is None:
            among = range(self.n)
        more = dict(zip(claim.rows, claim.multipliers, strict=True))
        return {row: 1 + more.get(row, Fraction(0)) for row in among}


def verify(
    certificate: Certificate | ErrorBound | SystemCertificate,
    X: object,
    y: object = None,
    sample_weight: npt.ArrayLike | None = None,
    **system: object,
) -> None:
    """Check a certificate against data; CertificateError says what does not hold.

    Parameters
    ----------
    certificate : Certificate, ErrorBound or SystemCertificate
        The proof.
    X, y
        The rows and labels that it is about; A and c of a system.
    sample_weight : array of shape (n,), optional
        The cost of a mistake on each row, for an ErrorBound about costs.
    **system
        The other parts of a system: A_eq, c_eq, lower, upper, strict.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdict = nv.separate([[1.0], [2.0], [4.0]], ["low", "low", "high"])
    >>> nv.verify(verdict.certificate, [[1.0], [2.0], [4.0]], ["low", "low", "high"])
    """
    if isinstance(certificate, SystemCertificate):
        certificate.verify(X, y, **system)
    elif isinstance(certificate, Certificate):
        certificate.verify(X, y)
    elif isinstance(certificate, ErrorBound):
        certificate.verify(X, y, sample_weight)
    else:
        raise TypeError(
            "A Certificate, an ErrorBound or a SystemCertificate is checked, one at a time, not "
            f"{type(certificate).__name__}; from_json() makes one from text."
        )
