"""JSON that is read strictly: each key once, every field by its type, none missing or left over."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import numpy as np

# Counts beyond this are no counts; integers of more digits are no labels.
MAX_COUNT: Final = 2**53
MAX_DIGITS, _MAX_DEPTH = 2500, 64

# What a field must be, and the words for one that is not.
_KINDS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "any": (lambda value: True, ""),
    "flag": (lambda value: isinstance(value, bool), "neither true nor false"),
    "count": (
        lambda value: type(value) is int and 0 <= value <= MAX_COUNT,
        "not a whole number from 0 to 2⁵³",
    ),
    "text": (lambda value: isinstance(value, str), "not a string"),
    "list": (lambda value: isinstance(value, list), "not a list"),
    "object": (lambda value: isinstance(value, dict), "not an object"),
    "object or null": (
        lambda value: isinstance(value, dict | None),
        "neither an object nor null",
    ),
}


class InvalidJsonError(ValueError):
    """What is wrong with a JSON text, as a clause that begins with a noun."""


def parse_object(text: str, what: str) -> dict[str, object]:
    """A JSON object without NaN, infinities, numbers beyond float64 or a key that is there twice.

    Integers are limited to 2,500 digits before they are computed with.

    Examples
    --------
    >>> parse_object('{"a": 1, "a": 2}', "the header")
    Traceback (most recent call last):
        ...
    novikoff.report.strict_json.InvalidJsonError: the header has the key 'a' twice
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            key = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise InvalidJsonError(f"{what} has the key {key[:80]!r} twice")
        return found

    def finite(number: str) -> float:
        if len(number) > MAX_DIGITS or not math.isfinite(float(number)):
            raise InvalidJsonError(f"{what} has a number beyond float64")
        return float(number)

    def whole(number: str) -> int:
        if len(number) > MAX_DIGITS:
            raise InvalidJsonError(f"{what} has an integer of more than {MAX_DIGITS:,} digits")
        return int(number)

    def refuse(word: str) -> NoReturn:
        raise InvalidJsonError(f"{what} has {word}, which is not JSON")

    try:
        found: object = json.loads(
            text, object_pairs_hook=once, parse_float=finite, parse_int=whole, parse_constant=refuse
        )
    except InvalidJsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidJsonError(f"{what} is not JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict):
        raise InvalidJsonError(f"{what} is not a JSON object")
    return found


def take_fields(body: object, what: str, **kinds: str | tuple[str, ...]) -> list[Any]:
    """The values of the fields named, each of its kind or one of some words; others are refused.

    Examples
    --------
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
            holds, wrong = _KINDS[kind]
            fits = holds(value)
        if not fits:
            raise InvalidJsonError(f"{name!r} in {what} is {wrong}")
    if len(body) > len(kinds):
        unknown = min(set(body) - set(kinds))
        raise InvalidJsonError(f"{what} has the unknown field {unknown[:80]!r}")
    return [body[name] for name in kinds]


def as_json(value: object, what: str, depth: int = 0) -> object:
    """A copy of a value in terms of JSON; tuples become lists, all else is refused.

    Examples
    --------
    >>> as_json({"size": np.float64(0.5), "rows": (1, 2)}, "it")
    {'size': 0.5, 'rows': [1, 2]}
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
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidJsonError(f"{what} is {value!r}, which JSON cannot hold")
    if type(value) is int and value.bit_length() > 3.3 * MAX_DIGITS:
        raise InvalidJsonError(f"{what} is an integer of {value.bit_length()} bits")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind = type(value).__name__
    raise InvalidJsonError(f"{what} is {str(value)[:200]} ({kind}), which JSON cannot hold")
