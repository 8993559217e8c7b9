"""Rows in pieces, as they come: labelled ones to learn from, or those for a model to predict.

`open_stream` looks at the beginning of a file or pipe and decides what it is. The state of a stream
at a position is JSON, from which it goes on exactly there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from novikoff.data.dataset import Piece, Position
from novikoff.data.formats import FORMATS
from novikoff.data.labels import KINDS, LabelReader
from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.reader import Reader, Request
from novikoff.data.reading import make_reader, open_reader
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, Source
from novikoff.errors import ChangedError, DataError

_READING, _STREAM = ReadOptions(), StreamOptions()
_UNSAID: Final = "The model does not say how its stream was read."


class RowStream:
    """Rows in pieces, as they come.

    The first row begins at ``start``; the stream goes on at ``position``. A regular file is
    ``repeatable``: its rows can be read again. ``label`` is the name of the labels, if any, and
    bad rows are left out if it ``skips`` them.

    If it is ``resumable``, all bytes that were read of a file are hashed, unpacked if it is gzip.
    The state has their number and their SHA-256, and a stream goes on only in a file that begins
    with them.
    """

    def __init__(
        self, reader: Reader, at: Position | None = None, *, resumable: bool = False
    ) -> None:
        self._reader, self._source = reader, reader.request.source
        self.source, self.label = reader.source, reader.label
        self.repeatable, self.start = self._source.regular, reader.start
        self.position = at or self.start
        self.skips = reader.request.skip_bad
        self._resumable, self._text = resumable, not FORMATS[self._source.format].magics
        self._stamp = self._source.stamp
        # The hash of the bytes before the piece that was given last, and that piece.
        head = self._source.head[: self.start.offset]
        self._hash, self._hashed = hashlib.sha256(head), len(head)
        self._piece: Piece | None = None
        # The number and the hash of all bytes that were read, of a binary file or an earlier pass.
        self._before: tuple[int, str] = (0, "")

    @property
    def notes(self) -> list[str]:
        """What was decided; for a model, complete after the last piece."""
        predicting = not self._reader.request.labelled
        return self._reader.notes + (self._reader.final_notes() if predicting else [])

    @property
    def n_labelled(self) -> int:
        """The number of rows so far that had a label of any kind."""
        return self._reader.n_labelled

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
        begin = position or self.position
        hashing = self.repeatable and self._text and self._resumable
        if hashing:
            self._pass_over_piece()
        if hashing and begin.offset != self._hashed:
            self._begin_at(begin.offset)
        for piece in self._reader.pieces(begin):
            if piece is not None:
                n_rows, dropped = n_rows + len(piece), piece.end.dropped
                if hashing:
                    self._pass_over_piece()
                    self._piece = piece
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
        if not self._resumable:
            raise ValueError("The stream was opened as one that is not resumed.")
        reader = self._reader
        return {
            "position": list(position),
            "format": self._source.format,
            **reader.state(),
            "recipe": self.recipe(1).to_json(),
            "labels": None if reader.labels is None else reader.labels.kind,
            "read": list(self._read(position)) if self.repeatable else None,
        }

    def check(self, state: Mapping[str, object]) -> None:
        """Raise ChangedError unless the source begins with what was read.

        All of it is read again and hashed. Of a pipe nothing can be compared: what it brings is
        taken for new.
        """
        if not self.repeatable:
            self._reader.notes.append(
                "the rows come from a pipe and are taken for new: whether they are some of those "
                "learned before cannot be checked"
            )
            return
        name, at, read = self.source, self.position, state.get("read")
        if read is None and (state.get("stamp") is not None or "read" not in state):
            raise ChangedError(
                f"What was learned of {name} was saved by an earlier version, without a checksum "
                "of all rows: whether they are unchanged cannot be checked. --force starts afresh."
            )
        if read is None:
            raise ChangedError(
                f"What was learned came from a pipe: whether {name} begins with it is not known. "
                "Pipe the rows that are new, or start afresh with --force."
            )
        match read:
            case [int(size), str(digest)] if size >= (at.offset if self._text else 0):
                self._before = size, digest
            case _:
                raise DataError(_UNSAID)
        if not self._text:
            if self._whole_file() != self._before:
                raise ChangedError(
                    f"{name} has changed since it was learned. --force starts afresh."
                )
            return
        around = self._begin_at(at.offset)
        whole = self._hash.copy()
        if size > at.offset:  # an earlier pass has read more
            self._pass_over(whole, at.offset, size)
        if whole.hexdigest() != digest:
            where = f"before line {at.line + 1:,}" if size == at.offset else "in it"
            raise ChangedError(
                f"{name} differs from what was learned: the text {where} has changed. --force "
                "starts afresh."
            )
        if len(around) == 2 and not set(around) & set(b"\r\n"):
            raise ChangedError(
                f"{name}, line {at.line + 1:,} was the last one, without an end, when it was "
                "learned, and has gone on since: it was not all there. --force starts afresh."
            )

    def close(self) -> None:
        """Give the file back."""
        self._source.close()

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, position: Position) -> tuple[int, str]:
        """The number and the hash of the bytes that were read up to a position, or before."""
        if not self._text:
            if self._stamp != self._source.stamp:
                raise ChangedError(f"{self.source} has changed while it was read.")
            self._before = self._before if self._before[0] else self._whole_file()
            return self._before
        if position.offset < self._before[0]:
            return self._before
        text = b"" if self._piece is None else self._piece.text
        here = position.offset - self._hashed
        if not 0 <= here <= len(text):
            self._begin_at(position.offset)
            here = 0
        digest = self._hash.copy()
        digest.update(memoryview(text)[:here])
        return position.offset, digest.hexdigest()

    def _whole_file(self) -> tuple[int, str]:
        """The number and the hash of all bytes of a binary file."""
        size, digest = 0, hashlib.sha256()
        for chunk in self._source.flow():
            digest.update(chunk)
            size += len(chunk)
        return size, digest.hexdigest()

    def _begin_at(self, offset: int) -> bytes:
        """Hash all bytes before an offset; the byte before it and the one behind, if they are."""
        self._pass_over_piece()
        if self._hashed >= self._before[0]:
            self._before = self._hashed, self._hash.hexdigest()
        self._hash, self._hashed = hashlib.sha256(), offset
        return self._pass_over(self._hash, 0, offset)

    def _pass_over_piece(self) -> None:
        """Hash the piece that was given last, all rows of which have been taken."""
        if self._piece is not None:
            self._hash.update(self._piece.text)
            self._hashed, self._piece = self._piece.end.offset, None

    def _pass_over(self, digest: Any, begin: int, end: int) -> bytes:
        """Hash the bytes from an offset to another; ChangedError if there are not so many."""
        last = b""
        for chunk in self._source.flow(begin):
            part = chunk[: end - begin]
            digest.update(part)
            begin += len(part)
            last = part[-1:] or last
            if len(part) < len(chunk):
                return last + chunk[len(part) : len(part) + 1]
        if begin < end:
            raise ChangedError(f"{self.source} is shorter than what was learned of it.")
        return last


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
    path: PathOrFile,
    options: StreamOptions = _STREAM,
    *,
    state: Mapping[str, Any] | None = None,
    resumable: bool = True,
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
    resumable : bool
        Whether the state will be asked for. Without it nothing is hashed.

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
                reader.labels = LabelReader("texts", reader.label_form)
            elif first := reader.first_labels():  # else those of the first piece that has some
                reader.labels = LabelReader.by_first(first, reader.label_form)
            return RowStream(reader, resumable=resumable)
        try:
            at = Position(*state["position"])
            stream = RowStream(_resumed(request, state, at), at, resumable=resumable)
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
        if min(at) < 0:
            raise DataError(_UNSAID)
        source.origin = 0 if source.regular else at.offset
        so_far = Recipe.from_json(state["recipe"])
        reader = make_reader(request._replace(state=state, so_far=so_far))
    if kind is not None and kind not in KINDS:
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
