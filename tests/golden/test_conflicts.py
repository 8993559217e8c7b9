"""Conflicts of published systems: if any row is left out, an exact solver finds a point."""

from __future__ import annotations

from math import lcm

import flint
import pytest

from novikoff.core.stops import Limits
from novikoff.proofs.system_statement import Constraint
from novikoff.systems.files.reading import read_system
from novikoff.systems.solve import solve_system
from novikoff.systems.system import system_of
from tests.real_data import published_systems, real

oracle = pytest.importorskip("tests.system_oracle", reason="pplpy is not installed")

# Larger conflicts would take the other solver minutes; flint shows that their rows are independent.
_MAX_ROWS = 25


def rank(rows: list[Constraint], d: int) -> int:
    table = []
    for row in rows:
        values = {**row.terms, d: row.right}
        over = lcm(*(value.denominator for value in values.values()))
        table.append([int(values.get(j, 0) * over) for j in range(d + 1)])
    return int(flint.fmpz_mat(table).rank())


INFEASIBLE = [
    name for name, row in published_systems().items() if row["published_kind"] == "infeasible"
]


@pytest.mark.parametrize("file", INFEASIBLE)
def test_without_any_one_of_its_rows_there_is_no_conflict(file: str) -> None:
    model = read_system(str(real(file))).model
    d, m = len(model.variables), len(model.constraints)
    answer = solve_system(system_of(model), Limits())
    first = {"row": 0, "eq": 0, "upper": m, "lower": m + d}
    numbers = [first[row.kind] + row.index for row in answer.conflict]
    rows = [row for row in (model.row(k) for k in numbers) if row is not None]
    assert 0 < len(rows) == len({*numbers}) <= min(d + 1, model.n)
    assert rank(rows, d) == len(rows)
    if len(rows) <= _MAX_ROWS:
        assert not oracle.is_satisfiable(rows)
        for k in range(len(rows)):
            assert oracle.is_satisfiable(rows[:k] + rows[k + 1 :]), k
