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
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from novikoff.core.linear_model import LinearModel
from novikoff.core.rows import SparseMatrix
from novikoff.core.schemes import scheme_for
from novikoff.report.strict_json import MAX_COUNT, Fields, InvalidJsonError, as_json, parse_object

if TYPE_CHECKING:
    from novikoff.core.voting import Votes
    from novikoff.geometry.error_bound import ErrorBound

Array: TypeAlias = npt.NDArray[np.generic]
Body: TypeAlias = dict[str, object]

SCHEMA_VERSION: Final = 2
ESTIMATORS: Final = ("Perceptron", "Pocket", "MaxMargin")
MAX_FILE_BYTES, MAX_HEADER_BYTES = 2**33, 2**26
_MAX_LABEL_CHARACTERS = 2**24  # each label padded to the longest
_MAX_SIDES = 2**26  # entries of the table of signs, classes × rules
_MARK: Final = ', "checksum": "'
_NUMBERS: Final = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is not a model; the message is a sentence."""


@dataclass(frozen=True)
class ModelRecord:
    """All that a model file holds, in plain values.

    Attributes
    ----------
    estimator : {"Perceptron", "Pocket", "MaxMargin"}
        The estimator that `novikoff.load` makes of it.
    model : LinearModel
        Classes, weights and counts: what predicts.
    names : list or None
        The names of the features; None where they are the numbers of the columns.
    parameters : dict
        Parameters of the estimator as JSON values; those that are not there have their defaults.
    fitted : dict
        What else a fit has left, as JSON values.
    arrays : dict of arrays
        What else a fit has left, as arrays.
    preprocessing, data, certificate : dict or None
        How rows were prepared, where they came from, and what was proved about them.
    program : str
        The program that wrote the file.
    """

    estimator: str
    model: LinearModel
    names: list[object] | None = None
    parameters: Body = field(default_factory=dict)
    fitted: Body = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    preprocessing: Mapping[str, object] | None = None
    data: Mapping[str, object] | None = None
    certificate: Mapping[str, object] | None = None
    program: str = ""

    @property
    def column_names(self) -> list[str]:
        """A name for each feature, its number where it has none."""
        if self.names is not None:
            return [str(name) for name in self.names]
        first = (self.preprocessing or {}).get("first", 1)
        start = first if isinstance(first, int) else 1
        return [str(start + j) for j in range(self.model.n_features)]


def dump(record: ModelRecord) -> bytes:
    """The bytes of a model file.

    Raises
    ------
    ModelFileError
        If the record has something that a file cannot hold.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.core.linear_model import LinearModel
    >>> model = LinearModel.blank(["no", "yes"], 2)
    >>> again = parse(dump(ModelRecord("Perceptron", model, data={"source": "and.csv"})))
    >>> again.model.classes.tolist(), again.data
    (['no', 'yes'], {'source': 'and.csv'})
    """
    from novikoff import __version__

    try:
        body, tensors = _write_model(record.model)
        header: Body = {
            "schema_version": SCHEMA_VERSION,
            "program": f"novikoff {__version__}",
            "estimator": record.estimator,
            "model": body,
        }
        names = record.names
        if names is not None:
            if len(names) != record.model.n_features:
                raise InvalidJsonError(
                    f"it has {record.model.n_features} features, but other names"
                )
            if set(map(type, names)) - {str}:
                odd = [name for name in names if not isinstance(name, str | int | float)]
                if odd:
                    raise InvalidJsonError(f"the feature {odd[0]!r} is neither text nor a number")
                names = [as_json(name, f"the feature {name!r}") for name in names]
        header["names"] = names
        for name in ("parameters", "fitted", "preprocessing", "data", "certificate"):
            value: Mapping[str, object] | None = getattr(record, name)
            if value is not None and not isinstance(value, Mapping):
                raise InvalidJsonError(f"{name} is of type {type(value).__name__}, not a mapping")
            header[name] = as_json(value, name)
        tensors |= {f"fitted.{name}": array for name, array in record.arrays.items()}
        text = json.dumps(header, allow_nan=False)
        if len(text) > MAX_HEADER_BYTES:
            raise InvalidJsonError(f"its header would be longer than {MAX_HEADER_BYTES:,} bytes")
    except InvalidJsonError as error:
        raise ModelFileError(f"The {record.estimator} cannot be saved: {error}.") from None
    tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return save_tensors(tensors, {"novikoff": f'{text[:-1]}{_MARK}{_checksum(text, tensors)}"}}'})


def read(path: str | os.PathLike[str]) -> ModelRecord:
    """The record in a model file.

    Raises
    ------
    ModelFileError
        If the file is not a model, or was altered.
    OSError
        If the file is not there or may not be read.
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
        return _parse(content)
    except InvalidJsonError as error:
        raise ModelFileError(str(error)) from None


