"""A budget holds for blocks too: no pass goes on once it is used up."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

import novikoff as nv
from novikoff.core.blocks import Coded
from novikoff.core.problem import measured
from novikoff.core.rows import Floats
from novikoff.report import block_study, proving, steps
from novikoff.report.block_study import study_blocks
from novikoff.report.steps import Options

N, SIZE = 4000, 10


class Counted:
    """Blocks that count how many of them were asked for, pass by pass."""

    n_rows, n_features, max_memory = N, 3, None

    def __init__(self, n_classes: int) -> None:
        rng = np.random.default_rng(1)
        self.X = rng.normal(size=(N, 3))
        self.codes = rng.integers(0, n_classes, N).astype(np.int32)
        self.classes = np.arange(n_classes)
        self.passes: list[int] = []

    def __iter__(self) -> Iterator[tuple[Floats, npt.NDArray[np.generic]]]:
        raise NotImplementedError

    def coded(self) -> Iterator[Coded]:
        self.passes.append(0)
        for first in range(0, N, SIZE):
            part = slice(first, first + SIZE)
            self.passes[-1] += 1
            yield measured(self.X[part], self.codes[part])


def test_a_verdict_without_time_is_undecided_before_a_pass_is_over() -> None:
    blocks = Counted(2)
    verdict = nv.separate(blocks, budget=1e-9)
    assert (verdict.kind, verdict.certificate, verdict.coef) == ("undecided", None, None)
    assert (verdict.radius, verdict.mistake_bound) == (math.inf, None)
    assert tuple(verdict.margin) == (0.0, math.inf)
    assert len(blocks.passes) == 1
    assert blocks.passes[0] < 10  # of 400: a few are made ahead
    verdicts = nv.separate_classes(Counted(3), budget=1e-9)
    assert [verdict.kind for verdict in verdicts.values()] == ["undecided"] * 3


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_study_without_time_ends_with_the_perceptron(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fill_pocket", "better_of_pairs"):
        monkeypatch.setattr(block_study, name, lambda *_: pytest.fail("time is over"))
    monkeypatch.setattr(steps.Clock, "part", lambda clock, share: 1e-9)
    blocks = Counted(n_classes)
    found = study_blocks(blocks, Options(budget=1e-9))
    assert found.kinds == ["undecided"] * (1 if n_classes == 2 else n_classes)
    assert found.rule == "perceptron"
    assert int(found.counts.sum()) == N  # all rows are counted all the same
    assert blocks.passes.count(N // SIZE) == 1


def test_pairs_are_not_tried_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    clock = steps.Clock(1e-9)
    pocket = proving.fill_pocket(X, y, Options(proofs=False), clock)
    monkeypatch.setattr(proving, "_pocket", lambda *_: pytest.fail("time is over"))
    assert proving.better_of_pairs(X, y, pocket, Options(), clock) is pocket
    assert clock.over
    assert not steps.Clock(None).over
    assert not steps.Clock(1000.0).over
