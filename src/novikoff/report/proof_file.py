"""The certificates of a study in one file, with what is needed to read its data again.

JSON: the certificates as they are (each under its own seal) and, beside them, the
preprocessing of the data. What a certificate proves, it proves about the data read in this way:
whoever checks it is to be told which columns, label and means that are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from novikoff.geometry.certificate import Certificate
from novikoff.geometry.checker import CertificateError
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.sealed import indented

SCHEMA_VERSION = 1
_KIND = "novikoff certificates"


@dataclass(frozen=True)
class Proofs:
    """Certificates, and how the data they are about was read.

    Examples
    --------
    >>> import novikoff as nv
    >>> proof = nv.separate([[1.0], [2.0]], [0, 1]).certificate
    >>> read(dump([proof], {"source": "two.csv"})).proofs == [proof]
    True
    """

    proofs: list[Certificate | ErrorBound]
    data: dict[str, object]
    preprocessing: dict[str, object] | None


def dump(
    proofs: Sequence[Certificate | ErrorBound],
    data: Mapping[str, object],
    preprocessing: Mapping[str, object] | None = None,
) -> str:
    """The text of the file."""
    body = {
        "kind": _KIND,
        "schema_version": SCHEMA_VERSION,
        "data": dict(data),
        "preprocessing": None if preprocessing is None else dict(preprocessing),
        "proofs": plain(proofs),
    }
    return indented(body, allow_nan=False) + "\n"


def plain(proofs: Sequence[Certificate | ErrorBound]) -> list[object]:
    """The certificates in terms of JSON."""
    return [json.loads(proof.to_json()) for proof in proofs]


def read(text: str) -> Proofs:
    """Read a file of certificates, or a single certificate as `Certificate.to_json` writes it.

    Raises
    ------
    CertificateError
        If it is neither, or was altered.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"The certificate is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise CertificateError("The certificate is not a JSON object.")
    if body.get("kind") != _KIND:
        return Proofs([_proof(body)], {}, None)
    version = body.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise CertificateError(
            f"The file has schema version {version!r}; this program reads {SCHEMA_VERSION}."
        )
    proofs, data = body.get("proofs"), body.get("data")
    preprocessing = body.get("preprocessing")
    if not isinstance(proofs, list) or not all(isinstance(part, dict) for part in proofs):
        raise CertificateError("The file has no list of proofs.")
    if not proofs:
        raise CertificateError("The file holds no proof.")
    if not isinstance(data, dict) or not isinstance(preprocessing, dict | None):
        raise CertificateError("The file does not say how its data was read.")
    return Proofs([_proof(part) for part in proofs], data, preprocessing)


def _proof(body: dict[str, object]) -> Certificate | ErrorBound:
    text = json.dumps(body)
    if body.get("kind") == "lower bound":
        return ErrorBound.from_json(text)
    return Certificate.from_json(text)
