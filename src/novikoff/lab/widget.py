"""The page in a notebook: the same modules and the same answers, by an anywidget."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.validation import check_labels, check_matrix, distinct_labels
from novikoff.lab.export import STATIC, export, joined
from novikoff.lab.study import Question, QuestionError, answer, pocket, voted

_SCRIPT = """
function render({ model, el }) {
  const open = new Map();
  let asked = 0;
  model.on("msg:custom", ({ number, good, sentence }) => {
    const [resolve, reject] = open.get(number) ?? [];
    open.delete(number);
    if (sentence) reject?.(new Refusal(sentence));
    else resolve?.(good);
  });
  const ask = (what, body) => new Promise((resolve, reject) => {
    open.set(++asked, [resolve, reject]);
    model.send({ number: asked, what, body });
  });
  const ready = () => Promise.resolve({ version: "", stages: [] });
  startWidget(el, { live: true, ask, ready, record: ready }, model.get("question"));
}
export default { render };
"""


def lab(X: object = None, y: npt.ArrayLike | None = None, **options: Any) -> Any:
    """Show two features and two classes on the lab's page, in a notebook.

    Parameters
    ----------
    X : array-like of shape (n, 2), optional
        At most 300 rows; without them the page begins with two clouds.
    y : array-like of shape (n,), optional
        Labels of two kinds; the larger is positive.
    **options
        ``order``, ``seed``, ``bias``, ``rule``, ``step``, ``threshold``, ``start``, ``mine``.

    Returns
    -------
    anywidget.AnyWidget
        The page; it needs ``pip install 'novikoff[widget]'``.
    """
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"nv.lab needs {missing.name}: pip install 'novikoff[widget]'."
        ) from None
    question = {"points": _points(X, y), **options}
    Question.from_json(question)

    class LabWidget(anywidget.AnyWidget):  # type: ignore[name-defined,misc]
        """One page; its questions come as messages and are answered as messages."""

        _esm = joined("app.js") + _SCRIPT
        _css = (STATIC / "lab.css").read_text(encoding="utf-8")
        question = traitlets.Dict().tag(sync=True)

    widget = LabWidget(question=question)
    widget.on_msg(lambda _, message, buffers: widget.send(reply(message)))
    return widget


def reply(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to one message of the page, or a sentence that says what is wrong with it.

    Examples
    --------
    >>> reply({"number": 1, "what": "dance", "body": {}})
    {'number': 1, 'sentence': "The lab cannot 'dance'."}
    """
    number, what, body = message.get("number"), message.get("what"), message.get("body", {})
    try:
        if what == "run":
            return {"number": number, "good": answer(Question.from_json(body))}
        if what == "pocket":
            return {"number": number, "good": pocket(Question.from_json(body))}
        if what == "voted":
            question = Question.from_json(body.get("question"))
            return {"number": number, "good": voted(question, body.get("box"))}
        if what == "export":
            return {"number": number, "good": export(body)}
        raise QuestionError(f"The lab cannot {what!r}.")
    except ValueError as error:
        return {"number": number, "sentence": str(error)}


def _points(X: object, y: npt.ArrayLike | None) -> list[Any]:
    if X is None or y is None:
        from novikoff.lab.presets import presets

        return list(presets()["two_clouds"]["question"]["points"])
    matrix, labels = np.asarray(check_matrix(X), dtype=np.float64), check_labels(y)
    kinds = distinct_labels(labels)
    if matrix.ndim != 2 or matrix.shape[1] != 2 or len(kinds) > 2 or len(labels) != len(matrix):
        raise ValueError(
            f"The lab draws two features and two classes, not {matrix.shape[1]} and {len(kinds)}."
        )
    signs = [1 if label == kinds[-1] else -1 for label in labels.tolist()]
    return [[x1, x2, sign] for (x1, x2), sign in zip(matrix.tolist(), signs, strict=True)]
