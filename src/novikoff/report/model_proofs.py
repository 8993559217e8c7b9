"""What `Pocket` and `MaxMargin` have found and proved, as a header and tensors, and back.

Certificates keep their own text and seal. Here it is only checked that they are about the
right classes and features: `novikoff.verify` checks them against the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from novikoff.core.rows import Indices
from novikoff.geometry.certificate import Certificate
from novikoff.geometry.checker import CertificateError
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.margin import Interval
from novikoff.geometry.separability import Verdict
from novikoff.learners.max_margin import MaxMargin, sides_of
from novikoff.learners.pocket import Pocket
from novikoff.report.model_runs import check_tally
from novikoff.report.model_tensors import Tensors, TensorShelf
from novikoff.report.model_values import (
    MOST,
    Fields,
    Flaw,
    as_flag,
    as_list,
    as_number,
    as_one,
    as_text,
    restored,
    written,
)

_Proof = TypeVar("_Proof", Certificate, ErrorBound)


def write_proofs(model: Pocket | MaxMargin, tensors: Tensors) -> dict[str, object]:
    """What was found and proved for the header; what is long goes to ``tensors``."""
    if isinstance(model, Pocket):
        return _write_pocket(model, tensors)
    return _write_margins(model, tensors)


def read_proofs(model: Pocket | MaxMargin, fitted: Fields, shelf: TensorShelf) -> None:
    """Give an estimator, whose rules are known, what it has found and proved."""
    if isinstance(model, Pocket):
        _read_pocket(model, fitted, shelf)
    else:
        _read_margins(model, fitted, shelf)


def _write_pocket(model: Pocket, tensors: Tensors) -> dict[str, object]:
    """The numbers of mistakes and their proofs for the header; histories go to ``tensors``."""
    for rule, history in enumerate(as_list(model.history_)):
        tensors[f"history.{rule}"] = history
    bounds = as_list(model.errors_lower_bound_)
    return {
        "n_updates": int(model.n_updates_),
        "n_mistakes": int(model.n_mistakes_),
        "converged": bool(model.converged_),
        "n_errors": [written(n, "n_errors_") for n in as_list(model.n_errors_)],
        "errors_lower_bound": [written(n, "errors_lower_bound_") for n in bounds],
        "optimal": [bool(word) for word in as_list(model.optimal_)],
        "certificates": [proof.to_json() for proof in as_list(model.certificate_)],
    }


def _read_pocket(model: Pocket, fitted: Fields, shelf: TensorShelf) -> None:
    """Give a pocket, whose rules are known, what it has found."""
    rules = model._rules
    n_rules = rules.shape[0]
    model.n_updates_, model.n_mistakes_ = fitted.count("n_updates"), fitted.count("n_mistakes")
    check_tally(rules, model.n_updates_, model.n_mistakes_)
    model.converged_ = fitted.flag("converged")
    errors = [as_number(n, "a number of errors") for n in fitted.items("n_errors", n_rules)]
    least = fitted.items("errors_lower_bound", n_rules)
    bounds = [as_number(n, "a lower bound on errors") for n in least]
    if not all(0 <= n < math.inf for n in (*errors, *bounds)):
        raise Flaw("its numbers of errors are negative or infinite")
    if model.converged_ == any(errors):
        raise Flaw("it has converged with errors, or not converged without")
    optimal = [as_flag(word, "'optimal'") for word in fitted.items("optimal", n_rules)]
    proofs = [
        _read_proof(ErrorBound.from_json, text, model, rule)
        for rule, text in enumerate(fitted.items("certificates", n_rules))
    ]
    model.n_errors_, model.errors_lower_bound_ = as_one(errors), as_one(bounds)
    model.optimal_, model.certificate_ = as_one(optimal), as_one(proofs)
    model.history_ = as_one([shelf.floats(f"history.{rule}", None, 2) for rule in range(n_rules)])


def _write_margins(model: MaxMargin, tensors: Tensors) -> dict[str, object]:
    """The margins and verdicts for the header; supports and duals go to ``tensors``."""
    for rule, (support, dual) in enumerate(
        zip(as_list(model.support_), as_list(model.dual_coef_), strict=True)
    ):
        tensors[f"support.{rule}"], tensors[f"dual.{rule}"] = support, dual
    verdicts = as_list(model.verdict_)
    return {
        "margins": [_write_interval(margin) for margin in as_list(model.margin_)],
        "verdicts": [_write_verdict(v, rule, tensors) for rule, v in enumerate(verdicts)],
    }


def _read_margins(model: MaxMargin, fitted: Fields, shelf: TensorShelf) -> None:
    """Give a maximal margin, whose rules are known, what it has found."""
    n_rules = model._rules.shape[0]
    check_tally(model._rules, 0, 0)
    margins = [_read_interval(pair, "a margin") for pair in fitted.items("margins", n_rules)]
    supports = [shelf.integers(f"support.{rule}", None) for rule in range(n_rules)]
    duals = [shelf.floats(f"dual.{rule}", len(rows)) for rule, rows in enumerate(supports)]
    verdicts = [
        _read_verdict(Fields(body, "a verdict"), model, rule, shelf)
        for rule, body in enumerate(fitted.items("verdicts", n_rules))
    ]
    model.margin_, model.support_ = as_one(margins), as_one(supports)
    model.dual_coef_, model.verdict_ = as_one(duals), as_one(verdicts)


def _write_verdict(verdict: Verdict, rule: int, tensors: Tensors) -> dict[str, object]:
    if verdict.certificate is None or verdict.coef is None or verdict.kind != "separable":
        raise Flaw(f"its verdict on rule {rule} is {verdict.kind}, which no fit leaves")
    tensors[f"verdict.{rule}.coef"] = verdict.coef
    tensors[f"verdict.{rule}.support"] = verdict.support
    tensors[f"verdict.{rule}.separated_rows"] = verdict.separated_rows
    return {
        "kind": verdict.kind,
        "intercept": written(verdict.intercept, "an intercept"),
        "margin": _write_interval(verdict.margin),
        "geometric_margin": _write_interval(verdict.geometric_margin),
        "radius": written(verdict.radius, "a radius"),
        "mistake_bound": written(verdict.mistake_bound, "a bound on mistakes"),
        "certificate": verdict.certificate.to_json(),
    }


def _read_verdict(fields: Fields, model: MaxMargin, rule: int, shelf: TensorShelf) -> Verdict:
    proof = _read_proof(Certificate.from_json, fields.take("certificate"), model, rule)
    bound = restored(fields.take("mistake_bound"), "a bound on mistakes")
    if bound is not None and (type(bound) is not int or bound < 0):
        raise Flaw("a bound on mistakes is neither a whole number nor null")

    def rows(name: str) -> Indices:
        return shelf.integers(f"verdict.{rule}.{name}", None, below=min(proof.n, MOST))

    verdict = Verdict(
        kind=fields.choice("kind", ("separable",)),
        coef=shelf.floats(f"verdict.{rule}.coef", model.n_features_in_),
        intercept=fields.number("intercept"),
        margin=_read_interval(fields.take("margin"), "a margin"),
        geometric_margin=_read_interval(fields.take("geometric_margin"), "a margin"),
        radius=fields.number("radius"),
        mistake_bound=bound,
        support=rows("support"),
        separated_rows=rows("separated_rows"),
        certificate=proof,
    )
    fields.end()
    return verdict


def _read_proof(
    read: Callable[[str], _Proof], text: object, model: Pocket | MaxMargin, rule: int
) -> _Proof:
    """A certificate, refused if it is about another problem than that of the rule."""
    try:
        proof = read(as_text(text, "a certificate"))
    except (CertificateError, RecursionError) as error:
        raise Flaw(f"a certificate in it cannot be read ({str(error)[:200]})") from None
    rules = model._rules
    positive, negative = sides_of(rules.scheme, model.classes_, rule)
    about = proof.d, proof.fit_intercept, proof.positive, proof.negative
    if about != (model.n_features_in_, rules.bias > 0.0, positive, negative):
        raise Flaw("a certificate in it is about other classes or features")
    return proof


def _write_interval(interval: Interval) -> list[object]:
    return [written(end, "an end of an interval") for end in interval]


def _read_interval(pair: object, what: str) -> Interval:
    if not isinstance(pair, list) or len(pair) != 2:
        raise Flaw(f"{what} is not a pair of numbers")
    lo, hi = (float(as_number(end, what)) for end in pair)
    if not lo <= hi:
        raise Flaw(f"{what} ends before it begins")
    return Interval(lo, hi)
