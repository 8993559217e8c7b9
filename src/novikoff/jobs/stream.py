"""A linear model on its way through a stream: each row is predicted first, then learned (A5).

The way of a row: `novikoff.data.open_stream` parses what a file or pipe brings into pieces of rows;
`StreamSession` hands each piece to its `StreamRun`; the run lets the model predict and learn the
rows, counts the mistakes, and pauses at 1, 2, 4, 8, … rows and where else it is asked to. The
session then saves, and its caller may print, or stop.

A kill at any moment loses nothing but time. The model file is replaced whole, and holds all that is
needed to go on: the weights, the counts, the position behind the last row that was learned, and the
sizes of the lists that grow with the run. A session that resumes cuts the lists back to these sizes
and reads on from the position. Rows are learned in turn and steps are numbered through, so that the
same stream gives the same bits, however it is cut into pieces, saved and gone on from.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.rows import Indices, Matrix
from novikoff.errors import BadRowError, DataError, InvalidJsonError
from novikoff.formats.files import write_file
from novikoff.formats.growing_csv import GrowingCsv
from novikoff.proofs.strict_json import take_fields
from novikoff.sentences import counted

if TYPE_CHECKING:
    from novikoff.data import Piece, Position, StreamOptions
    from novikoff.data.source import PathOrFile
    from novikoff.formats.model_record import ModelRecord

# The rows that the recent error is about.
RECENT_ROWS: Final = 1000
# Rows that are learned in one go: signals are heard after them.
MAX_ROWS_AT_ONCE: Final = 1 << 16
# More labels than this, for fewer than two rows each, are refused: they are measurements.
MAX_RARE_CLASSES: Final = 1000
# If as many rows are bad before any is learned, all of them are: the file is not what it seems.
MAX_BAD_ROWS_AT_START: Final = 100
# Classes of fewer rows are no sign that labels come sorted.
MIN_ROWS_TO_BE_SORTED: Final = 10
# Fewer rows in all are not compared with a constant rule.
MIN_ROWS_TO_JUDGE: Final = 100
_EPSILON, _TINY = Fraction(1, 2**52), Fraction(1, 2**1074)


@dataclass(frozen=True)
class Progress:
    """How far a stream has been learned.

    A mistake is a row whose class was not predicted before it was learned; a tie is one, and so is
    a third class, or a later one, when it is first seen. With an average it is still w that
    predicts here. ``error`` is their share among all rows, ``recent_error`` among the last 1,000;
    ``updates`` are summed over the rules, and ``norm`` is ‖w‖ of all weights, with the bias.

    ``margin_bound``: no weights (w, b) of length 1 have y(⟨w, x⟩ + b) above it on all rows learned
    so far, as γ ≤ ‖w‖/(t·μ) after t updates (B3); rounded up, and the least of those after 1, 2, 4,
    8, … rows and now. The distance of rows from a hyperplane, which divides by ‖w‖ without b, may
    be larger. None where the theorem does not speak (more than two classes, a margin, weights of
    classes, a start from other weights than zero), and where the bound is beyond float64.
    """

    rows: int
    mistakes: int
    error: float
    recent_error: float
    updates: int
    norm: float
    margin_bound: float | None


@dataclass
class StreamRun:
    """A linear model, its mistakes so far, and how it learns.

    The first six fields are those of `novikoff.Perceptron`.

    >>> run = StreamRun()
    >>> rows, codes = np.array([[1.0], [2.0], [-1.0], [3.0]]), np.array([0, 0, 1, 0])
    >>> for _ in run.learn(rows, codes, ["up", "down"]):
    ...     pass
    >>> run.progress().rows, run.progress().mistakes
    (4, 2)
    """

    margin: float = 0.0
    step: float = 1.0
    fit_intercept: bool = True
    average: bool = False  # whether one is kept
    multi_class: str = "ovr"
    class_weight: Mapping[Hashable, float] | None = None
    classes: Sequence[Hashable] | None = None  # all there will be; by default as they appear
    model: LinearModel | None = None  # where to go on from; None before the first row
    # Makes a context in which kernels are loaded and compiled.
    loading: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext

    rows: int = field(default=0, init=False)
    mistakes: int = field(default=0, init=False)
    skipped: int = field(default=0, init=False)  # rows of this pass that were bad
    passes: int = field(default=1, init=False)  # the number of the pass over the rows, from 1
    # The rows predicted wrong, until they are taken: their place in the run, counted from 0, the
    # label predicted, None for a tie or where nothing is known yet, and their own. None where
    # they are not asked for.
    mistaken: list[tuple[int, Hashable, Hashable]] | None = field(default=None, init=False)
    _recent: npt.NDArray[np.bool_] = field(init=False, repr=False)
    # The rows of each label in the first pass, as labels appeared; whether none has come back.
    _class_rows: dict[Hashable, int] = field(default_factory=dict, init=False, repr=False)
    _sorted: bool = field(default=True, init=False, repr=False)
    _least_bound: float = field(default=math.inf, init=False, repr=False)
    _loaded: type | None = field(default=None, init=False, repr=False)  # the scheme of the kernels

    def __post_init__(self) -> None:
        self._from_zero = self.model is None
        self._recent = np.zeros(0, dtype=np.bool_)

    def learn(
        self,
        X: Matrix,
        codes: Indices,
        labels: Sequence[Hashable],
        every: Sequence[int] = (),
    ) -> Iterator[None]:
        """Predict, then learn, the rows of X in turn; pause at `next_stop`, or sooner.

        X is a C-ordered array with all features, or a CSR matrix that may have new columns;
        ``codes`` are positions in ``labels``. ValueError if X has another number of features, a
        label is unknown where all classes were given, or a number is beyond float64. The rows
        before have been learned.
        """
        first = 0
        while first < len(codes):
            label = labels[codes[first]]
            model = self._model_for(X, label)
            if novel := label not in model.classes.tolist():
                self._check_new(model, label)
                model = model.with_class(label)
            places = {label: code for code, label in enumerate(model.classes.tolist())}
            known = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
            stop = first + next_stop(self.rows, every) - self.rows
            mapped = known[codes[first:stop]]
            count = 1 if novel else int(np.argmax(mapped < 0)) or len(mapped)
            # Of two classes the sign is predicted, whether the label was seen or not (B4).
            unforeseen = novel and len(model.classes) > 2
            self._learn(model, X[first : first + count], mapped[:count], unforeseen=unforeseen)
            first += count
            yield

    def count(self, model: LinearModel, wrong: npt.NDArray[np.bool_]) -> None:
        """Count rows that a model has learned, each of which was predicted wrong or right."""
        self.model = model
        self.rows += len(wrong)
        self.mistakes += int(np.count_nonzero(wrong))
        self._recent = np.concatenate([self._recent, wrong[-RECENT_ROWS:]])[-RECENT_ROWS:]
        if is_power_of_two(self.rows):
            bound = self._margin_bound(model, _norm(model.W))
            self._least_bound = min(self._least_bound, math.inf if bound is None else bound)

    def progress(self) -> Progress:
        """How far it is."""
        model = self.model
        norm = 0.0 if model is None else _norm(model.W)
        bound = None if model is None else self._margin_bound(model, norm)
        return Progress(
            rows=self.rows,
            mistakes=self.mistakes,
            error=self.mistakes / max(self.rows, 1),
            recent_error=float(self._recent.sum()) / max(len(self._recent), 1),
            updates=0 if model is None else model.n_updates,
            norm=norm,
            margin_bound=None if bound is None else min(bound, self._least_bound),
        )

    def cautions(self) -> list[str]:
        """A word on labels that come sorted, and on more mistakes than a constant rule makes."""
        found, counts = list[str](), list(self._class_rows.items())
        counted_rows = sum(self._class_rows.values())
        if len(counts) < 2 or counted_rows * self.passes < self.rows:  # or begun uncounted
            return found
        if self._sorted and min(self._class_rows.values()) >= MIN_ROWS_TO_BE_SORTED:
            (label, count), *others = counts
            told = [f"{counted(count, 'row')} of {label}"]
            told += [f"{n:,} of {x}" for x, n in others[:3]]
            more = ", then other classes" if len(others) > 3 else ""
            found.append(
                f"labels come sorted ({', then '.join(told)}{more}): the perceptron forgets what "
                "it saw first, and its mistakes say little; shuffle the rows"
            )
        frequent, count = max(counts, key=lambda item: item[1])
        rare = counted_rows - count
        wrong = rare / counted_rows
        # The first pass is counted; of a later one that is not over, all may be of other classes.
        begun = self.rows - counted_rows * (self.passes - 1)
        most = rare * (self.passes - 1) + min(rare, begun)
        # The first row of a class is a mistake of every learner.
        if self.rows >= MIN_ROWS_TO_JUDGE and self.mistakes - len(counts) > most:
            found.append(
                f"always predicting {frequent} would make fewer mistakes ({wrong:.2%}); where "
                "features have very different scales the perceptron is slow: novikoff fit "
                "standardises them"
            )
        return found

    def to_json(self) -> dict[str, object]:
        """The counts that the model itself does not have."""
        return {
            "rows": self.rows,
            "mistakes": self.mistakes,
            "recent": "".join("1" if wrong else "0" for wrong in self._recent.tolist()),
            "from_zero": self._from_zero,
            "least_bound": None if math.isinf(self._least_bound) else self._least_bound,
            "class_rows": [list(item) for item in self._class_rows.items()],
            "sorted": self._sorted,
            "pass": self.passes,
            "skipped": self.skipped,
        }

    def restore(self, model: LinearModel, body: Mapping[str, object]) -> None:
        """Go on from a model and the counts that `to_json` wrote; InvalidJsonError if it cannot."""
        if "class_rows" not in body:  # of an earlier version
            body = {"skipped": 0, "least_bound": None, **body, "class_rows": [], "sorted": False}
        fields = take_fields(
            body,
            "the record of the stream",
            rows="count",
            mistakes="count",
            **{"pass": "count"},
            skipped="count",
            from_zero="flag",
            sorted="flag",
            class_rows="list",
            recent="text",
            least_bound="any",
        )
        self.rows, self.mistakes, self.passes, self.skipped = fields[:4]
        self._from_zero, self._sorted, class_rows, recent, least = fields[4:]
        self._least_bound = math.inf if least is None else least
        right = self.mistakes <= self.rows and self.passes >= 1
        right = right and len(recent) == min(self.rows, RECENT_ROWS)
        right = right and type(self._least_bound) is float and self._least_bound >= 0.0
        if not right or not all(map(_is_count, class_rows)):
            raise InvalidJsonError("the record of the stream has impossible counts")
        self.model, self._class_rows = model, dict(class_rows)
        self._recent = np.array([character == "1" for character in recent], dtype=np.bool_)

    def _model_for(self, X: Matrix, label: Hashable) -> LinearModel:
        """The model, begun if need be, with the columns of X."""
        width = X.shape[1]
        if self.model is None:
            self.model = LinearModel(
                np.array([label] if self.classes is None else list(self.classes)),
                width,
                fit_intercept=self.fit_intercept,
                averages=self.average,
                multi_class=self.multi_class,
            )
        n_features = self.model.n_features
        if isinstance(X, np.ndarray) and width != n_features:
            raise ValueError(f"The rows have {width} features, but {n_features} are expected.")
        return self.model if width <= n_features else self.model.with_features(width)

    def _check_new(self, model: LinearModel, label: Hashable) -> None:
        """Refuse a class that cannot be taken in."""
        n, row = len(model.classes) + 1, self.rows + 1
        if self.classes is not None:
            raise ValueError(
                f"Row {row} of the stream is of class {label!r}, which is not one of the classes "
                f"{model.classes.tolist()}."
            )
        if n > max(MAX_RARE_CLASSES, row / 2):
            raise ValueError(
                f"{n:,} different labels in {row:,} rows are hardly classes; choose the label with "
                "--label."
            )

    def _learn(
        self,
        model: LinearModel,
        X: Matrix,
        codes: Indices,
        *,
        unforeseen: bool = False,
    ) -> None:
        """Learn rows of known classes; of rows that cannot be learned, those before the first."""
        if type(model.scheme) is not self._loaded:
            self._load(model, X)
        from novikoff.core.updates import perceptron

        weights = None
        if self.class_weight:
            factors = [self.class_weight.get(label, 1.0) for label in model.classes.tolist()]
            weights = np.array(factors, dtype=np.float64)[codes]
        try:
            predicted = model.learn(
                X, codes, perceptron(self.margin, self.step), sample_weight=weights
            )
        except ValueError as error:
            if len(codes) == 1:
                number = self.rows + 1
                raise BadRowError(f"Row {number} of the stream {_reason(X, error)}") from None
            half = len(codes) // 2
            self._learn(model, X[:half], codes[:half])
            self._learn(model, X[half:], codes[half:])
            return
        if unforeseen:
            predicted = np.where(predicted == codes, -1, predicted)
        labels = model.classes.tolist()
        if self.mistaken is not None:
            for k in np.flatnonzero(predicted != codes).tolist():
                said = None if predicted[k] < 0 else labels[predicted[k]]
                self.mistaken.append((self.rows + k, said, labels[codes[k]]))
        if self.passes == 1:
            self._count_labels(labels, codes)
        self.count(model, predicted != codes)

    def _count_labels(self, labels: Sequence[Hashable], codes: Indices) -> None:
        """Count the rows of each label, and see whether labels come sorted: each change is new."""
        last, known = next(reversed(self._class_rows), None), len(self._class_rows)
        changes = int(np.count_nonzero(np.diff(codes))) + (labels[codes[0]] != last)
        for code, count in enumerate(np.bincount(codes).tolist()):
            if count:
                self._class_rows[labels[code]] = self._class_rows.get(labels[code], 0) + count
        self._sorted = self._sorted and changes == len(self._class_rows) - known

    def _load(self, model: LinearModel, X: Matrix) -> None:
        with self.loading():
            from novikoff.core.problem import pose
            from novikoff.core.training import load_kernels

            load_kernels(pose(X[:0], np.ones(0, dtype=np.int8), True), model.scheme)
        self._loaded = type(model.scheme)

    def _margin_bound(self, model: LinearModel, norm: float) -> float | None:
        """‖w‖/(t·μ) and all that rounding may have done to w on the way, rounded up.

        Each update rounds w by at most u(‖w‖ + μR) with ‖w‖ ≤ √t·μR: in all, 4u·t^1.5·μR.
        """
        t = int(model.totals[1, 0])
        speaks = self._from_zero and self.margin == 0.0 and not self.class_weight
        finite = math.isfinite(norm + model.radius)
        if not (speaks and finite and t > 0 and len(model.classes) <= 2):
            return None
        step, size = Fraction(self.step), len(model.W)
        lost = 2 * _EPSILON * t * (math.isqrt(t) + 1) * step * Fraction(model.radius)
        lost += t * size * _TINY
        length = Fraction(norm) * (1 + (size + 16) * _EPSILON) + lost
        try:
            return math.nextafter(float(length / (t * step)), math.inf)
        except OverflowError:
            return None


class StreamSession:
    """A run on the rows of a file or a pipe: it knows the position, and saves.

    Parameters
    ----------
    source, options : path, "-" or binary file, and StreamOptions
        The rows, and the way they are read.
    run : StreamRun
        How they are learned; if the session resumes, it gets the model and its counts.
    model, save_every : path and int, optional
        Where the model is saved, and after how many rows; at the end in any case.
    mistakes, bad_rows : path, optional
        Lists of the rows predicted wrong, and of those that were skipped.
    resume, force : bool
        Whether to go on from the model, if it is there; whether lists that are there are replaced.
    asked : mapping
        The options that must not change when a stream goes on, as JSON values.

    Raises
    ------
    DataError
        If the model is not a stream's, the data is not what it was, or other things are asked.
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

        self.run = run
        self._path = None if model is None else Path(model)
        self._save_every = save_every
        self._asked = dict(asked or {})
        self._piece: Piece | None = None  # the last one
        # The rows of the piece that are done, learned or left out, less those of the run.
        self._ahead = 0
        self._first_error: DataError | None = None
        state: dict[str, object] | None = None
        saved: dict[str, object] = {}
        if resume and self._path is not None and self._path.exists():
            state, saved = _restore(run, self._path, self._asked)
        self.rows = open_stream(source, options, state=state, resumable=model is not None)
        self._saved = (self.rows.start, 0)  # the place where the model was written last
        self._rows_before = run.rows
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
        """Give the files back."""
        self.rows.close()
        for file in self._lists.values():
            file.close()

    @property
    def position(self) -> Position:
        """The place after the last row that was learned, or left out."""
        if self._piece is None:
            return self.rows.position
        return self._piece.position(self.run.rows + self._ahead)

    @property
    def model(self) -> Path | None:
        """The model's file, if there is something to hold."""
        return self._path if self.run.rows else None

    def notes(self) -> list[str]:
        """What was decided for the user, and what to beware of."""
        found = [*self.rows.notes, *self.run.cautions()]
        read = self.position.row > self.rows.position.row  # perhaps rows that were left out
        if self._rows_before == self.run.rows > 0 and not read:
            found.append("no row is new: all of this was learned before")
        return found

    def learn(
        self, *, passes: int = 1, limit: int | None = None, every: Sequence[int] = ()
    ) -> Generator[None]:
        """Learn on, and save; yield after each stretch of rows, and now and then while none come.

        ``passes`` is how often to go through the rows, and ``limit`` the number of rows, all in
        all; at multiples of ``every`` it yields in any case. DataError if rows cannot be read, or
        learned; those before have been, and are saved. If bad rows are skipped, only if all are
        bad at the start.
        """
        if passes > 1 and not self.rows.repeatable:
            raise DataError(f"{self.rows.source} can be read only once: --passes is for files.")
        run, save_every = self.run, self._save_every
        stops = [n for n in (*every, limit, save_every) if n is not None]
        before = run.rows
        try:
            while limit is None or run.rows < limit:
                for _ in self._learn_pass(stops):
                    if run.rows > before and save_every is not None and run.rows % save_every == 0:
                        self.save()
                    before = run.rows
                    yield
                    if limit is not None and run.rows >= limit:
                        return
                if run.passes >= passes:
                    return
                run.passes, run.skipped = run.passes + 1, 0
                self.rows.position, self._piece = self.rows.start, None
        except DataError as error:
            self.save()
            if self.model is None:
                raise
            kept = f"{self.model} holds the rows before; --resume goes on from there"
            if isinstance(error, BadRowError):
                kept += "; add --bad-rows skip to leave the row out"
            raise DataError(f"{error} {kept}.") from None

    def save(self) -> None:
        """Write the model, unless there is none, or it was written at this place already."""
        from novikoff.formats.model_file import dump_record

        place = self.position, self.run.passes
        if self.model is not None and place != self._saved:
            write_file(self.model, dump_record(self.record()))
            self._saved = place

    def record(self) -> ModelRecord:
        """All that is needed to predict, and to go on from here."""
        from novikoff.formats.fitted_state import write_run
        from novikoff.formats.model_record import ModelRecord

        run, model = self.run, self.run.model
        if model is None:
            raise ValueError("No row has been learned yet.")
        names = self.rows.names
        return ModelRecord(
            estimator="Perceptron",
            model=model,
            names=None if names is None else list(names[: model.n_features]),
            parameters={
                "margin": run.margin,
                "step": run.step,
                "fit_intercept": run.fit_intercept,
                "average": "averaged" if run.average else False,
                "multi_class": run.multi_class,
            },
            fitted=write_run(run.passes, converged=False, grows=run.classes is None),
            preprocessing=self.rows.recipe(model.n_features).to_json(),
            data={
                "source": self.rows.source,
                "rows": run.rows,
                "features": model.n_features,
                "sha256": None,
                "rule": "stream",
                "rest": None,
                "stream": {
                    **run.to_json(),
                    "files": {name: file.state() for name, file in self._lists.items()},
                    "state": self.rows.state(self.position),
                    "asked": self._asked,
                },
            },
        )

    def _learn_pass(self, every: Sequence[int]) -> Iterator[None]:
        """Learn the rows from the position on, to the end of the source."""
        for piece in self.rows.pieces(self.position):
            if piece is not None:
                self._piece, self._ahead = piece, -self.run.rows
                if piece.refused is not None:
                    self._skip(piece.refused, piece.begin.line, piece.begin.row)
            if piece is None or not len(piece):
                yield
                continue
            yield from self._learn_piece(piece, every)
        if self.run.skipped and not self.run.rows:
            self._refuse_all()

    def _learn_piece(self, piece: Piece, every: Sequence[int]) -> Iterator[None]:
        """Learn the rows of a piece, but for those that are bad, if such are skipped."""
        while (first := self.run.rows + self._ahead) < len(piece):
            rest = piece.X[first:], piece.codes[first:], piece.labels
            try:
                for _ in self.run.learn(*rest, every):
                    self._write_mistakes(piece)
                    yield
            except ValueError as error:
                self._write_mistakes(piece)
                if not isinstance(error, BadRowError):
                    raise DataError(f"{self.rows.source}: {error}") from None
                if not self.rows.skips:
                    raise BadRowError(f"{self.rows.source}: {error}") from None
                row, at = int(piece.rows[self.run.rows + self._ahead]) - 1, self.position
                self._skip(error, at.line + row - at.row, row)  # rows left out come between
                self._ahead += 1

    def _write_mistakes(self, piece: Piece) -> None:
        """Add the mistakes of the last rows to their list."""
        if self.run.mistaken:
            self._lists["mistakes"].append(
                (int(piece.rows[k + self._ahead]), said, label)
                for k, said, label in self.run.mistaken
            )
            self.run.mistaken.clear()

    def _skip(self, error: DataError, line: int, row: int) -> None:
        """Count and list a bad row; ``line`` and ``row`` are the numbers of those before it."""
        self.run.skipped += 1
        self._first_error = self._first_error or error
        if "bad_rows" in self._lists and self.run.passes == 1:
            self._lists["bad_rows"].append([(line + 1, row + 1, str(error))])
        if self.run.skipped >= MAX_BAD_ROWS_AT_START and not self.run.rows:
            self._refuse_all()

    def _refuse_all(self) -> NoReturn:
        raise DataError(
            f"{self.rows.source}: not one of the first {counted(self.run.skipped, 'row')} can be "
            f"learned, and --bad-rows skip is for a few. {self._first_error}"
        )


