"""The benchmarks run on tiny problems; their figures are not checked here."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from benchmarks import record
from benchmarks.cases import CASES, TINY
from benchmarks.complexity import SOURCE, code_lines, owners, path_of
from benchmarks.measure import Row, render


@pytest.mark.parametrize(
    "name",
    [
        *("dense", "verdicts", "pocket", "pocket-at-size"),
        *("kernels", "second-order", "first-fits", "herding", "separation"),
    ],
)
def test_case_runs_tiny(name: str) -> None:
    rows = CASES[name](TINY, 1)
    times = ("dense", "pocket-at-size")  # these compare times, which drown in noise here
    assert name in times or all(row.sound for row in rows)
    assert len(render(rows).splitlines()) == len(rows) + 2


def test_code_is_counted_without_docstrings_comments_and_imports(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Two\nlines."""\n\nimport os\n\n# why\nA = (\n    1,\n)\nB = """x\ny"""\n')
    assert code_lines(module) == 5


def test_a_name_with_two_owners_is_found() -> None:
    shared = owners()
    assert "sweep" not in shared
    assert all((SOURCE / home).exists() for homes in shared.values() for home in homes)


def test_a_path_has_the_functions_of_all_threads() -> None:
    from novikoff.core.orders import named

    def job() -> None:
        thread = threading.Thread(target=named, args=("cyclic",))
        thread.start()
        thread.join()

    assert path_of(job) == path_of(lambda: named("cyclic"))
    modules, functions, comprehensions = path_of(job)
    assert modules == 1
    assert functions >= 1
    assert comprehensions == 0


def test_a_case_is_recorded_beside_the_others(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(record.PATH.read_bytes())
    before = record.read(path)
    row = Row("dense", "them", [3.9, 4.0, 4.2345, 5.0, 6.0], 4.0, 0.0501234, 0.2)
    record.keep("dense", [row], "a machine", path)
    after = record.read(path)
    assert after.pop("dense").figures == (record.Figure("dense", "them", 4.23, 0.0501),)
    del before["dense"]
    assert after == before


@pytest.mark.parametrize(
    "row",
    [Row("dense", "them", [4.0], 4.0, sound=False), Row("dense", "them", [float("nan")], 4.0)],
)
def test_a_row_that_does_not_count_is_not_recorded(row: Row, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(record.PATH.read_bytes())
    with pytest.raises(ValueError, match="does not count"):
        record.keep("dense", [row], "a machine", path)
    assert path.read_bytes() == record.PATH.read_bytes()


def test_the_record_has_cases_that_exist() -> None:
    assert set(record.read()) <= set(CASES)
