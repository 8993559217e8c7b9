"""The model file: a fitted estimator as safetensors with a JSON header, never a pickle.

The tensors hold the weights and counts bit for bit; the header holds all that can be read by
eye: the estimator and its parameters, classes, features, certificates, and what the user
adds. A seal, the SHA-256 of both, makes every damage known. Whoever makes a file can seal it,
so that reading trusts nothing all the same.

Layout, besides what `model_state` writes: the safetensors metadata has one entry, "novikoff",
whose value is the header as JSON text. Floats in it are ``{"float": hex}``, exact.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

from novikoff.report.files import write_file
from novikoff.report.model_parameters import ESTIMATORS, Model, is_known
from novikoff.report.model_state import read_state, write_state
from novikoff.report.model_tensors import Tensors
from novikoff.report.model_values import Fields, Flaw, copied_json, strict_json

SCHEMA_VERSION: Final = 1
# The largest file and the longest header that are read.
_MOST_BYTES, _MOST_HEADER = 2**33, 2**26


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is not a model; the message is a sentence."""


@dataclass(frozen=True)
class Saved:
    """All that a model file holds.

    Attributes
    ----------
    model : Perceptron, Pocket or MaxMargin
        The fitted estimator.
    preprocessing, data, certificate : dict or None
        What was given to `save`.
    header : dict
        The whole header as it stands in the file.
    """

    model: Model
    preprocessing: dict[str, object] | None
    data: dict[str, object] | None
    certificate: dict[str, object] | None
    header: dict[str, object]


def save(
    model: Model,
    path: str | os.PathLike[str],
    *,
    preprocessing: Mapping[str, object] | None = None,
    data: Mapping[str, object] | None = None,
    certificate: Mapping[str, object] | None = None,
    force: bool = True,
) -> None:
    """Write a fitted estimator to a file that `load` reads back, bit for bit.

    The file is written whole or not at all. It holds everything that the estimator shows and
    needs to go on learning, with these exceptions: a ``random_state`` that is a RandomState is
    stored as None, vectors among the parameters come back as float64 arrays, and callbacks
    and requests for metadata are not stored.

    Parameters
    ----------
    model : Perceptron, Pocket or MaxMargin
        A fitted estimator.
    path : path
        Where to write.
    preprocessing, data, certificate : mapping, optional
        What else to remember, as JSON can hold it: how rows were prepared, where they came
        from, what was proved about them.
    force : bool
        Whether a file that is already there is replaced.

    Raises
    ------
    ModelFileError
        If the model is not fitted, or has something that a file cannot hold.
    OutputError
        If the file cannot be written, or is there and ``force`` is False.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import novikoff as nv
    >>> clf = nv.Perceptron(order="cyclic").fit([[0, 0], [0, 1], [1, 1]], ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "and.safetensors"
    ...     save(clf, path, data={"source": "and.csv"})
    ...     again = load(path)
    ...     read(path).data
    {'source': 'and.csv'}
    >>> again.predict([[1, 1], [0, 1]]).tolist(), again.n_mistakes_ == clf.n_mistakes_
    (['yes', 'no'], True)
    """
    content = dump(model, preprocessing=preprocessing, data=data, certificate=certificate)
    write_file(path, content, force=force)


def load(path: str | os.PathLike[str]) -> Model:
    """The estimator in a model file, as it was when it was saved.

    Parameters
    ----------
    path : path
        A file that `save` wrote.

    Returns
    -------
    Perceptron, Pocket or MaxMargin
        It predicts, and goes on learning, bit for bit as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, or was altered; nothing in it is ever executed.
    OSError
        If the file is not there or may not be read.
    """
    return read(path).model


def read(path: str | os.PathLike[str]) -> Saved:
    """All that a model file holds; errors are those of `load`."""
    name = os.fspath(path)
    try:
        return _parse(_content(name))
    except Flaw as flaw:
        raise ModelFileError(f"{name} cannot be read as a model: {flaw}.") from None


