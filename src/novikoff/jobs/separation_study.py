"""Decide whether the estimate of a model exists, for the rows of a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, as_dense
from novikoff.core.stops import ReportingLimits
from novikoff.core.validation import Columns
from novikoff.data import Dataset, ReadOptions
from novikoff.data.messages import argument, did_you_mean, quoted
from novikoff.data.values import parse_number
from novikoff.errors import ArgumentError, CertificateError, DataError
from novikoff.models.arguments import Table
from novikoff.models.families import Family, family_of, link_of
from novikoff.models.formulas import variables_of
from novikoff.models.outcomes import ModelQuestion, model_of
from novikoff.models.separation import Separation, separation_of
from novikoff.models.sources import read_arguments
from novikoff.names import ORDERED_FAMILIES

# The columns of a file that are no covariates, by the names of arguments and options.
_NUMERIC = ("weights", "trials", "duration", "event", "entry")
_CODED = ("strata", "groups")
_COUNTS = ("poisson", "negative-binomial", "rank-ordered", "choice", "conditional-logit")


@dataclass(frozen=True)
class SeparationOptions:
    """What is asked about the rows of a file; columns are given by their names.

    Attributes
    ----------
    family, link : str
        The model, as in `novikoff.detect_separation`.
    outcome : str or None
        The column of the outcome; a format such as svmlight has one without a name.
    formula : str or None
        The model as a formula, in the place of the outcome and the covariates.
    weights, trials, groups, strata, duration, event, entry : str or None
        The columns of these arguments.
    ties : str
        How a Cox model treats tied events.
    reference : mapping
        The reference level of a factor, by the name of its column; for the outcome, the class that
        is coded as 0 or is the baseline.
    levels : list
        The categories of an ordinal outcome in their order; if empty, they are sorted.
    fit_intercept : bool
        Whether the model has an intercept.
    """

    family: str = "binomial"
    link: str | None = None
    outcome: str | None = None
    formula: str | None = None
    weights: str | None = None
    trials: str | None = None
    groups: str | None = None
    strata: str | None = None
    duration: str | None = None
    event: str | None = None
    entry: str | None = None
    ties: str = "efron"
    reference: Mapping[str, str] = field(default_factory=dict)
    levels: list[str] = field(default_factory=list)
    fit_intercept: bool = True

    @property
    def about(self) -> Family:
        """The family of models; ValueError if there is none of this name, or no such link."""
        about = family_of(self.family)
        link_of(self.family, self.link)
        return about

    @property
    def label(self) -> str | None:
        """The column that is read as the label: the outcome, or the duration of a Cox model."""
        return self.duration if self.family == "cox" else self.outcome

    @property
    def labelled(self) -> bool:
        """Whether a column, or a part of the format, is read as the label."""
        about = self.about  # ValueError if there is no such family
        return self.label is not None or (self.formula is None and "y" in about.takes)

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are neither covariates nor the label, by the names of arguments."""
        columns = {name: getattr(self, name) for name in (*_NUMERIC, *_CODED)}
        return {name: own for name, own in columns.items() if own is not None and own != self.label}

    def to_json(self) -> dict[str, object]:
        """Return these options as JSON values."""
        return {**asdict(self), "reference": dict(self.reference)}

    @classmethod
    def from_json(cls, body: object) -> SeparationOptions:
        """Read `to_json`; CertificateError if it is malformed."""
        if not isinstance(body, Mapping) or {*body} != {own.name for own in fields(cls)}:
            raise CertificateError("The description of the model has missing or unknown fields.")
        others = ("reference", "levels", "fit_intercept")
        texts = {key: own for key, own in body.items() if key not in others}
        reference, levels = body["reference"], body["levels"]
        if (
            not isinstance(levels, list)
            or not all(isinstance(own, str) for own in levels)
            or not isinstance(body["family"], str)
            or not all(own is None or isinstance(own, str) for own in texts.values())
            or not isinstance(body["fit_intercept"], bool)
            or not isinstance(reference, Mapping)
            or not all(isinstance(own, str) for own in (*reference, *reference.values()))
        ):
            raise CertificateError("The description of the model has values of the wrong type.")
        return cls(**body)

    def reading(self, options: ReadOptions) -> ReadOptions:
        """Return how to read the file: which columns are needed besides the covariates."""
        needed = [own for own in dict.fromkeys(self.columns.values()) if own != self.groups]
        chosen = [*options.features]
        if self.formula is not None:
            chosen = [own for own in variables_of(self.formula) if own != self.label]
        features = tuple(dict.fromkeys((*chosen, *needed))) if chosen else ()
        return replace(
            options,
            label=self.label,
            features=features,
            id=self.groups if self.groups is not None else options.id,
            regression=True,
            flags=self._flags,
            column_flags={column: f"--{name}" for name, column in self.columns.items()},
        )

    @property
    def _flags(self) -> dict[str, str]:
        """How the command calls the options of the reader."""
        flags = {
            "label": "--duration" if self.family == "cox" else "--outcome",
            "one_hot": "--factors",
        }
        if self.groups is not None:
            flags["id"] = "--groups"
        if self.formula is not None:
            flags["features"] = "--formula"
        return flags