def next_stop(rows: int, every: Sequence[int] = ()) -> int:
    """The next row count at which a run pauses.

    That is a power of two, a multiple of one of ``every``, or where signals have waited for long
    enough.

    >>> [next_stop(rows, [5]) for rows in (0, 1, 2, 4, 5, 1 << 20)]
    [1, 2, 4, 5, 8, 1048580]
    """
    multiples = ((rows // n + 1) * n for n in every)
    return min(1 << rows.bit_length(), rows + MAX_ROWS_AT_ONCE, *multiples)


def is_power_of_two(rows: int) -> bool:
    """Whether a number of rows is 1, 2, 4, 8 and so on."""
    return rows > 0 and rows & (rows - 1) == 0


def _restore(
    run: StreamRun, path: Path, asked: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Give a run the model and counts of a file; the states of its source and of its lists."""
    from novikoff.formats.model_file import read_record

    saved = read_record(path)
    stream = (saved.data or {}).get("stream")
    if not isinstance(stream, dict) or saved.estimator != "Perceptron":
        raise DataError(f"{path} is a model, but not of a stream that could go on.")
    counts = {"files": {}, **stream}
    before, state, lists = (counts.pop(name, None) for name in ("asked", "state", "files"))
    if not (isinstance(before, dict) and isinstance(state, dict) and isinstance(lists, dict)):
        raise DataError(f"{path} does not say what was asked of its stream, or where it stopped.")
    for name in sorted({*before, *asked}):
        was, now = ("nothing" if v is None else v for v in (before.get(name), asked.get(name)))
        if was != now:
            raise DataError(
                f"{path} was begun with --{name.replace('_', '-')} {was}, not {now}; ask for the "
                "same, or start afresh with --force."
            )
    try:
        run.restore(cast(LinearModel, saved.model), counts)
    except InvalidJsonError as error:
        raise DataError(f"{path}: {error}.") from None
    return state, lists


def _is_count(value: object) -> bool:
    """Whether a value is a list of a label and the number of its rows."""
    match value:
        case [str() | int() | float(), int(count)]:
            return count > 0
    return False


def _reason(X: Matrix, error: ValueError) -> str:
    """Why a row cannot be learned."""
    values = X if isinstance(X, np.ndarray) else X.data
    if np.isnan(values).any():
        return "has a missing value, NaN: leave it out, or fill it in."
    if np.isinf(values).any():
        return "has an infinite value."
    if "float64" in str(error):
        return "has a score or an update beyond the range of float64: scale the data down."
    return f"cannot be learned: {error}"


def _norm(W: npt.NDArray[np.float64]) -> float:
    """‖w‖, without overflow on the way."""
    largest = float(np.abs(W).max(initial=0.0)) or 1.0
    return largest * math.sqrt(float(np.square(W / largest).sum()))