def dump(
    model: Model,
    *,
    preprocessing: Mapping[str, object] | None = None,
    data: Mapping[str, object] | None = None,
    certificate: Mapping[str, object] | None = None,
) -> bytes:
    """What `save` writes; the parameters are the same.

    The bytes are read back before they are handed out: what is saved can be loaded.

    Examples
    --------
    >>> import novikoff as nv
    >>> dump(nv.Perceptron())
    Traceback (most recent call last):
        ...
    novikoff.report.model_file.ModelFileError: The Perceptron cannot be saved: it is not fitted.
    """
    name = type(model).__name__
    if not is_known(model):
        raise ModelFileError(
            f"A {name} cannot be saved: model files hold a {', a '.join(ESTIMATORS)}; save the "
            "last step of a pipeline, and describe the others in `preprocessing`."
        )
    extras = {"preprocessing": preprocessing, "data": data, "certificate": certificate}
    try:
        if "_rules" not in model.__dict__ or "_labels" not in model.__dict__:
            raise Flaw("it is not fitted")
        content = _compose(model, extras)
        _parse(content)
    except Flaw as flaw:
        raise ModelFileError(f"The {name} cannot be saved: {flaw}.") from None
    return content


def _compose(model: Model, extras: Mapping[str, Mapping[str, object] | None]) -> bytes:
    state, tensors = write_state(model)
    header = {
        "schema_version": SCHEMA_VERSION,
        "program": f"novikoff {sys.modules['novikoff'].__version__}",
        **state,
        **{name: _extra(value, name) for name, value in extras.items()},
    }
    text = json.dumps({**header, "seal": _seal(header, tensors)}, allow_nan=False)
    if len(text) > _MOST_HEADER:
        raise Flaw(f"its header would be longer than {_MOST_HEADER:,} characters")
    return write_tensors(tensors, {"novikoff": text})


def _extra(value: Mapping[str, object] | None, name: str) -> object:
    if value is not None and not isinstance(value, Mapping):
        raise Flaw(f"{name} is of type {type(value).__name__}, not a mapping")
    return copied_json(value, name)


def _content(name: str) -> bytes:
    """The bytes of a file, if there are not too many of them."""
    if not stat.S_ISREG(os.stat(name).st_mode):
        raise Flaw("it is not a regular file")
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > _MOST_BYTES:
            raise Flaw(f"it is larger than {_MOST_BYTES:,} bytes")
        return file.read(size)


def _parse(content: bytes) -> Saved:
    header, tensors = _unpacked(content)
    fields = Fields(header, "its header")
    version = fields.take("schema_version")
    if type(version) is int and version > SCHEMA_VERSION:
        raise Flaw(
            f"it was written by a newer novikoff: schema version {version}; this one reads "
            f"{SCHEMA_VERSION}"
        )
    if type(version) is not int or version != SCHEMA_VERSION:
        raise Flaw(f"its schema version is {str(version)[:80]!r}; this novikoff reads version 1")
    seal = fields.take("seal")
    if seal != _seal({name: header[name] for name in header if name != "seal"}, tensors):
        raise Flaw("it was altered or damaged: its seal does not match")
    fields.text("program")
    preprocessing, data = fields.mapping("preprocessing"), fields.mapping("data")
    certificate = fields.mapping("certificate")
    model = read_state(fields, tensors)
    fields.end()
    return Saved(model, preprocessing, data, certificate, header)


def _unpacked(content: bytes) -> tuple[dict[str, object], Tensors]:
    """The header and the tensors of safetensors' bytes."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, 2 * _MOST_HEADER):
        raise Flaw("it is not a safetensors file, or not whole")
    try:
        tensors: Tensors = dict(read_tensors(content))
        text = content[8 : 8 + length].decode("utf-8")
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise Flaw(f"it is not a safetensors file, or not whole ({str(error)[:200]})") from None
    metadata = strict_json(text, "its table of tensors").get("__metadata__")
    if not isinstance(metadata, dict) or list(metadata) != ["novikoff"]:
        raise Flaw("it is a safetensors file, but not one of novikoff's")
    entry = metadata["novikoff"]
    if not isinstance(entry, str) or len(entry) > _MOST_HEADER:
        raise Flaw("its header is not a text, or too long")
    return strict_json(entry, "its header"), tensors


def _seal(header: Mapping[str, object], tensors: Tensors) -> str:
    """The digest of a header and of the tensors by name, type, shape and bytes."""
    try:
        text = json.dumps(header, sort_keys=True)
    except RecursionError:
        raise Flaw("its header is nested too deep") from None
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
