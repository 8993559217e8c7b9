"""Contradictions in disjoint rows, whose number is a lower bound on the mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.geometry.packing import Packing
from tests.cases import labelled

pytestmark = pytest.mark.usefixtures("brief_descents")


def test_lower_bounds_of_disjoint_parts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the labels of many rows is wrong: the bound grows with the rows.

    After a contradiction in a sample, all rows need not be searched for a rule without mistakes.
    """
    X, y = labelled(3, 6000, 2)
    y = np.where(X[:, 0] > 0, 1, -1) * np.where(np.arange(len(y)) % 10 == 0, -1, 1)
    sizes, seek = list[int](), Packing.seek

    def noted(self: Packing, limits: Limits) -> None:
        sizes.append(self.passes.n)
        seek(self, limits)

    monkeypatch.setattr(Packing, "seek", noted)
    model: Any = nv.Pocket(random_state=0, max_updates=100).fit(X, y)
    assert 0 < max(sizes) < 6000
    assert 300 <= model.errors_lower_bound_ <= model.n_errors_ <= 600
    model.certificate_.verify(X, y)
