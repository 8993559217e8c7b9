"""Proofs as text: strict JSON, format version 3, with a checksum.

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
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, TypeAlias, TypeVar

from novikoff.errors import CertificateError, InvalidJsonError
from novikoff.proofs.checker import Dependence, GeometricMargin, Margin
from novikoff.proofs.strict_json import parse_object
from novikoff.proofs.system_checker import Multipliers, Radius

if TYPE_CHECKING:
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.error_bound import ErrorBound

SCHEMA_VERSION: Final = 3
# The longest text of one number: reading it takes time in proportion to its length.
_MAX_DIGITS: Final = 1 << 15
# Numbers over one denominator take at most this many times the room of their text.
_MAX_EXPANSION: Final = 64
T = TypeVar("T")
# The multipliers of a margin are called weights in version 3 of the text.
_KEYS: Final[dict[tuple[type, str], str]] = {
    (Margin, "multipliers"): "weights",
    (GeometricMargin, "multipliers"): "weights",
}
Known: TypeAlias = Mapping[str, Any]


class Field(NamedTuple):
    """What a field is; how it is read, given the fields before it; and how it is written."""

    wanted: str
    read: Callable[[Any, Known], Any]  # ValueError refuses a value
    write: Callable[[Any], object] = lambda value: value


class Proof:
    """A proof, for a stranger to check: a dataclass that has a text of its own.

    Its kind is a word of the text, and a field only where a class has several ``kinds``.
    """

    kinds: ClassVar[tuple[str, ...]]
    kinds_of_others: ClassVar[str] = ""  # what is said of a text of another kind

    def as_json(self) -> dict[str, object]:
        """The fields in terms of JSON, and a checksum: it tells every change, however harmless."""
        body = {"schema_version": SCHEMA_VERSION, "kind": self.kinds[0], **_write(self)}
        return {**body, "checksum": _checksum(body)}

    def to_json(self) -> str:
        """The proof as text, numbers exact."""
        return json.dumps(self.as_json(), indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a proof; one that was altered is refused with CertificateError."""
        try:
            return cls.from_fields(parse_object(text, "The certificate"))
        except InvalidJsonError as error:
            raise CertificateError(f"{error}.") from None

    @classmethod
    def from_fields(cls, body: dict[str, object]) -> Self:
        """The same from the object of a text."""
        own = _intact(body)
        kind = own.get("kind")
        if kind not in cls.kinds:
            raise CertificateError(
                f"The certificate's kind is {str(kind)[:40]!r}{cls.kinds_of_others}."
            )
        if len(cls.kinds) == 1:
            del own["kind"]
        return read(cls, own)


def describe(sentence: str, proof: Certificate | ErrorBound) -> str:
    """A sentence about a proof with its hypotheses: the bias, the labels, rows and columns."""
    positive, negative = repr(proof.positive), repr(proof.negative)
    others = "all others" if proof.negative is None else negative
    text = sentence.format(
        where="with a bias" if proof.fit_intercept else "through the origin",
        sides=f"{positive} and {others}",
        on_sides=f"{positive} on one side and {others} on the other",
    )
    rows = "1 row" if proof.n == 1 else f"{proof.n:,} rows"
    columns = "1 column" if proof.d == 1 else f"{proof.d:,} columns"
    return f"{text}, in {rows} of {columns}."


def _intact(body: dict[str, object]) -> dict[str, object]:
    """The fields of a text that was not altered, but for version and checksum."""
    version = body.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        older = (
            "It was made by an older novikoff: prove the verdict again."
            if version in (1, 2)
            else ""
        )
        raise CertificateError(
            f"The certificate has format version {str(version)[:40]}; this program reads version "
            f"{SCHEMA_VERSION}. {older}".rstrip()
        )
    own = {name: value for name, value in body.items() if name != "checksum"}
    try:
        intact = body.get("checksum") == _checksum(own)
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise CertificateError("The certificate was altered: its checksum does not match.")
    del own["schema_version"]
    return own


def read(cls: type[T], body: Any, about: Known | None = None) -> T:
    """A dataclass from its fields; ``about`` has the fields of the proof that it is a part of."""
    _need(isinstance(body, dict), None)
    known = {"path": "", **(about or {})}
    path = known["path"]
    defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
    names = {_KEYS.get((cls, name), name): name for name in defaults}
    for name in sorted(names.keys() - body.keys()):
        raise CertificateError(f"The certificate has no field {path + name!r}.")
    for name in sorted(body.keys() - names.keys()):
        raise CertificateError(f"The certificate has an unknown field {path + name!r:.80}.")
    found: dict[str, Any] = {}
    body = {names[key]: value for key, value in body.items()}
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
            key = path + _KEYS.get((cls, name), name)
            message = f"The certificate's field {key!r} is not {FIELDS[name].wanted}."
            raise CertificateError(message) from None
    return cls(**found)


def _write(proof: object) -> dict[str, object]:
    """The fields of a dataclass in terms of JSON."""
    values = {field.name: getattr(proof, field.name) for field in fields(proof)}  # type: ignore[arg-type]
    return {
        _KEYS.get((type(proof), name), name): None if value is None else FIELDS[name].write(value)
        for name, value in values.items()
    }


