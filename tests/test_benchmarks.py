"""Every benchmark case runs, tiny; what it measures is nobody's business here."""

from __future__ import annotations

import json

import pytest
from benchmarks.cases import CASES
from benchmarks.run import record
from benchmarks.scale import TINY
from benchmarks.table import render


@pytest.mark.parametrize("name", CASES)
def test_case_runs_tiny(name: str) -> None:
    rows = CASES[name](TINY, 1)
    assert len(render(rows).splitlines()) == len(rows) + 1
    assert json.loads(json.dumps(record(rows, 1), allow_nan=False))["rows"]
