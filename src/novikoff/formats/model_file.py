"""The format of model files: a `ModelRecord` as safetensors with a JSON header, never a pickle.

The tensors contain weights and counts bit for bit. The header contains readable fields: the
estimator and its parameters, classes, features, certificates, and the user's additions. A SHA-256
over both detects damage. Nevertheless, the reader trusts nothing: sizes are bounded before they are
used, every name, type and shape is checked, and no field or tensor may be left over. Nothing in a
file is ever executed.

The safetensors metadata has one entry, "novikoff": the header as JSON text, whose last field is the
checksum.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from novikoff.core.model import LinearModel, Model
from novikoff.errors import InvalidJsonError, ModelFileError
from novikoff.formats.model_record import Body, ModelRecord
from novikoff.formats.tensors import Array, Tensors, matrix_tensors
from novikoff.proofs.strict_json import as_json, check_version, parse_object, take_fields

MODEL_SCHEMA_VERSION: Final = 1
# The estimators that a file can hold, by their public names, and the class of the model of each in
# `novikoff.core`.
ESTIMATORS: Final = {
    **dict.fromkeys(
        ("Perceptron", "Pocket", "MaxMargin", "PassiveAggressive"), "model.LinearModel"
    ),
    "PNormPerceptron": "p_norm.PNormModel",
    "SecondOrderPerceptron": "second_order.SecondOrderModel",
    "KernelPerceptron": "kernel_perceptron.KernelModel",
    "Forgetron": "forgetron.ForgetronModel",
}
MAX_FILE_BYTES, MAX_HEADER_BYTES = 2**33, 2**26
_MAX_LABEL_CHARACTERS = 2**24  # limits the array of labels, which pads each to the longest
_MAX_SIDES = 2**26  # limits the entries of the table of sides, classes × rules
CHECKSUM_MARK: Final = ', "checksum": "'
_EXTRAS: Final = ("preprocessing", "data", "certificate")
_LABEL_TYPES: Final[dict[str, type]] = {
    "str": str,
    "bool": bool,
    "object": object,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": float for bits in (16, 32, 64)},
}


def dump_record(record: ModelRecord) -> bytes:
    """Return the bytes of a model file; ModelFileError if a file cannot hold the record.

    >>> model = LinearModel(np.array(["no", "yes"]), 2)
    >>> record = ModelRecord("Perceptron", model, data={"source": "and.csv"})
    >>> again = parse_record(dump_record(record))
    >>> again.model.classes.tolist(), again.data
    (['no', 'yes'], {'source': 'and.csv'})
    """
    from novikoff import __version__

    try:
        model, tensors = _write_model(record.model)
        header: Body = {
            "schema_version": MODEL_SCHEMA_VERSION,
            "program": f"novikoff {__version__}",
            "estimator": record.estimator,
            "model": model,
            "names": as_json(_check_names(record.names, record.model.n_features), "its features"),
        }
        for name in ("parameters", "fitted", *_EXTRAS):
            value = getattr(record, name)
            if not isinstance(value, Mapping | None):
                raise InvalidJsonError(f"{name} is of type {type(value).__name__}, not a mapping")
            header[name] = as_json(value, name)
        text = json.dumps(header, allow_nan=False)
        if len(text) > MAX_HEADER_BYTES:
            raise InvalidJsonError(f"its header would be longer than {MAX_HEADER_BYTES:,} bytes")
    except InvalidJsonError as error:
        raise ModelFileError(f"The {record.estimator} cannot be saved: {error}.") from None
    tensors |= {f"fitted.{name}": array for name, array in record.arrays.items()}
    tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return save_tensors(
        tensors, {"novikoff": f'{text[:-1]}{CHECKSUM_MARK}{header_checksum(text, tensors)}"}}'}
    )


def read_record(path: str | os.PathLike[str]) -> ModelRecord:
    """Read a model file.

    Raises
    ------
    ModelFileError
        If the file is not a model, or was altered.
    OSError
        If the file cannot be read.
    """
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise ModelFileError("it is not a regular file")
        with open(name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_FILE_BYTES:
                raise ModelFileError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
            return parse_record(file.read(size))
    except ModelFileError as error:
        raise ModelFileError(f"{name} cannot be read as a model: {error}.") from None


def parse_record(content: bytes) -> ModelRecord:
    """Read the bytes of a model file; the message of a ModelFileError is a clause."""
    try:
        header, tensors = _unpack(content)
        if "schema_version" in header:  # otherwise `take_fields` names the missing field
            check_version(header, "its header", MODEL_SCHEMA_VERSION, ": fit the model again")
        fields = take_fields(
            header,
            "its header",
            schema_version="count",
            estimator=(*ESTIMATORS,),
            model="object",
            names="any",
            parameters="object",
            fitted="object",
            **dict.fromkeys(_EXTRAS, "object or null"),
            program="text",
        )
        kind = _model_class(fields["estimator"])
        model = _read_model(kind, fields["model"], tensors)
        names = _check_names(fields["names"], model.n_features)
        arrays = tensors.rest("fitted.")
        tensors.end()
    except InvalidJsonError as error:
        raise ModelFileError(str(error)) from None
    copied = ("estimator", "parameters", "fitted", *_EXTRAS, "program")
    return ModelRecord(
        model=model, names=names, arrays=arrays, **{name: fields[name] for name in copied}
    )


def _unpack(content: bytes) -> tuple[Body, Tensors]:
    """Return the header and the tensors in the bytes of a safetensors file."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, 2 * MAX_HEADER_BYTES):
        raise InvalidJsonError(
            "it looks like a certificate, which novikoff verify checks against the data"
            if content[:1] == b"{"
            else "it is not a safetensors file, or not whole; models are files that novikoff fit "
            "and stream write, NAME.novikoff"
        )
    try:
        tensors: dict[str, Array] = dict(load_tensors(content))
        text = content[8 : 8 + length].decode("utf-8")
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        reason = str(error)[:200]
        raise InvalidJsonError(f"it is not a safetensors file, or not whole ({reason})") from None
    metadata = parse_object(text, "its table of tensors").get("__metadata__")
    if not isinstance(metadata, dict) or list(metadata) != ["novikoff"]:
        raise InvalidJsonError("it is a safetensors file, but not one of novikoff's")
    entry = metadata["novikoff"]
    if not isinstance(entry, str) or len(entry) > 2 * MAX_HEADER_BYTES:
        raise InvalidJsonError("its header is not a text, or too long")
    body, _, checksum = entry.rpartition(CHECKSUM_MARK)
    header = f"{body}}}"
    if checksum != f'{header_checksum(header, tensors)}"}}':
        raise InvalidJsonError("it was altered or damaged: its checksum does not match")
    return parse_object(header, "its header"), Tensors(tensors)


