"""Arguments of `detect_separation` from a model or fitted results of statsmodels.

statsmodels itself is not imported: the class of the object says which attributes it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.core.class_labels import plain_label
from novikoff.core.validation import Columns
from novikoff.errors import DataError
from novikoff.models import families
from novikoff.models.arguments import Table
from novikoff.models.formulas import terms_of

_GLM_FAMILIES = {
    "Binomial": "binomial",
    "Poisson": "poisson",
    "NegativeBinomial": "negative-binomial",
}
_LINKS = {"cauchy": "cauchit"}  # statsmodels' names that differ, in lower case
_ORDERED_LINKS = {
    "norm_gen": "probit",
    "logistic_gen": "logit",
    "gumbel_l_gen": "cloglog",
    "gumbel_r_gen": "loglog",
}
_FREE_DISPERSION = (
    "the answer is about the coefficients; it is the same for every value of the dispersion alpha"
)
_REJECTED_MODELS = {
    **dict.fromkeys(("OLS", "WLS", "GLS", "GLSAR", "RLM", "QuantReg"), families.LEAST_SQUARES),
    **dict.fromkeys(
        ("MixedLM", "BinomialBayesMixedGLM", "PoissonBayesMixedGLM"), families.MIXED
    ),
    **dict.fromkeys(
        (
            "ZeroInflatedPoisson", "ZeroInflatedGeneralizedPoisson",
            "ZeroInflatedNegativeBinomialP", "HurdleCountModel",
        ),
        families.MIXTURE,
    ),
    **dict.fromkeys(("GeneralizedPoisson", "NegativeBinomialP", "BetaModel"), families.WITH_SCALE),
    **dict.fromkeys(
        ("GEE", "OrdinalGEE", "NominalGEE"),
        "solves estimating equations with a working correlation and has no likelihood. Ask about "
        "the model with independent observations, by sm.GLM",
    ),
    "GLMGam": "maximises a penalised likelihood: ask about its parametric part, by sm.GLM",
    "ConditionalPoisson": "has the coefficients of a Poisson model with one column for each "
    "group: ask with family='poisson' about this model",
}  # fmt: skip


def model_arguments(model: Any, data: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a model or its fitted results stand for."""
    if data is not None:
        raise ValueError("data does not apply: a model of statsmodels has its data.")
    model = getattr(model, "model", model)
    class_names = [
        cls.__name__ for cls in type(model).__mro__ if cls.__module__.startswith("statsmodels.")
    ]
    name = next(iter(class_names), type(model).__name__)
    if name in _REJECTED_MODELS:
        raise ValueError(f"The model {name} {_REJECTED_MODELS[name]}.")
    if name not in _READERS:
        raise ValueError(
            f"{name} of statsmodels is not a model whose separation is known; these are: "
            f"{', '.join(_READERS)}."
        )
    for given in asked:
        if given != "weights":
            raise ValueError(f"{given} does not apply: the model {name} has what it needs.")
    X = np.asarray(model.exog)
    names = [*model.exog_names][: X.shape[1]]
    columns = Columns(names if len({*names}) == len(names) else range(len(names)))
    spec = getattr(model.data, "model_spec", None) or getattr(model.data, "design_info", None)
    terms = {} if spec is None else terms_of(spec, names)
    taken = {
        "X": Table(X, columns, _row_labels(model), terms, with_intercept=True),
        "fit_intercept": False,
        "weights": asked.get("weights"),
    }
    return taken | _READERS[name](model)


def _row_labels(model: Any) -> Any:
    """The labels of the rows that statsmodels kept; None if they are counted from 0."""
    labels = model.data.row_labels
    if labels is not None:
        return np.asarray(labels)
    dropped = getattr(model.data, "missing_row_idx", None)
    if dropped is None or len(dropped) == 0:
        return None
    return np.delete(np.arange(len(model.endog) + len(dropped)), dropped)


def _proportions(model: Any) -> dict[str, Any]:
    return {"family": "binomial", "y": model.endog, "trials": np.ones(len(model.endog))}


def _logit(model: Any) -> dict[str, Any]:
    return {**_proportions(model), "link": "logit"}


def _probit(model: Any) -> dict[str, Any]:
    return {**_proportions(model), "link": "probit"}


