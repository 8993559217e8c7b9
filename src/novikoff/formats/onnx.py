"""Linear rules as an ONNX graph of standard operators, in double precision."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from novikoff import __version__
from novikoff.core.model import Model
from novikoff.core.schemes import OneVsOne
from novikoff.errors import MissingExtraError, OnnxExportError
from novikoff.formats.files import write_file
from novikoff.formats.model_file import ESTIMATORS

if TYPE_CHECKING:
    from onnx import ModelProto

# These versions have all operators that are used, and every recent runtime supports them.
_OPSET, _IR_VERSION = 17, 8
_MAX_BYTES: Final = 2**31 - 2**20  # the size limit of protobuf


def export_onnx(model: object, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write the rules of a fitted estimator as an ONNX model.

    The input "X" is a matrix of doubles of shape (rows, n_features). The outputs are "label" and
    "scores", as ``predict`` and ``decision_function`` return them. Labels that are integers become
    int64, floats become double, strings stay strings. An existing file is replaced only with
    ``force``.

    Scores agree with novikoff's up to rounding, because the runtime may add the products of a row
    in a different order. Labels can differ only if a score (or for several classes the difference
    of two scores) is not larger than the rounding error of its sum, about
    n_features·10⁻¹⁶·Σ|xⱼwⱼ|. If sums are exact, as they are for small integers, all labels agree,
    also for ties: a score of 0 is the negative class, and the first of equal classes wins.

    Raises
    ------
    OnnxExportError
        If the model is not fitted, or if its rules cannot be an ONNX graph.
    MissingExtraError
        If the package onnx is not installed: ``pip install 'novikoff[onnx]'``.
    OutputError
        If the file cannot be written.

    See Also
    --------
    save : The format of novikoff, which `load` reads.

    Examples
    --------
    >>> import novikoff as nv
    >>> clf = nv.Perceptron(order="cyclic").fit([[0, 0], [0, 1], [1, 1]], ["no", "no", "yes"])
    >>> export_onnx(clf, "and.onnx")  # doctest: +SKIP
    >>> export_onnx(nv.Perceptron(), "and.onnx")
    Traceback (most recent call last):
        ...
    novikoff.errors.OnnxExportError: The Perceptron cannot be exported to ONNX: it is \
not fitted.
    """
    rules = _rules_of(model)
    names = getattr(model, "feature_names_in_", None)
    content = _graph_of(rules, type(model).__name__, names).SerializeToString(deterministic=True)
    write_file(path, content, force=force)


def _rules_of(model: object) -> Model:
    """Return the rules of an estimator; OnnxExportError if they cannot be exported."""
    kind = type(model)
    if kind.__name__ not in ESTIMATORS or not kind.__module__.startswith("novikoff."):
        raise OnnxExportError(
            f"A {kind.__name__} cannot be exported to ONNX: a {', a '.join(ESTIMATORS)} can."
        )
    rules: Model | None = getattr(model, "model_", None)
    if rules is None:
        raise OnnxExportError(f"The {kind.__name__} cannot be exported to ONNX: it is not fitted.")
    problem = ""
    if not hasattr(model, "coef_"):
        problem = "its rules are not linear in the features, and have no weights"
    elif len(rules.classes) < 2 or rules.n_features < 1:
        problem = "it needs two classes and a feature at least"
    elif 8 * rules.n_rules * (rules.n_features + 1) > _MAX_BYTES:
        problem = "its weights take up more than the 2 GiB of an ONNX file"
    if problem:
        raise OnnxExportError(f"The {kind.__name__} cannot be exported to ONNX: {problem}.")
    return rules


