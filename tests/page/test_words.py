"""The texts of the page stand in one module, words.js, so that the page can be translated."""

from __future__ import annotations

import re

import pytest

from novikoff.page.presets import STATIC
from tests.claims.public import script_strings

MODULES = sorted(path.name for path in STATIC.glob("*.js"))
# A text for people has two words, or a word that begins with a capital letter.
WORDED = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|^[A-Z][a-z]+\b")
# Texts for the browser: selectors, media queries, styles, HTML, and names of keys.
FOR_THE_BROWSER = re.compile(
    r"input\[|:not\(|\[type=|\(prefers-|^width: |^<!doctype|</iframe>|^sign across$|^mark |"
    r"^((Arrow|Page)(Left|Right|Up|Down)|Home|End|Escape)$"
)
# Values of the contract, which a text of words.js replaces where the page shows them.
REASONS = ["a clean cycle", "no mistake of w", "the limit on epochs", "the limit on updates"]
CLASSES = set(re.findall(r"\.([a-z][\w-]*)", (STATIC / "lab.css").read_text(encoding="utf-8")))


def worded(name: str) -> list[str]:
    """The texts of a module that look as if a person reads them."""
    found = script_strings((STATIC / name).read_text(encoding="utf-8"))
    return [
        f"{line}: {text}" for line, text in found
        if WORDED.search(text) and not FOR_THE_BROWSER.search(text) and text not in REASONS
        and not {word for word in text.split() if word != "{}"} <= CLASSES
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in MODULES if name != "words.js"])
def test_a_module_has_no_texts_of_its_own(name: str) -> None:
    assert worded(name) == []


def test_the_module_of_texts_would_be_noticed() -> None:
    assert len(worded("words.js")) > 150
