"""The page in a notebook: an anywidget with the same modules and the same answers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy.typing as npt

from novikoff.core.class_labels import check_labels
from novikoff.core.validation import check_matrix, columns_of
from novikoff.errors import MissingExtraError
from novikoff.page.export import ANSWERS, joined
from novikoff.page.presets import STATIC, presets
from novikoff.page.question import Question, points_of
from novikoff.page.still import still_picture
from novikoff.page.study import run_answer

SCRIPT = """
function render({ model, el }) {
  const open = new Map();
  model.on("msg:custom", ({ number, good, sentence }) => {
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

        def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            """The page for a notebook that runs it, and a picture and a sentence for others."""
            bundle, metadata = super()._repr_mimebundle_(**kwargs)
            asked = Question.from_json(self.question)
            answer = run_answer(asked)
            still = {
                "image/svg+xml": still_picture(asked, answer),
                "text/plain": answer["sentence"],
            }
            return bundle | still, metadata

    widget = LabWidget(question=question)
    widget.on_msg(lambda _, message, buffers: widget.send(reply(message)))
    return widget


def reply(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message of the page, or a message that says what is wrong with it."""
    try:
        return {"number": message["number"], "good": ANSWERS[message["what"]](message["body"])}
    except ValueError as error:
        return {"number": message["number"], "sentence": str(error)}
