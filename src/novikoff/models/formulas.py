"""Arguments of `detect_separation` that name columns of a frame: by name, or by a formula."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from novikoff.core.class_labels import plain_label
from novikoff.core.validation import Columns
from novikoff.errors import DataError, MissingExtraError
from novikoff.models.arguments import Arguments, Table
from novikoff.models.families import FAMILIES
from novikoff.models.rows import check_length, missing_rows, rows_of
from novikoff.sentences import counted

# A design matrix with at most this many entries is dense.
_DENSE = 20_000_000
_INTERCEPT = "Intercept"


def of_columns(data: Any, asked: Arguments) -> dict[str, Any]:
    """Replace the names of columns in the arguments by the columns of ``data``.

    All other columns of ``data`` are the covariates.
    """
    if asked.X is not None:
        raise ValueError("Give X, or data with the names of its columns, not both.")
    arguments, used = _named_columns(data, asked)
    columns = [column for column in data.columns if column not in used]
    if not columns:
        raise DataError("data has no column left for the covariates.")
    return {**arguments, "X": data[columns]}


def of_formula(formula: object, data: Any, asked: Arguments) -> dict[str, Any]:
    """The arguments of a formula such as "died ~ age + C(colour)" (by formulaic)."""
    if not isinstance(formula, str):
        raise TypeError(f"formula must be text such as 'y ~ x', not {type(formula).__name__}.")
    _check_covariates(formula)
    if asked.X is not None:
        raise ValueError("Give X, or a formula with data=…, not both.")
    if data is None:
        raise ValueError("A formula needs the frame whose columns it names: data=….")
    if not asked.fit_intercept:
        raise ValueError("The formula says whether there is an intercept: write '0 + …' for none.")
    if asked.level_references:
        column = next(iter(asked.level_references))
        raise ValueError(
            f"reference names {column!r}, but a formula has the levels: write "
            f"C({column}, contr.treatment(base=…))."
        )
    arguments, _ = _named_columns(data, asked)
    vectors = {name: arguments[name] for name in asked.vectors()}
    n = len(data)
    for name, vector in (*vectors.items(), ("y", arguments["y"])):
        check_length(name, vector, n)
    outcome, design, variables = _materialise(formula, data)
    lost = np.zeros(n, dtype=np.bool_)
    for column in variables:
        where = missing_rows(data[column])
        if where.any() and asked.missing == "error":
            row = plain_label(_index(data)[int(np.argmax(where))])
            raise DataError(
                f"{column!r} is missing in row {row!r}: missing='drop' leaves such rows out."
            )
        lost |= where
    if lost.any():
        for vector in (arguments["y"], *vectors.values()):
            lost |= missing_rows(vector, n)
        complete = np.flatnonzero(~lost)
        if len(complete) == 0:
            raise DataError("No row is left: all rows have missing values.")
        arguments |= {name: rows_of(vector, complete) for name, vector in vectors.items()}
        arguments["y"] = None if arguments["y"] is None else rows_of(arguments["y"], complete)
        arguments["notes"] = (f"{counted(int(lost.sum()), 'row')} with missing values left out",)
        index, data = _index(data)[complete], rows_of(data, complete)
        outcome, design, _ = _materialise(formula, data)
    else:
        index = _index(data) if hasattr(data, "iloc") else None
    if outcome is not None:
        name = "duration" if asked.family == "cox" else "y"
        if arguments[name] is not None:
            raise ValueError(f"The formula has an outcome: leave {name} out.")
        arguments[name] = _outcome(outcome, data)
    elif arguments["y"] is None and "y" in FAMILIES[asked.family].takes:
        raise ValueError(f"The formula {formula!r} has no outcome: name it first, as in y ~ x.")
    X, names, terms = design
    if not FAMILIES[asked.family].intercept and _INTERCEPT in names:
        keep = [j for j, name in enumerate(names) if name != _INTERCEPT]
        X, names = X[:, keep], [names[j] for j in keep]
        if not names:
            raise DataError("The formula has no covariates.")
    table = Table(X, Columns(names), index, terms, with_intercept=True)
    return {**arguments, "X": table, "fit_intercept": False}


def variables_of(formula: str) -> list[str]:
    """The columns of a frame that a formula needs, the outcome first."""
    _check_covariates(formula)
    formulaic, errors = _formulaic()
    try:
        read = formulaic.Formula(formula)
    except (errors.FormulaicError, SyntaxError) as error:
        raise _unreadable(formula, error) from None
    parts = [getattr(read, "lhs", None), getattr(read, "rhs", read)]
    if any(isinstance(part, tuple) for part in parts):
        raise _several_parts(formula)
    variables = [
        {str(name) for name in part.required_variables} for part in parts if part is not None
    ]
    return [*dict.fromkeys(name for own in variables for name in sorted(own))]


def _check_covariates(formula: str) -> None:
    """ValueError if nothing stands on the right of ~, where formulaic means the intercept."""
    if not formula.rpartition("~")[2].strip():
        raise ValueError(
            f"The formula {formula!r} has no covariates: name columns on the right of ~, or write "
            "1 for the intercept alone."
        )


def _formulaic() -> tuple[Any, Any]:
    """The package formulaic and its errors."""
    try:
        import formulaic
        from formulaic import errors
    except ImportError:
        raise MissingExtraError("A formula", "formulaic", "formula") from None
    return formulaic, errors


def _several_parts(formula: str) -> ValueError:
    return ValueError(
        f"The formula {formula!r} has several parts (|). Groups and strata are arguments of their "
        "own."
    )


def _unreadable(formula: str, error: Exception) -> ValueError:
    what = str(error).strip().partition("\n")[0]
    hint = " Write successes + failures ~ … for two columns." if "cbind" in formula else ""
    return ValueError(f"The formula {formula!r} cannot be read: {what}{hint}")


def _named_columns(data: Any, asked: Arguments) -> tuple[dict[str, Any], list[Hashable]]:
    """The arguments, with columns in the place of their names, and these names."""
    if not (hasattr(data, "columns") and hasattr(data, "to_numpy")):
        raise TypeError(f"data must be a data frame, not {type(data).__name__}.")
    arguments: dict[str, Any] = dict(vars(asked))
    used: list[Hashable] = []
    for name in ("y", *asked.vectors()):
        column = arguments[name]
        if isinstance(column, str):
            if column not in data.columns:
                raise ValueError(
                    f"{name}={column!r} is not a column of data: {[*data.columns][:20]}."
                )
            arguments[name] = data[column]
            used.append(column)
    return arguments, used


def _materialise(formula: str, data: Any) -> tuple[Any, tuple[Any, list[Hashable], Any], list[str]]:
    """The outcome, the covariates with names and terms, and the variables of a formula."""
    formulaic, errors = _formulaic()
    try:
        whole = formulaic.model_matrix(formula, data, na_action="ignore", output="sparse")
    except (errors.FormulaicError, SyntaxError) as error:
        raise _unreadable(formula, error) from None
    outcome, matrix = getattr(whole, "lhs", None), getattr(whole, "rhs", whole)
    if not hasattr(matrix, "model_spec"):
        raise _several_parts(formula)
    spec = matrix.model_spec
    names = [*spec.column_names]
    if not names:
        raise DataError(f"The formula {formula!r} has no covariates.")
    X = matrix.__wrapped__.tocsr()
    X = X.toarray() if X.shape[0] * X.shape[1] <= _DENSE else X
    variables = {str(name) for name in spec.required_variables}
    if outcome is not None:
        variables |= {str(name) for name in outcome.model_spec.required_variables}
    columns = [str(column) for column in data.columns if str(column) in variables]
    return outcome, (X, names, terms_of(spec, names)), columns


def _outcome(outcome: Any, data: Any) -> Any:
    """The outcome: a column of the frame as it is, or numbers that the formula computes."""
    terms = [str(term) for term in outcome.model_spec.formula]
    if len(terms) == 1 and terms[0] in data.columns:
        return data[terms[0]]
    table = outcome.__wrapped__.toarray()
    return table[:, 0] if table.shape[1] == 1 else table


def terms_of(spec: Any, names: Sequence[Hashable]) -> Mapping[Hashable, Sequence[Hashable]]:
    """The columns of each term of a design matrix by formulaic or patsy; not of the intercept."""
    slices = getattr(spec, "term_name_slices", None) or spec.term_slices
    columns = [*spec.column_names]
    present = set(names)
    terms: dict[Hashable, Sequence[Hashable]] = {}
    for term, places in slices.items():
        these = [name for name in columns[places] if name in present]
        if these and these != [_INTERCEPT]:
            terms[str(term)] = these
    return terms


def _index(data: Any) -> Any:
    return data.index.to_numpy() if hasattr(data, "iloc") else np.arange(len(data))
