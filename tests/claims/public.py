"""Public names, found by walking the package, and sentences in its source that users can see."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import types
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import novikoff as nv
from novikoff.page.presets import presets
from tests.claims import no_claim

SOURCE = Path(nv.__file__).parent
# In these packages, which read files, a bound is the bound of a variable, and a line is text.
ABOUT_FILES = ("data/", "systems/files/")
# A sentence with one of these words may claim something.
WORDS = re.compile(
    r"\b(proved|guarantee\w*|at most|at least|no (linear )?(rule|hyperplane|line|run)|"
    r"every (hyperplane|line|rule)|no solution|no fewer|is better|by more|fewest|bounds?|"
    r"satisfies every row|margin of any rule|repeat every|cannot leave|larger margin|"
    r"(no|every|a) \{\} (separates|misclassifies))\b",
    re.IGNORECASE,
)

# A text of one or two words, such as "fewest mistakes", is not a sentence.
NAME = re.compile(r"\s*(?!.*proved)\w+([ .]\w+)?\s*|\W*bound.*=.*")


def is_exempt(name: str) -> bool:
    """Whether `no_claim` has a reason for this name."""
    return any(matches(name, pattern) for pattern in no_claim.NAMES)


def matches(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern, or is below a name that matches."""
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def claims_something(docstring: str | None) -> bool:
    """Whether a docstring has a word of a claim, apart from parameters and examples."""
    sections = r"\n(?:Parameters|Examples|See Also|References)\n-+\n"
    return bool(WORDS.search(re.split(sections, docstring or "")[0]))


@cache
def names() -> dict[str, Any]:
    """Every public name with its object, or None for a plain attribute.

    Functions and classes of `novikoff` and of its public modules, by the first of their names; the
    classes of what functions return and of what those have, unless that claims nothing; public
    attributes of results, those of estimators that end with an underscore, and methods.
    """
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", nv)]
    while waiting:
        prefix, home = waiting.pop(0)
        for name, value in _members(home):
            path = f"{prefix}{name}"
            if isinstance(value, types.ModuleType):
                found[path] = value
                waiting.append((f"{path}.", value))
            elif not any(value is other for other in found.values()):
                found[path] = value  # by the first of its names
    return {**found, **_attributes(found)}


def _members(home: Any) -> list[tuple[str, Any]]:
    listed = getattr(home, "__all__", None)
    if listed is not None:
        return [(name, getattr(home, name)) for name in listed]
    own = ((name, value) for name, value in vars(home).items() if not name.startswith("_"))
    return [
        (name, value) for name, value in own
        if getattr(value, "__module__", None) == home.__name__ and callable(value)
    ]  # fmt: skip


def _attributes(found: dict[str, Any]) -> dict[str, Any]:
    """The attributes of public classes, and of the classes of what functions return."""
    known = {value: name for name, value in found.items() if inspect.isclass(value)}
    waiting = list(known)
    for value in found.values():
        if inspect.isfunction(value):
            waiting += _returned(value)
    attributes: dict[str, Any] = {}
    while waiting:
        kind = waiting.pop(0)
        if kind in known and kind not in found.values():
            continue
        name = known.setdefault(kind, kind.__name__)
        if name not in found:
            attributes[name] = kind
        for attribute, classes in _fields(kind):
            path = f"{name}.{attribute}"
            if path not in attributes:
                attributes[path] = None
                waiting += [part for part in classes if part not in known and not is_exempt(path)]
        for attribute in vars(kind):
            value = getattr(kind, attribute, None)
            if not attribute.startswith("_") and inspect.isroutine(value):
                attributes[f"{name}.{attribute}"] = value
    return attributes


def _fields(kind: Any) -> Iterator[tuple[str, list[Any]]]:
    """Public attributes, with the classes that they may have: of estimators, those of a fit."""
    learner = hasattr(kind, "fit") and hasattr(kind, "get_params")
    plain = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
    declared: dict[str, list[Any]] = {}
    for parent in reversed(kind.__mro__):
        if not parent.__module__.startswith("novikoff"):
            continue
        scope = vars(sys.modules[parent.__module__])
        if plain or learner:
            annotated = inspect.get_annotations(parent)
            declared |= {name: _named(str(hint), scope) for name, hint in annotated.items()}
        for name, value in vars(parent).items():
            getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
            if getter is not None:
                declared[name] = _returned(getter)
    for name, classes in declared.items():
        if not name.startswith("_") and (name.endswith("_") or not learner):
            yield name, classes


