"""Learn a stream: predict each row, then learn it, and count the mistakes.

`novikoff stream` and `novikoff.stream` both use `StreamRun`. Rows are learned one after the other,
and the numbers of steps continue from piece to piece. So the same stream gives the same bits,
however it is cut into pieces.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.core.model import LinearModel
from novikoff.core.orders import Cyclic
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, stored_numbers
from novikoff.errors import BadRowError, InvalidJsonError, OutOfRangeError, TooManyClassesError
from novikoff.proofs.strict_json import take_fields
from novikoff.sentences import counted

# ``recent_error`` is the share of mistakes among this many last rows.
RECENT_ROWS: Final = 1000
# At most this many rows are learned before the run pauses, so that signals are noticed.
MAX_ROWS_AT_ONCE: Final = 1 << 16
# A stream is rejected if it has more labels than this, and fewer than two rows for each label: such
# labels are measurements.
MAX_RARE_CLASSES: Final = 1000
# Labels count as sorted only if every class has at least this many rows.
MIN_ROWS_TO_BE_SORTED: Final = 10
# A run on fewer rows is not compared with a constant rule.
MIN_ROWS_TO_JUDGE: Final = 100
_UNIT_ROUNDOFF_TWICE, _LEAST_POSITIVE = Fraction(1, 2**52), Fraction(1, 2**1074)


@dataclass(frozen=True)
class Progress:
    """The counts of a stream so far.

    Attributes
    ----------
    rows, mistakes : int
        The rows learned, and how many of them were mistakes: rows whose class w did not predict
        before it learned them. A tie is a mistake. The first row of a third or later class is a
        mistake too.
    error, recent_error : float
        The share of mistakes among all rows, and among the last 1,000 rows.
    updates : int
        The number of updates, summed over the rules.
    norm : float
        ‖w‖ of all weights, including the bias.
    margin_bound : float or None
        An upper bound on the margin of all rows learned so far: no (w, b) of length 1 has
        y(⟨w, x⟩ + b) above it on all of these rows, since γ ≤ ‖w‖/(t·μ) after t updates. It is
        the least of the bounds after 1, 2, 4, 8, … rows and after the last row, rounded up. The
        distance of rows from a hyperplane, which is divided by ‖w‖ without b, may be larger. None
        if the theorem does not apply: more than two classes, a threshold, class weights, a start
        from weights other than zero, or a step size or a model that changed between two rows. None
        also if the bound exceeds the range of float64.
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
    """A linear model that learns a stream, and its mistakes so far.

    The first six fields are parameters of `novikoff.Perceptron`; ``average`` says whether the
    average of the weights is kept.

    Attributes
    ----------
    classes : sequence of labels, optional
        All labels that the stream will have. By default new classes are added when they appear.
    model : LinearModel, optional
        The model to start from; None before the first row.
    n_rows, mistakes : int
        The rows learned so far, and the mistakes on them.
    skipped : int
        The rows of this pass that were skipped because they are bad.
    passes : int
        The number of this pass over the rows, counted from 1.
    mistaken : list or None
        The mistakes since the list was last cleared. Each is the position of the row in the run,
        counted from 0, the predicted label (None for a tie, or if no class is known), and the label
        of the row. None if mistakes are not listed.

    >>> run = StreamRun()
    >>> rows, codes = np.array([[1.0], [2.0], [-1.0], [3.0]]), np.array([0, 0, 1, 0])
    >>> for _ in run.learn(rows, codes, ["up", "down"]):
    ...     pass
    >>> run.progress().rows, run.progress().mistakes
    (4, 2)
    """

    threshold: float = 0.0
    step_size: float = 1.0
    fit_intercept: bool = True
    average: bool = False
    multi_class: str = "ovr"
    class_weight: Mapping[Hashable, float] | None = None
    classes: Sequence[Hashable] | None = None
    model: LinearModel | None = None

    n_rows: int = field(default=0, init=False)
    mistakes: int = field(default=0, init=False)
    skipped: int = field(default=0, init=False)
    passes: int = field(default=1, init=False)
    mistaken: list[tuple[int, Hashable, Hashable]] | None = field(default=None, init=False)
    _recent: npt.NDArray[np.bool_] = field(init=False, repr=False)
    # Counts of the first pass: the number of rows of each label, in the order in which labels
    # appeared, and whether every row had a new label or the label of the row before it.
    _class_rows: dict[Hashable, int] = field(default_factory=dict, init=False, repr=False)
    _sorted: bool = field(default=True, init=False, repr=False)
    _least_bound: float = field(default=math.inf, init=False, repr=False)
    _loaded: type | None = field(default=None, init=False, repr=False)  # a scheme

    def __post_init__(self) -> None:
        # Whether the theorem applies: only the rows of this run changed the weights, from zero,
        # with δ = 0 and with one step size μ. The last model and its number of updates show this.
        self._plain, self._mu, self._updates = self.model is None, self.step_size, 0
        self._recent = np.zeros(0, dtype=np.bool_)

    def learn(
        self,
        X: Matrix,
        codes: Indices,
        labels: Sequence[Hashable],
        every: Sequence[int] = (),
    ) -> Iterator[None]:
        """Predict, then learn, the rows of X one by one.

        The generator yields at `next_stop`, or sooner, so that the caller may report the counts,
        save the model, or stop.

        X is a C-ordered array with all features, or a CSR matrix that may have new columns. The
        label of row k is ``labels[codes[k]]``. ValueError if X has a different number of features,
        if a label is not one of the given classes, or if a number exceeds the range of float64. The
        rows before the error have been learned.
        """
        first = 0
        while first < len(codes):
            label = labels[codes[first]]
            self.check_plain(self.model)
            model = self._model_for(X, label)
            if novel := label not in model.classes.tolist():
                self._check_new(model, label)
                model = model.with_class(label)
            places = {label: code for code, label in enumerate(model.classes.tolist())}
            known = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
            stop = first + next_stop(self.n_rows, every) - self.n_rows
            mapped = known[codes[first:stop]]
            count = 1 if novel else int(np.argmax(mapped < 0)) or len(mapped)
            # With two classes, the sign predicts a label even if the label has not been seen.
            unforeseen = novel and len(model.classes) > 2
            self._learn(model, X[first : first + count], mapped[:count], unforeseen=unforeseen)
            first += count
            yield

    def check_plain(self, model: LinearModel | None) -> None:
        """Give no bound on the margin from now on if it does not hold after the next row.

        ``model`` will learn this row. The bound holds only if the model is as it was after the last
        row, and if all steps have the same size.
        """
        if self.n_rows == 0:
            self._mu = self.step_size
        unchanged = model is self.model and (model is None or _updates(model) == self._updates)
        plain_steps = self.threshold == 0.0 and not self.class_weight
        self._plain &= unchanged and plain_steps and self.step_size == self._mu

    def count(self, model: LinearModel, wrong: npt.NDArray[np.bool_]) -> None:
        """Count rows that a model has learned; ``wrong`` says which of them were mistakes."""
        self.model, self._updates = model, _updates(model)
        self.n_rows += len(wrong)
        self.mistakes += int(np.count_nonzero(wrong))
        self._recent = np.concatenate([self._recent, wrong[-RECENT_ROWS:]])[-RECENT_ROWS:]
        if is_power_of_two(self.n_rows):
            bound = self._margin_bound(model, _norm(model.W))
            self._least_bound = min(self._least_bound, math.inf if bound is None else bound)

    def progress(self) -> Progress:
        """Return the counts so far."""
        model = self.model
        norm = 0.0 if model is None else _norm(model.W)
        bound = None if model is None else self._margin_bound(model, norm)
        return Progress(
            rows=self.n_rows,
            mistakes=self.mistakes,
            error=self.mistakes / max(self.n_rows, 1),
            recent_error=float(self._recent.sum()) / max(len(self._recent), 1),
            updates=0 if model is None else model.n_updates,
            norm=norm,
            margin_bound=None if bound is None else min(bound, self._least_bound),
        )

    def cautions(self) -> list[str]:
        """Return warnings: labels are sorted, or a constant rule makes fewer mistakes."""
        cautions, counts = list[str](), list(self._class_rows.items())
        counted_rows = sum(self._class_rows.values())
        if len(counts) < 2 or counted_rows * self.passes < self.n_rows:  # labels were not counted
            return cautions
        if self._sorted and min(self._class_rows.values()) >= MIN_ROWS_TO_BE_SORTED:
            (label, count), *others = counts
            texts = [f"{counted(count, 'row')} of {label}"]
            texts += [f"{n:,} of {x}" for x, n in others[:3]]
            rest = ", then other classes" if len(others) > 3 else ""
            cautions.append(
                f"labels come sorted ({', then '.join(texts)}{rest}): the perceptron forgets what "
                "it saw first, and its mistakes say little; shuffle the rows"
            )
        frequent, count = max(counts, key=lambda item: item[1])
        rare = counted_rows - count
        wrong = rare / counted_rows
        # Labels were counted in the first pass. The rows of an unfinished later pass may all be of
        # rare classes.
        begun = self.n_rows - counted_rows * (self.passes - 1)
        most = rare * (self.passes - 1) + min(rare, begun)
        # A mistake on the first row of a class is not the learner's fault.
        if self.n_rows >= MIN_ROWS_TO_JUDGE and self.mistakes - len(counts) > most:
            cautions.append(
                f"always predicting {frequent} would make fewer mistakes ({wrong:.2%}); where "
                "features have very different scales the perceptron is slow: novikoff fit "
                "standardises them"
            )
        return cautions

    def to_json(self) -> dict[str, object]:
        """Return the counts that are not part of the model, as JSON values."""
        return {
            "rows": self.n_rows,
            "mistakes": self.mistakes,
            "recent": "".join("1" if wrong else "0" for wrong in self._recent.tolist()),
            "plain": self._plain,
            "least_bound": None if math.isinf(self._least_bound) else self._least_bound,
            "class_rows": [list(item) for item in self._class_rows.items()],
            "sorted": self._sorted,
            "pass": self.passes,
            "skipped": self.skipped,
        }

    def restore(self, model: LinearModel, body: Mapping[str, object]) -> None:
        """Restore a model and the counts that `to_json` returned; InvalidJsonError if invalid."""
        fields = take_fields(
            body,
            "the counts of the stream",
            rows="count",
            mistakes="count",
            **{"pass": "count"},
            skipped="count",
            plain="flag",
            sorted="flag",
            class_rows="list",
            recent="text",
            least_bound="number or null",
        )
        self.n_rows, self.mistakes = fields["rows"], fields["mistakes"]
        self.passes, self.skipped = fields["pass"], fields["skipped"]
        self._plain, self._sorted = fields["plain"], fields["sorted"]
        class_rows, recent, least = fields["class_rows"], fields["recent"], fields["least_bound"]
        self._least_bound = math.inf if least is None else float(least)
        right = self.mistakes <= self.n_rows and self.passes >= 1
        right = right and len(recent) == min(self.n_rows, RECENT_ROWS)
        right = right and self._least_bound >= 0.0 and all(map(_is_count, class_rows))
        if not right:
            raise InvalidJsonError("the counts of the stream are impossible")
        self.model, self._updates, self._class_rows = model, _updates(model), dict(class_rows)
        self._recent = np.array([character == "1" for character in recent], dtype=np.bool_)

    def _model_for(self, X: Matrix, label: Hashable) -> LinearModel:
        """Return the model with at least the columns of X; it is made if there is none yet."""
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
        """Raise ValueError if a new class cannot be added."""
        n, row = len(model.classes) + 1, self.n_rows + 1
        if self.classes is not None:
            raise ValueError(
                f"Row {row} of the stream is of class {label!r}, which is not one of the classes "
                f"{model.classes.tolist()}."
            )
        if n > max(MAX_RARE_CLASSES, row / 2):
            raise TooManyClassesError(f"{n:,} different labels in {row:,} rows are hardly classes.")

    def _learn(
        self,
        model: LinearModel,
        X: Matrix,
        codes: Indices,
        *,
        unforeseen: bool = False,
    ) -> None:
        """Learn rows of known classes, up to the first row that cannot be learned."""
        if type(model.scheme) is not self._loaded:
            self._load(model, X)
        from novikoff.core.updates import perceptron

        sample_weight = None
        if self.class_weight:
            factors = [self.class_weight.get(label, 1.0) for label in model.classes.tolist()]
            sample_weight = np.array(factors, dtype=np.float64)[codes]
        try:
            predicted = model.learn(
                X, codes, perceptron(self.threshold, self.step_size), sample_weight=sample_weight
            )
        except ValueError as error:
            if len(codes) == 1:
                number = self.n_rows + 1
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
                guess = None if predicted[k] < 0 else labels[predicted[k]]
                self.mistaken.append((self.n_rows + k, guess, labels[codes[k]]))
        if self.passes == 1:
            self._count_labels(labels, codes)
        self.count(model, predicted != codes)

    def _count_labels(self, labels: Sequence[Hashable], codes: Indices) -> None:
        """Count the rows of each label; labels are sorted if every change leads to a new label."""
        last, known = next(reversed(self._class_rows), None), len(self._class_rows)
        changes = int(np.count_nonzero(np.diff(codes))) + (labels[codes[0]] != last)
        for code, count in enumerate(np.bincount(codes).tolist()):
            if count:
                self._class_rows[labels[code]] = self._class_rows.get(labels[code], 0) + count
        self._sorted = self._sorted and changes == len(self._class_rows) - known

    def _load(self, model: LinearModel, X: Matrix) -> None:
        model.load(Rows.of(X[:0], True), Cyclic())
        self._loaded = type(model.scheme)

    def _margin_bound(self, model: LinearModel, norm: float) -> float | None:
        """Return ‖w‖/(t·μ), plus the possible effect of rounding on w, rounded up.

        Each update rounds w by at most u(‖w‖ + μR), and ‖w‖ ≤ √t·μR: in total, 4u·t^1.5·μR.
        """
        t, finite = _updates(model), math.isfinite(norm + model.radius)
        if not (self._plain and finite and t > 0 and len(model.classes) <= 2):
            return None
        mu, size = Fraction(self._mu), len(model.W)
        lost = 2 * _UNIT_ROUNDOFF_TWICE * t * (math.isqrt(t) + 1) * mu * Fraction(model.radius)
        lost += t * size * _LEAST_POSITIVE
        length = Fraction(norm) * (1 + (size + 16) * _UNIT_ROUNDOFF_TWICE) + lost
        try:
            return math.nextafter(float(length / (t * mu)), math.inf)
        except OverflowError:
            return None


