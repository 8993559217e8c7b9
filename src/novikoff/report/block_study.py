"""The main job on rows that come in blocks: the same verdict, in bounded memory.

The perceptron and the verdict go through all rows. Where no rule is perfect, the pocket is
filled from a sample that fits into memory; its rule's mistakes are counted on all rows, and the
contradictions found in the sample bound the mistakes of any rule on all of them.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Coded, CodedBlocks, ahead
from novikoff.core.rows import Floats, Indices, SparseMatrix
from novikoff.geometry.block_twins import Marks, clashes_among
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.margin import Interval
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.recession import recession_of
from novikoff.geometry.room import OutOfRoomError, Room, explained
from novikoff.geometry.selection import Selection, Table, renumbered
from novikoff.geometry.table import Digest, Label, Matrix, plain_label, signs_of
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.pocket import Pocket
from novikoff.report.proving import (
    better_of_pairs,
    decide,
    fill_pocket,
    from_verdicts,
    with_errors,
)
from novikoff.report.steps import (
    REST,
    Case,
    Clock,
    Labels,
    Options,
    Progress,
    check_rest,
    check_width,
    run_perceptron,
)
from novikoff.report.study import Learned, Study, imperfect

# Bytes of the sample that the pocket is filled from.
_SAMPLE: Final = 1 << 26


def study_blocks(
    blocks: CodedBlocks,
    options: Options = Options(),  # noqa: B008 — frozen
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
) -> Study:
    """Decide, learn and count, a block at a time.

    The parameters are those of `novikoff.report.study.study`, with blocks in place of X and y.
    Identical rows with different labels are listed as far as memory and budget allow; else
    ``unsought`` of the study says why not.
    """
    check_width(blocks.n_features)
    watched = _Watched(blocks, progress or (lambda step, interval: None))
    tell = watched.tell
    given = blocks = watched
    if options.positive is not None and len(blocks.classes) > 2:
        blocks = _OneAgainstRest(blocks, options.positive)
    classes: list[Label] = [plain_label(label) for label in blocks.classes.tolist()]
    if len(classes) < 2:
        raise ValueError(f"All rows have the label {classes[0]!r}: two classes are needed.")
    clock = Clock(options.budget)
    cases: list[Case] = []
    if options.verdict:
        every: list[Label] = [plain_label(label) for label in given.classes.tolist()]
        cases = decide(given, None, every, options, clock, tell)
    learned = _learn(blocks, cases, options, clock, tell)
    tell("report", None)
    wanted = options.proofs and imperfect(learned.cases)
    twins = _Twins(blocks, given.max_memory) if wanted else None
    count = _Count(blocks, learned.model, twins)
    clashes: list[Indices] = []
    if twins is not None:
        tell("identical rows", None)
        clashes = twins.find(clock)
    if names is not None:
        learned.model.feature_names_in_ = np.array(list(names), dtype=object)
    cases = learned.cases
    if options.proofs:
        cases = [_with_recession(case, given, options) for case in cases]
    return Study(
        classes=classes,
        counts=count.confusion.sum(axis=1),
        cases=cases,
        run=learned.run,
        model=learned.model,
        rule=learned.rule,
        confusion=count.confusion,
        clashes=clashes,
        sha256=count.sha256 if options.proofs else "",
        y=np.empty(0),
        options=options,
        unsought="" if twins is None else twins.unsought,
    )


class _Watched:
    """Blocks that tell of every pass how far it is."""

    def __init__(self, blocks: CodedBlocks, progress: Progress) -> None:
        self._blocks, self._progress = blocks, progress
        self.n_rows, self.n_features = blocks.n_rows, blocks.n_features
        self.classes, self.max_memory = blocks.classes, getattr(blocks, "max_memory", None)
        self._step, self._passes = "", 0
        self._interval: Interval | None = None

    def tell(self, step: str, interval: Interval | None) -> None:
        """What is being done, and the interval for the margin once there is one."""
        if step != self._step:
            self._step, self._passes = step, 0
        self._interval = interval
        self._progress(step, interval)

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        return iter(self._blocks)

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels."""
        self._passes += 1
        rows = 0
        for block in self._blocks.coded():
            rows += len(block.codes)
            share = f", {rows / self.n_rows:.0%}" if self.n_rows else ""
            self._progress(f"{self._step}: pass {self._passes}{share}", self._interval)
            yield block