def header_checksum(header: str, tensors: Mapping[str, Array]) -> str:
    """Return the SHA-256 of the header and of the name, type, shape and bytes of each tensor."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _write_model(model: Model) -> tuple[Body, dict[str, Array]]:
    """Return a model as JSON values, and its arrays by their names."""
    tensors: dict[str, Array] = {"totals": model.totals}
    tensors |= {_tensor(type(model), name): array for name, array in model.state.items()}
    if model.support is not None:
        tensors |= matrix_tensors("support", model.support)
    body: Body = {
        "classes": _write_classes(model.classes),
        "multi_class": model.multi_class,
        "fit_intercept": bool(model.fit_intercept),
    }
    if isinstance(model, LinearModel):
        body["radius"] = as_json(model.radius, "its radius")
    else:
        body["features"], body["averages"] = model.n_features, bool(model.averages)
        body["settings"] = as_json(model.settings, "its settings")
    return body, tensors


def _read_model(kind: type[Model], body: object, tensors: Tensors) -> Model:
    """Read a model; the classes determine the number of rules, and W its own width."""
    linear = issubclass(kind, LinearModel)
    kinds: dict[str, str] = {"features": "count", "averages": "flag", "settings": "object"}
    fields = take_fields(
        body,
        "its model",
        classes="object",
        multi_class=("ovr", "ovo"),
        fit_intercept="flag",
        **({"radius": "any"} if linear else kinds),
    )
    classes, multi_class = _read_classes(fields["classes"]), fields["multi_class"]
    fit_intercept = fields["fit_intercept"]
    n_rules = _n_rules(len(classes), multi_class)
    lengths = {"K": n_rules, **{digit: int(digit) for digit in "123456789"}}
    if linear:
        averages = "weighted" in tensors
        settings = {}
        radius = fields["radius"]
        if type(radius) not in (int, float) or not 0 <= radius < 2**1023:
            raise InvalidJsonError("its radius is not a number from 0 up")
    else:
        lengths["d"], averages = fields["features"], fields["averages"]
        settings = fields["settings"]
        lengths["p"] = lengths["d"] + 1
        if lengths["d"] > _MAX_SIDES:
            raise InvalidJsonError("it has too many features")
    arrays = {}
    for name in kind.names(averages=averages):
        letters, tensor = kind.shapes[name], _tensor(kind, name)
        array = tensors.take(tensor, "float64", *(lengths.get(letter) for letter in letters))
        for letter, length in zip(letters, array.shape, strict=True):
            if lengths.setdefault(letter, length) != length:
                raise InvalidJsonError(f"the tensor {tensor!r} has a wrong shape")
        arrays[name] = array
    n_features = lengths["p"] - 1 if linear else lengths["d"]
    if n_features < 0:
        raise InvalidJsonError("it has no weights")
    totals = tensors.take("totals", "int64", 3, n_rules)
    support = None
    if "support" in tensors or "support.data" in tensors:
        support = tensors.take_matrix("support", n_features)
    try:
        kind.check_settings(settings)
        given = classes, n_features, fit_intercept, settings, averages, multi_class
        model = kind(*given, arrays, support)
        model.totals = totals
        model.check()
        with np.errstate(all="ignore"):
            model.scores(np.zeros((1, n_features)))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidJsonError(str(error)[:300].rstrip(".")) from None
    if isinstance(model, LinearModel):
        model.radius = float(radius)
    return model


def _tensor(kind: type[Model], name: str) -> str:
    """Return the name of an array in a file."""
    if issubclass(kind, LinearModel):
        return {"W": "weights"}.get(name, name)
    return f"state.{name}"


def _n_rules(n: int, multi_class: str) -> int:
    """Return the number of rules that n classes need."""
    n_rules = 1 if n <= 2 else n if multi_class == "ovr" else n * (n - 1) // 2
    if n * n_rules > _MAX_SIDES:
        raise InvalidJsonError(f"it has {n:,} classes, which are too many")
    return n_rules


def _model_class(estimator: str) -> type[Model]:
    """Return the class of the model of an estimator, imported only when it is needed."""
    module, name = ESTIMATORS[estimator].split(".")
    kind: type[Model] = getattr(import_module(f"novikoff.core.{module}"), name)
    return kind


def _write_classes(classes: Array) -> Body:
    """Return the labels with their type."""
    values = [as_json(label, f"the class {label!r}") for label in classes.tolist()]
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind not in _LABEL_TYPES:
        raise InvalidJsonError(
            f"its classes are of type {kind}; a file holds numbers, strings and booleans"
        )
    return {"type": kind, "values": values}


def _read_classes(body: object) -> Array:
    """Read the labels, which must be sorted and distinct."""
    fields = take_fields(body, "its classes", type=tuple(_LABEL_TYPES), values="list")
    kind, labels = fields["type"], fields["values"]
    wanted = (str, int, float, bool) if kind == "object" else (_LABEL_TYPES[kind],)
    if not labels:
        raise InvalidJsonError("it has no classes")
    if kind == "str" and len(labels) * max(len(str(c)) for c in labels) > _MAX_LABEL_CHARACTERS:
        raise InvalidJsonError(
            f"its classes take up more than {_MAX_LABEL_CHARACTERS:,} characters"
        )
    try:
        if not all(type(label) in wanted for label in labels):
            raise ValueError
        ordered = all(a < b for a, b in pairwise(labels))
        with np.errstate(all="ignore"):
            classes: Array = np.array(labels, dtype=kind)
    except (TypeError, OverflowError, ValueError):
        raise InvalidJsonError(f"its classes are not all of type {kind}") from None
    if not ordered or classes.tolist() != labels:
        raise InvalidJsonError(f"its classes are not sorted and distinct, or no {kind}")
    return classes


def _check_names(names: Any, n_features: int) -> list[object] | None:
    """Return the names of features; InvalidJsonError if one is neither text nor a number."""
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != n_features:
        raise InvalidJsonError(f"its features are not a list of {n_features} names")
    for name in names:
        if not isinstance(name, str | int | float | np.integer):
            raise InvalidJsonError(f"the feature {name!r} is neither text nor a number")
    if set(map(type, names)) - {str} and len(set(names)) < n_features:
        raise InvalidJsonError("two of its features have the same name")
    return names
