"""Rows in pieces, as they come: labelled ones to learn from, or those for a model to predict.

`open_stream` looks at the beginning of a file or pipe and decides what it is. The state of a stream
at a position is JSON, from which it goes on exactly there.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from novikoff.data.errors import ChangedError, DataError
from novikoff.data.formats import FORMATS
from novikoff.data.labels import LabelReader
from novikoff.data.options import Piece, Position, ReadOptions, StreamOptions
from novikoff.data.reader import Reader, Request
from novikoff.data.reading import make_reader, open_reader
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, Source

_READING, _STREAM = ReadOptions(), StreamOptions()
_TAIL_BYTES: Final = 1 << 12  # before a position, by which a file is known again
_UNSAID: Final = "The model does not say how its stream was read."


class RowStream:
    """Rows in pieces, as they come.

    The first row begins at ``start``; the stream goes on at ``position``. A regular file is
    ``repeatable``: its rows can be read again. ``label`` is the name of the labels, if any, and
    bad rows are left out if it ``skips`` them.
    """

    def __init__(self, reader: Reader, at: Position | None = None) -> None:
        self._reader, self._source = reader, reader.request.source
        self.source, self.label = reader.source, reader.label
        self.repeatable, self.start = self._source.regular, reader.start
        self.position = at or self.start
        self.skips = reader.request.skip_bad

    @property
    def notes(self) -> list[str]:
        """What was decided; for a model, complete after the last piece."""
        predicting = not self._reader.request.labelled
        return self._reader.notes + (self._reader.final_notes() if predicting else [])

    @property
    def written(self) -> int:
        """The number of rows so far that had a label, of whatever kind."""
        return self._reader.written

    @property
    def names(self) -> list[str] | None:
        """The names of the columns met so far; None where they are numbered or hashed."""
        recipe = self.recipe(1)
        numbered = recipe.family == "matrix" or recipe.bits is not None
        return None if numbered else list(recipe.names)

    def pieces(self, position: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, up to one that is wrong; None while a pipe is silent.

        Those to learn from come with pieces of no rows, where rows were left out or refused.
        """
        n_rows = dropped = 0
        for piece in self._reader.pieces(position or self.position):
            if piece is not None:
                n_rows, dropped = n_rows + len(piece), piece.end.dropped
            if piece is None or len(piece) or self._reader.request.labelled:
                yield piece
        if not n_rows and not self._reader.request.labelled:
            what = "row without missing values" if dropped else "rows"
            raise DataError(f"{self.source} has no {what}.")

    def recipe(self, width: int) -> Recipe:
        """How rows are read for a model of so many columns."""
        return self._reader.recipe(width)

    def state(self, position: Position) -> dict[str, object]:
        """All that is needed to go on from a position, as JSON values."""
        reader = self._reader
        return {
            "position": list(position),
            "format": self._source.format,
            **reader.state(),
            "recipe": self.recipe(1).to_json(),
            "labels": None if reader.labels is None else reader.labels.kind,
            "stamp": list(self._source.stamp) if self.repeatable else None,
            "tail": self._tail(position) if self.repeatable else None,
        }

    def check(self, state: Mapping[str, object]) -> None:
        """Raise ChangedError unless the source is, up to the position, what was learned."""
        if not self.repeatable:
            return
        name, at, stamp = self.source, self.position, list(self._source.stamp)
        if state.get("stamp") is None:
            raise ChangedError(
                f"What was learned came from a pipe: whether {name} begins with it is not known. "
                "Pipe the rows that are new, or begin anew with --force."
            )
        if FORMATS[self._source.format].magics or self._source.packed:
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

    def close(self) -> None:
        """Give the file back."""
        self._source.close()

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tail(self, position: Position) -> int:
        offset = position.offset
        return zlib.crc32(self._source.bytes_at(max(0, offset - _TAIL_BYTES), offset))


def read_pieces(
    path: PathOrFile,
    options: ReadOptions = _READING,
    *,
    recipe: Recipe,
    classes: Sequence[Hashable] | None = None,
) -> RowStream:
    r"""Read rows for a model, some at a time, as they come; there need not be labels.

    Parameters
    ----------
    path, options
        As for `read`.
    recipe : Recipe
        How the rows were read that the model was learned from.
    classes : sequence, optional
        The labels of the model: those of the rows are read as labels of their kind.

    Examples
    --------
    >>> import io
    >>> from novikoff.data import read
    >>> recipe = read(io.BytesIO(b"a,b,y\n1,2,0\n3,4,1\n")).recipe
    >>> rows = read_pieces(io.BytesIO(b"y,b,a\n1,8,9\n?,6,7\n"), recipe=recipe, classes=[0, 1])
    >>> for piece in rows.pieces():
    ...     print(piece.X.tolist(), piece.rows, piece.codes, piece.labels)
    [[9.0, 8.0], [7.0, 6.0]] [1 2] [ 0 -1] [1]
    """
    reader = open_reader(path, options, recipe, labelled=False, as_they_come=True)
    reader.labels = None if classes is None else LabelReader.of(classes)
    return RowStream(reader)


def open_stream(
    path: PathOrFile, options: StreamOptions = _STREAM, *, state: Mapping[str, Any] | None = None
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
        if reading.one_hot or reading.missing == "mean":
            text = "; write text as features, in rows such as label colour=red:1, or as JSON lines"
            option, more = ("--one-hot", text) if reading.one_hot else ("--missing mean", "")
            raise DataError(
                f"{source.name}: {option} needs all rows at once, and is not for a stream{more}."
            )
        if FORMATS[source.format].magics:
            _check_binary(source, options)
        request = Request(source, reading, stream=options)
        if state is None:
            reader = make_reader(request)
            if options.text_labels:
                reader.labels = LabelReader("texts")
            elif not FORMATS[source.format].magics:  # whose labels have types
                reader.labels = LabelReader.by_first(reader.first_labels(), reader.label_form)
            return RowStream(reader)
        try:
            at = Position(*state["position"])
            stream = RowStream(_resumed(request, state, at), at)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(_UNSAID) from None
        stream.check(state)
        return stream
    except BaseException:
        source.close()
        raise


def _resumed(request: Request, state: Mapping[str, Any], at: Position) -> Reader:
    """A reader that goes on as was decided before."""
    source, kind = request.source, state["labels"]
    if FORMATS[source.format].magics:
        reader = make_reader(request)
    else:
        if kind is None or min(at) < 0:
            raise DataError(_UNSAID)
        source.origin = 0 if source.regular else at.offset
        so_far = Recipe.from_json(state["recipe"])
        reader = make_reader(request._replace(state=state, so_far=so_far))
    if kind is not None and kind not in ("integers", "numbers", "truths", "texts"):
        raise DataError(_UNSAID)
    reader.labels = None if kind is None else LabelReader(kind, reader.label_form)
    return reader


def _check_binary(source: Source, options: StreamOptions) -> None:
    """Raise DataError if a file that is no text cannot be read by its batches of rows."""
    if options.hash_bits is not None:
        raise DataError(f"{source.name} is {source.format}: --hash is for streams of text.")
    if options.skip_bad:
        raise DataError(
            f"{source.name} is {source.format}: --bad-rows skip is for text; --missing drop leaves "
            "out rows with missing values."
        )
    if not source.regular:
        raise DataError(
            f"{source.name} is {source.format}, which cannot be read from a pipe as it comes: save "
            "it to a file first."
        )
