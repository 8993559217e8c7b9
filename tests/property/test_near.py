"""The loop that skips rows makes the mistakes of the loop that does not, in the same order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.core import near, sweep
from novikoff.core.ledger import Run
from novikoff.core.near import Anchor
from novikoff.core.orders import Cyclic, Deck, Permuted, Sequence
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
from novikoff.core.trace import Recorder
from novikoff.core.updates import PA, PA1, PA2, Aggressive, Perceptron, Relaxation, Update
from tests.cases import SEQUENCES, Signs, csr, planted, planted_integers
from tests.oracle import signed
from tests.property.test_trajectories import integers, mixed, nasty, problems

UPDATES: list[Update] = [
    Perceptron(),
    Perceptron(margin=0.5, step=0.3),
    Perceptron(step=3.0),
    Aggressive(),
    PA(),
    PA1(C=0.1),
    PA2(C=0.5),
    Relaxation(eta=1.5, margin=0.25),
]
PERCEPTRONS = UPDATES[:3]


@dataclass
class Use:
    """What the mechanism did while it was watched."""

    casts: int = 0
    visits: int = 0
    gathered: int = 0
    nested: int = 0  # casts from the rows within a wide turn
    closer: int = 0  # casts of an anchor that still held


class Mode(NamedTuple):
    """How eager the mechanism is, and whether near rows are copied."""

    gain: float = 0.999  # at 1 an anchor would pay that no row is safe from
    anchor: float = 0.2
    copied: float = 1.0
    begin: float = 1.0  # the first turn, in turns of an epoch
    room: float = 1.25  # the next, in the widest seen
    wider: float = 4.0


MODES = {
    "copied": Mode(),
    "in place": Mode(copied=0.0),
    "cast anew at every turn": Mode(anchor=0.0, begin=0.5, room=0.5),
    "cast where it pays": Mode(gain=0.7, anchor=2.0, begin=2.5),
    "closer and closer": Mode(anchor=0.01, begin=0.5, room=0.7, wider=2.0),
}


@contextmanager
def skipping(mode: Mode) -> Iterator[Use]:
    """Skip rows from the second epoch on, however small the problem."""
    use = Use()
    cast, visits = Anchor.cast, Anchor.visits

    def watched_cast(self: Anchor, w: Vector) -> bool:
        wide, held_before = self.wide, self.holds and not self.broken
        held = cast(self, w)
        use.casts += held
        use.nested += held and self.wide is wide
        use.closer += held and held_before
        use.gathered += held and len(self.names) > 0
        return held

    def watched_visits(self: Anchor, epoch: Indices, first: int) -> tuple[Indices, Indices]:
        found = visits(self, epoch, first)
        use.visits += len(found[0])
        return found

    with (
        mock.patch.multiple(near, _WORTHWHILE=0, _FIRST_TRY=1, _PAUSE=1, _GAIN=mode.gain),
        mock.patch.multiple(near, _ANCHOR=mode.anchor, _CALLS=0, _COPIED=mode.copied),
        mock.patch.multiple(near, _BEGIN=mode.begin, _ROOM=mode.room, _WIDER=mode.wider),
        mock.patch.multiple(Anchor, cast=watched_cast, visits=watched_visits),
    ):
        yield use


@contextmanager
def plain() -> Iterator[None]:
    with mock.patch.object(near, "_WORTHWHILE", 1 << 62):
        yield


@dataclass
class Task:
    """A run, as often as it is asked for."""

    X: Floats | SparseMatrix
    signs: Signs
    order: Callable[[int], Sequence] = field(default=lambda n: Cyclic())
    update: Update = field(default_factory=Perceptron)
    fit_intercept: bool = True
    limits: Callable[[], Limits] = field(default=lambda: Limits(epochs=12))
    start: Vector | None = None
    weights: Vector | None = None
    deck: Indices | None = None
    average: bool = False
    traced: bool = False
    threads: int = 1
    seed: int = 5

    def run(self, after_epoch: Callable[[Run], bool] | None = None) -> Run:
        problem = pose(self.X, self.signs, self.fit_intercept)
        return run(
            problem,
            self.update,
            self.order(problem.n if self.deck is None else len(self.deck)),
            self.limits(),
            np.random.default_rng(self.seed),
            start=None if self.start is None else self.start[:, None],
            deck=self.deck,
            weights=self.weights,
            average=self.average,
            recorder=Recorder() if self.traced else None,
            threads=self.threads,
            after_epoch=after_epoch,
        )


def same(task: Task, mode: Mode) -> Use:
    """Check that both loops do the same; return how much the mechanism was used."""
    with plain():
        expected = outcome(task)
    with skipping(mode) as use:
        found = outcome(task)
    assert found == expected
    return use


def outcome(task: Task) -> list[object]:
    """All that a run leaves, to the last bit, or what it complained of."""
    try:
        ran = task.run()
    except ValueError as error:
        return [str(error)]
    ledger, trace = ran.ledger, ran.trace
    tallies = [ledger.updates, ledger.mistakes, ledger.steps, ran.epochs]
    rows = [] if trace is None else [trace.step, trace.index]
    reals = [] if trace is None else [trace.margin, trace.tau, trace.squared_norm]
    assert math.hypot(*ran.W[:, 0]) <= ledger.norm[0]  # squares may vanish
    return [
        ran.stops,
        *(tally.tolist() for tally in [*tallies, *rows]),
        ledger.counts.tobytes(),
        *(array.tobytes() for array in [ran.W, ledger.lazy, *reals]),
    ]


def random_task(seed: int, order: str) -> Task:
    """Easy, hard and hopeless, in several sizes at once, with every option."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 60)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d))
    w_star = rng.normal(size=d)
    kind = seed % 8
    if kind in (1, 6):  # ties, zero rows, duplicates
        X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    if kind == 2:  # columns of other sizes
        X *= 2.0 ** rng.integers(-30, 30, size=d)
    if kind == 3:  # rows of other sizes, from vanishing to large
        X *= 2.0 ** rng.integers(-500, 60, size=(n, 1))
    if kind == 4:  # close to the plane
        X -= np.outer(X @ w_star, w_star) / (w_star @ w_star) * (1.0 - 1e-3)
    if kind == 5:  # beyond the range where it works
        X *= 2.0 ** rng.choice([-400, 340])
    score = X @ w_star
    signs = np.where(score > 0.0, 1, -1)
    if kind in (0, 6):
        signs = rng.choice([-1, 1], size=n)
    elif kind == 7:
        signs[rng.random(n) < 0.1] *= -1
    single = seed % 5 == 0 and kind not in (3, 5)
    data: Floats | SparseMatrix = X.astype(np.float32) if single else X
    if rng.random() < 0.4:
        data = csr(X, np.float32 if single else np.float64)
    update = PERCEPTRONS[seed % 3] if single else UPDATES[rng.integers(len(UPDATES))]
    weights = rng.choice([0.5, 1.0, 3.0], size=n) if rng.random() < 0.3 else None
    if weights is not None and rng.random() < 0.1:
        weights[0] = 0.0
    updates = int(rng.integers(1, 60)) if rng.random() < 0.3 else None
    start = None
    if rng.random() < 0.3:
        start = rng.normal(size=d + 1) * 10.0 ** rng.integers(-3, 4)
    fit_intercept = bool(rng.random() < 0.6)
    if start is not None and not fit_intercept:
        start[-1] = 0.0
    return Task(
        data,
        signs.astype(np.int8),
        SEQUENCES[order],
        update,
        fit_intercept,
        lambda: Limits(epochs=12, updates=updates),
        start,
        weights,
        average=bool(rng.random() < 0.3),
        traced=bool(rng.random() < 0.3),
        seed=seed,
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", SEQUENCES)
def test_random_problems(order: str, mode: str) -> None:
    """Some two thousand in all, which takes seconds."""
    first = 1000 * list(SEQUENCES).index(order) + 100 * list(MODES).index(mode)
    uses = [same(random_task(first + k, order), MODES[mode]) for k in range(60)]
    in_use = sum(use.casts > 0 for use in uses)
    assert in_use >= (3 if mode == "cast where it pays" else 20)
    gathered = sum(use.gathered > 0 for use in uses)
    assert gathered == 0 if mode == "in place" else gathered >= 3


@pytest.mark.parametrize("mode", MODES)
@given(
    case=st.one_of(problems(integers), problems(nasty), problems(mixed)),
    fit_intercept=st.booleans(),
    order=st.sampled_from(sorted(SEQUENCES)),
    delta=st.sampled_from([0.0, 0.0, 1e-300, 0.1, 10.0]),
    step=st.one_of(st.just(1.0), nasty.map(lambda step: abs(step) or 1.0)),
    sparse=st.booleans(),
    traced=st.booleans(),
)
def test_nasty_floats(
    mode: str,
    case: tuple[Vector, Signs],
    fit_intercept: bool,
    order: str,
    delta: float,
    step: float,
    sparse: bool,
    traced: bool,
) -> None:
    X, signs = case
    update = Perceptron(margin=delta, step=step)
    task = Task(csr(X) if sparse else X, signs, SEQUENCES[order], update, fit_intercept)
    task.traced = task.average = traced
    same(task, MODES[mode])


@pytest.mark.parametrize("mode", MODES)
@given(
    seed=st.integers(0, 2**32),
    d=st.integers(2, 40),
    exponent=st.sampled_from([-300, -80, 0, 70]),
    step=st.sampled_from([1.0, 2.0**-400, 2.0**-60]),
)
@settings(max_examples=30)
def test_margins_within_rounding_of_zero(
    mode: str, seed: int, d: int, exponent: int, step: float
) -> None:
    """Rows orthogonal to the start but for rounding: none may be thought safe that is not."""
    rng = np.random.default_rng(seed)
    start = np.append(rng.normal(size=d), 0.0)
    X = rng.normal(size=(40, d))
    flat = rng.random(40) < 0.7
    X[flat, -1] = -(X[flat, :-1] @ start[: d - 1]) / start[d - 1]
    X *= 2.0**exponent
    signs = np.where(X @ start[:d] < 0, -1, 1).astype(np.int8)
    task = Task(X, signs, SEQUENCES["permuted"], Perceptron(step=step), False, start=start)
    same(task, MODES[mode])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", SEQUENCES)
def test_hard_separable_sets(order: str, mode: str) -> None:
    """Hundreds of epochs, thousands of mistakes, most rows never looked at."""
    n = 2000
    case = planted(len(order), n, 4, gap=1e-3)
    sparse = order in ("fixed", "blocks")
    task = Task(
        csr(case.X) if sparse else case.X,
        case.signs,
        SEQUENCES[order],
        limits=lambda: Limits(epochs=200),
        traced=order == "permuted",
        average=order == "cyclic",
    )
    use = same(task, MODES[mode])
    assert use.casts >= 1
    if mode == "closer and closer":
        assert use.nested >= 3
        assert use.closer >= 1
    with skipping(MODES[mode]) as use:
        ran = task.run()
    assert ran.ledger.updates[0] >= 200
    if mode != "cast anew at every turn":
        assert use.visits < 0.7 * ran.ledger.steps[0]


@pytest.mark.parametrize("update", UPDATES, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_every_update_on_sets_without_an_end(update: Update, sparse: bool) -> None:
    """Wrong labels keep w moving; a margin asks for more than the sign."""
    case = planted(7, 1500, 3, gap=0.02)
    signs = case.signs.copy()
    signs[::300] *= -1
    weights = np.tile([1.0, 2.0, 0.25], 500)
    for mode in MODES.values():
        task = Task(
            csr(case.X) if sparse else case.X,
            signs,
            SEQUENCES["permuted"],
            update,
            limits=lambda: Limits(epochs=30),
            weights=weights,
        )
        use = same(task, mode)
        assert use.casts > 0 or mode.gain < 1.0 or isinstance(update, Aggressive)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_large_enough_to_be_chosen(sparse: bool, threads: int) -> None:
    """Nothing is forced here: the mechanism is found to pay, and used."""
    case = planted(11, 20_000, 10, gap=1e-3)
    X = csr(case.X) if sparse else case.X
    task = Task(X, case.signs, SEQUENCES["blocks"], limits=lambda: Limits(epochs=60))
    task.threads = threads
    with plain():
        expected = outcome(task)
    with mock.patch.object(Anchor, "cast", autospec=True, side_effect=Anchor.cast) as cast:
        assert outcome(task) == expected
    assert cast.call_count >= 1


@pytest.mark.parametrize("mode", MODES)
def test_part_of_the_rows(mode: str) -> None:
    case = planted(12, 600, 3, gap=1e-3)
    deck = np.arange(1, 600, 2)
    for order in SEQUENCES:
        task = Task(case.X, case.signs, SEQUENCES[order], deck=deck)
        task.limits = lambda: Limits(epochs=60)
        assert same(task, MODES[mode]).casts > 0


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 13, 100, 151, 152, 153])
@pytest.mark.parametrize("mode", MODES)
def test_a_limit_on_updates(mode: str, most: int) -> None:
    """The run ends with the very update, at the very step."""
    case = planted_integers(3, 300, 3)
    signs = case.signs.copy()
    signs[[5, 150, 299]] *= -1
    for order in SEQUENCES:
        task = Task(case.X, signs, SEQUENCES[order], traced=True, average=True)
        task.limits = lambda: Limits(epochs=50, updates=most)
        same(task, MODES[mode])