def _parse(content: bytes) -> ModelRecord:
    header, tensors = _unpack(content)
    fields = Fields(header, "its header")
    version = fields.take("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        newer = type(version) is int and version > SCHEMA_VERSION
        raise InvalidJsonError(
            f"its schema version is {str(version)[:80]}, of {'a newer' if newer else 'another'} "
            f"novikoff; this one reads version {SCHEMA_VERSION}"
        )
    program = fields.text("program")
    estimator = fields.choice("estimator", ESTIMATORS)
    taken = Tensors(tensors)
    model = _read_model(fields.part("model"), taken)
    parameters, fitted = fields.mapping("parameters"), fields.mapping("fitted")
    record = ModelRecord(
        estimator=estimator,
        model=model,
        names=_read_names(fields.take("names"), model.n_features),
        parameters={} if parameters is None else parameters,
        fitted={} if fitted is None else fitted,
        arrays=taken.rest("fitted."),
        preprocessing=fields.mapping("preprocessing"),
        data=fields.mapping("data"),
        certificate=fields.mapping("certificate"),
        program=program,
    )
    fields.end()
    taken.end()
    return record


def _unpack(content: bytes) -> tuple[Body, dict[str, Array]]:
    """The header and the tensors of safetensors' bytes."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, 2 * MAX_HEADER_BYTES):
        raise InvalidJsonError("it is not a safetensors file, or not whole")
    try:
        tensors: dict[str, Array] = dict(load_tensors(content))
        text = content[8 : 8 + length].decode("utf-8")
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise InvalidJsonError(
            f"it is not a safetensors file, or not whole ({str(error)[:200]})"
        ) from None
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
    return parse_object(header, "its header"), tensors


def _checksum(header: str, tensors: Mapping[str, Array]) -> str:
    """SHA-256 of the header and of the tensors by name, type, shape and bytes."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


class Tensors:
    """The tensors of a file, each taken once, with its type and shape; none may be left.

    Examples
    --------
    >>> tensors = Tensors({"weights": np.ones((3, 1))})
    >>> tensors.floats("weights", 3, 2)
    Traceback (most recent call last):
        ...
    novikoff.report.strict_json.InvalidJsonError: the tensor 'weights' has shape (3, 1), not (3, 2)
    """

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._left = dict(tensors)

    def floats(self, name: str, *shape: int | None, finite: bool = True) -> npt.NDArray[np.float64]:
        """A float64 tensor; None in the shape stands for any length."""
        array = np.array(self._take(name, ("float64",), shape), dtype=np.float64)
        if finite and not np.isfinite(array).all():
            raise InvalidJsonError(f"the tensor {name!r} holds NaN or infinity")
        return array

    def integers(
        self, name: str, *shape: int | None, below: int = MAX_COUNT
    ) -> npt.NDArray[np.int64]:
        """A tensor of int64 or int32, as int64; its numbers are from 0 to ``below`` − 1."""
        array = np.array(self._take(name, ("int64", "int32"), shape)).astype(np.int64)
        if array.size > 0 and not 0 <= int(array.min()) <= int(array.max()) < below:
            raise InvalidJsonError(
                f"the tensor {name!r} holds numbers that are not from 0 to {below - 1}"
            )
        return array

    def matrix(self, name: str, n_rows: int | None, n_columns: int, kind: str) -> sp.csr_array:
        """The three tensors of a CSR matrix, checked."""
        values = np.array(self._take(f"{name}.data", (kind,), (None,)))
        if not np.isfinite(values).all():
            raise InvalidJsonError(f"the tensor {name + '.data'!r} holds NaN or infinity")
        pointers = self.integers(f"{name}.indptr", None if n_rows is None else n_rows + 1)
        columns = self.integers(f"{name}.indices", len(values), below=max(n_columns, 1))
        ends = (0, len(values)) == (*pointers[:1].tolist(), *pointers[-1:].tolist())
        if not ends or (np.diff(pointers) < 0).any():
            raise InvalidJsonError(f"the tensor {name + '.indptr'!r} does not part rows")
        shape = len(pointers) - 1, n_columns
        index = np.int32 if max(len(values), n_columns) < 2**31 else np.int64
        return sp.csr_array((values, columns.astype(index), pointers.astype(index)), shape=shape)

    def rest(self, prefix: str) -> dict[str, Array]:
        """All tensors whose name begins with a word, by the rest of their names."""
        names = [name for name in self._left if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._left.pop(name) for name in names}

    def end(self) -> None:
        """Refuse tensors that nobody took."""
        if self._left:
            raise InvalidJsonError(f"there is an unknown tensor {min(self._left)[:80]!r}")

    def _take(self, name: str, types: tuple[str, ...], shape: tuple[int | None, ...]) -> Array:
        if name not in self._left:
            raise InvalidJsonError(f"there is no tensor {name!r}")
        array = self._left.pop(name)
        if array.dtype.name not in types:
            raise InvalidJsonError(f"the tensor {name!r} is of type {array.dtype}, not {types[0]}")
        fits = array.ndim == len(shape) and all(
            want is None or want == have for want, have in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if length is None else str(length) for length in shape)
            raise InvalidJsonError(f"the tensor {name!r} has shape {array.shape}, not ({wanted})")
        return array


def run_state(n_iter: int, *, converged: bool, grows: bool = False) -> Body:
    """What a run of the perceptron leaves beside its model, without counts by row or a trace.

    ``grows`` is whether it takes in classes that are new.
    """
    return {
        "n_iter": n_iter,
        "converged": converged,
        "open": grows,
        "rows": None,
        "trace": None,
    }


def pocket_state(
    errors: Sequence[Fraction] | Sequence[float],
    proofs: Sequence[ErrorBound],
    histories: Sequence[npt.NDArray[np.float64]],
) -> tuple[Body, dict[str, Array]]:
    """What a pocket has found, one entry for each rule; all else follows from the proofs."""
    found = [n if isinstance(n, int) else float(n) for n in errors]
    body: Body = {"n_errors": found, "certificates": [proof.to_json() for proof in proofs]}
    return body, {f"history.{rule}": history for rule, history in enumerate(histories)}


def split_matrix(name: str, matrix: SparseMatrix) -> dict[str, Array]:
    """The three arrays of a CSR matrix, by the names that `Tensors.matrix` reads."""
    return {f"{name}.{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}


def _write_model(model: LinearModel) -> tuple[Body, dict[str, Array]]:
    tensors: dict[str, Array] = {"weights": model.W, "totals": model.totals}
    if model.averages:
        tensors["weighted"] = model.weighted
    body: Body = {
        "classes": _write_classes(model.classes),
        "n_features": model.n_features,
        "multi_class": model.multi_class,
        "fit_intercept": bool(model.fit_intercept),
        "averages": bool(model.averages),
        "radius": as_json(model.radius, "its radius"),
        "votes": None,
    }
    for rule, votes in enumerate(model.votes):
        at = f"votes.{rule}"
        if isinstance(votes.rows, np.ndarray):
            body["votes"], tensors[f"{at}.rows"] = "dense", votes.rows
        else:
            body["votes"] = "sparse"
            tensors |= split_matrix(f"{at}.rows", votes.rows)
        for name in ("start", "which", "tau", "survived"):
            tensors[f"{at}.{name}"] = getattr(votes, name)
    return body, tensors


def _read_model(fields: Fields, tensors: Tensors) -> LinearModel:
    """Every length follows from the classes and the number of features."""
    classes = _read_classes(fields.part("classes"))
    d, multi_class = fields.count("n_features"), fields.choice("multi_class", ("ovr", "ovo"))
    fit_intercept, averages = fields.flag("fit_intercept"), fields.flag("averages")
    radius, votes = fields.take("radius"), fields.take("votes")
    fields.end()
    if type(radius) not in (int, float) or not 0 <= cast("float", radius) < 2**1023:
        raise InvalidJsonError("its radius is not a number from 0 up")
    n = len(classes)
    n_rules = 1 if n <= 2 else n if multi_class == "ovr" else n * (n - 1) // 2
    if n * n_rules > _MAX_SIDES:
        raise InvalidJsonError(f"it has {n:,} classes, which are too many")
    W = tensors.floats("weights", d + 1, n_rules)
    model = LinearModel(
        classes=classes,
        scheme=scheme_for(n, multi_class),
        W=W,
        fit_intercept=fit_intercept,
        weighted=tensors.floats("weighted", d + 1, n_rules) if averages else np.empty((0, n_rules)),
        totals=tensors.integers("totals", 3, n_rules),
        multi_class=multi_class,
        radius=float(cast("float", radius)),
    )
    if (model.totals[2] > model.totals[1]).any():
        raise InvalidJsonError("it counts more mistakes than updates")
    try:
        with np.errstate(all="ignore"):
            decisive = model.decisive()
    except ValueError as error:
        raise InvalidJsonError(f"{error}".rstrip(".")) from None
    if not fit_intercept and (decisive[-1].any() or W[-1].any()):
        raise InvalidJsonError("its intercept is not zero, though fit_intercept is false")
    if votes is not None:
        if votes not in ("dense", "sparse") or averages:
            raise InvalidJsonError("its votes do not belong to a run that is voted")
        model.votes = [
            _read_votes(model, rule, votes == "sparse", tensors) for rule in range(n_rules)
        ]
    return model


def _read_votes(model: LinearModel, rule: int, sparse: bool, tensors: Tensors) -> Votes:
    from novikoff.core.voting import Votes

    at, d = f"votes.{rule}", model.n_features
    start = tensors.floats(f"{at}.start", d + 1)
    rows = (
        tensors.matrix(f"{at}.rows", None, d, "float64")
        if sparse
        else tensors.floats(f"{at}.rows", None, d)
    )
    which = tensors.integers(f"{at}.which", None, below=max(1, rows.shape[0]))
    tau = tensors.floats(f"{at}.tau", len(which))
    survived = tensors.integers(f"{at}.survived", len(which) + 1)
    if survived.sum(dtype=np.float64) > MAX_COUNT:
        raise InvalidJsonError("its votes are more than can be counted")
    return Votes(start, rows, which, tau, survived, float(model.fit_intercept))


def _write_classes(classes: Array) -> Body:
    """The labels with their type."""
    labels: list[object] = classes.tolist()
    values = [as_json(label, f"the class {label!r}") for label in labels]
    dtype = classes.dtype
    if dtype.kind == "U":
        width, longest = dtype.itemsize // 4, max(len(str(label)) for label in labels)
        fits = width * len(labels) <= _MAX_LABEL_CHARACTERS
        return {"type": "str", "width": max(1, width if fits else longest), "values": values}
    if dtype.name not in (*_NUMBERS, "bool", "object"):
        raise InvalidJsonError(
            f"its classes are of type {dtype}; a file holds numbers, strings and booleans"
        )
    return {"type": dtype.name, "width": 0, "values": values}


def _read_classes(fields: Fields) -> Array:
    """The labels, sorted and distinct."""
    kind = fields.choice("type", ("str", "bool", "object", *_NUMBERS))
    width, labels = fields.count("width"), fields.items("values")
    fields.end()
    if not labels:
        raise InvalidJsonError("it has no classes")
    wanted: type = {"s": str, "b": bool, "f": float, "o": object}.get(kind[0], int)
    if not all(type(label) is wanted for label in labels) and wanted is not object:
        raise InvalidJsonError(f"its classes are not all of type {kind}")
    try:
        in_order = all(a < b for a, b in pairwise(cast("list[str]", labels)))
    except TypeError:
        in_order = False
    if not in_order or not all(isinstance(label, str | int | float) for label in labels):
        raise InvalidJsonError("its classes are not sorted and distinct")
    if wanted is str:
        if not 1 <= width <= _MAX_LABEL_CHARACTERS // len(labels):
            raise InvalidJsonError(
                f"its classes take up no characters or more than {_MAX_LABEL_CHARACTERS:,}"
            )
        kind = f"<U{width}"
    try:
        with np.errstate(all="ignore"):
            classes: Array = np.array(labels, dtype=kind)
    except (OverflowError, ValueError):
        raise InvalidJsonError(f"its classes are not all of type {kind}") from None
    if classes.tolist() != labels:
        raise InvalidJsonError(f"its classes do not fit into the type {kind}")
    return classes


def _read_names(values: object, n_features: int) -> list[object] | None:
    if values is None:
        return None
    if not isinstance(values, list) or len(values) != n_features:
        raise InvalidJsonError(f"its features are not a list of {n_features} names")
    names = cast("list[object]", values)
    if set(map(type, names)) - {str, int, float, bool}:
        raise InvalidJsonError("a feature has a name that is neither text nor a number")
    if set(map(type, names)) - {str} and len(set(names)) < n_features:
        raise InvalidJsonError("two of its features have the same name")
    return names
