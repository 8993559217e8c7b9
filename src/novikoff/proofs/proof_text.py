"""Proofs as text: strict JSON in format version 1, with a checksum.

A proof is a dataclass, and its text has exactly the fields of the dataclass. A field whose type is
a dataclass becomes a JSON object. For every other field, `FORMATS` defines by the name of the field
how it is written, and which JSON values are accepted when it is read. A field may be null if its
default is None. A new kind of proof is a new dataclass, and its new fields are added to `FORMATS`.

A text may come from anyone, and is therefore limited. Numbers are exact and of bounded length. A
row number occurs at most once in a list. No list is longer than the number of rows or columns that
it is about. So reading takes time and memory in proportion to the length of the text.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import (
    Any,
    ClassVar,
    Final,
    NamedTuple,
    Self,
    TypeAlias,
    get_args,
    get_type_hints,
)

from novikoff.errors import CertificateError, InvalidJsonError
from novikoff.proofs.strict_json import MAX_COUNT, check_version, parse_object, wrong_field
from novikoff.sentences import html_table

PROOF_VERSION: Final = 1
# The longest text of one number: reading a number takes time in proportion to its length.
_MAX_NUMBER_LENGTH: Final = 1 << 15
# Numbers with a common denominator may take at most this many times the memory of their text.
_MAX_EXPANSION: Final = 64
_LARGEST: Final = sys.float_info.max

# In version 3 of the text, the multipliers of a margin are called weights.
_KEYS: Final = {("Margin", "multipliers"): "weights", ("GeometricMargin", "multipliers"): "weights"}

# The fields that were read before: the fields of the record, and of the proof that contains it.
Known: TypeAlias = Mapping[str, Any]


class Format(NamedTuple):
    """The format of a field: how it is read from JSON, given the fields before it, and written.

    ``read`` rejects a value by a ValueError, a TypeError or an OverflowError.
    """

    expected: str
    read: Callable[[Any, Known], Any]
    write: Callable[[Any], object] = lambda value: value


class Proof(ABC):
    """The base of proofs that anyone can check: dataclasses that are written as JSON text.

    The text has a field ``kind``. It is a field of the dataclass only if the class has several
    ``kinds``.
    """

    kinds: ClassVar[tuple[str, ...]]
    kinds_of_others: ClassVar[str] = ""  # ends the error about a text of another kind

    @abstractmethod
    def claim(self) -> str:
        """Return the proved claim as a sentence with its hypotheses."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.claim()}>"

    def _repr_html_(self) -> str:
        """The claim as a table, for notebooks."""
        return html_table([(type(self).__name__, self.claim())])

    def as_json(self) -> dict[str, object]:
        """Return the fields as JSON values, with a checksum that reveals any change of them."""
        body = {"schema_version": PROOF_VERSION, "kind": self.kinds[0], **_write_record(self)}
        return {**body, "checksum": _proof_checksum(body)}

    def to_json(self) -> str:
        """Return the proof as JSON text, in which all numbers are exact."""
        return json.dumps(self.as_json(), indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a proof from its text; raise CertificateError if it is incomplete or altered."""
        try:
            return cls.from_fields(parse_object(text, "The certificate"))
        except InvalidJsonError as error:
            raise CertificateError(f"{error}.") from None

    @classmethod
    def from_fields(cls, body: dict[str, object]) -> Self:
        """Read a proof from the JSON object of its text; raise CertificateError likewise."""
        fields = _checked_body(body)
        kind = fields.get("kind")
        if kind not in cls.kinds:
            raise CertificateError(
                f"The certificate's kind is {str(kind)[:40]!r}{cls.kinds_of_others}."
            )
        if len(cls.kinds) == 1:
            del fields["kind"]
        try:
            proof: Self = _read_record(cls, fields, {})
        except _FieldError as error:
            raise CertificateError(error.complaint.format(error.path)) from None
        return proof


def _checked_body(body: dict[str, object]) -> dict[str, object]:
    """The fields of a text without version and checksum, after a check of these two."""
    try:
        check_version(body, "The certificate", PROOF_VERSION)
    except InvalidJsonError as error:
        raise CertificateError(f"{error}.") from None
    fields = {name: value for name, value in body.items() if name != "checksum"}
    try:
        intact = body.get("checksum") == _proof_checksum(fields)
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise CertificateError("The certificate was altered: its checksum does not match.")
    del fields["schema_version"]
    return fields


def _proof_checksum(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()


# Records: dataclasses whose fields have formats.


class _FieldError(ValueError):
    """A field is missing, unknown or wrong; ``complaint`` is a sentence with {!r} for the path."""

    def __init__(self, path: str, complaint: str) -> None:
        self.path, self.complaint = path, complaint


def _read_record(cls: Any, body: Any, known: Known) -> Any:
    """Read a record from a JSON object that has the fields of the record and no others."""
    _need(isinstance(body, dict))
    keys = {_KEYS.get((cls.__name__, field.name), field.name): field for field in fields(cls)}
    wrong = wrong_field(body, keys)
    if wrong is not None:
        raise _FieldError(wrong[1], f"The certificate has {wrong[0]} {{!r}}.")
    values: dict[str, Any] = {}
    for key, field in keys.items():
        if body[key] is None and field.default is None:
            values[field.name] = None
            continue
        form = _formats(cls)[field.name]
        try:
            values[field.name] = form.read(body[key], {**known, **values})
        except _FieldError as error:
            raise _FieldError(f"{key}.{error.path}", error.complaint) from None
        except (ValueError, TypeError, OverflowError):
            complaint = f"The certificate's field {{!r}} is not {form.expected}."
            raise _FieldError(key, complaint) from None
    return cls(**values)


def _write_record(record: object) -> dict[str, object]:
    """The fields of a record as JSON values."""
    cls: Any = type(record)
    fields: dict[str, object] = {}
    for name, form in _formats(cls).items():
        value = getattr(record, name)
        key = _KEYS.get((cls.__name__, name), name)
        fields[key] = None if value is None else form.write(value)
    return fields


@cache
def _formats(cls: Any) -> dict[str, Format]:
    """The format of each field of a record: by the dataclass that is its type, or by its name."""
    formats = {}
    for name, hint in get_type_hints(cls).items():
        parts = [hint for hint in (hint, *get_args(hint)) if is_dataclass(hint)]
        if parts:
            formats[name] = _records(parts[0]) if ... in get_args(hint) else _record(parts[0])
        elif name in FORMATS:
            formats[name] = FORMATS[name]
    return formats


def _record(cls: Any) -> Format:
    return Format("an object", lambda value, known: _read_record(cls, value, known), _write_record)


def _records(cls: Any) -> Format:
    return Format(
        "a list of objects",
        lambda value, known: tuple(_read_record(cls, part, known) for part in _list(value)),
        lambda records: [_write_record(record) for record in records],
    )


# Values. A reader returns the value of a JSON value, or raises an exception to reject it.


def _need(good: bool) -> None:
    if not good:
        raise ValueError("rejected")


def _as_is(expected: str, good: Callable[[Any], bool]) -> Format:
    """A value that JSON holds as it is."""

    def read(value: Any, _: Known) -> Any:
        _need(good(value))
        return value

    return Format(expected, read)


def _list(value: Any) -> list[Any]:
    _need(isinstance(value, list))
    return list(value)


def _row_numbers(value: Any, known: Known) -> tuple[int, ...]:
    return _distinct_numbers(value, known["n"])


def _places(value: Any, known: Known) -> tuple[int, ...]:
    return _distinct_numbers(
        value, len(known["conflicts"] if "conflicts" in known else known["contradictions"])
    )


def _distinct_numbers(value: Any, n: int) -> tuple[int, ...]:
    numbers = _list(value)
    _need(all(type(i) is int and 0 <= i < n for i in numbers))
    _need(len(set(numbers)) == len(numbers))
    return tuple(numbers)


def _row_number(value: Any, known: Known) -> int:
    _need(type(value) is int and 0 <= value < known["n"])
    return int(value)


def _finite_float(text: Any) -> float:
    _need(isinstance(text, str) and len(text) <= 40 and text.isascii() and "p" in text)
    value = float.fromhex(text)
    _need(math.isfinite(value))
    return value


def _float_from(text: Any, least: float, most: float) -> float:
    """A float between two others, which may be infinite."""
    value = math.inf if text == "inf" else _finite_float(text)
    _need(least <= value <= most)
    return value


def _integer(text: Any) -> int:
    _need(isinstance(text, str) and len(text) <= _MAX_NUMBER_LENGTH and text.isascii())
    _need(text.lstrip("-").startswith("0x"))
    return int(text, 16)


def _exact_numbers(value: Any, most: int) -> tuple[Fraction, ...]:
    """At most ``most`` exact numbers: floats, or integers over one denominator."""
    if isinstance(value, list):
        _need(len(value) <= most)
        return tuple(Fraction(_finite_float(text)) for text in value)
    _need(set(value) == {"denominator", "numerators"})
    divisor, tops = _integer(value["denominator"]), _list(value["numerators"])
    _need(divisor > 0 and len(tops) <= most)
    # Each number may keep the whole denominator: short numerators must not multiply it.
    written = len(value["denominator"]) + sum(len(str(top)) for top in tops)
    n_expanded = len(value["denominator"]) * sum(top != "0x0" for top in tops)
    _need(n_expanded <= _MAX_EXPANSION * written)
    return tuple(Fraction(_integer(text), divisor) for text in tops)


def _exact_vector(value: Any, length: int) -> tuple[Fraction, ...]:
    """Exact numbers, ``length`` of them."""
    numbers = _exact_numbers(value, length)
    _need(len(numbers) == length)
    return numbers


def _read_cost(value: Any, _: Known) -> Fraction:
    (cost,) = _exact_vector(value, 1)
    _need(0 <= cost < 2**1023)  # it can be rounded to a float
    return cost


def _write_exact(values: Sequence[Fraction]) -> object:
    """Hexadecimal floats, or hexadecimal integers over one denominator."""
    if all(abs(value) < 2**1023 and float(value) == value for value in values):
        return [float(value).hex() for value in values]
    denominator = math.lcm(*(value.denominator for value in values))
    tops = (value.numerator * (denominator // value.denominator) for value in values)
    return {"denominator": f"{denominator:#x}", "numerators": [f"{top:#x}" for top in tops]}


def _exact(read: Callable[[Any, Known], tuple[Fraction, ...]]) -> Format:
    return Format("a list of exact numbers that is no longer than it may be", read, _write_exact)


def _float(expected: str, read: Callable[[Any, Known], float]) -> Format:
    return Format(expected, read, float.hex)


_TEXT = _as_is("a string", lambda value: isinstance(value, str))
_FLAG = _as_is("true or false", lambda value: isinstance(value, bool))
_COUNT = _as_is("a whole number", lambda value: type(value) is int and 0 <= value <= MAX_COUNT)
_LABEL = _as_is("a label", lambda value: value is None or isinstance(value, str | int | float))
_ROWS = Format("a list of row numbers below n, each once", _row_numbers, list)
_COST = Format("one exact number ≥ 0", _read_cost, lambda cost: _write_exact([cost]))
_POINT = _exact(lambda value, known: _exact_vector(value, known["d"] + 1))

FORMATS: Final[dict[str, Format]] = {
    "kind": _TEXT,
    "answer": _TEXT,
    "n": _COUNT,
    "d": _COUNT,
    "fit_intercept": _FLAG,
    "positive": _LABEL,
    "negative": _LABEL,
    "sha256": _TEXT,
    "rows": _ROWS,
    "among": _ROWS,
    "kept": _ROWS,
    "exact": _FLAG,
    "irreducible": _FLAG,
    "w": _exact(lambda value, known: _exact_vector(value, known["d"] + known["fit_intercept"])),
    "multipliers": _exact(lambda value, known: _exact_numbers(value, len(known["rows"]))),
    "shares": _exact(
        lambda value, known: _exact_vector(
            value, len(known["sets"] if "sets" in known else known["contradictions"])
        )
    ),
    "weights": _exact(lambda value, known: _exact_numbers(value, len(known["rows"]))),
    "by": _TEXT,
    "element": Format("a row number below n, or null", _row_number),
    "sets": Format("a list of places in the list of sets, each once", _places, list),
    "lo": _float("a finite float ≥ 0", lambda text, _: _float_from(text, 0.0, _LARGEST)),
    "hi": _float("a float ≥ lo", lambda text, known: _float_from(text, known["lo"], math.inf)),
    "least": _float("a finite float", lambda text, _: _float_from(text, -_LARGEST, _LARGEST)),
    "most": _float(
        "a float ≥ least", lambda text, known: _float_from(text, known["least"], math.inf)
    ),
    "radius": _float("a float", lambda text, _: _float_from(text, -_LARGEST, math.inf)),
    "mistake_bound": _as_is("a whole number", lambda value: type(value) is int and value >= 0),
    "bound": _COST,
    "value": _COST,
    "operations": _COUNT,
    "weighted": _FLAG,
    "point": _POINT,
    "witnesses": Format(
        "a list of points",
        lambda value, known: tuple(_POINT.read(point, known) for point in _list(value)),
        lambda points: [_write_exact(point) for point in points],
    ),
}
