"""JSON that is read strictly: each key once, every field by its type, none missing or left over."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from types import NoneType
from typing import Any, Final, NoReturn

import numpy as np

from novikoff.errors import InvalidJsonError

# Counts beyond this are no counts; integers of more digits are no labels.
MAX_COUNT: Final = 2**53
MAX_DIGITS, _MAX_DEPTH = 2500, 64

# The types of a field, and the words for one that has another.
_KINDS: Final[dict[str, tuple[type | tuple[type, ...], str]]] = {
    "any": (object, ""),
    "flag": (bool, "neither true nor false"),
    "count": (int, "not a whole number from 0 to 2⁵³"),
    "text": (str, "not a string"),
    "list": (list, "not a list"),
    "object": (dict, "not an object"),
    "object or null": ((dict, NoneType), "neither an object nor null"),
}


def parse_object(text: str, what: str) -> dict[str, object]:
    """A JSON object without NaN, infinities, numbers beyond float64 or a key that is there twice.

    Integers are limited to 2,500 digits before they are computed with.

    >>> parse_object('{"a": 1, "a": 2}', "the header")
    Traceback (most recent call last):
        ...
    novikoff.errors.InvalidJsonError: the header has the key 'a' twice
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            key = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise InvalidJsonError(f"{what} has the key {key[:80]!r} twice")
        return found

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
        found: object = json.loads(
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
    if not isinstance(found, dict):
        raise InvalidJsonError(f"{what} is not a JSON object")
    return found


def take_fields(body: object, what: str, **kinds: str | tuple[str, ...]) -> list[Any]:
    """The values of the fields named, each of its kind or one of some words; others are refused.

    >>> take_fields({"rows": 3, "form": "dense"}, "it", rows="count", form=("dense", "sparse"))
    [3, 'dense']
    """
    if not isinstance(body, dict):
        raise InvalidJsonError(f"{what} is not an object")
    for name, kind in kinds.items():
        if name not in body:
            raise InvalidJsonError(f"{what} has no field {name!r}")
        value = body[name]
        if isinstance(kind, tuple):
            fits, wrong = value in kind, f"not one of {', '.join(kind)}"
        else:
            types, wrong = _KINDS[kind]
            fits = isinstance(value, types)
        if kind == "count":
            fits = type(value) is int and 0 <= value <= MAX_COUNT
        if not fits:
            raise InvalidJsonError(f"{name!r} in {what} is {wrong}")
    if len(body) > len(kinds):
        unknown = min(set(body) - set(kinds))
        raise InvalidJsonError(f"{what} has the unknown field {unknown[:80]!r}")
    return [body[name] for name in kinds]


def as_json(value: object, what: str, depth: int = 0) -> object:
    """A copy of a value in terms of JSON; tuples become lists, all else is refused."""
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
