"""``nv.save`` and ``nv.load``: scikit-learn's estimators in files.

Commands use records, and never import it.
What an estimator says of its proofs is derived from the proofs on loading, not believed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np

from novikoff.core import orders
from novikoff.core.schemes import sides_of
from novikoff.errors import CertificateError, InvalidJsonError, ModelFileError
from novikoff.formats import model_file
from novikoff.formats.files import write_file
from novikoff.formats.model_file import (
    ESTIMATORS,
    Array,
    Body,
    ModelRecord,
    Tensors,
    pocket_state,
    run_state,
)
from novikoff.geometry.separability import Verdict
from novikoff.learners.base import one_or_each
from novikoff.learners.inputs import check_parameters
from novikoff.learners.kernel import Forgetron, KernelPerceptron
from novikoff.learners.max_margin import MaxMargin
from novikoff.learners.online import OnlineLearner
from novikoff.learners.perceptron import PassiveAggressive, Perceptron
from novikoff.learners.pocket import Pocket
from novikoff.learners.stateful import PNormPerceptron, SecondOrderPerceptron
from novikoff.proofs.certificate import Certificate
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.strict_json import as_json, take_fields

Estimator: TypeAlias = OnlineLearner | Pocket | MaxMargin
_Proof = TypeVar("_Proof", Certificate, ErrorBound)
_Value = TypeVar("_Value")

# Nothing is imported by name: these are the estimators and orders that a file can name.
_CLASSES: Final[dict[str, type[Estimator]]] = {
    kind.__name__: kind
    for kind in (
        *(Perceptron, Pocket, MaxMargin, PassiveAggressive),
        *(PNormPerceptron, SecondOrderPerceptron, KernelPerceptron, Forgetron),
    )
}
_ORDERS: Final = {kind.__name__: kind for kind in orders.BY_NAME.values()}
_MAX_THREADS = 1024


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

    The file is written whole or not at all. It holds everything that the estimator needs to
    predict and to go on learning, and its proofs. It does not hold what is said of single rows
    of the fit or of its run (``update_counts_``, ``trace_``, ``period_``, ``random_state_``), a
    ``random_state`` that is a RandomState (it becomes None), nor requests for metadata; vectors
    among the parameters come back as float64 arrays, classes that are strings as wide as the
    longest.

    Parameters
    ----------
    model : estimator of novikoff
        A fitted one.
    path : path
        Where to write; a file that is there is replaced with ``force``.
    preprocessing, data, certificate : mapping, optional
        What else to remember, as JSON can hold it: how rows were prepared, where they came
        from, what was proved about them.

    Raises
    ------
    ModelFileError, OutputError
        If the model is not fitted or has something that a file cannot hold; if the file cannot
        be written.

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
        record_of(model), preprocessing=preprocessing, data=data, certificate=certificate
    )
    write_file(path, model_file.dump(record), force=force)


def load(path: str | os.PathLike[str]) -> Estimator:
    """The estimator in a model file that `save` or a command wrote.

    It predicts, and goes on learning, bit for bit as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, or was altered; nothing in it is ever executed.
    OSError
        If the file is not there or may not be read.
    """
    record = model_file.read(path)
    try:
        return estimator_of(record)
    except InvalidJsonError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read as a model: {error}.") from None


def record_of(model: Estimator) -> ModelRecord:
    """A fitted estimator in plain values."""
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
        check_parameters(model, model._allowed)
        if isinstance(model, OnlineLearner):
            model._check_unchanged(model._model)
    except (InvalidJsonError, TypeError, ValueError) as error:
        raise ModelFileError(f"The {kind} cannot be saved: {str(error).rstrip('.')}.") from None
    listed: Iterable[object] | None = model.__dict__.get("_feature_names", model._vocabulary)
    names = None if listed is None else list(listed)
    if names == list(range(model.n_features_in_)):
        names = None
    return ModelRecord(kind, model._model, names, parameters, *_state_of(model))


def estimator_of(record: ModelRecord) -> Estimator:
    """The estimator of a record; InvalidJsonError says what is wrong with it."""
    model = _CLASSES[record.estimator]()
    try:
        for name, value in record.parameters.items():
            model.set_params(**{name: _read_parameter(name, value)})
        check_parameters(model, model._allowed)
        if isinstance(model, OnlineLearner):
            model._check_unchanged(record.model)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidJsonError(str(error)[:300].rstrip(".")) from None
    names, tensors = record.names, Tensors(record.arrays)
    texts = names is not None and set(map(type, names)) <= {str}
    model._take(record.model, cast("list[str]", names) if texts else None)
    if names is not None and not texts:
        model._vocabulary = {name: k for k, name in enumerate(names)}
    if isinstance(model, OnlineLearner):
        _take_run(model, record.fitted)
    elif record.model.averages or len(record.model.classes) < 2:
        raise InvalidJsonError(f"a {record.estimator} keeps no average and has two classes")
    elif isinstance(model, Pocket):
        _take_pocket(model, record.fitted, tensors)
    else:
        _take_margins(model, record.fitted, tensors)
    tensors.end()
    return model


def _write_parameter(name: str, value: Any) -> object:
    """A parameter as JSON: an order by its name and fields, class weights as pairs."""
    what = f"its parameter {name!r}"
    if isinstance(value, np.random.RandomState):
        return None
    if name == "order" and isinstance(value, list | tuple | np.ndarray):
        value = np.array(value).tolist()
    elif name == "order" and not isinstance(value, str):
        kind = type(value).__name__
        if _ORDERS.get(kind) is not type(value):
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
    """What `_write_parameter` wrote; other parameters are checked by the estimator itself."""
    if name == "order" and isinstance(value, dict):
        options = dict(value)
        kind, size = options.pop("order", None), options.get("size", 1)
        if not isinstance(kind, str) or kind not in _ORDERS:
            raise InvalidJsonError(f"its order is the unknown order {str(kind)[:80]!r}")
        if options.get("p") is not None:
            options["p"] = np.array(options["p"], dtype=np.float64)
        if type(size) is not int or size < 1:
            raise InvalidJsonError("the blocks of its order have no size")
        return _ORDERS[kind](**options)
    if name == "class_weight" and isinstance(value, list):
        return dict(value)
    if name == "trace" and isinstance(value, list):
        return np.array(value, dtype=np.float64)
    if name == "trace" and not isinstance(value, bool):
        raise InvalidJsonError("its parameter 'trace' is neither true, false nor a vector")
    if name == "n_jobs" and isinstance(value, int) and not 0 < abs(value) <= _MAX_THREADS:
        raise InvalidJsonError(f"its parameter 'n_jobs' is 0 or beyond {_MAX_THREADS}")
    return value


def _state_of(model: Estimator) -> tuple[Body, dict[str, Array]]:
    """What a fit has left beside its model, one entry for each rule: plain values and arrays."""
    if isinstance(model, OnlineLearner):
        return run_state(int(model.n_iter_), converged=model.converged_, grows=model._open), {}
    if isinstance(model, Pocket):
        proofs = _listed(model.certificate_)
        return pocket_state(model._errors, proofs, _listed(model.history_))
    arrays: dict[str, Array] = {}
    for rule, support in enumerate(_listed(model.support_)):
        arrays[f"support.{rule}"] = support
        arrays[f"dual.{rule}"] = _listed(model.dual_coef_)[rule]
    found = [verdict.certificate for verdict in _listed(model.verdict_)]
    return {"certificates": [proof.to_json() for proof in found if proof]}, arrays


def _take_run(model: OnlineLearner, fitted: Body) -> None:
    model.n_iter_, model.converged_, model._open = take_fields(
        fitted, "its fit", n_iter="count", converged="flag", open="flag"
    )
    if len(model._model.classes) < 2 and not model._open:
        raise InvalidJsonError("it has one class only, which a stream alone may have")


def _take_pocket(model: Pocket, fitted: Body, tensors: Tensors) -> None:
    errors, texts = take_fields(fitted, "its fit", n_errors="list", certificates="list")
    proofs = _read_proofs(model, texts, ErrorBound.from_json)
    found = [n for n in map(_read_cost, errors) if n is not None]
    if len(found) != len(proofs) or len(found) < len(errors):
        raise InvalidJsonError(f"its numbers of errors are not {len(proofs)} numbers")
    if any(n < proof.bound for n, proof in zip(found, proofs, strict=True)):
        raise InvalidJsonError("it claims fewer errors than its certificate allows")
    histories = [tensors.take(f"history.{k}", "float64", None, 2) for k in range(len(proofs))]
    model._describe(found, proofs, histories)


def _read_cost(value: object) -> int | Fraction | None:
    """A number of mistakes, or the numerator and denominator of their cost; None for all else."""
    if type(value) is int and 0 <= value < 2**1023:
        return value
    match value:
        case [int(top), int(bottom)] if 0 <= top < bottom << 1023:
            return Fraction(top, bottom)
    return None


def _take_margins(model: MaxMargin, fitted: Body, tensors: Tensors) -> None:
    (texts,) = take_fields(fitted, "its fit", certificates="list")
    proofs = _read_proofs(model, texts, Certificate.from_json)
    if any(proof.kind != "separable" for proof in proofs):
        raise InvalidJsonError("a certificate in it is not of separable classes")
    verdicts = [Verdict.from_certificate(proof) for proof in proofs]
    supports = [tensors.take(f"support.{rule}", "int64", None) for rule in range(len(proofs))]
    duals = [tensors.take(f"dual.{k}", "float64", len(rows)) for k, rows in enumerate(supports)]
    free = model.fit_intercept and model.bias == "free"
    margins = [verdict.geometric_margin if free else verdict.margin for verdict in verdicts]
    model.margin_, model.support_ = one_or_each(margins), one_or_each(supports)
    model.dual_coef_, model.verdict_ = one_or_each(duals), one_or_each(verdicts)


def _read_proofs(
    model: Pocket | MaxMargin, texts: list[object], read: Callable[[str], _Proof]
) -> list[_Proof]:
    """A certificate for each rule, refused if it is about another problem."""
    rules, found = model._model, []
    if len(texts) != rules.n_rules:
        raise InvalidJsonError(f"it has {len(texts)} certificates for {rules.n_rules} rules")
    for rule, text in enumerate(texts):
        try:
            proof = read(text if isinstance(text, str) else "")
        except (CertificateError, RecursionError) as error:
            reason = str(error)[:200]
            raise InvalidJsonError(f"a certificate in it cannot be read ({reason})") from None
        about = proof.d, proof.fit_intercept, (proof.positive, proof.negative)
        sides = sides_of(rules.scheme, rules.classes, rule)
        if about != (rules.n_features, bool(rules.fit_intercept), sides):
            raise InvalidJsonError("a certificate in it is about other classes or features")
        found.append(proof)
    return found


def _listed(value: _Value | list[_Value]) -> list[_Value]:
    """The value of each rule; an estimator of one rule shows it bare."""
    return value if isinstance(value, list) else [value]
