"""Strict records from JSON: the one reader of certificates, model files, recipes and questions.

`parse_object` rejects a text if a key occurs twice. `take_fields` rejects an object if a field has
the wrong type, if a field is missing, or if there are unknown fields. Readers that check the values
of fields themselves use only `wrong_field` and `check_version`.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NoReturn

import numpy as np

from novikoff.errors import InvalidJsonError

# The largest count that is accepted.
MAX_COUNT: Final = 2**53
# The largest number of digits of a number, and the deepest nesting of lists and objects.
MAX_DIGITS, _MAX_DEPTH = 2500, 64

# For each kind of field: a test of its values, and the words of the error message for other values.
# A field of the kind "text or null" may also be null, and so for all kinds.
_KINDS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "any": (lambda value: True, ""),
    "flag": (lambda value: isinstance(value, bool), "neither true nor false"),
    "count": (
        lambda value: type(value) is int and 0 <= value <= MAX_COUNT,
        "not a whole number from 0 to 2⁵³",
    ),
    "number": (
        lambda value: type(value) in (int, float) and abs(value) <= sys.float_info.max,
        "not a finite number",
    ),
    "text": (lambda value: isinstance(value, str), "not a string"),
    "texts": (
        lambda value: isinstance(value, list) and all(isinstance(x, str) for x in value),
        "not a list of strings",
    ),
    "list": (lambda value: isinstance(value, list), "not a list"),
    "object": (lambda value: isinstance(value, dict), "not an object"),
}
_OR_NULL: Final = " or null"


def parse_object(text: str, what: str) -> dict[str, object]:
    """Parse a JSON object.

    InvalidJsonError if the text has NaN, an infinity, a number beyond float64, a number of more
    than 2,500 digits, or a key that occurs twice. ``what`` names the object in the error message.
    The digits are counted before a number is converted, because long numbers take long to convert.

    >>> parse_object('{"a": 1, "a": 2}', "the header")
    Traceback (most recent call last):
        ...
    novikoff.errors.InvalidJsonError: the header has the key 'a' twice
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        parsed = dict(pairs)
        if len(parsed) < len(pairs):
            key = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise InvalidJsonError(f"{what} has the key {key[:80]!r} twice")
        return parsed

    def bounded(number: str) -> float:
        if len(number) > MAX_DIGITS:
            raise InvalidJsonError(f"{what} has a number of more than {MAX_DIGITS:,} digits")
        if number.lstrip("-").isdigit():
            return int(number)
        if not math.isfinite(float(number)):
            raise InvalidJsonError(f"{what} has a number beyond float64")
        return float(number)

    def refuse(word: str) -> NoReturn:
        raise InvalidJsonError(f"{what} has {word}, which is not JSON")

    try:
        parsed: object = json.loads(
            text,
            object_pairs_hook=once,
            parse_float=bounded,
            parse_int=bounded,
            parse_constant=refuse,
        )
    except InvalidJsonError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidJsonError(f"{what} is not JSON: {str(error)[:200]}") from None
    if not isinstance(parsed, dict):
        raise InvalidJsonError(f"{what} is not a JSON object")
    return parsed


def take_fields(body: object, what: str, **kinds: str | tuple[str, ...]) -> dict[str, Any]:
    """Return the named fields of an object.

    ``kinds`` gives the kind of each field, or the words that the field may be. InvalidJsonError if
    a field is missing, has a value of another kind, or is not named in ``kinds``.

    >>> take_fields({"rows": 3, "form": "dense"}, "it", rows="count", form=("dense", "sparse"))
    {'rows': 3, 'form': 'dense'}
    """
    if not isinstance(body, dict):
        raise InvalidJsonError(f"{what} is not an object")
    wrong_one = wrong_field(body, kinds)
    if wrong_one is not None:
        raise InvalidJsonError(f"{what} has {wrong_one[0]} {wrong_one[1]!r}")
    for name, kind in kinds.items():
        value = body[name]
        if isinstance(kind, tuple):
            fits, wrong = isinstance(value, str) and value in kind, f"not one of {', '.join(kind)}"
        else:
            plain = kind.removesuffix(_OR_NULL)
            test, wrong = _KINDS[plain]
            fits = test(value)
            if plain != kind:
                fits, wrong = fits or value is None, f"{wrong}, nor null"
        if not fits:
            raise InvalidJsonError(f"{name!r} in {what} is {wrong}")
    return {name: body[name] for name in kinds}


def wrong_field(
    body: Mapping[str, object], names: Iterable[str]
) -> tuple[Literal["no field", "the unknown field"], str] | None:
    """Return the first field that is missing or unknown, and which of the two; None if neither is.

    >>> wrong_field({"n": 1}, ["n", "d"]), wrong_field({"n": 1, "x": 2}, ["n"])
    (('no field', 'd'), ('the unknown field', 'x'))
    """
    wanted = list(names)
    for name in wanted:
        if name not in body:
            return "no field", name
    unknown = sorted(body.keys() - wanted)
    return ("the unknown field", unknown[0][:80]) if unknown else None


def check_version(body: Mapping[str, object], what: str, version: int, advice: str = "") -> None:
    """Raise InvalidJsonError unless ``schema_version`` is the version that this program reads.

    The message ends with ``advice``.
    """
    stated = body.get("schema_version")
    if type(stated) is not int or stated != version:
        raise InvalidJsonError(
            f"{what} has format version {str(stated)[:40]}; this program reads version "
            f"{version}{advice}"
        )


def as_json(value: object, what: str, depth: int = 0) -> object:
    """Return a copy of a value that JSON can represent; tuples become lists.

    InvalidJsonError if JSON cannot represent the value.
    """
    if depth > _MAX_DEPTH:
        raise InvalidJsonError(f"{what} is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        odd = [key for key in value if not isinstance(key, str)]
        if odd:
            raise InvalidJsonError(f"{what} has the key {odd[0]!r}, which is not a string")
        return {key: as_json(part, f"{what}[{key!r}]", depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part, f"{what}[{k}]", depth + 1) for k, part in enumerate(value)]
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) is int and value.bit_length() > 3.3 * MAX_DIGITS:
        raise InvalidJsonError(f"{what} is an integer of {value.bit_length()} bits")
    infinite = isinstance(value, float) and not math.isfinite(value)
    if infinite or not isinstance(value, bool | int | float | str | None):
        kind = type(value).__name__
        raise InvalidJsonError(f"{what} is {str(value)[:200]} ({kind}), which JSON cannot hold")
    return value
