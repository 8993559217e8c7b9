"""Linear rules as an ONNX graph of standard operators, in double precision."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from novikoff import __version__
from novikoff.core.linear_model import LinearModel
from novikoff.core.schemes import OneVsOne
from novikoff.report.files import write_file
from novikoff.report.model_file import ESTIMATORS

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

# Old enough for every runtime of the last years, new enough for all operators used.
_OPSET, _IR_VERSION = 17, 8
_MAX_BYTES: Final = 2**31 - 2**20  # the limit of protobuf


class OnnxExportError(ValueError):
    """A model cannot be exported to ONNX; the message is a sentence."""


def export_onnx(model: object, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write the rules of a fitted estimator (not a voted one) as an ONNX model.

    Its input "X" is a matrix of doubles of shape (rows, n_features). Its outputs are "label" and
    "scores", as ``predict`` and ``decision_function`` return them. Integers become int64, floats
    double, strings strings. A file that is there is replaced with ``force`` only.

    Scores agree with novikoff's up to rounding: the runtime may add the products of a row
    in another order. Labels can differ only where that matters, that is where a score (or for
    several classes the difference of two) is not larger than the rounding error of its sum,
    about n_features·10⁻¹⁶·Σ|xⱼwⱼ|. Where sums are exact, as they are for small integers, all
    agree, ties among them: a score of 0 is the negative class, and among equals the first
    class wins.

    Raises
    ------
    OnnxExportError
        If the model is not fitted, or no ONNX graph can do what it does.
    ImportError
        If the package onnx is not installed: ``pip install 'novikoff[onnx]'``.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import novikoff as nv
    >>> clf = nv.Perceptron(order="cyclic").fit([[0, 0], [0, 1], [1, 1]], ["no", "no", "yes"])
    >>> export_onnx(clf, "and.onnx")  # doctest: +SKIP
    >>> export_onnx(nv.Perceptron(), "and.onnx")
    Traceback (most recent call last):
        ...
    novikoff.report.onnx.OnnxExportError: The Perceptron cannot be exported to ONNX: it is \
not fitted.
    """
    rules = _rules_of(model)
    names = getattr(model, "feature_names_in_", None)
    content = _graph_of(rules, type(model).__name__, names).SerializeToString(deterministic=True)
    write_file(path, content, force=force)


def _rules_of(model: object) -> LinearModel:
    """The rules of an estimator; OnnxExportError says why there is no graph of them."""
    kind = type(model)
    if kind.__name__ not in ESTIMATORS or not kind.__module__.startswith("novikoff."):
        raise OnnxExportError(
            f"A {kind.__name__} cannot be exported to ONNX: a {', a '.join(ESTIMATORS)} can."
        )
    if "_held" not in model.__dict__:
        raise OnnxExportError(f"The {kind.__name__} cannot be exported to ONNX: it is not fitted.")
    rules: LinearModel = getattr(model, "_model")  # noqa: B009 — of an estimator, not any object
    problem = ""
    if rules.votes:
        problem = (
            "it is voted, and predicts by all rules of its run, not by weights; fit one with "
            "average='averaged'"
        )
    elif len(rules.classes) < 2 or rules.n_features < 1:
        problem = "it needs two classes and a feature at least"
    elif rules.W.nbytes > _MAX_BYTES:
        problem = "its weights take up more than the 2 GiB of an ONNX file"
    if problem:
        raise OnnxExportError(f"The {kind.__name__} cannot be exported to ONNX: {problem}.")
    return rules


class _Graph:
    """Nodes and constants, in the order of their making; names tell what they are."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, name: str, value: npt.NDArray[np.generic] | float) -> str:
        """A constant tensor."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, name: str, operator: str, *inputs: str, **attributes: int | list[int]) -> str:
        """An operator with one output."""
        from onnx import helper

        self.nodes.append(helper.make_node(operator, list(inputs), [name], name, **attributes))
        return name


