"""The examples of README and docs run, and their links lead somewhere."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python blocks of a page, one after the other, in a folder of their own."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert [link for link in targets if not (page.parent / link).exists()] == []


def test_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150
