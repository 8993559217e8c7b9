"""Progressive validation: each row of a stream is predicted first, then learned (A5).

The rows go through one kernel, dense or sparse alike: a dense row is a sparse one whose columns
are 0, 1, …, d−1. Sums run from left to right and steps are numbered through, so that the
result is that of ``predict_one`` and ``learn_one`` row by row, bit for bit, however the stream is
cut into batches.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.learners.progressive_kernel import Record, Rows, State, advance
from novikoff.learners.pupil import Pupil
from novikoff.learners.schemes import Binary, OneVsOne, Scheme

# The rows that the recent error is about.
WINDOW: Final = 1000

_MOST_CLASSES = 1000  # of those that are refused
_EPSILON = Fraction(1, 2**52)
_TINY = Fraction(1, 2**1074)


@dataclass(frozen=True)
class Progress:
    """How far a stream has been learned.

    Attributes
    ----------
    rows : int
        The rows seen.
    mistakes : int
        Those whose class was not predicted before they were learned. A tie is a mistake, and so
        is a class that was never seen. With an average it is still w that predicts here.
    error : float
        The share of mistakes among all rows, 0 while there are none.
    recent_error : float
        The same among the last 1,000 rows.
    updates : int
        Updates made, summed over the rules.
    norm : float
        ‖w‖, with the bias; of several rules, of all weights.
    margin_bound : float or None
        No linear rule separates the rows seen so far by a margin γ above this: γ ≤ ‖w‖/(t·μ)
        after t updates (B3), rounded up. None where the theorem does not speak: for more than two
        classes, a margin, weights of classes, or weights that did not start from zero; and where
        the bound is beyond float64.
    """

    rows: int
    mistakes: int
    error: float
    recent_error: float
    updates: int
    norm: float
    margin_bound: float | None


class Progressive:
    """A pupil and its record on a stream.

    Parameters
    ----------
    pupil : Pupil
        It is updated in place; classes and columns are taken in as they appear.
    classes : sequence of labels, optional
        All labels there will be; a row of another one is an error then.

    Attributes
    ----------
    width : int
        Columns that there are in any case, whatever the rows have.
    wary : bool
        Whether labels are refused that are as manifold as measurements are: more than 1,000, and
        more than half of the rows so far, when a new one comes up.

    Examples
    --------
    >>> record = Progressive(Pupil())
    >>> X = np.array([[1.0], [2.0], [-1.0], [3.0]])
    >>> record.learn(X, np.array([0, 0, 1, 0]), ["up", "down"], 0, 4)
    >>> record.progress().rows, record.progress().mistakes
    (4, 2)
    """

    def __init__(self, pupil: Pupil, classes: Sequence[Hashable] | None = None) -> None:
        self.pupil = pupil
        self.classes = classes
        self.width = 0
        self.wary = False
        self._from_zero = pupil.known is None
        self._window = np.zeros(WINDOW, dtype=np.uint8)
        self._counts = np.zeros(3, dtype=np.int64)  # rows, mistakes, those of them in the window
        self._drift = np.zeros(1)

    @property
    def rows(self) -> int:
        """The rows seen."""
        return int(self._counts[0])

    def learn(
        self,
        X: Floats | SparseMatrix,
        codes: Indices,
        labels: Sequence[Hashable],
        first: int,
        last: int,
    ) -> None:
        """Predict, then learn, rows ``first`` to ``last`` of X, in turn.

        Parameters
        ----------
        X : C-ordered array or CSR matrix
            A dense row has all features, a sparse one may have columns that are new.
        codes : array of int64
            The label of each row, as its position in ``labels``.
        labels : sequence of labels
            Python objects, each different.
        first, last : int
            The rows of X to learn.

        Raises
        ------
        ValueError
            If X has another number of features, a label is unknown where all classes were
            given, or a number is beyond float64; the rows before that one have been learned,
            and nothing of it or those after it stays.
        """
        if first == last:
            return
        rows, width = _view(X, first, last)
        before, known = self.rows, self.pupil.remember()
        least = 0 if known.known is None else known.known.n_features
        try:
            self._make_room(X, max(width, self.width), labels[codes[first]])
            start = first
            while start < last:
                if self.rows > before:  # what is known by now has been learned
                    known = self.pupil.remember()
                mapped = self._codes(labels)[codes[start:last]]
                strange = np.flatnonzero(mapped < 0)
                end = start + int(strange[0]) if len(strange) > 0 else last
                novel = end == start
                if novel:  # a class that was never seen: a mistake, then it is learned
                    self._meet(labels[codes[start]])
                    end = start + 1
                    mapped = self._codes(labels)[codes[start:end]]
                self._advance(rows, mapped, start - first, end - first, novel)
                start = end
        except Exception:
            done = self.rows - before
            if done > 0:
                least = max(least, self.width, _width(rows, done))
                known = self.pupil.remember() if known.known is None else known
            self.pupil.forget(known, least)
            raise

    def begin(self, label: Hashable, width: int) -> None:
        """Zero weights for the first label, or for all that were given."""
        self.pupil.begin([label] if self.classes is None else self.classes, width)
        self.pupil.open = self.classes is None

    def progress(self) -> Progress:
        """How far it is."""
        rows, mistakes, recent = self._counts.tolist()
        known = self.pupil.known
        norm = 0.0 if known is None else _norm(known.held[0])
        return Progress(
            rows=rows,
            mistakes=mistakes,
            error=mistakes / max(rows, 1),
            recent_error=recent / max(min(rows, WINDOW), 1),
            updates=0 if known is None else int(known.tally[1].sum()),
            norm=norm,
            margin_bound=None if known is None else self._margin_bound(norm),
        )

    def to_json(self) -> dict[str, object]:
        """All of the record that is not in the learner, exactly."""
        rows, mistakes, _ = self._counts.tolist()
        return {
            "rows": rows,
            "mistakes": mistakes,
            "window": np.packbits(self._window).tobytes().hex(),
            "drift": float(self._drift[0]).hex() if self._from_zero else None,
        }

    @classmethod
    def from_json(cls, pupil: Pupil, body: Mapping[str, object]) -> Progressive:
        """The record that `to_json` wrote, of a pupil that is what it was then.

        Raises
        ------
        ValueError
            If it cannot be such a record.
        """
        record = cls(pupil)
        rows, mistakes, window, drift = map(body.get, ("rows", "mistakes", "window", "drift"))
        if not isinstance(rows, int) or not isinstance(mistakes, int) or not 0 <= mistakes <= rows:
            raise ValueError("The record of the stream has impossible counts.")
        if not isinstance(window, str) or not (drift is None or isinstance(drift, str)):
            raise ValueError("The record of the stream has no window or no drift.")
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(window), dtype=np.uint8))
        if len(bits) != WINDOW:
            raise ValueError(f"The window of the stream is not of {WINDOW} rows.")
        record._window[:] = bits
        record._counts[:] = rows, mistakes, int(bits.sum())
        record._from_zero = drift is not None
        record._drift[0] = 0.0 if drift is None else float.fromhex(drift)
        return record

    def _codes(self, labels: Sequence[Hashable]) -> Indices:
        """The position of each label among the classes, −1 if it is new."""
        known = self.pupil.codes
        return np.array([known.get(label, -1) for label in labels], dtype=np.int64)

    def _make_room(self, X: Floats | SparseMatrix, width: int, label: Hashable) -> None:
        """Begin, or take in columns that are new."""
        if self.pupil.known is None:
            self.begin(label, width)
        rules = self.pupil.rules
        if isinstance(X, np.ndarray) and width != rules.n_features:
            raise ValueError(
                f"The rows have {width} features, but {rules.n_features} are expected."
            )
        if width > rules.n_features:
            rules.add_features(width)

    def _meet(self, label: Hashable) -> None:
        if not self.pupil.open:
            raise ValueError(
                f"Row {self.rows + 1} of the stream is of class {label!r}, which is not one of "
                f"the classes {self.pupil.labels}."
            )
        classes, rows = len(self.pupil.labels) + 1, self.rows + 1
        if self.wary and classes > max(_MOST_CLASSES, rows / 2):
            raise ValueError(
                f"{classes:,} different labels in {rows:,} rows are hardly classes; choose the "
                "label with --label."
            )
        self.pupil.meet(label)

    def _advance(self, rows: Rows, codes: Indices, first: int, last: int, novel: bool) -> None:
        pupil, rules = self.pupil, self.pupil.rules
        W, lazy = rules.held
        state = State(
            W,
            lazy,
            rules.tally,
            rules.sides,
            _pairs(rules.scheme),
            np.array(pupil.steps),
            pupil.margin,
            rules.bias,
        )
        record = Record(self._window, self._counts, self._drift)
        scores, votes = np.empty(W.shape[1]), np.empty((2, len(rules.sides)))
        done = int(advance(rows, codes, state, record, first, last, novel, scores, votes))
        if done < last:
            raise ValueError(f"Row {self.rows + 1} of the stream {_why(rows, done)}.")

    def _margin_bound(self, norm: float) -> float | None:
        """‖w‖/(t·μ), with all that rounding may have done to w on the way, rounded up."""
        pupil, rules = self.pupil, self.pupil.rules
        t = int(rules.tally[1, 0])
        speaks = self._from_zero and pupil.margin == 0.0 and not pupil.class_weight
        if not speaks or not isinstance(rules.scheme, Binary) or t == 0:
            return None
        drift, size = float(self._drift[0]), len(rules.held[0])
        if not math.isfinite(norm + drift):
            return None
        lost = Fraction(drift) * _EPSILON + t * size * _TINY
        length = Fraction(norm) * (1 + (size + 16) * _EPSILON) + lost
        try:
            return math.nextafter(float(length / (t * Fraction(pupil.step))), math.inf)
        except OverflowError:
            return None


def _view(X: Floats | SparseMatrix, first: int, last: int) -> tuple[Rows, int]:
    """Rows as the kernel sees them, and how many columns they need."""
    if isinstance(X, np.ndarray):
        part = np.ascontiguousarray(X[first:last], dtype=np.float64)
        n, d = part.shape
        indptr = np.arange(n + 1, dtype=np.int64) * d
        indices = np.arange(d, dtype=np.uint32)
        return Rows(indptr, indices, _read_only(part.reshape(-1)), True), d
    indptr = X.indptr[first : last + 1].astype(np.int64)
    begin, end = int(indptr[0]), int(indptr[-1])
    columns = X.indices[begin:end]
    narrow = columns.dtype == np.int32
    indices = columns.view(np.uint32) if narrow else columns.astype(np.uint32)
    values = np.ascontiguousarray(X.data[begin:end], dtype=np.float64)
    rows = Rows(indptr - begin, indices, _read_only(values), False)
    return rows, _width(rows, last - first)


def _width(rows: Rows, n: int) -> int:
    """How many columns the first rows need."""
    needed = rows.indices if rows.dense else rows.indices[: rows.indptr[n]]
    return int(needed.max()) + 1 if len(needed) > 0 else 0


def _why(rows: Rows, row: int) -> str:
    """What keeps a row from being learned."""
    values = rows.values[rows.indptr[row] : rows.indptr[row + 1]]
    if np.isnan(values).any():
        return "has a missing value, NaN: leave it out, or fill it in"
    if np.isinf(values).any():
        return "has an infinite value"
    return "has a score or an update beyond the range of float64: scale the data down"


def _read_only(values: Vector) -> Vector:
    """So that memory maps and plain arrays share one compiled kernel."""
    view = values.view()
    view.flags.writeable = False
    return view


def _pairs(scheme: Scheme) -> Indices:
    if isinstance(scheme, OneVsOne):
        return np.array(scheme.pairs, dtype=np.int64)
    return np.empty((0, 2), dtype=np.int64)


def _norm(W: Vector) -> float:
    """‖w‖, without overflow on the way."""
    largest = float(np.abs(W).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * math.sqrt(float(np.square(W / largest).sum()))
