"""Checking a certificate of any kind against arrays, or against a model of another package."""

from __future__ import annotations

import numpy.typing as npt

from novikoff.proofs.certificate import Certificate
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.system_certificate import SystemProof
from novikoff.systems.modellers import model_system, package_of
from novikoff.systems.system_model import SystemModel


def verify(
    certificate: Certificate | ErrorBound | SystemProof,
    X: object = None,
    y: object = None,
    sample_weight: npt.ArrayLike | None = None,
    **system: object,
) -> str:
    """Check a certificate against the data that it is about, in exact arithmetic.

    Parameters
    ----------
    certificate : Certificate, ErrorBound, SystemCertificate or RelaxationCertificate
        The proof.
    X, y
        The rows and labels; for a system of inequalities, A and c, or a model that `explain` takes.
    sample_weight : array of shape (n,), optional
        The cost of a mistake on each row, for an ErrorBound about costs.
    **system
        The parts of a system of inequalities by their names: A, c, A_eq, c_eq, lower, upper,
        strict.

    Returns
    -------
    str
        The proved claim, with its hypotheses and numbers.

    Raises
    ------
    CertificateError
        If the data differs from that of the certificate, or a claim is false. The message names
        the claim.

    See Also
    --------
    separate : Decide separability; the verdict has a certificate.
    Pocket : Find a rule with few mistakes; it has a certificate of a lower bound.
    solve : Solve inequalities; the solution has a certificate.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdict = nv.separate([[1.0], [2.0], [4.0]], ["low", "low", "high"])
    >>> checked = nv.verify(verdict.certificate, [[1.0], [2.0], [4.0]], ["low", "low", "high"])
    >>> checked.partition(". ")[0]
    "Separable (complete separation): a hyperplane with a bias separates 'low' from 'high', in 3 \
rows of 1 column"
    """
    if isinstance(certificate, SystemProof):
        _verify_system(certificate, X, y, system)
    elif isinstance(certificate, Certificate):
        certificate.verify(X, y)
    elif isinstance(certificate, ErrorBound):
        certificate.verify(X, y, sample_weight)
    else:
        raise TypeError(
            "verify() checks one Certificate, ErrorBound, SystemCertificate or "
            f"RelaxationCertificate, not {type(certificate).__name__}; from_json() makes a "
            "certificate from text."
        )
    return certificate.claim()


def _verify_system(proof: SystemProof, X: object, y: object, parts: dict[str, object]) -> None:
    """Check a certificate against a model, or against arrays by position or by name."""
    model = model_system(X) if package_of(X) else X
    if isinstance(model, SystemModel):
        if y is not None or parts:
            name = "y" if y is not None else next(iter(parts))
            raise TypeError(f"{name} cannot be used with a model, which has its own rows.")
        proof.check(model.stated)
        return
    by_position = {name: part for name, part in (("A", X), ("c", y)) if part is not None}
    proof.verify(**({"A": None, "c": None} | by_position | parts))
