"""Check the data of a model row by row, and turn it into the model's inequalities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import (
    Labels,
    check_labels,
    code_labels,
    distinct_labels,
    plain_label,
)
from novikoff.core.rows import Indices, Mask, Vector
from novikoff.core.stops import Limits
from novikoff.core.validation import check_matrix, check_same_index, coded_categories, columns_of
from novikoff.errors import ArgumentError, DataError
from novikoff.models import cones
from novikoff.models.arguments import Arguments, Table
from novikoff.models.cones import ModelCone
from novikoff.models.designs import Design, design_of
from novikoff.models.rows import check_length, missing_rows, n_rows, rows_of
from novikoff.sentences import counted, first_few

_ONE_CLASS = "with an intercept, this alone is complete separation"


@dataclass(frozen=True)
class ModelQuestion:
    """The inequalities of a model, and the labels of its observations.

    The observations are the rows at ``positions`` among the rows that were given, which have
    ``labels``.
    """

    cone: ModelCone
    family: str
    link: str
    labels: Labels
    positions: Indices
    labelled: bool
    notes: list[str]
    references: Mapping[Hashable, Hashable] = field(default_factory=dict)

    @property
    def rows(self) -> Labels:
        """The labels of the observations."""
        return self.labels[self.positions]


def model_of(arguments: Arguments, limits: Limits) -> ModelQuestion:
    """Check the data, and return the inequalities of the model.

    The limits are for models with the log link, for which it is decided first whether the
    likelihood is 0 for all coefficients.
    """
    if arguments.family == "bradley-terry":
        return _paired_comparisons(arguments.X, arguments.class_reference)
    return _Observations(arguments, limits).model()


class _Observations:
    """The rows that the model uses, with their labels: no missing values, no weights of 0."""

    def __init__(self, arguments: Arguments, limits: Limits) -> None:
        if hasattr(arguments.y, "toarray"):  # a sparse matrix, such as the outcome of a formula
            arguments = replace(arguments, y=arguments.y.toarray())
        self.arguments, self.limits = arguments, limits
        self.notes = [*arguments.notes]
        self.table = arguments.X if isinstance(arguments.X, Table) else None
        X, index = _rows_and_labels(arguments.X)
        y, vectors = arguments.y, arguments.vectors()
        n = n_rows(X)
        if n == 0:
            raise DataError("X has no rows.")
        for name, vector in (("y", y), *vectors.items()):
            check_length(name, vector, n)
            check_same_index(X, vector)
        self.labelled = index is not None
        index = np.arange(n) if index is None else index
        self.labels: Labels = np.asarray(index)
        arrays = {name: self._array(name, vector) for name, vector in vectors.items()}
        used = self._complete(X, n) if arguments.missing == "drop" else np.ones(n, dtype=np.bool_)
        lost = n - int(used.sum())
        if lost:
            self.notes.append(f"{counted(lost, 'row')} with missing values left out")
        if "weights" in arrays:
            weighted = self._weighted(arrays["weights"], used)
            lost = int((used & ~weighted).sum())
            used &= weighted
            if lost:
                self.notes.append(f"{counted(lost, 'row')} of weight 0 left out")
        if not used.any():
            raise DataError("No row is left: all rows have missing values or the weight 0.")
        at = np.flatnonzero(used)
        every = len(at) == n
        self.X = X if every else rows_of(X, at)
        self.y = y if y is None or every else rows_of(y, at)
        self.vectors = {name: vector[at] for name, vector in arrays.items()}
        self.every_label, self.labels = self.labels, self.labels[at]
        self.positions = at

    def _complete(self, X: Any, n: int) -> Mask:
        """The rows without a missing value."""
        missing = missing_rows(X) | missing_rows(self.arguments.y, n)
        for vector in self.arguments.vectors().values():
            missing |= missing_rows(vector)
        return ~missing

    def _array(self, name: str, given: Any) -> npt.NDArray[Any]:
        values = np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ArgumentError(name, f"has shape {values.shape}, but one value per row is needed.")
        return values

    def _weighted(self, weights: npt.NDArray[Any], used: Mask) -> Mask:
        """The rows whose weight is positive."""
        numbers = self.numbers("weights", weights, used)
        self._check("weights", numbers, used & (numbers < 0), "is negative")
        return np.asarray(numbers > 0)

    def _check(self, name: str, values: Any, bad: Mask, what: str, then: str = "") -> None:
        """Raise DataError that names the first bad row, if there is a bad row."""
        if bad.any():
            row = int(np.argmax(bad))
            label = plain_label(self.labels[row])
            value = plain_label(values[row])
            raise ArgumentError(name, f"{what} in row {label!r}: {value!r}.{then}")

    def numbers(self, name: str, values: npt.NDArray[Any], used: Mask | None = None) -> Vector:
        """Return an array as finite numbers; DataError names the first row without one."""
        used = np.ones(len(values), dtype=np.bool_) if used is None else used
        if values.dtype.kind in "OSU":
            text = np.array([isinstance(own, str | bytes) for own in values.tolist()])
            self._check(name, values, text, "has text, not a number,")
        if values.dtype.kind == "c":
            raise ArgumentError(name, "is complex, not numeric.")
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(name, "is not numeric.") from None
        bad = used & (~np.isfinite(numbers) | missing_rows(values))  # NaT becomes a number
        self._check(name, values, bad, "is missing or infinite")
        if values.dtype.kind in "iumM":
            whole = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64)
            large = used & (np.abs(numbers) >= 2.0**53)
            large[large] = [int(float(own)) != own for own in whole[large].tolist()]
            self._check(name, values, large, "cannot be held exactly by float64")
        return numbers

    def _outcome(self) -> Vector:
        """The outcome as finite numbers."""
        return self.numbers("y", self._y_labels)

    @cached_property
    def _y_labels(self) -> Labels:
        """The outcome as checked labels."""
        return check_labels(self.y)

    def _codes(self, name: str) -> Indices:
        """Return an argument as whole numbers from 0; equal values get equal numbers."""
        if name not in self.vectors:
            return np.zeros(len(self.labels), dtype=np.int64)
        values = self.vectors[name]
        self._check(name, values, missing_rows(values), "is missing")
        return _coded(check_labels(values))[0]

    def model(self) -> ModelQuestion:
        """The inequalities of the model."""
        arguments = self.arguments
        design, references, notes = design_of(self.X, self.table, arguments)
        cone = self._cone(design)
        twice = next((name for name, k in Counter(cone.names).items() if k > 1), None)
        if twice is not None:
            raise DataError(
                f"Two coefficients would have the name {twice!r}: rename the column of X that is "
                "named like a threshold, or like a column and a class."
            )
        if cone.inequalities.A.shape[0] == 0 and cone.inequalities.E.shape[0] == 0:
            raise DataError(
                "The likelihood does not depend on the coefficients: no event is compared with "
                "another row at risk, or no group has different outcomes."
            )
        return ModelQuestion(
            cone,
            arguments.family,
            arguments.link or "",
            self.every_label,
            self.positions,
            self.labelled,
            [*self.notes, *notes],
            references,
        )

    def _cone(self, design: Design) -> ModelCone:
        """The inequalities of the family; those of Bradley-Terry are made from a table."""
        match self.arguments.family:
            case "binomial":
                return self._binomial(design)
            case "poisson" | "negative-binomial":
                return self._poisson(design)
            case "multinomial":
                return self._multinomial(design)
            case "cumulative":
                return self._cumulative(design)
            case "adjacent":
                return self._adjacent(design)
            case "sequential":
                return self._sequential(design)
            case "cox":
                return self._cox(design)
            case "conditional-logit":
                return self._conditional_logit(design)
            case "choice":
                return self._choice(design)
            case "rank-ordered":
                return self._rank_ordered(design)
        raise ValueError(f"There are no inequalities for the family {self.arguments.family!r}.")

    def _binomial(self, design: Design) -> ModelCone:
        link = self.arguments.link or ""
        successes, trials = self._successes()
        if (successes == 0).all():
            self.notes.append(f"all outcomes are failures: {_ONE_CLASS}")
        elif (successes == trials).all() and link != "log":
            self.notes.append(f"all outcomes are successes: {_ONE_CLASS}")
        if link == "log":
            self._check_log_link(design, successes < trials)
        return cones.binomial(design, successes, trials, link)

    def _check_log_link(self, design: Design, fails: Mask) -> None:
        """DataError if the likelihood of a model with the log link is 0 for all coefficients.

        Offsets move the scores by numbers that are not known here. Rows of models with offsets must
        therefore allow scores that are as low as one likes.
        """
        at_one = cones.rows_of_mean_one(design, self.limits)
        if at_one is None:
            raise ValueError(
                "The budget ended before it was known whether the log link makes the likelihood 0 "
                "for all coefficients: give a larger budget."
            )
        has_offset = self.arguments.has_offset
        bad = at_one if has_offset else at_one & fails
        if not bad.any():
            return
        if has_offset:
            reason = "With the log link and an offset, x·β < 0 must be possible in all rows"
            follows = ""
        else:
            reason = "With the log link, the likelihood is 0 for all coefficients"
            follows = ", which has a failure"
        row = plain_label(self.labels[np.argmax(bad)])
        raise DataError(
            f"{reason}: x·β ≤ 0 in every row implies x·β = 0 in row {row!r}{follows}. Add an "
            "intercept, or use another link."
        )

    def _poisson(self, design: Design) -> ModelCone:
        y = self._outcome()
        self._check("y", y, y < 0, "is negative", " Counts are 0 or larger.")
        if (y == 0).all():
            self.notes.append(f"all outcomes are 0: {_ONE_CLASS}")
        return cones.poisson(design, y)

    def _multinomial(self, design: Design) -> ModelCone:
        counts, levels = self._classes()
        if len(levels) < 2:
            raise ArgumentError("y", "has one class only: a multinomial model needs two.")
        return cones.multinomial(design, counts, levels, self._baseline(levels))

    def _cumulative(self, design: Design) -> ModelCone:
        codes, levels = self._ordered_levels()
        return cones.cumulative(design, codes, levels, increments=self.arguments.increments)

    def _sequential(self, design: Design) -> ModelCone:
        return cones.sequential(design, *self._ordered_levels())

    def _adjacent(self, design: Design) -> ModelCone:
        codes, levels = self._ordered_levels()
        most = np.finfo(np.float64).max / len(levels)
        X: Any = design.X
        if float(abs(X).max()) > most:
            raise DataError(
                f"X has numbers beyond {most:.3g}, whose multiples float64 does not represent: "
                "divide the column by a power of 2."
            )
        return cones.adjacent(design, codes, levels)

    def _ordered_levels(self) -> tuple[Indices, list[Hashable]]:
        """Return the class of each outcome of an ordinal model, and the classes in order."""
        codes, levels = self._levels(ordered=True)
        if len(levels) < 2:
            raise ArgumentError("y", "has one class only: an ordinal model needs two.")
        return codes, levels

    def _conditional_logit(self, design: Design) -> ModelCone:
        groups = self._codes("groups")
        return cones.conditional_logit(design, self._is_chosen(), groups)

    def _choice(self, design: Design) -> ModelCone:
        groups, is_chosen = self._codes("groups"), self._is_chosen()
        chosen = np.bincount(groups, weights=is_chosen)
        if (chosen != 1).any():
            g = self.vectors["groups"][np.argmax(groups == np.argmax(chosen != 1))]
            raise DataError(
                f"Group {plain_label(g)!r} has {int(chosen[chosen != 1][0])} chosen rows, not 1."
            )
        return cones.conditional_logit(design, is_chosen, groups)

    def _is_chosen(self) -> Mask:
        """The rows with the outcome 1, where all outcomes are 0 or 1."""
        y = self._outcome()
        self._check("y", y, ~np.isin(y, (0.0, 1.0)), "is not 0 or 1")
        return y == 1.0

    def _rank_ordered(self, design: Design) -> ModelCone:
        groups, y = self._codes("groups"), self._outcome()
        self._check_ranks(y, groups)
        return cones.rank_ordered(design, y, groups)

    def _check_ranks(self, ranks: Vector, groups: Indices) -> None:
        """DataError if a group shares a rank that is not its last."""
        last = np.full(int(groups.max()) + 1, -np.inf)
        np.maximum.at(last, groups, ranks)
        order = np.lexsort((ranks, groups))
        here, before = order[1:], order[:-1]
        shared = (groups[here] == groups[before]) & (ranks[here] == ranks[before])
        bad = here[shared & (ranks[here] < last[groups[here]])]
        if len(bad) > 0:
            raise DataError(
                f"Group {plain_label(self.vectors['groups'][bad[0]])!r} has several alternatives "
                f"of rank {ranks[bad[0]]}: only the last rank of a group may be shared."
            )

    def _cox(self, design: Design) -> ModelCone:
        duration = self.numbers("duration", self.vectors["duration"])
        event = np.ones(len(duration), dtype=np.bool_)
        if "event" in self.vectors:
            happened = self.numbers("event", self.vectors["event"])
            bad = ~np.isin(happened, (0.0, 1.0))
            then = " Censored rows have 0, rows with an event 1, as in event=status == 2."
            self._check("event", happened, bad, "is not 0 or 1", then)
            event = happened == 1.0
        else:
            self.notes.append("all durations end with an event, because no event is given")
        entry = None
        if "entry" in self.vectors:
            entry = self.numbers("entry", self.vectors["entry"])
            self._check("entry", entry, entry >= duration, "is not before duration")
        strata = self._codes("strata")
        return cones.cox(design, duration, event, entry, strata, self.arguments.ties)

    def _successes(self) -> tuple[Vector, Vector]:
        """The successes and trials of a binomial model."""
        table = self._table()
        if table is not None:
            if table.shape[1] > 2:
                raise ArgumentError(
                    "y",
                    f"has {table.shape[1]} columns; a binomial model takes two, successes and "
                    "failures. The family 'multinomial' takes more.",
                )
            if "trials" in self.vectors:
                raise ValueError(
                    "trials does not apply if y has columns of successes and failures."
                )
            trials = table.sum(axis=1)
            what = "has neither successes nor failures"
            self._check("y", trials, trials == 0, what, " Leave the row out.")
            return table[:, 0], trials
        if "trials" in self.vectors:
            y, trials = self._outcome(), self.numbers("trials", self.vectors["trials"])
            self._check("y", y, y < 0, "is negative")
            self._check("y", y, y > trials, "is larger than trials")
            self._check("trials", trials, trials == 0, "is 0", " Leave the row out.")
            then = " For proportions, leave trials out: positive weights do not change the answer."
            part = (y % 1.0 != 0.0) & (trials != 1.0)  # of one trial it is a proportion
            self._check("y", y, part, "is not a whole number of successes", then)
            self._check("trials", trials, trials % 1.0 != 0.0, "is not a whole number")
            return y, trials
        labels = self._y_labels
        if labels.dtype.kind == "f" and self.arguments.class_reference is None:
            between = (labels > 0.0) & (labels < 1.0)
            if between.any() and ((labels >= 0.0) & (labels <= 1.0)).all():
                return labels.astype(np.float64), np.ones(len(labels))
        codes, levels = self._levels()
        if len(levels) > 2:
            raise ArgumentError(
                "y",
                f"has {len(levels)} classes; a binomial model takes two. The families "
                "'multinomial' and 'cumulative' take more.",
            )
        failure = self._failure(levels)
        if len(levels) == 2 and any(isinstance(label, str) for label in levels):
            self.notes.append(f"success is the class {str(levels[1 - failure])!r}")
        return (codes != failure).astype(np.float64), np.ones(len(codes))

    def _failure(self, levels: Sequence[Hashable]) -> int:
        """The number of the class that counts as a failure; −1 if all rows are successes."""
        if len(levels) == 2:
            return self._baseline(levels)
        wanted, label = self.arguments.class_reference, levels[0]
        known = self._classes_of_all_rows()
        if wanted is None and len(known) > 1:
            wanted = known[0]
        if wanted is not None:
            return 0 if plain_label(label) == plain_label(wanted) else -1
        # 0, negative numbers and False are failures
        return 0 if isinstance(label, Real) and not float(label) > 0.0 else -1

    def _classes_of_all_rows(self) -> list[Hashable]:
        """The classes of y in their order, with those of categories and rows that are not used."""
        y = self.arguments.y
        coded = coded_categories(y)
        if coded is not None:
            return [*coded[1]]
        there = np.flatnonzero(~missing_rows(y, n_rows(y)))
        return _coded(check_labels(rows_of(y, there)))[1]

    def _levels(self, *, ordered: bool = False) -> tuple[Indices, list[Hashable]]:
        """Return the class of each outcome, and the classes.

        The classes are in the order of the categories or, if y has no categories, sorted. If
        ``ordered``, text without an order is rejected.
        """
        named = self.arguments.levels
        coded = coded_categories(self.y)
        if named is not None:
            coded = np.asarray(self.y).astype(np.int64), [*named]
        if coded is None:
            labels = self._y_labels
            codes, levels = _coded(labels)
            if len(self.labels) < n_rows(self.arguments.y):
                known = {*levels}
                gone = [own for own in self._classes_of_all_rows() if own not in known]
                if gone:
                    shown = first_few([str(own) for own in gone], len(gone))
                    self.notes.append(f"classes of y that only occur in rows left out: {shown}")
            if ordered and len(levels) > 2 and any(isinstance(own, str) for own in levels):
                raise ArgumentError(
                    "y",
                    "is text, whose order is not known: make it an ordered category, as in "
                    'pd.Categorical(y, categories=["low", "mid", "high"], ordered=True).',
                )
            return codes, levels
        codes, categories = coded
        self._check("y", self.labels, codes < 0, "has no label")
        present = np.flatnonzero(np.bincount(codes, minlength=len(categories)))
        if len(present) < len(categories):
            self.notes.append("classes of y that do not occur are left out")
        classes: list[Hashable] = [categories[k] for k in present.tolist()]
        if ordered and named is None:
            shown = " < ".join(map(str, classes[:10]))
            self.notes.append(f"order of the classes of y: {shown}")
        return np.searchsorted(present, codes).astype(np.int64), classes

    def _table(self) -> npt.NDArray[Any] | None:
        """The counts of an outcome with several columns."""
        values = np.asarray(self.y.to_numpy() if hasattr(self.y, "to_numpy") else self.y)
        if values.ndim != 2 or values.shape[1] < 2:
            return None
        counts = np.stack([self.numbers("y", column) for column in values.T], axis=1)
        for column in counts.T:
            self._check("y", column, column < 0, "is negative")
        return counts

    def _classes(self) -> tuple[npt.NDArray[Any], list[Hashable]]:
        """How often each class was observed in each row, and the classes."""
        table = self._table()
        if table is not None:
            names = getattr(self.y, "columns", range(table.shape[1]))
            return table, [*names]
        codes, levels = self._levels()
        return np.eye(len(levels))[codes], levels

    def _baseline(self, levels: Sequence[Hashable]) -> int:
        wanted = self.arguments.class_reference
        if wanted is None:
            return 0
        plain = [plain_label(level) for level in levels]
        if plain_label(wanted) not in plain:
            raise ValueError(f"The reference {wanted!r} is none of the classes {plain[:20]}.")
        return plain.index(plain_label(wanted))


def _coded(labels: Labels) -> tuple[Indices, list[Hashable]]:
    """The number of each label, and the distinct labels, sorted."""
    if labels.dtype != object:
        classes, codes = code_labels(labels)
        return codes.astype(np.int64), classes.tolist()
    levels = distinct_labels(labels)
    place = {label: k for k, label in enumerate(levels)}
    return np.array([place[label] for label in labels.tolist()], dtype=np.int64), levels


def _rows_and_labels(X: Any) -> tuple[Any, Labels | None]:
    """The matrix or frame, and the label of each row, if the rows have labels."""
    if isinstance(X, Table):
        return X.X, X.rows
    return X, X.index.to_numpy() if hasattr(X, "iloc") else None


def _paired_comparisons(X: Any, reference: Hashable) -> ModelQuestion:
    """The inequalities of a table of wins."""
    values, labels = _rows_and_labels(X)
    matrix = check_matrix(values)
    wins = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    if wins.shape[0] != wins.shape[1]:
        raise DataError(f"The table of wins has shape {wins.shape}, but must be square.")
    bad = ~np.isfinite(wins) | (wins < 0)
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        raise DataError(f"The table of wins is negative or missing in row {i}, column {j}.")
    if np.diagonal(wins).any():
        raise DataError("The table of wins has entries on its diagonal: no one beats themselves.")
    columns = X.columns if isinstance(X, Table) else columns_of(X, wins.shape[1])
    names = [*columns.names]
    if reference is not None and reference not in names:
        raise ValueError(f"The reference {reference!r} is none of {names[:20]}.")
    at = 0 if reference is None else names.index(reference)
    if not wins.any():
        raise DataError("The table of wins is all 0.")
    cone = cones.bradley_terry(wins, names, at)
    references = {names[at]: "wins"}
    rows = np.arange(len(names)) if labels is None else labels
    every = np.arange(len(names))
    return ModelQuestion(cone, "bradley-terry", "", rows, every, labels is not None, [], references)