def _checksum(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()


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
    _need(kept <= _MAX_EXPANSION * written, None)
    return tuple(Fraction(_integer(text), over) for text in tops)


def _exactly(value: Any, count: int) -> tuple[Fraction, ...]:
    """So many exact numbers."""
    found = _numbers(value, count)
    return _need(len(found) == count, found)


def _finite(text: str) -> float:
    _need(isinstance(text, str) and len(text) <= 40 and text.isascii() and "p" in text, None)
    value = float.fromhex(text)
    return _need(math.isfinite(value), value)


def _cost(value: Any) -> Fraction:
    number = _exactly(value, 1)[0]
    return _need(0 <= number < 2**1023, number)  # a float, too


def _list(value: Any) -> list[Any]:
    return _need(isinstance(value, list), value)


def _float(text: str) -> float:
    return math.inf if text == "inf" else _finite(text)


def _integer(text: str) -> int:
    _need(isinstance(text, str) and len(text) <= _MAX_DIGITS and text.isascii(), None)
    return int(_need(text.lstrip("-").startswith("0x"), text), 16)


def _write_numbers(values: Sequence[Fraction]) -> object:
    """Hexadecimal floats, or whole numbers over one denominator."""
    if all(abs(value) < 2**1023 and float(value) == value for value in values):
        return [float(value).hex() for value in values]
    denominator = math.lcm(*(value.denominator for value in values))
    tops = (value.numerator * (denominator // value.denominator) for value in values)
    return {"denominator": f"{denominator:#x}", "numerators": [f"{top:#x}" for top in tops]}


def _rows(value: Any, about: Known) -> tuple[int, ...]:
    n = about["n"]
    _need(isinstance(value, list) and all(type(i) is int and 0 <= i < n for i in value), None)
    return _need(len(set(value)) == len(value), tuple(value))


def _need(good: bool, value: T) -> T:
    if not good:
        raise ValueError("not what it should be")
    return value


def _plain(wanted: str, good: Callable[[Any], bool]) -> Field:
    """A field that JSON holds as it is."""
    return Field(wanted, lambda value, _: _need(good(value), value))


def _part(cls: type) -> Field:
    return Field("an object", lambda value, about: read(cls, value, about), _write)


def _exact(count: Callable[[Any, Known], tuple[Fraction, ...]]) -> Field:
    return Field("a list of exact numbers that is no longer than it may be", count, _write_numbers)


_TEXT = _plain("a string", lambda value: isinstance(value, str))
_FLAG = _plain("true or false", lambda value: isinstance(value, bool))
_SIZE = _plain("a whole number", lambda value: type(value) is int and 0 <= value <= 1 << 53)
_LABEL = _plain("a label", lambda value: value is None or isinstance(value, str | int | float))
_ROWS = Field("a list of row numbers below n, each once", _rows, list)
_FOR_EACH_ROW = _exact(lambda value, about: _numbers(value, len(about["rows"])))
_POINT = _exact(lambda value, about: _exactly(value, about["d"] + 1))

# Fields are read in this order: some say how long others may be.
FIELDS: Final[dict[str, Field]] = {
    "kind": _TEXT,
    "answer": _TEXT,
    "n": _SIZE,
    "d": _SIZE,
    "fit_intercept": _FLAG,
    "positive": _LABEL,
    "negative": _LABEL,
    "sha256": _TEXT,
    "rows": _ROWS,
    "among": _ROWS,
    "exact": _FLAG,
    "w": _exact(lambda value, about: _exactly(value, about["d"] + about["fit_intercept"])),
    "multipliers": _FOR_EACH_ROW,
    "lo": Field("a float ≥ 0", lambda x, _: _need(_finite(x) >= 0.0, _finite(x)), float.hex),
    "hi": Field(
        "a float that is not below lo",
        lambda value, about: _need(_float(value) >= about["lo"], _float(value)),
        float.hex,
    ),
    "radius": Field(
        "a hexadecimal float, or of a system bounds with a point and weights",
        lambda x, about: read(Radius, x, about) if "answer" in about else _float(x),
        lambda value: _write(value) if isinstance(value, Radius) else value.hex(),
    ),
    "mistake_bound": _plain("a whole number", lambda value: type(value) is int and value >= 0),
    "bound": Field("one exact number ≥ 0", lambda x, _: _cost(x), lambda x: _write_numbers([x])),
    "dependence": _part(Dependence),
    "contradiction": _part(Dependence),
    "contradictions": Field(
        "a list of objects",
        lambda value, about: tuple(read(Dependence, part, about) for part in _list(value)),
        lambda claims: [_write(claim) for claim in claims],
    ),
    "shares": _exact(lambda value, about: _exactly(value, len(about["contradictions"]))),
    "point": _POINT,
    "kept": _ROWS,
    "witnesses": Field(
        "a list of points",
        lambda value, about: tuple(_POINT.read(point, about) for point in _list(value)),
        lambda points: [_write_numbers(point) for point in points],
    ),
    "irreducible": _FLAG,
    "least": Field("a finite float", lambda value, _: _finite(value), float.hex),
    "most": Field(
        "a float that is not below least",
        lambda value, about: _need(_float(value) >= about["least"], _float(value)),
        float.hex,
    ),
    "conflict": _part(Multipliers),
    "implicit": _part(Multipliers),
    "margin": _part(Margin),
    "geometric_margin": _part(GeometricMargin),
}
