"""The corral of Wolfe's algorithm: its equalities, its clock and its memory."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.geometry import corral
from novikoff.geometry.corral import Corral, WorkingSet
from novikoff.geometry.passes import OutOfTimeError, TooLargeError
from novikoff.systems.engine import point_or_conflict
from novikoff.systems.least_squares import least_squares
from novikoff.systems.matrices import time_to_factor
from novikoff.systems.statement import stated_arrays
from novikoff.systems.system import system_of
from tests.limits import interrupted


def test_the_clock_is_looked_at_while_equalities_join_and_before_factors() -> None:
    rng = np.random.default_rng(0)
    equal = rng.standard_normal((40, 60))
    system = system_of(stated_arrays(None, None, A_eq=equal, c_eq=equal @ np.ones(60), lower=0.0))
    joining = Corral(np.ones(60), 60, WorkingSet(equal, None), [(i, -1) for i in range(40)], 40)
    assert joining.n_free == 40
    with pytest.raises(OutOfTimeError):
        Corral(np.ones(60), 60, WorkingSet(equal, None), [(0, -1)], limits=interrupted())
    assert not least_squares(system, interrupted()).any()
    assert least_squares(system, Limits()).any()
    assert not time_to_factor(10**6, 10**4, Limits(seconds=10.0))
    assert time_to_factor(10**6, 10**4, Limits())


def test_more_equalities_than_fit_into_memory_are_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(corral, "_MAX_FACTOR_ENTRIES", 1 << 12)
    n = 200
    equal = np.eye(n) + np.eye(n, k=-1) + np.eye(n, k=-7)
    with pytest.raises(TooLargeError):
        Corral(np.ones(n), 64, WorkingSet(equal, None), [(i, -1) for i in range(n)], n)
    system = system_of(stated_arrays(None, None, A_eq=equal, c_eq=np.ones(n)))
    with pytest.raises(TooLargeError):
        point_or_conflict(system, Limits())
