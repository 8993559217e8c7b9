"""A linear model on its way through a stream: each row is predicted first, then learned (A5).

One `StreamRun` owns the model and counts its mistakes. Rows are learned in turn and steps are
numbered through, so that the same stream gives the same bits, however it is cut into pieces, saved
and gone on from.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.rows import Floats, Indices, SparseMatrix
from novikoff.data.errors import BadRowError, DataError, counted

if TYPE_CHECKING:
    from novikoff.data import Piece, Position, RowStream, StreamOptions
    from novikoff.report.growing_csv import GrowingCsv
    from novikoff.report.model_file import ModelRecord

# From a number of rows, the number at which to stop next.
NextStop: TypeAlias = Callable[[int], int]

# The rows that the recent error is about.
RECENT_ROWS: Final = 1000
# Rows that are learned in one go: signals are heard after them.
MAX_ROWS_AT_ONCE: Final = 1 << 16
# More labels than this, for fewer than two rows each, are refused: they are measurements.
MAX_RARE_CLASSES: Final = 1000
# If as many rows are bad before any is learned, all of them are: the file is not what it seems.
MAX_BAD_ROWS_AT_START: Final = 100
# Of fewer rows of a class nobody says that labels come sorted.
MIN_ROWS_TO_BE_SORTED: Final = 10
_EPSILON, _TINY = Fraction(1, 2**52), Fraction(1, 2**1074)


@dataclass(frozen=True)
class Progress:
    """How far a stream has been learned.

    A mistake is a row whose class was not predicted before it was learned; a tie is one, and so is
    a third class, or a later one, when it is first seen. With an average it is still w that
    predicts here. ``error`` is their share among all rows, ``recent_error`` among the last 1,000;
    ``updates`` are summed over the rules, and ``norm`` is ‖w‖ of all weights, with the bias.

    ``margin_bound``: no linear rule separates the rows seen so far by a margin γ above it, as
    γ ≤ ‖w‖/(t·μ) after t updates (B3); rounded up, and the least of those after 1, 2, 4, 8, … rows
    and now. None where the theorem does not speak (more than two classes, a margin, weights of
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
    >>> run.learn(np.array([[1.0], [2.0], [-1.0], [3.0]]), np.array([0, 0, 1, 0]), ["up", "down"])
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
    list_mistakes: bool = False  # whether `mistaken` is filled
    # Makes a context in which kernels are loaded and compiled.
    loading: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
    rows: int = field(default=0, init=False)
    mistakes: int = field(default=0, init=False)
    _recent: npt.NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.from_zero, self._recent = self.model is None, np.zeros(0, dtype=np.bool_)
        # The rows predicted wrong, until they are taken: their place in the run, counted from 0,
        # the label predicted, None for a tie or where nothing is known yet, and their own.
        self.mistaken: list[tuple[int, Hashable, Hashable]] = []
        # How many rows of each label came one after the other; None once a label has come back.
        self._sorted: dict[Hashable, int] | None = {}
        self.first_pass, self._least_bound = True, math.inf
        self._loaded: type | None = None

    def learn_until(
        self, stop: NextStop, X: Floats | SparseMatrix, codes: Indices, labels: Sequence[Hashable]
    ) -> Iterator[None]:
        """Learn rows, and come up for air at the row counts that ``stop`` names, or sooner."""
        first = 0
        while first < len(codes):
            up_to = min(stop(self.rows), doubling(self.rows), self.rows + MAX_ROWS_AT_ONCE)
            last = first + up_to - self.rows
            self.learn(X[first:last], codes[first:last], labels)
            first = last
            yield

    def learn(self, X: Floats | SparseMatrix, codes: Indices, labels: Sequence[Hashable]) -> None:
        """Predict, then learn, the rows of X in turn; ``codes`` are positions in ``labels``.

        X is a C-ordered array with all features, or a CSR matrix that may have new columns.
        ValueError if X has another number of features, a label is unknown where all classes were
        given, or a number is beyond float64. The rows before have been learned.
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
            mapped = known[codes[first:]]
            count = 1 if novel else int(np.argmax(mapped < 0)) or len(mapped)
            # Of two classes the sign is predicted, whether the label was seen or not (B4).
            unforeseen = novel and len(model.classes) > 2
            self._learn(model, X[first : first + count], mapped[:count], unforeseen=unforeseen)
            first += count

    def note(self, model: LinearModel, wrong: npt.NDArray[np.bool_]) -> None:
        """Count rows that a model has learned, each of which was predicted wrong or right."""
        self.model = model
        self.rows += len(wrong)
        self.mistakes += int(np.count_nonzero(wrong))
        self._recent = np.concatenate([self._recent, wrong[-RECENT_ROWS:]])[-RECENT_ROWS:]
        if doubling(self.rows - 1) == self.rows:
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

    def caution(self) -> list[str]:
        """A word on labels that come sorted, one class after the other."""
        runs = list((self._sorted or {}).items())
        if len(runs) < 2 or min(count for _, count in runs) < MIN_ROWS_TO_BE_SORTED:
            return []
        (label, count), *others = runs
        told = [f"{counted(count, 'row')} of {label}", *(f"{n:,} of {x}" for x, n in others[:3])]
        more = ", then other classes" if len(others) > 3 else ""
        return [
            f"labels come sorted ({', then '.join(told)}{more}): the perceptron forgets what it "
            "saw first, and its mistakes say little; shuffle the rows"
        ]

    def to_json(self) -> dict[str, object]:
        """The counts that the model itself does not have."""
        return {
            "rows": self.rows,
            "mistakes": self.mistakes,
            "recent": "".join("1" if wrong else "0" for wrong in self._recent.tolist()),
            "from_zero": self.from_zero,
            "least_bound": None if math.isinf(self._least_bound) else self._least_bound,
            "sorted": None if self._sorted is None else [list(r) for r in self._sorted.items()],
        }

    def restore(self, body: Mapping[str, object]) -> None:
        """Take the counts that `to_json` wrote; ValueError if they cannot be."""
        rows, mistakes, recent = body.get("rows"), body.get("mistakes"), body.get("recent")
        if type(rows) is not int or type(mistakes) is not int or not 0 <= mistakes <= rows:
            raise ValueError("The record of the stream has impossible counts.")
        if not isinstance(recent, str) or len(recent) != min(rows, RECENT_ROWS):
            raise ValueError(f"The record of the stream does not have its last {RECENT_ROWS} rows.")
        least, runs = body.get("least_bound"), body.get("sorted")
        if least is not None and not (type(least) is float and least >= 0.0):
            raise ValueError("The record of the stream has a bound on the margin that is none.")
        if runs is not None and not (isinstance(runs, list) and all(map(_is_run, runs))):
            raise ValueError("The record of the stream has an order of labels that is none.")
        self._least_bound = math.inf if least is None else least
        self._sorted = None if runs is None else dict(runs)
        self.rows, self.mistakes, self.from_zero = rows, mistakes, body.get("from_zero") is True
        self._recent = np.array([character == "1" for character in recent], dtype=np.bool_)

    def _model_for(self, X: Floats | SparseMatrix, label: Hashable) -> LinearModel:
        """The model, begun if need be, with room for the columns of X."""
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
        X: Floats | SparseMatrix,
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
            predicted = model.learn(X, codes, perceptron(self.margin, self.step), weights=weights)
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
        self._list(model.classes.tolist(), codes, predicted)
        self.note(model, predicted != codes)

    def _list(self, labels: Sequence[Hashable], codes: Indices, predicted: Indices) -> None:
        """List the rows that are predicted wrong, and see whether labels come sorted."""
        for k in np.flatnonzero(predicted != codes).tolist() if self.list_mistakes else ():
            said = None if predicted[k] < 0 else labels[predicted[k]]
            self.mistaken.append((self.rows + k, said, labels[codes[k]]))
        if self._sorted is None or not self.first_pass:
            return
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        lengths = np.diff(np.append(starts, len(codes)))
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            label = labels[codes[start]]
            if label in self._sorted and label != next(reversed(self._sorted)):
                self._sorted = None
                return
            self._sorted[label] = self._sorted.get(label, 0) + length

    def _load(self, model: LinearModel, X: Floats | SparseMatrix) -> None:
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
        speaks = self.from_zero and self.margin == 0.0 and not self.class_weight
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


@dataclass
class StreamReader:
    """A run and its place in a stream of rows from a file or a pipe."""

    run: StreamRun
    rows: RowStream
    passes: int = 1  # the number of the pass over the rows, counted from 1
    skipped: int = 0  # rows of this pass that were bad
    # Files that grow with the run: of the rows predicted wrong, and of the rows that were bad.
    mistakes: GrowingCsv | None = None
    bad_rows: GrowingCsv | None = None
    saved_files: Mapping[str, object] = field(default_factory=dict)  # as they were left
    _first_error: DataError | None = field(default=None, init=False)
    _piece: Piece | None = field(default=None, init=False)  # the last one
    _done: int = field(default=0, init=False)  # the rows of it that were learned, or left out

    @property
    def position(self) -> Position:
        """The place after the last row that was learned, or left out."""
        return self.rows.position if self._piece is None else self._piece.position(self._done)

    def go(self, stop: NextStop, passes: int = 1) -> Generator[None]:
        """Learn on; yield after each stretch of rows, and now and then while none come.

        ``stop`` gives the next row count at which to yield, ``passes`` is how often to go through
        the rows, all in all. DataError if rows cannot be read, or learned; those before have been.
        If bad rows are skipped, only if all are bad at the start.
        """
        while True:
            for piece in self.rows.pieces(self.position):
                if piece is not None and piece.refused is not None:
                    self._skip(piece.refused, piece.begin.line, piece.begin.row)
                if piece is not None:
                    self._piece, self._done = piece, 0
                if piece is None or not len(piece):
                    yield
                    continue
                yield from self._learn(stop, piece)
            if self.skipped and not self.run.rows:
                self._refuse_all()
            if self.passes >= passes:
                return
            self.passes, self.skipped, self.run.first_pass = self.passes + 1, 0, False
            self.rows.position, self._piece = self.rows.start, None

    def _learn(self, stop: NextStop, piece: Piece) -> Iterator[None]:
        """Learn the rows of a piece, but for those that are bad, if such are skipped."""
        while self._done < len(piece):
            begun, first = self.run.rows, self._done
            rows, parts = piece.rows[first:], (piece.X[first:], piece.codes[first:], piece.labels)
            try:
                for _ in self.run.learn_until(stop, *parts):
                    self._done = first + self.run.rows - begun
                    self._write_mistakes(rows, begun)
                    yield
            except ValueError as error:
                self._done = first + self.run.rows - begun
                self._write_mistakes(rows, begun)
                if not isinstance(error, BadRowError):
                    raise DataError(f"{self.rows.source}: {error}") from None
                if not self.rows.skips:
                    raise BadRowError(f"{self.rows.source}: {error}") from None
                row, at = int(piece.rows[self._done]) - 1, self.position
                self._skip(error, at.line + row - at.row, row)  # rows left out come between
                self._done += 1

    def _write_mistakes(self, rows: Indices, begun: int) -> None:
        """Write down the mistakes of rows whose first was the run's ``begun``."""
        mistaken = self.run.mistaken
        if self.mistakes is not None and mistaken:
            self.mistakes.append((int(rows[k - begun]), said, label) for k, said, label in mistaken)
        mistaken.clear()

    def _skip(self, error: DataError, line: int, row: int) -> None:
        """Count and log a bad row; ``line`` and ``row`` are the numbers of those before it."""
        self.skipped += 1
        if self.skipped == 1:
            self._first_error = error
        if self.bad_rows is not None and self.passes == 1:
            self.bad_rows.append([(line + 1, row + 1, str(error))])
        if self.skipped >= MAX_BAD_ROWS_AT_START and not self.run.rows:
            self._refuse_all()

    def _refuse_all(self) -> NoReturn:
        raise DataError(
            f"{self.rows.source}: not one of the first {counted(self.skipped, 'row')} can be "
            f"learned, and --bad-rows skip is for a few. {self._first_error}"
        )

    def record(self, asked: Mapping[str, object]) -> ModelRecord:
        """All that is needed to predict, and to go on from here."""
        from novikoff.report.model_file import ModelRecord, run_state

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
            fitted=run_state(self.passes, converged=False, grows=run.classes is None),
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
                    "pass": self.passes,
                    "skipped": self.skipped,
                    "files": {name: file.state() for name, file in self._files()},
                    "state": self.rows.state(self.position),
                    "asked": dict(asked),
                },
            },
        )

    def _files(self) -> Iterable[tuple[str, GrowingCsv]]:
        files = {"mistakes": self.mistakes, "bad_rows": self.bad_rows}
        return [(name, file) for name, file in files.items() if file is not None]


