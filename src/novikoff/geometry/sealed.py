"""Certificates as text: JSON whose every field is read by type, under a seal."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import NoReturn

from novikoff.geometry import exact
from novikoff.geometry.checker import CertificateError, Dependence
from novikoff.geometry.table import Label

SCHEMA_VERSION = 1


def sealed(body: dict[str, object]) -> str:
    """The text of a certificate, with its schema version and a digest of itself.

    The digest makes every change to the text known, even one that would leave a proof.
    """
    versioned = {"schema_version": SCHEMA_VERSION, **body}
    return indented({**versioned, "seal": _digest(versioned)}) + "\n"


def indented(value: object, level: int = 0, *, allow_nan: bool = True) -> str:
    """As ``json.dumps(value, indent=1)``, but what holds plain values only is written in C.

    Examples
    --------
    >>> print(indented({"rows": [1, 2], "none": []}))
    {
     "rows": [
      1,
      2
     ],
     "none": []
    }
    """
    if not isinstance(value, dict | list | tuple) or not value:
        return json.dumps(value, allow_nan=allow_nan)
    gap, end = "\n" + " " * (level + 1), "\n" + " " * level
    parts = value.values() if isinstance(value, dict) else value
    if not any(isinstance(part, dict | list | tuple) for part in parts):
        text = json.dumps(value, separators=("," + gap, ": "), allow_nan=allow_nan)
        return text[0] + gap + text[1:-1] + end + text[-1]
    texts = [indented(part, level + 1, allow_nan=allow_nan) for part in parts]
    if not isinstance(value, dict):
        return "[" + gap + ("," + gap).join(texts) + end + "]"
    named = [f"{json.dumps(key)}: {text}" for key, text in zip(value, texts, strict=True)]
    return "{" + gap + ("," + gap).join(named) + end + "}"


def open_sealed(text: str) -> dict[str, object]:
    """The fields of a certificate that was not altered; else CertificateError."""
    try:
        body = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise CertificateError(f"The certificate is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise CertificateError("The certificate is not a JSON object.")
    version = body.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise CertificateError(
            f"The certificate has schema version {version!r}; this "
            f"program reads version {SCHEMA_VERSION}."
        )
    seal = body.pop("seal", None)
    try:
        intact = seal == _digest(body)
    except RecursionError:
        intact = False
    if not intact:
        raise CertificateError("The certificate was altered: its seal does not match.")
    return body


def write_dependence(claim: Dependence | None) -> dict[str, object] | None:
    """A dependence in terms of JSON."""
    if claim is None:
        return None
    return {
        "among": None if claim.among is None else list(claim.among),
        "rows": list(claim.rows),
        "multipliers": [exact.write(mu) for mu in claim.multipliers],
        "exact": claim.exact,
    }


def read_dependence(record: Record | None) -> Dependence | None:
    """A dependence from terms of JSON."""
    if record is None:
        return None
    among = None if record.get("among") is None else record.rows("among")
    numbers = record.numbers("multipliers")
    return Dependence(record.rows("rows"), numbers, record.flag("exact"), among)


class Record:
    """A JSON object whose fields are read by type."""

    def __init__(self, body: dict[str, object], path: str) -> None:
        self.body, self.path = body, path

    def get(self, name: str) -> object:
        """The value of a field that must be there."""
        if name not in self.body:
            raise CertificateError(f"The certificate has no field {self.path + name!r}.")
        return self.body[name]

    def part(self, name: str) -> Record | None:
        """An object, or None."""
        value = self.get(name)
        if value is not None and not isinstance(value, dict):
            self._refuse(name, "an object")
        return None if value is None else Record(value, f"{name}.")

    def parts(self, name: str) -> list[Record]:
        """A list of objects."""
        value = self.get(name)
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            self._refuse(name, "a list of objects")
        return [Record(part, f"{name}[{k}].") for k, part in enumerate(value)]

    def text(self, name: str) -> str:
        """A string."""
        value = self.get(name)
        return value if isinstance(value, str) else self._refuse(name, "a string")

    def flag(self, name: str) -> bool:
        """True or False."""
        value = self.get(name)
        return value if isinstance(value, bool) else self._refuse(name, "true or false")

    def count(self, name: str) -> int:
        """A whole number, not negative."""
        value = self.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        return self._refuse(name, "a whole number")

    def label(self, name: str) -> Label:
        """A label, or None."""
        value = self.get(name)
        if value is None or isinstance(value, str | int | float | bool):
            return value
        return self._refuse(name, "a label")

    def rows(self, name: str) -> tuple[int, ...]:
        """Numbers of rows."""
        value = self.get(name)
        if isinstance(value, list) and all(type(i) is int and 0 <= i < 2**62 for i in value):
            return tuple(value)
        return self._refuse(name, "a list of row numbers")

    def numbers(self, name: str) -> tuple[Fraction, ...]:
        """Exact numbers."""
        value = self.get(name)
        if not isinstance(value, list):
            self._refuse(name, "a list of exact numbers")
        try:
            return tuple(map(exact.parse, value))
        except ValueError:
            return self._refuse(name, "a list of exact numbers")

    def exact(self, name: str) -> Fraction:
        """An exact number."""
        try:
            return exact.parse(self.text(name))
        except ValueError:
            return self._refuse(name, "an exact number")

    def number(self, name: str) -> float:
        """A hexadecimal float."""
        text = self.text(name)
        try:
            return float.fromhex(text)
        except (ValueError, OverflowError):
            return self._refuse(name, "a hexadecimal float")

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise CertificateError(f"The certificate's field {self.path + name!r} is not {wanted}.")


def _digest(body: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
