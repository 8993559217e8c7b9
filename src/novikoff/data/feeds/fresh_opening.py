"""Open a file or pipe of rows for a model that was learned from a stream of names or text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from novikoff.data.choices import Choices
from novikoff.data.delimited import plan_text
from novikoff.data.errors import DataError
from novikoff.data.feeds.feed import LABEL_KINDS, LabelKind, LabelReader, Mark
from novikoff.data.feeds.fresh import FreshFeed, FreshPairs, FreshTable
from novikoff.data.feeds.opening import BINARY, Named, beginning, whole
from novikoff.data.feeds.pairs import KEYS, Keys, is_named
from novikoff.data.feeds.pipe import Pipe
from novikoff.data.feeds.table import Layout
from novikoff.data.feeds.text import LINES, Doubt
from novikoff.data.foreign import refuse_foreign
from novikoff.data.recipe import Column, Recipe
from novikoff.data.source import Source, open_source
from novikoff.data.text import check_text

_UNSAID: Final = "The model does not say how its stream was read."


@dataclass(frozen=True)
class Lesson:
    """How the stream was read that a model has learned from.

    Parameters
    ----------
    n_features : int
        The columns of the model.
    names : sequence of str or None
        Their names, where they were kept.
    labels : kind of label
        What the labels were.
    keys : {"names", "hashed"}
        What the features of pairs were.
    bits : int or None
        To how many bits names were hashed.
    layout : Layout or None
        That of a table; None if the rows were pairs.
    """

    n_features: int
    names: Sequence[str] | None
    labels: LabelKind
    keys: Keys
    bits: int | None
    layout: Layout | None

    @classmethod
    def from_json(
        cls, decided: Mapping[str, object], names: Sequence[str] | None, n_features: int
    ) -> Lesson:
        """What a feed's ``to_json`` wrote, for a model of so many columns.

        Raises
        ------
        DataError
            If it is not that, or does not fit the model.
        """
        try:
            layout = None
            if decided["form"] == "table":
                layout = Layout.from_json(decided["layout"])
                Recipe.from_json(_recipe(layout).to_json())
            elif decided["form"] != "pairs":
                raise ValueError("neither a table nor pairs")
            bits = decided["bits"] if layout is None else layout.bits
            if bits is not None and not isinstance(bits, int):
                raise TypeError("not a number of bits")
            keys: Keys = "names" if bits is None else "hashed"
            if layout is None:
                keys = next(keys for keys in KEYS if keys == decided["keys"])
            kind = next(kind for kind in LABEL_KINDS if kind == decided["labels"])
        except (LookupError, TypeError, ValueError, StopIteration):
            raise DataError(_UNSAID) from None
        known = len(names or ()) if bits is None else 1 << min(max(bits, 0), 31)
        if keys == "numbers" or (keys == "hashed") != (bits is not None) or known != n_features:
            raise DataError(_UNSAID)
        return cls(n_features, names, kind, keys, bits, layout)


def open_fresh(
    path: str | os.PathLike[str] | BinaryIO,
    lesson: Lesson,
    *,
    drop: bool = False,
    classes: Collection[object] = (),
) -> FreshFeed:
    r"""Look at the beginning of rows that are to be predicted, and make ready to read them.

    Parameters
    ----------
    path : path, "-" or binary file
        Where they are; "-" is the standard input.
    lesson : Lesson
        How the model's rows were read.
    drop : bool
        Whether rows with missing values are left out, rather than refused.
    classes : collection
        The labels of the model: one of them alone is a row of pairs, too.

    Raises
    ------
    DataError
        If they cannot be read, are not of the form that was learned, or lack a column.

    Examples
    --------
    >>> import io
    >>> from novikoff.data.feeds.fresh import fresh_rows
    >>> decided = {"form": "pairs", "keys": "names", "bits": None, "labels": "texts"}
    >>> lesson = Lesson.from_json(decided, ["free", "money"], 2)
    >>> feed = open_fresh(io.BytesIO(b"money:2 hello:1\nspam free:1\n"), lesson)
    >>> (rows,) = fresh_rows(feed)
    >>> rows.X.toarray().tolist(), rows.labels
    ([[0.0, 2.0], [1.0, 0.0]], [None, 'spam'])
    >>> print(feed.strangers)
    1 feature that the model does not know is left out: "hello"
    """
    pipe = Pipe(path)
    try:
        head, ended = beginning(pipe, 1 if lesson.layout is None else 2)
        if not head:
            raise DataError(f"{pipe.name} is empty.")
        source = _text(pipe.name, head, ended=ended)
        feed: FreshFeed
        if lesson.layout is None:
            feed = _pairs(pipe, source, lesson, drop=drop, classes=classes)
        else:
            feed = _table(pipe, source, lesson, lesson.layout, drop=drop)
            if not (pipe.regular or ended) and head.count(b"\n") <= LINES:
                feed.doubt = Doubt(head, _settler(feed, head, lesson, lesson.layout))
        feed.head = b"" if pipe.regular else head[feed.body.offset :]
        return feed
    except BaseException:
        pipe.release()
        raise


def _text(name: str, head: bytes, *, ended: bool) -> Source:
    """The whole lines of a beginning, if they are text."""
    form = open_source(Named(head, name), None).format
    refuse_foreign(Source(name, memoryview(head), form))
    if form in BINARY:
        raise DataError(
            f"{name} is {form}, but the model was learned from a stream of text: novikoff convert "
            "turns it into CSV."
        )
    return Source(name, memoryview(head if ended else whole(head) or head), form)


def _pairs(
    pipe: Pipe, source: Source, lesson: Lesson, *, drop: bool, classes: Collection[object]
) -> FreshPairs:
    facts = check_text(source)
    first = b"".join(bytes(source.view[facts.start :]).splitlines(keepends=True)[:LINES])
    # A table without blanks would pass for rows of labels and nothing else.
    if not _has_pairs(first, {str(label).encode() for label in classes}):
        raise DataError(
            f"{source.name} is not of the form label feature:value …, as the rows were from which "
            "the model was learned."
        )
    return FreshPairs(
        pipe,
        source.name,
        body=Mark(facts.start, 0),
        keys=lesson.keys,
        bits=lesson.bits,
        missing="drop" if drop else "refuse",
        reader=LabelReader(lesson.labels, source.name, numeric=True),
        known=_columns(lesson),
        n_features=lesson.n_features,
    )


def _table(
    pipe: Pipe, source: Source, lesson: Lesson, learned: Layout, *, drop: bool
) -> FreshTable:
    named = source.format == "csv" and is_named(bytes(source.view))
    if source.format == "svmlight" or (named and not source.name.endswith((".csv", ".csv.gz"))):
        raise DataError(
            f"{source.name} holds rows of feature:value, but the model was learned from a table of "
            "named columns."
        )
    facts = check_text(source)
    look, plan = plan_text(source, facts, Choices(), _recipe(learned), labelled=False)
    places = zip(learned.features, plan.features, strict=True)
    layout = replace(
        learned,
        columns=look.names,
        label=plan.label,
        features=plan.features,
        texts=frozenset(now for was, now in places if was in learned.texts),
        id=plan.id,
        delimiter=look.delimiter,
        decimal=look.decimal,
        missing="drop" if drop else "refuse",
    )
    return FreshTable(
        pipe,
        source.name,
        body=Mark(look.body, look.line - 1),
        notes=[*look.notes, *plan.notes],
        layout=layout,
        reader=LabelReader(lesson.labels, source.name, numeric=False),
        known=_columns(lesson),
        n_features=lesson.n_features,
    )


def _recipe(layout: Layout) -> Recipe:
    """How the columns of a table are found in another."""
    return Recipe(
        family="table",
        columns=tuple(Column(layout.columns[j]) for j in layout.features),
        label=None if layout.label is None else layout.columns[layout.label],
        id=None if layout.id is None else layout.columns[layout.id],
        width=len(layout.columns),
        header=layout.header,
        delimiter=layout.given_delimiter,
        decimal=layout.given_decimal,
    )


def _columns(lesson: Lesson) -> dict[str, int]:
    return {name: column for column, name in enumerate(lesson.names or ())}


def _has_pairs(text: bytes, labels: Collection[bytes]) -> bool:
    """Whether lines hold pairs, a label that is known, or nothing at all."""
    pieces = [line.partition(b"#")[0].split() for line in text.splitlines()]
    rows = [row for row in pieces if row]
    return not rows or any(row[0] in labels or b":" in row[-1] for row in rows)


def _settler(
    feed: FreshTable, head: bytes, lesson: Lesson, learned: Layout
) -> Callable[[bytes, bool], None]:
    """Refuse a pipe that was judged by its first lines if more of them say something else."""

    def settle(seen: bytes, ended: bool) -> None:
        try:
            source = _text(feed.source, seen, ended=ended)
            again = _table(feed.pipe, source, lesson, learned, drop=False)
        except DataError:  # whoever reads the rows says what is wrong
            return
        now, before = again.layout, feed.layout
        if (now.columns, now.delimiter) != (before.columns, before.delimiter):
            few, many = head.count(b"\n"), seen.count(b"\n")
            raise DataError(
                f"{feed.source} paused and was judged by its first {few:,} lines, but {many:,} "
                "lines say something else: save it to a file, and predict that."
            )

    return settle
