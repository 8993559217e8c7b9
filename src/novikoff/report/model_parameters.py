"""The parameters, classes and features of an estimator, in terms of JSON and back."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from novikoff.core import orders
from novikoff.core.rows import Vector
from novikoff.learners.inputs import Labels
from novikoff.learners.perceptron import Perceptron
from novikoff.report.model_values import (
    Fields,
    Flaw,
    Scalar,
    as_count,
    as_number,
    restored,
    written,
)

if TYPE_CHECKING:
    from novikoff.learners.max_margin import MaxMargin
    from novikoff.learners.pocket import Pocket

Model: TypeAlias = "Perceptron | Pocket | MaxMargin"

# The estimators and orders that a file can name; nothing is imported by name.
ESTIMATORS: Final = ("Perceptron", "Pocket", "MaxMargin")
_BARE_ORDERS: Final[dict[str, type[orders.Order]]] = {
    "Cyclic": orders.Cyclic,
    "Fixed": orders.Fixed,
    "Permuted": orders.Permuted,
    "MaxDistance": orders.MaxDistance,
    "MaxResidual": orders.MaxResidual,
}
_NUMBERS: Final = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
# Threads that a file may ask for.
_MOST_THREADS = 1024
# Characters that labels may take up, each label padded to the longest.
_MOST_CHARACTERS = 2**24


def write_parameters(model: Model) -> dict[str, object]:
    """The parameters; one that a file cannot hold is refused by name."""
    found: dict[str, object] = {}
    for name, value in model.get_params(deep=False).items():
        what = f"its parameter {name!r}"
        if name == "random_state" and isinstance(value, np.random.RandomState):
            found[name] = None
        elif name == "order" and not isinstance(value, str):
            found[name] = _write_order(value, what)
        elif name == "class_weight" and isinstance(value, Mapping):
            found[name] = [[written(key, what), written(value[key], what)] for key in value]
        elif name == "trace" and not isinstance(value, bool | np.bool_):
            found[name] = _write_numbers(value, what)
        else:
            found[name] = written(value, what)
    return found


def is_known(model: object) -> bool:
    """Whether it is one of the estimators, not of a class that is derived from one."""
    return type(model) is _estimator(type(model).__name__)


def _estimator(name: object) -> type[Model] | None:
    """The estimator of that name; the others, which need more, are not imported."""
    if name == "Perceptron":
        return Perceptron
    if name == "Pocket":
        from novikoff.learners.pocket import Pocket

        return Pocket
    if name == "MaxMargin":
        from novikoff.learners.max_margin import MaxMargin

        return MaxMargin
    return None


def read_estimator(name: object, body: object) -> Model:
    """An estimator that is not fitted; its own constraints judge the parameters."""
    kind = _estimator(name)
    if kind is None:
        raise Flaw(f"its estimator is {str(name)[:80]!r}, not one of {', '.join(ESTIMATORS)}")
    fields = Fields(body, "its parameters")
    model = kind()
    parameters: dict[str, object] = {}
    for parameter in model.get_params(deep=False):
        value = fields.take(parameter)
        what = f"its parameter {parameter!r}"
        if parameter == "order" and isinstance(value, dict):
            parameters[parameter] = _read_order(value, what)
        elif parameter == "class_weight" and isinstance(value, list):
            parameters[parameter] = _read_class_weight(value, what)
        elif parameter == "trace" and isinstance(value, list):
            parameters[parameter] = _read_numbers(value, what)
        else:
            parameters[parameter] = restored(value, what)
    fields.end()
    threads = parameters["n_jobs"]
    if isinstance(threads, int) and not 0 < abs(threads) <= _MOST_THREADS:
        raise Flaw(f"its parameter 'n_jobs' is 0 or beyond {_MOST_THREADS}")
    try:
        model.set_params(**parameters)
        model._validate_params()
    except (TypeError, ValueError, OverflowError) as error:
        raise Flaw(str(error)[:300].rstrip(".")) from None
    return model


def _write_order(order: object, what: str) -> dict[str, object]:
    name = type(order).__name__
    if _BARE_ORDERS.get(name) is type(order):
        return {"order": name}
    if type(order) is orders.Blocks:
        return {"order": name, "size": written(order.size, what)}
    if type(order) is orders.Random:
        return {"order": name, "p": None if order.p is None else _write_numbers(order.p, what)}
    raise Flaw(
        f"{what} is a {name}, an order that a file cannot hold; set_params(order=...) to "
        "another before saving"
    )


def _read_order(body: dict[str, object], what: str) -> orders.Order:
    fields = Fields(body, what)
    name = fields.text("order")
    order: orders.Order
    if name in _BARE_ORDERS:
        order = _BARE_ORDERS[name]()
    elif name == "Blocks":
        size = fields.count("size")
        if size < 1:
            raise Flaw(f"{what} is blocks that do not have one row at least")
        order = orders.Blocks(size)
    elif name == "Random":
        p = fields.take("p")
        order = orders.Random(None if p is None else _read_numbers(p, what))
    else:
        raise Flaw(f"{what} is the unknown order {name[:80]!r}")
    fields.end()
    return order


def _write_numbers(values: object, what: str) -> list[object]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not np.isfinite(array).all():
        raise Flaw(f"{what} is not a vector of finite numbers, which alone a file can hold")
    return [value.hex() for value in array.tolist()]


def _read_numbers(values: object, what: str) -> Vector:
    if not isinstance(values, list):
        raise Flaw(f"{what} is not a list of numbers")
    numbers = [restored({"float": value}, what) for value in values]
    array = np.array(numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        raise Flaw(f"{what} holds infinity")
    return array


def _read_class_weight(pairs: list[object], what: str) -> dict[Scalar, float]:
    found: dict[Scalar, float] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Flaw(f"{what} is not a list of pairs")
        weight = as_number(pair[1], what)
        if not math.isfinite(weight):
            raise Flaw(f"{what} has a weight that is not finite")
        found[restored(pair[0], what)] = weight
    if len(found) < len(pairs):
        raise Flaw(f"{what} names a class twice")
    return found


def write_classes(classes: Labels) -> dict[str, object]:
    """The labels with their type."""
    labels: list[object] = classes.tolist()
    values = [written(label, f"the class {label!r}") for label in labels]
    dtype = classes.dtype
    if dtype.kind == "U":
        width, longest = dtype.itemsize // 4, max(len(str(label)) for label in labels)
        fits = width * len(labels) <= _MOST_CHARACTERS
        return {"type": "str", "width": max(1, width if fits else longest), "values": values}
    if dtype.name not in (*_NUMBERS, "bool", "object"):
        raise Flaw(f"its classes are of type {dtype}; a file holds numbers, strings and booleans")
    return {"type": dtype.name, "values": values}


def read_classes(fields: Fields) -> Labels:
    """The labels, sorted and distinct."""
    kind = fields.choice("type", ("str", "bool", "object", *_NUMBERS))
    width = fields.count("width") if kind == "str" else 0
    labels = [restored(value, "a class") for value in fields.items("values")]
    fields.end()
    if not labels:
        raise Flaw("it has no classes")
    _check_sorted(labels)
    wanted: type = {"s": str, "b": bool, "f": float, "o": object}.get(kind[0], int)
    if not all(type(label) is wanted for label in labels) and wanted is not object:
        raise Flaw(f"its classes are not all of type {kind}")
    if wanted is str:
        if not 1 <= width <= _MOST_CHARACTERS // len(labels):
            raise Flaw(f"its classes take up no characters or more than {_MOST_CHARACTERS:,}")
        kind = f"<U{width}"
    try:
        with np.errstate(all="ignore"):
            classes: Labels = np.array(labels, dtype=kind)
    except (OverflowError, ValueError):
        raise Flaw(f"its classes are not all of type {kind}") from None
    if classes.tolist() != labels:
        raise Flaw(f"its classes do not fit into the type {kind}")
    return classes


def _check_sorted(labels: list[Scalar]) -> None:
    try:
        in_order = all(a < b for a, b in pairwise(cast("list[str]", labels)))
    except TypeError:
        in_order = False
    if not in_order or None in labels:
        raise Flaw("its classes are not sorted and distinct")


def write_features(model: Model) -> list[object] | None:
    """The names of the features, or None where they are the numbers of the columns."""
    vocabulary: dict[Hashable, int] | None = model.__dict__.get("_vocabulary")
    names = model.__dict__.get("_feature_names", vocabulary)
    if names is None:
        return None
    if _are_texts(names):  # there may be very many
        return list(names)
    return [written(name, f"the feature {name!r}") for name in names]


def read_features(model: Model, values: object, n_features: int) -> None:
    """Give the model the names of its features."""
    model.n_features_in_ = as_count(n_features, "its number of features")
    model._vocabulary = None
    if values is None:
        return
    if not isinstance(values, list) or len(values) != n_features:
        raise Flaw(f"its features are not a list of {n_features} names")
    if values and _are_texts(values):
        model._feature_names = np.array(values, dtype=object)
        return
    names = [restored(value, "the name of a feature") for value in values]
    vocabulary: dict[Hashable, int] = {name: column for column, name in enumerate(names)}
    if len(vocabulary) < n_features:
        raise Flaw("two of its features have the same name")
    model._vocabulary = vocabulary


def _are_texts(names: Iterable[object]) -> bool:
    """Whether all names are plain text."""
    return set(map(type, names)) <= {str}
