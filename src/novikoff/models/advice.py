"""What can be done where no finite maximum-likelihood estimate exists, for each family of models.

Every sentence names a method and where it is implemented; nothing of it is implemented here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from novikoff.models.limiting import LimitingModel
from novikoff.sentences import first_few

_BINOMIAL = (
    "Firth's penalised likelihood always has finite estimates: FirthLogisticRegression of "
    "firthmodels (Python), logistf() of logistf or brglm_fit() of brglm2 (R), PROC LOGISTIC with "
    "FIRTH (SAS)."
)
_BINOMIAL_LINKS = (
    "The likelihood with Jeffreys' prior as penalty has finite estimates: glm(method = brglm_fit, "
    'type = "MPL_Jeffreys") of brglm2 (R).'
)
_LOGLOG = " R has no loglog link: exchange the two outcomes, and use cloglog."
_PENALTY = {
    "poisson": "Firth's bias reduction has finite estimates: glm(method = brglm_fit) of brglm2 "
    "(R).",
    "negative-binomial": "Firth's bias reduction usually has finite estimates: brnb() of brglm2 "
    "(R).",
    "multinomial": "Firth's bias reduction has finite estimates: brmultinom() of brglm2 (R).",
    "adjacent": "Firth's bias reduction has finite estimates: bracl(parallel = TRUE) of "
    "brglm2 (R).",
    "cox": "Firth's penalised partial likelihood has finite estimates: FirthCoxPH of firthmodels "
    "(Python), coxphf() of coxphf (R).",
    "conditional-logit": "A penalty has finite estimates: ConditionalLogit.fit_regularized() of "
    "statsmodels (Python), clogitL1() of clogitL1 (R).",
    "choice": "A penalty has finite estimates: ConditionalLogit.fit_regularized() of statsmodels "
    "(Python), clogitL1() of clogitL1 (R).",
    "rank-ordered": "A ranking is a sequence of choices among the alternatives that remain. A "
    "penalty on this conditional logit has finite estimates: ConditionalLogit.fit_regularized() of "
    "statsmodels (Python).",
    "bradley-terry": "A penalty has finite estimates: ilsr_pairwise(alpha=…) of choix (Python), "
    "BTm(br = TRUE) of BradleyTerry2 (R).",
}
_STACKED = (
    "A sequential model is a binomial model of stacked rows, one for each category that an "
    "observation has reached. "
)
_CUMULATIVE = {
    "logit": "bayespolr() of arm (R).",
    "probit": 'bayespolr(method = "probit") of arm (R).',
    "cloglog": 'brm(family = cumulative("cloglog"), prior = …) of brms (R).',
    "loglog": "reverse the order of the categories, which makes the link cloglog, and use "
    'brm(family = cumulative("cloglog"), prior = …) of brms (R).',
}
_EXACT = {
    "binomial": "exlogistic (Stata), PROC LOGISTIC with EXACT (SAS), elrm() of elrm (R, by Markov "
    "chains)",
    "poisson": "expoisson (Stata), PROC GENMOD with EXACT (SAS)",
    "conditional-logit": "PROC LOGISTIC with STRATA and EXACT (SAS)",
}
_SIDES = {
    "+inf": "a finite lower end and no upper end",
    "-inf": "a finite upper end and no lower end",
}
_NAMED = 4


@dataclass(frozen=True)
class Situation:
    """What was found about a model without finite estimates.

    Attributes
    ----------
    family, link : str
        The model.
    signs : sequence of pairs
        The infinite coefficients and their estimates, "+inf", "-inf" or "either sign".
    limiting : LimitingModel or None
        The fit that has the finite estimates; None if it is not known.
    factors : sequence
        The factors of which a level is infinite.
    responsible : sequence
        The columns without which finite estimates exist.
    """

    family: str
    link: str
    signs: Sequence[tuple[Hashable, str]]
    limiting: LimitingModel | None
    factors: Sequence[Hashable]
    responsible: Sequence[Hashable]


def remedies(case: Situation) -> list[str]:
    """One sentence or two for each remedy, the most common first."""
    texts = [_penalty(case)]
    if case.limiting is not None and case.limiting.finite:
        texts.append(_refit(case.family, case.limiting))
    texts.append(_intervals(case.signs))
    if case.family in _EXACT and case.link in ("", "logit", "log"):
        exact = _EXACT[case.family]
        if not (case.family == "binomial" and case.link == "log"):
            texts.append(f"For small data, exact conditional inference: {exact}.")
    if case.factors:
        noun = "the factor" if len(case.factors) == 1 else "the factors"
        texts.append(
            f"Merge levels of {noun} {_listed(case.factors)}, if the question allows it: levels "
            "of few rows often separate the outcomes."
        )
    if case.responsible:
        texts.append(
            f"Do not simply leave out {_listed(case.responsible, 'or')}: a column that separates "
            "the outcomes may be the strongest predictor, and the other coefficients change their "
            "meaning without it."
        )
    return texts


def _penalty(case: Situation) -> str:
    if case.family == "cumulative":
        return f"A weak prior has finite estimates: {_CUMULATIVE[case.link]}"
    stacked = _STACKED if case.family == "sequential" else ""
    if case.family != "binomial" and not stacked:
        return _PENALTY[case.family]
    if case.link == "log":
        return (
            "Bias reduction often has finite estimates, though no theorem says so for the log "
            "link: brglm_fit() of brglm2 (R)."
        )
    if case.link == "logit":
        return stacked + _BINOMIAL
    return stacked + _BINOMIAL_LINKS + (_LOGLOG if case.link == "loglog" else "")


def _refit(family: str, limiting: LimitingModel) -> str:
    """How to fit what is left after the infinite estimates have reached their limits."""
    columns, what = _listed(limiting.columns), "these rows and columns"
    if limiting.strata is not None:
        how, what = f"with finer strata, and with {columns} only", "these rows, columns and strata"
    elif limiting.family == "choice" and family != "choice":
        how = (
            f"as a choice among the classes that are not separated, with {columns}, by a "
            "conditional logit such as ConditionalLogit of statsmodels (Python) or clogit() of "
            "survival (R)"
        )
        what = "these rows and groups"
    elif limiting.groups is not None:
        how, what = f"with finer groups, and with {columns} only", "these rows, columns and groups"
    elif limiting.family != family:
        how = f"as a binomial model of the rows that are not separated, with {columns}"
    elif limiting.y is not None:
        how = (
            f"with {columns} only, and with intervals of classes for the observations that are "
            "separated on one side"
        )
        what = "these rows, columns and intervals"
    else:
        how = f"without the separated rows, and with {columns} only"
    finite = "the finite estimates"
    if len(limiting.finite) < len(limiting.columns):
        finite = f"the finite estimates of {_listed(limiting.finite)}"
    return (
        f"Refit {how}: this fit has {finite} and their standard errors (Geyer 2009). In Python, "
        f"limiting_model() has {what}."
    )


def _intervals(signs: Sequence[tuple[Hashable, str]]) -> str:
    texts = ["Wald intervals, standard errors and p-values of infinite estimates mean nothing."]
    parts = []
    for side, ends in _SIDES.items():
        names = [name for name, own in signs if own == side]
        if names:
            parts.append(f"of {_listed(names)} has {ends}")
    if parts:
        texts.append(
            f"The profile-likelihood interval {', that '.join(parts)}: hold the coefficient at one "
            "value after another, refit, and compare log-likelihoods."
        )
    either = [name for name, own in signs if own == "either sign"]
    if either:
        texts.append(f"The profile-likelihood interval of {_listed(either)} has no ends.")
    texts.append(
        "Likelihood-ratio statistics are finite, but their chi-squared approximation can be poor."
    )
    return " ".join(texts)


def _listed(names: Sequence[Hashable], last: str = "and") -> str:
    """Names in a sentence, of which the first few are shown.

    >>> _listed(["a", "b", "c"]), _listed([1], "or")
    ('a, b and c', '1')
    """
    texts = [str(name) for name in names]
    if len(texts) > _NAMED + 1:
        return first_few(texts, len(texts), _NAMED)
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
