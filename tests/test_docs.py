"""The examples of README, docs and gallery run, and their links lead somewhere. No Sphinx here."""

from __future__ import annotations

import re
import runpy
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from tests.outside import asked_by, outside

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SCRIPTS = sorted((ROOT / "docs" / "examples").glob("plot_*.py"))


def run_page(page: Path) -> dict[str, Any]:
    """Run all Python blocks of a page, one after the other; the names they leave."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)  # noqa: S102
    return names


@pytest.fixture(autouse=True)
def _a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path) -> None:
    run_page(page)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_the_gallery_runs(script: Path) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    runpy.run_path(str(script))
    assert plt.get_fignums()
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert [link for link in targets if not (page.parent / link).exists()] == []


def test_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_the_checker_of_a_stranger_agrees_with_ours() -> None:
    """The checker that a page shows, on small problems of every kind."""
    check, rng, kinds = (
        run_page(ROOT / "docs" / "certificates.md")["check"],
        np.random.default_rng(0),
        set(),
    )
    for turn in range(60):
        X = rng.integers(-2, 3, (rng.integers(3, 9), rng.integers(1, 4))).astype(np.float64)
        X += rng.normal(size=X.shape).round(2) if turn % 4 == 0 else 0.0
        X *= rng.random(X.shape) < (0.4 if turn % 5 == 0 else 1.0)
        y = np.append([0, 1], rng.integers(0, 2, len(X) - 2))
        proof = nv.separate(X, y, fit_intercept=turn % 3 > 0).certificate
        assert proof is not None
        proof.verify(X, y)
        check(proof.to_json(), X.tolist(), y.tolist())
        other = y.copy()
        other[2] = 1 - other[2]
        with pytest.raises(ValueError, match=r"other data"):
            check(proof.to_json(), X.tolist(), other.tolist())
        kinds.add(proof.kind)
    assert kinds == {"separable", "quasi-separable", "inseparable"}


def test_items_name_tests_that_exist() -> None:
    text = (ROOT / "docs" / "items.md").read_text("utf-8")
    rows = re.findall(r"^\| [A-F]\d+ \|.*\| (.*) \|$", text, re.MULTILINE)
    assert len(rows) > 25
    for cell in rows:
        tests = re.findall(r"`([\w/]+)`", cell)
        assert tests
        assert [name for name in tests if not (ROOT / "tests" / f"{name}.py").exists()] == []


def test_every_public_name_has_a_page() -> None:
    listed = set(
        re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)
    )
    rooms = {"bounds", "cluster", "data", "neurons", "orders", "plots", "theory"}
    public = set(nv.__all__) - rooms
    public |= {
        *import_module("novikoff.cluster").__all__,
        *import_module("novikoff.data").__all__,
        *import_module("novikoff.report.plots").__all__,
        *import_module("novikoff.neurons").__all__,
        *import_module("novikoff.theory").__all__,
    }
    assert public - listed == set()


def test_the_build_is_strict() -> None:
    """The build itself is `make docs`; here, that it would fail."""
    conf, make = (ROOT / name for name in ("docs/conf.py", "Makefile"))
    for setting in ("nb_execution_raise_on_error = True", '"abort_on_example_error": True'):
        assert setting in conf.read_text("utf-8")
    assert "sphinx-build -W" in make.read_text("utf-8")
    listed = re.findall(r"^(?:.* <)?([\w/]+)>?$", _toctrees(), re.MULTILINE)
    pages = {page.stem for page in PAGES[1:]} - {"index"}
    assert pages - set(listed) == set()


def _toctrees() -> str:
    texts = [(ROOT / "docs" / name).read_text("utf-8") for name in ("index.md", "howto.md")]
    return "\n".join(text[text.index("```{toctree}") :] for text in texts)


def test_what_a_page_asks_of_others_is_seen(tmp_path: Path) -> None:
    harmless = (
        '<a href="https://example.org">x</a><link rel="canonical" href="https://example.org">'
    )
    assert asked_by(f'{harmless}<script src="_static/a.js"></script>') == []
    for bad in (
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<iframe src="HTTPS://example.org"></iframe>',
        "<style>@import 'https://example.org/a.css';</style>",
        '<p style="background: url(https://example.org/a.png)">',
    ):
        assert len(asked_by(harmless + bad)) == 1, bad
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/a.woff') }")
    assert list(outside(tmp_path)) == ["a.css"]
