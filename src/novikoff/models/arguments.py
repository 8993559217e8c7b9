"""The arguments of `detect_separation`, and the check that they fit the family."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from novikoff.core.class_labels import Labels
from novikoff.core.rows import Matrix
from novikoff.core.validation import Columns
from novikoff.errors import DataError
from novikoff.models.families import FAMILIES

# The arguments with one entry for each row, besides X and y.
VECTORS = ("weights", "trials", "groups", "strata", "duration", "event", "entry")


@dataclass(frozen=True)
class Table:
    """A matrix whose rows and columns have names; it takes the place of a data frame.

    Attributes
    ----------
    X : matrix of shape (n, d)
        The covariates; each level of a factor is a column of 0 and 1.
    columns : Columns
        The name of each column, and the columns of each factor.
    rows : array, optional
        The label of each row; by default they are counted from 0.
    terms : mapping
        The names of the columns of each term of a formula; not of the intercept.
    with_intercept : bool
        Whether constant columns are the intercept, as in the matrix of a formula.
    """

    X: Matrix
    columns: Columns
    rows: Labels | None = None
    terms: Mapping[Hashable, Sequence[Hashable]] = field(default_factory=dict)
    with_intercept: bool = False


@dataclass(frozen=True)
class Arguments:
    """The arguments that determine the inequalities of a model.

    Attributes
    ----------
    X, y : object
        The covariates, as an array, a frame or a `Table`, and the outcome.
    family, link, fit_intercept, weights, …, missing
        As in `detect_separation`.
    levels : list, optional
        The names of the classes, if y has their numbers.
    increments : bool
        Whether the thresholds are those of statsmodels' OrderedModel (`cones.cumulative`).
    has_offset : bool
        Whether the scores have an offset.
    notes : tuple of str
        What was done with the data.
    """

    X: Any = None
    y: Any = None
    family: str = "binomial"
    link: str | None = None
    fit_intercept: Any = True
    weights: Any = None
    trials: Any = None
    groups: Any = None
    strata: Any = None
    duration: Any = None
    event: Any = None
    entry: Any = None
    ties: str = "efron"
    reference: Any = None
    missing: str = "error"
    levels: Sequence[Hashable] | None = None
    increments: bool = False
    has_offset: bool = False
    notes: tuple[str, ...] = ()

    def vectors(self) -> dict[str, Any]:
        """The arguments with one entry for each row that were given, without X and y."""
        return {name: vector for name in VECTORS if (vector := getattr(self, name)) is not None}

    @property
    def class_reference(self) -> Hashable:
        """The class of y that is the reference, if one was given."""
        reference = self.reference
        return reference.get("y") if isinstance(reference, Mapping) else reference

    @property
    def level_references(self) -> Mapping[Hashable, Hashable]:
        """The reference levels of factors, by their columns."""
        references = self.reference if isinstance(self.reference, Mapping) else {}
        return {column: level for column, level in references.items() if column != "y"}


def check_taken(arguments: Arguments) -> None:
    """Reject arguments that the family does not take, and ask for those that it needs."""
    if arguments.X is None:
        raise DataError("X is missing: a table of numbers is needed, or a model, or a formula.")
    family = arguments.family
    takes = FAMILIES[family].takes
    for name in ("trials", "groups", "strata", "duration", "event", "entry"):
        if getattr(arguments, name) is not None and name not in takes:
            raise ValueError(f"{name} does not apply to the family {family!r}.")
    if arguments.ties != "efron" and "ties" not in takes:
        raise ValueError(f"ties does not apply to the family {family!r}.")
    if family == "bradley-terry" and arguments.weights is not None:
        raise ValueError("weights does not apply to the family 'bradley-terry': X has the counts.")
    if arguments.y is not None and "y" not in takes:
        what = "use duration=… and event=…" if family == "cox" else "X alone says who beat whom"
        raise ValueError(f"y does not apply to the family {family!r}: {what}.")
    for name in ("y", "groups", "duration"):
        if name in takes and getattr(arguments, name) is None:
            raise ValueError(f"The family {family!r} needs {name}.")
