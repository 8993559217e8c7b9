"""The report as a few lines that a person understands at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from novikoff.sentences import (
    SHOWN,
    bound_clause,
    counted,
    digits_down,
    first_few,
    hyperplane,
    interval,
    large,
    least_mistakes,
    no_fewer_mistakes,
    verdict_clause,
    verdict_lines,
)

if TYPE_CHECKING:
    from novikoff.core.rows import Indices
    from novikoff.jobs.study_records import Case
    from novikoff.report.summary import ListedRows, Report

# What verdicts on each class against the rest say about all classes at once.
ALL_APART = "the class with the largest score is correct for every row"
TOGETHER = (
    "not decided here: a rule that compares the scores of all classes (multinomial, argmax) may "
    "still classify every row correctly"
)


def report_lines(
    report: Report, *, classes: int = SHOWN, groups: int = 5
) -> Iterator[tuple[str, str]]:
    """Heading and text of each line; lines that belong to the one above have no heading.

    A confusion matrix of more ``classes`` than this, and more ``groups`` of duplicates, are left to
    the JSON.
    """
    yield "data", _data(report)
    for note in report.notes:
        yield "", note
    yield from _verdict(report)
    yield from _perceptron(report)
    yield from _mistakes(report, classes)
    yield from _duplicates(report, groups)
    yield from _rule(report)
    yield from _files(report)


def rows_text(part: ListedRows, shown: int = SHOWN) -> str:
    """Row numbers, with ids where there are any."""
    named = [str(row) for row in part.rows[:shown]]
    if part.ids is not None:
        named = [f"{row} ({name})" for row, name in zip(named, part.ids, strict=False)]
    return first_few(named, part.count, shown)


def _counting(report: Report) -> str:
    """How rows are counted."""
    one_file = report.found.each_row is not None
    return f"(counted from 1, {'without the header' if one_file else 'one file after the other'})"


def _data(report: Report) -> str:
    data, classes = report.data, report.classes
    features = f"{counted(len(data.names), 'feature')}{' (sparse)' if data.sparse else ''}"
    label = "label" if data.label in (None, "label") else f"label {data.label}"
    if len(classes) == 2:
        ordered = sorted(classes, key=lambda part: part[0] != report.positive)
        signed = zip(ordered, "+−", strict=True)
        counts = "  ".join(f"{name} ({sign}, {rows:,})" for (name, rows), sign in signed)
    else:
        counts = "  ".join(f"{name} ({rows:,})" for name, rows in classes[:SHOWN])
        counts = f"{len(classes)} classes  {counts}{'  …' if len(classes) > SHOWN else ''}"
    return f"{data.source} · {data.n_rows:,} rows · {features} · {label}: {counts}"


def _verdict(report: Report) -> Iterator[tuple[str, str]]:
    cases, kinds = report.found.cases, report.found.kinds
    if len(cases) == 1:
        yield from _case(report, cases[0])
    elif cases:
        yield "verdict", f"each class against the rest: {tally(kinds)}"
        width = max(len(str(case.positive)) for case in cases)
        for case in cases:
            line = f"{case.verdict.kind:16} {_one_line(report, case)}"
            yield "", f"{case.positive!s:{width}}  {line}"
        yield "together", TOGETHER if report.kind != "separable" else ALL_APART


def tally(kinds: Sequence[str]) -> str:
    """How many verdicts there are of each kind.

    >>> tally(["separable", "inseparable", "separable"])
    '2 separable, 1 inseparable'
    """
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _one_line(report: Report, case: Case) -> str:
    verdict, scaled = case.verdict, case.scaled
    if verdict.kind in ("separable", "undecided"):
        after = ""
        if scaled is not None and scaled.mistake_bound is not None:
            after = f", {large(scaled.mistake_bound)} on standardised features"
        if verdict.kind == "undecided" and verdict.margin.hi == 0.0:
            return "not separable; quasi-separable or inseparable is undecided"
        return f"γ {interval(verdict.margin)}{bound_clause(verdict.mistake_bound)}{after}"
    wrong = ""
    if case.errors is not None:
        plane = _hyperplane(report)
        wrong = f"; the best {plane} found misclassifies {counted(case.errors, 'row')}"
        wrong += f", {least_mistakes(plane, case.least_errors)}" if case.least_errors else ""
    rows = f"rows {rows_text(report.rows(verdict.support), 4)}"
    return f"{verdict_clause(verdict.kind, _hyperplane(report), rows)}{wrong}"


def _case(report: Report, case: Case) -> Iterator[tuple[str, str]]:
    def show(rows: Indices) -> str:
        return f"{rows_text(report.rows(rows))} {_counting(report)}"

    return verdict_lines(case.verdict, show, case.scaled)


def _perceptron(report: Report) -> Iterator[tuple[str, str]]:
    run, rule, cases = report.found.run, report.found.rule, report.found.cases
    if run is None:
        return
    ended = "all rows correct after" if run.clean else "not all rows correct after"
    counts = f"{counted(run.mistakes, 'mistake')} in {counted(run.epochs, 'epoch')}"
    standard = run.scale == "standard"
    on = ", on standardised features" if standard else ""
    more = ""
    if rule == "largest margin" and not run.clean:
        limit = "--epochs" if report.found.options.budget is None else "--budget"
        more = f"; a larger {limit} lets it run longer"
    yield "perceptron", f"{ended} {counts}, {run.seconds:.2f} s{on}{more}"
    if run.period is not None:
        every = "epoch" if run.period == 1 else f"{run.period:,} epochs"
        none = verdict_clause("inseparable", _hyperplane(report))
        if len(report.found.classes) > 2:
            none += " of one class against the rest"
        yield "", f"proved: its weights repeat every {every}, so {none}"
    if not run.returned:
        yield "", "rounded to floats, its rule does not separate the rows on the original features"
    elif standard and run.clean and cases:
        yield "", "proved: on the original features, its rule classifies every row correctly"


def _rule(report: Report) -> Iterator[tuple[str, str]]:
    found = report.found
    name = {
        "largest margin": "the hyperplane with the largest margin, as in an SVM",
        "perceptron": "the perceptron's",
        "average": "the average of the perceptron's weights",
        "fewest mistakes": "the hyperplane with the fewest mistakes found",
    }[found.rule]
    if found.rule == "largest margin" and len(found.classes) > 2:
        name = "for each class the hyperplane with the largest margin, as in an SVM"
    if found.rule == "largest margin" and found.options.model == "perceptron":
        name += " (the perceptron's rule does not classify every row correctly)"
    if found.rule == "fewest mistakes" and len(found.classes) > 2:
        each = "class; the class with the largest score wins"
        if found.model.multi_class == "ovo":
            each = "pair of classes; the class with the most votes wins"
        name = f"hyperplanes with the fewest mistakes found, one for each {each}"
    least = found.cases[0].least_errors if len(found.cases) == 1 else None
    if found.rule == "fewest mistakes" and least == found.errors:
        name = "the hyperplane with the fewest mistakes possible"
    nearest = min(found.margins)
    away = f"; the nearest row is {digits_down(nearest)} away" if 0 < nearest < math.inf else ""
    yield "rule", f"{name}{away}"


def _mistakes(report: Report, most: int) -> Iterator[tuple[str, str]]:
    errors, n, cases = report.found.errors, report.data.n_rows, report.found.cases
    if errors == 0:
        if report.found.rule == "fewest mistakes" and len(report.found.classes) > 2:
            yield "mistakes", f"none: together the rules classify all {n:,} rows correctly"
        return
    text = f"{errors:,} of {n:,} rows ({errors / n:.1%})"
    least = cases[0].least_errors if len(cases) == 1 else None
    if least == errors:
        text += f"; proved: {no_fewer_mistakes(_hyperplane(report))}"
    elif least:
        text += f"; proved: {least_mistakes(_hyperplane(report), least)}"
    yield "mistakes", text
    searched = report.found.rule == "fewest mistakes" and report.found.options.budget is None
    if searched and least != errors:
        yield "", "search stopped: no recent improvement (--budget SECONDS searches longer)"
    if report.wrong is not None:
        many = ("rows", ", the farthest on the wrong side first") if errors > 1 else ("row", "")
        yield "", f"{many[0]} {rows_text(report.wrong)}{many[1]} {_counting(report)}"
    yield from _confusion(report, most)


def _hyperplane(report: Report) -> str:
    return hyperplane(fit_intercept=report.found.options.fit_intercept)


def _confusion(report: Report, most: int) -> Iterator[tuple[str, str]]:
    labels = [str(label) for label in report.found.classes]
    if len(labels) > most:
        yield "", f"(the confusion matrix of {len(labels)} classes is in --format json)"
        return
    short = [label if len(label) <= 14 else label[:13] + "…" for label in labels]
    rows = [[f"{count:,}" for count in counts] for counts in report.found.confusion.tolist()]
    table = [
        ["label, predicted:", *short],
        *([name, *row] for name, row in zip(short, rows, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for k, (first, *cells) in enumerate(table):
        right = "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield "" if k else "confusion", f"{first:{widths[0]}}{right}"


def _duplicates(report: Report, most: int) -> Iterator[tuple[str, str]]:
    groups = report.duplicates or []
    if groups:
        count = counted(len(groups), "group")
        yield "duplicates", f"{count} of identical rows with different labels:"
    for rows in groups[:most]:
        yield "", f"rows {rows_text(report.rows(rows))}"
    if len(groups) > most:
        yield "", f"… and {len(groups) - most:,} more (--format json lists them)"


def _files(report: Report) -> Iterator[tuple[str, str]]:
    guess, files = report.estimate, report.files
    if guess is not None:
        yield (
            "unseen",
            f"{counted(guess.errors, 'error')} on {counted(guess.rows, 'unseen row')} "
            f"({guess.rate:.1%}; 95 % interval {guess.low:.1%} to {guess.high:.1%}), "
            f"{guess.method}",
        )
    others = ("certificate", "plot", "rows")
    written = "".join(f"   {name}  {files[name]}" for name in others if files.get(name))
    yield "model", (files.get("model") or "not written") + written
    if report.found.each_row is None:
        yield "time", f"{report.seconds:.1f} s"
