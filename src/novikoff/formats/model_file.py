"""The model file: a `ModelRecord` as safetensors with a JSON header, never a pickle.

The tensors hold weights and counts bit for bit. The header holds everything that can be read by
eye: the estimator and its parameters, classes, features, certificates, and additions of the user.
A SHA-256 over both makes damage known. Reading trusts nothing all the same: sizes are bounded
before anything is computed with them, every name, type and shape is checked, and no field or
tensor may be left over. Nothing in a file is ever executed.

The safetensors metadata has one entry, "novikoff", the header as JSON text; its last field is the
checksum.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from novikoff.core.linear_model import LinearModel
from novikoff.core.model import Model
from novikoff.core.rows import Matrix
from novikoff.errors import InvalidJsonError, ModelFileError
from novikoff.proofs.strict_json import MAX_COUNT, as_json, parse_object, take_fields

if TYPE_CHECKING:
    from novikoff.proofs.error_bound import ErrorBound

Array: TypeAlias = npt.NDArray[np.generic]
Body: TypeAlias = dict[str, object]

SCHEMA_VERSION: Final = 2
# The models, in `novikoff.core`, of the estimators that keep more than weights.
STATES: Final = {
    "PNormPerceptron": "p_norm.PNormModel",
    "SecondOrderPerceptron": "second_order.SecondOrderModel",
    "KernelPerceptron": "kernel_perceptron.KernelModel",
    "Forgetron": "forgetron.ForgetronModel",
}
ESTIMATORS: Final = ("Perceptron", "Pocket", "MaxMargin", "PassiveAggressive", *STATES)
MAX_FILE_BYTES, MAX_HEADER_BYTES = 2**33, 2**26
_MAX_LABEL_CHARACTERS = 2**24  # each label padded to the longest
_MAX_SIDES = 2**26  # entries of the table of signs, classes × rules
_MARK: Final = ', "checksum": "'
_EXTRAS: Final = ("preprocessing", "data", "certificate")
_LABEL_TYPES: Final[dict[str, type]] = {
    "str": str,
    "bool": bool,
    "object": object,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": float for bits in (16, 32, 64)},
}


@dataclass(frozen=True)
class ModelRecord:
    """All that a model file holds, in plain values."""

    estimator: str  # what `novikoff.load` makes of it
    model: Model  # predicts
    names: list[object] | None = None  # None where features have the numbers of their columns
    parameters: Body = field(default_factory=dict)  # JSON values; others have their defaults
    fitted: Body = field(default_factory=dict)  # what else a fit has left, as JSON values
    arrays: dict[str, Array] = field(default_factory=dict)  # and as arrays
    preprocessing: Mapping[str, object] | None = None  # how rows were prepared
    data: Mapping[str, object] | None = None  # where they came from
    certificate: Mapping[str, object] | None = None  # what was proved about them
    program: str = ""  # which wrote the file

    @property
    def column_names(self) -> list[str]:
        """A name for each feature, its number where it has none."""
        if self.names is not None:
            return [str(name) for name in self.names]
        first = (self.preprocessing or {}).get("first", 1)
        start = first if isinstance(first, int) else 1
        return [str(start + j) for j in range(self.model.n_features)]


def dump(record: ModelRecord) -> bytes:
    """The bytes of a model file; ModelFileError if the record has something that none can hold.

    >>> model = LinearModel(np.array(["no", "yes"]), 2)
    >>> again = parse(dump(ModelRecord("Perceptron", model, data={"source": "and.csv"})))
    >>> again.model.classes.tolist(), again.data
    (['no', 'yes'], {'source': 'and.csv'})
    """
    from novikoff import __version__

    try:
        model, tensors = _write_model(record.model)
        header: Body = {
            "schema_version": SCHEMA_VERSION,
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
    return save_tensors(tensors, {"novikoff": f'{text[:-1]}{_MARK}{_checksum(text, tensors)}"}}'})


def read(path: str | os.PathLike[str]) -> ModelRecord:
    """The record in a model file.

    ModelFileError if the file is not a model, or was altered; OSError if it cannot be read.
    """
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise ModelFileError("it is not a regular file")
        with open(name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_FILE_BYTES:
                raise ModelFileError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
            return parse(file.read(size))
    except ModelFileError as error:
        raise ModelFileError(f"{name} cannot be read as a model: {error}.") from None


def parse(content: bytes) -> ModelRecord:
    """The record in the bytes of a model file; ModelFileError says in a clause what is wrong."""
    try:
        header, tensors = _unpack(content)
        version = header.get("schema_version", SCHEMA_VERSION)
        if type(version) is not int or version != SCHEMA_VERSION:
            raise InvalidJsonError(
                f"its schema version is {str(version)[:80]}, of another novikoff; this one reads "
                f"version {SCHEMA_VERSION}"
            )
        _, estimator, body, names, parameters, fitted, *extras = take_fields(
            header,
            "its header",
            schema_version="count",
            estimator=ESTIMATORS,
            model="object",
            names="any",
            parameters="object",
            fitted="object",
            **dict.fromkeys(_EXTRAS, "object or null"),
            program="text",
        )
        model = _read_model(_model_kind(estimator, parameters), body, tensors)
        names = _check_names(names, model.n_features)
        arrays = tensors.rest("fitted.")
        tensors.end()
    except InvalidJsonError as error:
        raise ModelFileError(str(error)) from None
    return ModelRecord(estimator, model, names, parameters, fitted, arrays, *extras)


def _unpack(content: bytes) -> tuple[Body, Tensors]:
    """The header and the tensors of safetensors' bytes."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, 2 * MAX_HEADER_BYTES):
        what = "; it looks like JSON, as certificates are" if content[:1] == b"{" else ""
        raise InvalidJsonError(
            "it is not a safetensors file, or not whole; models are files that novikoff fit and "
            f"stream write, NAME.novikoff{what}"
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
    body, _, checksum = entry.rpartition(_MARK)
    header = f"{body}}}"
    if checksum != f'{_checksum(header, tensors)}"}}':
        raise InvalidJsonError("it was altered or damaged: its checksum does not match")
    return parse_object(header, "its header"), Tensors(tensors)


def _checksum(header: str, tensors: Mapping[str, Array]) -> str:
    """SHA-256 of the header and of the tensors by name, type, shape and bytes."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


class Tensors:
    """The tensors of a file, each taken once, with its type and shape; none may be left."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._left = dict(tensors)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(
        self, name: str, kind: str, *shape: int | None, below: int = MAX_COUNT
    ) -> npt.NDArray[Any]:
        """A copy of a tensor of type "float64", or of integers from 0 to ``below`` − 1.

        None in the shape stands for any length.
        """
        if name not in self._left:
            raise InvalidJsonError(f"there is no tensor {name!r}")
        array = self._left.pop(name)
        if array.dtype.name != kind and (array.dtype.name, kind) != ("int32", "int64"):
            raise InvalidJsonError(f"the tensor {name!r} is of type {array.dtype}, not {kind}")
        pairs = zip(shape, array.shape, strict=False)
        if array.ndim != len(shape) or any(want not in (None, have) for want, have in pairs):
            wanted = ", ".join("any" if length is None else str(length) for length in shape)
            raise InvalidJsonError(f"the tensor {name!r} has shape {array.shape}, not ({wanted})")
        found = array.astype(kind)
        if kind == "float64" and not np.isfinite(found).all():
            raise InvalidJsonError(f"the tensor {name!r} holds NaN or infinity")
        if kind != "float64" and found.size and not 0 <= found.min() <= found.max() < below:
            raise InvalidJsonError(
                f"the tensor {name!r} holds numbers that are not from 0 to {below - 1}"
            )
        return found

    def take_matrix(self, name: str, n_columns: int) -> npt.NDArray[Any] | sp.csr_array:
        """A dense matrix, or the three tensors of a CSR matrix."""
        if name in self:
            return self.take(name, "float64", None, n_columns)
        values = self.take(f"{name}.data", "float64", None)
        pointers = self.take(f"{name}.indptr", "int64", None)
        columns = self.take(f"{name}.indices", "int64", len(values), below=max(n_columns, 1))
        ends = (0, len(values)) == (*pointers[:1].tolist(), *pointers[-1:].tolist())
        if not ends or (np.diff(pointers) < 0).any():
            raise InvalidJsonError(f"the tensor {name + '.indptr'!r} does not part rows")
        index = np.int32 if max(len(values), n_columns) < 2**31 else np.int64
        parts = values, columns.astype(index), pointers.astype(index)
        return sp.csr_array(parts, shape=(len(pointers) - 1, n_columns))

    def rest(self, prefix: str) -> dict[str, Array]:
        """All tensors whose name begins with a word, by the rest of their names."""
        names = [name for name in self._left if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._left.pop(name) for name in names}

    def end(self) -> None:
        """Refuse tensors that nobody took."""
        if self._left:
            raise InvalidJsonError(f"there is an unknown tensor {min(self._left)[:80]!r}")


