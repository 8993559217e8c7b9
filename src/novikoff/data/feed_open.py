"""Open a stream: look at its beginning, decide what it is, or go on as was decided before."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Final

from novikoff.data.delimited import plan_text
from novikoff.data.errors import DataError
from novikoff.data.feed import LABEL_KINDS, Feed, LabelReader, Mark, Wishes, text_reader
from novikoff.data.feed_pairs import KEYS, Keys, PairFeed, is_named, keys_of, labels_of
from novikoff.data.feed_table import Layout, TableFeed
from novikoff.data.matrices import refuse_columns
from novikoff.data.pipe import PIECE, Pipe
from novikoff.data.source import Source, open_source
from novikoff.data.text import check_text
from novikoff.data.values import is_missing, is_number, is_truth

_LINES: Final = 100  # that are looked at
_PAUSE: Final = 0.5  # seconds after which a pipe is judged by what has come
_BINARY: Final = ("parquet", "arrow", "npy", "npz")
_DEFAULT: Final = Wishes()
_NEVER: Final = "{name}: --missing mean needs all rows at once, and is not for a stream."


class _Named(io.BytesIO):
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
    >>> batch.X.tolist(), batch.labels, batch.mark(1)
    ([[1.0, 2.0], [3.0, 4.0]], ['no', 'yes'], Mark(offset=13, line=2, dropped=0))
    """
    choices, pipe = wishes.choices, Pipe(path)
    if choices.missing == "mean":
        raise DataError(_NEVER.format(name=pipe.name))
    head = _head(pipe)
    if not head:
        raise DataError(f"{pipe.name} is empty.")
    source = open_source(_Named(head, pipe.name), choices.format)
    if source.format in _BINARY:
        return _binary(path, pipe, source.format, wishes)
    whole = head[: head.rfind(b"\n") + 1] or head  # the last line may not be all there
    source = Source(pipe.name, memoryview(whole), source.format)
    named = choices.format is None and source.format == "csv" and is_named(whole)
    feed: TableFeed | PairFeed
    if source.format == "svmlight" or (named and not pipe.name.endswith((".csv", ".csv.gz"))):
        feed = _pairs(pipe, source, wishes)
    else:
        feed = _table(pipe, source, wishes)
    if not pipe.regular:
        feed.head = head[feed.body.offset :]
    return feed


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
        offset, line, dropped = (int(str(number)) for number in _items(decided["body"]))
        body = Mark(offset, line, dropped)
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


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _head(pipe: Pipe) -> bytes:
    """The first lines, or what has come of a pipe that pauses."""
    head, since = b"", time.monotonic()
    for piece in pipe.pieces():
        head += piece
        if piece:
            since = time.monotonic()
            if len(head) >= PIECE or head.count(b"\n") > _LINES:
                break
        elif head.count(b"\n") > 1 and time.monotonic() - since > _PAUSE:
            break
    return head


def _table(pipe: Pipe, source: Source, wishes: Wishes) -> TableFeed:
    choices = wishes.choices
    facts = check_text(source)
    look, plan = plan_text(source, facts, choices, None, labelled=True)
    if plan.row_names is not None:
        raise DataError(
            f"{source.name} has no name for column 1 in its header; give it one, or leave it out "
            "with --drop 1."
        )
    if plan.label is None:
        raise DataError(f"{source.name} has no label column.")
    label, width = plan.label, len(look.names)
    rows = [row for row in look.sample if len(row) == width]
    texts = [row[label] for row in rows if not is_missing(row[label])]
    reader = LabelReader.settled(texts, source.name, numeric=False)
    if wishes.text_labels:
        reader = text_reader(source.name)
    spread = wishes.bits is not None or plan.every_text or bool(plan.one_hot)
    textual = {j for j in plan.features if _is_text([row[j] for row in rows], look.decimal)}
    layout = Layout(
        columns=look.names,
        label=label,
        features=plan.features,
        texts=plan.one_hot | (textual if wishes.bits is not None or plan.every_text else set()),
        spread=spread,
        every=wishes.bits is not None or plan.every_text,
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
    first = b"".join(text.splitlines(keepends=True)[:_LINES])
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
    from novikoff.data.feed_binary import BinaryFeed

    if wishes.bits is not None:
        raise DataError(f"{pipe.name} is {form}: --hash is for streams of text.")
    if not isinstance(path, str | os.PathLike) or not pipe.regular:
        raise DataError(
            f"{pipe.name} is {form}, which cannot be read from a pipe as it comes: save it to a "
            "file first."
        )
    return BinaryFeed(os.fspath(path), pipe, form, wishes)
