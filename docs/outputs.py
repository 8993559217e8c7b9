"""Write the outputs that README and docs show: ``make outputs``.

Three kinds of text are results. The tests compare all of them with a fresh run:

- A console block in which a command is followed by lines is a session. The lines below
  ``$ cat FILE`` are written to the file, and the lines below ``$ novikoff …`` are its output. Other
  console blocks only show how a command is called, and are not run.
- A block without a language just below a Python block is the output of the Python block.
- A comment after an expression may begin with the value of the expression:
  ``v.kind  # "separable"``, or with several values, ``a, b  # 1, 2``. Words may follow after a
  comma, a colon or a semicolon.

Tables whose last column is called "a line of code" are run too, line by line, with the variables of
the blocks above them. A line that is true or false must be true.

Sessions run in a folder with the files of ``novikoff.demo``. Comparisons ignore timings and
rounding errors.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_TIME = re.compile(r"(?<![\w.])[\d.,]+ (?:ms|s|min)\b")
_LONG = re.compile(r"(?<![\w.])\d+\.\d{12,}(?![\w.])")
_ROUNDING_ERROR = re.compile(r"(?<![\w.])\d(?:\.\d+)?e-(?:09|[1-9]\d)\b")
_NAMES = {"Fraction": Fraction}  # the names that a stated value may use


class Page(NamedTuple):
    """The results of running a page."""

    text: str  # the text of the page with the current outputs
    names: dict[str, Any]  # the variables that its Python blocks defined
    stated: int  # the number of values in comments that were compared
    wrong: list[str]  # the stated values that differ from the computed ones


def run(page: Path, folder: Path) -> Page:
    """Run the Python blocks and the sessions of a page in a folder, the current directory."""
    text, names, stated, wrong = page.read_text("utf-8"), dict[str, Any](), 0, list[str]()
    parts, end, printed = list[str](), 0, None
    for found in _BLOCK.finditer(text):
        between, (language, block) = text[end : found.start()], found.groups()
        end, new = found.end(), block
        for line, holds in _run_tables(between, names):
            stated += 1
            wrong += [] if holds else [f"{page.name}: {line}: false"]
        if language == "" and printed is not None and not between.strip():
            new = _kept(block, printed)
        printed = None
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                for line, value, comment in _statements(block, page.name, names):
                    for said, is_so in _claims(value, comment):
                        stated += 1
                        wrong += [] if is_so else [f"{page.name}: {line}: {said}"]
            printed = out.getvalue()
        elif language == "console":
            new = _session(block, folder)
        parts += [between, f"```{language}\n{new}```"]
    for line, holds in _run_tables(text[end:], names):
        stated += 1
        wrong += [] if holds else [f"{page.name}: {line}: false"]
    return Page("".join([*parts, text[end:]]), names, stated, wrong)


def table_lines(table: str) -> list[str]:
    """The code of a table whose last column is called "a line of code"."""
    head, *rows = table.splitlines()
    if not re.search(r"\| a line of code \|$", head):
        return []
    cells = (row.rstrip(" |").rpartition(" | ")[2] for row in rows)
    return [line for cell in cells for line in re.findall(r"`([^`]+)`", cell)]


def tables(text: str) -> list[str]:
    """The tables of a text."""
    return _TABLE.findall(text)


def _run_tables(text: str, names: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Run the lines of the tables in a text; yield each, and whether it is not false."""
    for table in tables(text):
        for line in table_lines(table):
            value = eval(compile(line, line, "eval"), names)  # noqa: S307
            yield line, not (isinstance(value, bool | np.bool_) and not value)


def masked(text: str) -> str:
    """The text without its timings and rounding errors.

    The last digits depend on the processor, because linear algebra libraries sum in different
    orders. Therefore numbers with twelve or more decimal places are rounded to ten significant
    digits, and numbers below 1e-8 count as equal.
    """
    text = _LONG.sub(lambda number: f"{float(number[0]):.10g}", _TIME.sub("… s", text))
    return _ROUNDING_ERROR.sub("…e-…", text)