# The graphs compute "scores" and the code of the class from X. Names in capitals are constants.
_TWO_CLASSES: Final = """
    products = MatMul (X, COEF)
    scores = Add (products, INTERCEPT)
    positive = Greater (scores, ZERO)
    code = Cast <to = 7> (positive)
"""  # 7 is ONNX's number for int64
_ONE_VS_REST: Final = """
    products = MatMul (X, COEF)
    scores = Add (products, INTERCEPT)
    code = ArgMax <axis = 1, keepdims = 0> (scores)
"""
# Each pair of classes gives a vote; the sums of the scores decide between equal votes, as in
# `OneVsOne`. A class gets a vote if the rule is positive on its positive side, or not positive on
# its negative side. 11 is ONNX's number for double.
_ONE_VS_ONE: Final = """
    products = MatMul (X, COEF)
    margins = Add (products, INTERCEPT)
    positive = Greater (margins, ZERO)
    ones = Cast <to = 11> (positive)
    gains = MatMul (ones, SIDES)
    votes = Add (gains, NEGATIVE_SIDES)

    sums = MatMul (margins, SIDES)
    sizes = Abs (sums)
    largest = ReduceMax <axes = [1], keepdims = 1> (sizes)
    triple = Mul (largest, THREE)
    shares = Div (sums, triple)
    moved = Greater (largest, ZERO)
    order = Where (moved, shares, ZERO)
    scores = Add (votes, order)

    most = ReduceMax <axes = [1], keepdims = 1> (votes)
    behind = Less (votes, most)
    rivals = Where (behind, LOWEST, sums)
    code = ArgMax <axis = 1, keepdims = 0> (rivals)
"""


def _graph_of(rules: Model, kind: str, names: object) -> ModelProto:
    try:
        from onnx import helper, numpy_helper, parser
    except ImportError:
        raise MissingExtraError("The export to ONNX", "onnx", "onnx") from None
    weights, labels = rules.prediction_weights(), _label_values(rules.classes)
    constants = {"COEF": weights[:-1].copy(), "INTERCEPT": weights[-1], "CLASSES": labels}
    nodes, shape = _ONE_VS_REST, f"rows, {len(labels)}"
    if len(labels) == 2:
        nodes, shape = _TWO_CLASSES, "rows"
        constants |= {"COEF": weights[:-1, 0].copy(), "INTERCEPT": weights[-1, 0]}
    elif isinstance(rules.scheme, OneVsOne):
        nodes, sides = _ONE_VS_ONE, rules.scheme.sides.astype(np.float64)
        lost = (sides < 0.0).sum(axis=1).astype(np.float64)
        constants |= {"SIDES": sides.T.copy(), "NEGATIVE_SIDES": lost}
    kinds = {"i": "int64", "f": "double", "b": "bool", "O": "string"}
    exported = parser.parse_model(
        f'''<ir_version: {_IR_VERSION}, opset_import: ["": {_OPSET}],
        producer_name: "novikoff", producer_version: "{__version__}">
        novikoff_{kind} (double[rows, {rules.n_features}] X)
        => ({kinds[labels.dtype.kind]}[rows] label, double[{shape}] scores)
        {{ {nodes} label = Gather <axis = 0> (CLASSES, code) }}'''
    )
    constants |= {"ZERO": np.array(0.0), "THREE": np.array(3.0), "LOWEST": np.array(-np.inf)}
    for name, value in constants.items():
        if name in nodes or name == "CLASSES":
            exported.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    if isinstance(names, np.ndarray):
        texts = [str(name) for name in names.tolist()]
        helper.set_model_props(exported, {"feature_names": json.dumps(texts)})
    return exported


def _label_values(classes: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return the labels in a type that ONNX has; NumPy strings must be objects for it."""
    labels = classes.tolist()
    types = {type(label) for label in labels}
    values = np.array(labels, dtype=object if types == {str} else None)
    if len(types) == 1 and (types == {str} or values.dtype.kind in "bif"):
        return values
    raise OnnxExportError(
        f"The classes {str(labels)[:80]} cannot be exported to ONNX: they are not all strings, "
        "floats, booleans or integers of 64 bits."
    )
