"""Learn the rows of a file or a pipe, save the model, and resume after a crash.

`novikoff.data.open_stream` parses a file or pipe into pieces of rows. `StreamSession` gives each
piece to its `StreamRun`, which lets the model predict and learn the rows, counts the mistakes, and
pauses after 1, 2, 4, 8, … rows and wherever the caller asks. The session then saves the model, and
the caller may print or stop.

If the process is killed, nothing but time is lost. The model file is replaced as a whole. It
contains everything that is needed to resume: the weights, the counts, the position after the last
row that was learned, and the sizes of the lists that grow with the run. A session that resumes cuts
the lists to these sizes and continues to read from the position.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

from novikoff.core.model import LinearModel
from novikoff.errors import BadRowError, DataError, InvalidJsonError, TooManyClassesError
from novikoff.formats.files import write_file
from novikoff.formats.growing_csv import GrowingCsv
from novikoff.jobs.stream_run import StreamRun
from novikoff.proofs.strict_json import take_fields
from novikoff.sentences import counted

if TYPE_CHECKING:
    from novikoff.data import Piece, Position, StreamOptions
    from novikoff.data.source import PathOrFile
    from novikoff.formats.model_record import ModelRecord

# If this many rows are bad before any row is learned, the file is rejected as not being a stream.
MAX_BAD_ROWS_AT_START: Final = 100


class StreamSession:
    """A run on the rows of a file or a pipe, which knows its position and saves the model.

    Parameters
    ----------
    source, options : path, "-" or binary file, and StreamOptions
        The rows, and how they are read.
    run : StreamRun
        How rows are learned. A session that resumes restores its model and counts.
    model, save_every : path and int, optional
        Where the model is saved, and after how many rows. It is saved at the end too.
    mistakes, bad_rows : path, optional
        CSV files that list the rows with mistakes, and the rows that were skipped.
    resume, force : bool
        Whether to resume from the model file, if it exists, and whether existing lists are
        replaced.
    asked : mapping
        The options that must not change when the stream is resumed, as JSON values.

    Raises
    ------
    DataError
        If the model file is not from a stream, the data has changed, or the options differ.
    """

    def __init__(
        self,
        source: PathOrFile,
        options: StreamOptions,
        run: StreamRun,
        *,
        model: str | None = None,
        save_every: int | None = None,
        mistakes: str | None = None,
        bad_rows: str | None = None,
        resume: bool = False,
        force: bool = False,
        asked: Mapping[str, object] | None = None,
    ) -> None:
        from novikoff.data import open_stream

        self.run, self._say = run, options.reading.say
        self._path = None if model is None else Path(model)
        self._save_every = save_every
        self._asked = dict(asked or {})
        self._piece: Piece | None = None  # the last piece that was read
        # The rows of the run before this piece, less the rows of the piece that were skipped.
        self._piece_start = 0
        self._first_error: DataError | None = None
        state: dict[str, object] | None = None
        saved: dict[str, object] = {}
        if resume and self._path is not None and self._path.exists():
            state, saved = self._restore(self._path)
        self.reader = open_stream(source, options, state=state, resumable=model is not None)
        self._saved = (self.reader.start, 0)  # the position and pass of the last save
        self._rows_before = run.n_rows
        self._lists: dict[str, GrowingCsv] = {}
        try:
            for name, path, heading in (
                ("mistakes", mistakes, ("row", "predicted", "label")),
                ("bad_rows", bad_rows, ("line", "row", "reason")),
            ):
                if path is not None:
                    again = resume and state is None
                    self._lists[name] = GrowingCsv(
                        Path(path), heading, saved.get(name), force=force, again=again
                    )
        except BaseException:
            self.close()
            raise
        if mistakes is not None:
            run.mistaken = []

    def close(self) -> None:
        """Close all files."""
        self.reader.close()
        for file in self._lists.values():
            file.close()

    @property
    def position(self) -> Position:
        """The position after the last row that was learned or skipped."""
        if self._piece is None:
            return self.reader.position
        return self._piece.position(self._n_taken)

    @property
    def _n_taken(self) -> int:
        """The number of rows of the piece that were learned or skipped."""
        return self.run.n_rows - self._piece_start

    @property
    def model(self) -> Path | None:
        """The model file; None if no row has been learned, or if no file was asked for."""
        return self._path if self.run.n_rows else None

    def notes(self) -> list[str]:
        """Return the decisions that the program made for the user, and warnings."""
        notes = [*self.reader.notes, *self.run.cautions()]
        read = self.position.row > self.reader.position.row  # these rows may have missing values
        if self._rows_before == self.run.n_rows > 0 and not read:
            notes.append("no row is new: all rows were learned before")
        return notes

    def learn(
        self, *, passes: int = 1, limit: int | None = None, every: Sequence[int] = ()
    ) -> Generator[None]:
        """Learn the rows and save the model; yield at intervals, also while a pipe is silent.

        Parameters
        ----------
        passes : int
            The number of passes over the rows.
        limit : int, optional
            The number of rows to learn in total.
        every : sequence of int
            The generator yields at every multiple of each of these numbers of rows.

        Raises
        ------
        DataError
            If a row cannot be read or learned; the rows before it have been learned and saved. If
            bad rows are skipped, it is raised only if all rows at the start are bad.
        """
        if passes > 1 and not self.reader.repeatable:
            option = self._say("passes")
            raise DataError(f"{self.reader.source} can be read only once: {option} is for files.")
        run, save_every = self.run, self._save_every
        stops = [n for n in (*every, limit, save_every) if n is not None]
        before = run.n_rows
        try:
            while limit is None or run.n_rows < limit:
                for _ in self._learn_pass(stops):
                    learned = run.n_rows > before
                    if learned and save_every is not None and run.n_rows % save_every == 0:
                        self.save()
                    before = run.n_rows
                    yield
                    if limit is not None and run.n_rows >= limit:
                        return
                if run.passes >= passes:
                    return
                run.passes, run.skipped = run.passes + 1, 0
                self.reader.position, self._piece = self.reader.start, None
        except DataError:
            self.save()
            raise

    def save(self) -> None:
        """Write the model, unless there is none or it was already written at this position."""
        from novikoff.formats.model_file import dump_record

        place = self.position, self.run.passes
        if self.model is not None and place != self._saved:
            write_file(self.model, dump_record(self.record()))
            self._saved = place

    def record(self) -> ModelRecord:
        """Return the record of a model file, from which a session can resume."""
        from novikoff.formats.fitted_state import write_run
        from novikoff.formats.model_record import ModelRecord

        run, model = self.run, self.run.model
        if model is None:
            raise ValueError("No row has been learned yet.")
        names = self.reader.names
        return ModelRecord(
            estimator="Perceptron",
            model=model,
            names=None if names is None else list(names[: model.n_features]),
            parameters={
                "threshold": run.threshold,
                "step_size": run.step_size,
                "fit_intercept": run.fit_intercept,
                "average": run.average,
                "multi_class": run.multi_class,
            },
            fitted=write_run(run.passes, converged=False, grows=run.classes is None),
            preprocessing=self.reader.recipe(model.n_features).to_json(),
            data={
                "source": self.reader.source,
                "rows": run.n_rows,
                "features": model.n_features,
                "sha256": None,
                "rule": "stream",
                "rest": None,
                "stream": {
                    "run": run.to_json(),
                    "files": {name: file.state() for name, file in self._lists.items()},
                    "state": self.reader.state(self.position),
                    "asked": self._asked,
                },
            },
        )

    def _learn_pass(self, every: Sequence[int]) -> Iterator[None]:
        """Learn the rows from the position to the end of the source."""
        for piece in self.reader.pieces(self.position):
            if piece is not None:
                self._piece, self._piece_start = piece, self.run.n_rows
                if piece.rejected is not None:
                    self._skip(piece.rejected, piece.begin.line, piece.begin.row)
            if piece is None or not len(piece):
                yield
                continue
            yield from self._learn_piece(piece, every)
        if self.run.skipped and not self.run.n_rows:
            self._reject_all()

    def _learn_piece(self, piece: Piece, every: Sequence[int]) -> Iterator[None]:
        """Learn the rows of a piece; skip bad rows if the options say so."""
        while (first := self._n_taken) < len(piece):
            rest = piece.X[first:], piece.codes[first:], piece.labels
            try:
                for _ in self.run.learn(*rest, every):
                    self._write_mistakes(piece)
                    yield
            except ValueError as error:
                self._write_mistakes(piece)
                if isinstance(error, TooManyClassesError):
                    label = self._say("label")
                    raise DataError(
                        f"{self.reader.source}: {error} Choose the label with {label}."
                    ) from None
                if not isinstance(error, BadRowError):
                    raise DataError(f"{self.reader.source}: {error}") from None
                if not self.reader.skips:
                    raise BadRowError(f"{self.reader.source}: {error}") from None
                row, at = int(piece.rows[self._n_taken]) - 1, self.position
                self._skip(error, at.line + row - at.row, row)  # skipped rows may lie between
                self._piece_start -= 1

    def _write_mistakes(self, piece: Piece) -> None:
        """Append the last mistakes to the list of mistakes."""
        if self.run.mistaken:
            self._lists["mistakes"].append(
                (int(piece.rows[k - self._piece_start]), guess, label)
                for k, guess, label in self.run.mistaken
            )
            self.run.mistaken.clear()

    def _skip(self, error: DataError, line: int, row: int) -> None:
        """Count a bad row and list it; ``line`` and ``row`` count the lines and rows before it."""
        self.run.skipped += 1
        self._first_error = self._first_error or error
        if "bad_rows" in self._lists and self.run.passes == 1:
            self._lists["bad_rows"].append([(line + 1, row + 1, str(error))])
        if self.run.skipped >= MAX_BAD_ROWS_AT_START and not self.run.n_rows:
            self._reject_all()

    def _reject_all(self) -> NoReturn:
        """Raise the error for a stream in which no row at the start can be learned."""
        raise DataError(
            f"{self.reader.source}: not one of the first {counted(self.run.skipped, 'row')} can be "
            f"learned, and {self._say('skip_bad', True)} is for a few. {self._first_error}"
        )

    def _restore(self, path: Path) -> tuple[dict[str, object], dict[str, object]]:
        """Restore the run from a model file; return the states of its source and of its lists."""
        from novikoff.formats.model_file import read_record

        saved = read_record(path)
        stream = (saved.data or {}).get("stream")
        if not isinstance(stream, dict) or saved.estimator != "Perceptron":
            raise DataError(f"{path} is a model, but not of a stream that could be resumed.")
        try:
            fields = take_fields(
                stream,
                "the record of the stream",
                run="object",
                files="object",
                state="object",
                asked="object",
            )
            before = fields["asked"]
            for name in sorted({*before, *self._asked}):
                was, now = before.get(name), self._asked.get(name)
                if was != now:
                    was, now = ("nothing" if value is None else value for value in (was, now))
                    raise DataError(
                        f"{path} was begun with {self._say(name)} {was}, not {now}; use the same "
                        f"option, or start afresh with {self._say('force', True)}."
                    )
            self.run.restore(cast(LinearModel, saved.model), fields["run"])
        except InvalidJsonError as error:
            raise DataError(f"{path}: {error}.") from None
        return fields["state"], fields["files"]
