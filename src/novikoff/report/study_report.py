"""The report of ``novikoff fit``: a study and its data as lines of text, and as JSON.

Rows are counted from 1, without the header. ``report.schema.json`` describes the JSON. A line of
the text has a heading; a line that continues the line above has an empty heading.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from novikoff import __version__
from novikoff.core.class_labels import Label
from novikoff.core.rows import Indices
from novikoff.data.messages import printable_name
from novikoff.jobs.study_records import Case, Study
from novikoff.report.json_text import finite_or_null, to_json_text
from novikoff.sentences import (
    NOT_SEPARABLE,
    SHOWN,
    aligned_lines,
    bound_in_table,
    counted,
    cycle_clause,
    digits_down,
    fewest_mistakes_clause,
    first_few,
    hyperplane,
    interval,
    least_mistakes,
    no_fewer_mistakes,
    relabelling_clause,
    verdict_clause,
    verdict_lines,
)

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.data import Dataset, Recipe
    from novikoff.geometry.verdict import Verdict
    from novikoff.jobs.estimate import ErrorEstimate

REPORT_VERSION = 1
# A list of rows in the JSON has at most this many rows; the number beside it counts all rows.
_MAX_LISTED = 1000
# The kinds of verdicts, from the best to the worst.
SEVERITY = ("separable", "quasi-separable", "inseparable", "undecided")
# The consequences of verdicts on each class against the rest for all classes together.
ALL_APART = "the class with the largest score is correct for every row"
TOGETHER = "not decided: comparing the scores of all classes may separate them"
# The widest name of a class in a table, and the widest confusion matrix whose columns have names.
_NAME_WIDTH, _TABLE_WIDTH = 14, 68


@dataclass(frozen=True)
class ClusterFiles:
    """The files of a cluster: the attributes of a `Dataset` that a report needs, without X."""

    source: str
    n_rows: int
    sparse: bool
    recipe: Recipe
    notes: tuple[str, ...]
    ids: None = None

    @classmethod
    def of(cls, folder: str, rows: ClusterRows) -> ClusterFiles:
        """Describe the folder of these rows."""
        recipe = rows.source.recipe
        if recipe is None:
            raise ValueError("These rows were not read from files.")
        notes = (f"the rows are in {counted(rows.n_shards, 'file')}",)
        return cls(folder, rows.n, rows.survey().sparse, recipe, notes)

    @property
    def names(self) -> Sequence[str]:
        """The name of each feature."""
        return self.recipe.names

    @property
    def label(self) -> str | None:
        """The name of the label's column."""
        return self.recipe.label

    @property
    def rows(self) -> range:
        """The number of each row, counted from 1, one file after the other."""
        return range(1, self.n_rows + 1)


@dataclass(frozen=True)
class ListedRows:
    """A list of rows: how many there are, the numbers of the first rows, and ids if known."""

    count: int
    rows: list[int]
    ids: list[str] | None


@dataclass(frozen=True)
class WrongRows(ListedRows):
    """Misclassified rows with labels, predictions and distances (negative on the wrong side)."""

    labels: list[Label]
    predicted: list[Label]
    distances: list[float | None]
    separable_without: bool


