"""The state of a fit besides its model, converted to and from JSON values and arrays of a file.

Bounds and margins are read from the certificates, so a file cannot claim more than these prove.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeVar

from novikoff.core.class_labels import side_labels
from novikoff.core.model import Model
from novikoff.core.rows import Indices, Vector
from novikoff.errors import CertificateError, InvalidJsonError
from novikoff.formats.model_record import Body
from novikoff.formats.tensors import Array, Tensors
from novikoff.proofs.certificate import Certificate
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.strict_json import take_fields

_Proof = TypeVar("_Proof", Certificate, ErrorBound)


class RunState(NamedTuple):
    """The state of an online learner; if it ``grows``, new classes may appear."""

    n_iter: int
    converged: bool
    grows: bool


class PocketState(NamedTuple):
    """The mistakes of each rule or their exact cost, the proof of its bound, and its history.

    ``wrong`` has the rows that each rule misclassifies; None if the rows were on a cluster.
    """

    errors: list[int | Fraction]
    proofs: list[ErrorBound]
    histories: list[Vector]
    wrong: list[Indices] | None


class MarginState(NamedTuple):
    """The certificate, the support vectors and their dual coefficients, for each rule."""

    proofs: list[Certificate]
    supports: list[Indices]
    dual_coefs: list[Vector]


def write_run(n_iter: int, *, converged: bool, grows: bool = False) -> Body:
    """Return the state of an online learner as JSON values."""
    return {"n_iter": n_iter, "converged": bool(converged), "grows": grows}


def read_run(model: Model, fitted: Mapping[str, object]) -> RunState:
    """Read what `write_run` wrote."""
    fields = take_fields(fitted, "its fit", n_iter="count", converged="flag", grows="flag")
    state = RunState(**fields)
    if len(model.classes) < 2 and not state.grows:
        raise InvalidJsonError("it has one class only, which a stream alone may have")
    return state


def write_pocket(
    errors: Sequence[int | Fraction],
    proofs: Sequence[ErrorBound],
    histories: Sequence[Vector],
    wrong: Sequence[Indices] | None,
) -> tuple[Body, dict[str, Array]]:
    """Return the results of a pocket; exact costs are pairs of numerator and denominator."""
    mistakes = [n if isinstance(n, int) else [*n.as_integer_ratio()] for n in errors]
    body: Body = {"n_errors": mistakes, "certificates": [proof.to_json() for proof in proofs]}
    arrays: dict[str, Array] = {f"history.{rule}": part for rule, part in enumerate(histories)}
    return body, arrays | {f"wrong.{rule}": rows for rule, rows in enumerate(wrong or ())}


def read_pocket(model: Model, fitted: Mapping[str, object], tensors: Tensors) -> PocketState:
    """Read what `write_pocket` wrote."""
    fields = take_fields(fitted, "its fit", n_errors="list", certificates="list")
    errors = fields["n_errors"]
    proofs = _read_proofs(model, fields["certificates"], ErrorBound.from_json)
    mistakes = [n for n in map(_read_errors, errors) if n is not None]
    if len(mistakes) != len(proofs) or len(mistakes) < len(errors):
        raise InvalidJsonError(f"its numbers of errors are not {len(proofs)} numbers")
    if any(n < proof.bound for n, proof in zip(mistakes, proofs, strict=True)):
        raise InvalidJsonError("it claims fewer errors than its certificate allows")
    histories = [tensors.take(f"history.{k}", "float64", None, 2) for k in range(len(proofs))]
    wrong = None
    if "wrong.0" in tensors:
        wrong = [
            tensors.take(f"wrong.{k}", "int64", None, below=proof.n)
            for k, proof in enumerate(proofs)
        ]
    return PocketState(mistakes, proofs, histories, wrong)


def write_margins(
    proofs: Sequence[Certificate],
    supports: Sequence[Indices],
    dual_coefs: Sequence[Vector],
) -> tuple[Body, dict[str, Array]]:
    """Return the certificates and support vectors of hyperplanes of the largest margin."""
    arrays: dict[str, Array] = {}
    for rule, (support, dual) in enumerate(zip(supports, dual_coefs, strict=True)):
        arrays |= {f"support.{rule}": support, f"dual.{rule}": dual}
    return {"certificates": [proof.to_json() for proof in proofs]}, arrays


def read_margins(model: Model, fitted: Mapping[str, object], tensors: Tensors) -> MarginState:
    """Read what `write_margins` wrote."""
    fields = take_fields(fitted, "its fit", certificates="list")
    proofs = _read_proofs(model, fields["certificates"], Certificate.from_json)
    if any(proof.kind != "separable" for proof in proofs):
        raise InvalidJsonError("a certificate in it is not of separable classes")
    supports = [tensors.take(f"support.{rule}", "int64", None) for rule in range(len(proofs))]
    duals = [tensors.take(f"dual.{k}", "float64", len(rows)) for k, rows in enumerate(supports)]
    return MarginState(proofs, supports, duals)


def _read_errors(value: object) -> int | Fraction | None:
    """Return a number of mistakes, or their cost from numerator and denominator; else None."""
    if type(value) is int and 0 <= value < 2**1023:
        return value
    match value:
        case [int(top), int(bottom)] if 0 <= top < bottom << 1023:
            return Fraction(top, bottom)
    return None


def _read_proofs(model: Model, texts: list[object], read: Callable[[str], _Proof]) -> list[_Proof]:
    """Read a certificate for each rule; InvalidJsonError if one is about another problem."""
    proofs = []
    if len(texts) != model.n_rules:
        raise InvalidJsonError(f"it has {len(texts)} certificates for {model.n_rules} rules")
    for rule, text in enumerate(texts):
        try:
            proof = read(text if isinstance(text, str) else "")
        except (CertificateError, RecursionError) as error:
            reason = str(error)[:200]
            raise InvalidJsonError(f"a certificate in it cannot be read ({reason})") from None
        about = proof.d, proof.fit_intercept, (proof.positive, proof.negative)
        sides = side_labels(model.scheme, model.classes, rule)
        if about != (model.n_features, bool(model.fit_intercept), sides):
            raise InvalidJsonError("a certificate in it is about other classes or features")
        proofs.append(proof)
    return proofs
