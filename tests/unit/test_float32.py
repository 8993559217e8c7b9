"""Float32 rows: their margins are summed in float64, and close calls from left to right."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.core.orders import Cyclic
from novikoff.core.problem import pose
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.trace import Recorder
from novikoff.core.updates import Perceptron
from tests.oracle import oracle, signed


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e25])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_orthogonal_to_the_weights_up_to_float32(sparse: bool, size: float) -> None:
    """Half of these signs come out wrong in float32; the run must not see that."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=9) * size
    w[-1] = 0.0
    U = rng.normal(size=(400, 8))
    X = (U - np.outer(U @ w[:8], w[:8]) / (w @ w)).astype(np.float32)
    signs = np.ones(400, dtype=np.int8)
    update = Perceptron(step=1e-13 * size)
    wrong = np.sign(X @ w[:8].astype(np.float32)) != np.sign(X.astype(np.float64) @ w[:8])
    assert wrong.mean() > 0.1
    recorder = Recorder()
    ran = run(
        pose(sp.csr_array(X) if sparse else X, signs, False),
        update,
        Cyclic(),
        Limits(epochs=2),
        rng,
        start=w[:, None],
        recorder=recorder,
    )
    order = [range(400)] * 2
    expected = oracle(signed(X, signs, False), order, update, start=w)
    assert ran.trace is not None
    assert ran.trace.index.tolist() == [act.row for act in expected.acts]
    np.testing.assert_array_equal(ran.W[:, 0], expected.w)


@pytest.mark.parametrize("sparse", [False, True])
def test_float32_rows_from_a_start(sparse: bool) -> None:
    """From a start that the updates soon leave behind."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6)).astype(np.float32)
    signs = np.where(rng.random(300) < 0.5, 1, -1).astype(np.int8)
    start = rng.normal(size=7)
    ran = run(
        pose(sp.csr_array(X) if sparse else X, signs, True),
        Perceptron(),
        Cyclic(),
        Limits(epochs=3),
        rng,
        start=start[:, None],
    )
    expected = oracle(signed(X, signs, True), [range(300)] * 3, Perceptron(), start=start)
    np.testing.assert_array_equal(ran.W[:, 0], expected.w)