@dataclass(frozen=True)
class Report:
    """A study, its data, and the files that were written, by their role."""

    study: Study
    data: Dataset | ClusterFiles
    estimate: ErrorEstimate | None = None
    files: Mapping[str, str | None] = field(default_factory=dict)
    seconds: float = 0.0
    program: str = f"novikoff {__version__}"

    @property
    def kind(self) -> str | None:
        """The worst kind of verdict, in the order of `SEVERITY`; None without a verdict.

        If there are several verdicts, each is about one class against the rest. A rule that
        compares the scores of all classes may classify every row correctly, whatever they say.
        """
        return max(self.study.kinds, key=SEVERITY.index, default=None)

    @property
    def question(self) -> str:
        """The question that the verdict answers."""
        if len(self.study.cases) > 1:
            return "each class against the rest"
        return f"one class against the {'other' if len(self.study.labels) == 2 else 'rest'}"

    @property
    def notes(self) -> list[str]:
        """Notes on the data, and reasons why verdicts are undecided."""
        reasons = dict.fromkeys(case.verdict.undecided_reason for case in self.study.cases)
        undecided = [f"the verdict is undecided: {reason}" for reason in reasons if reason]
        return [*self.data_notes, *undecided]

    @property
    def data_notes(self) -> list[str]:
        """Notes on the data."""
        return [*self.data.notes, *similar_labels(self.study.labels)]

    @property
    def positive(self) -> Label | None:
        """The positive class of two classes; None if there are more classes."""
        classes, positive = self.study.classes, self.study.options.positive
        if len(classes) > 2:
            return None
        named = [label for label in classes if positive in (label, str(label))]
        return classes[-1] if positive is None or not named else named[0]

    @property
    def classes(self) -> list[tuple[Label, int]]:
        """The classes, each with its number of rows."""
        counts = self.study.confusion.sum(axis=1).tolist()
        return list(zip(self.study.classes, counts, strict=True))

    def rows(self, rows: Indices) -> ListedRows:
        """Return rows with their numbers in the file."""
        first, ids = rows[:_MAX_LISTED].tolist(), self.data.ids
        numbers = [int(self.data.rows[i]) for i in first]
        return ListedRows(len(rows), numbers, None if ids is None else [ids[i] for i in first])

    @property
    def wrong(self) -> WrongRows | None:
        """The misclassified rows, the farthest on the wrong side first; None on a cluster."""
        each, classes = self.study.each_row, self.study.classes
        if each is None:
            return None
        wrong = each.wrong
        listed = wrong[:_MAX_LISTED]
        return WrongRows(
            **vars(self.rows(wrong)),
            labels=[classes[code] for code in each.codes[listed].tolist()],
            predicted=[classes[code] for code in each.predicted[listed].tolist()],
            distances=[finite_or_null(distance) for distance in each.distances[listed].tolist()],
            separable_without=each.separable_without,
        )

    @property
    def duplicates(self) -> list[Indices] | None:
        """The groups of identical rows with different labels; None on a cluster."""
        return None if self.study.each_row is None else self.study.each_row.duplicates

    def to_json(self) -> str:
        """The report as JSON."""
        study, data, wrong, duplicates = self.study, self.data, self.wrong, self.duplicates
        body = {
            "schema_version": REPORT_VERSION,
            "program": self.program,
            "data": {
                "source": data.source,
                "rows": data.n_rows,
                "features": len(data.names),
                "sparse": data.sparse,
                "label": data.label,
                "positive": self.positive,
                "fit_intercept": study.options.fit_intercept,
                "classes": [{"label": label, "rows": count} for label, count in self.classes],
                "notes": self.notes,
            },
            "verdict": self.kind
            and {
                "kind": self.kind,
                "question": self.question,
                "cases": [*map(self._case_json, study.cases)],
            },
            "perceptron": study.run and asdict(study.run),
            "model": {
                "rule": study.rule,
                "margins": [finite_or_null(margin) for margin in study.margins],
                "errors": study.mistakes,
                "wrong": wrong and asdict(wrong),
                "confusion": study.confusion.tolist(),
            },
            "duplicates": None
            if duplicates is None
            else {
                "groups": len(duplicates),
                "listed": [asdict(self.rows(rows)) for rows in duplicates[:_MAX_LISTED]],
            },
            "estimate": self.estimate and asdict(self.estimate),
            "files": {name: path and printable_name(path) for name, path in self.files.items()},
            "seconds": self.seconds,
        }
        return to_json_text(body)

    def _case_json(self, case: Case) -> dict[str, object]:
        verdict, estimates = case.verdict, case.verdict.logistic
        separated = self.rows(np.arange(0))
        if verdict.kind == "quasi-separable":  # of a cluster, only their number is known
            separated = replace(self.rows(verdict.separated_rows), count=verdict.n_separated)
        geometric = verdict.geometric_margin
        return {
            "positive": case.positive,
            "negative": case.negative,
            "kind": verdict.kind,
            **_margin_json(verdict),
            "geometric_margin": {
                "lo": finite_or_null(geometric.lo),
                "hi": finite_or_null(geometric.hi),
            },
            "scaled": case.scaled and _margin_json(case.scaled),
            "support": asdict(self.rows(verdict.support)),
            "separated": asdict(separated),
            "logistic": estimates and {str(name): known for name, known in estimates.items()},
            "aliased": verdict.aliased and [str(name) for name in verdict.aliased],
            "responsible_columns": verdict.responsible_columns,
            "errors": case.mistakes,
            "errors_lower_bound": case.least_mistakes,
        }


