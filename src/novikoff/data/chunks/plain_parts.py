"""Large files for a model that exists, part by part: numbers, labels, and nothing unusual."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from novikoff.data.choices import Choices, Dataset
from novikoff.data.chunks.lines import Span, Spans, state_of
from novikoff.data.chunks.pieces import head_of
from novikoff.data.delimited import plan_text
from novikoff.data.errors import DataError
from novikoff.data.large import read_large
from novikoff.data.look import SAMPLE
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source, format_of
from novikoff.data.svmlight import read_rows
from novikoff.data.text import check_text

# From this many bytes on, a file is worth it; and the bytes of a part.
_LARGE: Final = 1 << 28
_PART: Final = 1 << 24
_FILLED = re.compile(rb"[^\r\n]")


class NotPlainError(Exception):
    """A file is not as plain as that: it is to be read as a whole."""


class PlainParts:
    """The rows of a file by the recipe of a model; each part is numbered from 1.

    Values and labels are those that `novikoff.data.read` finds in the file as a whole; what is
    wrong with it, or out of the ordinary, is left to that.

    Parameters
    ----------
    path : str
        A file of CSV, TSV or svmlight, perhaps gzipped.
    choices : Choices
        What is asked for.
    recipe : Recipe
        How the model's data was read.

    Attributes
    ----------
    notes : list of str
        What was decided; of svmlight after the first part.

    Raises
    ------
    NotPlainError
        If it is to be read as a whole; also while it is gone through.
    """

    def __init__(self, path: str, choices: Choices, recipe: Recipe) -> None:
        if not os.path.isfile(path) or os.path.getsize(path) < _LARGE:
            raise NotPlainError
        self._choices, self._recipe = choices, recipe
        self._spans, self._state = Spans(path, _PART), state_of(path)
        self.notes: list[str] | None = None
        try:
            self._form = format_of(path, None)
            if self._form in ("csv", "tsv") and recipe.family == "table":
                self._look()
            elif (
                self._form != "svmlight" or recipe.family != "matrix" or choices.missing != "refuse"
            ):
                raise NotPlainError
        except (DataError, UnicodeDecodeError):
            raise NotPlainError from None

    def __iter__(self) -> Iterator[Dataset]:
        for span in self._spans:
            try:
                data = self._rows(span) if self._form == "svmlight" else self._table(span)
            except (DataError, UnicodeDecodeError):
                raise NotPlainError from None
            if data is not None:
                yield data
        if state_of(self._spans.path) != self._state:
            raise NotPlainError

    def _look(self) -> None:
        """Find out what the pieces of a table have in common."""
        head = head_of(self._spans)
        source = Source(self._spans.name, head, self._form)
        facts = check_text(source)
        look, plan = plan_text(source, facts, self._choices, self._recipe, labelled=False)
        if not look.header or len(look.sample) < SAMPLE - 1:  # the header is one of them
            raise NotPlainError
        self.notes = [*look.notes, *plan.notes]
        self._choices = replace(
            self._choices, header=True, delimiter=look.delimiter, decimal=look.decimal
        )
        spans = self._spans
        spans.delimiter, spans.skip, spans.body = look.delimiter.encode(), facts.start, look.body
        spans.head = bytes(head[facts.start : look.body])
        spans.refuse_room(spans.head)

    def _table(self, span: Span) -> Dataset | None:
        spans = self._spans
        before = spans.body - span.offset  # bytes of the header, and before it
        begin = len(spans.head) if before <= 0 else min(before, len(span.text))
        if _FILLED.search(span.text, begin) is None:  # blank lines, or a header alone
            return None
        source = Source(spans.name, span.text, self._form)
        data = read_large(source, self._choices, self._recipe, labelled=False)
        if data is None or data.imputed is not None or len(data.rows) != data.n_read:
            raise NotPlainError
        return data

    def _rows(self, span: Span) -> Dataset:
        if span.offset > 0 and bytes(span.text[:3]) == BOM_UTF8:  # a mark only where a file begins
            raise NotPlainError
        source = Source(self._spans.name, span.text, "svmlight")
        data = read_rows(source, self._choices, self._recipe, labelled=False)
        if self.notes is not None and data.notes != self.notes:
            raise NotPlainError
        self.notes = data.notes
        return data
