"""Check what users pass to `detect_separation`, and turn it into the inequalities of a model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import Labels, check_labels, distinct_labels, plain_label
from novikoff.core.problem import Rows
from novikoff.core.rows import Vector, compact
from novikoff.core.validation import check_matrix, check_same_index, columns_of, is_missing
from novikoff.errors import DataError
from novikoff.geometry.visits import Mask
from novikoff.models import cones
from novikoff.models.cones import Design, ModelCone, Whole

INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Family:
    """A family of models: its name in words, its links, and the arguments that it takes."""

    title: str
    links: tuple[str, ...] = ()
    takes: tuple[str, ...] = ("y",)
    intercept: bool = False  # whether the model has an intercept of its own


_ORDINAL = ("logit", "probit", "cloglog", "loglog")
FAMILIES = {
    "binomial": Family(
        "binomial",
        ("logit", "probit", "cloglog", "loglog", "cauchit", "log"),
        ("y", "trials"),
        intercept=True,
    ),
    "poisson": Family("Poisson", ("log",), intercept=True),
    "negative-binomial": Family(
        "negative binomial with a given dispersion", ("log",), intercept=True
    ),
    "multinomial": Family("multinomial", ("logit",), intercept=True),
    "cumulative": Family("cumulative (proportional odds)", _ORDINAL),
    "adjacent": Family("adjacent-category", ("logit",)),
    "sequential": Family("sequential (continuation ratio)", (*_ORDINAL, "cauchit")),
    "cox": Family("Cox proportional hazards", (), ("duration", "event", "entry", "strata", "ties")),
    "conditional-logit": Family("conditional logit", (), ("y", "groups")),
    "choice": Family("discrete choice (McFadden)", (), ("y", "groups")),
    "rank-ordered": Family("rank-ordered logit (Plackett–Luce)", (), ("y", "groups")),
    "bradley-terry": Family("Bradley–Terry", (), ()),
}
_SAME = {
    "logistic": "binomial",
    "logit": "binomial",
    "negativebinomial": "negative-binomial",
    "negative_binomial": "negative-binomial",
    "ordinal": "cumulative",
    "clogit": "conditional-logit",
    "multinom": "multinomial",
}
_SCALE = (
    "has a free scale or dispersion parameter, whose likelihood is not concave: linear "
    "inequalities do not decide whether an estimate exists"
)
_MIXED = (
    "integrates over random effects: separation by the fixed part is neither necessary nor "
    "sufficient for an infinite estimate. Ask about the fixed part alone with its own family"
)
_MIXTURE = "is a mixture, whose likelihood is not concave: linear inequalities do not decide it"
_NOT_THIS = {
    **dict.fromkeys(("weibull", "aft", "lognormal", "loglogistic", "tobit"), _SCALE),
    **dict.fromkeys(("beta", "nb2", "negative-binomial-free"), _SCALE),
    **dict.fromkeys(("zip", "zinb", "zero-inflated", "zero-inflated-poisson", "hurdle"), _MIXTURE),
    **dict.fromkeys(("mixed", "glmm", "random-effects", "mixed-logit", "frailty"), _MIXED),
    "nested-logit": _SCALE,
    "multinomial-probit": "has free covariances, and its likelihood is not concave",
    "gaussian": "always has a finite least-squares estimate: there is no separation",
    "gamma": "has no zeros in its outcome: with the log link a finite estimate always exists",
}


@dataclass(frozen=True)
class Model:
    """The inequalities of a model, and the labels of its observations."""

    cone: ModelCone
    link: str
    rows: Labels
    labelled: bool
    notes: list[str]
    references: Mapping[Hashable, Hashable] = field(default_factory=dict)


def read_model(
    X: Any, y: Any, *, family: str, link: str | None, budget: Any, **given: Any
) -> Model:
    """Check all arguments, and return the inequalities of the model."""
    about = _family(family)
    link = _link(family, about, link)
    _check_choice("ties", given["ties"], ("efron", "breslow", "exact"))
    _check_choice("missing", given["missing"], ("error", "drop"))
    if not isinstance(given["fit_intercept"], bool | np.bool_):
        raise ValueError(f"fit_intercept must be True or False, not {given['fit_intercept']!r}.")
    if budget is not None and not (isinstance(budget, Real) and 0.0 < float(budget) <= 1e300):
        raise ValueError(f"budget must be a positive number of seconds, not {budget!r}.")
    _check_taken(family, about, y, given)
    if family == "bradley-terry":
        return _paired_comparisons(X, given["reference"])
    vectors = {
        name: given[name]
        for name in ("weights", "trials", "groups", "strata", "duration", "event", "entry")
        if given[name] is not None
    }
    reading = _Reading(X, y, vectors, given["missing"], given["reference"])
    return reading.model(family, about, link, bool(given["fit_intercept"]), given["ties"])


def _family(family: object) -> Family:
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]
    name = str(family).lower()
    if name in _NOT_THIS:
        raise ValueError(f"The family {family!r} {_NOT_THIS[name]}.")
    hint = f" Did you mean {_SAME[name]!r}?" if name in _SAME else ""
    raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}.{hint}")


def _link(family: str, about: Family, link: str | None) -> str:
    if link is None:
        return about.links[0] if about.links else ""
    if link not in about.links:
        known = ", ".join(about.links) or "none: leave it out"
        raise ValueError(f"The links of the family {family!r} are {known}; {link!r} is not.")
    return link


def _check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")


def _check_taken(family: str, about: Family, y: object, given: Mapping[str, Any]) -> None:
    """Reject arguments that the family does not take, and ask for those that it needs."""
    for name in ("trials", "groups", "strata", "duration", "event", "entry"):
        if given[name] is not None and name not in about.takes:
            raise ValueError(f"{name} does not apply to the family {family!r}.")
    if y is not None and "y" not in about.takes:
        what = "use duration=… and event=…" if family == "cox" else "X alone says who beat whom"
        raise ValueError(f"y does not apply to the family {family!r}: {what}.")
    for name in ("y", "groups", "duration"):
        value = y if name == "y" else given[name]
        if name in about.takes and value is None:
            raise ValueError(f"The family {family!r} needs {name}.")


class _Reading:
    """Arguments with one entry for each row, of which some rows are left out."""

    def __init__(
        self, X: Any, y: Any, vectors: Mapping[str, Any], missing: str, reference: Any
    ) -> None:
        self.notes: list[str] = []
        self.reference = reference if isinstance(reference, Mapping) else {}
        self.baseline = self.reference.get("y") if isinstance(reference, Mapping) else reference
        for own in (y, *vectors.values()):
            check_same_index(X, own)
        n = len(X) if not hasattr(X, "shape") else int(X.shape[0])
        used = np.ones(n, dtype=np.bool_)
        if missing == "drop":
            used = ~(_missing_rows(X, n) | _missing_rows(y, n))
            for own in vectors.values():
                used &= ~_missing_rows(own, n)
        arrays = {name: self._array(name, own, n) for name, own in vectors.items()}
        if "weights" in arrays:
            used &= self._positive_weights(arrays["weights"], used)
        self.used = np.flatnonzero(used)
        if len(self.used) == 0:
            raise DataError("No row is left: all rows have missing values or the weight 0.")
        if n > len(self.used):
            self.notes.append(
                f"{n - len(self.used):,} rows with missing values or weight 0 left out"
            )
        self.X = X if len(self.used) == n else _rows(X, self.used)
        self.y = y if y is None or len(self.used) == n else _rows(y, self.used)
        self.vectors = {name: own[self.used] for name, own in arrays.items()}
        index = X.index.to_numpy() if hasattr(X, "iloc") else np.arange(n)
        self.labels, self.labelled = index[self.used], hasattr(X, "iloc")

    @staticmethod
    def _array(name: str, given: Any, n: int) -> npt.NDArray[Any]:
        values = np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)
        if values.shape != (n,):
            raise DataError(f"{name} has shape {values.shape}, but X has {n} rows.")
        return values

    @staticmethod
    def _positive_weights(weights: npt.NDArray[Any], used: Mask) -> Mask:
        numbers = _numbers("weights", weights, used)
        if (numbers[used] < 0).any():
            row = int(np.argmax(used & (numbers < 0)))
            raise DataError(f"weights is negative in row {row}.")
        return np.asarray(numbers > 0)

    def numbers(self, name: str) -> Vector:
        """An argument as finite numbers."""
        return _numbers(name, self.vectors[name])

    def codes(self, name: str) -> Whole:
        """An argument as whole numbers from 0, equal where its values are equal."""
        if name not in self.vectors:
            return np.zeros(len(self.used), dtype=np.int64)
        labels = check_labels(self.vectors[name])
        if labels.dtype == object:
            levels = {value: k for k, value in enumerate(distinct_labels(labels))}
            return np.array([levels[value] for value in labels.tolist()], dtype=np.int64)
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)

    def design(self, intercept: bool, *, keeps_levels: bool) -> tuple[Design, dict[Any, Any]]:
        """The columns of the model, and the reference levels by the names of their columns.

        ``keeps_levels`` says that a first factor without an intercept keeps all its levels.
        """
        matrix = check_matrix(self.X)
        names = columns_of(self.X, matrix.shape[1])
        named = names.names if hasattr(self.X, "columns") else None
        Rows.of(matrix, False, names=named)  # every entry is finite
        X: Any = compact(matrix).astype(np.float64)
        for column in self.reference:
            if column not in names.groups and column != "y":
                raise ValueError(f"reference names {column!r}, which is not a factor of X.")
        constant = _constant_columns(X) if intercept else []
        grouped = {j for own in names.groups.values() for j in own}
        constant = [j for j in constant if j not in grouped]
        gone: dict[Hashable, Hashable] = {}
        dropped: set[int] = set()
        for place, (column, own) in enumerate(names.groups.items()):
            if not intercept and keeps_levels and place == 0:
                continue
            at = self._reference_level(column, [names.names[j] for j in own])
            dropped.add(own[at])
            gone[names.names[own[at]]] = column
        order = [
            *constant[:1],
            *(j for j in range(X.shape[1]) if j not in {*constant[:1], *dropped}),
        ]
        chosen: list[Hashable] = [names.names[j] for j in order]
        terms: dict[Hashable, list[int]] = {}
        place_of = {j: at for at, j in enumerate(order)}
        owner = {j: column for column, own in names.groups.items() for j in own}
        for j in order[len(constant[:1]) :]:
            terms.setdefault(owner.get(j, names.names[j]), []).append(place_of[j])
        X = X[:, order]
        if intercept and constant:
            self.notes.append(f"the constant column {chosen[0]!r} is the intercept")
        elif intercept:
            X = cones.beside(np.ones((X.shape[0], 1)), X)
            name = INTERCEPT
            while name in chosen:
                name = f"({name})"
            chosen = [name, *chosen]
            terms = {column: [j + 1 for j in own] for column, own in terms.items()}
        return Design(X, chosen, terms), gone

    def _reference_level(self, column: Hashable, levels: list[Hashable]) -> int:
        """The number of the reference level of a factor; levels are named "column=level"."""
        if column not in self.reference:
            return 0
        wanted = f"{column}={self.reference[column]}"
        if wanted not in levels:
            known = ", ".join(str(level).removeprefix(f"{column}=") for level in levels)
            raise ValueError(
                f"{self.reference[column]!r} is not a level of {column!r}; its levels are {known}."
            )
        return levels.index(wanted)

    def model(self, family: str, about: Family, link: str, fit_intercept: bool, ties: str) -> Model:
        """The inequalities of the model."""
        keeps = family in ("binomial", "poisson", "negative-binomial", "multinomial")
        design, gone = self.design(about.intercept and fit_intercept, keeps_levels=keeps)
        cone = self._cone(family, link, ties, design)
        if cone.cone.A.shape[0] == 0 and cone.cone.E.shape[0] == 0:
            raise DataError(
                "The likelihood does not depend on the coefficients: there is no event, or no "
                "group with different outcomes."
            )
        return Model(cone, link, self.labels, self.labelled, self.notes, gone)

    def _cone(self, family: str, link: str, ties: str, design: Design) -> ModelCone:
        if family == "binomial":
            return cones.binomial(design, *self._successes(), link)
        if family in ("poisson", "negative-binomial"):
            y = _numbers("y", check_labels(self.y))
            if (y < 0).any():
                raise DataError(f"y is negative in row {int(np.argmax(y < 0))}: counts are ≥ 0.")
            return cones.poisson(design, y)
        if family == "multinomial":
            counts, levels = self._classes()
            if len(levels) < 2:
                raise DataError("y has one class only: a multinomial model needs two.")
            return cones.multinomial(design, counts, levels, self._baseline(levels))
        if family in ("cumulative", "adjacent", "sequential"):
            codes, levels = self._levels()
            if len(levels) < 2:
                raise DataError("y has one class only: an ordinal model needs two.")
            build = {
                "cumulative": cones.cumulative,
                "adjacent": cones.adjacent,
                "sequential": cones.sequential,
            }[family]
            return build(design, codes, levels)
        if family == "cox":
            return self._cox(design, ties)
        groups = self.codes("groups")
        y = _numbers("y", check_labels(self.y))
        if family == "rank-ordered":
            return cones.rank_ordered(design, y, groups)
        if not np.isin(y, (0.0, 1.0)).all():
            raise DataError(f"y must be 0 or 1 for the family {family!r}.")
        if family == "choice":
            chosen = np.bincount(groups, weights=y)
            if (chosen != 1).any():
                g = self.vectors["groups"][np.argmax(groups == np.argmax(chosen != 1))]
                raise DataError(
                    f"Group {g!r} has {int(chosen[chosen != 1][0])} chosen rows, not 1."
                )
        return cones.conditional_logit(design, y == 1.0, groups)

    def _cox(self, design: Design, ties: str) -> ModelCone:
        duration = self.numbers("duration")
        event = np.ones(len(duration), dtype=np.bool_)
        if "event" in self.vectors:
            happened = self.numbers("event")
            if not np.isin(happened, (0.0, 1.0)).all():
                raise DataError("event must be 0 (censored) or 1 (event) in every row.")
            event = happened == 1.0
        entry = self.numbers("entry") if "entry" in self.vectors else None
        if entry is not None and (entry >= duration).any():
            row = int(np.argmax(entry >= duration))
            raise DataError(f"entry is not before duration in row {self.labels[row]!r}.")
        return cones.cox(design, duration, event, entry, self.codes("strata"), ties)

    def _successes(self) -> tuple[Vector, Vector]:
        """The successes and trials of a binomial model."""
        table = _table(self.y)
        if table is not None and table.shape[1] == 2:
            if "trials" in self.vectors:
                raise ValueError(
                    "trials does not apply if y has columns of successes and failures."
                )
            _check_counts("y", table)
            return table[:, 0], table.sum(axis=1)
        if "trials" in self.vectors:
            y, trials = _numbers("y", check_labels(self.y)), self.numbers("trials")
            _check_counts("y", y)
            if (y > trials).any():
                row = int(np.argmax(y > trials))
                raise DataError(f"y is larger than trials in row {self.labels[row]!r}.")
            return self._with_trials(y, trials)
        labels = check_labels(self.y)
        if labels.dtype.kind == "f" and self.baseline is None:
            between = (labels > 0.0) & (labels < 1.0)
            if between.any() and ((labels >= 0.0) & (labels <= 1.0)).all():
                return labels.astype(np.float64), np.ones(len(labels))
        codes, levels = self._levels()
        if len(levels) > 2:
            raise DataError(
                f"y has {len(levels)} classes; a binomial model takes two. The families "
                "'multinomial' and 'cumulative' take more."
            )
        failure = self._baseline(levels) if self.baseline in levels or len(levels) == 2 else None
        if failure is None:  # one class only: 0, negative numbers and False are failures
            label = levels[0]
            low = isinstance(label, Real) and not float(label) > 0.0
            failure = 0 if low and self.baseline is None else -1
        return (codes != failure).astype(np.float64), np.ones(len(codes))

    def _with_trials(self, y: Vector, trials: Vector) -> tuple[Vector, Vector]:
        """Successes and trials; a row without trials is neither a success nor a failure."""
        if (trials == 0).any():
            row = int(np.argmax(trials == 0))
            raise DataError(f"trials is 0 in row {self.labels[row]!r}: leave the row out.")
        return y, trials

    def _levels(self) -> tuple[Whole, list[Hashable]]:
        """The code of each outcome, and the classes in order: that of categories, else sorted."""
        categories = getattr(getattr(self.y, "cat", None), "categories", None)
        if categories is None:  # a pandas Categorical itself
            categories = getattr(self.y, "categories", None)
        labels = check_labels(self.y if categories is None else np.asarray(self.y))
        found = distinct_labels(labels)
        if categories is not None:
            order = [level for level in categories.tolist() if level in set(found)]
            if len(order) == len(found):
                if len(order) < len(categories):
                    self.notes.append("classes of y that do not occur are left out")
                found = order
        place = {level: k for k, level in enumerate(found)}
        codes = np.array([place[label] for label in labels.tolist()], dtype=np.int64)
        return codes, found

    def _classes(self) -> tuple[npt.NDArray[Any], list[Hashable]]:
        """How often each class was observed in each row, and the classes."""
        table = _table(self.y)
        if table is not None and table.shape[1] > 1:
            _check_counts("y", table)
            names = getattr(self.y, "columns", range(table.shape[1]))
            return table, [*names]
        codes, levels = self._levels()
        return np.eye(len(levels))[codes], levels

    def _baseline(self, levels: Sequence[Hashable]) -> int:
        if self.baseline is None:
            return 0
        plain = [plain_label(level) for level in levels]
        wanted = plain_label(self.baseline)
        if wanted not in plain:
            raise ValueError(
                f"The reference {self.baseline!r} is none of the classes {plain[:20]}."
            )
        return plain.index(wanted)


def _constant_columns(X: Any) -> list[int]:
    """The columns in which all entries are equal, and not 0."""
    if isinstance(X, np.ndarray):
        return np.flatnonzero((X[0] == X).all(axis=0) & (X[0] != 0.0)).tolist()
    full = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])
    columns = X[:, full].toarray()
    return full[(columns == columns[0]).all(axis=0) & (columns[0] != 0.0)].tolist()


def _paired_comparisons(X: Any, reference: Any) -> Model:
    wins = check_matrix(X)
    wins = wins if isinstance(wins, np.ndarray) else wins.toarray()
    if wins.shape[0] != wins.shape[1]:
        raise DataError(f"The table of wins has shape {wins.shape}, but must be square.")
    _check_counts("X", wins)
    if np.diagonal(wins).any():
        raise DataError("The table of wins has entries on its diagonal: no one beats themselves.")
    names = [*columns_of(X, wins.shape[1]).names]
    if reference is not None and reference not in names:
        raise ValueError(f"The reference {reference!r} is none of {names[:20]}.")
    at = 0 if reference is None else names.index(reference)
    if not wins.any():
        raise DataError("The table of wins is all 0.")
    cone = cones.bradley_terry(wins, names, at)
    labels = X.index.to_numpy() if hasattr(X, "iloc") else np.arange(len(names))
    return Model(cone, "", labels, hasattr(X, "iloc"), [], {names[at]: "wins"})


def _numbers(name: str, given: npt.NDArray[Any], used: Mask | None = None) -> Vector:
    """An array as finite float64 numbers; DataError with the row of the first that is not."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} is not numeric.") from None
    bad = ~np.isfinite(values)
    bad = bad if used is None else bad & used
    if bad.any():
        raise DataError(f"{name} is missing or infinite in row {int(np.argmax(bad))}.")
    return values