def _glm(model: Any) -> dict[str, Any]:
    name = type(model.family).__name__
    if name not in _GLM_FAMILIES:
        families.family_of(name)
    family = _GLM_FAMILIES[name]
    link = type(model.family.link).__name__.lower()
    link = _LINKS.get(link, link)
    known = families.FAMILIES[family].links
    if link not in known:
        raise ValueError(
            f"The model has the link {type(model.family.link).__name__}; the links of the family "
            f"{family!r} whose separation is known are {', '.join(known)}."
        )
    taken = {
        "family": family,
        "link": link,
        "y": model.endog,
        "weights": np.asarray(model.freq_weights) * np.asarray(model.var_weights),
        "has_offset": model.offset is not None or model.exposure is not None,
    }
    return {**_proportions(model), **taken} if family == "binomial" else taken


def _poisson(model: Any) -> dict[str, Any]:
    return {"family": "poisson", "y": model.endog}


def _negative_binomial(model: Any) -> dict[str, Any]:
    """NB2, NB1 and geometric models.

    If a direction separates, the likelihood rises along it for every dispersion, so that no finite
    estimate exists. If no direction separates, one bound on the coefficients holds for all
    dispersions. The reason is this: the likelihood of a row with y > 0 falls to 0 in both
    directions and as the dispersion grows, and the likelihood of a row with y = 0 falls to 0 as its
    mean grows. An estimated dispersion of 0, which is a Poisson model, is possible. It has nothing
    to do with separation.
    """
    free = model.loglike_method != "geometric"
    notes = (_FREE_DISPERSION,) if free else ()
    return {"family": "negative-binomial", "y": model.endog, "notes": notes}


def _mnlogit(model: Any) -> dict[str, Any]:
    codes = np.asarray(model.endog).astype(np.int64)
    return {"family": "multinomial", "y": codes, "levels": _class_names(model, codes)}


def _class_names(model: Any, codes: Any) -> list[Any]:
    """The labels of the classes, as in the head of each block of the summary table."""
    given = model.data.orig_endog
    if getattr(given, "ndim", 1) == 2 and given.shape[1] > 1:
        return [*getattr(given, "columns", range(given.shape[1]))]
    labels = np.asarray(given).ravel()
    if len(labels) != len(codes):
        return [*range(int(codes.max()) + 1)]
    _, first = np.unique(codes, return_index=True)
    return [_as_whole(plain_label(label)) for label in labels[first].tolist()]


def _as_whole(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _ordered(model: Any) -> dict[str, Any]:
    kind = type(getattr(model.distr, "dist", model.distr)).__name__
    if kind not in _ORDERED_LINKS:
        raise ValueError(
            f"The distribution {kind.removesuffix('_gen')!r} of this OrderedModel is none of "
            "logistic, norm, gumbel_l and gumbel_r."
        )
    codes, levels = np.asarray(model.endog).astype(np.int64), [*model.labels]
    occurs = np.bincount(codes, minlength=len(levels)) > 0
    if not occurs.all():
        raise DataError(
            f"The class {levels[int(np.argmin(occurs))]!r} of y does not occur: remove it by "
            ".cat.remove_unused_categories()."
        )
    return {
        "family": "cumulative",
        "link": _ORDERED_LINKS[kind],
        "y": codes,
        "levels": levels,
        "increments": True,
    }


def _phreg(model: Any) -> dict[str, Any]:
    entry = model.entry
    if entry is not None:  # statsmodels has rows at risk at their entry; here they are after it
        entry = np.nextafter(np.asarray(entry, dtype=np.float64), -np.inf)
    return {
        "family": "cox",
        "duration": model.endog,
        "event": model.status,
        "entry": entry,
        "strata": model.strata,
        "ties": model.ties,
    }


def _conditional_logit(model: Any) -> dict[str, Any]:
    return {"family": "conditional-logit", "y": model.endog, "groups": np.asarray(model.groups)}


_READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Logit": _logit,
    "Probit": _probit,
    "GLM": _glm,
    "MNLogit": _mnlogit,
    "OrderedModel": _ordered,
    "Poisson": _poisson,
    "NegativeBinomial": _negative_binomial,
    "PHReg": _phreg,
    "ConditionalLogit": _conditional_logit,
}
