"""Open a stream: look at its beginning, decide what it is, or go on as was decided before."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, Final

from novikoff.data.delimited import plan_bit_by_bit
from novikoff.data.errors import DataError
from novikoff.data.feeds.feed import LABEL_KINDS, Feed, LabelReader, Mark, Wishes, text_reader
from novikoff.data.feeds.pairs import KEYS, Keys, PairFeed, is_named, keys_of, labels_of
from novikoff.data.feeds.pipe import PIECE, Pipe
from novikoff.data.feeds.table import Layout, TableFeed
from novikoff.data.feeds.text import LINES, Doubt
from novikoff.data.matrices import refuse_columns
from novikoff.data.source import Source, open_source
from novikoff.data.stretches import as_bytes, last_record
from novikoff.data.text import check_text
from novikoff.data.values import is_missing, is_number, is_truth

_MARKS: Final = b",;\t|"
_MOST: Final = 1 << 25  # bytes to look at, however long the lines are
_PAUSE: Final = 0.5  # seconds after which a pipe is judged by what has come
BINARY: Final = ("parquet", "arrow", "npy", "npz")
_DEFAULT: Final = Wishes()
_NEVER: Final = "{name}: --missing mean needs all rows at once, and is not for a stream."


class Named(io.BytesIO):
    """Bytes that have a name, as a file has."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def open_feed(path: str | os.PathLike[str] | BinaryIO, wishes: Wishes = _DEFAULT) -> Feed:
    r"""Look at the beginning of a stream, and make ready to read it.

    Parameters
    ----------
    path : path, "-" or binary file
        Where it is; "-" is the standard input.
    wishes : Wishes
        What is asked for; the rest is found out by the first 100 lines, or by what has come of
        a pipe that pauses.

    Returns
    -------
    Feed

    Raises
    ------
    DataError
        If it cannot be read, or is not what it should be.

    Examples
    --------
    >>> feed = open_feed(io.BytesIO(b"a,b,y\n1,2,no\n3,4,yes\n"))
    >>> batch = next(feed.batches(feed.start))
    >>> batch.X.tolist(), batch.labels, batch.mark(1).offset
    ([[1.0, 2.0], [3.0, 4.0]], ['no', 'yes'], 13)
    """
    pipe = Pipe(path)
    try:
        return _looked_at(path, pipe, wishes)
    except BaseException:
        pipe.release()
        raise


def reopen_feed(
    path: str | os.PathLike[str] | BinaryIO,
    decided: Mapping[str, object],
    names: Sequence[str] | None,
    wishes: Wishes,
) -> Feed:
    """A stream that goes on as was decided before; ``names`` are those of the columns met."""
    pipe = Pipe(path)
    known = {name: column for column, name in enumerate(names or ())}
    try:
        if decided["form"] == "binary":
            return _binary(path, pipe, str(decided["format"]), wishes)
        kind = next(kind for kind in LABEL_KINDS if kind == decided["labels"])
        body = Mark.from_json(decided["body"])
        if decided["form"] == "pairs":
            return PairFeed(
                pipe,
                pipe.name,
                body=body,
                keys=next(keys for keys in KEYS if keys == decided["keys"]),
                bits=wishes.bits,
                missing=wishes.choices.missing,
                reader=LabelReader(kind, pipe.name, numeric=not wishes.text_labels),
                known=known,
            )
        return TableFeed(
            pipe,
            pipe.name,
            body=body,
            repeated=str(decided["header"]).encode(),
            layout=Layout.from_json(decided["layout"]),
            reader=LabelReader(kind, pipe.name, numeric=False),
            known=known,
        )
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("The model does not say how its stream was read.") from None


def _looked_at(path: str | os.PathLike[str] | BinaryIO, pipe: Pipe, wishes: Wishes) -> Feed:
    if wishes.choices.missing == "mean":
        raise DataError(_NEVER.format(name=pipe.name))
    head, ended = beginning(pipe)
    if not head:
        raise DataError(f"{pipe.name} is empty.")
    form = open_source(Named(head, pipe.name), wishes.choices.format).format
    if form in BINARY:
        return _binary(path, pipe, form, wishes)
    feed = _judged(pipe, head, wishes, ended=ended)
    offset = feed.body.offset
    feed.body = feed.body._replace(trail=feed.body.trail.followed_by(head[:offset]))
    if not pipe.regular:
        feed.head = head[offset:]
        if not ended and head.count(b"\n") <= LINES:
            feed.doubt = Doubt(head, _settler(feed, head, wishes))
    return feed


def _judged(pipe: Pipe, head: bytes, wishes: Wishes, *, ended: bool) -> TableFeed | PairFeed:
    """What a stream of text is by its beginning, or by all of it."""
    choices, name = wishes.choices, pipe.name
    text = head if ended else whole(head) or head
    form = open_source(Named(head, name), choices.format).format
    source = Source(name, memoryview(text), form)
    named = choices.format is None and form == "csv" and is_named(text)
    if form == "svmlight" or (named and not name.endswith((".csv", ".csv.gz"))):
        return _pairs(pipe, source, wishes)
    return _table(pipe, source, wishes)