def _check_counts(name: str, values: npt.NDArray[Any]) -> None:
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"{name} has counts that are negative or missing.")


def _table(y: Any) -> npt.NDArray[Any] | None:
    """The table of numbers, if y has two dimensions."""
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    return _numbers("y", values) if values.ndim == 2 and values.shape[1] > 1 else None


def _missing_rows(values: Any, n: int) -> Mask:
    """The rows in which a value is missing."""
    if values is None:
        return np.zeros(n, dtype=np.bool_)
    if hasattr(values, "isna"):
        found = np.asarray(values.isna())
    elif hasattr(values, "tocsr"):
        found = np.zeros(n, dtype=np.bool_)
        entries = values.tocoo()
        found[entries.coords[0][np.isnan(entries.data)]] = True
    else:
        table = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
        found = np.array(
            [is_missing(value) for value in table.ravel().tolist()], dtype=np.bool_
        ).reshape(table.shape)
    return np.asarray(found.any(axis=1) if found.ndim == 2 else found)


def _rows(values: Any, used: Any) -> Any:
    """Some rows of an array, a frame, a series or a sparse matrix."""
    if hasattr(values, "iloc"):
        return values.iloc[used]
    if hasattr(values, "tocsr"):
        return values.tocsr()[used]
    if hasattr(values, "to_numpy") and hasattr(values, "columns"):
        return values[used]
    return np.asarray(values)[used] if not hasattr(values, "shape") else values[used]
