"""The map of CONTRIBUTING: one line for each module, which is the first line of its docstring.

``python -m tests.module_map`` writes the map again; `tests.test_lists` compares it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.test_layers import ALLOWED

ROOT = Path(__file__).parent.parent
SOURCE, CONTRIBUTING = ROOT / "src" / "novikoff", ROOT / "CONTRIBUTING.md"
_FIRST, _LAST = "```\nsrc/novikoff/\n", "```\n"
_WIDTH = 22


def module_map() -> str:
    """The lines of the map: the packages in the order of the imports, then single modules."""
    packages = [SOURCE / name for name in ALLOWED]
    assert {*packages} == {path.parent for path in SOURCE.glob("*/__init__.py")}
    lines = []
    for package in packages:
        lines += ["", f"  {package.name}/  {_first_line(package / '__init__.py')}"]
        modules = sorted(package.rglob("*.py"))
        for module in modules:
            if module.parent == package and module.name != "__init__.py":
                lines.append(_line(module.stem, module))
        for folder in sorted({module.parent for module in modules} - {package}):
            lines.append(_line(f"{folder.name}/", folder / "__init__.py"))
            for module in sorted(folder.glob("*.py")):
                if module.name != "__init__.py":
                    lines.append(_line(f"  {module.stem}", module))
    lines.append("")
    for module in sorted(SOURCE.glob("*.py")):
        if not module.name.startswith("__"):
            lines.append(f"  {module.name:{_WIDTH + 2}}{_first_line(module)}")
    return "\n".join(lines[1:]) + "\n"


def contributing() -> str:
    """The text of CONTRIBUTING with the map as it should be."""
    before, _, rest = CONTRIBUTING.read_text(encoding="utf-8").partition(_FIRST)
    _, _, after = rest.partition(_LAST)
    return f"{before}{_FIRST}{module_map()}{_LAST}{after}"


def _line(name: str, module: Path) -> str:
    return f"    {name:{_WIDTH}}{_first_line(module)}"


def _first_line(module: Path) -> str:
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    assert docstring, module
    return docstring.splitlines()[0].replace("``", "")


if __name__ == "__main__":
    CONTRIBUTING.write_text(contributing(), encoding="utf-8")
