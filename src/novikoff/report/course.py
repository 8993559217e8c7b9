"""A learner on its way through a stream: how far it is, saved and gone on from, exactly."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from novikoff.data.errors import DataError
from novikoff.data.feeds.feed import Batch, Feed, Mark, Wishes
from novikoff.data.feeds.kept import Kept
from novikoff.data.feeds.opening import reopen_feed
from novikoff.data.feeds.pipe import Ahead
from novikoff.learners.progressive import Progressive
from novikoff.learners.pupil import Pupil

if TYPE_CHECKING:
    from novikoff.learners.perceptron import Perceptron

Stop: TypeAlias = Callable[[int], int]

_MOST_ROWS: Final = 1 << 16  # learned in one go: a wish to stop is heard after them


@dataclass
class Course:
    """A learner, its record, and its place in a feed.

    Parameters
    ----------
    feed : Feed
        The rows.
    record : Progressive
        The learner and what it did so far.
    at : Mark
        The place of the next row.
    lap : int
        Which pass over the rows this is, counted from 1.
    begun : Ahead, optional
        The batches from ``at`` on, if someone has begun to read them.
    kept : Kept, optional
        What keeps batches of the feed for the next pass.
    """

    feed: Feed
    record: Progressive
    at: Mark
    lap: int = 1
    begun: Ahead[Batch] | None = None
    kept: Kept | None = None

    def __post_init__(self) -> None:
        self._kept = self.kept or Kept(self.feed)
        self._batch: Batch | None = None
        self._done = 0
        self._ended = False
        self.record.width, self.record.wary = self.feed.width, True

    @property
    def mark(self) -> Mark:
        """The place after the last row that was learned."""
        return self.at if self._batch is None else self._batch.mark(self._done)

    @property
    def dropped(self) -> int:
        """The rows left out up to there; at the end of the stream, up to the end."""
        return self.feed.dropped if self._ended else self.mark.dropped

    def teach(self, learner: Perceptron) -> None:
        """Give a perceptron all that was learned, with the names of the features."""
        self.record.pupil.lend(learner)
        names = self.feed.names
        if names is not None:
            learner.feature_names_in_ = np.array(names[: learner.n_features_in_], dtype=object)

    def go(self, stop: Stop, passes: int = 1) -> Generator[None]:
        """Learn on; a breath after each stretch of rows, and now and then while none come.

        Parameters
        ----------
        stop : callable
            For a number of rows, the next larger one at which to stop for breath.
        passes : int
            How often to go through the rows, all in all.

        Raises
        ------
        DataError
            If the rows cannot be read, or learned; those before have been learned.
        """
        while True:
            if self.lap >= passes:
                self._kept.most = 0
            yield from self._lap(stop)
            if self.lap >= passes:
                self._ended = True
                self._release()
                return
            self.lap += 1
            self._batch, self.at = None, self.feed.start

    def _lap(self, stop: Stop) -> Generator[None]:
        ahead, self.begun = self.begun or Ahead(self._kept.batches(self.mark)), None
        try:
            for batch in ahead:
                if batch is None:
                    yield
                    continue
                self._batch, self._done = batch, 0
                while self._done < len(batch):
                    rows = self.record.rows
                    self._learn(batch, min(stop(rows) - rows, _MOST_ROWS))
                    yield
        except BaseException:
            self.feed.close()
            ahead.close()
            self._release()
            raise
        ahead.close()

    def _release(self) -> None:
        """Give the file back; its text is not needed any more to say where this is."""
        try:
            self.at, self._batch = self.mark, None
        finally:
            self.feed.release()

    def _learn(self, batch: Batch, most: int) -> None:
        record, first = self.record, self._done
        before, last = record.rows, min(len(batch), first + most)
        try:
            record.learn(batch.X, batch.codes, batch.labels, first, last)
        except ValueError as error:
            raise DataError(f"{self.feed.source}: {error}") from None
        finally:
            self._done = first + record.rows - before

    def dump(self, asked: Mapping[str, object]) -> bytes:
        """The model file: all that is needed to go on from here."""
        from novikoff.learners.perceptron import Perceptron
        from novikoff.report import model_file

        pupil, mark = self.record.pupil, self.mark
        width = pupil.rules.n_features
        learner = Perceptron(
            margin=pupil.margin,
            step=pupil.step,
            fit_intercept=pupil.fit_intercept,
            average="averaged" if pupil.average else False,
            multi_class="ovo" if pupil.multi_class == "ovo" else "ovr",
        )
        self.teach(learner)
        stream: dict[str, object] = {
            **self.record.to_json(),
            "at": mark.to_json(),
            "pass": self.lap,
            "decided": self.feed.to_json(),
            "asked": dict(asked),
        }
        data: dict[str, object] = {
            "source": self.feed.source,
            "rows": self.record.rows,
            "features": width,
            "sha256": None,
            "rule": "stream",
            "rest": None,
            "stream": stream,
        }
        return model_file.dump(learner, preprocessing=self.feed.preprocessing(width), data=data)


def resume(
    path: Path, source: str, wishes: Wishes, asked: Mapping[str, object], *, replay: bool
) -> Course:
    """Go on from a model file.

    Parameters
    ----------
    path : path
        What `Course.dump` wrote.
    source : str
        The stream.
    wishes : Wishes
        What is asked of it, as before.
    asked : mapping
        Everything that was asked, as JSON values: it must be the same as before.
    replay : bool
        Whether a pipe begins anew with what was learned, which is skipped.

    Raises
    ------
    ValueError
        If the file is not a stream's, other things are asked, or the data is not what it was.
    """
    from novikoff.learners.perceptron import Perceptron
    from novikoff.report import model_file

    saved = model_file.read(path)
    stream = (saved.data or {}).get("stream")
    if not isinstance(stream, dict) or not isinstance(saved.model, Perceptron):
        raise DataError(f"{path} is a model, but not of a stream that could go on.")
    _check_asked(path, stream.get("asked"), asked)
    decided, lap = stream.get("decided"), stream.get("pass")
    if not isinstance(decided, dict) or not isinstance(lap, int):
        raise DataError(f"{path} does not say how its stream was read.")
    try:
        mark = Mark.from_json(stream.get("at"))
    except ValueError:
        raise DataError(f"{path} does not say where its stream stopped.") from None
    names = getattr(saved.model, "feature_names_in_", None)
    feed = reopen_feed(source, decided, None if names is None else names.tolist(), wishes)
    feed.go_on(mark, replay=replay)
    record = Progressive.from_json(Pupil.of(saved.model), stream)
    return Course(feed, record, mark, lap)


def doubling(rows: int) -> int:
    """The next power of two.

    >>> [doubling(rows) for rows in (0, 1, 2, 3)]
    [1, 2, 4, 4]
    """
    return 1 << rows.bit_length() if rows else 1


def multiples(step: int) -> Stop:
    """The next multiple of a step.

    >>> [multiples(5)(rows) for rows in (0, 4, 5)]
    [5, 5, 10]
    """
    return lambda rows: (rows // step + 1) * step


def _check_asked(path: Path, before: object, asked: Mapping[str, object]) -> None:
    if not isinstance(before, dict):
        raise DataError(f"{path} does not say what was asked of its stream.")
    for name in sorted({*before, *asked}):
        if before.get(name) != asked.get(name):
            was, now = (_said(what.get(name)) for what in (before, asked))
            raise DataError(
                f"{path} was begun with --{name.replace('_', '-')} {was}, not {now}; ask for the "
                "same, or begin anew with --force."
            )


def _said(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "nothing"
    return "nothing" if value is None else str(value)
