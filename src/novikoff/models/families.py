"""The families of models that `detect_separation` knows, and why it rejects others."""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A family of models: its name in words, its links, and the arguments that it takes."""

    title: str
    links: tuple[str, ...] = ()
    takes: tuple[str, ...] = ("y",)
    intercept: bool = False  # whether the model has an intercept of its own
    numeric: bool = False  # whether the outcome is a number, such as a count or a rank
    ordered: bool = False  # whether the outcome is one of several ordered categories

    @property
    def takes_duration(self) -> bool:
        """Whether the outcome is a duration, which is an argument of its own."""
        return "duration" in self.takes

    @property
    def takes_wins(self) -> bool:
        """Whether X is a table of wins, which includes the outcome."""
        return not self.takes


_ORDINAL = ("logit", "probit", "cloglog", "loglog")
FAMILIES = {
    "binomial": Family(
        "binomial",
        ("logit", "probit", "cloglog", "loglog", "cauchit", "log"),
        ("y", "trials"),
        intercept=True,
    ),
    "poisson": Family("Poisson", ("log",), intercept=True, numeric=True),
    "negative-binomial": Family("negative binomial", ("log",), intercept=True, numeric=True),
    "multinomial": Family("multinomial", ("logit",), intercept=True),
    "cumulative": Family("cumulative (proportional odds)", _ORDINAL, ordered=True),
    "adjacent": Family("adjacent-category", ("logit",), ordered=True),
    "sequential": Family("sequential (continuation ratio)", (*_ORDINAL, "cauchit"), ordered=True),
    "cox": Family(
        "Cox proportional hazards",
        (),
        ("duration", "event", "entry", "strata", "ties"),
        numeric=True,
    ),
    "conditional-logit": Family("conditional logit", (), ("y", "groups"), numeric=True),
    "choice": Family("discrete choice (McFadden)", (), ("y", "groups"), numeric=True),
    "rank-ordered": Family("rank-ordered logit (Plackett–Luce)", (), ("y", "groups"), numeric=True),
    "bradley-terry": Family("Bradley–Terry", (), ()),
}

_OTHER_NAMES = {
    "logistic": "binomial",
    "logit": "binomial",
    "probit": "binomial",
    "bernoulli": "binomial",
    "negativebinomial": "negative-binomial",
    "negative_binomial": "negative-binomial",
    "nb2": "negative-binomial",
    "ordinal": "cumulative",
    "ordered": "cumulative",
    "polr": "cumulative",
    "proportional-odds": "cumulative",
    "clogit": "conditional-logit",
    "conditional": "conditional-logit",
    "multinom": "multinomial",
    "mnlogit": "multinomial",
    "coxph": "cox",
    "phreg": "cox",
    "ppml": "poisson",
}

WITH_SCALE = (
    "has a free scale or shape parameter: linear inequalities do not decide whether an estimate "
    "exists"
)
MIXED = (
    "integrates over random effects: separation by the fixed part is neither necessary nor "
    "sufficient for an infinite estimate. Ask about the fixed part alone with its own family"
)
MIXTURE = "is a mixture, whose likelihood is not concave: linear inequalities do not decide it"
COVARIANCES = "has free covariances, and its likelihood is not concave"
LEAST_SQUARES = "always has a finite least-squares estimate: there is no separation"
NO_ZEROS = "has no zeros in its outcome: with the log link a finite estimate always exists"

_REJECTED = {
    **dict.fromkeys(("weibull", "aft", "lognormal", "loglogistic", "tobit", "beta"), WITH_SCALE),
    **dict.fromkeys(("nested-logit", "tweedie", "inverse-gaussian", "inversegaussian"), WITH_SCALE),
    **dict.fromkeys(("zip", "zinb", "zero-inflated", "zero-inflated-poisson", "hurdle"), MIXTURE),
    **dict.fromkeys(("mixed", "glmm", "random-effects", "mixed-logit", "frailty"), MIXED),
    "multinomial-probit": COVARIANCES,
    **dict.fromkeys(("gaussian", "ols"), LEAST_SQUARES),
    "gamma": NO_ZEROS,
}


def family_of(name: object) -> Family:
    """Return the family with this name; a ValueError says why a family is not available."""
    if isinstance(name, str) and name in FAMILIES:
        return FAMILIES[name]
    plain = str(name).lower().replace(" ", "-")
    if plain in _REJECTED:
        raise ValueError(f"The family {name!r} {_REJECTED[plain]}.")
    known = {own: own for own in FAMILIES} | _OTHER_NAMES
    close = difflib.get_close_matches(plain.replace("_", "-"), known, n=1)
    hint = f" Did you mean {known[close[0]]!r}?" if close else ""
    raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {name!r}.{hint}")


def link_of(family: str, link: object) -> str:
    """Return the link, by default the first link of the family; ValueError for other links."""
    links = FAMILIES[family].links
    if link is None:
        return links[0] if links else ""
    if not isinstance(link, str) or link not in links:
        known = ", ".join(links) or "none: leave it out"
        near = difflib.get_close_matches(str(link).lower(), links, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"The links of the family {family!r} are {known}; {link!r} is not.{hint}")
    return link
