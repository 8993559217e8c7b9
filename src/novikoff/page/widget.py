"""The page in a notebook: an anywidget with the same modules and the same answers.

A cell has two outputs: a picture, and below it the page. The page hides the picture as soon as the
kernel has answered. Exports of a notebook and websites, where no kernel runs, show the picture:
they prefer a widget, which stays empty there, to every other form of the same output.
"""

from __future__ import annotations

import base64
import uuid
from html import escape
from importlib import import_module
from typing import Any

import numpy.typing as npt

from novikoff.core.class_labels import check_labels
from novikoff.core.validation import check_matrix, columns_of
from novikoff.errors import MissingExtraError
from novikoff.page.answers import run_answer
from novikoff.page.export import ANSWERS, joined
from novikoff.page.presets import STATIC, presets
from novikoff.page.question import Question, points_of
from novikoff.page.still import still_picture

SCRIPT = """
function render({ model, el }) {
  const open = new Map();
  model.on("msg:custom", ({ number, good, sentence }) => {
    const still = document.getElementById(model.get("still"));
    if (still) (still.closest(".jp-OutputArea-child") ?? still).style.display = "none";
    const [resolve, reject] = open.get(number) ?? [];
    open.delete(number);
    if (sentence) reject?.(new Refusal(sentence));
    else resolve?.(good);
  });
  let asked = 0;
  const ask = (what, body) => new Promise((resolve, reject) => {
    open.set(++asked, [resolve, reject]);
    model.send({ number: asked, what, body });
  });
  const ready = () => Promise.resolve([]);
  const host = { ...LIBRARY, ask, ready, record: ready };
  startWidget(el, host, model.get("question"));
}
"""


def lab(X: object = None, y: npt.ArrayLike | None = None, **options: Any) -> Any:
    """Show the lab's page in a notebook, with two features and two classes.

    Parameters
    ----------
    X : array-like of shape (n, 2), optional
        At most 300 rows. Without X, the page starts with the preset "Two clouds".
    y : array-like of shape (n,), optional
        Two different labels. The larger label is positive; if the labels are "+" and "-", "+" is.
    **options
        Settings of the page: ``order``, ``seed``, ``bias``, ``rule``, ``step_size``, ``threshold``,
        ``start``, ``mine``, and ``sides`` ("line", "voted", "rbf", "poly" or "network").

    Returns
    -------
    anywidget.AnyWidget
        The page. It needs ``pip install 'novikoff[widget]'``. Where no kernel runs, for example
        in a notebook on a website, its cell shows a picture of the points with the verdict.
    """
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ModuleNotFoundError as missing:
        raise MissingExtraError("nv.lab", str(missing.name), "widget") from None
    question = presets()["two_clouds"]["question"] | options
    if X is not None:
        matrix, labels = check_matrix(X), check_labels(y)
        question = {"points": points_of(matrix, labels), **options}
        if hasattr(X, "columns"):
            question["names"] = [str(name) for name in columns_of(X, 2).names]
    Question.from_json(question)

    class LabWidget(anywidget.AnyWidget):  # type: ignore[name-defined]
        """The page. It sends questions as messages and receives answers as messages."""

        _esm = joined("app.js") + SCRIPT + "export default { render };\n"
        _css = (STATIC / "lab.css").read_text(encoding="utf-8")
        question = traitlets.Dict().tag(sync=True)

        still = traitlets.Unicode().tag(sync=True)

        def _ipython_display_(self) -> None:
            """Show the picture, and below it the page."""
            display = import_module("IPython.display").display
            asked = Question.from_json(self.question)
            answer = run_answer(asked)
            display(_picture(still_picture(asked, answer), self.still, answer), raw=True)
            page, metadata = self._repr_mimebundle_()
            display(page | {"text/plain": answer["sentence"]}, metadata=metadata, raw=True)

    widget = LabWidget(question=question, still=f"novikoff-{uuid.uuid4().hex}")
    widget.on_msg(lambda _, message, buffers: widget.send(reply(message)))
    return widget


def _picture(svg: str, name: str, answer: dict[str, Any]) -> dict[str, str]:
    """The picture as an output of a notebook; ``name`` is the id by which the page finds it."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    words = escape(answer["sentence"])
    return {
        "text/html": f'<img id="{name}" alt="{words}" src="{source}">',
        "image/svg+xml": svg,
        "text/plain": answer["sentence"],
    }


def reply(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message of the page, or a message that says what is wrong with it."""
    try:
        return {"number": message["number"], "good": ANSWERS[message["what"]](message["body"])}
    except ValueError as error:
        return {"number": message["number"], "sentence": str(error)}
