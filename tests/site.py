"""Checks of the built site; ``python -m tests.site FOLDER`` prints what is wrong.

Every link leads to a page and a place that exist. In Chromium, where there is one: axe finds
nothing on the main pages, in light and dark; no page is wider than a phone; no code and no output
is cut off; the wheel scrolls the page of the proof, also over the lab; the lab beside it follows
the text; and the search lists the page about a word first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests import chromium

PAGES = (
    *(
        "index",
        "install",
        "tutorial",
        "howto",
        "perfect_separation",
        "howto_labels",
        "howto_models",
    ),
    "inequalities",
    *("files_and_streams", "proof", "verdicts", "certificates", "lab", "gallery/index"),
    *("gallery/verdicts/plot_boundary", "api", "generated/novikoff.separate"),
    *("generated/novikoff.Perceptron", "options", "glossary", "compare", "items"),
    *(
        "course",
        "notes",
        "exercises",
        "teaching",
        "gradient",
        "generalisation",
        "classes",
        "history",
        "theorems",
    ),
)
# What people search for, and the page, or one of the pages, that should come first.
SEARCHES = {
    "margin": "verdicts",
    "separation": "perfect_separation",
    "perfect separation": "perfect_separation",
    "infeasible": "inequalities howto_models",
    "IIS": "inequalities",
    "perceptron": "learning",
    "convergence": "proof",
    "mistakes": "howto_mistakes",
    "certificate": "certificates",
    "stream": "files_and_streams",
    "dask": "cluster",
    "exercises": "exercises",
    "glossary": "glossary",
    "relax": "howto_models",
    "suspect labels": "howto_labels",
    "gradient descent": "gradient",
    "history": "history",
}
_WIDER = "document.documentElement.scrollWidth > window.innerWidth + 1"
_CUT = """[...document.querySelectorAll(
    ".cell_input pre, .cell_output pre, .highlight-none pre, .highlight-console pre, " +
    ".highlight-Python pre, .highlight-shell pre, .highlight-html pre, .sphx-glr-script-out pre"
)].filter((pre) => pre.scrollWidth > pre.clientWidth + 2)
  .map((pre) => pre.innerText.slice(0, 60))"""


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given[name] for name in ("href", "src") if name in given]


@cache
def _read(path: Path) -> _Page:
    return _Page(path.read_text("utf-8"))


def dead_links(folder: Path) -> Iterator[str]:
    """The links of every page to pages, files or places that do not exist."""
    for path in sorted(folder.rglob("*.html")):
        if {"_static", "lab"} & set(path.relative_to(folder).parts[:-1]):
            continue
        for link in _read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            place = unquote(parts.fragment)
            # What stands behind the # of a link into the lab is a question, not a place.
            named = bool(place) and target.suffix == ".html" and target.parent.name != "lab"
            lost = not target.exists() or (named and place not in _read(target).places)
            if lost:
                yield f"{path.relative_to(folder)}: {link} leads nowhere"


def looked_at(folder: Path, browser: Any) -> Iterator[str]:
    """What is wrong with the main pages in a browser."""
    from axe_playwright_python.sync_playwright import Axe

    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
        )
        page = context.new_page()
        for name in PAGES:
            page.goto((folder / f"{name}.html").resolve().as_uri())
            page.evaluate("window.MathJax?.startup?.promise")
            page.evaluate(
                "document.querySelectorAll('details').forEach((part) => part.open = true)"
            )
            if page.evaluate(_WIDER):
                yield f"{name} is wider than {width} pixels"
            yield from (f"{name}, {width} pixels: cut off: {text}" for text in page.evaluate(_CUT))
            if width > 390:
                for found in Axe().run(page).response["violations"]:
                    yield f"{name}, {scheme}: {found['help']}: {found['nodes'][0]['html'][:100]}"
        context.close()


def scrolls_over_the_lab(folder: Path, browser: Any) -> bool:
    """Whether the wheel scrolls the page of the proof while the pointer is over the lab."""
    from playwright.sync_api import TimeoutError as Late

    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((folder / "proof.html").resolve().as_uri())
    page.frame_locator("iframe.lab").locator(".leaf-chart path").first.wait_for(state="attached")
    box = page.locator("iframe.lab").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, 500)
    try:
        page.wait_for_function("window.scrollY > 100", timeout=10_000)
    except Late:
        return False
    finally:
        page.close()
    return True


def follows_the_text(folder: Path, browser: Any) -> bool:
    """Whether the lab beside the proof shows the step that is read."""
    from playwright.sync_api import TimeoutError as Late

    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto((folder / "proof.html").resolve().as_uri())
    frame = page.frame_locator("iframe.lab")
    try:
        for panel, t, points in (("inner", 10, 100), ("step", 2, 100), ("leaf", 3, 3)):
            mark = page.locator(f"[data-lab-panel={panel}][data-lab-t='{t}']").first
            mark.scroll_into_view_if_needed()
            mark.evaluate("(node) => node.scrollIntoView({ block: 'start' })")
            frame.locator(f".fold.part[data-panel={panel}]").wait_for(timeout=10_000)
            frame.locator(f".where >> text=t = {t} of").wait_for(timeout=10_000)
            if frame.locator(".dot").count() != points:
                return False
    except Late:
        return False
    finally:
        page.close()
    return True


def first_found(folder: Path, browser: Any, words: str) -> str:
    """The first page that the search lists."""
    page = browser.new_page()
    page.goto(f"{(folder / 'search.html').resolve().as_uri()}?q={words}")
    page.wait_for_selector("#search-results ul.search li a")
    link = page.locator("#search-results ul.search li a").first.get_attribute("href")
    page.close()
    return str(link).split("#")[0].split("?")[0].removesuffix(".html")


def wrong(folder: Path) -> Iterator[str]:
    """Everything that is wrong with a site."""
    yield from dead_links(folder)
    if chromium.PATH is None:
        print("There is no chromium: the links were followed, no page was opened.")
        return
    browser = chromium.browser()
    yield from looked_at(folder, browser)
    if not scrolls_over_the_lab(folder, browser):
        yield "the wheel over the lab does not scroll the page of the proof"
    if not follows_the_text(folder, browser):
        yield "the lab beside the proof does not follow the text"
    for words, wanted in SEARCHES.items():
        found = first_found(folder, browser, words)
        if found not in wanted.split():
            yield f'the search for "{words}" lists {found} first, not {wanted.replace(" ", " or ")}'


if __name__ == "__main__":
    site = Path(sys.argv[1])
    if not (site / "index.html").exists():
        sys.exit(f"{site} has no index.html: make docs builds it.")
    lines = list(wrong(site))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
