"""The values in the header of a model file: JSON that is exact, and read strictly."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final, NoReturn, TypeAlias, TypeVar, cast

import numpy as np

Scalar: TypeAlias = bool | int | float | str | None
_Choice = TypeVar("_Choice", bound=str)
_Item = TypeVar("_Item")

# Counts beyond this are no counts, and integers beyond so many bits no labels.
MOST: Final = 2**53
_MOST_BITS, _MOST_BITS_OF_FLOATS, _MOST_DEPTH = 8192, 1023, 64


class Flaw(Exception):  # noqa: N818 — a clause for the sentence of an error, never shown alone
    """What keeps a model from being written, or a file from being one."""


def strict_json(text: str, what: str) -> dict[str, object]:
    """A JSON object without NaN, infinities, numbers beyond float64 or a key that is there twice.

    Examples
    --------
    >>> strict_json('{"a": [1, 2.5]}', "the header")
    {'a': [1, 2.5]}
    >>> strict_json('{"a": 1, "a": 2}', "the header")
    Traceback (most recent call last):
        ...
    novikoff.report.model_values.Flaw: the header has the key 'a' twice
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise Flaw(f"{what} has the key {key[:80]!r} twice")
                seen.add(key)
        return found

    def finite(number: str) -> float:
        if not math.isfinite(float(number)):
            raise Flaw(f"{what} has a number beyond float64")
        return float(number)

    def refuse(word: str) -> NoReturn:
        raise Flaw(f"{what} has {word}, which is not JSON")

    try:
        found: object = json.loads(
            text, object_pairs_hook=once, parse_float=finite, parse_constant=refuse
        )
    except (ValueError, RecursionError) as error:
        raise Flaw(f"{what} is not JSON ({str(error)[:200]})") from None
    if not isinstance(found, dict):
        raise Flaw(f"{what} is not a JSON object")
    return cast("dict[str, object]", found)


def copied_json(value: object, what: str, depth: int = 0) -> object:
    """A copy of a value that JSON can hold; tuples become lists, all else is refused."""
    if depth > _MOST_DEPTH:
        raise Flaw(f"{what} is nested more than {_MOST_DEPTH} deep")
    if isinstance(value, Mapping):
        strange = next((key for key in value if not isinstance(key, str)), None)
        if strange is not None:
            raise Flaw(f"{what} has the key {strange!r}, which is not a string")
        return {
            key: copied_json(part, f"{what}[{key!r}]", depth + 1) for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [copied_json(part, f"{what}[{k}]", depth + 1) for k, part in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise Flaw(f"{what} is {value!r}, which JSON cannot hold")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise Flaw(f"{what} is an integer of {value.bit_length()} bits")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise Flaw(f"{what} is of type {type(value).__name__}, which JSON cannot hold")


def written(value: object, what: str) -> object:
    """A scalar in terms of JSON, exact: a float as ``{"float": hex}``.

    Examples
    --------
    >>> written(0.1, "it"), written(np.int64(3), "it"), written("a", "it")
    ({'float': '0x1.999999999999ap-4'}, 3, 'a')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value == value:
        return {"float": value.hex()}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and value.bit_length() <= _MOST_BITS:
        return int(value)
    raise Flaw(f"{what} is {str(value)[:200]} ({type(value).__name__}), which a file cannot hold")


def restored(value: object, what: str) -> Scalar:
    """The scalar that `written` wrote."""
    if isinstance(value, dict):
        text = value.get("float")
        if len(value) == 1 and isinstance(text, str):
            return _from_hex(text, what)
    elif value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and value.bit_length() <= _MOST_BITS:
        return value
    raise Flaw(f"{what} is not a value that was written exactly")


def _from_hex(text: str, what: str) -> float:
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        value = math.nan
    if value.hex() != text or value != value:
        raise Flaw(f"{what} is not a hexadecimal float")
    return value


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
            raise Flaw(f"{name} is not an object")
        self._left: dict[str, object] = dict(body)
        self._name = name

    def take(self, name: str) -> object:
        """The value of a field, whatever it is."""
        if name not in self._left:
            raise Flaw(f"{self._name} has no field {name!r}")
        return self._left.pop(name)

    def end(self) -> None:
        """Refuse what nobody took."""
        if self._left:
            raise Flaw(f"{self._name} has the unknown field {min(self._left)!r}")

    def part(self, name: str) -> Fields:
        """An object."""
        return Fields(self.take(name), self._at(name))

    def mapping(self, name: str) -> dict[str, object] | None:
        """An object as it is, or None."""
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            raise Flaw(f"{self._at(name)} is neither an object nor null")
        return value

    def items(self, name: str, length: int | None = None) -> list[object]:
        """A list, of a length that is known."""
        value = self.take(name)
        if not isinstance(value, list):
            raise Flaw(f"{self._at(name)} is not a list")
        if length is not None and len(value) != length:
            raise Flaw(f"{self._at(name)} has {len(value)} entries where {length} belong")
        return cast("list[object]", value)

    def text(self, name: str) -> str:
        """A string."""
        return as_text(self.take(name), self._at(name))

    def flag(self, name: str) -> bool:
        """True or False."""
        return as_flag(self.take(name), self._at(name))

    def count(self, name: str) -> int:
        """A whole number, not negative."""
        return as_count(self.take(name), self._at(name))

    def optional_count(self, name: str) -> int | None:
        """A whole number, not negative, or None."""
        value = self.take(name)
        return None if value is None else as_count(value, self._at(name))

    def number(self, name: str) -> float:
        """A number, whole or not."""
        return as_number(self.take(name), self._at(name))

    def choice(self, name: str, words: tuple[_Choice, ...]) -> _Choice:
        """One of some words."""
        value = self.take(name)
        for word in words:
            if value == word:
                return word
        raise Flaw(f"{self._at(name)} is not one of {', '.join(words)}")

    def _at(self, name: str) -> str:
        return f"{name!r} in {self._name}"


def as_text(value: object, what: str) -> str:
    """The string that it must be."""
    if not isinstance(value, str):
        raise Flaw(f"{what} is not a string")
    return value


def as_flag(value: object, what: str) -> bool:
    """The truth value that it must be."""
    if not isinstance(value, bool):
        raise Flaw(f"{what} is neither true nor false")
    return value


def as_count(value: object, what: str) -> int:
    """The whole number that it must be."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise Flaw(f"{what} is not a whole number from 0 to 2⁵³")
    return value


def as_number(value: object, what: str) -> float:
    """The number that it must be; an int stays one."""
    number = restored(value, what)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise Flaw(f"{what} is not a number")
    if isinstance(number, int) and number.bit_length() > _MOST_BITS_OF_FLOATS:
        raise Flaw(f"{what} is beyond float64")
    return number


def as_list(value: _Item | list[_Item]) -> list[_Item]:
    """What an estimator shows bare where there is one rule, as a list."""
    return value if isinstance(value, list) else [value]


def as_one(values: list[_Item]) -> _Item | list[_Item]:
    """The only value there is, or the list of them."""
    return values[0] if len(values) == 1 else values