def begin(source: str, options: StreamOptions, run: StreamRun) -> StreamReader:
    """Begin with the first row of a stream."""
    from novikoff.data import open_stream

    return StreamReader(run, open_stream(source, options))


def resume(
    path: Path, source: str, options: StreamOptions, run: StreamRun, asked: Mapping[str, object]
) -> StreamReader:
    """Go on from a model that `StreamReader.record` made; ``run`` gets the model and its counts.

    ValueError if the file is not a stream's, the data is not what it was, or other things are
    ``asked``, as JSON values, than before.
    """
    from novikoff.data import open_stream
    from novikoff.report.model_file import read

    saved = read(path)
    stream = (saved.data or {}).get("stream")
    if not isinstance(stream, dict) or saved.estimator != "Perceptron":
        raise DataError(f"{path} is a model, but not of a stream that could go on.")
    before, state, passes = stream.get("asked"), stream.get("state"), stream.get("pass", 0)
    skipped, files = stream.get("skipped", 0), stream.get("files", {})
    told = isinstance(state, dict) and type(passes) is int and passes >= 1
    told = told and type(skipped) is int and skipped >= 0 and isinstance(files, dict)
    if not told or not isinstance(before, dict):
        raise DataError(f"{path} does not say what was asked of its stream, or where it stopped.")
    for name in sorted({*before, *asked}):
        was, now = ("nothing" if v is None else v for v in (before.get(name), asked.get(name)))
        if was != now:
            raise DataError(
                f"{path} was begun with --{name.replace('_', '-')} {was}, not {now}; ask for the "
                "same, or begin anew with --force."
            )
    run = replace(run, model=cast(LinearModel, saved.model))
    run.restore(stream)
    run.first_pass = passes == 1
    rows = open_stream(source, options, state=state)
    return StreamReader(run, rows, passes, skipped, saved_files=files)