def _returned(function: Any) -> list[Any]:
    return _named(str(function.__annotations__.get("return")), function.__globals__)


def _named(annotation: str, scope: dict[str, Any]) -> list[Any]:
    """The classes of the package with fields that an annotation names."""
    values = (scope.get(word) for word in re.findall(r"\w+", annotation))
    return [
        value for value in values
        if inspect.isclass(value) and value.__module__.startswith("novikoff")
        and (dataclasses.is_dataclass(value) or hasattr(value, "_fields"))
    ]  # fmt: skip


class Sentence(NamedTuple):
    """A text in the source, values left out as {}."""

    place: str
    text: str


@cache
def sentences() -> list[Sentence]:
    """Every text with a word of a claim that a user may read.

    Docstrings, the texts of errors about bad input, the help of options, and what is said about
    files are left out. The texts of the lab's JavaScript and the lessons of its presets count too.
    """
    return [
        sentence for sentence in (*_python_texts(), *_script_texts(), *_lessons())
        if WORDS.search(sentence.text) and not NAME.fullmatch(sentence.text)
    ]  # fmt: skip


def _python_texts() -> Iterator[Sentence]:
    for path in sorted(SOURCE.rglob("*.py")):
        if not str(path.relative_to(SOURCE)).startswith(ABOUT_FILES):
            yield from _texts(ast.parse(path.read_text(encoding="utf-8")), path)


def _script_texts() -> Iterator[Sentence]:
    for path in sorted(SOURCE.rglob("*.js")):
        for line, text in script_strings(path.read_text(encoding="utf-8")):
            yield Sentence(f"{path.relative_to(SOURCE)}:{line}", text)


def _lessons() -> Iterator[Sentence]:
    for name, preset in presets().items():
        yield Sentence(f"page/static/presets/menu.json: {name}", preset["lesson"])


# What a JavaScript text is made of, besides plain characters. A slash begins a regular expression
# where a value is expected: after an operator, a bracket that opens, or at the start of a line.
_SCRIPT = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<regex>(?<=[(,=:\[!&|?{};\n])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+/\w*)
    |(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<open>`)|(?P<brace>[{}])""",
    re.VERBOSE | re.DOTALL,
)


def script_strings(text: str) -> list[tuple[int, str]]:
    """The line and the text of every string of a JavaScript text, values left out as {}.

    Examples
    --------
    >>> script_strings('f("a", `b ${x ? `c ${y}` : "d"} e`); // "f"')
    [(1, 'a'), (1, 'c {}'), (1, 'd'), (1, 'b {} e')]
    """
    found: list[tuple[int, str]] = []
    _read_script(text, 0, found)
    return found


def _read_script(text: str, at: int, found: list[tuple[int, str]], inside: bool = False) -> int:
    """Collect strings up to the brace that ends the value of a template, or the end of the text."""
    depth = 0
    while token := _SCRIPT.search(text, at):
        at = token.end()
        if token["quoted"]:
            found.append((text.count("\n", 0, token.start()) + 1, token["quoted"][1:-1]))
        elif token["open"]:
            at = _read_template(text, at, found)
        elif token["brace"] == "{":
            depth += 1
        elif token["brace"] == "}":
            if inside and depth == 0:
                return at
            depth -= 1
    return len(text)


def _read_template(text: str, at: int, found: list[tuple[int, str]]) -> int:
    """Collect a template string whose first character is at ``at``, and the strings inside it."""
    first, parts = at, list[str]()
    while text[at] != "`":
        if text.startswith("${", at):
            at = _read_script(text, at + 2, found, inside=True)
            parts.append("{}")
        else:
            size = 2 if text[at] == "\\" else 1
            parts.append(text[at : at + size])
            at += size
    found.append((text.count("\n", 0, first) + 1, "".join(parts)))
    return at + 1


def _texts(tree: ast.AST, path: Path) -> Iterator[Sentence]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, ast.Raise) and "NotSeparableError" not in ast.dump(child):
            continue
        if isinstance(child, ast.keyword) and child.arg == "help":
            continue
        place = f"{path.relative_to(SOURCE)}:{getattr(child, 'lineno', 0)}"
        if isinstance(child, ast.JoinedStr):
            yield Sentence(place, "".join(map(_template, child.values)))
            for part in child.values:
                yield from _texts(part, path)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            if not isinstance(tree, ast.JoinedStr):
                yield Sentence(place, child.value)
        else:
            yield from _texts(child, path)


def _template(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "{}"
