"""The page of ``novikoff fit --format html`` is complete, safe and self-contained."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.conftest import Files, inside, script, write_csv

_VOID = {"meta", "link", "br", "img", "hr", "input"}
NAMES = ["line", "quasi", "duplicates", "iris", "nasty"]
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

# These names and labels would run as code or break a drawing if they were not treated as text.
NASTY = (
    '"<script>alert(1)</script>","a & b","say ""hi""","$\\frac{x","two\nlines",class\n'
    "0,0,0,0,0,<b>no</b>\n"
    "0,0,0,0,1,<img src=http://example.org/x onerror=alert(2)>\n"
    "0,0,0,1,0,<img src=http://example.org/x onerror=alert(2)>\n"
    "0,0,0,1,1,<b>no</b>\n"
    "1,1,1,2,2,<b>no</b>\n"
)


class Reader(HTMLParser):
    """Collects the elements of a page, whether they are closed, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
                self.links.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def pages(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The pages of files of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    nasty = folder / "nasty <i>&.csv"
    nasty.write_text(NASTY, encoding="utf-8")
    pages = {}
    for name in NAMES:
        path = nasty if name == "nasty" else getattr(files, name)
        run = script if name == "line" else inside
        words = ["--id", "id"] if name == "duplicates" else []
        done = run("fit", path, *words, "--format", "html", "--out", folder)
        assert done.code == 0
        pages[name] = folder / f"{name}.html"
        pages[name].write_text(done.out, encoding="utf-8")
    return pages


@pytest.mark.parametrize("name", NAMES)
def test_the_page_needs_nothing_else(name: str, pages: Mapping[str, Path]) -> None:
    page = pages[name].read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    reader = parsed(page)
    assert {"html", "head", "title", "body", "h1", "dl", "svg"} <= reader.tags
    assert not {"script", "iframe", "object", "embed", "img", "b", "i"} & reader.tags
    assert reader.handlers == []
    assert all(link.startswith(("#", "data:,")) for link in reader.links)
    styles = "".join(re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL))
    assert "@import" not in styles
    assert "//" not in re.sub(r"/\*.*?\*/", "", styles)
    assert not re.search(r"url\((?!['\"]?#)", page)
    if name == "nasty":  # names and labels are shown as they are
        for text in ("<img src=http://example.org/x onerror=alert(2)>", "<b>no</b>", "<i>&.csv"):
            assert text in reader.text


def test_the_page_says_what_the_text_says(pages: Mapping[str, Path]) -> None:
    texts = {name: parsed(page.read_text(encoding="utf-8")).text for name, page in pages.items()}
    assert "Proved: a hyperplane separates all 5 rows." in texts["line"]
    assert texts["line"].count("separable (complete separation)") == 1
    assert "n → +∞" in texts["quasi"]
    assert "1 group of identical rows with different labels" in texts["duplicates"]
    assert "rows 2 (r2), 5 (r5), 6 (r6)" in texts["duplicates"]
    assert "Each class against the rest" in texts["iris"]
    assert "versicolor" in texts["iris"]
    assert "novikoff verify" in texts["line"]


def test_the_lines_of_the_confusion_matrix_stay_together(pages: Mapping[str, Path]) -> None:
    """They scroll together; the line of each class wraps."""
    page = pages["iris"].read_text(encoding="utf-8")
    (confusion,) = re.findall('<dd class="table">(.*?)</dd>', page, re.DOTALL)
    assert len(confusion.splitlines()) == 4
    assert re.search(r"dd\.table { white-space: pre; overflow-x: auto;", page)
    lines = re.findall('<dd class="class">(.*?)</dd>', page)
    assert [line.split()[0] for line in lines[:3]] == ["setosa", "versicolor", "virginica"]
    assert lines[3:] == ["on the features as given, in the certificate"]


def test_a_picture_of_nasty_names(pages: Mapping[str, Path], tmp_path: Path) -> None:
    data, out = pages["nasty"].with_name("nasty <i>&.csv"), ("--out", tmp_path, "--force")
    plane = ("--plane", '<script>alert(1)</script>,"a & b"')
    assert inside("fit", data, "--plot", tmp_path / "rule.svg", *plane, *out).code == 0
    svg = (tmp_path / "rule.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg
    assert "a &amp; b" in svg
    words = ("--plot", tmp_path / "rule.png", "--plot-kind", "margins")
    assert inside("fit", data, *words, *out).code == 0
    assert (tmp_path / "rule.png").read_bytes().startswith(b"\x89PNG")


def visit(page: Path, folder: Path) -> tuple[str, list[str], list[str]]:
    """The document, requests and console messages of a headless browser without network."""
    assert _CHROMIUM is not None
    log = folder / "net.json"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
    flags += ["--disable-background-networking", "--disable-component-update"]
    flags += ["--disable-extensions", "--enable-logging=stderr", "--v=0"]
    flags += [f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    flags += [f"--log-net-log={log}", "--dump-dom", page.as_uri()]
    done = subprocess.run(  # noqa: S603
        [_CHROMIUM, *flags], capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0
    console = [line for line in done.stderr.decode().splitlines() if ":CONSOLE" in line]
    return done.stdout.decode(), _requests(json.loads(log.read_text())), console


def _requests(log: dict[str, object]) -> list[str]:
    """The addresses that the page asked for; the browser's own requests have no origin."""
    events = log["events"]
    assert isinstance(events, list)
    asked = [event.get("params", {}) for event in events]
    return [
        str(params["url"])
        for params in asked
        if "url" in params and params.get("initiator", "not an origin") != "not an origin"
    ]


needs_browser = pytest.mark.skipif(_CHROMIUM is None, reason="there is no Chromium here")


@needs_browser
@pytest.mark.parametrize("name", ["iris", "nasty"])
def test_a_browser_asks_for_nothing_and_has_no_complaint(
    name: str, pages: Mapping[str, Path], tmp_path: Path
) -> None:
    document, requests, console = visit(pages[name], tmp_path)
    assert "<svg" in document
    assert "<h1>" in document
    assert (requests, console) == ([], [])


@needs_browser
def test_the_browser_would_tell(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text(
        '<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body>'
        '<img src="http://example.org/i.png"><script>missing();</script></body></html>'
    )
    _, requests, console = visit(page, tmp_path)
    assert requests == ["http://example.org/i.png"]
    assert len(console) == 1


def test_a_picture_that_cannot_be_drawn_takes_nothing_with_it(tmp_path: Path) -> None:
    xor = write_csv(
        tmp_path / "xor.csv", ["a", "b", "y"], [[0, 0], [0, 1], [1, 0], [1, 1]], [*"nyyn"]
    )
    words = ("--plot", tmp_path / "proof.png", "--plot-kind", "proof")
    done = inside("fit", xor, "--out", tmp_path, *words)
    assert "needs separable data and a verdict. All other files are written." in done.err
    assert (done.code, done.line("verdict").split()[0]) == (2, "inseparable")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "xor.cert.json", "xor.csv", "xor.novikoff"
    ]  # fmt: skip
