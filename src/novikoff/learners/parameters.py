"""Conditions on the parameters of an estimator, and their words in error messages."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from novikoff.core.orders import BY_NAME, Order
from novikoff.core.rows import Indices

ClassWeight: TypeAlias = Mapping[Hashable, float] | Literal["balanced"] | None
RandomState: TypeAlias = int | np.random.RandomState | None
OrderLike: TypeAlias = str | Sequence[int] | Indices | Order

LARGEST = float(np.finfo(np.float64).max)


class Allowed(NamedTuple):
    """A condition on a parameter, and words that describe it after "must be"."""

    holds: Callable[[Any], bool]
    words: str


def is_real(value: Any, kind: type = Real) -> bool:
    """Whether a value is a real number (an integer if ``kind=Integral``) and not a boolean."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def optional(allowed: Allowed) -> Allowed:
    """Return the condition that a value is None or satisfies the given condition."""
    return Allowed(lambda value: value is None or allowed.holds(value), f"{allowed.words}, or None")


def one_of(*names: str) -> Allowed:
    """Return the condition that a value is one of these strings."""
    return Allowed(
        lambda value: isinstance(value, str) and value in names, " or ".join(map(repr, names))
    )


BOOLEAN = Allowed(lambda value: isinstance(value, bool | np.bool_), "True or False")
NOT_NEGATIVE = Allowed(lambda v: is_real(v) and 0 <= v <= LARGEST, "a finite number, not negative")
ABOVE_ZERO = Allowed(lambda v: is_real(v) and 0 < v <= LARGEST, "a finite number above 0")
COUNT = Allowed(lambda v: is_real(v, Integral) and v >= 1, "a whole number above 0")
COUNT_OR_NONE = optional(COUNT)
SECONDS_OR_NONE = optional(Allowed(lambda v: is_real(v) and v > 0, "a number above 0"))
JOBS = optional(Allowed(lambda v: is_real(v, Integral) and v != 0, "a whole number, but not 0"))
VERBOSE = Allowed(lambda v: isinstance(v, Integral) and int(v) >= 0, "a whole number, not negative")
MULTI_CLASS = one_of("ovr", "ovo")
ORDER = Allowed(
    lambda order: (
        order in BY_NAME
        if isinstance(order, str)
        else isinstance(order, list | tuple | np.ndarray)
        or (hasattr(order, "epochs") and not isinstance(order, type))
    ),
    f"one of {', '.join(BY_NAME)}, a list of row numbers, or an object of novikoff.orders",
)
CLASS_WEIGHT = Allowed(
    lambda value: value is None or isinstance(value, dict) or one_of("balanced").holds(value),
    "a dict of class → weight, 'balanced' or None",
)
TRACE = Allowed(
    lambda trace: isinstance(trace, bool | np.bool_) or hasattr(trace, "__len__"),
    "True, False or a reference w*",
)
RANDOM_STATE = Allowed(
    lambda value: (
        value is None
        or isinstance(value, np.random.RandomState)
        or (is_real(value, Integral) and 0 <= value < 2**32)
    ),
    "a whole number from 0 to 2**32 − 1, a RandomState or None",
)


def seed_of(random_state: RandomState) -> int:
    """Return the seed of a fit.

    An integer is the seed itself, so that `novikoff fit --seed N` and ``random_state=N`` give the
    same run. Otherwise the seed is drawn from the RandomState.
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for, by joblib's rules."""
    return int(effective_n_jobs(n_jobs))