@dataclass(frozen=True)
class SeparationStudy:
    """The answer to what was asked about the rows of a file.

    Attributes
    ----------
    separation : Separation
        The answer; the labels of its rows are their numbers in the file.
    data : Dataset
        The file.
    asked : SeparationOptions
        What was asked.
    files : mapping
        The files that were written, by their role.
    seconds : float
        The time that deciding took, without reading.
    """

    separation: Separation
    data: Dataset
    asked: SeparationOptions
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def notes(self) -> list[str]:
        """What was done with the file and with its rows."""
        return [*self.data.notes, *self.separation.notes]

    @property
    def marks(self) -> list[int | None]:
        """For each row of the data, 1 if it is separated, else 0; None if it was left out."""
        place = {row: k for k, row in enumerate(self.separation.rows.tolist())}
        marks: list[int | None] = [None] * self.data.n_rows
        marked = np.zeros(len(self.separation.rows), dtype=np.int64)
        marked[self.separation.separated_positions] = 1
        for k, row in enumerate(self.data.rows.tolist()):
            if row in place:
                marks[k] = int(marked[place[row]])
        return marks


def study_separation(
    data: Dataset,
    asked: SeparationOptions,
    show: Callable[[str], None],
    *,
    budget: float | None = None,
) -> SeparationStudy:
    """Decide about the model, and about each of its coefficients.

    DataError or ValueError, with the name of the file, if the rows are not those of such a model.
    """
    began = time.perf_counter()
    show("reading the model")
    model = question_of_file(data, asked)
    limits = ReportingLimits(
        seconds=budget, tell=lambda: show("deciding whether finite estimates exist")
    )
    separation = separation_of(model, limits)
    limits.tell = lambda: show("looking for the infinite coefficients")
    _ = separation.coefficients
    limits.tell = lambda: show("looking for the columns that are responsible")
    _ = separation.responsible_columns
    return SeparationStudy(separation, data, asked, seconds=time.perf_counter() - began)


def question_of_file(data: Dataset, asked: SeparationOptions) -> ModelQuestion:
    """Return the inequalities of the model that is asked about, for the rows of a file."""
    try:
        return model_of(read_arguments(**_arguments(data, asked)))
    except ArgumentError as error:
        column = _column_of(error.argument, asked)
        raise DataError(f"{data.source}: {column} {error.reason}") from None
    except ValueError as error:
        raise DataError(f"{data.source}: {error}") from None