def _kept(old: str, new: str) -> str:
    """The new output, unless it differs from the old one only in timings or rounding errors."""
    return old if masked(old) == masked(new) else new


def _statements(block: str, name: str, names: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Run a block; yield the line, values and comment of each expression with a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(block).readline)
    comments = {
        token.start[0]: token.string[1:].strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }
    for node in ast.parse(block).body:
        if not isinstance(node, ast.Expr):
            exec(compile(ast.Module([node], []), name, "exec"), names)  # noqa: S102
            continue
        value = eval(compile(ast.Expression(node.value), name, "eval"), names)  # noqa: S307
        if node.end_lineno in comments:
            shown = value if isinstance(node.value, ast.Tuple) else (value,)
            yield block.splitlines()[node.end_lineno - 1], shown, comments[node.end_lineno]


def _claims(values: tuple[Any, ...], comment: str) -> Iterator[tuple[str, bool]]:
    """Yield each value that a comment states, and whether it equals the computed value."""
    for value in values:
        said = next((text for text in _prefixes(comment) if _literal(text) is not None), None)
        if said is not None:
            (stated,) = _literal(said) or ()
            yield said, _plain(value) == stated
        comment = comment[len(said) :].lstrip(", ") if said else comment.partition(", ")[2]


def _prefixes(comment: str) -> Iterator[str]:
    """The comment, then the text before each comma, colon or semicolon, the longest first."""
    ends = [found.start() for found in re.finditer(r"[,:;](?= |$)", comment)]
    return (comment[:end] for end in [len(comment), *reversed(ends)])


def _literal(text: str) -> tuple[Any] | None:
    """The value of a Python literal, in a tuple of length 1; None if the text is not a literal."""
    if not re.match(r"[-+\d\"'\[({]|(?:True|False|None)$|Fraction\(", text):
        return None
    try:
        tree = ast.parse(text, mode="eval")
        if isinstance(tree.body, ast.Tuple) and not text.startswith("("):
            return None  # several values
        return (eval(compile(tree, "comment", "eval"), {"__builtins__": {}}, _NAMES),)  # noqa: S307
    except (SyntaxError, NameError, TypeError):
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else value


def _session(block: str, folder: Path) -> str:
    """A session with its current outputs; a block of commands without outputs is unchanged."""
    steps = re.findall(r"^(\$ .*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    if "".join(command + output for command, output in steps) != block:
        raise ValueError(f"A console block begins with a command: {block[:60]}")
    if not any(output for _, output in steps):
        return block
    return "".join(command + _output(command, output, folder) for command, output in steps)


def _output(command: str, old: str, folder: Path) -> str:
    program, *words = shlex.split(command.removeprefix("$ "), comments=True)
    if program == "cat":
        (folder / words[0]).write_text(old, encoding="utf-8")
        return old
    if program != "novikoff":
        raise ValueError(f"A session has cat and novikoff, not {program}.")
    if "demo" in command and not (folder / "demo").is_dir():
        from novikoff.demo import write_data

        (folder / "demo").mkdir()
        write_data(folder / "demo")
    piped = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command_line = [sys.executable, "-m", "novikoff", *words]
    done = subprocess.run(command_line, cwd=folder, env=piped, check=False, capture_output=True)  # noqa: S603
    return _kept(old, done.stdout.decode("utf-8"))


def main() -> None:
    """Rewrite the outputs of all pages, and name the stated values that are wrong."""
    os.environ["MPLBACKEND"] = "Agg"
    warnings.simplefilter("ignore")
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = run(page, Path(folder))
        if done.text != page.read_text("utf-8"):
            page.write_text(done.text, encoding="utf-8")
            print(f"{page.name}: rewritten")
        for line in done.wrong:
            print(f"{line}: this value is wrong; change it by hand")


if __name__ == "__main__":
    main()
