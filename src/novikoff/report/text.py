"""The report as a few lines that a person understands at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_DOWN, Context
from typing import TYPE_CHECKING

from novikoff.data.errors import counted

if TYPE_CHECKING:
    from novikoff.report.summary import Bounds, CasePart, Report, RowsPart

_COUNTING = "(counted from 1, without the header)"
_SHOWN, _SHOWN_GROUPS = 12, 5
_VERDICTS = {
    "separable": "a hyperplane {which} has all {n:,} rows on their side",
    "quasi-separable": "hyperplanes {which} can have {apart} strictly on their side, the other "
    "{rest:,} only on the hyperplane itself",
    "inseparable": "no hyperplane {which} has all {n:,} rows on their side",
}


def lines(report: Report) -> Iterator[tuple[str, str]]:
    """Heading and text of each line; lines that belong to the one above have no heading.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.report.study import study
    >>> from novikoff.report.summary import Source, summarize
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array(["low", "low", "high"])
    >>> source = Source("three.csv", ["x"], "level", np.arange(1, 4))
    >>> for heading, text in list(lines(summarize(study(X, y), source)))[:2]:
    ...     print(f"{heading:8} {text}")
    data     three.csv · 3 rows · 1 feature · label level: low (+, 2)  high (−, 1)
    verdict  separable — proved: a hyperplane with a bias has all 3 rows on their side
    """
    yield "data", _data(report)
    for note in report.data.notes:
        yield "", note
    yield from _verdict(report)
    yield from _perceptron(report)
    yield from _mistakes(report)
    yield from _duplicates(report)
    yield from _files(report)


def number(value: float | None) -> str:
    """A number for a person: four digits or so, no needless exponent."""
    return "∞" if value is None else f"{value:.4g}"


def large(count: int) -> str:
    """A count for a person: beyond 15 digits as a power of ten.

    Examples
    --------
    >>> large(12345), large(14 * 10**15), large(10**400)
    ('12,345', '1.4·10^16', '1.0·10^400')
    """
    if count >= 10**4000:
        return "more than 10^4000"
    digits = str(count)
    return f"{count:,}" if len(digits) <= 15 else f"{digits[0]}.{digits[1]}·10^{len(digits) - 1}"


def interval(bounds: Bounds) -> str:
    """The digits that both ends agree on, and how near the ends are.

    Examples
    --------
    >>> from novikoff.report.summary import Bounds
    >>> interval(Bounds(0.00103721, 0.00103724)), interval(Bounds(0.5, None))
    ('= 0.0010372… (proved to 3e-08)', '≥ 0.5')
    """
    lo, hi = bounds.lo, bounds.hi
    if lo is not None and hi is None:
        return f"≥ {number(lo)}"
    if lo is None or hi is None:
        return f"between {number(lo)} and {number(hi)}"
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


def rows_text(part: RowsPart, shown: int = _SHOWN) -> str:
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
    data, classes = report.data, report.data.classes
    features = f"{counted(data.features, 'feature')}{' (sparse)' if data.sparse else ''}"
    label = "label" if data.label in (None, "label") else f"label {data.label}"
    if len(classes) == 2:
        ordered = sorted(classes, key=lambda part: part.label != data.positive)
        signed = zip(ordered, "+−", strict=True)
        counts = "  ".join(f"{part.label} ({sign}, {part.rows:,})" for part, sign in signed)
    else:
        counts = "  ".join(f"{part.label} ({part.rows:,})" for part in classes[:_SHOWN])
        counts = f"{len(classes)} classes  {counts}{'  …' if len(classes) > _SHOWN else ''}"
    return f"{data.source} · {data.rows:,} rows · {features} · {label}: {counts}"


def _verdict(report: Report) -> Iterator[tuple[str, str]]:
    cases = [] if report.verdict is None else report.verdict.cases
    if len(cases) == 1:
        yield from _case(report, cases[0])
    elif report.verdict is not None:
        kinds = [case.kind for case in cases]
        tally = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        yield "verdict", f"{report.verdict.kind} — each class against the rest: {tally}"
        width = max(len(str(case.positive)) for case in cases)
        for case in cases:
            yield "", f"{case.positive!s:{width}}  {case.kind:16} {_one_line(case)}"


def _one_line(case: CasePart) -> str:
    if case.kind in ("separable", "undecided"):
        scaled = case.scaled
        after = "" if scaled is None else f"{bound(scaled.mistake_bound)} standardised"
        return f"γ {interval(case.margin)}{bound(case.mistake_bound)}{after}"
    wrong = ""
    if case.errors is not None:
        wrong = f", best rule found errs on {case.errors:,}"
        wrong += f", any on at least {case.errors_lower_bound:,}" if case.errors_lower_bound else ""
    return f"rows {rows_text(case.support, 4)} contradict{wrong}"


def _case(report: Report, case: CasePart) -> Iterator[tuple[str, str]]:
    if case.kind == "undecided":
        yield "verdict", "undecided — more time (--budget) or another scale may decide"
        yield "margin", f"γ {interval(case.margin)}"
        return
    n, apart = report.data.rows, case.separated.count
    proved = _VERDICTS[case.kind].format(
        which="with a bias" if report.data.fit_intercept else "through the origin",
        n=n,
        apart=counted(apart, "row"),
        rest=n - apart,
    )
    yield "verdict", f"{case.kind} — proved: {proved}"
    if case.kind == "inseparable":
        few = f"these {case.support.count:,} suffice"
        yield "contradict", f"rows {rows_text(case.support)} {_COUNTING}: {few}"
    elif case.kind == "quasi-separable":
        yield "separated", f"rows {rows_text(case.separated)} {_COUNTING}"
        yield from _logistic(case)
    else:
        radius = f"R = {number(case.radius)}{bound(case.mistake_bound)}"
        yield "margin", f"γ {interval(case.margin)}   {radius}"
        if case.scaled is not None:
            gamma, radius = number(case.scaled.margin.lo), number(case.scaled.radius)
            most = bound(case.scaled.mistake_bound)
            yield "", f"features of mean 0 and variance 1: γ = {gamma}   R = {radius}{most}"
        if report.data.fit_intercept:
            free = interval(case.geometric_margin).removeprefix("= ")
            yield "", f"with a free bias, as in an SVM: {free}"


def _logistic(case: CasePart) -> Iterator[tuple[str, str]]:
    if case.logistic is None:
        return
    signs = {1: "+∞", -1: "−∞", 0: "±∞"}
    fates = [f"{fate.name} → {signs[fate.sign]}" for fate in case.logistic.infinite]
    if fates:
        yield "logistic", f"weights without a finite estimate: {_some(fates, len(fates))}"
    names = case.logistic.undetermined
    if names:
        some = _some(names, len(names))
        yield "", f"not determined by the data (columns depend on each other): {some}"


def _perceptron(report: Report) -> Iterator[tuple[str, str]]:
    run, rule = report.perceptron, report.model.rule
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
    if rule == "largest margin":
        hint = "" if standard or run.clean else " (standardised features often need fewer)"
        lost = "" if run.returned else "in floats its rule does not separate the rows as given; "
        yield "", f"{lost}the model is the hyperplane of the largest margin{hint}"
    elif standard and run.clean and report.verdict is not None and rule == "perceptron":
        yield "", "its rule, mapped back to the features as given, has every row right: proved"


def _mistakes(report: Report) -> Iterator[tuple[str, str]]:
    errors, n = report.model.errors, report.data.rows
    if errors == 0:
        return
    text = f"{errors:,} of {n:,} rows ({errors / n:.1%})"
    cases = [] if report.verdict is None else report.verdict.cases
    least = cases[0].errors_lower_bound if len(cases) == 1 else None
    if least == errors:
        text += "; proved: no hyperplane makes fewer"
    elif least:
        text += f"; proved: every hyperplane makes at least {least:,}"
    yield "mistakes", text
    yield from _confusion(report)


def _confusion(report: Report) -> Iterator[tuple[str, str]]:
    labels = [str(part.label) for part in report.data.classes]
    if len(labels) > _SHOWN:
        yield "", f"(the confusion matrix of {len(labels)} classes is in --format json)"
        return
    short = [label if len(label) <= 14 else label[:13] + "…" for label in labels]
    rows = [[f"{count:,}" for count in counts] for counts in report.model.confusion]
    table = [
        ["is, said:", *short],
        *([name, *row] for name, row in zip(short, rows, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for k, (first, *cells) in enumerate(table):
        right = "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield "" if k else "confusion", f"{first:{widths[0]}}{right}"


def _duplicates(report: Report) -> Iterator[tuple[str, str]]:
    found = report.duplicates
    if found.groups == 0:
        return
    groups = counted(found.groups, "group")
    yield "duplicates", f"{groups} of identical rows with different labels:"
    for part in found.listed[:_SHOWN_GROUPS]:
        yield "", f"rows {rows_text(part)}"
    if found.groups > _SHOWN_GROUPS:
        yield "", f"… and {found.groups - _SHOWN_GROUPS:,} more (--format json lists them)"


def _files(report: Report) -> Iterator[tuple[str, str]]:
    guess, files = report.estimate, report.files
    if guess is not None:
        yield (
            "unseen",
            f"{guess.errors:,} errors on {guess.rows:,} unseen rows ({guess.rate:.1%}; 95 % "
            f"interval {guess.low:.1%} to {guess.high:.1%}), {guess.method}",
        )
    text = files.model or "not written"
    text += f"   certificate  {files.certificate}" if files.certificate else ""
    yield "model", text + (f"   plot  {files.plot}" if files.plot else "")