class ShuffledInPlace:
    """An order of one's own, which deals the same array again and again."""

    covers = True

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        rows = deck.rows.copy()
        while True:
            rng.shuffle(rows)
            yield rows


@pytest.mark.parametrize("mode", MODES)
def test_an_order_of_ones_own(mode: str) -> None:
    case = planted(0, 500, 3, gap=1e-3)
    task = Task(case.X, case.signs, lambda n: ShuffledInPlace())
    task.limits = lambda: Limits(epochs=60)
    assert same(task, MODES[mode]).casts > 0


# Interruptions: w = Σ counts_i·a_i, whatever the moment. Integers, so that sums are exact.


def inseparable_integers() -> Task:
    case = planted_integers(4, 400, 3)
    signs = case.signs.copy()
    signs[::97] *= -1
    return Task(case.X, signs, lambda n: Permuted(), limits=lambda: Limits(epochs=100))


def assert_books_balance(task: Task, ran: Run) -> None:
    assert isinstance(task.X, np.ndarray)
    counts = ran.ledger.counts[:, 0]
    assert ran.ledger.updates[0] == counts.sum() > 0
    A = signed(task.X, task.signs, task.fit_intercept)
    assert ran.W[:, 0].tolist() == (counts @ A).tolist()


@pytest.mark.parametrize("mode", MODES)
def test_an_interruption_after_an_epoch(mode: str) -> None:
    task = inseparable_integers()

    def stop(ran: Run) -> bool:
        if ran.epochs[0] == 20:
            raise KeyboardInterrupt
        return False

    with skipping(MODES[mode]) as use:
        ran = task.run(stop)
    assert use.casts > 0 or mode == "cast where it pays"
    assert ran.stops == [Stop.INTERRUPTED]
    assert_books_balance(task, ran)
    with plain():
        assert task.run(stop).W.tobytes() == ran.W.tobytes()


