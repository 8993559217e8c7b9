"""Where the data of a model comes from: arrays, columns of a frame, formulas or model objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from novikoff.models import formulas, lifelines_models, statsmodels_models
from novikoff.models.arguments import Arguments, Table, check_taken
from novikoff.models.families import family_of, link_of
from novikoff.models.rows import n_rows

_READERS_BY_PACKAGE = {
    "statsmodels": statsmodels_models.model_arguments,
    "lifelines": lifelines_models.fitter_arguments,
}


def read_arguments(*, formula: object, data: Any, **given: Any) -> Arguments:
    """Find the arrays that the arguments mean, and check all choices."""
    _check_choice("ties", given["ties"], ("efron", "breslow", "exact"))
    _check_choice("missing", given["missing"], ("error", "drop"))
    if not isinstance(given["fit_intercept"], bool | np.bool_):
        raise ValueError(f"fit_intercept must be True or False, not {given['fit_intercept']!r}.")
    X, family = given["X"], given.pop("family")
    package = _package(X)
    if package is not None:
        arguments = _of_model(package, family, formula, data, given)
    else:
        asked = Arguments(family="binomial" if family is None else family, **given)
        family_of(asked.family)
        if X is not None and not isinstance(X, Table):
            n_rows(X)
        if formula is not None:
            arguments = Arguments(**formulas.of_formula(formula, data, asked))
        elif data is not None:
            arguments = Arguments(**formulas.of_columns(data, asked))
        else:
            arguments = asked
    family_of(arguments.family)
    arguments = replace(arguments, link=link_of(arguments.family, arguments.link))
    check_taken(arguments)
    return arguments


def _package(X: Any) -> str | None:
    """The package whose model X is, if `detect_separation` reads its models."""
    if isinstance(X, type):
        raise TypeError(f"X is the class {X.__name__}: pass a table, or an object of the class.")
    for cls in type(X).__mro__:
        package = cls.__module__.partition(".")[0]
        if package in _READERS_BY_PACKAGE:
            return package
    return None


def _of_model(
    package: str, family: object, formula: object, data: Any, given: dict[str, Any]
) -> Arguments:
    """The arguments that a model object stands for."""
    if formula is not None:
        raise ValueError("formula does not apply: the model has a formula of its own, or columns.")
    plain = {own.name: own.default for own in fields(Arguments)}
    asked = {
        name: value
        for name, value in given.items()
        if name != "X" and value is not plain[name] and (value == plain[name]) is not True
    }
    arguments = Arguments(**_READERS_BY_PACKAGE[package](given["X"], data, asked))
    if family is not None and family != arguments.family:
        raise ValueError(
            f"family={family!r} was given, but the model's family is {arguments.family!r}."
        )
    return arguments


def _check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
