"""Proofs as text: strict JSON, format version 2, with a checksum.

A proof is a dataclass, and its text has exactly its fields: `FIELDS` says for every name that
there is how it is written, and what is accepted when it is read. Numbers are exact and of bounded
length, every row is named once, and a list is no longer than what it is about. A field may be null
where its default is None. A new kind of proof is a new dataclass, and its new fields stand below.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, TypeVar

from novikoff.geometry.checker import CertificateError, Dependence, GeometricMargin, Margin

SCHEMA_VERSION: Final = 2
# The longest text of one number: reading it takes time in proportion to its length.
_MOST_DIGITS: Final = 1 << 15
# Numbers over one denominator take at most this many times the room of their text.
_MOST_EXPANSION: Final = 64
T = TypeVar("T")
Known: TypeAlias = Mapping[str, Any]


class Field(NamedTuple):
    """What a field is; how it is read, given the fields before it; and how it is written."""

    wanted: str
    read: Callable[[Any, Known], Any]  # ValueError refuses a value
    write: Callable[[Any], object] = lambda value: value


def dump(proof: object, **more: object) -> str:
    """The text of a proof. The checksum tells every change, even one that would leave a proof."""
    body = {"schema_version": SCHEMA_VERSION, **more, **_write(proof)}
    return json.dumps({**body, "checksum": _checksum(body)}, indent=1, allow_nan=False) + "\n"


def parse(text: str) -> dict[str, Any]:
    """The fields of a proof whose text was not altered; else CertificateError."""
    try:
        body = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_constant)
    except CertificateError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise CertificateError(f"The certificate is not JSON: {str(error)[:200]}") from None
    if not isinstance(body, dict):
        raise CertificateError("The certificate is not a JSON object.")
    version = body.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        older = "It was made by an older novikoff: prove the verdict again." if version == 1 else ""
        raise CertificateError(
            f"The certificate has format version {str(version)[:40]}; this program reads version "
            f"{SCHEMA_VERSION}. {older}".rstrip()
        )
    checksum = body.pop("checksum", None)
    try:
        intact = checksum == _checksum(body)
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise CertificateError("The certificate was altered: its checksum does not match.")
    del body["schema_version"]
    return body


def read(cls: type[T], body: Any, about: Known | None = None) -> T:
    """A dataclass from its fields; ``about`` has the fields of the proof that it is a part of."""
    _need(isinstance(body, dict), None)
    known = {"path": "", **(about or {})}
    path = known["path"]
    defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
    for name in sorted(defaults.keys() - body.keys()):
        raise CertificateError(f"The certificate has no field {path + name!r}.")
    for name in sorted(body.keys() - defaults.keys()):
        raise CertificateError(f"The certificate has an unknown field {path + name!r:.80}.")
    found: dict[str, Any] = {}
    for name in (name for name in FIELDS if name in defaults):
        if body[name] is None and defaults[name] is None:
            found[name] = None
            continue
        try:
            found[name] = FIELDS[name].read(
                body[name], {**known, **found, "path": f"{path}{name}."}
            )
        except CertificateError:
            raise
        except (ValueError, TypeError, OverflowError):
            message = f"The certificate's field {path + name!r} is not {FIELDS[name].wanted}."
            raise CertificateError(message) from None
    return cls(**found)


def _write(proof: object) -> dict[str, object]:
    """The fields of a dataclass in terms of JSON."""
    values = {field.name: getattr(proof, field.name) for field in fields(proof)}  # type: ignore[arg-type]
    return {
        name: None if value is None else FIELDS[name].write(value) for name, value in values.items()
    }


def _checksum(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise CertificateError("The certificate has a field twice.")
    return body


def _no_constant(name: str) -> NoReturn:
    raise CertificateError(f"The certificate is not JSON: it has {name}.")


def _numbers(value: Any, most: int) -> tuple[Fraction, ...]:
    """At most so many exact numbers: floats, or whole numbers over one denominator."""
    if isinstance(value, list):
        return tuple(Fraction(_finite(text)) for text in _need(len(value) <= most, value))
    _need(set(value) == {"denominator", "numerators"}, None)
    over, tops = _integer(value["denominator"]), value["numerators"]
    _need(over > 0 and isinstance(tops, list) and len(tops) <= most, None)
    # Each number may keep the whole denominator: short numerators must not multiply it.
    written = len(value["denominator"]) + sum(len(str(top)) for top in tops)
    kept = len(value["denominator"]) * sum(top != "0x0" for top in tops)
    _need(kept <= _MOST_EXPANSION * written, None)
    return tuple(Fraction(_integer(text), over) for text in tops)


def _weights(value: Any, p: int) -> tuple[Fraction, ...]:
    """Exact numbers, p of them."""
    found = _numbers(value, p)
    return _need(len(found) == p, found)


def _finite(text: str) -> float:
    _need(isinstance(text, str) and len(text) <= 40 and text.isascii() and "p" in text, None)
    value = float.fromhex(text)
    return _need(math.isfinite(value), value)


def _float(text: str) -> float:
    return math.inf if text == "inf" else _finite(text)


def _cost(number: Fraction) -> Fraction:
    return _need(0 <= number < 2**1023, number)  # a float, too


def _integer(text: str) -> int:
    _need(isinstance(text, str) and len(text) <= _MOST_DIGITS and text.isascii(), None)
    return int(_need(text.lstrip("-").startswith("0x"), text), 16)


def _write_numbers(values: Sequence[Fraction]) -> object:
    """Hexadecimal floats, or whole numbers over one denominator."""
    if all(map(_is_float, values)):
        return [float(value).hex() for value in values]
    denominator = math.lcm(*(value.denominator for value in values))
    tops = (value.numerator * (denominator // value.denominator) for value in values)
    return {"denominator": f"{denominator:#x}", "numerators": [f"{top:#x}" for top in tops]}


def _is_float(value: Fraction) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def _rows(value: Any, about: Known) -> tuple[int, ...]:
    n = about["n"]
    _need(isinstance(value, list) and all(type(i) is int and 0 <= i < n for i in value), None)
    return _need(len(set(value)) == len(value), tuple(value))


def _part(cls: type) -> Field:
    return Field("an object", lambda value, about: read(cls, value, about), _write)


def _parts(value: Any, about: Known) -> tuple[Dependence, ...]:
    return tuple(read(Dependence, part, about) for part in _need(isinstance(value, list), value))


def _need(good: bool, value: T) -> T:
    if not good:
        raise ValueError("not what it should be")
    return value


_EXACT = "a list of exact numbers that is no longer than it may be"
_TEXT = Field("a string", lambda value, _: _need(isinstance(value, str), value))
_FLAG = Field("true or false", lambda value, _: _need(isinstance(value, bool), value))
_SIZE = Field(
    "a whole number", lambda value, _: _need(type(value) is int and 0 <= value <= 1 << 53, value)
)
_COUNT = Field("a whole number", lambda value, _: _need(type(value) is int and value >= 0, value))
_LABEL = Field(
    "a label",
    lambda value, _: _need(value is None or isinstance(value, str | int | float | bool), value),
)
_FLOAT = Field(
    "a hexadecimal float",
    lambda value, _: _float(value),
    float.hex,
)
_ROWS = Field("a list of row numbers below n, each once", _rows, list)
_FOR_EACH_ROW = Field(
    _EXACT, lambda value, about: _numbers(value, len(about["rows"])), _write_numbers
)

# Fields are read in this order: some say how long others may be.
FIELDS: Final[dict[str, Field]] = {
    "kind": _TEXT,
    "n": _SIZE,
    "d": _SIZE,
    "fit_intercept": _FLAG,
    "positive": _LABEL,
    "negative": _LABEL,
    "sha256": _TEXT,
    "rows": _ROWS,
    "among": _ROWS,
    "exact": _FLAG,
    "w": Field(
        _EXACT,
        lambda value, about: _weights(value, about["d"] + about["fit_intercept"]),
        _write_numbers,
    ),
    "multipliers": _FOR_EACH_ROW,
    "weights": _FOR_EACH_ROW,
    "lo": Field(
        "a float ≥ 0", lambda value, _: _need(_finite(value) >= 0.0, _finite(value)), float.hex
    ),
    "hi": Field(
        "a float that is not below lo",
        lambda value, about: _need(_float(value) >= about["lo"], _float(value)),
        float.hex,
    ),
    "radius": _FLOAT,
    "mistake_bound": _COUNT,
    "bound": Field(
        "one exact number ≥ 0",
        lambda value, _: _cost(*_weights(value, 1)),
        lambda x: _write_numbers([x]),
    ),
    "dependence": _part(Dependence),
    "contradiction": _part(Dependence),
    "contradictions": Field("a list of objects", _parts, lambda claims: [*map(_write, claims)]),
    "margin": _part(Margin),
    "geometric_margin": _part(GeometricMargin),
}
