"""Imports go one way: proofs ← core ← geometry ← systems, models ← jobs ← report ← shells.

scikit-learn is imported by learners/ alone, and no command imports learners/: this is what makes
commands start quickly.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "novikoff"

# Modules beside the packages, which every package may import.
SHARED = {"errors", "names", "sentences"}
# What each package may import of novikoff, besides itself and `SHARED`: only packages above it.
ALLOWED: dict[str, set[str]] = {
    "proofs": set(),  # and of others, NumPy and the standard library alone
    "core": {"proofs"},
    "neurons": {"core"},
    "data": {"proofs", "core"},
    "geometry": {"core", "proofs"},
    "theory": {"core", "geometry", "proofs"},  # the bounds of given data need its R and γ
    "systems": {"core", "geometry", "proofs", "data"},  # data has the errors of files
    "models": {"core", "geometry", "proofs"},
    "formats": {"core", "proofs"},
    "cluster": {"core", "geometry", "proofs", "data"},
    "jobs": {"core", "geometry", "proofs", "systems", "models", "data", "formats", "cluster"},
}
ALLOWED["learners"] = ALLOWED["jobs"] - {"cluster"} | {"jobs"}
# `learners.saving` finds estimators by their public names.
ALLOWED["learners"] |= {""}
ALLOWED["report"] = ALLOWED["jobs"] | {"jobs", "theory"}
ALLOWED["page"] = ALLOWED["report"] | {"report", "neurons"}
ALLOWED["cli"] = ALLOWED["page"] | {"page"}


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
        package = parts[1] if len(parts) > 1 else ""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in imports(tree, parts):
            reason = _complaint(package, name)
            if reason:
                found.append(f"{path.relative_to(sources).as_posix()}:{line}: {reason}")
    return found


def _complaint(package: str, name: str) -> str:
    top, *rest = name.split(".")
    if package == "proofs" and top != "novikoff":
        return "" if top == "numpy" or top in sys.stdlib_module_names else f"proofs import {name}"
    # A formula needs a data frame: jobs import pandas where a formula is given.
    allowed = ("learners", "", "jobs") if top == "pandas" else ("learners", "")
    if top in ("sklearn", "pandas") and package not in allowed:
        return f"{name} is imported outside learners"
    if top == "novikoff" and package:  # the package's own __init__ and __main__ may name all
        if package not in ALLOWED:
            return f"the package {package} has no rule"
        target = rest[0] if rest else ""
        if target not in {package, "__version__"} | SHARED | ALLOWED[package]:
            return f"{package} imports {name}"
    return ""


def test_imports_go_one_way() -> None:
    assert (SOURCES / "core" / "sweep.py").exists()
    assert violations(SOURCES) == []


@pytest.mark.parametrize("module", sorted(SHARED))
def test_shared_modules_import_the_standard_library_and_numpy_alone(module: str) -> None:
    """When they run: types of other packages may be named in annotations."""
    tree = ast.parse((SOURCES / f"{module}.py").read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
    tops = {name.split(".")[0] for _, name in imports(tree, ("novikoff",))}
    assert tops <= {"numpy", *sys.stdlib_module_names}


BAD = [
    ("core/rows.py", "from novikoff.geometry import margin"),
    ("core/rows.py", "from .. import theory"),
    ("core/rows.py", "from ..theory.bounds import mistake_bound"),
    ("core/rows.py", "import novikoff"),
    ("core/rows.py", "def late() -> None:\n    from novikoff.report import study_report"),
    ("geometry/margin.py", "from novikoff.theory.bounds import mistake_bound"),
    ("theory/summary.py", "def f() -> None:\n    from novikoff.learners import perceptron"),
    ("data/tables.py", "from novikoff.theory import bounds"),
    ("geometry/margin.py", "from novikoff.systems import relaxation"),
    ("systems/relaxation.py", "from novikoff.learners import perceptron"),
    ("report/study_report.py", "from novikoff.cli import main"),
    ("jobs/study.py", "def f() -> None:\n    from novikoff.learners.pocket import Pocket"),
    ("cli/fit.py", "def f() -> None:\n    from novikoff.learners.saving import load"),
    ("cli/stream.py", "from novikoff.learners.stream import stream"),
    ("jobs/stream_run.py", "from novikoff.learners.stream import stream"),
    ("cli/fit.py", "def f() -> None:\n    import sklearn.utils"),
    ("attic/old.py", "import novikoff.core.rows"),
    ("core/rows.py", "from sklearn.base import BaseEstimator"),
    ("data/tables.py", "def f() -> None:\n    import pandas"),
    ("proofs/certificate.py", "from novikoff.core.rows import dot"),
    ("proofs/certificate.py", "def f() -> None:\n    import scipy"),
]

GOOD = [
    ("core/sweep.py", "from novikoff.core.rows import dot\nfrom . import rows\nimport numpy"),
    ("theory/summary.py", "from novikoff.geometry.separability import separate"),
    ("geometry/margin.py", "from novikoff.core import rows\nfrom novikoff.proofs import exact"),
    ("proofs/certificate.py", "import json\nimport numpy as np\nfrom novikoff.proofs import exact"),
    (
        "learners/perceptron.py",
        "from sklearn.base import BaseEstimator\nimport novikoff.core.sweep",
    ),
    ("learners/saving.py", "from novikoff.learners import perceptron"),
    ("cli/fit.py", "def main() -> None:\n    import novikoff.report.study_report"),
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
# uvicorn has no timeout for the head of a request, so `page/server.py` extends its protocol, whose
# attributes are not documented.
_PACKAGES = "sklearn|numpy|scipy|numba|pyarrow|click"
EXCEPTIONS = {"page/server.py": "from uvicorn.protocols.http.h11_impl import H11Protocol"}
TRICKS = re.compile(
    r"llvmlite|H11Protocol|sys\.meta_path|numba\.core|os\._exit|\batexit\._|\bgc\.(?:freeze|disable)"
    rf"|(?:import|from)\s+(?:{_PACKAGES})[\w.]*\._(?!_)"
    rf"|from\s+(?:{_PACKAGES})[\w.]*\s+import\s+\(?\s*(?:\w+,\s*)*_(?!_)"
)


def test_no_tricks() -> None:
    texts = {
        path.relative_to(SOURCES).as_posix(): path.read_text() for path in SOURCES.rglob("*.py")
    }
    assert {path for path, text in texts.items() if TRICKS.search(text)} == {*EXCEPTIONS}
    assert all(line in texts[path] for path, line in EXCEPTIONS.items())


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


# A flag of a command, such as --label, in a text.
FLAG = re.compile(r"(?:^|[\s(;])--[a-z]")


@pytest.mark.parametrize("package", ["core", "data", "formats", "jobs", "cluster", "proofs"])
def test_packages_below_the_commands_name_no_flags(package: str) -> None:
    """Commands write the options in messages as flags (`novikoff.cli.options.flag`)."""
    flagged = [
        f"{path.name}:{node.lineno}: {node.value}"
        for path in (SOURCES / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and FLAG.search(node.value)
    ]
    assert flagged == []


def test_the_packages_are_listed_in_the_order_of_their_imports() -> None:
    packages = [*ALLOWED]
    for k, package in enumerate(packages):
        assert ALLOWED[package] <= {"", *packages[:k]}, package
