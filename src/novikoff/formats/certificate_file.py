"""The certificates of a study in one file, and how their data was read.

JSON: the certificates as they are (each with its own checksum) and, beside them, the
preprocessing of the data. A certificate proves its claim about the data read in this way, so
its reader is told which columns, label and means that are.

A model holds the proofs of its fit too. `belongs` tells whether a certificate file and a model come
from the same study.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from novikoff.errors import CertificateError, InvalidJsonError
from novikoff.proofs.certificate import Certificate
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.strict_json import parse_object, take_fields
from novikoff.proofs.system_certificate import SystemCertificate

if TYPE_CHECKING:
    from novikoff.formats.model_file import ModelRecord

SCHEMA_VERSION = 2
# The ends of the names of a study's files; what is before them is the same.
MODEL_ENDING: Final = ".novikoff"
CERTIFICATE_ENDING: Final = ".cert.json"
_KIND = "novikoff certificates"
MAX_BYTES = 1 << 28
AnyProof: TypeAlias = Certificate | ErrorBound | SystemCertificate


@dataclass(frozen=True)
class Proofs:
    """Certificates, and how the data they are about was read.

    >>> import novikoff as nv
    >>> proof = nv.separate([[1.0], [2.0]], [0, 1]).certificate
    >>> parse(dump([proof], {"source": "two.csv"})).proofs == [proof]
    True
    """

    proofs: list[AnyProof]
    data: dict[str, object]
    preprocessing: dict[str, object] | None


def dump(
    proofs: Sequence[AnyProof],
    data: Mapping[str, object],
    preprocessing: Mapping[str, object] | None = None,
) -> str:
    """The text of the file."""
    body = {
        "kind": _KIND,
        "schema_version": SCHEMA_VERSION,
        "data": data,
        "preprocessing": preprocessing,
        "proofs": as_json(proofs),
    }
    return json.dumps(body, allow_nan=False) + "\n"


def as_json(proofs: Sequence[AnyProof]) -> list[object]:
    """The certificates in terms of JSON."""
    return [proof.as_json() for proof in proofs]


def read(path: str) -> Proofs:
    """The certificates in a file; CertificateError or ValueError says what is wrong with it."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} is too large for a certificate.")
    try:
        return parse(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a certificate: it is not even text.") from None


def parse(text: str) -> Proofs:
    """The certificates in a text: a file of `dump`, or one certificate as ``to_json`` writes it.

    CertificateError if it is neither, or was altered.
    """
    try:
        body = parse_object(text, "The certificate")
        if body.get("kind") != _KIND:
            return Proofs([_proof(body)], {}, None)
        version = body.get("schema_version")
        if type(version) is not int or version != SCHEMA_VERSION:
            raise InvalidJsonError(
                f"The file has schema version {str(version)[:80]}; this program reads "
                f"{SCHEMA_VERSION}"
            )
        _, _, data, preprocessing, proofs = take_fields(
            body,
            "The file",
            kind="text",
            schema_version="count",
            data="object",
            preprocessing="object or null",
            proofs="list",
        )
        if not proofs or not all(isinstance(part, dict) for part in proofs):
            raise InvalidJsonError("The file holds no proof, or something else beside proofs")
    except InvalidJsonError as error:
        raise CertificateError(f"{error}.") from None
    return Proofs([*map(_proof, proofs)], data, preprocessing)


def belongs(found: Proofs, model: ModelRecord) -> bool | None:
    """Whether a certificate file and a model are of one study; None if the model holds no proofs.

    They are if their proofs are the same, and the data and its preprocessing are described by the
    same words. Nothing is proved by that: `novikoff verify` checks the proofs against the data.
    """
    if model.certificate is None:
        return None
    ours = {"proofs": as_json(found.proofs)}, found.data, found.preprocessing
    theirs = model.certificate, model.data, model.preprocessing
    return [json.dumps(part, sort_keys=True) for part in ours] == [
        json.dumps(part, sort_keys=True) for part in theirs
    ]


def beside(path: str, ending: str, other: str) -> str | None:
    """The file of the same study with another ending, if it is there.

    >>> beside("nowhere/iris.novikoff", MODEL_ENDING, CERTIFICATE_ENDING) is None
    True
    """
    partner = path.removesuffix(ending) + other
    return partner if path.endswith(ending) and Path(partner).is_file() else None


def _proof(body: dict[str, object]) -> AnyProof:
    kinds: dict[str, type[AnyProof]] = {"lower bound": ErrorBound, "system": SystemCertificate}
    return kinds.get(str(body.get("kind")), Certificate).from_fields(body)
