"""The certificates of a study in one file, and how their data was read.

The file is JSON. It contains the certificates, each with its own checksum, and the preprocessing of
the data: its columns, its label, and the means that replace missing values. A certificate proves
its claim about the data that is read in this way.

The model of the study names the digest of the certificate file, so that `belongs` can tell whether
the two files come from the same study.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from novikoff.errors import CertificateError, InvalidJsonError
from novikoff.proofs.certificate import Certificate
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.relaxation_certificate import RelaxationCertificate
from novikoff.proofs.strict_json import check_version, parse_object, take_fields
from novikoff.proofs.system_certificate import SystemCertificate

if TYPE_CHECKING:
    from novikoff.formats.model_record import ModelRecord

_SCHEMA_VERSION = 1
_KIND = "novikoff certificates"
MAX_BYTES = 1 << 28
AnyProof: TypeAlias = Certificate | ErrorBound | SystemCertificate | RelaxationCertificate


@dataclass(frozen=True)
class Proofs:
    """The certificates in a file, and how their data was read.

    >>> import novikoff as nv
    >>> proof = nv.separate([[1.0], [2.0]], [0, 1]).certificate
    >>> parse_proofs(dump_proofs([proof], {"source": "two.csv"}).text).proofs == [proof]
    True
    """

    proofs: list[AnyProof]
    data: dict[str, object]
    preprocessing: dict[str, object] | None


class CertificateText(NamedTuple):
    """The text of a certificate file, and its digest, which the model of the same study names."""

    text: str
    sha256: str


def dump_proofs(
    proofs: Sequence[AnyProof],
    data: Mapping[str, object],
    preprocessing: Mapping[str, object] | None = None,
) -> CertificateText:
    """Return the text of a certificate file, and its digest."""
    written = [proof.as_json() for proof in proofs]
    body = {
        "kind": _KIND,
        "schema_version": _SCHEMA_VERSION,
        "data": data,
        "preprocessing": preprocessing,
        "proofs": written,
    }
    text = json.dumps(body, allow_nan=False) + "\n"
    return CertificateText(text, _digest(written, data, preprocessing))


def read_proofs(path: str) -> Proofs:
    """Read the certificates in a file.

    Raises
    ------
    CertificateError
        If the file is not a certificate, or was altered.
    ValueError
        If the file cannot be read, is too large, or is not text.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} is too large for a certificate.")
    try:
        return parse_proofs(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a certificate: it is not even text.") from None


def parse_proofs(text: str) -> Proofs:
    """Read the certificates in a text: from `dump_proofs`, or one certificate from its ``to_json``.

    CertificateError is raised if the text is neither, or was altered.
    """
    try:
        body = parse_object(text, "The certificate")
        if body.get("kind") != _KIND:
            return Proofs([_proof(body)], {}, None)
        check_version(body, "The file", _SCHEMA_VERSION)
        fields = take_fields(
            body,
            "The file",
            kind="text",
            schema_version="count",
            data="object",
            preprocessing="object or null",
            proofs="list",
        )
        proofs = fields["proofs"]
        if not proofs or not all(isinstance(part, dict) for part in proofs):
            raise InvalidJsonError("The file contains no proof, or something that is not a proof")
    except InvalidJsonError as error:
        raise CertificateError(f"{error}.") from None
    return Proofs([*map(_proof, proofs)], fields["data"], fields["preprocessing"])


def belongs(proofs: Proofs, model: ModelRecord) -> bool | None:
    """Whether a certificate file and a model come from the same study.

    They do if the model names the digest of the certificate file, which covers the proofs, the data
    and its preprocessing. This proves nothing about the data; use `novikoff verify` for that. None
    is returned if the model names no certificate.
    """
    named = model.certificate or {}
    theirs = named.get("sha256")
    if "proofs" in named:  # model files of 0.1.0 before its release hold the proofs themselves
        theirs = _digest(named["proofs"], model.data, model.preprocessing)
    if theirs is None:
        return None
    texts = [proof.as_json() for proof in proofs.proofs]
    return theirs == _digest(texts, proofs.data, proofs.preprocessing)


def _digest(proofs: object, data: object, preprocessing: object) -> str:
    """The SHA-256 of the contents of a certificate file, independent of spacing and key order."""
    text = json.dumps([proofs, data, preprocessing], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _proof(body: dict[str, object]) -> AnyProof:
    kinds: dict[str, type[AnyProof]] = {
        kind: cls
        for cls in (ErrorBound, SystemCertificate, RelaxationCertificate)
        for kind in cls.kinds
    }
    return kinds.get(str(body.get("kind")), Certificate).from_fields(body)
