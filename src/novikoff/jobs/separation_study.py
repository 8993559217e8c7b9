"""Decide whether the estimate of a model exists, for the rows of a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, as_dense
from novikoff.core.stops import Limits, ReportingLimits
from novikoff.core.validation import Columns
from novikoff.data import Dataset, ReadOptions
from novikoff.data.messages import argument, did_you_mean, option_in_python, quoted
from novikoff.data.options import Spelling
from novikoff.data.values import parse_number
from novikoff.errors import ArgumentError, CertificateError, DataError, InvalidJsonError
from novikoff.models.arguments import Table
from novikoff.models.families import Family, family_of, link_of
from novikoff.models.formulas import variables_of
from novikoff.models.outcomes import ModelQuestion, model_of
from novikoff.models.separation import Separation, separation_of
from novikoff.models.sources import read_arguments
from novikoff.proofs.strict_json import take_fields

# The columns of a file that are no covariates, by the names of arguments and options.
_NUMERIC = ("weights", "trials", "duration", "event", "entry")
_CODED = ("strata", "groups")


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
        The model as a formula, in the place of the covariates, and of the outcome if it has one.
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
        return self.duration if self.about.takes_duration else self.outcome

    @property
    def labelled(self) -> bool:
        """Whether a column, or a part of the format, is read as the label."""
        about = self.about  # ValueError if there is no such family
        return self.label is not None or (self.formula is None and "y" in about.takes)

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are neither covariates nor the label, by the names of arguments."""
        columns = {name: getattr(self, name) for name in (*_NUMERIC, *_CODED)}
        others = (None, self.label)
        return {name: column for name, column in columns.items() if column not in others}

    def to_json(self) -> dict[str, object]:
        """Return these options as JSON values."""
        return {**asdict(self), "reference": dict(self.reference)}

    @classmethod
    def from_json(cls, body: object) -> SeparationOptions:
        """Read `to_json`; CertificateError if it is malformed."""
        kinds = {option.name: "text or null" for option in fields(cls)} | {
            "family": "text",
            "ties": "text",
            "reference": "object",
            "levels": "texts",
            "fit_intercept": "flag",
        }
        what = "the description of the model"
        try:
            body = take_fields(body, what, **kinds)
            names = dict.fromkeys(body["reference"], "text")
            take_fields(body["reference"], f"'reference' in {what}", **names)
        except InvalidJsonError as error:
            raise CertificateError(f"The model cannot be read: {error}.") from None
        return cls(**body)

    def reading(self, options: ReadOptions) -> ReadOptions:
        """Return how to read the file: which columns are needed besides the covariates."""
        needed = [name for name in dict.fromkeys(self.columns.values()) if name != self.groups]
        chosen = [*options.features]
        if self.formula is not None:
            chosen = [name for name in variables_of(self.formula) if name != self.label]
        features = tuple(dict.fromkeys((*chosen, *needed))) if chosen else ()
        return replace(
            options,
            label=self.label,
            features=features,
            id=self.groups if self.groups is not None else options.id,
            regression=True,
            aliases=self._aliases,
            column_aliases={column: name for name, column in self.columns.items()},
        )

    @property
    def _aliases(self) -> dict[str, str]:
        """The options of the reader by the names that they have here."""
        label = "duration" if self.about.takes_duration else "outcome"
        aliases = {"label": label, "one_hot": "factors"}
        if self.groups is not None:
            aliases["id"] = "groups"
        if self.formula is not None:
            aliases["features"] = "formula"
        return aliases


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
    say: Spelling = option_in_python,
) -> SeparationStudy:
    """Decide about the model, and about each of its coefficients.

    ``say`` writes options in error messages.
    DataError or ValueError, with the name of the file, if the rows are not those of such a model.
    """
    began = time.perf_counter()
    show("reading the model")
    limits = ReportingLimits(
        seconds=budget, tell=lambda: show("deciding whether finite estimates exist")
    )
    model = question_of_file(data, asked, limits, say)
    separation = separation_of(model, limits)
    limits.tell = lambda: show("looking for the infinite coefficients")
    _ = separation.coefficients
    limits.tell = lambda: show("looking for the columns that are responsible")
    _ = separation.responsible_columns
    return SeparationStudy(separation, data, asked, seconds=time.perf_counter() - began)


def question_of_file(
    data: Dataset, asked: SeparationOptions, limits: Limits, say: Spelling = option_in_python
) -> ModelQuestion:
    """Return the inequalities of the model that is asked about, for the rows of a file.

    ``say`` writes options in error messages.
    """
    try:
        return model_of(read_arguments(**_arguments(data, asked, say)), limits)
    except ArgumentError as error:
        column = _column_of(error.argument, asked, say)
        raise DataError(f"{data.source}: {column} {error.reason}") from None
    except ValueError as error:
        raise DataError(f"{data.source}: {error}") from None


def _arguments(data: Dataset, asked: SeparationOptions, say: Spelling) -> dict[str, Any]:
    """Return the arguments of `novikoff.models.sources.read_arguments`."""
    file, about = _File(data, say), asked.about
    columns: dict[str, Any] = dict.fromkeys((*_NUMERIC, *_CODED))
    columns |= {name: file.column(name, column) for name, column in asked.columns.items()}
    outcome = _outcome_of_file(data, asked, say)
    if about.takes_duration:
        columns["duration"], outcome = outcome, None
    covariates = [name for name in file.parts if name not in {*asked.columns.values()}]
    if not covariates:
        raise DataError("no column is left for the covariates.")
    frame = None if asked.formula is None else file.frame()
    return {
        "X": file.table(covariates) if frame is None else None,
        "y": outcome,
        "family": asked.family,
        "link": asked.link,
        "fit_intercept": asked.fit_intercept,
        "ties": asked.ties,
        "reference": _reference(file, asked) or None,
        "missing": "error",
        "levels": asked.levels or None,
        "formula": asked.formula,
        "data": frame,
        **columns,
    }


