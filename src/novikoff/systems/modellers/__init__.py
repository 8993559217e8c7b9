"""Models of other packages as systems of inequalities, read through their public interfaces.

A model is recognised by the module of its class, so that no package is imported that the user has
not imported. Every reader fills a `ModelBuilder` with the names, rows and bounds of the model.
Numbers are read as the decimals that Python prints: 0.1 is one tenth. Parts that are not linear
are rejected with an error that names them; a quadratic objective is left out, with a note.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from novikoff.errors import DataError
from novikoff.systems.files.builder import ModelBuilder
from novikoff.systems.system_model import SystemModel

# The reader of each package that models come from, by the first part of the class' module.
_READERS: Final = {
    "pulp": "pulp_models",
    "pyomo": "pyomo_models",
    "linopy": "linopy_models",
    "cvxpy": "cvxpy_models",
    "highspy": "highspy_models",
    "gurobipy": "gurobipy_models",
    "ortools": "ortools_models",
    "scipy": "scipy_constraints",
}
MODELLERS: Final = ("PuLP", "Pyomo", "linopy", "CVXPY", "highspy", "gurobipy", "OR-tools")


def package_of(model: object) -> str | None:
    """The package whose reader reads a model, or None."""
    if isinstance(model, list | tuple) and model:
        packages = {package_of(part) for part in model}
        return "scipy" if packages == {"scipy"} else None
    for base in type(model).__mro__:
        package, _, module = base.__module__.partition(".")
        if package in _READERS and (package != "scipy" or "optimize" in module):
            return package
    return None


def model_system(model: object) -> SystemModel:
    """The system of a model of another package.

    TypeError if the package is not known, DataError if the model has parts that are not linear.
    """
    package = package_of(model)
    if package is None:
        raise TypeError(
            f"{type(model).__name__} is not a model that can be read: models of "
            f"{', '.join(MODELLERS)} can, files by nv.read_system, and arrays are A and c."
        )
    reader = import_module(f"novikoff.systems.modellers.{_READERS[package]}")
    read: Callable[[Any, ModelBuilder], None] = reader.read_model
    builder = ModelBuilder(f"{type(model).__name__} of {package}", default_lower=None)
    try:
        read(model, builder)
        return builder.build(package)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{builder.source}: {error}") from None
