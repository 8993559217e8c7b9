"""Imports go one way: core ← geometry ← systems, learners ← report ← the shells."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "novikoff"

_BELOW_REPORT = {"core", "geometry", "systems", "learners", "theory", "neurons", "data"}
_SHELLS = {"cli", "lab", "service", "distributed"}

# What checks a certificate imports NumPy, the standard library and itself, nothing else.
CHECKER = {f"geometry/{name}.py" for name in ("certificate", "checker", "error_bound", "exact")}

# What each room may import of novikoff, besides itself.
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "theory": {"core"},
    "neurons": {"core"},
    "data": {"core"},
    "geometry": {"core"},
    "systems": {"core", "geometry"},
    "learners": {"core", "geometry"},
    "report": {"core", "geometry", "systems", "learners", "theory", "data"},
    **{shell: _BELOW_REPORT | {"report"} for shell in _SHELLS},
}


def imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str, bool]]:
    """Yield line, dotted name and whether it runs on import, for every import of a module."""

    def walk(node: ast.AST, on_import: bool) -> Iterator[tuple[int, str, bool]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, on_import
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{stem}.{alias.name}", on_import
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, on_import and not inside)

    yield from walk(tree, True)


def violations(sources: Path) -> list[str]:
    """Name every step upward under ``sources``, the folder of the package novikoff."""
    found = []
    for path in sorted(sources.rglob("*.py")):
        parts = ("novikoff", *path.relative_to(sources).parts[:-1])
        room = parts[1] if len(parts) > 1 else ""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name, on_import in imports(tree, parts):
            reason = _complaint(room, path.relative_to(sources).as_posix(), name, on_import)
            if reason:
                found.append(f"{path.relative_to(sources).as_posix()}:{line}: {reason}")
    return found


def _complaint(room: str, path: str, name: str, on_import: bool) -> str:
    top, *rest = name.split(".")
    if path in CHECKER:
        known = top == "numpy" or top in sys.stdlib_module_names
        if not known and f"{'/'.join(name.split('.')[1:3])}.py" not in CHECKER:
            return f"the checker imports {name}"
    if top == "sklearn" and room != "learners" and on_import:
        return f"{name} is imported at module level outside learners"
    if top == "novikoff" and room:  # the package's own __init__ and __main__ may name all
        if room not in ALLOWED:
            return f"the room {room} has no rule"
        target = rest[0] if rest else ""
        if target != room and target not in ALLOWED[room] and name != "novikoff.__version__":
            return f"{room} imports {name}"
    return ""


def test_imports_go_one_way() -> None:
    assert violations(SOURCES) == []


def test_the_rooms_are_there() -> None:
    assert (SOURCES / "core" / "sweep.py").exists()
    assert (SOURCES / "theory" / "bounds.py").exists()


BAD = [
    ("core/rows.py", "from novikoff.geometry import margin"),
    ("core/rows.py", "import novikoff.learners.perceptron"),
    ("core/rows.py", "from novikoff import theory"),
    ("core/rows.py", "from .. import theory"),
    ("core/rows.py", "from ..theory.bounds import mistake_bound"),
    ("core/rows.py", "import novikoff"),
    ("core/rows.py", "def late() -> None:\n    from novikoff.report import text"),
    ("theory/bounds.py", "from novikoff.geometry.margin import interval"),
    ("data/readers.py", "from novikoff.theory import bounds"),
    ("geometry/margin.py", "from novikoff.systems import relaxation"),
    ("systems/relaxation.py", "from novikoff.learners import perceptron"),
    ("learners/pocket.py", "from novikoff.systems import relaxation"),
    ("report/text.py", "from novikoff.cli import main"),
    ("cli/main.py", "from novikoff.lab import page"),
    ("attic/old.py", "import novikoff.core.rows"),
    ("core/rows.py", "from sklearn.base import BaseEstimator"),
    ("cli/fit.py", "import sklearn"),
    ("cli/fit.py", "if True:\n    import sklearn.utils"),
    ("cli/fit.py", "class A:\n    import sklearn"),
    ("geometry/certificate.py", "from novikoff.core.rows import dot"),
    ("geometry/certificate.py", "from novikoff.geometry.min_norm import wolfe"),
    ("geometry/certificate.py", "def f() -> None:\n    import scipy"),
]

GOOD = [
    (
        "core/sweep.py",
        "from novikoff.core.rows import dot\nfrom novikoff.core import rows\nimport numpy",
    ),
    ("core/sweep.py", "from .rows import dot\nfrom . import rows"),
    ("theory/bounds.py", "from novikoff.core.problem import Problem"),
    ("geometry/margin.py", "from novikoff.core import rows\nfrom novikoff.geometry import exact"),
    (
        "geometry/certificate.py",
        "import json, math\nimport numpy as np\nfrom fractions import Fraction",
    ),
    ("geometry/certificate.py", "from novikoff.geometry.exact import dot"),
    ("geometry/certificate.py", "from novikoff.geometry import exact"),
    (
        "learners/perceptron.py",
        "from sklearn.base import BaseEstimator\nimport novikoff.core.sweep",
    ),
    (
        "report/text.py",
        "from novikoff.learners import perceptron\nfrom novikoff.theory import bounds",
    ),
    ("cli/fit.py", "def main() -> None:\n    import sklearn\n    import novikoff.report.text"),
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