def run_state(n_iter: int, *, converged: bool, grows: bool = False) -> Body:
    """What a run leaves beside its model; ``grows``: whether it takes in classes that are new."""
    return {"n_iter": n_iter, "converged": bool(converged), "open": grows}


def pocket_state(
    errors: Sequence[int | Fraction],
    proofs: Sequence[ErrorBound],
    histories: Sequence[npt.NDArray[np.float64]],
) -> tuple[Body, dict[str, Array]]:
    """What a pocket has found, one entry for each rule; all else follows from the proofs.

    Costs of mistakes are exact: numerator and denominator.
    """
    found = [n if isinstance(n, int) else [*n.as_integer_ratio()] for n in errors]
    body: Body = {"n_errors": found, "certificates": [proof.to_json() for proof in proofs]}
    return body, {f"history.{rule}": history for rule, history in enumerate(histories)}


def _write_model(model: Model) -> tuple[Body, dict[str, Array]]:
    """Plain values, and the arrays by their names."""
    tensors: dict[str, Array] = {"totals": model.totals}
    tensors |= {_tensor(type(model), name): array for name, array in model.state.items()}
    if model.support is not None:
        tensors |= _matrix_tensors("support", model.support)
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
    """The number of rules follows from the classes, that of features of a linear model from W."""
    linear = issubclass(kind, LinearModel)
    own: dict[str, str] = {"features": "count", "averages": "flag", "settings": "object"}
    labels, multi_class, fit_intercept, *others = take_fields(
        body,
        "its model",
        classes="object",
        multi_class=("ovr", "ovo"),
        fit_intercept="flag",
        **({"radius": "any"} if linear else own),
    )
    classes = _read_classes(labels)
    n_rules = _n_rules(len(classes), multi_class)
    lengths = {"K": n_rules, **{digit: int(digit) for digit in "123456789"}}
    if linear:
        averages = "weighted" in tensors
        settings = {}
        (radius,) = others
        if type(radius) not in (int, float) or not 0 <= radius < 2**1023:
            raise InvalidJsonError("its radius is not a number from 0 up")
    else:
        lengths["d"], averages, settings = others
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
    """The name of an array in a file."""
    if issubclass(kind, LinearModel):
        return {"W": "weights"}.get(name, name)
    return f"state.{name}"


