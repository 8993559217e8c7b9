"""``nv.save`` and ``nv.load``: estimators in model files.

Commands work with records and never import this module, which imports scikit-learn. Attributes that
follow from proofs are not stored: they are computed from the proofs when an estimator is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np

import novikoff
from novikoff.core import orders
from novikoff.errors import InvalidJsonError, ModelFileError
from novikoff.formats.files import write_file
from novikoff.formats.model_file import ESTIMATORS, dump_record, read_record
from novikoff.formats.model_record import Body, ModelRecord
from novikoff.formats.tensors import Array, Tensors
from novikoff.learners.base import check_parameters, names_of, store_model
from novikoff.learners.max_margin import MaxMargin, margin_fields, restore_margins
from novikoff.learners.online import OnlineLearner, check_unchanged, restore_run, run_fields
from novikoff.learners.pocket import Pocket, pocket_fields, restore_pocket
from novikoff.proofs.strict_json import as_json

Estimator: TypeAlias = OnlineLearner | Pocket | MaxMargin

# The estimators and orders that a file can name. Nothing is imported by a name in a file.
_CLASSES: Final[dict[str, type[Estimator]]] = {name: getattr(novikoff, name) for name in ESTIMATORS}
_ORDER_CLASSES: Final = {kind.__name__: kind for kind in orders.BY_NAME.values()}
_MAX_JOBS = 1024


def save(
    model: Estimator,
    path: str | os.PathLike[str],
    *,
    preprocessing: Mapping[str, object] | None = None,
    data: Mapping[str, object] | None = None,
    certificate: Mapping[str, object] | None = None,
    force: bool = True,
) -> None:
    """Write a fitted estimator to a file that `load` reads back, bit for bit.

    The file is complete or absent, even after a crash. It contains everything that the estimator
    needs to predict and to continue learning, and its proofs. It does not contain attributes about
    single rows or about the run (``update_counts_``, ``trace_``, ``period_``, ``random_state_``),
    nor metadata requests of scikit-learn. A ``random_state`` that is a RandomState becomes None.
    Vectors among the parameters come back as float64 arrays.

    Parameters
    ----------
    model : estimator of novikoff
        The estimator, which must be fitted.
    path : path
        The file. An existing file is replaced if ``force`` is True.
    preprocessing, data, certificate : mapping, optional
        Further information to store, as JSON values: how rows were prepared, where they came from,
        and what was proved about them.

    Raises
    ------
    ModelFileError, OutputError
        If the model is not fitted, if a file cannot hold one of its parameters, or if the file
        cannot be written.

    See Also
    --------
    load : Read it again.
    export_onnx : Write a model for other runtimes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import novikoff as nv
    >>> clf = nv.Perceptron(order="cyclic").fit([[0, 0], [0, 1], [1, 1]], ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "and.safetensors"
    ...     save(clf, path, data={"source": "and.csv"})
    ...     again = load(path)
    >>> again.predict([[1, 1], [0, 1]]).tolist(), again.n_mistakes_ == clf.n_mistakes_
    (['yes', 'no'], True)
    """
    record = replace(
        to_record(model), preprocessing=preprocessing, data=data, certificate=certificate
    )
    write_file(path, dump_record(record), force=force)


def load(path: str | os.PathLike[str]) -> Estimator:
    """Read the estimator in a model file that `save`, `novikoff fit` or `novikoff stream` wrote.

    The estimator predicts, and continues to learn, bit for bit like the estimator that was saved.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator of novikoff
        The estimator, of the class that was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, or was altered. Nothing in a file is ever executed.
    OSError
        If the file cannot be read.

    See Also
    --------
    save : Write an estimator to a file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import novikoff as nv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rule.safetensors"
    ...     nv.save(nv.Perceptron().fit([[0.0], [1.0]], [0, 1]), path)
    ...     clf = nv.load(path)
    >>> clf.predict([[0.0], [1.0]])
    array([0, 1])
    """
    record = read_record(path)
    try:
        return from_record(record)
    except InvalidJsonError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read as a model: {error}.") from None


def to_record(model: Estimator) -> ModelRecord:
    """Return the record of a fitted estimator; ModelFileError if a file cannot hold it."""
    kind = type(model).__name__
    if _CLASSES.get(kind) is not type(model):
        raise ModelFileError(
            f"A {kind} cannot be saved: model files hold a {', a '.join(ESTIMATORS)}; save the "
            "last step of a pipeline, and describe the others in `preprocessing`."
        )
    if not model.__sklearn_is_fitted__():
        raise ModelFileError(f"The {kind} cannot be saved: it is not fitted.")
    try:
        parameters = {
            name: _write_parameter(name, value)
            for name, value in model.get_params(deep=False).items()
        }
        check_parameters(model)
        if isinstance(model, OnlineLearner):
            check_unchanged(model, model.model_)
    except (InvalidJsonError, TypeError, ValueError) as error:
        raise ModelFileError(f"The {kind} cannot be saved: {str(error).rstrip('.')}.") from None
    return ModelRecord(kind, model.model_, names_of(model), parameters, *_fields_of(model))


def _fields_of(model: Estimator) -> tuple[Body, dict[str, Array]]:
    """Return the results of a fit that are not in its model, as JSON values and arrays."""
    if isinstance(model, OnlineLearner):
        return run_fields(model), {}
    return pocket_fields(model) if isinstance(model, Pocket) else margin_fields(model)


def from_record(record: ModelRecord) -> Estimator:
    """Return the estimator of a record; InvalidJsonError if the record is inconsistent."""
    model = _CLASSES[record.estimator]()
    try:
        for name, value in record.parameters.items():
            model.set_params(**{name: _read_parameter(name, value)})
        check_parameters(model)
        if isinstance(model, OnlineLearner):
            check_unchanged(model, record.model)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidJsonError(str(error)[:300].rstrip(".")) from None
    store_model(model, record.model, record.names)
    tensors = Tensors(record.arrays)
    if isinstance(model, OnlineLearner):
        restore_run(model, record.fitted)
    elif record.model.averages or len(record.model.classes) < 2:
        raise InvalidJsonError(f"a {record.estimator} keeps no average and has two classes")
    elif isinstance(model, Pocket):
        restore_pocket(model, record.fitted, tensors)
    else:
        restore_margins(model, record.fitted, tensors)
    tensors.end()
    return model


def _write_parameter(name: str, value: Any) -> object:
    """Return a parameter as JSON: an order by its name and fields, class weights as pairs."""
    what = f"its parameter {name!r}"
    if isinstance(value, np.random.RandomState):
        return None
    if name == "order" and isinstance(value, list | tuple | np.ndarray):
        value = np.array(value).tolist()
    elif name == "order" and not isinstance(value, str):
        kind = type(value).__name__
        if _ORDER_CLASSES.get(kind) is not type(value):
            raise InvalidJsonError(
                f"{what} is a {kind}, an order that a file cannot hold; set_params(order=...) to "
                "another before saving"
            )
        value = {"order": kind, **vars(value)}
        if value.get("p") is not None:
            value["p"] = np.asarray(value["p"], dtype=np.float64).tolist()
    elif name == "kernel" and callable(value):
        raise InvalidJsonError(
            "its kernel is a function, which no file can hold; one of the named kernels can be "
            "saved, or its support_vectors_ and dual_coef_ apart"
        )
    elif name == "class_weight" and isinstance(value, Mapping):
        value = [[key, value[key]] for key in value]
    elif name == "trace" and not isinstance(value, bool | np.bool_):
        value = np.asarray(value, dtype=np.float64).tolist()
    return as_json(value, what)


def _read_parameter(name: str, value: Any) -> object:
    """Read what `_write_parameter` wrote; the estimator checks all other parameters."""
    if name == "order" and isinstance(value, dict):
        options = dict(value)
        kind, size = options.pop("order", None), options.get("size", 1)
        if not isinstance(kind, str) or kind not in _ORDER_CLASSES:
            raise InvalidJsonError(f"its order is the unknown order {str(kind)[:80]!r}")
        if options.get("p") is not None:
            options["p"] = np.array(options["p"], dtype=np.float64)
        if type(size) is not int or size < 1:
            raise InvalidJsonError("the blocks of its order have no size")
        return _ORDER_CLASSES[kind](**options)
    if name == "class_weight" and isinstance(value, list):
        return dict(value)
    if name == "trace" and isinstance(value, list):
        return np.array(value, dtype=np.float64)
    if name == "trace" and not isinstance(value, bool):
        raise InvalidJsonError("its parameter 'trace' is neither true, false nor a vector")
    if name == "n_jobs" and isinstance(value, int) and not 0 < abs(value) <= _MAX_JOBS:
        raise InvalidJsonError(f"its parameter 'n_jobs' is 0 or beyond {_MAX_JOBS}")
    return value
