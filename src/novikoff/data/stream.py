"""Unending data: labelled rows in pieces, as they come, each with its position in the source.

`open_stream` looks at the beginning of a file or pipe and decides what it is. The state of a stream
at a position is JSON, from which it goes on exactly there.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from novikoff.data.csv import CsvTable, Layout
from novikoff.data.errors import ChangedError, DataError
from novikoff.data.numpy_files import NumpyRows
from novikoff.data.options import Piece, Position, StreamOptions
from novikoff.data.pairs import FeatureColumns, PairRows, is_named, numbered_features
from novikoff.data.recipe import Recipe
from novikoff.data.source import SNIFFED_LINES, PathOrFile, Source
from novikoff.data.tables import TypedTable
from novikoff.data.text import Reader, Request, TextReader, lines_of
from novikoff.data.values import LabelReader, is_missing, number

_DEFAULT: Final = StreamOptions()
_BINARY: Final = ("parquet", "arrow", "npy", "npz")
_TAIL_BYTES: Final = 1 << 12  # before a position, by which a file is known again
_INFINITE: Final = (float("inf"), float("-inf"))
_UNSAID: Final = "The model does not say how its stream was read."


class RowStream:
    """Labelled rows in pieces, as they come; ``notes`` say what was decided.

    The first row begins at ``start``; the stream goes on at ``position``. A plain file is
    ``repeatable``: its rows can be read again.
    """

    def __init__(self, rows: Reader, labels: LabelReader | None, at: Position | None) -> None:
        self._source, self.source = rows.request.source, rows.source
        self.repeatable, self.notes = self._source.regular, list(rows.notes)
        self._rows, self._labels = rows, labels
        self.start = rows.body if isinstance(rows, TextReader) else Position()
        self.position = at or self.start

    @property
    def width(self) -> int:
        """The number of columns met so far."""
        rows = self._rows
        if not isinstance(rows, PairRows):
            return rows.recipe().n_features
        return rows.highest + 1 if rows.features is None else rows.features.width

    @property
    def names(self) -> list[str] | None:
        """The names of the columns met so far; None where they are numbered or hashed."""
        rows = self._rows
        if isinstance(rows, PairRows):
            return None if rows.features is None else rows.features.names
        return None if rows.recipe().family == "matrix" else list(rows.recipe().names)

    def pieces(self, position: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, up to one that is wrong; None while a pipe is silent."""
        for piece in self._rows.pieces(position or self.position):
            if piece is None:
                yield None
            elif len(piece):
                yield from self._labelled(piece)

    def recipe(self, width: int) -> Recipe:
        """How rows are read for a model of so many columns."""
        rows = self._rows
        if isinstance(rows, PairRows) and rows.features is None:
            missing = rows.request.options.missing
            return Recipe("matrix", label="label", missing=missing, width=width, first=0)
        return rows.recipe()

    def state(self, position: Position) -> dict[str, object]:
        """All that is needed to go on from a position, as JSON values."""
        rows = self._rows
        return {
            "position": list(position),
            "format": self._source.format,
            "layout": rows.layout.to_json() if isinstance(rows, CsvTable) else None,
            "recipe": self.recipe(1).to_json(),
            "labels": None if self._labels is None else self._labels.kind,
            "stamp": list(self._source.stamp) if self.repeatable else None,
            "tail": self._tail(position) if self.repeatable else None,
        }

    def close(self) -> None:
        """Give the file back."""
        self._source.close()

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _labelled(self, piece: Piece) -> Iterator[Piece]:
        """The piece with labels for its keys, up to a row whose label is of another kind."""
        if self._labels is None:
            texts = any(isinstance(key, str) for key in piece.labels)
            self._labels = LabelReader("texts") if texts else LabelReader.settled(piece.labels)
        keys, codes = piece.labels, piece.codes
        piece.read_labels(self._labels.value)
        wrong = np.flatnonzero(piece.codes < 0)
        if not len(wrong):
            yield piece
            return
        if wrong[0]:
            yield piece.head(int(wrong[0]))
        row = f"{self.source}, row {piece.rows[wrong[0]]}"
        self._labels.refuse(keys[codes[wrong[0]]], row)

    def check(self, state: Mapping[str, object]) -> None:
        """Raise ChangedError unless the source is, up to the position, what was learned."""
        if not self.repeatable:
            return
        name, at = self.source, self.position
        stamp = list(self._source.stamp)
        if not isinstance(self._rows, TextReader) or self._source.packed:
            if state.get("stamp") != stamp:
                raise ChangedError(f"{name} has changed since it was learned. --force begins anew.")
            return
        if stamp[0] < at.offset:
            raise ChangedError(f"{name} is shorter than what was learned of it.")
        if state.get("tail") != self._tail(at):
            raise ChangedError(
                f"{name} is not what was learned: what comes before line {at.line + 1:,} has "
                "changed. --force begins anew."
            )
        around = self._source.bytes_at(max(0, at.offset - 1), at.offset + 1)
        if at.offset and len(around) == 2 and not set(around) & set(b"\r\n"):
            raise ChangedError(
                f"{name}, line {at.line + 1:,} was the last one, without an end, when it was "
                "learned, and has gone on since: it was not all there. --force begins anew."
            )

    def _tail(self, position: Position) -> int:
        offset = position.offset
        return zlib.crc32(self._source.bytes_at(max(0, offset - _TAIL_BYTES), offset))


