"""JSON lines: each line is an object such as ``{"label": "cat", "legs": 4, "colour": "red"}``.

Each row names its features, like the row ``cat legs:4 colour=red:1``. The key of a number or truth
value is the name of a feature. Text becomes a feature ``name=value`` with the value 1. A key whose
value is null is ignored. Keys may be in any order, and new keys may appear in any row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NoReturn

from novikoff.data.messages import listed, quoted, repeated
from novikoff.data.pairs import PairRows, Row
from novikoff.data.reader import Request
from novikoff.data.recipe import Recipe
from novikoff.data.roles import LABEL_NAMES
from novikoff.data.source import SNIFFED_LINES
from novikoff.data.values import LabelForm, inexact, is_exact_text
from novikoff.errors import DataError

_JSON_TYPES: Final = {list: "a list", dict: "an object", str: "text", bool: "true or false"}


class NumberText(str):
    """The text of a number."""

    __slots__ = ()


class JsonRows(PairRows):
    """The reader of JSON lines; the user chooses the label's key, or the first line gives it."""

    label_form: LabelForm = "text"
    what, allowed = "files of JSON lines", ("label", "drop")

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        known, options = request.recipe or request.resumed_recipe, request.options
        self.notes.insert(0, "missing keys and null count as 0")
        self._drop = frozenset(options.drop if known is None else known.drop)
        self.label = None if known is None else known.label
        if options.label is not None and request.resumed_recipe is None:
            self.label = str(options.label)
        if self.label is None and request.labelled:
            self.label = self._find_label()

    def is_named(self) -> bool:
        """Return True, because keys are names."""
        return True

    def rows_of(self, text: bytes, line_offset: int = 0) -> Iterator[tuple[int, bytes, int]]:
        """Yield the number, the content and the end of each line that is not blank."""
        end = 0
        for number, line in enumerate(text.splitlines(keepends=True), start=line_offset + 1):
            end += len(line)
            if line.strip():
                yield number, line, end

    def recipe(self, width: int | None = None) -> Recipe:
        """Return how to read other rows in the same way."""
        recipe = super().recipe(width)
        return replace(recipe, drop=tuple(sorted(self._drop)))

    def first_labels(self) -> list[str]:
        """Return the labels of the first lines, without lines that cannot be read."""
        labels = list[str | None]()
        for _, line, _ in islice(self.rows_of(self._head()), SNIFFED_LINES):
            with suppress(DataError):
                labels.append(self.read_row("", 0, line)[0])
        return [label for label in labels if label is not None]

    def read_row(self, where: str, row: int, content: bytes) -> Row:
        """Return the label of a line, or None, and its pairs."""
        pairs, fields, label = list[tuple[str, float]](), _parse_object(where, content), None
        if self.label not in fields and self.request.labelled:
            raise DataError(f"{where} has no key {quoted(self.label or '')} for the label.")
        for key, value in fields.items():
            if key == self.label:
                label = self._label_of(f"{where}, key {quoted(key)}", value)
            elif value is not None and key not in self._drop:
                pairs.append(_pair(f"{where}, key {quoted(key)}", key, value))
        twice = repeated([name for name, _ in pairs])
        if twice is not None:
            raise DataError(f"{where} has the feature {quoted(twice)} twice, by two keys.")
        return label, pairs

    def _label_of(self, where: str, value: Any) -> str | None:
        """Return the text of a label; None if it is null or "" and labels may be missing."""
        value = None if value == "" else value
        if value is None and self.request.labelled and self.request.options.missing != "drop":
            raise DataError(f"{where}: the label is missing; {self.request.advice_to_drop}.")
        if isinstance(value, list | dict):
            if not self.request.labelled:
                return None
            raise DataError(f"{where} holds {_JSON_TYPES[type(value)]}, which cannot be a label.")
        text = str(value).lower() if isinstance(value, bool) else value
        if text is None:
            return None
        self.check_label(text, where)
        return str(text)

    def _find_label(self) -> str:
        """Return the key of the first object that is one of the usual names of labels."""
        keys, line, flaw = list[str](), 1, None
        for line, content, _ in islice(self.rows_of(self._head()), SNIFFED_LINES):
            try:
                keys = list(_parse_object(f"{self.source}, line {line}", content))
                break
            except DataError as error:
                flaw = flaw or error
                if not self.request.skip_bad:
                    raise
        if flaw is not None and not keys:
            raise flaw
        known = [key for name in LABEL_NAMES for key in keys if key.lower() == name]
        if not known:
            label = self.request.options.say("label")
            raise DataError(
                f"{self.source}, line {line} has none of the keys {', '.join(LABEL_NAMES)}: choose "
                f"the label with {label}; its keys are {listed(keys) or 'none'}."
            )
        self.notes.insert(1, f"the label is the key {quoted(known[0])}")
        return known[0]


def _parse_object(where: str, content: bytes) -> dict[str, Any]:
    """Return the object of a line, in which numbers are kept as text."""

    def constant(name: str) -> NoReturn:
        raise DataError(f"{where}: {name} is not a number in JSON; leave the key out, or say null.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = repeated([key for key, _ in pairs])
        if twice is not None:
            raise DataError(f"{where} has the key {quoted(twice)} twice.")
        return dict(pairs)

    try:
        parsed = json.loads(
            content.decode().rstrip("\r\n"), parse_int=NumberText, parse_float=NumberText,
            parse_constant=constant, object_pairs_hook=unique,
        )  # fmt: skip
        if b"\\u" in content:  # a \u sequence may be half of a surrogate pair
            json.dumps(parsed, ensure_ascii=False).encode()
    except DataError:
        raise
    except RecursionError:
        raise DataError(f"{where} is nested too deeply.") from None
    except UnicodeDecodeError:
        raise DataError(f"{where} is not UTF-8 text.") from None
    except UnicodeEncodeError:
        raise DataError(f"{where} has a \\u sequence that is half a character.") from None
    except ValueError as error:
        reason = str(error).partition(": line")[0].lower()
        at = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(
            f"{where} is not JSON{at} ({reason}); one object a line is expected."
        ) from None
    if not isinstance(parsed, dict):
        kind = "null" if parsed is None else _JSON_TYPES.get(type(parsed), "a number")
        raise DataError(f'{where} is {kind}, not an object such as {{"label": 1, "a": 2.5}}.')
    return parsed


def _pair(where: str, key: str, value: Any) -> tuple[str, float]:
    """Return the name and the value of the feature that a key and its value stand for."""
    if isinstance(value, bool):
        return key, float(value)
    if isinstance(value, NumberText):
        if not is_exact_text(value):
            raise DataError(f"{where} {inexact(value, ', or write it as text')}")
        number = float(value)
        if not math.isfinite(number):
            raise DataError(f"{where} is beyond the range of float64.")
        return key, number
    if isinstance(value, str):
        return f"{key}={value}", 1.0
    raise DataError(
        f"{where} holds {_JSON_TYPES[type(value)]}: values must be numbers, true, false, text or "
        "null; give each of its values a key of its own."
    )
