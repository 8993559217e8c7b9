"""Commands import what they need and nothing else: neither scikit-learn nor pandas."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Files, script

# Run commands one after the other in one process, and tell which packages are there at the end.
TOLD = """
import contextlib, io, json, sys
from novikoff.cli.main import run
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["novikoff", *words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        run()
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def packages(*commands: list[str]) -> set[str]:
    """The packages that a process has imported after these commands."""
    done = script(json.dumps(commands), start=[sys.executable, "-c", TOLD])
    assert done.code == 0, done.err
    return set(json.loads(done.out))


def test_commands_import_neither_scikit_learn_nor_pandas(files: Files, tmp_path: Path) -> None:
    model = str(tmp_path / "iris.novikoff")
    found = packages(
        ["fit", str(files.iris), "--out", str(tmp_path), "--cv", "2"],
        ["fit", str(files.line), "--out", str(tmp_path), "--format", "json"],
        ["predict", model, str(files.iris), "--scores"],
        ["verify", str(tmp_path / "iris.cert.json"), str(files.iris)],
        ["info", model],
        ["stream", str(files.iris), "--save", str(tmp_path / "stream.novikoff")],
    )
    assert "novikoff" in found
    assert (tmp_path / "stream.novikoff").exists()
    assert found & {"sklearn", "pandas", "matplotlib"} == set()


@pytest.mark.parametrize("command", ["--help", "--version"])
def test_help_imports_next_to_nothing(command: str) -> None:
    assert packages([command]) & {"numpy", "scipy", "numba", "pyarrow", "rich"} == set()


def test_info_and_verify_need_no_compiler(files: Files, fitted: Path) -> None:
    certificate, model = str(fitted / "iris.cert.json"), str(fitted / "iris.novikoff")
    found = packages(["verify", certificate, str(files.iris)], ["info", model])
    assert "numba" not in found
