"""Whoever translates words.js and the texts of the presets has translated the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from novikoff.page import export

# Every text in brackets, and every text that a function returns.
TRANSLATE = """
const worded = (text) => typeof text === "string" && /[A-Za-z]{2}/.test(text);
const bracketed = (text) => (worded(text) ? `⟦${text}⟧` : text);
const translate = (part) => {
  if (typeof part === "function") return (...given) => translate(part(...given));
  if (!part || typeof part !== "object") return bracketed(part);
  for (const [name, value] of Object.entries(part)) part[name] = translate(value);
  return part;
};
translate(words);
const told = JSON.parse(document.getElementById("begin").textContent);
const READ = ["title", "lesson", "text", "ask", "answer", "goal"];
for (const record of Object.values(told.records)) for (const entry of Object.values(record)) {
  for (const name of READ) if (worded(entry[name])) entry[name] = bracketed(entry[name]);
}
startAlone(told);
"""
READ_ALL = """() => {
  const root = document.getElementById("lab");
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  for (const node of root.querySelectorAll("*")) {
    for (const name of ["aria-label", "aria-valuetext", "title", "placeholder", "label"]) {
      if (node.hasAttribute(name)) texts.push(node.getAttribute(name));
    }
  }
  return texts;
}"""
# Names in questions and formulas, which are the same in every language.
NAMES = re.compile(r"\b(cos|cyclic|fixed|permuted|blocks|random|perceptron|aggressive|pocket)\b")
STATES = [
    [], ["#tour"], ["#help"], ["#paste"], ["#predict"], ["#predict", ".prompt [type=submit]"],
    ["preset xor"], ["preset xor", "rule pocket"], ["rule aggressive"], ["preset xor_kernel"],
    ["preset label"], ["preset on_the_line"], ["#clear"], ["beside permuted"],
]  # fmt: skip


def without_brackets(text: str) -> str:
    """What is left of a text without its translated parts, which may be nested."""
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", text)) != text:
        text = shorter
    return text


@pytest.mark.parametrize("steps", STATES, ids=[", ".join(steps) or "opened" for steps in STATES])
def test_every_text_of_the_page_is_translated(
    browser: Any, tmp_path: Path, steps: list[str]
) -> None:
    page_text = export.offline_page()
    start = 'startAlone(JSON.parse(document.getElementById("begin").textContent));\n'
    assert page_text.count(start) == 1
    (tmp_path / "lab.html").write_text(page_text.replace(start, TRANSLATE), encoding="utf-8")
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto((tmp_path / "lab.html").as_uri())
    page.wait_for_selector(".lab[data-settled=true][data-kind=separable]")
    for step in steps:
        control, _, value = step.partition(" ")
        if control == "preset":
            page.select_option("#data", value)
        elif control in ("rule", "beside"):
            page.evaluate("document.getElementById('more').open = true")
            page.select_option(f"#{control}", value)
        else:
            page.click(step)
        page.wait_for_selector(".lab[data-settled=true]")
    texts = page.evaluate(READ_ALL)
    context.close()
    assert sum("⟦" in text for text in texts) > 60
    left = {text: without_brackets(text) for text in texts}
    told = [text for text, rest in left.items() if re.search(r"[A-Za-z]{3,}", NAMES.sub("", rest))]
    assert told == []
