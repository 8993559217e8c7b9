"""Pages must not ask the network: ``python -m tests.outside FOLDER`` names those that would.

The text of every page is searched for scripts, styles, pictures, frames and fonts of another host;
links in prose may lead anywhere. Then each page is opened in Chromium, where there is one, and its
requests are listed.
"""

from __future__ import annotations

import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

_HOST = re.compile(r"^\s*(?:https?:|wss?:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(
    r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)", re.IGNORECASE
)
_LOADED = {"src", "srcset", "poster", "data"}
_HARMLESS = {"canonical", "next", "prev", "index", "search", "author", "license"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.in_style = tag == "style"
        loaded = [given[name] for name in _LOADED & given.keys()]
        if tag == "link" and not set(given.get("rel", "").lower().split()) & _HARMLESS:
            loaded.append(given.get("href", ""))
        self.asked += [text for text in loaded if _HOST.match(text)]
        self.asked += _IN_STYLE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.asked += _IN_STYLE.findall(data)


def asked_by(text: str) -> list[str]:
    """The addresses of other hosts that a page loads."""
    page = _Page()
    page.feed(text)
    return page.asked


def outside(folder: Path) -> dict[str, list[str]]:
    """The pages and styles of a site that ask another host, and what they ask for."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".css"):
            text = path.read_text("utf-8")
            asked = asked_by(text) if path.suffix == ".html" else _IN_STYLE.findall(text)
            if asked:
                found[str(path.relative_to(folder))] = asked
    return found


def requested(folder: Path, chromium: str) -> dict[str, list[str]]:
    """The pages that ask for anything but a file when they are opened, and what they ask for."""
    from playwright.sync_api import Page, Route, sync_playwright

    found: dict[str, list[str]] = {}

    def visit(page: Page, path: Path) -> None:
        asked: list[str] = []

        def pass_files_only(route: Route) -> None:
            if route.request.url.startswith(("file:", "data:", "blob:")):
                route.continue_()
            else:
                asked.append(route.request.url)
                route.abort()

        page.route("**/*", pass_files_only)
        page.goto(path.resolve().as_uri(), wait_until="load")
        page.evaluate("window.MathJax?.startup?.promise")
        page.unroute("**/*")
        if asked:
            found[str(path.relative_to(folder))] = asked

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        for path in sorted(folder.rglob("*.html")):
            if "_static" not in path.parts:
                visit(page, path)
        browser.close()
    return found


if __name__ == "__main__":
    site = Path(sys.argv[1])
    if not (site / "index.html").exists():
        sys.exit(f"{site} has no index.html: make docs builds it.")
    bad = outside(site)
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser:
        bad |= requested(site, browser)
    else:
        print("There is no chromium: the pages were read, not opened.")
    for name, asked in bad.items():
        print(f"{name} loads {', '.join(asked)}")
    sys.exit(1 if bad else 0)