def _arguments(data: Dataset, asked: SeparationOptions) -> dict[str, Any]:
    """Return the arguments of `novikoff.models.sources.read_arguments`."""
    file = _File(data)
    given: dict[str, Any] = {}
    for name, column in asked.columns.items():
        if name == "groups":
            given[name] = _groups(data, column)
        else:
            given[name] = file.column(name, column)
    outcome = None
    if data.codes is not None and asked.family != "bradley-terry":
        counts = asked.family in _COUNTS or asked.trials is not None
        outcome = _outcome_of_file(data, numeric=counts or asked.family == "cox")
    if asked.family == "cox":
        given["duration"], outcome = outcome, None
    for name in (*_NUMERIC, *_CODED):
        given.setdefault(name, None)
    covariates = [own for own in file.parts if own not in {*asked.columns.values()}]
    if not covariates:
        raise DataError("no column is left for the covariates.")
    frame = None if asked.formula is None else file.frame()
    for column, level in asked.reference.items():
        if asked.family == "bradley-terry" and column != "wins":
            known = ", ".join(argument(str(name)) for name in data.names[:20])
            raise DataError(
                f"--reference {column}={level}: with bradley-terry, write --reference wins=NAME; "
                f"the names are {known}."
            )
        plain = (
            asked.formula is None and asked.family != "bradley-terry" and column != asked.outcome
        )
        if plain and column in file.parts and not file.parts[column].levels:
            hint = f"--factors {argument(column)} makes it one"
            raise DataError(f"column {quoted(column)} (--reference) is not a factor; {hint}.")
    reference: Any = {
        "y" if column == asked.outcome else column: level
        for column, level in asked.reference.items()
    }
    levels = None
    if asked.levels:
        outcome, levels = _numbered(data, asked.levels), asked.levels
    elif asked.family in ORDERED_FAMILIES and outcome is not None and outcome.dtype.kind == "U":
        known = ",".join(argument(str(label)) for label in data.coded_labels.classes.tolist())
        raise DataError(
            f"column {quoted(data.label or '')} (--outcome) is text, whose order is not known: "
            f"give its categories in their order, as in --levels {known}."
        )
    if asked.family == "bradley-terry":
        reference = next(iter(asked.reference.values()), None)
    elif "y" in reference and data.classes is not None:
        reference["y"] = _class_named(reference["y"], data, asked)
    return {
        "X": file.table(covariates) if frame is None else None,
        "y": outcome,
        "family": asked.family,
        "link": asked.link,
        "fit_intercept": asked.fit_intercept,
        "ties": asked.ties,
        "reference": reference or None,
        "missing": "error",
        "levels": levels,
        "formula": asked.formula,
        "data": frame,
        **given,
    }


class _Part(NamedTuple):
    """A column of a file: where it is in X, and its levels if it is a factor."""

    columns: range
    levels: Sequence[str] | None


class _File:
    """The columns of a dataset by their names in the file."""

    def __init__(self, data: Dataset) -> None:
        self.data, self.parts = data, dict[Hashable, _Part]()
        if not data.recipe.columns:  # a matrix
            self.parts = {name: _Part(range(j, j + 1), None) for j, name in enumerate(data.names)}
            return
        at = 0
        for column in data.recipe.columns:
            end = at + len(column.names)
            self.parts[column.name] = _Part(range(at, end), column.levels)
            at = end

    def column(self, name: str, column: str) -> npt.NDArray[Any]:
        """A column as numbers, or as text if it is a factor."""
        if column not in self.parts:
            hint = did_you_mean(column, [str(own) for own in self.parts])
            raise DataError(f"there is no column {quoted(column)} (--{name}); {hint}")
        part = self.parts[column]
        cells = self._cells(part.columns)
        if part.levels is None:
            return np.asarray(cells[:, 0], dtype=np.float64)
        if name in _NUMERIC:
            text = quoted(part.levels[0])
            raise DataError(
                f"column {quoted(column)} (--{name}) holds text, such as {text}: it must be "
                "numbers."
            )
        return np.array(part.levels)[cells.argmax(axis=1)]

    def table(self, names: Sequence[Hashable]) -> Table:
        """The matrix of some columns."""
        at = [j for name in names for j in self.parts[name].columns]
        names_of_columns = [self.data.names[j] for j in at]
        groups: dict[Hashable, range] = {}
        end = 0
        for name in names:
            begin, end = end, end + len(self.parts[name].columns)
            if self.parts[name].levels is not None:
                groups[name] = range(begin, end)
        whole = len(at) == len(self.data.names)
        X = self.data.X if whole else self.data.X[:, at]
        return Table(X, Columns(names_of_columns, groups), self.data.rows)

    def frame(self) -> Any:
        """All columns as a data frame, for a formula; columns of text are categories."""
        import pandas as pd

        columns = {}
        for name, part in self.parts.items():
            cells = self._cells(part.columns)
            columns[name] = cells[:, 0]
            if part.levels is not None:
                columns[name] = pd.Categorical.from_codes(cells.argmax(axis=1), part.levels)
        return pd.DataFrame(columns, index=self.data.rows)

    def _cells(self, columns: range) -> Floats:
        cells: Floats = as_dense(self.data.X[:, [*columns]])
        return cells