def next_stop(rows: int, every: Sequence[int] = ()) -> int:
    """Return the next number of rows at which a run pauses.

    It is a power of two, a multiple of one of ``every``, or at most 65,536 rows away, so that
    signals are noticed.

    >>> [next_stop(rows, [5]) for rows in (0, 1, 2, 4, 5, 1 << 20)]
    [1, 2, 4, 5, 8, 1048580]
    """
    multiples = ((rows // n + 1) * n for n in every)
    return min(1 << rows.bit_length(), rows + MAX_ROWS_AT_ONCE, *multiples)


def is_power_of_two(rows: int) -> bool:
    """Whether a number of rows is 1, 2, 4, 8 and so on."""
    return rows > 0 and rows & (rows - 1) == 0


def _updates(model: LinearModel) -> int:
    """Return the number of updates of the first rule."""
    return int(model.totals[1, 0])


def _is_count(value: object) -> bool:
    """Whether a value is a pair of a label and a positive number of rows."""
    match value:
        case [str() | int() | float(), int(count)]:
            return count > 0
    return False


def _reason(X: Matrix, error: ValueError) -> str:
    """Return why a row cannot be learned."""
    values = stored_numbers(X)
    if np.isnan(values).any():
        return "has a missing value, NaN: leave it out, or fill it in."
    if np.isinf(values).any():
        return "has an infinite value."
    if isinstance(error, OutOfRangeError):
        return "has a score or an update beyond the range of float64: scale the data down."
    return f"cannot be learned: {error}"


def _norm(W: npt.NDArray[np.float64]) -> float:
    """Return ‖w‖, computed without overflow."""
    largest = float(np.abs(W).max(initial=0.0)) or 1.0
    return largest * math.sqrt(float(np.square(W / largest).sum()))