def _n_rules(n: int, multi_class: str) -> int:
    """The rules that n classes need."""
    n_rules = 1 if n <= 2 else n if multi_class == "ovr" else n * (n - 1) // 2
    if n * n_rules > _MAX_SIDES:
        raise InvalidJsonError(f"it has {n:,} classes, which are too many")
    return n_rules


def _matrix_tensors(name: str, rows: Matrix) -> dict[str, Array]:
    """A dense matrix, or a CSR matrix in three parts, as `Tensors.take_matrix` reads it."""
    if isinstance(rows, np.ndarray):
        return {name: rows}
    return {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}


def _model_kind(estimator: str, parameters: Body) -> type[Model]:
    """The model of an estimator; imported here, as its kernels are only needed for these."""
    if estimator not in STATES:
        return LinearModel
    module, name = STATES[estimator].split(".")
    kind: type[Model] = getattr(import_module(f"novikoff.core.{module}"), name)
    return kind


def _write_classes(classes: Array) -> Body:
    """The labels with their type."""
    values = [as_json(label, f"the class {label!r}") for label in classes.tolist()]
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind not in _LABEL_TYPES:
        raise InvalidJsonError(
            f"its classes are of type {kind}; a file holds numbers, strings and booleans"
        )
    return {"type": kind, "values": values}


def _read_classes(body: object) -> Array:
    """The labels, sorted and distinct."""
    kind, labels = take_fields(body, "its classes", type=tuple(_LABEL_TYPES), values="list")
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
    """Names of features, each of which is text or a number."""
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