def _outcome_of_file(
    data: Dataset, asked: SeparationOptions, say: Spelling
) -> npt.NDArray[Any] | None:
    """The outcome: its classes, the numbers of its categories, or numbers; None if X has it."""
    about = asked.about
    if data.codes is None or about.takes_wins:
        return None
    if asked.levels:
        return _numbered(data, asked.levels, say)
    outcome = _outcome(data, numeric=about.numeric or asked.trials is not None)
    if about.ordered and outcome.dtype.kind == "U":
        known = tuple(map(str, data.coded_labels.classes.tolist()))
        raise DataError(
            f"column {quoted(data.label or '')} ({say('outcome', None)}) is text, whose order is "
            f"not known: give its categories in their order, as in {say('levels', known)}."
        )
    return outcome


def _reference(file: _File, asked: SeparationOptions) -> Any:
    """The reference level of each factor and of the outcome; for a table of wins, a name."""
    if asked.about.takes_wins:
        return _reference_of_wins(file, asked)
    reference: dict[str, Hashable] = {}
    for column, level in asked.reference.items():
        if column == asked.outcome:
            reference["y"] = _class_named(level, file.data, asked)
            continue
        is_factor = column not in file.parts or file.parts[column].levels
        if asked.formula is None and not is_factor:
            option, hint = file.say("reference", None), file.say("factors", (column,))
            raise DataError(
                f"column {quoted(column)} ({option}) is not a factor; {hint} makes it one."
            )
        reference[column] = level
    return reference


def _reference_of_wins(file: _File, asked: SeparationOptions) -> str | None:
    """The name in a table of wins whose strength is 0."""
    wrong = next((column for column in asked.reference if column != "wins"), None)
    if wrong is not None:
        known = ", ".join(argument(str(name)) for name in file.data.names[:20])
        raise DataError(
            f"{file.say('reference', f'{wrong}={asked.reference[wrong]}')}: with {asked.family}, "
            f"write {file.say('reference', 'wins=NAME')}; the names are {known}."
        )
    return asked.reference.get("wins")


class _Part(NamedTuple):
    """A column of a file: where it is in X, and its levels if it is a factor."""

    columns: range
    levels: Sequence[str] | None


class _File:
    """The columns of a dataset by their names in the file."""

    def __init__(self, data: Dataset, say: Spelling) -> None:
        self.data, self.say, self.parts = data, say, dict[Hashable, _Part]()
        if not data.recipe.columns:  # a matrix
            self.parts = {name: _Part(range(j, j + 1), None) for j, name in enumerate(data.names)}
            return
        at = 0
        for column in data.recipe.columns:
            end = at + len(column.names)
            self.parts[column.name] = _Part(range(at, end), column.levels)
            at = end

    def column(self, name: str, column: str) -> npt.NDArray[Any]:
        """A column as numbers, or as text if it is a factor or the groups."""
        if name == "groups":
            return self._groups(column)
        if column not in self.parts:
            hint = did_you_mean(column, [str(known) for known in self.parts])
            raise DataError(f"there is no column {quoted(column)} ({self.say(name, None)}); {hint}")
        part = self.parts[column]
        cells = self._cells(part.columns)
        if part.levels is None:
            return np.asarray(cells[:, 0], dtype=np.float64)
        if name in _NUMERIC:
            text = quoted(part.levels[0])
            raise DataError(
                f"column {quoted(column)} ({self.say(name, None)}) holds text, such as {text}: it "
                "must be numbers."
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

    def _groups(self, column: str) -> npt.NDArray[Any]:
        """The names of the groups, which are read as the names of the rows: there may be many."""
        names = self.data.ids or []
        if "" in names:
            row, option = self.data.rows[names.index("")], self.say("groups", None)
            raise DataError(f"row {row}, column {quoted(column)} ({option}) is missing.")
        return np.array(names)

    def _cells(self, columns: range) -> Floats:
        cells: Floats = as_dense(self.data.X[:, [*columns]])
        return cells


def _outcome(data: Dataset, *, numeric: bool) -> npt.NDArray[Any]:
    """The classes of the outcome, or its numbers if all of them are numbers and not whole."""
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


def _numbered(data: Dataset, levels: Sequence[str], say: Spelling) -> npt.NDArray[np.int64]:
    """The outcome as the number of its category in a list of categories."""
    labels, option = data.coded_labels, say("levels", None)
    numbers = []
    for label in labels.classes.tolist():
        if str(label) not in levels:
            raise DataError(
                f"{option} lacks {quoted(str(label))}, a category of column "
                f"{quoted(data.label or '')}."
            )
        numbers.append(levels.index(str(label)))
    used = [level for k, level in enumerate(levels) if k in numbers]
    if len(used) < len(levels):
        absent = next(level for level in levels if level not in used)
        raise DataError(
            f"{option} has {quoted(absent)}, which column {quoted(data.label or '')} "
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


def _column_of(name: str, asked: SeparationOptions, say: Spelling) -> str:
    """The column of a file, and the option, that gave an argument."""
    columns = {"y": asked.outcome or "the outcome", "duration": asked.duration} | asked.columns
    column = columns.get(name)
    option = "outcome" if name == "y" else name
    return name if column is None else f"column {quoted(column)} ({say(option, None)})"
