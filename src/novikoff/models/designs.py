"""The columns of a model: numbers, names, the intercept and the reference levels of factors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from novikoff.core.problem import Rows
from novikoff.core.rows import Matrix, compact, side_by_side
from novikoff.core.validation import Columns, check_matrix, columns_of
from novikoff.geometry.logistic import INTERCEPT
from novikoff.models.arguments import Arguments, Table
from novikoff.models.families import FAMILIES


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of a model as numbers, with their names.

    Attributes
    ----------
    X : matrix of shape (n, p)
        All columns, including the intercept, in float64.
    names : list
        The name of each column.
    terms : mapping
        For each column or factor of the user, the numbers of its columns; not for the intercept.
    """

    X: Matrix
    names: list[Hashable]
    terms: Mapping[Hashable, list[int]]


class Designed(NamedTuple):
    """The columns of a model.

    Attributes
    ----------
    design : Design
        The numbers, with names and terms.
    references : mapping
        The reference levels that were left out, with the factor of each.
    notes : list of str
        What was done with the columns.
    """

    design: Design
    references: Mapping[Hashable, Hashable]
    notes: list[str]


def design_of(X: Any, table: Table | None, arguments: Arguments) -> Designed:
    """Return the columns of the model for the rows X, which may be rows of a table."""
    matrix = check_matrix(X)
    columns = columns_of(X, matrix.shape[1]) if table is None else table.columns
    Rows.of(matrix, False, names=None if isinstance(columns.names, range) else columns.names)
    values: Any = compact(matrix).astype(np.float64)
    for column in arguments.level_references:
        if column not in columns.groups:
            raise ValueError(f"reference names {column!r}, which is not a factor of X.")
    about = FAMILIES[arguments.family]
    grouped = {j for own in columns.groups.values() for j in own}
    constant = [j for j in _constant_columns(values) if j not in grouped]
    intercept = about.intercept and bool(arguments.fit_intercept)
    first = constant[:1] if intercept else []
    keeps_first = about.intercept and not intercept
    left_out = _reference_levels(columns, arguments.level_references, keeps_first)
    order = [*first, *(j for j in range(values.shape[1]) if j not in {*first, *left_out})]
    names: list[Hashable] = [columns.names[j] for j in order]
    is_intercept = {*first}
    if table is not None and table.with_intercept and about.intercept:
        is_intercept |= {*constant}
    terms = _terms(columns, order, is_intercept, {} if table is None else table.terms)
    values = values[:, order]
    notes = [f"the constant column {names[0]!r} is the intercept"] if first else []
    if intercept and not first:
        values = side_by_side(np.ones((values.shape[0], 1)), values)
        names = [_unused(INTERCEPT, names), *names]
        terms = {term: [j + 1 for j in own] for term, own in terms.items()}
    references = {columns.names[j]: column for j, column in left_out.items()}
    return Designed(Design(values, names, terms), references, notes)


def _constant_columns(X: Any) -> list[int]:
    """The columns that have the same number, not 0, in every row."""
    if isinstance(X, np.ndarray):
        return np.flatnonzero((X[0] != 0.0) & (X[0] == X).all(axis=0)).tolist()
    by_column = X.tocsc()
    full = np.flatnonzero(np.diff(by_column.indptr) == X.shape[0])
    parts = [by_column.data[by_column.indptr[j] : by_column.indptr[j + 1]] for j in full.tolist()]
    return [j for j, own in zip(full.tolist(), parts, strict=True) if _same(own)]


def _same(values: Any) -> bool:
    return bool(values[0] != 0.0 and (values[0] == values).all())


def _reference_levels(
    columns: Columns, wanted: Mapping[Hashable, Hashable], keeps_first: bool
) -> dict[int, Hashable]:
    """The columns of the reference levels, with the factor of each.

    If ``keeps_first`` and there is no intercept, the first factor keeps all its levels.
    """
    references: dict[int, Hashable] = {}
    for place, (column, places) in enumerate(columns.groups.items()):
        if keeps_first and place == 0:
            if column in wanted:
                raise ValueError(
                    f"reference names {column!r}, which keeps all its levels without an intercept."
                )
            continue
        levels = [columns.names[j] for j in places]
        at = 0
        if column in wanted:
            name = f"{column}={wanted[column]}"  # as `columns_of` names the columns of a factor
            if name not in levels:
                known = ", ".join(str(level).removeprefix(f"{column}=") for level in levels)
                raise ValueError(
                    f"{wanted[column]!r} is not a level of {column!r}; its levels are {known}."
                )
            at = levels.index(name)
        references[places[at]] = column
    return references


def _terms(
    columns: Columns,
    order: Sequence[int],
    intercept: set[int],
    given: Mapping[Hashable, Sequence[Hashable]],
) -> dict[Hashable, list[int]]:
    """The columns of the design that each column, factor or term of the user has become."""
    term_of: dict[Hashable, Hashable] = {}
    for column, places in columns.groups.items():
        term_of |= {columns.names[j]: column for j in places}
    for term, names in given.items():
        term_of |= dict.fromkeys(names, term)
    terms: dict[Hashable, list[int]] = {}
    for place, j in enumerate(order):
        if j not in intercept:
            name = columns.names[j]
            terms.setdefault(term_of.get(name, name), []).append(place)
    return terms


def _unused(name: str, names: Sequence[Hashable]) -> str:
    while name in names:
        name = f"({name})"
    return name