def _settler(
    feed: TableFeed | PairFeed, head: bytes, wishes: Wishes
) -> Callable[[bytes, bool], None]:
    """Refuse a pipe that was judged by its first lines if more of them say something else."""

    def settle(seen: bytes, ended: bool) -> None:
        try:
            again = _judged(feed.pipe, seen, wishes, ended=ended)
        except DataError:  # whoever reads the rows says what is wrong
            return
        now = _decisions(again)
        for option, value in _decisions(feed).items():
            if now.get(option) != value:
                few, many = head.count(b"\n"), seen.count(b"\n")
                raise DataError(
                    f"{feed.source} paused and was judged by its first {few:,} lines, but {many:,} "
                    f"lines say something else: decide it with {option}."
                )

    return settle


def _decisions(feed: TableFeed | PairFeed) -> dict[str, object]:
    """What was found out, by the option that says it beforehand."""
    labels = {"--text-labels": feed.reader.kind}
    if isinstance(feed, PairFeed):
        return {"--from": "pairs", "--names": feed.keys, **labels}
    layout = feed.layout
    return {
        "--from": "table",
        "--delimiter": layout.delimiter,
        "--header or --no-header": layout.columns,
        "--one-hot": layout.texts,
        **labels,
    }


def beginning(pipe: Pipe, least: int = 2) -> tuple[bytes, bool]:
    """The first lines, or what has come of a pipe that pauses after ``least`` of them.

    And whether that is all there is: then the last line needs no end.
    """
    head, since = b"", time.monotonic()
    for piece in pipe.pieces():
        head += piece
        lines = whole(head).count(b"\n")
        if piece:
            since = time.monotonic()
            if (len(head) >= PIECE and lines >= least) or lines > LINES or len(head) > _MOST:
                return head, False
        elif lines >= least and time.monotonic() - since > _PAUSE:
            return head, False
    return head, True


def whole(head: bytes) -> bytes:
    r"""The lines that are all there; of a table, the rows, over lines that are quoted too.

    >>> whole(b'a,b\n1,"2\n3"\n4,"5\n')
    b'a,b\n1,"2\n3"\n'
    """
    if b'"' not in head:
        return head[: head.rfind(b"\n") + 1]
    first = head[: head.find(b"\n") + 1]
    mark = max(_MARKS, key=first.count)
    return head[: last_record(as_bytes(memoryview(head)), mark)]


def _table(pipe: Pipe, source: Source, wishes: Wishes) -> TableFeed:
    choices = wishes.choices
    facts = check_text(source)
    look, plan, label = plan_bit_by_bit(source, facts, choices)
    width = len(look.names)
    rows = [row for row in look.sample if len(row) == width]
    texts = [row[label] for row in rows if not is_missing(row[label])]
    reader = LabelReader.settled(texts, source.name, numeric=False)
    if wishes.text_labels:
        reader = text_reader(source.name)
    spread = wishes.bits is not None or plan.every_text or bool(plan.one_hot)
    textual: set[int] = set()
    if plan.every_text and wishes.bits is None:
        textual = {j for j in plan.features if _is_text([row[j] for row in rows], look.decimal)}
    layout = Layout(
        columns=look.names,
        label=label,
        features=plan.features,
        texts=plan.one_hot | textual,
        spread=spread,
        bits=wishes.bits,
        id=plan.id,
        delimiter=look.delimiter,
        decimal=look.decimal,
        missing=choices.missing,
        header=choices.header,
        given_delimiter=choices.delimiter,
        given_decimal=None if choices.decimal == "." else choices.decimal,
    )
    begin = bytes(source.view[facts.start : look.body])
    return TableFeed(
        pipe,
        source.name,
        body=Mark(look.body, begin.count(b"\n")),
        repeated=begin.strip(b"\r\n") if look.header else b"",
        notes=[*look.notes, *plan.notes],
        layout=layout,
        reader=reader,
    )


def _is_text(cells: Sequence[str], decimal: str) -> bool:
    """Whether a column holds text, as far as one can see."""
    return not all(is_missing(c) or is_number(c, decimal) or is_truth(c) for c in cells)


def _pairs(pipe: Pipe, source: Source, wishes: Wishes) -> PairFeed:
    refuse_columns(source.name, wishes.choices, "a file of feature:value pairs")
    facts = check_text(source)
    text = bytes(source.view[facts.start :])
    first = b"".join(text.splitlines(keepends=True)[:LINES])
    keys: Keys = "names" if wishes.names else keys_of(first)
    if wishes.bits is not None:
        keys = "hashed"
    reader = LabelReader.settled(labels_of(first), source.name, numeric=True)
    if wishes.text_labels:
        reader = text_reader(source.name)
    note = {
        "numbers": "features are numbers: the columns of the model, counted from 0",
        "names": "features are names: each new one gets the next column",
        "hashed": f"features are names, hashed to {1 << (wishes.bits or 0):,} columns",
    }[keys]
    return PairFeed(
        pipe,
        source.name,
        body=Mark(facts.start, 0),
        notes=[note],
        keys=keys,
        bits=wishes.bits,
        missing=wishes.choices.missing,
        reader=reader,
    )


def _binary(path: str | os.PathLike[str] | BinaryIO, pipe: Pipe, form: str, wishes: Wishes) -> Feed:
    from novikoff.data.feeds.binary import BinaryFeed

    if wishes.bits is not None:
        raise DataError(f"{pipe.name} is {form}: --hash is for streams of text.")
    if not isinstance(path, str | os.PathLike) or not pipe.regular:
        raise DataError(
            f"{pipe.name} is {form}, which cannot be read from a pipe as it comes: save it to a "
            "file first."
        )
    return BinaryFeed(os.fspath(path), pipe, form, wishes)
