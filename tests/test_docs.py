"""The examples of README, docs and gallery run, and their links lead somewhere. No Sphinx here."""

from __future__ import annotations

import contextlib
import json
import re
import runpy
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from benchmarks import labels
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.page.answers import run_answer
from novikoff.page.question import Question
from tests.cases import case_named
from tests.outside import asked_by, outside

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "docs" / "examples").rglob("plot_*.py"))


def script(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


outputs = script("outputs")
PAGES: list[Path] = outputs.PAGES


def run_page(page: Path) -> Any:
    """Run a page in the current folder; its outputs, names and stated values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return outputs.run(page, Path.cwd())


@pytest.fixture(autouse=True)
def _a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_and_print_what_the_page_says(page: Path) -> None:
    """After a change of an output, `make outputs` writes the pages anew."""
    done = run_page(page)
    assert done.wrong == []
    said, now = (outputs.masked(text).splitlines() for text in (page.read_text("utf-8"), done.text))
    assert said == now


WRONG = [
    ("README.md", "at most 221 mistakes", "at most 220 mistakes"),
    ("README.md", "row 2 and row 3", "row 2 and row 4"),
    ("README.md", "1 1 True", "1 0 True"),
    ("learning.md", "permuted            17", "permuted            16"),
    ("verdicts.md", "b inseparable", "b separable"),
    ("inequalities.md", "# Fraction(-1, 1): 0", "# Fraction(-1, 2): 0"),
]


@pytest.fixture(scope="module")
def pages_with_wrong_numbers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """What a page prints, and which of its values are wrong, if all numbers of WRONG are on it."""

    @cache
    def done(name: str) -> Any:
        folder = tmp_path_factory.mktemp("wrong")
        (page,) = (page for page in PAGES if page.name == name)
        text = page.read_text("utf-8")
        for _, right, wrong in (case for case in WRONG if case[0] == name):
            assert right in text
            text = text.replace(right, wrong)
        (folder / name).write_text(text, encoding="utf-8")
        with contextlib.chdir(folder):
            return run_page(folder / name)

    return done


@pytest.mark.parametrize(("name", "right", "wrong"), WRONG)
def test_a_wrong_number_on_a_page_is_seen(
    name: str, right: str, wrong: str, pages_with_wrong_numbers: Callable[[str], Any]
) -> None:
    done = pages_with_wrong_numbers(name)
    is_mended = wrong not in done.text and right in done.text
    assert is_mended or any(wrong.removeprefix("# ") in line for line in done.wrong)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("in [0.46812034666416, 1]", "in [0.46812034666411, 1]", True),
        ("in [0.46812034666416, 1]", "in [0.46812134666416, 1]", False),
        ("(proved to 4e-14)", "(proved to 1.2e-13)", True),
        ("(proved to 4e-14)", "(proved to 4e-05)", False),
        ("0.749", "0.748", False),
    ],
)
def test_only_rounding_errors_are_ignored(one: str, other: str, equal: bool) -> None:
    assert (outputs.masked(one) == outputs.masked(other)) == equal


def numbers_of_iris() -> tuple[int, int]:
    """Mistakes and bound of the run on the first pages."""
    iris = load_iris()
    rows = iris.target < 2
    X, y = iris.data[rows][:, [0, 2]], iris.target[rows]
    made = nv.Perceptron(order="cyclic").fit(X, y).n_mistakes_
    bound = nv.separate(X, y).mistake_bound
    assert bound is not None
    return made, bound


def numbers_of_wine() -> tuple[int, int]:
    """The bound on the features of wine as given, and on standardised ones."""
    X, y = load_wine(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    given, standard = (nv.separate(rows, y == 0).mistake_bound for rows in (X, Z))
    assert given is not None
    assert standard is not None
    return given, standard


def millions_of_wine() -> tuple[int, int]:
    """The same two bounds, the small one first, the large one in millions."""
    given, standard = numbers_of_wine()
    return standard, given // 1_000_000


WORDS = {10: "ten"}
PROSE: list[tuple[str, str, Callable[[], tuple[int, ...]]]] = [
    ("README.md", "of iris: {} mistakes, where the theorem allows {}.", numbers_of_iris),
    ("lab.md", "flowers of two species, {} mistakes, then none.", numbers_of_iris),
    ("explanation.md", "Why R²/γ² is {} or {} million", millions_of_wine),
    ("learning.md", "above it is {}. On\n  the standardised features it is {},", numbers_of_wine),
]


@pytest.mark.parametrize(("name", "sentence", "numbers"), PROSE, ids=lambda part: str(part)[:20])
def test_numbers_in_prose(name: str, sentence: str, numbers: Callable[[], tuple[int, ...]]) -> None:
    (page,) = (page for page in PAGES if page.name == name)
    told = sentence.format(*(WORDS.get(number, f"{number:,}") for number in numbers()))
    assert told in re.sub(r"\n(?=species)", " ", page.read_text("utf-8"))


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_the_picture_is_of_now(tmp_path: Path) -> None:
    """`make pictures` draws it anew. Its numbers are the README's."""
    pytest.importorskip("matplotlib")
    figure = script("pictures").proof()
    nv.plots.save_figure(figure, tmp_path / "proof.svg")
    kept, now = (texts(path.read_text("utf-8")) for path in (
        ROOT / "docs" / "proof.svg", tmp_path / "proof.svg"
    ))  # fmt: skip
    assert kept == now
    assert kept[-1].endswith(f"so t ≤ ⌊R²/γ²⌋ = {numbers_of_iris()[1]}")


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


def test_the_steps_of_methods_are_those_of_now() -> None:
    """The first column of the table; `make pictures` writes all six, which takes minutes."""
    page = script("systems_methods")
    lines = page.PAGE.read_text("utf-8").splitlines()
    told = {line.split(" | ")[0]: line.split(" | ")[1] for line in lines if line.startswith("| `")}
    _, A, c = next(page.systems())
    for label, method in page.contestants():
        if method != "auto":  # which has no steps
            now = page.cell(A, c, page.bounded(method))
            assert now.partition(" · ")[0] == told[f"| {label}"].partition(" · ")[0], label


def test_the_mistakes_of_the_family_are_those_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our learners on the digits; `python docs/family.py` writes all, which takes minutes."""
    pytest.importorskip("river", reason="docs/family.py compares with river")
    family: Any = script("family")
    ours = {name: run for name, run in vars(family)["LEARNERS"].items() if name[0] == "`"}
    monkeypatch.setattr(family, "LEARNERS", ours)
    now = family.table(dict(family.digits()), summed=True).splitlines()
    text = family.PAGE.read_text("utf-8").split("<!-- digits -->")[1]
    assert [line for line in now if line not in text] == []
    assert len(now) > 6


@pytest.mark.parametrize("name", ["breast cancer, 4 columns", "digits 0 and 1, 64 columns"])
def test_the_shares_of_wrong_labels_found_are_those_of_now(name: str) -> None:
    """Two ways on two lines of the table; `python -m benchmarks.labels` prints all of it."""
    (data,) = ((X, y) for problem, X, y in labels.problems() if problem == name)
    page = (ROOT / "docs" / "howto_labels.md").read_text("utf-8")
    (told,) = (line for line in page.splitlines() if line.startswith(f"| {name}"))
    cells = [cell.strip() for cell in told.split("|")]
    for cell, way in ((3, labels.by_novikoff), (4, labels.by_distance)):
        now = (labels.share_found(*data, share, way) for share in labels.SHARES)
        assert cells[cell] == " / ".join(f"{share:.2f}" for share in now)


def test_the_notes_have_every_number_and_a_line_of_code_for_each() -> None:
    """The notes of Waterloo number their items from 1.1 to 1.43."""
    (page,) = (page for page in PAGES if page.name == "notes.md")
    text = page.read_text("utf-8")
    section = text.split("\n## Waterloo")[1].split("\n## ")[0]
    heads = " ".join(re.findall(r"^\| ([^|]*) \|", section, re.MULTILINE))
    assert [k for k in range(1, 44) if not re.search(rf"\b1\.{k}\b", heads)] == []
    tables = [table for table in outputs.tables(text) if outputs.table_lines(table)]
    rows = [row for table in tables for row in table.splitlines()[2:]]
    assert len(tables) == 6
    assert [row for row in rows if not re.search(r"\| `[^`]+` \|$", row)] == []


def lab_links() -> list[tuple[str, str]]:
    """The pages that link to the lab, and what stands behind the # of each link."""
    texts = ((page.name, page.read_text("utf-8")) for page in PAGES)
    return [(name, link) for name, text in texts for link in re.findall(r"lab\.md#(p=[^)]*)", text)]


def test_links_into_the_lab_are_questions_that_it_answers() -> None:
    """The format is that of `toLink` in the page's link.js."""
    links = lab_links()
    assert len(links) > 10
    for name, link in links:
        given = dict(parse_qsl(link))
        points = [[*map(float, point.split(","))] for point in given.pop("p").split(";")]
        assert given.pop("at").isdigit(), (name, link)
        rest = {key: json.loads(value) for key, value in given.items()}
        asked = {"points": [[a, b, int(label)] for a, b, label in points], **rest}
        answer = run_answer(Question.from_json(asked))
        assert answer["run"], (name, link)


def test_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_code_is_wider_than_a_screen(page: Path) -> None:
    """Of what a person types; a report may be wider."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    code = [line for block in blocks for line in block.splitlines()]
    if page.name == "README.md":  # elsewhere the site wraps commands
        code += re.findall(r"^\$ .*$", text, re.MULTILINE)
    assert [line for line in code if len(line) > 88] == []


def test_the_figures_of_speed_are_the_recorded_ones() -> None:
    """`python docs/speed.py` writes them after `make bench RECORD=1`."""
    speed = script("speed")
    found = speed.record.read()
    for path, now in ((speed.PAGE, speed.page), (speed.README, speed.readme)):
        with case_named(path):
            text = path.read_text("utf-8")
            assert now(text, found) == text


@pytest.mark.parametrize("name", ["verdicts", "dense", "first-fit"])
def test_another_figure_of_speed_is_seen(name: str) -> None:
    speed = script("speed")
    found = speed.record.read()
    figures = tuple(replace(row, median=2 * row.median, seconds=7.0) for row in found[name].figures)
    found[name] = replace(found[name], figures=figures)
    for path, now in ((speed.PAGE, speed.page), (speed.README, speed.readme)):
        with case_named(path):
            text = path.read_text("utf-8")
            assert now(text, found) != text


def test_the_independent_checker_of_the_docs_agrees_with_ours() -> None:
    """The checker that a page shows, on small problems of every kind."""
    check, rng, kinds = (
        run_page(ROOT / "docs" / "certificates.md").names["check"],
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
    rows = re.findall(r"^\| <a id=\"\w+\"></a>[A-H]\d+ \|.*\| (.*) \|$", text, re.MULTILINE)
    assert len(rows) > 25
    for cell in rows:
        tests = re.findall(r"`([\w/]+)`", cell)
        assert tests
        assert [name for name in tests if not (ROOT / "tests" / f"{name}.py").exists()] == []


# "Soheili 2016", "Dunagan and Vempala 2008", "Novikoff, 1962", "Crammer et al. (2006)".
_CITATION = re.compile(
    r"([A-ZÀ-Ž][\w-]+)(?:(?:,| and|,? &) [A-ZÀ-Ž][\w-]+)*(?: et al\.)?,? \(?((?:18|19|20)\d\d)\b"
)


def citations() -> list[tuple[str, str]]:
    """First author and year of every citation in the sources and on the pages."""
    sources = [*(ROOT / "src").rglob("*.py"), *PAGES]
    texts = (path.read_text("utf-8") for path in sources if path.name != "bibliography.md")
    return sorted({(found[1], found[2]) for text in texts for found in _CITATION.finditer(text)})


@pytest.mark.parametrize(("author", "year"), citations())
def test_a_work_that_is_cited_is_in_the_bibliography(author: str, year: str) -> None:
    works = (ROOT / "docs" / "bibliography.md").read_text("utf-8").split("\n\n")
    assert any(author in work and f"({year})" in work for work in works)


def test_every_public_name_has_a_page() -> None:
    listed = set(
        re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)
    )
    modules = {"bounds", "cluster", "data", "errors", "neurons", "orders", "plots", "theory"}
    public = set(nv.__all__) - modules
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
    sections = ("index.md", "howto.md", "explanation.md", "course.md", "reference.md")
    texts = [(ROOT / "docs" / name).read_text("utf-8") for name in sections]
    return "\n".join(text[text.index("```{toctree}") :] for text in texts)


HARMLESS = '<a href="https://example.org">x</a><link rel="canonical" href="https://example.org">'


@pytest.mark.parametrize(
    "bad",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<iframe src="HTTPS://example.org"></iframe>',
        "<style>@import 'https://example.org/a.css';</style>",
        '<p style="background: url(https://example.org/a.png)">',
    ],
)
def test_what_a_page_asks_of_others_is_seen(bad: str) -> None:
    assert len(asked_by(HARMLESS + bad)) == 1


def test_links_and_own_files_are_harmless_and_style_sheets_are_read(tmp_path: Path) -> None:
    assert asked_by(f'{HARMLESS}<script src="_static/a.js"></script>') == []
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/a.woff') }")
    assert list(outside(tmp_path)) == ["a.css"]


def test_a_wrong_line_of_code_in_a_table_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    table = (
        "| notes | a line of code |\n|---|---|\n| true | `1 + 1 == 2` |\n| not | `1 + 1 == 3` |\n"
    )
    page.write_text(table, encoding="utf-8")
    assert run_page(page).wrong == ["page.md: 1 + 1 == 3: false"]
    page.write_text(table.replace("1 + 1 == 3", "nv.nothing"), encoding="utf-8")
    with pytest.raises(NameError):
        run_page(page)
