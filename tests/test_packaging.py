"""The package's files agree: versions, extras, and what the sdist contains."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from hatch_build import packaged_readme

import novikoff as nv

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]


def test_the_citation_has_the_version_of_the_package() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, flags=re.MULTILINE)[1] == nv.__version__  # type: ignore[index]


def test_the_extra_all_has_every_other_extra() -> None:
    (everything,) = EXTRAS["all"]
    named = re.fullmatch(r"novikoff\[(.*)\]", everything)
    assert named is not None
    assert set(named[1].split(",")) == set(EXTRAS) - {"all"}


def test_no_tool_of_development_is_published() -> None:
    extras = [line for extra in EXTRAS.values() for line in extra]
    published = [*PROJECT["project"]["dependencies"], *extras]
    tools = ["pytest", "ruff", "mypy", "sphinx", "hypothesis", "river"]
    assert [name for name in tools if any(line.startswith(name) for line in published)] == []


@pytest.mark.parametrize("name", ["Makefile", "CONTRIBUTING.md", "CITATION.cff", "SECURITY.md"])
def test_a_file_that_the_sdist_must_have_is_there(name: str) -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert (ROOT / name).exists()
    assert name in included or (name.endswith(".md") and "/*.md" in included)


def test_the_readme_of_the_package_has_no_link_to_a_file_of_the_sources() -> None:
    """A package index shows this text beside the package, where such a link leads nowhere."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    packaged = packaged_readme(text)
    targets = re.compile(r"""\]\(([^)]*)\)|(?:src|srcset|href)="([^"]*)\"""")
    linked = {link or source for link, source in targets.findall(text)}
    assert len(linked) > 10
    assert all((ROOT / name).exists() for name in linked)
    assert targets.findall(packaged) == []
    assert [name for name in linked if name not in packaged and "dark" not in name] == []
    assert packaged.count("\n") == text.count("\n")


def test_the_readme_of_the_package_is_in_its_metadata() -> None:
    assert "readme" in PROJECT["project"]["dynamic"]
    assert "custom" in PROJECT["tool"]["hatch"]["metadata"]["hooks"]
    assert "hatch_build.py" in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


SCHEMAS = sorted((ROOT / "src").rglob("*.schema.json"))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_has_a_name_with_its_version(path: Path) -> None:
    """A URN, because no address has the schemas; docs/schemas.md lists it."""
    schema = json.loads(path.read_text("utf-8"))
    version = schema.get("properties", {}).get("schema_version", {"const": 1})["const"]
    name = f"urn:novikoff:schema:{path.name.removesuffix('.schema.json')}:{version}"
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == name
    page = (ROOT / "docs" / "schemas.md").read_text("utf-8")
    (line,) = (line for line in page.splitlines() if f"`{path.name} " in line)
    assert f"`{name}`" in line


def test_there_are_schemas() -> None:
    assert len(SCHEMAS) == 4


@pytest.mark.parametrize("folder", ["src", "tests", "docs", "benchmarks", "."])
def test_no_file_has_the_marks_of_a_conflict(folder: str) -> None:
    """Git accepts a merge whose conflicts were not resolved."""
    top = ROOT / folder
    files = top.glob("*.*") if folder == "." else top.rglob("*.*")
    texts = (".py", ".pyi", ".md", ".js", ".css", ".json", ".toml", ".cff", ".rst")
    read = [path for path in files if path.suffix in texts and "_build" not in path.parts]
    assert len(read) > 5
    marks = re.compile("^(?:<{7}|>{7}) ", re.MULTILINE)
    assert [path for path in read if marks.search(path.read_text("utf-8"))] == []
