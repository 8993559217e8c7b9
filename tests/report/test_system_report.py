"""The report about a system of inequalities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from novikoff.core.stops import Limits
from novikoff.jobs.system_study import SystemOptions, SystemStudy
from novikoff.report.system_report import system_json, system_lines
from novikoff.systems.conflicts import Conflicts
from novikoff.systems.files.reading import read_system
from novikoff.systems.solve import solve_system
from novikoff.systems.system import system_of
from tests.cli.test_solve import DAY, SCHEMA

jsonschema = pytest.importorskip("jsonschema")


def test_conflicts_that_are_not_found_in_time_leave_the_first(tmp_path: Path) -> None:
    path = tmp_path / "day.csv"
    path.write_text(DAY)
    file = read_system(str(path))
    found = solve_system(system_of(file.stated), Limits())
    told = SystemStudy(found, "day.csv", file, SystemOptions(), Conflicts((), complete=False))
    body = json.loads(system_json(told))
    jsonschema.validate(body, SCHEMA)
    assert body["conflicts"] == {
        "listed": [body["conflict"]], "complete": False, "relaxed": False,
    }  # fmt: skip
    many = "at least 1 row must go; --relax rows finds the fewest rows that must go"
    assert ("", many) in [*system_lines(told)]
