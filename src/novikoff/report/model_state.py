"""What an estimator has learned, as a JSON header and tensors, and back.

The header says what there is, the tensors hold the numbers. Reading believes neither: every
length follows from the classes and the number of features, and nothing may be left over.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from novikoff.learners.online import Rules
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.schemes import scheme_for
from novikoff.report.model_parameters import (
    Model,
    read_classes,
    read_estimator,
    read_features,
    write_classes,
    write_features,
    write_parameters,
)
from novikoff.report.model_runs import read_run, write_run
from novikoff.report.model_tensors import Tensors, TensorShelf
from novikoff.report.model_values import Fields, Flaw

_SCHEMES: Final = {"Binary": "binary", "OneVsRest": "ovr", "OneVsOne": "ovo"}
# Bytes of the table of signs that a file may ask for: in any case, and per byte of its own.
_MOST_SIGNS, _SIGNS_PER_BYTE = 2**26, 32


def write_state(model: Model) -> tuple[dict[str, object], Tensors]:
    """The header, as far as it is about the estimator, and the tensors."""
    rules = model._rules
    tensors: Tensors = {"weights": rules.W, "tally": rules.tally}
    if rules.averages:
        tensors["lazy"] = rules.lazy
    if isinstance(model, Perceptron):
        fitted = write_run(model, tensors)
    else:
        from novikoff.report.model_proofs import write_proofs

        fitted = write_proofs(model, tensors)
    header: dict[str, object] = {
        "estimator": type(model).__name__,
        "parameters": write_parameters(model),
        "classes": write_classes(model.classes_),
        "n_features": model.n_features_in_,
        "features": write_features(model),
        "scheme": _SCHEMES[type(rules.scheme).__name__],
        "fit_intercept": rules.bias > 0.0,
        "averages": rules.averages,
        "fitted": fitted,
    }
    return header, {name: np.ascontiguousarray(array) for name, array in tensors.items()}


def read_state(fields: Fields, tensors: Tensors) -> Model:
    """The fitted estimator; Flaw says what is wrong."""
    model = read_estimator(fields.take("estimator"), fields.take("parameters"))
    classes = read_classes(fields.part("classes"))
    read_features(model, fields.take("features"), fields.count("n_features"))
    scheme = fields.choice("scheme", ("binary", "ovr", "ovo"))
    if (scheme == "binary") != (len(classes) <= 2):
        raise Flaw(f"its scheme is {scheme!r}, but the number of its classes is {len(classes)}")
    shelf = TensorShelf(tensors)
    model._rules, model._votes = _read_rules(model, fields, scheme, len(classes), shelf), []
    model._name_classes(classes)
    fitted = fields.part("fitted")
    if isinstance(model, Perceptron):
        read_run(model, fitted, shelf)
    elif model._rules.averages or len(classes) < 2:
        raise Flaw(f"a {type(model).__name__} keeps no average and has two classes at least")
    else:
        from novikoff.report.model_proofs import read_proofs

        read_proofs(model, fitted, shelf)
    fitted.end()
    shelf.end()
    return model


def _read_rules(
    model: Model, fields: Fields, scheme: str, n_classes: int, shelf: TensorShelf
) -> Rules:
    n_rules = {"binary": 1, "ovr": n_classes, "ovo": n_classes * (n_classes - 1) // 2}[scheme]
    shape = model.n_features_in_ + 1, n_rules
    W = shelf.floats("weights", *shape)
    if n_rules * n_classes > _MOST_SIGNS + _SIGNS_PER_BYTE * W.nbytes:
        raise Flaw(f"it has {n_classes:,} classes, but hardly any weights for them")
    fit_intercept, averages = fields.flag("fit_intercept"), fields.flag("averages")
    rules = Rules(scheme_for(n_classes, scheme), model.n_features_in_, averages, fit_intercept)
    rules.W[:] = W
    rules.tally[:] = shelf.integers("tally", 3, n_rules)
    if averages:
        rules.lazy[:] = shelf.floats("lazy", *shape)
    try:
        with np.errstate(all="ignore"):
            decisive = rules.decisive()
    except ValueError as error:
        raise Flaw(f"{error}".rstrip(".")) from None
    if not fit_intercept and (decisive[-1].any() or W[-1].any()):
        raise Flaw("its intercept is not zero, though fit_intercept is false")
    if (rules.tally[2] > rules.tally[1]).any():
        raise Flaw("its tally has more mistakes than updates")
    return rules
