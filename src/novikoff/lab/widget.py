"""The page in a notebook: the same modules and the same answers, by an anywidget."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.validation import check_labels, check_matrix, distinct_labels
from novikoff.lab.answers import ANSWERS
from novikoff.lab.export import STATIC, joined
from novikoff.lab.presets import presets
from novikoff.lab.study import Question

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
  const ready = () => Promise.resolve({ version: "", stages: [] });
  startWidget(el, { live: true, ask, ready, record: ready }, model.get("question"));
}
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
    anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    points = presets()["two_clouds"]["question"]["points"] if X is None else _points(X, y)
    Question.from_json({"points": points, **options})

    class LabWidget(anywidget.AnyWidget):  # type: ignore[name-defined]
        """Questions come as messages and are answered as messages."""

        _esm = joined("app.js") + SCRIPT + "export default { render };\n"
        _css = (STATIC / "lab.css").read_text(encoding="utf-8")
        question = traitlets.Dict().tag(sync=True)

    widget = LabWidget(question={"points": points, **options})
    widget.on_msg(lambda _, message, buffers: widget.send(reply(message)))
    return widget


def reply(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to one message of the page, or a sentence that says what is wrong with it.

    Examples
    --------
    >>> reply({"number": 1, "what": "run", "body": {"points": 7}})
    {'number': 1, 'sentence': 'The points are a list.'}
    """
    try:
        return {"number": message["number"], "good": ANSWERS[message["what"]](message["body"])}
    except ValueError as error:
        return {"number": message["number"], "sentence": str(error)}


def _points(X: object, y: npt.ArrayLike | None) -> list[list[float]]:
    matrix, labels = np.asarray(check_matrix(X), dtype=np.float64), check_labels(y)
    kinds = distinct_labels(labels)
    if matrix.shape != (len(labels), 2) or len(kinds) > 2:
        raise ValueError(
            f"The lab draws two features and two classes, not {matrix.shape[1]} and {len(kinds)}."
        )
    signs = np.where(labels == kinds[-1], 1.0, -1.0)
    return [[x1, x2, int(sign)] for x1, x2, sign in np.column_stack([matrix, signs]).tolist()]