def doubling(rows: int) -> int:
    """The least power of two above ``rows``: 1, 2, 4, 4 after 0, 1, 2, 3."""
    return 1 << rows.bit_length() if rows else 1


def multiples(step: int) -> NextStop:
    """The next multiple of a step."""
    return lambda rows: (rows // step + 1) * step


def _reason(X: Floats | SparseMatrix, error: ValueError) -> str:
    """Why a row cannot be learned."""
    values = X if isinstance(X, np.ndarray) else X.data
    if np.isnan(values).any():
        return "has a missing value, NaN: leave it out, or fill it in."
    if np.isinf(values).any():
        return "has an infinite value."
    if "float64" in str(error):
        return "has a score or an update beyond the range of float64: scale the data down."
    return f"cannot be learned: {error}"


def _is_run(value: object) -> bool:
    """Whether a value is a list of a label and the number of its rows."""
    pair = value if isinstance(value, list) and len(value) == 2 else [None, None]
    return isinstance(pair[0], str | int | float) and type(pair[1]) is int and pair[1] > 0


def _norm(W: npt.NDArray[np.float64]) -> float:
    """‖w‖, without overflow on the way."""
    largest = float(np.abs(W).max(initial=0.0)) or 1.0
    return largest * math.sqrt(float(np.square(W / largest).sum()))
