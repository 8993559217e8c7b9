"""Imports go one way: core ← geometry ← systems, learners ← report ← the shells.

scikit-learn is imported by learners/ alone, learners/ by two modules of report/, and those by no
command: this is what makes commands start quickly.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "novikoff"

_BELOW_REPORT = {"core", "geometry", "systems", "learners", "theory", "neurons", "data"}
_SHELLS = {"cli", "page", "cluster"}
# The modules of report/ about estimators.
_ESTIMATORS = ("report.estimators", "report.learner_stream")

# The checker imports NumPy, the standard library and itself, nothing else.
CHECKER = {
    f"geometry/{name}.py"
    for name in (
        "certificate",
        "checker",
        "digest",
        "error_bound",
        "exact",
        "proof_text",
        "remote",
        "strict_json",
        "system_certificate",
        "system_checker",
        "system_statement",
    )
}

# What each room may import of novikoff, besides itself.
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "theory": {"core", "geometry"},  # the bounds of given data need its R and γ
    "neurons": {"core"},
    "data": {"core"},
    "geometry": {"core"},
    "systems": {"core", "geometry", "data"},  # its files are refused in the words of data
    "learners": {"core", "geometry"},
    "report": {"core", "geometry", "systems", "learners", "theory", "data"},
    **{shell: _BELOW_REPORT | {"report"} for shell in _SHELLS},
}
ALLOWED["cluster"] = {"core", "geometry", "data"}
ALLOWED["report"] |= {"cluster"}
ALLOWED["cli"] |= {"page", "cluster"}  # the page, and where rows are many


def imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every import of a module, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{stem}.{alias.name}"


def violations(sources: Path) -> list[str]:
    """Name every step upward under ``sources``, the folder of the package novikoff."""
    found = []
    for path in sorted(sources.rglob("*.py")):
        parts = ("novikoff", *path.relative_to(sources).parts[:-1])
        room = parts[1] if len(parts) > 1 else ""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in imports(tree, parts):
            reason = _complaint(room, path.relative_to(sources).as_posix(), name)
            if reason:
                found.append(f"{path.relative_to(sources).as_posix()}:{line}: {reason}")
    return found


def _complaint(room: str, path: str, name: str) -> str:
    top, *rest = name.split(".")
    if path in CHECKER:
        known = top == "numpy" or top in sys.stdlib_module_names
        if not known and f"{'/'.join(name.split('.')[1:3])}.py" not in CHECKER:
            return f"the checker imports {name}"
    if top in ("sklearn", "pandas") and room not in ("learners", ""):
        return f"{name} is imported outside learners"
    about_estimators = rest[:1] == ["learners"] or ".".join(rest[:2]) in _ESTIMATORS
    own = path.removesuffix(".py").replace("/", ".")
    if room == "report" and own not in _ESTIMATORS and about_estimators:
        return f"{name} is imported by a module that commands import"
    if room in _SHELLS and about_estimators:
        return f"a command imports {name}"
    if top == "novikoff" and room:  # the package's own __init__ and __main__ may name all
        if room not in ALLOWED:
            return f"the room {room} has no rule"
        target = rest[0] if rest else ""
        if target != room and target not in ALLOWED[room] and name != "novikoff.__version__":
            return f"{room} imports {name}"
    return ""


def test_imports_go_one_way() -> None:
    assert (SOURCES / "core" / "sweep.py").exists()
    assert violations(SOURCES) == []


BAD = [
    ("core/rows.py", "from novikoff.geometry import margin"),
    ("core/rows.py", "from .. import theory"),
    ("core/rows.py", "from ..theory.bounds import mistake_bound"),
    ("core/rows.py", "import novikoff"),
    ("core/rows.py", "def late() -> None:\n    from novikoff.report import text"),
    ("geometry/margin.py", "from novikoff.theory.bounds import mistake_bound"),
    ("theory/board.py", "def f() -> None:\n    from novikoff.learners import perceptron"),
    ("data/tables.py", "from novikoff.theory import bounds"),
    ("geometry/margin.py", "from novikoff.systems import relaxation"),
    ("systems/relaxation.py", "from novikoff.learners import perceptron"),
    ("report/text.py", "from novikoff.cli import main"),
    ("report/study.py", "def f() -> None:\n    from novikoff.learners.pocket import Pocket"),
    ("cli/fit.py", "def f() -> None:\n    from novikoff.report.estimators import load"),
    ("cli/stream.py", "from novikoff.report.learner_stream import stream"),
    ("report/stream.py", "from novikoff.report.learner_stream import stream"),
    ("cli/fit.py", "def f() -> None:\n    import sklearn.utils"),
    ("attic/old.py", "import novikoff.core.rows"),
    ("core/rows.py", "from sklearn.base import BaseEstimator"),
    ("data/tables.py", "def f() -> None:\n    import pandas"),
    ("geometry/checker.py", "from novikoff.core.rows import dot"),
    ("geometry/checker.py", "def f() -> None:\n    import scipy"),
]

GOOD = [
    ("core/sweep.py", "from novikoff.core.rows import dot\nfrom . import rows\nimport numpy"),
    ("theory/board.py", "from novikoff.geometry.separability import separate"),
    ("geometry/margin.py", "from novikoff.core import rows\nfrom novikoff.geometry import exact"),
    ("geometry/checker.py", "import json\nimport numpy as np\nfrom novikoff.geometry import exact"),
    (
        "learners/perceptron.py",
        "from sklearn.base import BaseEstimator\nimport novikoff.core.sweep",
    ),
    ("report/estimators.py", "from novikoff.learners import perceptron"),
    ("cli/fit.py", "def main() -> None:\n    import novikoff.report.text"),
    ("__init__.py", "from novikoff.learners.perceptron import Perceptron"),
]


def _tree(root: Path, path: str, text: str) -> Path:
    file = root / "novikoff" / path
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return root / "novikoff"


@pytest.mark.parametrize(("path", "text"), BAD)
def test_a_step_upward_is_caught(path: str, text: str, tmp_path: Path) -> None:
    assert len(violations(_tree(tmp_path, path, text))) == 1


@pytest.mark.parametrize(("path", "text"), GOOD)
def test_a_step_downward_is_not(path: str, text: str, tmp_path: Path) -> None:
    assert violations(_tree(tmp_path, path, text)) == []


# Private names of other packages, and tricks with the interpreter, are defects.
_PACKAGES = "sklearn|numpy|scipy|numba|pyarrow|click"
TRICKS = re.compile(
    r"llvmlite|sys\.meta_path|numba\.core|os\._exit|\batexit\._|\bgc\.(?:freeze|disable)"
    rf"|(?:import|from)\s+(?:{_PACKAGES})[\w.]*\._(?!_)"
    rf"|from\s+(?:{_PACKAGES})[\w.]*\s+import\s+\(?\s*(?:\w+,\s*)*_(?!_)"
)


def test_no_tricks() -> None:
    assert {path for path in SOURCES.rglob("*.py") if TRICKS.search(path.read_text())} == set()


@pytest.mark.parametrize(
    "line",
    [
        "from sklearn.utils._param_validation import Interval",
        "import scipy._lib",
        "from pyarrow._csv import open_csv",
        "from numba.core import types",
        "from numba import njit, _helperlib",
        "from scipy.sparse import (\n    csr_array,\n    _sparsetools,\n)",
        "os._exit(0)",
        "gc.disable()",
    ],
)
def test_a_trick_is_caught(line: str) -> None:
    assert TRICKS.search(line)