def _groups(data: Dataset, column: str) -> npt.NDArray[Any]:
    """The names of the groups, which are read as the names of the rows: there may be many."""
    names = data.ids or []
    if "" in names:
        row = data.rows[names.index("")]
        raise DataError(f"row {row}, column {quoted(column)} (--groups) is missing.")
    return np.array(names)


def _outcome_of_file(data: Dataset, *, numeric: bool) -> npt.NDArray[Any]:
    """The outcome: its classes, or its numbers if all of them are numbers and not whole."""
    labels = data.labels
    if labels.dtype.kind != "U":
        return labels
    codes, decimal = data.coded_labels.codes, data.recipe.decimal or "."
    numbers = [parse_number(str(text), decimal) for text in data.coded_labels.classes.tolist()]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)[codes]
    if not numeric:
        return labels
    bad = np.array([number is None for number in numbers])[codes]
    row, text = data.rows[np.argmax(bad)], quoted(str(labels[np.argmax(bad)]))
    raise DataError(
        f"row {row}, column {quoted(data.label or '')} holds {text}, which is not a number."
    )


def _numbered(data: Dataset, levels: Sequence[str]) -> npt.NDArray[np.int64]:
    """The outcome as the number of its category in a list of categories."""
    labels = data.coded_labels
    numbers = []
    for label in labels.classes.tolist():
        if str(label) not in levels:
            raise DataError(
                f"--levels lacks {quoted(str(label))}, a category of column "
                f"{quoted(data.label or '')}."
            )
        numbers.append(levels.index(str(label)))
    used = [level for k, level in enumerate(levels) if k in numbers]
    if len(used) < len(levels):
        absent = next(level for level in levels if level not in used)
        raise DataError(
            f"--levels has {quoted(absent)}, which column {quoted(data.label or '')} "
            "does not contain."
        )
    return np.array(numbers, dtype=np.int64)[labels.codes]


def _class_named(text: str, data: Dataset, asked: SeparationOptions) -> Hashable:
    """The class of the outcome that a text on the command line stands for."""
    classes = [] if data.classes is None else data.classes.tolist()
    for label in classes:
        if str(label) == text:
            chosen: Hashable = label
            return chosen
    hint = did_you_mean(text, [str(label) for label in classes])
    raise DataError(f"the outcome {quoted(asked.outcome or '')} is never {quoted(text)}; {hint}")


def _column_of(name: str, asked: SeparationOptions) -> str:
    """The column of a file, and the option, that gave an argument."""
    columns = {"y": asked.outcome or "the outcome", "duration": asked.duration} | asked.columns
    column = columns.get(name)
    option = "outcome" if name == "y" else name
    return name if column is None else f"column {quoted(column)} (--{option})"