def open_stream(
    path: PathOrFile,
    options: StreamOptions = _DEFAULT,
    *,
    state: Mapping[str, object] | None = None,
) -> RowStream:
    r"""Look at the beginning of a stream, and make ready to read it.

    Parameters
    ----------
    path : path, "-" or binary file
        Where it is; "-" is the standard input.
    options : StreamOptions
        What is asked for; the rest is found out by the first 100 lines, or by what has come of
        a pipe that pauses.
    state : mapping, optional
        What `RowStream.state` said: the stream goes on from there. A pipe brings what is new.

    Raises
    ------
    DataError
        If it is not what it should be; ChangedError if it is not what was learned.

    Examples
    --------
    >>> import io
    >>> stream = open_stream(io.BytesIO(b"a,b,y\n1,2,no\n3,4,yes\n"))
    >>> piece = next(stream.pieces())
    >>> piece.X.tolist(), piece.labels, piece.position(1)
    ([[1.0, 2.0], [3.0, 4.0]], ['no', 'yes'], Position(offset=13, line=2, row=1, dropped=0))
    """
    reading = options.reading
    format = reading.format if state is None else str(state.get("format"))
    source = Source(path, format, hasty=True, may_be_empty=state is not None)
    try:
        if reading.missing == "mean":
            raise DataError(
                f"{source.name}: --missing mean needs all rows at once, and is not for a stream."
            )
        request = Request(source, reading, as_they_come=True)
        if state is None:
            return _begun(request, options)
        try:
            stream = _resumed(request, options, state)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(_UNSAID) from None
        stream.check(state)
        return stream
    except BaseException:
        source.close()
        raise


def _begun(request: Request, options: StreamOptions) -> RowStream:
    """A stream whose form is found out by its beginning."""
    source, reading, bits = request.source, request.options, options.hash_bits
    if source.format in _BINARY:
        return RowStream(_binary(request, options), None, None)
    named = reading.format is None and source.format == "csv" and is_named(source.head)
    if source.format == "svmlight" or (named and not source.name.endswith((".csv", ".csv.gz"))):
        text = b"".join(source.head.splitlines(keepends=True)[:SNIFFED_LINES])
        keys = [content.split()[0].decode(errors="replace") for _, content, _ in lines_of(text)]
        keys = [k for k in keys if not ("," in k or is_missing(k) or number(k) in _INFINITE)]
        labels = LabelReader.settled(keys, written=True)
        labels = LabelReader("texts") if options.text_labels else labels
        features, note = None, "features are numbers: the columns of the model, counted from 0"
        if bits is not None:
            note = f"features are names, hashed to {1 << bits:,} columns"
            features = FeatureColumns(bits)
        elif options.names or not numbered_features(text):
            note = "features are names: each new one gets the next column"
            features = FeatureColumns()
        rows = PairRows(request, features, words=labels.kind == "texts")
        rows.notes.append(note)
        return RowStream(rows, labels, None)
    if bits is not None or reading.one_hot:
        raise DataError(
            f"{source.name} is a table: in a stream, --hash and --one-hot have nothing to do; "
            "write text as features, in rows such as label colour=red:1 size:2.5."
        )
    table = CsvTable(request)
    at = table.roles.label or 0
    keys = [row[at] for row in table.layout.sample if at < len(row) and not is_missing(row[at])]
    labels = LabelReader("texts") if options.text_labels else LabelReader.settled(keys)
    return RowStream(table, labels, None)


def _resumed(request: Request, options: StreamOptions, state: Mapping[str, Any]) -> RowStream:
    """A stream that goes on as was decided before."""
    source, at = request.source, Position(*state["position"])
    recipe, kind, layout = Recipe.from_json(state["recipe"]), state["labels"], state["layout"]
    if source.format in _BINARY:
        return RowStream(_binary(request, options), None, at)
    if kind not in ("integers", "numbers", "truths", "texts") or min(at) < 0:
        raise DataError(_UNSAID)
    source.origin = 0 if source.regular else at.offset
    if recipe.family != "table":
        labels = LabelReader(kind, written=not options.text_labels)
        named = recipe.family == "named"
        features = FeatureColumns(recipe.bits, recipe.features or ()) if named else None
        return RowStream(PairRows(request, features, words=kind == "texts"), labels, at)
    layout = Layout.from_json(layout)
    if not source.regular and layout.header and source.head.startswith(layout.header.encode()):
        source.origin -= source.head.find(b"\n") + 1  # the header comes again
    return RowStream(CsvTable(request._replace(recipe=recipe), layout), LabelReader(kind), at)


def _binary(request: Request, options: StreamOptions) -> Reader:
    """A file that is no text, by its batches of rows."""
    source = request.source
    if options.hash_bits is not None:
        raise DataError(f"{source.name} is {source.format}: --hash is for streams of text.")
    if not source.regular:
        raise DataError(
            f"{source.name} is {source.format}, which cannot be read from a pipe as it comes: save "
            "it to a file first."
        )
    return NumpyRows(request) if source.format in ("npy", "npz") else TypedTable(request)
