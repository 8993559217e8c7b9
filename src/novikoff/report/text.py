"""The report as a few lines that a person understands at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from novikoff.data.errors import counted

if TYPE_CHECKING:
    from novikoff.report.summary import CasePart, Report, RowsPart

_COUNTING = "(counted from 1, without the header)"
_SHOWN_ROWS, _SHOWN_NAMES, _SHOWN_GROUPS, _SHOWN_CLASSES = 12, 12, 5, 12


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
    yield from _estimate(report)
    yield from _files(report)


def number(value: float | None) -> str:
    """A number for a person: four digits or so, no needless exponent."""
    if value is None:
        return "∞"
    return f"{value:.4g}"


def large(count: int) -> str:
    """A count for a person: beyond 15 digits as a power of ten.

    Examples
    --------
    >>> large(12345), large(14 * 10**15), large(10**400)
    ('12,345', '1.4·10^16', '1.0·10^400')
    """
    digits = str(count) if count < 10**4000 else ""
    if not digits:
        return "more than 10^4000"
    return f"{count:,}" if len(digits) <= 15 else f"{digits[0]}.{digits[1]}·10^{len(digits) - 1}"


def interval(lo: float | None, hi: float | None) -> str:
    """The digits that both ends agree on, and the width.

    Examples
    --------
    >>> interval(0.00103721, 0.00103724), interval(0.5, None)
    ('= 1.0372…e-03 (interval width 3e-08)', '≥ 0.5')
    """
    if lo is not None and hi is None:
        return f"≥ {number(lo)}"
    if lo is None or hi is None:
        return f"between {number(lo)} and {number(hi)}"
    if lo == hi:
        return f"= {lo:.7g} (exactly)" if lo == 0.0 else f"= {lo:.7g} (interval width 0)"
    width = f"(interval width {hi - lo:.0e})"
    for digits in range(8, 0, -1):
        below, above = f"{lo:.{digits + 3}e}", f"{hi:.{digits + 3}e}"
        if below[: digits + 2] == above[: digits + 2] and below[-4:] == above[-4:]:
            mantissa, exponent = below[: digits + 2], below.partition("e")[2]
            if -3 < int(exponent) < 6:
                return f"= {_plain(lo, digits)}… {width}"
            return f"= {mantissa}…e{exponent} {width}"
    return f"between {number(lo)} and {number(hi)}"


def bound(count: int | None) -> str:
    """The mistake bound of the convergence theorem, as far as there is one."""
    return "" if count is None else f"   R²/γ² = {large(count)}"


def _plain(value: float, digits: int) -> str:
    """The number cut, not rounded, after its first digits."""
    decimals = max(0, digits - math.floor(math.log10(value)))
    text = f"{value:.{decimals + 3}f}"
    return text[:-3] if decimals else text[:-4]


def rows_text(part: RowsPart, shown: int = _SHOWN_ROWS) -> str:
    """Row numbers, with ids where there are any."""
    named = [str(row) for row in part.rows[:shown]]
    if part.ids is not None:
        named = [f"{row} ({name})" for row, name in zip(named, part.ids, strict=False)]
    more = f" … and {part.count - shown:,} more" if part.count > shown else ""
    return ", ".join(named) + more


def _data(report: Report) -> str:
    data = report.data
    kind = " (sparse)" if data.sparse else ""
    features = f"{counted(data.features, 'feature')}{kind}"
    label = "label" if data.label in (None, "label") else f"label {data.label}"
    if len(data.classes) == 2:
        ordered = sorted(data.classes, key=lambda part: part.label != data.positive)
        counts = "  ".join(
            f"{part.label} ({sign}, {part.rows:,})"
            for part, sign in zip(ordered, "+−", strict=True)
        )
    else:
        shown = data.classes[:_SHOWN_CLASSES]
        more = "  …" if len(data.classes) > len(shown) else ""
        counts = f"{len(data.classes)} classes  " + (
            "  ".join(f"{part.label} ({part.rows:,})" for part in shown) + more
        )
    return f"{data.source} · {data.rows:,} rows · {features} · {label}: {counts}"


def _verdict(report: Report) -> Iterator[tuple[str, str]]:
    if report.verdict is None:
        return
    cases = report.verdict.cases
    if len(cases) == 1:
        yield from _case(report, cases[0])
        return
    kinds = [case.kind for case in cases]
    tally = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    yield "verdict", f"{report.verdict.kind} — each class against the rest: {tally}"
    width = max(len(str(case.positive)) for case in cases)
    for case in cases:
        yield "", f"{case.positive!s:{width}}  {_one_line(case)}"


def _one_line(case: CasePart) -> str:
    if case.kind == "separable":
        scaled = case.scaled
        after = "" if scaled is None else f"{bound(scaled.mistake_bound)} standardised"
        gamma = interval(case.margin.lo, case.margin.hi)
        return f"separable        γ {gamma}{bound(case.mistake_bound)}{after}"
    if case.kind == "undecided":
        return f"undecided        γ {interval(case.margin.lo, case.margin.hi)}"
    wrong = ""
    if case.errors is not None:
        wrong = f", best rule found errs on {case.errors:,}"
        wrong += f", any on at least {case.errors_lower_bound:,}" if case.errors_lower_bound else ""
    return f"{case.kind:16} rows {rows_text(case.support, 4)} contradict{wrong}"


def _case(report: Report, case: CasePart) -> Iterator[tuple[str, str]]:
    n = report.data.rows
    which = "with a bias" if report.data.fit_intercept else "through the origin"
    if case.kind == "separable":
        yield (
            "verdict",
            f"separable — proved: a hyperplane {which} has all {n:,} rows on their side",
        )
        yield from _margins(report, case)
    elif case.kind == "quasi-separable":
        apart = case.separated.count
        yield (
            "verdict",
            f"quasi-separable — proved: hyperplanes {which} can have {counted(apart, 'row')} "
            f"strictly on their side, the other {n - apart:,} only on the hyperplane itself",
        )
        yield "separated", f"rows {rows_text(case.separated)} {_COUNTING}"
        yield from _logistic(case)
    elif case.kind == "inseparable":
        yield (
            "verdict",
            f"inseparable — proved: no hyperplane {which} has all {n:,} rows on their side",
        )
        yield (
            "contradict",
            f"rows {rows_text(case.support)} {_COUNTING}: these {case.support.count:,} suffice",
        )
    else:
        yield "verdict", "undecided — more time (--budget) or another scale may decide"
        yield "margin", f"γ {interval(case.margin.lo, case.margin.hi)}"


def _margins(report: Report, case: CasePart) -> Iterator[tuple[str, str]]:
    gamma = interval(case.margin.lo, case.margin.hi)
    yield "margin", f"γ {gamma}   R = {number(case.radius)}{bound(case.mistake_bound)}"
    scaled = case.scaled
    if scaled is not None:
        yield (
            "",
            f"features of mean 0 and variance 1: γ = {number(scaled.margin.lo)}   "
            f"R = {number(scaled.radius)}{bound(scaled.mistake_bound)}",
        )
    if report.data.fit_intercept:
        free = interval(case.geometric_margin.lo, case.geometric_margin.hi)
        yield "", f"with a free bias, as in an SVM: {free.removeprefix('= ')}"


def _logistic(case: CasePart) -> Iterator[tuple[str, str]]:
    if case.logistic is None:
        return
    signs = {1: "+∞", -1: "−∞", 0: "±∞"}
    fates = [f"{fate.name} → {signs[fate.sign]}" for fate in case.logistic.infinite]
    if fates:
        more = f" … and {len(fates) - _SHOWN_NAMES} more" if len(fates) > _SHOWN_NAMES else ""
        yield (
            "logistic",
            f"weights without a finite estimate: {', '.join(fates[:_SHOWN_NAMES])}{more}",
        )
    if case.logistic.undetermined:
        names = ", ".join(case.logistic.undetermined[:_SHOWN_NAMES])
        more = " …" if len(case.logistic.undetermined) > _SHOWN_NAMES else ""
        yield "", f"not determined by the data (columns depend on each other): {names}{more}"


def _perceptron(report: Report) -> Iterator[tuple[str, str]]:
    run = report.perceptron
    if run is None:
        return
    counts = (
        f"{counted(run.mistakes, 'mistake')}, {counted(run.epochs, 'epoch')}, {run.seconds:.2f} s"
    )
    standard = run.scale == "standard"
    if standard:
        counts += ", on standardised features"
    if report.model.rule == "average":
        counts += ": the model is the average of its weights"
    if report.model.rule == "fewest mistakes" or not (run.clean or report.verdict):
        yield "perceptron", f"not clean after {counts}"
        return
    yield "perceptron", f"{'' if run.clean else 'not yet '}clean after {counts}"
    if report.model.rule == "largest margin":
        hint = "" if standard or run.clean else " (standardised features often need fewer)"
        lost = "" if run.returned else "in floats its rule does not separate the rows as given; "
        yield "", f"{lost}the model is the hyperplane of the largest margin{hint}"
    elif standard and report.verdict is not None:
        yield "", "its rule, mapped back to the features as given, has every row right: proved"


def _mistakes(report: Report) -> Iterator[tuple[str, str]]:
    model, n = report.model, report.data.rows
    if model.errors == 0:
        return
    text = f"{model.errors:,} of {n:,} rows ({model.errors / n:.1%})"
    cases = [] if report.verdict is None else report.verdict.cases
    if len(cases) == 1 and cases[0].errors_lower_bound:
        least = cases[0].errors_lower_bound
        text += (
            "; proved: no hyperplane makes fewer"
            if least == model.errors
            else f"; proved: every hyperplane makes at least {least:,}"
        )
    yield "mistakes", text
    yield from _confusion(report)


def _confusion(report: Report) -> Iterator[tuple[str, str]]:
    labels = [str(part.label) for part in report.data.classes]
    if len(labels) > _SHOWN_CLASSES:
        yield "", f"(the confusion matrix of {len(labels)} classes is in --format json)"
        return
    short = [label if len(label) <= 14 else label[:13] + "…" for label in labels]
    counts = report.model.confusion
    corner = "is, said:"
    width = max(len(corner), *map(len, short))
    columns = [
        max(len(name), *(len(f"{row[k]:,}") for row in counts)) for k, name in enumerate(short)
    ]
    heads = "  ".join(f"{name:>{size}}" for name, size in zip(short, columns, strict=True))
    yield "confusion", f"{corner:{width}}  {heads}"
    for name, row in zip(short, counts, strict=True):
        cells = "  ".join(f"{count:>{size},}" for count, size in zip(row, columns, strict=True))
        yield "", f"{name:{width}}  {cells}"


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


def _estimate(report: Report) -> Iterator[tuple[str, str]]:
    guess = report.estimate
    if guess is not None:
        yield (
            "unseen",
            f"{guess.errors:,} errors on {guess.rows:,} unseen rows ({guess.rate:.1%}; 95 % "
            f"interval {guess.low:.1%} to {guess.high:.1%}), {guess.method}",
        )


def _files(report: Report) -> Iterator[tuple[str, str]]:
    files = report.files
    parts = [files.model or "not written"]
    if files.certificate is not None:
        parts.append(f"certificate  {files.certificate}")
    if files.plot is not None:
        parts.append(f"plot  {files.plot}")
    yield "model", "   ".join(parts)
