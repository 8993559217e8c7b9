"""Checking a certificate of any kind against arrays, or against a model of another package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from novikoff.proofs.certificate import Certificate
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.proof_text import Proof
from novikoff.proofs.system_certificate import SystemProof
from novikoff.systems.modellers import model_system, package_of
from novikoff.systems.system_model import SystemModel

# The parts of a system of inequalities, as `novikoff.solve` names them.
_PARTS = ("A", "c", "A_eq", "c_eq", "lower", "upper", "strict")


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
    TypeError
        If an argument was given that the certificate does not speak of, such as sample_weight for
        a verdict. The message names it.

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
    given = [*system] if sample_weight is None else ["sample_weight", *system]
    if isinstance(certificate, SystemProof):
        _reject_others(certificate, given, _PARTS)
        _verify_system(certificate, X, y, system)
    elif isinstance(certificate, Certificate):
        _reject_others(certificate, given, ())
        certificate.verify(X, y)
    elif isinstance(certificate, ErrorBound):
        _reject_others(certificate, given, ("sample_weight",))
        certificate.verify(X, y, sample_weight)
    else:
        raise TypeError(
            "verify() checks one Certificate, ErrorBound, SystemCertificate or "
            f"RelaxationCertificate, not {type(certificate).__name__}; from_json() makes a "
            "certificate from text."
        )
    return certificate.claim()


def _reject_others(proof: Proof, given: Sequence[str], taken: Sequence[str]) -> None:
    """Raise TypeError if an argument besides X and y is not one that the proof is checked with."""
    wrong = [name for name in given if name not in taken]
    if wrong:
        others = f" and {', '.join(taken)}" if taken else ""
        raise TypeError(
            f"{', '.join(wrong)} cannot be checked: this {type(proof).__name__} is about the data"
            f"{others} only."
        )


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
    twice = next((name for name in by_position if name in parts), None)
    if twice is not None:
        raise TypeError(f"{twice} was given twice, by its position and by its name.")
    proof.verify(**({"A": None, "c": None} | by_position | parts))
