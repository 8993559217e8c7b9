"""The report as a few lines that a person understands at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_DOWN, Context
from typing import TYPE_CHECKING

from novikoff.data.errors import counted

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval
    from novikoff.report.study import Case
    from novikoff.report.summary import Report, Rows

_COUNTING = "(counted from 1, without the header)"
_SHOWN = 12
_VERDICTS = {
    "separable": "a hyperplane {which} has all {n:,} rows on their side",
    "quasi-separable": "hyperplanes {which} can have {apart} strictly on their side, the other "
    "{rest:,} only on the hyperplane itself",
    "inseparable": "no hyperplane {which} has all {n:,} rows on their side",
}


def lines(report: Report, *, classes: int = _SHOWN, groups: int = 5) -> Iterator[tuple[str, str]]:
    """Heading and text of each line; lines that belong to the one above have no heading.

    A confusion matrix of more than so many ``classes``, and more ``groups`` of duplicates, are
    left to the JSON.
    """
    yield "data", _data(report)
    for note in report.notes:
        yield "", note
    yield from _verdict(report)
    yield from _perceptron(report)
    yield from _mistakes(report, classes)
    yield from _duplicates(report, groups)
    yield from _files(report)


def number(value: float) -> str:
    """A number for a person: four digits or so, no needless exponent."""
    return f"{value:.4g}".replace("inf", "∞")


def large(count: int) -> str:
    """A count for a person: beyond 15 digits as a power of ten.

    >>> large(12345), large(14 * 10**15), large(10**400)
    ('12,345', '1.4·10^16', '1.0·10^400')
    """
    if count >= 10**4000:
        return "more than 10^4000"
    digits = str(count)
    return f"{count:,}" if len(digits) <= 15 else f"{digits[0]}.{digits[1]}·10^{len(digits) - 1}"


def interval(bounds: Interval) -> str:
    """The digits that both ends agree on, and how near the ends are.

    >>> from novikoff.geometry.margin import Interval
    >>> interval(Interval(0.00103721, 0.00103724)), interval(Interval(0.5, math.inf))
    ('= 0.0010372… (proved to 3e-08)', '≥ 0.5')
    """
    lo, hi = bounds.lo, bounds.hi
    if hi == math.inf:
        return f"≥ {number(lo)}"
    if lo == hi:
        return f"= {lo:.7g} (exactly)"
    for digits in range(9, 1, -1):
        cut = Context(prec=digits, rounding=ROUND_DOWN)
        if (shown := cut.create_decimal(lo)) == cut.create_decimal(hi):
            return f"= {shown}… (proved to {hi - lo:.0e})"
    return f"between {number(lo)} and {number(hi)}"


def bound(count: int | None) -> str:
    """The mistake bound of the convergence theorem, as far as there is one."""
    return "" if count is None else f"   R²/γ² = {large(count)}"


def rows_text(part: Rows, shown: int = _SHOWN) -> str:
    """Row numbers, with ids where there are any."""
    named = [str(row) for row in part.rows[:shown]]
    if part.ids is not None:
        named = [f"{row} ({name})" for row, name in zip(named, part.ids, strict=False)]
    return _some(named, part.count, shown)


def _some(parts: Sequence[str], count: int, shown: int = _SHOWN) -> str:
    """The first of some parts, and how many more there are."""
    more = f" … and {count - shown:,} more" if count > shown else ""
    return ", ".join(parts[:shown]) + more


def _data(report: Report) -> str:
    data, classes = report.data, report.classes
    features = f"{counted(len(data.names), 'feature')}{' (sparse)' if data.sparse else ''}"
    label = "label" if data.label in (None, "label") else f"label {data.label}"
    if len(classes) == 2:
        ordered = sorted(classes, key=lambda part: part[0] != report.positive)
        signed = zip(ordered, "+−", strict=True)
        counts = "  ".join(f"{name} ({sign}, {rows:,})" for (name, rows), sign in signed)
    else:
        counts = "  ".join(f"{name} ({rows:,})" for name, rows in classes[:_SHOWN])
        counts = f"{len(classes)} classes  {counts}{'  …' if len(classes) > _SHOWN else ''}"
    return f"{data.source} · {data.n_rows:,} rows · {features} · {label}: {counts}"


def _verdict(report: Report) -> Iterator[tuple[str, str]]:
    cases, kinds = report.found.cases, report.found.kinds
    if len(cases) == 1:
        yield from _case(report, cases[0])
    elif cases:
        tally = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        yield "verdict", f"{report.kind} — each class against the rest: {tally}"
        width = max(len(str(case.positive)) for case in cases)
        for case in cases:
            line = f"{case.verdict.kind:16} {_one_line(report, case)}"
            yield "", f"{case.positive!s:{width}}  {line}"


def _one_line(report: Report, case: Case) -> str:
    verdict, scaled = case.verdict, case.scaled
    if verdict.kind in ("separable", "undecided"):
        after = "" if scaled is None else f"{bound(scaled.mistake_bound)} standardised"
        return f"γ {interval(verdict.margin)}{bound(verdict.mistake_bound)}{after}"
    wrong = ""
    if case.errors is not None:
        wrong = f", best rule found errs on {case.errors:,}"
        wrong += f", any on at least {case.least_errors:,}" if case.least_errors else ""
    return f"rows {rows_text(report.rows(verdict.support), 4)} contradict{wrong}"


def _case(report: Report, case: Case) -> Iterator[tuple[str, str]]:
    verdict, scaled, fit_intercept = case.verdict, case.scaled, report.found.options.fit_intercept
    if verdict.kind == "undecided":
        yield "verdict", "undecided — more time (--budget) or another scale may decide"
        yield "margin", f"γ {interval(verdict.margin)}"
        return
    n, apart = report.data.n_rows, len(verdict.separated_rows)
    proved = _VERDICTS[verdict.kind].format(
        which="with a bias" if fit_intercept else "through the origin",
        n=n,
        apart=counted(apart, "row"),
        rest=n - apart,
    )
    yield "verdict", f"{verdict.kind} — proved: {proved}"
    if verdict.kind == "inseparable":
        few = f"these {len(verdict.support):,} suffice"
        yield "contradict", f"rows {rows_text(report.rows(verdict.support))} {_COUNTING}: {few}"
    elif verdict.kind == "quasi-separable":
        yield "separated", f"rows {rows_text(report.rows(verdict.separated_rows))} {_COUNTING}"
        yield from _logistic(report, case)
    else:
        radius = f"R = {number(verdict.radius)}{bound(verdict.mistake_bound)}"
        yield "margin", f"γ {interval(verdict.margin)}   {radius}"
        if scaled is not None:
            gamma, most = number(scaled.margin.lo), bound(scaled.mistake_bound)
            radius = f"R = {number(scaled.radius)}{most}"
            yield "", f"features of mean 0 and variance 1: γ = {gamma}   {radius}"
        if fit_intercept:
            free = interval(verdict.geometric_margin).removeprefix("= ")
            yield "", f"with a free bias, as in an SVM: {free}"


def _logistic(report: Report, case: Case) -> Iterator[tuple[str, str]]:
    infinite, names = report.logistic(case) or ([], [])
    signs = {1: "+∞", -1: "−∞", 0: "±∞"}
    fates = [f"{name} → {signs[sign]}" for name, sign in infinite]
    if fates:
        yield "logistic", f"weights without a finite estimate: {_some(fates, len(fates))}"
    if names:
        some = _some(names, len(names))
        yield "", f"not determined by the data (columns depend on each other): {some}"


def _perceptron(report: Report) -> Iterator[tuple[str, str]]:
    run, rule = report.found.run, report.found.rule
    if run is None:
        return
    counts = (
        f"{counted(run.mistakes, 'mistake')}, {counted(run.epochs, 'epoch')}, {run.seconds:.2f} s"
    )
    standard = run.scale == "standard"
    if standard:
        counts += ", on standardised features"
    if rule == "average":
        counts += ": the model is the average of its weights"
    yet = "" if run.clean else "not yet " if rule == "largest margin" else "not "
    yield "perceptron", f"{yet}clean after {counts}"
    if run.period is not None:
        every = "epoch" if run.period == 1 else f"{run.period:,} epochs"
        yield "", f"its weights repeat every {every}: no rule has every row right, proved"
    if rule == "largest margin":
        hint = "" if standard or run.clean else " (standardised features often need fewer)"
        lost = "" if run.returned else "in floats its rule does not separate the rows as given; "
        yield "", f"{lost}the model is the hyperplane of the largest margin{hint}"
    elif standard and run.clean and report.found.cases and rule == "perceptron":
        yield "", "its rule, mapped back to the features as given, has every row right: proved"


def _mistakes(report: Report, most: int) -> Iterator[tuple[str, str]]:
    errors, n, cases = report.found.errors, report.data.n_rows, report.found.cases
    if errors == 0:
        return
    text = f"{errors:,} of {n:,} rows ({errors / n:.1%})"
    least = cases[0].least_errors if len(cases) == 1 else None
    if least == errors:
        text += "; proved: no hyperplane makes fewer"
    elif least:
        text += f"; proved: every hyperplane makes at least {least:,}"
    yield "mistakes", text
    yield from _confusion(report, most)


def _confusion(report: Report, most: int) -> Iterator[tuple[str, str]]:
    labels = [str(label) for label in report.found.classes]
    if len(labels) > most:
        yield "", f"(the confusion matrix of {len(labels)} classes is in --format json)"
        return
    short = [label if len(label) <= 14 else label[:13] + "…" for label in labels]
    rows = [[f"{count:,}" for count in counts] for counts in report.found.confusion.tolist()]
    table = [
        ["is, said:", *short],
        *([name, *row] for name, row in zip(short, rows, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for k, (first, *cells) in enumerate(table):
        right = "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield "" if k else "confusion", f"{first:{widths[0]}}{right}"


def _duplicates(report: Report, most: int) -> Iterator[tuple[str, str]]:
    groups = report.found.duplicates
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
            f"{guess.errors:,} errors on {guess.rows:,} unseen rows ({guess.rate:.1%}; 95 % "
            f"interval {guess.low:.1%} to {guess.high:.1%}), {guess.method}",
        )
    others = [f"   {name}  {files[name]}" for name in ("certificate", "plot") if files.get(name)]
    yield "model", (files.get("model") or "not written") + "".join(others)
