"""The answers that the page can ask for, and the files that it can save.

The files are an offline page, a Python script, a table and a certificate.

The page consists of ES modules whose top-level names are unique. Joined in the order of their
imports, they are one script. So the lab needs no bundler and has no build step.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from typing import Any

from novikoff.page import answers
from novikoff.page.presets import STATIC, records
from novikoff.page.question import Question

_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./(\w+\.js)\";\n", re.MULTILINE)
_JSDOC = re.compile(r"/\*\*.*?\*/ ?", re.DOTALL)
_INDENT = re.compile(r"^[ \t]*(?://[^\n]*)?\n?", re.MULTILINE)
_NOTE = re.compile(r"(?<=[;,{]) // [^\n]*$", re.MULTILINE)
_SPACE = re.compile(r"(?<=[;,{(\[])\n|\n(?=\})|(?<=[)>]) (?=\{)|(?<=\{) (?=\w)")
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE_SPACE = re.compile(r";?\s*(\})\s*|\s*([{;,])\s*|(?<=:)\s+")
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:"
)


def export(body: dict[str, Any]) -> str:
    """The text of a file that the page offers."""
    question, form = Question.from_json(body.get("question")), body.get("form")
    if form == "html":
        return offline_page(body.get("question"), body.get("view"))
    forms = {"python": script, "csv": table, "certificate": answers.certificate_text}
    if form not in forms:
        raise ValueError("The form must be html, python, csv or certificate.")
    return forms[form](question)


def offline_page(asked: dict[str, Any] | None = None, view: object = None) -> str:
    """The lab as one HTML file, which answers by itself: it needs no network and no library.

    It begins with a question at the moment of a view, or without a question with the first preset.
    """
    begin = None
    if asked is not None:
        Question.from_json(asked)
        moment = view.get("moment") if isinstance(view, dict) else None
        begin = {"question": asked} | ({} if moment is None else {"moment": moment})
    told = _inside_script({"begin": begin, "records": records()})
    read = 'JSON.parse(document.getElementById("begin").textContent)'
    style = _STYLE_SPACE.sub(r"\1\2", _STYLE_COMMENT.sub("", _static("lab.css")))
    text = _static("index.html")
    for mark, inserted in (
        ("<head>\n", f'<head>\n<meta http-equiv="Content-Security-Policy" '
         f'content="{html.escape(_POLICY)}">\n'),
        ('<link rel="stylesheet" href="/static/lab.css">', f"<style>{style}</style>"),
        ('<script type="module" src="/static/main.js">',
         f'<script type="application/json" id="begin">{told}</script>\n'
         f'<script type="module">\n{joined("alone.js")}\nstartAlone({read});\n'),
    ):  # fmt: skip
        text = text.replace(mark, inserted)
    return text


def modules(name: str) -> list[str]:
    """A module and everything that it imports, imports first."""
    order: list[str] = []

    def visit(module: str) -> None:
        for imported in _IMPORT.findall(_static(module)):
            if imported not in order:
                visit(imported)
        order.append(module)

    visit(name)
    return order


def joined(name: str) -> str:
    """Join a module and everything that it imports into one script.

    Comments, indentation, and line breaks and spaces that no statement needs are left out.
    """
    texts = [_IMPORT.sub("", _static(module)) for module in modules(name)]
    script = re.sub(r"^export ", "", "\n".join(texts), flags=re.MULTILINE)
    return _SPACE.sub("", _INDENT.sub("", _NOTE.sub("", _JSDOC.sub("", script))))


def script(question: Question) -> str:
    """A Python script that repeats the verdict and the run with the library."""
    if len({label for _, _, label in question.points}) < 2:
        raise ValueError("A script needs points of both classes.")
    rows = "".join(f"    ({x1!r}, {x2!r}, {label:+d}),\n" for x1, x2, label in question.points)
    # A threshold larger than every ⟨a, w⟩ makes the rule update on every row.
    threshold = 1e300 if question.rule == "aggressive" else question.threshold
    w1, w2, b = question.vector(question.start).tolist()
    start = f", coef_init=[[{w1!r}, {w2!r}]], intercept_init=[{b!r}]" if w1 or w2 or b else ""
    shown = f"""clf = nv.Perceptron(
    order={question.order!r}, fit_intercept={question.bias}, step_size={question.mu!r},
    threshold={threshold!r}, random_state={question.seed}, max_epochs={answers.RUN_EPOCHS},
    max_updates={answers.MAX_UPDATES}, trace=True,
)
clf.fit(X, y{start})
print(clf.n_updates_, "updates; a clean cycle:", clf.converged_)
print("rows, from 0:", clf.trace_.index.tolist())"""
    if question.rule == "pocket":
        shown = f"""clf = nv.Pocket(
    "textbook", fit_intercept={question.bias}, random_state={question.seed},
    max_updates={answers.MAX_UPDATES},
)
clf.fit(X, y{start})
print(clf.n_updates_, "updates; mistakes in the pocket after each:")
print(clf.history_[:, 1].astype(int).tolist())"""
    return f'''"""Repeat what the lab showed with the library."""

import numpy as np
import novikoff as nv

data = np.array([
{rows}])
X, y = data[:, :2], data[:, 2].astype(int)

verdict = nv.separate(X, y, fit_intercept={question.bias})
print(verdict)
nv.verify(verdict.certificate, X, y)

{shown}
if verdict.kind != "separable":
    best = nv.Pocket(fit_intercept={question.bias}, random_state={question.seed}).fit(X, y)
    print(best.n_errors_, "mistakes; no line makes fewer than", best.errors_lower_bound_)
'''


def table(question: Question) -> str:
    """The points as CSV, for ``novikoff fit``."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[*question.names, "label"], *question.points])
    return text.getvalue()


def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _inside_script(value: object) -> str:
    """A JSON text that cannot end the HTML script that contains it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# The answers by the name of the question; the server and the widget share them.
ANSWERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "run": lambda body: answers.run_answer(Question.from_json(body)),
    "pocket": lambda body: answers.pocket_answer(Question.from_json(body)),
    "sides": lambda body: answers.sides_answer(
        Question.from_json(body.get("question")), body.get("box")
    ),
    "export": export,
}
