"""Lines and exact numbers of text files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from novikoff.data.messages import quoted
from novikoff.errors import DataError

# Numbers with more digits are rejected.
_MAX_WRITTEN_DIGITS: Final = 1000
_RATIONAL = re.compile(
    r"([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eEdD]([-+]?[0-9]+))?(?:/([0-9]+))?", re.ASCII
)
_INFINITY = re.compile(r"([-+]?)inf(?:inity)?", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


class FileLine(NamedTuple):
    """A line of a file, counted from 1."""

    source: str
    line: int

    def error(self, sentence: str) -> DataError:
        """An error that names the file and the line."""
        return DataError(f"{self.source}, line {self.line:,}: {sentence}")


def each_line(text: str) -> Iterator[str]:
    r"""Yield the lines of a text with their ends; a list of many short lines would take gigabytes.

    Examples
    --------
    >>> [*each_line("a\nb\r\n\rc")]
    ['a\n', 'b\r\n', '\r', 'c']
    """
    return (found[0] for found in _LINE.finditer(text))


def exact_number(text: str, what: str, place: FileLine) -> Fraction:
    """Convert a field to a rational number: 0.1 is one tenth.

    1.5e3, Fortran's 1.5D3 and 1/3 are numbers too. ``what`` names the field in the error message.
    Numbers with very many digits are rejected, because 1e999999999 would take hours to write out.
    """
    found = _RATIONAL.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        sentence = f"{what} is {quoted(text)}, which is not a finite number"
        if "," in text:
            sentence += "; write the decimal point as a point, without separators of thousands"
        raise place.error(f"{sentence}.")
    sign, whole, fraction, exponent, divisor = (part or "" for part in found.groups())
    digits, power = whole + fraction, exponent.lstrip("+-").lstrip("0")
    if max(len(digits), len(divisor)) > _MAX_WRITTEN_DIGITS or len(power) > 3:
        raise place.error(
            f"{what} is {quoted(text)}, which has more than {_MAX_WRITTEN_DIGITS:,} digits when "
            "it is written out."
        )
    if divisor and not int(divisor):
        raise place.error(f"{what} is {quoted(text)}, a division by zero.")
    shift = int(exponent or 0) - len(fraction)
    value = int(sign + digits)
    if shift >= 0:
        return Fraction(value * 10**shift, int(divisor or 1))
    return Fraction(value, 10**-shift * int(divisor or 1))


def bound_number(text: str, what: str, place: FileLine) -> Fraction | float:
    """Convert a field to a rational number, or to ±infinity, which bounds may be."""
    found = _INFINITY.fullmatch(text)
    if found is not None:
        return float(f"{found[1]}inf")
    return exact_number(text, what, place)