@pytest.mark.parametrize("at", [2, 5, 17, 40])
@pytest.mark.parametrize("mode", MODES)
def test_an_interruption_in_the_middle_of_an_epoch(mode: str, at: int) -> None:
    """Ctrl-C is heard between two calls of the kernel; the rows it has moved by count."""
    task = inseparable_integers()
    kernel: Callable[..., int] = sweep.sweep
    calls = 0

    def interrupted(*args: object) -> int:
        nonlocal calls
        calls += 1
        reached = kernel(*args)
        if calls == at:
            raise KeyboardInterrupt
        return reached

    with skipping(MODES[mode]), mock.patch.object(sweep, "sweep", interrupted):
        ran = task.run()
    assert calls == at
    assert ran.stops == [Stop.INTERRUPTED]
    assert_books_balance(task, ran)


class Countdown(Limits):
    """Limits whose time is up after so many looks at the clock."""

    looks = 0

    def reached(self, n_epochs: int = 0) -> Stop | None:
        self.looks -= 1
        return super().reached(n_epochs) or (Stop.SECONDS if self.looks <= 0 else None)


@pytest.mark.parametrize("looks", [1, 2, 3, 10, 31, 60])
@pytest.mark.parametrize("mode", MODES)
def test_time_that_is_up(mode: str, looks: int) -> None:
    task = inseparable_integers()

    def limits() -> Limits:
        countdown = Countdown(epochs=100)
        countdown.looks = looks
        return countdown

    task.limits = limits
    with skipping(MODES[mode]):
        ran = task.run()
    assert ran.stops == [Stop.SECONDS]
    assert_books_balance(task, ran)


def test_a_callback_sees_books_that_balance() -> None:
    task = inseparable_integers()
    seen = 0

    def look(ran: Run) -> bool:
        nonlocal seen
        seen += 1
        assert_books_balance(task, ran)
        return seen == 30

    with skipping(MODES["copied"]) as use:
        ran = task.run(look)
    assert use.casts > 0
    assert ran.stops == [Stop.CALLBACK]
