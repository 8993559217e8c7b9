"""JSON that is read strictly: each key once, every field taken by its type, none left over."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final, NoReturn, TypeVar, cast

import numpy as np

_Choice = TypeVar("_Choice", bound=str)

# Counts beyond this are no counts; integers of more digits are no labels.
MAX_COUNT: Final = 2**53
MAX_DIGITS, _MAX_DEPTH = 2500, 64


class InvalidJsonError(ValueError):
    """What is wrong with a JSON text, as a clause that begins with a noun."""


def parse_object(text: str, what: str) -> dict[str, object]:
    """A JSON object without NaN, infinities, numbers beyond float64 or a key that is there twice.

    Integers are limited to 2,500 digits before they are computed with.

    Examples
    --------
    >>> parse_object('{"a": [1, 2.5]}', "the header")
    {'a': [1, 2.5]}
    >>> parse_object('{"a": 1, "a": 2}', "the header")
    Traceback (most recent call last):
        ...
    novikoff.report.strict_json.InvalidJsonError: the header has the key 'a' twice
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise InvalidJsonError(f"{what} has the key {key[:80]!r} twice")
                seen.add(key)
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
    return cast("dict[str, object]", found)


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
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            raise InvalidJsonError(f"{what} has the key {odd!r}, which is not a string")
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


class Fields:
    """A JSON object each of whose fields is taken once, by type; none may be left.

    Examples
    --------
    >>> fields = Fields({"rows": 3, "clean": True}, "the header")
    >>> fields.count("rows"), fields.flag("clean"), fields.end()
    (3, True, None)
    """

    def __init__(self, body: object, name: str) -> None:
        if not isinstance(body, dict):
            raise InvalidJsonError(f"{name} is not an object")
        self._left: dict[str, object] = dict(body)
        self._name = name

    def take(self, name: str) -> object:
        """The value of a field, of any type."""
        if name not in self._left:
            raise InvalidJsonError(f"{self._name} has no field {name!r}")
        return self._left.pop(name)

    def end(self) -> None:
        """Refuse fields that nobody took."""
        if self._left:
            raise InvalidJsonError(f"{self._name} has the unknown field {min(self._left)[:80]!r}")

    def part(self, name: str) -> Fields:
        """An object."""
        return Fields(self.take(name), self._at(name))

    def mapping(self, name: str) -> dict[str, object] | None:
        """An object as it is, or None."""
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            raise InvalidJsonError(f"{self._at(name)} is neither an object nor null")
        return value

    def items(self, name: str, length: int | None = None) -> list[object]:
        """A list, of a length that is known."""
        value = self.take(name)
        if not isinstance(value, list):
            raise InvalidJsonError(f"{self._at(name)} is not a list")
        if length is not None and len(value) != length:
            raise InvalidJsonError(
                f"{self._at(name)} has {len(value)} entries where {length} belong"
            )
        return cast("list[object]", value)

    def text(self, name: str) -> str:
        """A string."""
        value = self.take(name)
        if not isinstance(value, str):
            raise InvalidJsonError(f"{self._at(name)} is not a string")
        return value

    def flag(self, name: str) -> bool:
        """True or False."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise InvalidJsonError(f"{self._at(name)} is neither true nor false")
        return value

    def count(self, name: str) -> int:
        """A whole number, not negative."""
        value = self.take(name)
        if type(value) is not int or not 0 <= value <= MAX_COUNT:
            raise InvalidJsonError(f"{self._at(name)} is not a whole number from 0 to 2⁵³")
        return value

    def choice(self, name: str, words: tuple[_Choice, ...]) -> _Choice:
        """One of some words."""
        value = self.take(name)
        for word in words:
            if value == word:
                return word
        raise InvalidJsonError(f"{self._at(name)} is not one of {', '.join(words)}")

    def _at(self, name: str) -> str:
        return f"{name!r} in {self._name}"