def _margin_json(verdict: Verdict) -> dict[str, object]:
    """Return γ as an interval, R, and ⌊R²/γ²⌋; null stands for infinity."""
    return {
        "margin": {
            "lo": finite_or_null(verdict.margin.lo),
            "hi": finite_or_null(verdict.margin.hi),
        },
        "radius": finite_or_null(verdict.radius),
        "mistake_bound": verdict.mistake_bound,
    }


def similar_labels(labels: Sequence[Label]) -> list[str]:
    """Return a note on each group of labels that differ only in capitals or blanks.

    >>> similar_labels(["No", "maybe", "no "])
    ['the labels "No" and "no " differ only in capitals or blanks: they are different classes']
    """
    groups: dict[str, list[str]] = {}
    for label in map(str, labels):
        groups.setdefault("".join(label.split()).casefold(), []).append(f'"{label}"')
    different = "differ only in capitals or blanks: they are different classes"
    return [
        f"the labels {' and '.join(group)} {different}"
        for group in groups.values()
        if len(group) > 1
    ]


# The text.


def report_lines(
    report: Report, *, classes: int = SHOWN, groups: int = 5, verbose: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each line of the report.

    A confusion matrix of more than ``classes`` classes is left out, and so are groups of duplicates
    beyond the first ``groups``; the JSON has them. With ``verbose``, there are also the margins and
    mistake bounds on the original features, and the conflict of each class.
    """
    yield from _data_lines(report)
    yield from _verdict_lines(report, verbose)
    yield from _perceptron_lines(report)
    yield from _mistake_lines(report, classes, verbose)
    yield from _duplicate_lines(report, groups)
    yield from _rule_lines(report, verbose)
    yield from _file_lines(report)
    for k, note in enumerate(_text_notes(report, verbose)):
        yield "" if k else "notes", note


def rows_text(part: ListedRows, shown: int = SHOWN) -> str:
    """List row numbers, with ids if the data has them."""
    named = [str(row) for row in part.rows[:shown]]
    if part.ids is not None:
        named = [f"{row} ({name})" for row, name in zip(named, part.ids, strict=False)]
    return first_few(named, part.count, shown)


def _text_notes(report: Report, verbose: bool) -> list[str]:
    """Say how rows are counted if the text names rows; then the other notes."""
    study = report.study
    one_file = study.each_row is not None
    # With one case, the reason why it is undecided stands beside the verdict.
    notes = report.data_notes if len(study.cases) == 1 else report.notes
    kinds = {case.verdict.kind for case in study.cases}
    conflicts = len(study.cases) == 1 or verbose
    if (one_file and study.mistakes) or (conflicts and kinds & {"quasi-separable", "inseparable"}):
        how = "without the header" if one_file else "one file after the other"
        notes.insert(0, f"rows are counted from 1, {how}")
    return notes


def _data_lines(report: Report) -> Iterator[tuple[str, str]]:
    data, classes = report.data, report.classes
    features = f"{counted(len(data.names), 'feature')}{' (sparse)' if data.sparse else ''}"
    yield "data", f"{data.source} · {counted(data.n_rows, 'row')} · {features}"
    label = "" if data.label is None else f"{data.label}: "
    if len(classes) == 2:
        ordered = sorted(classes, key=lambda part: part[0] != report.positive)
        signed = zip(ordered, "+−", strict=True)
        counts = ", ".join(f"{name} ({sign}, {rows:,})" for (name, rows), sign in signed)
    else:
        named = [f"{name} ({rows:,})" for name, rows in classes[:SHOWN]]
        counts = f"{len(classes)} classes, {first_few(named, len(classes))}"
    yield "label", f"{label}{counts}"


def _verdict_lines(report: Report, verbose: bool) -> Iterator[tuple[str, str]]:
    cases, kinds = report.study.cases, report.study.kinds
    if len(cases) == 1:
        yield from verdict_lines(
            cases[0].verdict,
            lambda rows: rows_text(report.rows(rows)),
            cases[0].scaled,
            verbose=verbose,
        )
    elif cases:
        proved = "" if "undecided" in kinds else ", proved"
        yield "verdict", f"each class against the rest{proved}: {tally(kinds)}"
        shown = cases if verbose else cases[:SHOWN]
        standard = all(case.scaled and case.scaled.mistake_bound is not None for case in cases)
        names = [_shortened(str(case.positive)) for case in shown]
        widths = max(map(len, names)), max(len(case.verdict.kind) for case in shown)
        for name, case in zip(names, shown, strict=True):
            text = "; ".join(_case_clauses(report, case, standard=standard, verbose=verbose))
            kind = f"{case.verdict.kind:{widths[1]}}"
            yield "", f"{name:{widths[0]}}  {kind}  {text}".rstrip()
        if len(cases) > len(shown):
            yield "", f"… and {len(cases) - len(shown):,} more (--verbose lists them)"
        if standard:
            yield "", "on standardised features, not in the certificate"
        elif any(case.verdict.mistake_bound is not None for case in shown):
            yield "", "on the features as given, in the certificate"
        yield "together", TOGETHER if report.kind != "separable" else ALL_APART


def tally(kinds: Sequence[str]) -> str:
    """Count the verdicts of each kind.

    >>> tally(["separable", "inseparable", "separable"])
    '2 separable, 1 inseparable'
    """
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _case_clauses(report: Report, case: Case, *, standard: bool, verbose: bool) -> Iterator[str]:
    """The facts about one class against the rest; ``standard`` bounds are on scaled features."""
    verdict, scaled = case.verdict, case.scaled
    if verdict.kind == "undecided" and verdict.margin.hi == 0.0:
        yield NOT_SEPARABLE
    elif verdict.kind in ("separable", "undecided"):
        bounded = scaled if standard and scaled is not None else verdict
        if bounded.mistake_bound is not None:
            yield bound_in_table(bounded.mistake_bound)
        if verbose or verdict.kind == "undecided":
            yield f"γ {interval(verdict.margin)}"
        if verbose and bounded is not verdict and verdict.mistake_bound is not None:
            yield f"{bound_in_table(verdict.mistake_bound)} on the original features"
    else:
        if case.mistakes is not None:
            yield fewest_mistakes_clause(case.mistakes, case.least_mistakes or 0)
        if verbose:
            rows = f"rows {rows_text(report.rows(verdict.support), 4)}"
            yield verdict_clause(verdict.kind, _hyperplane(report), rows)


def _perceptron_lines(report: Report) -> Iterator[tuple[str, str]]:
    run, rule, cases = report.study.run, report.study.rule, report.study.cases
    if run is None:
        return
    ended = "all rows correct after" if run.converged else "not all rows correct after"
    counts = f"{counted(run.mistakes, 'mistake')} in {counted(run.epochs, 'epoch')}"
    standard = run.scale == "standard"
    advice = ""
    if rule == "largest margin" and not run.converged:
        limit = "--epochs" if report.study.options.budget is None else "--budget"
        advice = f"; a larger {limit} lets it run longer"
    yield "perceptron", f"{ended} {counts}, {run.seconds:.2f} s{advice}"
    if run.period is not None:
        none = verdict_clause("inseparable", _hyperplane(report))
        if len(report.study.classes) > 2:
            none += " of one class against the rest"
        yield "", f"proved: {cycle_clause(none, [run.period])}"
    if standard:
        yield "", "on standardised features"
    if run.converged and not run.separates_original:
        yield "", "rounded to floats, its rule does not separate the original rows"
    elif standard and run.converged and cases:
        yield "", "proved: its rule separates the rows with their original features"


def _rule_lines(report: Report, verbose: bool) -> Iterator[tuple[str, str]]:
    study = report.study
    yield "rule", _rule_in_words(study)
    # The distance of the nearest row of the largest margin is the margin of the verdict, which the
    # report has already stated.
    stated = study.rule == "largest margin" and len(study.cases) == 1
    nearest = min(study.margins)
    if 0 < nearest < math.inf and (verbose or not stated):
        yield "", f"the nearest row is {digits_down(nearest)} away"


def _rule_in_words(study: Study) -> str:
    """Return what the rule of the model is."""
    match study.rule:
        case "perceptron":
            return "the perceptron's"
        case "average":
            return "the average of the perceptron's weights"
        case "largest margin":
            each = " for each class" if len(study.classes) > 2 else ""
            name = f"the hyperplane with the largest margin{each}, as in an SVM"
            if study.options.model == "perceptron":
                name += " (the perceptron's rule does not classify every row correctly)"
            return name
    if len(study.cases) == 1 and study.cases[0].least_mistakes == study.mistakes:
        return "the hyperplane with the fewest mistakes possible"
    if len(study.classes) == 2:
        return "the hyperplane with the fewest mistakes found"
    pairs = study.model.multi_class == "ovo"
    each = "pair of classes (votes)" if pairs else "class (the largest score wins)"
    return f"hyperplanes with few mistakes, one for each {each}"


def _mistake_lines(report: Report, most: int, verbose: bool) -> Iterator[tuple[str, str]]:
    errors, n, cases = report.study.mistakes, report.data.n_rows, report.study.cases
    if errors == 0:
        if report.study.rule == "fewest mistakes" and len(report.study.classes) > 2:
            yield "mistakes", f"none: together the rules classify all {n:,} rows correctly"
        return
    text = f"{errors:,} of {n:,} rows ({errors / n:.1%})"
    least = cases[0].least_mistakes if len(cases) == 1 else None
    if least == errors:
        text += f"; proved: {no_fewer_mistakes(_hyperplane(report))}"
    elif least:
        text += f"; proved: {least_mistakes(_hyperplane(report), least)}"
    yield "mistakes", text
    searched = report.study.rule == "fewest mistakes" and report.study.options.budget is None
    if searched and least != errors:
        yield "", "stopped: no recent improvement (--budget SECONDS searches longer)"
    if report.wrong is not None:
        many = ("rows", " (the worst first)") if errors > 1 else ("row", "")
        yield "", f"{many[0]} {rows_text(report.wrong)}{many[1]}"
        if report.wrong.separable_without:
            yield "", relabelling_clause(_hyperplane(report), errors)
    yield from _confusion_lines(report, most, verbose)


def _hyperplane(report: Report) -> str:
    return hyperplane(fit_intercept=report.study.options.fit_intercept)


def _confusion_lines(report: Report, most: int, verbose: bool) -> Iterator[tuple[str, str]]:
    """The confusion matrix; if it is wide, without ``verbose``, its columns have numbers."""
    names = [_shortened(str(label)) for label in report.study.classes]
    if len(names) > most:
        yield "", f"(the confusion matrix of {len(names)} classes is in --format json)"
        return
    counts = [[f"{count:,}" for count in row] for row in report.study.confusion.tolist()]
    table = _counts_table(["label, predicted:", *names], names, counts)
    if not verbose and len(table[0]) > _TABLE_WIDTH:
        numbers = [str(k + 1) for k in range(len(names))]
        numbered = [f"{k} {name}" for k, name in zip(numbers, names, strict=True)]
        table = _counts_table(["label, predicted:", *numbers], numbered, counts)
    for k, line in enumerate(table):
        yield "" if k else "confusion", line


def _counts_table(head: list[str], names: list[str], counts: list[list[str]]) -> list[str]:
    """The lines of a table: names on the left, counts on the right."""
    rows = ((name, *row) for name, row in zip(names, counts, strict=True))
    return [*aligned_lines([tuple(head), *rows], "<" + ">" * len(names))]


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"


def _duplicate_lines(report: Report, most: int) -> Iterator[tuple[str, str]]:
    groups = report.duplicates or []
    if groups:
        count = counted(len(groups), "group")
        yield "duplicates", f"{count} of identical rows with different labels:"
    for rows in groups[:most]:
        yield "", f"rows {rows_text(report.rows(rows))}"
    if len(groups) > most:
        yield "", f"… and {len(groups) - most:,} more (--format json lists them)"


def _file_lines(report: Report) -> Iterator[tuple[str, str]]:
    guess, files = report.estimate, report.files
    if guess is not None:
        yield (
            "unseen",
            f"{counted(guess.errors, 'error')} on {counted(guess.rows, 'unseen row')} "
            f"({guess.rate:.1%}; 95 % interval {guess.low:.1%} to {guess.high:.1%}), "
            f"{guess.method}",
        )
    roles = ("model", "certificate", "plot", "rows")
    written = [f"{files[name]} ({name})" for name in roles if files.get(name)]
    yield "files", ", ".join(written) or "none written"
    if report.study.each_row is None:
        yield "time", f"{report.seconds:.1f} s"
