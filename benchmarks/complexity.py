"""Three measures of how hard the code is to read; ``python -m benchmarks.complexity`` prints them.

* *Path of a job*: the modules of novikoff whose code a job runs, and the functions that it calls,
  in all threads. Each is counted once, however often it runs. Lambdas, comprehensions and generator
  expressions count as functions, and are also listed apart; from Python 3.12 on, most
  comprehensions have no frame of their own and are not seen, so compare runs of one Python version.
  Loops that Numba compiled, methods that dataclasses generate and the import of modules do not
  count: a job runs once before it is measured.
* *Names with several owners*: functions, classes and constants, private ones included, that are
  defined at the top level of more than one module. Imported names are not defined there.
* *Lines of code*: lines of Python in each package without docstrings, comments, blank lines and
  imports. The JavaScript of the lab is counted apart, comments included.

The script is a report, not a limit: no test depends on its numbers.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import tempfile
import threading
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

SOURCE = Path(__file__).parent.parent / "src" / "novikoff"
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def code_lines(path: Path) -> int:
    """The number of lines of a module without docstrings, comments, blank lines and imports.

    Examples
    --------
    >>> code_lines(Path(__file__)) > 50
    True
    """
    text = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokens:
        if token.type not in skipped and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and _is_prose(node):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _is_prose(node: ast.stmt) -> bool:
    """Whether a statement is a docstring or an import."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return isinstance(node.value.value, str)
    return isinstance(node, ast.Import | ast.ImportFrom)


def owners() -> dict[str, list[str]]:
    """The top-level names that several modules define, with these modules.

    Examples
    --------
    >>> all(len(homes) > 1 for homes in owners().values())
    True
    """
    found = defaultdict[str, list[str]](list)
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name in sorted({name for node in tree.body for name in _defined(node)}):
            if not name.startswith("__"):
                found[name].append(path.relative_to(SOURCE).as_posix())
    return {name: homes for name, homes in sorted(found.items()) if len(homes) > 1}


def _defined(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top level of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        yield from (part.id for part in parts if isinstance(part, ast.Name))


def path_of(job: Callable[[], object]) -> tuple[int, int, int]:
    """The numbers of modules and functions of novikoff that a job runs, and of comprehensions."""
    root, entered = str(SOURCE), set[tuple[str, str]]()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name != "<module>":
            entered.add((code.co_filename, code.co_qualname))

    job()  # the first run imports modules and compiles loops
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    comprehensions = sum(name.endswith(COMPREHENSIONS) for _, name in entered)
    return len({path for path, _ in entered}), len(entered), comprehensions


def command(*words: str) -> Callable[[], None]:
    """A job that runs a command in this process and discards its output."""

    def job() -> None:
        from novikoff.cli.main import run

        quiet = io.TextIOWrapper(io.BytesIO())
        with (
            mock.patch.object(sys, "argv", ["novikoff", *words]),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
            contextlib.suppress(SystemExit),
        ):
            run()

    return job


def jobs(folder: Path) -> dict[str, Callable[[], object]]:
    """The jobs to measure, on files in a folder."""
    from sklearn.datasets import load_iris, load_wine

    import novikoff as nv

    wine, iris = load_wine(as_frame=True), load_iris(as_frame=True)
    wine.frame.assign(target=wine.target.map(str)).to_csv(folder / "wine.csv", index=False)
    iris.frame[iris.target > 0].to_csv(folder / "iris.csv", index=False)
    (folder / "day.csv").write_text(
        "wish,work,sleep,is,hours\na,1,1,<=,24\nb,1,,>=,18\nc,,1,>=,7\n"
    )
    X, y = wine.data.to_numpy(), (wine.target == 0).to_numpy()
    separated = nv.separate(X, y)
    assert separated.certificate is not None
    proof, put = separated.certificate, ("--out", str(folder), "--force")
    return {
        "novikoff fit wine.csv": command("fit", str(folder / "wine.csv"), "--positive", "0", *put),
        "novikoff fit iris.csv": command("fit", str(folder / "iris.csv"), *put),
        "novikoff stream iris.csv": command("stream", str(folder / "iris.csv")),
        "novikoff solve day.csv": command("solve", str(folder / "day.csv")),
        "Perceptron().fit(X, y)": lambda: nv.Perceptron(scale="standard").fit(X, y),
        "separate(X, y)": lambda: nv.separate(X, y),
        "certificate.verify(X, y)": lambda: proof.verify(X, y),
    }


def main() -> None:
    """Print the three measures."""
    print(f"{'path of a job':28}{'modules':>8}{'functions':>11}{'comprehensions':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs(Path(folder)).items():
            modules, functions, inner = path_of(job)
            print(f"{name:28}{modules:8}{functions:11}{inner:16}")
    print(f"(functions include the comprehensions; Python {sys.version.split()[0]})")
    shared = owners()
    print(f"\ntop-level names with several owners: {len(shared)}")
    common = sorted(shared.items(), key=lambda item: -len(item[1]))[:10]
    print("  " + ", ".join(f"{name} ×{len(homes)}" for name, homes in common))
    packages = Counter[str]()
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).parts
        packages[parts[0] if len(parts) > 1 else "(top level)"] += code_lines(path)
    print(f"\nlines of Python code: {packages.total():,}")
    print("  " + ", ".join(f"{name} {lines:,}" for name, lines in packages.most_common()))
    scripts = SOURCE.rglob("*.js")
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in scripts)
    print(f"lines of JavaScript: {lines:,}")


if __name__ == "__main__":
    main()