class _OneAgainstRest:
    """Blocks of one class and all others."""

    def __init__(self, blocks: CodedBlocks, positive: object) -> None:
        name = check_rest(positive)
        own = [plain_label(label) == positive for label in blocks.classes.tolist()]
        self._blocks, self._codes = blocks, np.array(own, dtype=np.int32)
        self.n_rows, self.n_features = blocks.n_rows, blocks.n_features
        self.classes: Labels = np.array([REST, name])

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        for block in self.coded():
            yield block.X, self.classes[block.codes]

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels."""
        for block in self._blocks.coded():
            yield block._replace(codes=self._codes[block.codes])


def _learn(
    blocks: CodedBlocks, cases: list[Case], options: Options, clock: Clock, tell: Progress
) -> Learned:
    """The perceptron where a perfect rule may exist; else, or if it fails, what is better."""
    run = None
    if not imperfect(cases):
        tell("perceptron", None)
        perceptron, run = run_perceptron(blocks, None, options, clock.part(0.5))
        if run.clean or not cases:
            return Learned(perceptron, options.rule, run, cases)
        if all(case.verdict.kind == "separable" for case in cases):
            # They separate all rows: a row of each class is enough to begin with.
            few = _sample(blocks, len(blocks.classes), 0)
            widest = from_verdicts(few.X, few.y, cases, options)
            widest.__dict__.pop("update_counts_", None)
            return Learned(widest, "largest margin", run, cases)
        if clock.over:  # passes over all rows for another rule would take it far beyond
            return Learned(perceptron, "perceptron", run, cases)
    tell("pocket", None)
    sample = _sample(blocks, _sample_size(blocks), options.seed)
    decided = all(case.verdict.kind != "undecided" for case in cases)
    pocket = fill_pocket(sample.X, sample.y, replace(options, proofs=decided), clock)
    model = better_of_pairs(sample.X, sample.y, pocket, options, clock)
    if run is not None and _errors(blocks, perceptron) < _errors(blocks, model):
        return Learned(perceptron, "perceptron", run, cases)
    if not decided:
        return Learned(model, "fewest mistakes", run, cases)
    bounded = [
        replace(_for_all_rows(case, sample), errors=wrong)
        for case, wrong in zip(with_errors(cases, pocket), _wrong(blocks, pocket), strict=True)
    ]
    return Learned(model, "fewest mistakes", run, bounded)


def _errors(blocks: CodedBlocks, model: Perceptron | Pocket) -> int:
    """The rows to which a model gives another label."""
    choose = model._rules.scheme.choose
    return sum(
        int((choose(model._scores_of(block.X)) != block.codes).sum())
        for block in ahead(blocks.coded())
    )


def _wrong(blocks: CodedBlocks, pocket: Pocket) -> list[int]:
    """The rows that each rule has on the wrong side, or on its hyperplane."""
    sides = pocket._rules.sides
    found = np.zeros(sides.shape[1], dtype=np.int64)
    for block in ahead(blocks.coded()):
        found += (pocket._scores_of(block.X) * sides[block.codes] <= 0.0).sum(axis=0)
    return found.tolist()


def _with_recession(case: Case, blocks: CodedBlocks, options: Options) -> Case:
    """For a quasi-separable case, what becomes of the weights of a logistic regression."""
    if case.verdict.kind != "quasi-separable":
        return case
    table = Table(blocks, signs_of(blocks.classes, case.positive, None), options.fit_intercept)
    n = 0 if case.verdict.certificate is None else case.verdict.certificate.n
    return replace(case, recession=recession_of(table, n, table.p, case.verdict.separated_rows))


@dataclass(frozen=True)
class _Sample:
    X: Floats | SparseMatrix
    y: Labels
    numbers: Indices


def _sample_size(blocks: CodedBlocks) -> int:
    return max(1000, _SAMPLE // (8 * max(1, min(blocks.n_features, 1000))))


def _sample(blocks: CodedBlocks, size: int, seed: int) -> _Sample:
    """About so many rows, each as likely as any other, and one of each class at least."""
    chance = np.random.default_rng(seed)
    share = size / (blocks.n_rows or size)
    chosen = Selection()
    codes: list[npt.NDArray[np.int32]] = []
    missing, first = set(range(len(blocks.classes))), 0
    for block in ahead(blocks.coded()):
        picked = chance.random(len(block.codes)) < share
        for code in sorted(missing):
            own = np.flatnonzero(block.codes == code)
            if len(own) > 0:
                picked[own[0]] = True
                missing.discard(code)
        rows = np.flatnonzero(picked)
        signs = np.ones(len(rows), dtype=np.int8)
        chosen.join(first + rows, block.X[rows], signs)
        codes.append(block.codes[rows])
        first += len(block.codes)
    y = blocks.classes[np.concatenate(codes)]
    return _Sample(cast("Floats | SparseMatrix", chosen.matrix), y, chosen.numbers)


def _for_all_rows(case: Case, sample: _Sample) -> Case:
    """A bound on the mistakes in a sample as one on those in all rows."""
    bound, proof = case.bound, case.verdict.certificate
    if bound is None or proof is None:
        return replace(case, bound=None)
    claims = tuple(renumbered(claim, sample.numbers) for claim in bound.contradictions)
    return replace(
        case,
        bound=ErrorBound(
            bound=bound.bound,
            contradictions=claims,
            n=proof.n,
            d=proof.d,
            fit_intercept=proof.fit_intercept,
            positive=proof.positive,
            negative=proof.negative,
            sha256=proof.sha256,
        ),
    )


class _Twins:
    """The search for identical rows with different labels, and why it ended if it did."""

    def __init__(self, blocks: CodedBlocks, max_memory: int | None) -> None:
        self._blocks, self._max_memory = blocks, max_memory
        self._room = Room(max_memory).bytes
        self._marks: Marks | None = None
        self.unsought = ""

    def begin(self, n_rows: int) -> None:
        """Make ready for so many rows."""
        try:
            self._marks = Marks(n_rows, len(self._blocks.classes), self._room)
        except OutOfRoomError as error:
            self._give_up(error)

    def note(self, block: Coded) -> None:
        """The next rows of the first pass."""
        if self._marks is not None:
            self._marks.note(block)

    def find(self, clock: Clock) -> list[Indices]:
        """The groups, after the first pass; none where it is not known."""
        if self._marks is None:
            return []
        try:
            return clashes_among(self._blocks, self._marks, self._room, clock.limits())
        except OutOfRoomError as error:
            self._give_up(error)
        except OutOfTimeError:
            self.unsought = "the budget was used up"
        return []

    def _give_up(self, error: OutOfRoomError) -> None:
        self.unsought = explained(error.wanted, self._max_memory)


class _Count:
    """What a pass over all rows counts: mistakes of a model, and the digest of the rows."""

    def __init__(
        self, blocks: CodedBlocks, model: Perceptron | Pocket, twins: _Twins | None
    ) -> None:
        K = len(blocks.classes)
        self.confusion = np.zeros((K, K), dtype=np.int64)
        n_rows = blocks.n_rows or sum(len(block.codes) for block in blocks.coded())
        digest, codes = Digest(n_rows, blocks.n_features), list[npt.NDArray[np.int32]]()
        if twins is not None:
            twins.begin(n_rows)
        for block in ahead(blocks.coded()):
            if twins is not None:
                twins.note(block)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the model knows names, the block does not
                scores = model._scores_of(block.X)
            predicted = model._rules.scheme.choose(scores)
            pairs = np.bincount(block.codes * K + predicted, minlength=K * K)
            self.confusion += pairs.reshape(K, K)
            digest.add(cast(Matrix, block.X))
            codes.append(block.codes)
        rows = digest.hexdigest(np.ones(n_rows, dtype=np.int8))
        sealed = hashlib.sha256(rows.encode())
        for part in codes:
            sealed.update(part.astype("<i8").tobytes())
        self.sha256 = sealed.hexdigest()
