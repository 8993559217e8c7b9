"""Streams: pieces of rows as they arrive, to learn from or to predict.

`open_stream` finds the format of a file or pipe from its beginning. The state of a stream at a
position is JSON, from which the stream can be continued exactly there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.reader import Piece, Position, Reader, Request
from novikoff.data.reading import make_reader, open_reader
from novikoff.data.recipe import Recipe
from novikoff.data.source import FILE_FORMATS, PathOrFile, Source
from novikoff.data.values import KINDS, LabelReader
from novikoff.errors import ChangedError, DataError

_DEFAULT_READING, _DEFAULT_STREAM = ReadOptions(), StreamOptions()
_NO_STATE: Final = "The model does not say how its stream was read."


class RowStream:
    """A stream of rows, in pieces.

    If a stream is ``resumable``, all bytes that are read from a file are hashed after unpacking.
    The state of the stream has the number and the SHA-256 hash of these bytes, and only a file that
    begins with the same bytes can be resumed.

    Attributes
    ----------
    source, label : str, and str or None
        The name of the file or pipe, and the name of the labels.
    start, position : Position
        Where the first row begins, and where the stream continues.
    repeatable : bool
        Whether the rows can be read again, like the rows of a regular file.
    skips : bool
        Whether bad rows are skipped.
    """

    def __init__(
        self, reader: Reader, at: Position | None = None, *, resumable: bool = False
    ) -> None:
        self._reader, self._source = reader, reader.request.source
        self.source, self.label = reader.source, reader.label
        self.repeatable, self.start = self._source.regular, reader.start
        self.position = at or self.start
        self.skips = reader.request.skip_bad
        self._resumable, self._text = resumable, not FILE_FORMATS[self._source.format].magics
        self._stamp = self._source.stamp
        # The hash of the bytes before the last piece that was yielded, and this piece.
        head = self._source.head[: self.start.offset]
        self._hash, self._hashed = hashlib.sha256(head), len(head)
        self._piece: Piece | None = None
        # The number and the hash of all bytes of a binary file, or of the bytes that an earlier
        # pass over a text file has read.
        self._read_before: tuple[int, str] = (0, "")

    @property
    def notes(self) -> list[str]:
        """The decisions of the reader; for a model that predicts, complete after the last piece."""
        predicting = not self._reader.request.labelled
        return self._reader.notes + (self._reader.final_notes() if predicting else [])

    @property
    def n_labelled(self) -> int:
        """The number of rows so far that had a label, of whatever kind."""
        return self._reader.n_labelled

    @property
    def names(self) -> list[str] | None:
        """The names of the columns so far; None if they are numbered or hashed."""
        recipe = self._recipe_so_far()
        numbered = recipe.family == "matrix" or recipe.bits is not None
        return None if numbered else list(recipe.names)

    def pieces(self, position: Position | None = None) -> Iterator[Piece | None]:
        """Yield the rows after a position, up to a bad row; None while a pipe is silent.

        If a model learns from the stream, a piece without rows stands for rows that were left out.
        """
        n_rows = dropped = 0
        begin = position or self.position
        hashing = self.repeatable and self._text and self._resumable
        if hashing:
            self._hash_last_piece()
        if hashing and begin.offset != self._hashed:
            self._restart_hash(begin.offset)
        for piece in self._reader.pieces(begin):
            if piece is not None:
                n_rows, dropped = n_rows + len(piece), piece.end.dropped
                if hashing:
                    self._hash_last_piece()
                    self._piece = piece
            if piece is None or len(piece) or self._reader.request.labelled:
                yield piece
        if not n_rows and not self._reader.request.labelled:
            what = "row without missing values" if dropped else "rows"
            raise DataError(f"{self.source} has no {what}.")

    def recipe(self, width: int) -> Recipe:
        """Return how rows are read for a model with ``width`` columns."""
        return self._reader.recipe(width)

    def _recipe_so_far(self) -> Recipe:
        """Return how rows are read; columns without names are not counted yet."""
        return self.recipe(1)

    def state(self, position: Position) -> dict[str, object]:
        """Return, as JSON values, all that is needed to continue from a position."""
        if not self._resumable:
            raise ValueError("The stream was opened with resumable=False: it has no state.")
        reader = self._reader
        return {
            "position": list(position),
            "format": self._source.format,
            **reader.state(),
            "recipe": self._recipe_so_far().to_json(),
            "labels": None if reader.labels is None else reader.labels.kind,
            "read": list(self._read(position)) if self.repeatable else None,
        }

    def check(self, state: Mapping[str, object]) -> None:
        """Raise ChangedError unless the source begins with the bytes that were read before.

        The bytes are read again and hashed. The bytes of a pipe cannot be compared: all of them
        count as new.
        """
        if not self.repeatable:
            self._reader.notes.append(
                "the rows come from a pipe and count as new: whether some of them were learned "
                "before cannot be checked"
            )
            return
        name, at, read = self.source, self.position, state.get("read")
        if read is None:
            raise ChangedError(
                f"The rows learned before came from a pipe: whether {name} begins with them is not "
                "known. Pipe the new rows."
            )
        match read:
            case [int(size), str(digest)] if size >= (at.offset if self._text else 0):
                self._read_before = size, digest
            case _:
                raise DataError(_NO_STATE)
        if not self._text:
            if self._whole_file() != self._read_before:
                raise ChangedError(f"{name} has changed since it was learned.")
            return
        around = self._restart_hash(at.offset)
        whole = self._hash.copy()
        if size > at.offset:  # an earlier pass has read further
            self._hash_between(whole, at.offset, size)
        if whole.hexdigest() != digest:
            where = f"before line {at.line + 1:,}" if size == at.offset else "in it"
            raise ChangedError(
                f"{name} differs from the file that was learned: the text {where} has changed."
            )
        if len(around) == 2 and not set(around) & set(b"\r\n"):
            raise ChangedError(
                f"{name}, line {at.line + 1:,} was the last line and had no line end when it was "
                "learned, and has become longer since: it was incomplete."
            )

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, position: Position) -> tuple[int, str]:
        """Return the number and the hash of the bytes that were read, at least up to a position."""
        if not self._text:
            if self._stamp != self._source.stamp:
                raise ChangedError(f"{self.source} has changed while it was read.")
            self._read_before = self._read_before if self._read_before[0] else self._whole_file()
            return self._read_before
        if position.offset < self._read_before[0]:
            return self._read_before
        text = b"" if self._piece is None else self._piece.text
        n_known = position.offset - self._hashed
        if not 0 <= n_known <= len(text):
            self._restart_hash(position.offset)
            n_known = 0
        digest = self._hash.copy()
        digest.update(memoryview(text)[:n_known])
        return position.offset, digest.hexdigest()

    def _whole_file(self) -> tuple[int, str]:
        """Return the number and the hash of all bytes of a binary file."""
        size, digest = 0, hashlib.sha256()
        for chunk in self._source.flow():
            digest.update(chunk)
            size += len(chunk)
        return size, digest.hexdigest()

    def _restart_hash(self, offset: int) -> bytes:
        """Hash all bytes before an offset; return the bytes before and after it, if they exist."""
        self._hash_last_piece()
        if self._hashed >= self._read_before[0]:
            self._read_before = self._hashed, self._hash.hexdigest()
        self._hash, self._hashed = hashlib.sha256(), offset
        return self._hash_between(self._hash, 0, offset)

    def _hash_last_piece(self) -> None:
        """Hash the last piece that was yielded, after the caller has taken all of its rows."""
        if self._piece is not None:
            self._hash.update(self._piece.text)
            self._hashed, self._piece = self._piece.end.offset, None

    def _hash_between(self, digest: Any, begin: int, end: int) -> bytes:
        """Hash the bytes between two offsets; ChangedError if the file is too short.

        Return the last of these bytes, and the byte after it, if there is one.
        """
        last = b""
        for chunk in self._source.flow(begin):
            part = chunk[: end - begin]
            digest.update(part)
            begin += len(part)
            last = part[-1:] or last
            if len(part) < len(chunk):
                return last + chunk[len(part) : len(part) + 1]
        if begin < end:
            raise ChangedError(f"{self.source} is shorter than when it was learned.")
        return last


def read_pieces(
    path: PathOrFile,
    options: ReadOptions = _DEFAULT_READING,
    *,
    recipe: Recipe,
    classes: Sequence[Hashable] | None = None,
) -> RowStream:
    r"""Read the rows that a model predicts, piece by piece as they arrive; labels are optional.

    Parameters
    ----------
    path, options
        The same as for `read`.
    recipe : Recipe
        The recipe of the model, which says how its training rows were read.
    classes : sequence, optional
        The classes of the model; labels of the rows are read as labels of the same kind.

    Returns
    -------
    RowStream
        The rows, in pieces.

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
    options: StreamOptions = _DEFAULT_STREAM,
    *,
    state: Mapping[str, Any] | None = None,
    resumable: bool = True,
) -> RowStream:
    r"""Open a stream of labelled rows, and find its format from its beginning.

    Parameters
    ----------
    path : path, "-" or binary file
        The file or pipe; "-" is the standard input.
    options : StreamOptions
        The user's options. Everything else is found from the first 100 lines, or from the lines
        that have arrived when a pipe pauses.
    state : mapping, optional
        The result of `RowStream.state`, from which the stream continues. A pipe must give new rows.
    resumable : bool
        Whether `RowStream.state` can be called. If not, nothing is hashed.

    Returns
    -------
    RowStream
        The rows, in pieces.

    Raises
    ------
    DataError
        If the beginning cannot be read.
    ChangedError
        If a file differs from the file that was learned.

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
    source = Source(path, format, sniff_early=True, may_be_empty=state is not None)
    try:
        if reading.one_hot or reading.missing == "mean":
            text = "; write text as features, in rows such as label colour=red:1, or as JSON lines"
            option = reading.say("one_hot") if reading.one_hot else reading.say("missing", "mean")
            what = f"{option} needs all rows at once, which a stream does not have"
            raise DataError(f"{source.name}: {what}{text if reading.one_hot else ''}.")
        if FILE_FORMATS[source.format].magics:
            _check_binary(source, options)
        request = Request(source, reading, stream=options)
        if state is None:
            reader = make_reader(request)
            if options.text_labels:
                reader.labels = LabelReader("texts", reader.label_form)
            elif first := reader.first_labels():  # otherwise the first piece with labels decides
                reader.labels = LabelReader.by_first(first, reader.label_form)
            return RowStream(reader, resumable=resumable)
        try:
            at = Position(*state["position"])
            stream = RowStream(_resumed(request, state, at), at, resumable=resumable)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(_NO_STATE) from None
        stream.check(state)
        return stream
    except BaseException:
        source.close()
        raise


def _resumed(request: Request, state: Mapping[str, Any], at: Position) -> Reader:
    """Return a reader that continues with the decisions of an earlier stream."""
    source, kind = request.source, state["labels"]
    if FILE_FORMATS[source.format].magics:
        reader = make_reader(request)
    else:
        if min(at) < 0:
            raise DataError(_NO_STATE)
        source.origin = 0 if source.regular else at.offset
        reader = make_reader(
            replace(request, state=state, resumed_recipe=Recipe.from_json(state["recipe"]))
        )
    if kind is not None and kind not in KINDS:
        raise DataError(_NO_STATE)
    reader.labels = None if kind is None else LabelReader(kind, reader.label_form)
    return reader


def _check_binary(source: Source, options: StreamOptions) -> None:
    """Raise DataError if a binary file cannot be read as a stream, or rejects these options."""
    say = options.reading.say
    if options.hash_bits is not None:
        option = say("hash_bits")
        raise DataError(f"{source.name} is {source.format}: {option} is for streams of text.")
    if options.skip_bad:
        raise DataError(
            f"{source.name} is {source.format}: {say('skip_bad', True)} is for text; "
            f"{say('missing', 'drop')} leaves out rows with missing values."
        )
    if not source.regular:
        raise DataError(
            f"{source.name} is {source.format}, which cannot be read from a pipe as it comes: save "
            "it to a file first."
        )