def _graph_of(rules: LinearModel, kind: str, names: object) -> ModelProto:
    try:
        from onnx import TensorProto, helper
    except ImportError:
        raise ImportError(
            "The export to ONNX needs the package onnx: pip install 'novikoff[onnx]'."
        ) from None
    graph = _Graph()
    code, n_scores = _decide(graph, rules)
    labels = _label_values(rules.classes)
    graph.node("label", "Gather", graph.constant("classes", labels), code, axis=0)
    kinds = {"i": TensorProto.INT64, "f": TensorProto.DOUBLE, "b": TensorProto.BOOL}
    label = kinds.get(labels.dtype.kind, TensorProto.STRING)
    shape: list[str | int | None] = ["rows"] if n_scores is None else ["rows", n_scores]
    body = helper.make_graph(
        graph.nodes,
        f"novikoff_{kind}",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["rows", rules.n_features])],
        [
            helper.make_tensor_value_info("label", label, ["rows"]),
            helper.make_tensor_value_info("scores", TensorProto.DOUBLE, shape),
        ],
        graph.constants,
    )
    exported = helper.make_model(
        body,
        producer_name="novikoff",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    if isinstance(names, np.ndarray):
        texts = [str(name) for name in names.tolist()]
        helper.set_model_props(exported, {"feature_names": json.dumps(texts)})
    return exported


def _decide(graph: _Graph, rules: LinearModel) -> tuple[str, int | None]:
    """The nodes from X to "scores" and the code of the class; and the width of the scores."""
    weights = rules.decisive()
    coef, intercept, n_classes = weights[:-1].copy(), weights[-1], len(rules.classes)
    if n_classes == 2:
        coef, intercept = coef[:, 0], intercept[0]
    graph.node("products", "MatMul", "X", graph.constant("coef", coef))
    name = "margins" if isinstance(rules.scheme, OneVsOne) else "scores"
    graph.node(name, "Add", "products", graph.constant("intercept", intercept))
    if n_classes == 2:
        graph.node("positive", "Greater", "scores", graph.constant("zero", 0.0))
        return graph.node("code", "Cast", "positive", to=7), None  # 7 is int64
    if isinstance(rules.scheme, OneVsOne):
        return _vote(graph, rules.scheme), n_classes
    return graph.node("code", "ArgMax", "scores", axis=1, keepdims=0), n_classes


def _vote(graph: _Graph, scheme: OneVsOne) -> str:
    """One vote per pair; sums of margins decide among equals, as in `OneVsOne`."""
    sides = scheme.sides.astype(np.float64)
    zero, by_class = graph.constant("zero", 0.0), graph.constant("sides", sides.T.copy())
    graph.node("positive", "Greater", "margins", zero)
    graph.node("ones", "Cast", "positive", to=11)  # 11 is double
    graph.node("gains", "MatMul", "ones", by_class)
    # A class gets 1 for each 1 on its positive side, and on its negative side for each 0.
    base = graph.constant("lost", (sides < 0.0).sum(axis=1).astype(np.float64))
    graph.node("votes", "Add", "gains", base)

    graph.node("sums", "MatMul", "margins", by_class)
    graph.node("sizes", "Abs", "sums")
    graph.node("largest", "ReduceMax", "sizes", axes=[1], keepdims=1)
    graph.node("triple", "Mul", "largest", graph.constant("three", 3.0))
    graph.node("shares", "Div", "sums", "triple")
    graph.node("moved", "Greater", "largest", zero)
    graph.node("order", "Where", "moved", "shares", zero)
    graph.node("scores", "Add", "votes", "order")

    graph.node("most", "ReduceMax", "votes", axes=[1], keepdims=1)
    graph.node("behind", "Less", "votes", "most")
    graph.node("rivals", "Where", "behind", graph.constant("lowest", -np.inf), "sums")
    return graph.node("code", "ArgMax", "rivals", axis=1, keepdims=0)


def _label_values(classes: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The labels in a type that ONNX has; numpy's own strings are objects to it."""
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    for kind, types in ((np.bool_, bool), (np.int64, int), (np.float64, float)):
        if all(type(label) is types for label in labels):
            try:
                return np.array(labels, dtype=kind)
            except OverflowError:
                break
    raise OnnxExportError(
        f"The classes {str(labels)[:80]} cannot be exported to ONNX: they are not all strings, "
        "floats, booleans or integers of 64 bits."
    )
