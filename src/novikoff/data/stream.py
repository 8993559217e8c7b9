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
from novikoff.data.fields import is_missing, number
from novikoff.data.labels import LabelReader
from novikoff.data.named import FeatureColumns, NamedRows, is_named
from novikoff.data.numpy_files import NumpyRows
from novikoff.data.options import Piece, Position, StreamOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import SNIFFED_LINES, PathOrFile, Source
from novikoff.data.svmlight import SvmlightRows, numbered_features
from novikoff.data.tables import TypedTable
from novikoff.data.text import Reader, Request, TextReader, lines_of

_DEFAULT: Final = StreamOptions()
_BINARY: Final = ("parquet", "arrow", "npy", "npz")
_TAIL_BYTES: Final = 1 << 12  # before a position, by which a file is known again
_INFINITE: Final = (float("inf"), float("-inf"))
_UNSAID: Final = "The model does not say how its stream was read."


class RowStream:
    """Labelled rows in pieces, as they come.

    Attributes
    ----------
    source : str
        The name of the file or pipe.
    notes : list of str
        What was decided.
    repeatable : bool
        Whether rows can be read again: it is a plain file.
    start, position : Position
        Where the first row begins, and where the stream goes on.
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
        if isinstance(rows, NamedRows):
            return rows.features.width
        return rows.highest + 1 if isinstance(rows, SvmlightRows) else rows.recipe().n_features

    @property
    def names(self) -> list[str] | None:
        """The names of the columns met so far; None where they are numbered or hashed."""
        rows = self._rows
        if isinstance(rows, NamedRows):
            return rows.features.names
        if isinstance(rows, SvmlightRows) or rows.recipe().family == "matrix":
            return None
        return list(rows.recipe().names)

    def pieces(self, position: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on; None now and then while a pipe is silent.

        Raises
        ------
        DataError
            If a row cannot be read; those before it have been given.
        """
        for piece in self._rows.pieces(position or self.position):
            if piece is None:
                yield None
            elif len(piece):
                yield from self._labelled(piece)

    def recipe(self, width: int) -> Recipe:
        """How rows are read for a model of so many columns."""
        rows = self._rows
        if isinstance(rows, SvmlightRows):
            missing = rows.request.options.missing
            return Recipe("matrix", label="label", missing=missing, width=width, first=0)
        return rows.recipe()

    def state(self, position: Position) -> dict[str, object]:
        """All that is needed to go on from a position, as JSON values."""
        rows = self._rows
        return {
            "position": list(position),
            "form": type(rows).__name__,
            "format": self._source.format,
            "layout": rows.layout.to_json() if isinstance(rows, CsvTable) else None,
            "recipe": None if isinstance(rows, SvmlightRows) else rows.recipe().to_json(),
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
        values, wrong = {}, dict[int, DataError]()
        for code, key in enumerate(piece.labels):
            row = int(np.argmax(piece.codes == code))
            try:
                where = f"{self.source}, row {piece.rows[row]}"
                values[code] = self._labels.value(key, where)
            except DataError as error:
                wrong[row] = error
                values[code] = key
        known = {value: k for k, value in enumerate(dict.fromkeys(values.values()))}
        table = np.array([known[values[code]] for code in range(len(values))], np.int64)
        piece.codes, piece.labels = table[piece.codes], list(known)
        if wrong:
            row = min(wrong)
            if row:
                yield piece.head(row)
            raise wrong[row]
        yield piece

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

    Returns
    -------
    RowStream

    Raises
    ------
    DataError
        If it cannot be read, or is not what it should be; ChangedError if it is not what was
        learned.

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
    rows: TextReader
    if source.format == "svmlight" or (named and not source.name.endswith((".csv", ".csv.gz"))):
        text = b"".join(source.head.splitlines(keepends=True)[:SNIFFED_LINES])
        keys = [content.split()[0].decode(errors="replace") for _, content, _ in lines_of(text)]
        keys = [k for k in keys if not ("," in k or is_missing(k) or number(k) in _INFINITE)]
        labels = LabelReader.settled(keys, written=True)
        labels = LabelReader("texts") if options.text_labels else labels
        if bits is None and not options.names and numbered_features(text):
            note = "features are numbers: the columns of the model, counted from 0"
            rows = SvmlightRows(request, words=labels.kind == "texts")
        else:
            note = "features are names: each new one gets the next column"
            if bits is not None:
                note = f"features are names, hashed to {1 << bits:,} columns"
            rows = NamedRows(request, FeatureColumns(bits))
        rows.notes.append(note)
        return RowStream(rows, labels, None)
    if bits is not None or reading.one_hot:
        raise DataError(
            f"{source.name} is a table: in a stream, --hash and --one-hot have nothing to do; "
            "write text as features, in rows such as label colour=red:1 size:2.5."
        )
    layout = Layout.sniff(request)
    if layout.row_names and "1" not in reading.drop:
        raise DataError(
            f"{source.name} has no name for column 1 in its header; give it one, or leave it out "
            "with --drop 1."
        )
    table = CsvTable(request, layout)
    at = table.roles.label or 0
    keys = [row[at] for row in layout.sample if at < len(row) and not is_missing(row[at])]
    labels = LabelReader("texts") if options.text_labels else LabelReader.settled(keys)
    return RowStream(table, labels, None)


def _resumed(request: Request, options: StreamOptions, state: Mapping[str, Any]) -> RowStream:
    """A stream that goes on as was decided before."""
    source, at, form = request.source, Position(*state["position"]), state["form"]
    if form in ("TypedTable", "NumpyRows"):
        return RowStream(_binary(request, options), None, at)
    kind = state["labels"]
    if kind not in ("integers", "numbers", "truths", "texts") or min(at) < 0:
        raise DataError(_UNSAID)
    named = form in ("SvmlightRows", "NamedRows")
    labels = LabelReader(kind, written=named and not options.text_labels)
    source.origin = 0 if source.regular else at.offset
    if form == "SvmlightRows":
        return RowStream(SvmlightRows(request, words=kind == "texts"), labels, at)
    recipe = Recipe.from_json(state["recipe"])
    features = FeatureColumns(recipe.bits, recipe.features or ())
    if form == "NamedRows":
        return RowStream(NamedRows(request, features), labels, at)
    layout, request = Layout.from_json(state["layout"]), request._replace(recipe=recipe)
    if not source.regular and layout.header and source.head.startswith(layout.header):
        source.origin -= source.head.find(b"\n") + 1  # the header comes again
    return RowStream(CsvTable(request, layout), labels, at)


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
