"""What is said about a verdict: in one line, in a summary, and in the report of a command."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.core.rows import Indices
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.separability import Verdict

SHOWN = 12
_FEW = 3  # weights of unknown sign that are named, where no weight is finite
_VERDICTS = {
    "separable": "a hyperplane {which} has all {n:,} rows on their side",
    "quasi-separable": "hyperplanes {which} can have {apart} strictly on their side, the other "
    "{rest:,} only on the hyperplane itself",
    "inseparable": "no hyperplane {which} has all {n:,} rows on their side",
}
_LOGISTIC_OF_KIND = {
    "separable": "a logistic regression has no finite estimates (complete separation)",
    "quasi-separable": "not all estimates of a logistic regression are finite (quasi-complete "
    "separation)",
    "inseparable": "a logistic regression has finite estimates (overlap)",
}


def verdict_lines(
    verdict: Verdict, show: Callable[[Indices], str], scaled: Verdict | None = None
) -> Iterator[tuple[str, str]]:
    """Heading and text of each line; lines that belong to the one above have no heading.

    ``show`` names rows and says how they are counted; ``scaled`` is the verdict on the
    standardised features.
    """
    proof = verdict.certificate
    if proof is None or verdict.kind == "undecided":
        hint = "more time (a larger budget) or another scale may decide"
        yield "verdict", f"undecided — {verdict.undecided_reason or hint}"
        yield "margin", f"γ {interval(verdict.margin)}"
        return
    apart = verdict.n_separated
    which = "with a bias" if proof.fit_intercept else "through the origin"
    proved = _VERDICTS[verdict.kind].format(
        which=which,
        n=proof.n,
        apart="1 row" if apart == 1 else f"{apart:,} rows",
        rest=proof.n - apart,
    )
    yield "verdict", f"{verdict.kind} — proved: {proved}"
    if verdict.kind == "inseparable":
        few = f"no hyperplane {which} has these {len(verdict.support):,} on their side"
        yield "contradict", f"rows {show(verdict.support)}: {few}"
    elif verdict.kind == "quasi-separable":
        if len(verdict.separated_rows) == 0:  # they are elsewhere
            return
        yield "separated", f"rows {show(verdict.separated_rows)}"
    else:
        radius = f"longest row R ≤ {digits_up(verdict.radius)}{bound_clause(verdict.mistake_bound)}"
        yield "margin", f"γ {interval(verdict.margin)}   {radius}"
        if scaled is not None:
            radius = f"R ≤ {digits_up(scaled.radius)}{bound_clause(scaled.mistake_bound)}"
            gamma = interval(scaled.margin)
            yield "", f"features of mean 0 and variance 1: γ {gamma}   {radius}"
        if proof.fit_intercept:
            free = interval(verdict.geometric_margin).removeprefix("= ")
            yield "", f"with a free bias, as in an SVM: {free}"
    yield from _logistic(verdict)


def verdict_sentence(verdict: Verdict) -> str:
    """The verdict in one line."""
    proof = verdict.certificate
    if verdict.kind == "undecided":
        text = f"γ is in [{digits_down(verdict.margin.lo, 6)}, {digits_up(verdict.margin.hi, 6)}]"
    elif verdict.kind == "inseparable":
        text = f"{len(verdict.support):,} rows contradict any hyperplane"
    elif verdict.kind == "quasi-separable":
        apart = verdict.n_separated
        rest = (0 if proof is None else proof.n) - apart
        text = f"{apart:,} rows strictly apart, {rest:,} on the hyperplane"
    elif verdict.geometric_margin.lo == math.inf:
        text = "all rows are of one class"
    elif verdict.mistake_bound is None:
        text = "by a margin beyond float64"
    else:
        text = f"γ {interval(verdict.margin)}, at most {large(verdict.mistake_bound)} mistakes"
    if proof is None:
        return f"{verdict.kind}: {text}"
    bias = "with a bias" if proof.fit_intercept else "through the origin"
    others = "the rest" if proof.negative is None else repr(proof.negative)
    setting = f"{bias}, {proof.n:,} × {proof.d:,}, {proof.positive!r} against {others}"
    return f"{verdict.kind}: {text} ({setting})"


def _logistic(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """What becomes of the weights of a logistic regression, as far as that is known."""
    fates, columns = verdict.logistic, verdict.responsible_columns
    if fates is None:  # too many columns, or too little time: the verdict says this much
        open_question = {
            "separable": "; no sign is proved",
            "quasi-separable": "; which of them are infinite is not proved",
            "inseparable": "",
        }[verdict.kind]
        yield "logistic", _LOGISTIC_OF_KIND[verdict.kind] + open_question
        return
    named = {
        str(fate): [str(name) for name in fates if fates[name] == fate]
        for fate in {*fates.values()}
    }
    signed = [
        f"{name} → {'+∞' if fate == '+inf' else '−∞'}"
        for name, fate in fates.items()
        if fate in ("+inf", "-inf")
    ]
    listed = f": {first_few(signed, len(signed))}" if signed else ""
    said = [_LOGISTIC_OF_KIND[verdict.kind] + listed]
    if verdict.kind == "separable" and (rest := named.pop("diverges", None)):
        which = ", ".join(rest) if len(rest) <= _FEW else f"{len(rest):,} others"
        said[0] += f"; sign not proved: {which}" if signed else "; no sign is proved"
    elif verdict.kind == "quasi-separable":
        for part in verdict.aliased or []:
            if not part.finite:
                names = first_few([str(name) for name in part.columns], len(part.columns))
                said.append(f"no finite estimate of these together, which are aliased: {names}")
    for fate, what in (
        ("diverges", "no finite estimate, sign not proved"),
        (
            "undetermined",
            "each alone not determined by the data (constant, or dependent on other columns)",
        ),
        ("reference", "categories are compared with"),
    ):
        if fate in named:
            said.append(f"{what}: {first_few(named[fate], len(named[fate]))}")
    if columns:
        one = "the column " if len(columns) == 1 else "one of these columns, whichever it is: "
        names = first_few([str(name) for name in columns], len(columns))
        said.append(f"finite estimates exist without {one}{names}")
    for k, text in enumerate(said):
        yield "" if k else "logistic", text


def short_number(value: float) -> str:
    """A number for a person: four digits or so, no needless exponent."""
    return f"{value:.4g}".replace("inf", "∞")


def digits_up(value: float, digits: int = 4) -> str:
    """An upper bound for a person: not below the number.

    >>> digits_up(1.7320508), digits_up(0.25), digits_up(99999.5), digits_up(math.inf)
    ('1.733', '0.25', '1e+05', '∞')
    """
    return _with_digits(value, digits, ROUND_UP if value > 0.0 else ROUND_DOWN)


def digits_down(value: float, digits: int = 4) -> str:
    """A lower bound for a person: not above the number.

    >>> digits_down(1.7320508), digits_down(0.25), digits_down(-1.7320508)
    ('1.732', '0.25', '-1.733')
    """
    return _with_digits(value, digits, ROUND_DOWN if value > 0.0 else ROUND_UP)


def _with_digits(value: float, digits: int, rounding: str) -> str:
    to = Context(prec=digits, rounding=rounding)
    return f"{float(to.create_decimal(value)):.{digits}g}".replace("inf", "∞")


def large(bound: int) -> str:
    """A bound on a count for a person: beyond 15 digits as a power of ten, not below it.

    >>> large(12345), large(14 * 10**15), large(10**400 + 1)
    ('12,345', '1.4·10^16', '1.1·10^400')
    """
    if bound >= 10**4000:
        return "more than 10^4000"
    if bound < 10**15:
        return f"{bound:,}"
    above = Context(prec=2, rounding=ROUND_UP).create_decimal(bound)
    first, second = f"{above.scaleb(-above.adjusted()):.1f}".split(".")
    return f"{first}.{second}·10^{above.adjusted()}"


def interval(bounds: Interval) -> str:
    """The digits that both ends agree on, and how near the ends are; else what is known.

    >>> from novikoff.geometry.margin import Interval
    >>> interval(Interval(0.00103721, 0.00103724)), interval(Interval(0.5, math.inf))
    ('= 0.0010372… (proved to 4e-08)', '≥ 0.5')
    >>> interval(Interval(0.079999, 0.40001)), interval(Interval(0.0, 0.5))
    ('≥ 0.07999 (and ≤ 0.4001)', '≤ 0.5')
    >>> interval(Interval(0.99999999999, 1.00000000001))
    '= 1.00000000 (proved to 3e-11)'
    """
    lo, hi = bounds.lo, bounds.hi
    if lo == hi and (math.isinf(lo) or Decimal(shown := f"{lo:.7g}") == Decimal(lo)):
        return f"= {short_number(lo)}" if math.isinf(lo) else f"= {shown} (exactly)"
    for digits in range(9, 1, -1) if hi < math.inf else ():
        for rounding, more in ((ROUND_DOWN, "…"), (ROUND_HALF_EVEN, "")):  # or a round number
            to = Context(prec=digits, rounding=rounding)
            if (same := to.create_decimal(lo)) == to.create_decimal(hi):
                width = Context(prec=1, rounding=ROUND_UP).subtract(Decimal(hi), Decimal(lo))
                return f"= {same}{more} (proved{f' to {float(width):.0e}' if width else ''})"
    if hi == math.inf:
        return f"≥ {digits_down(lo)}"
    if lo == 0.0:
        return f"≤ {digits_up(hi)}"
    return f"≥ {digits_down(lo)} (and ≤ {digits_up(hi)})"


def first_few(parts: Sequence[str], count: int, shown: int = SHOWN) -> str:
    """The first of some parts, and how many more there are."""
    more = f" … and {count - shown:,} more" if count > shown else ""
    return ", ".join(parts[:shown]) + more


def bound_clause(count: int | None) -> str:
    """The mistake bound of the convergence theorem, as far as there is one."""
    made = "the perceptron makes at most R²/γ²"
    unit = "mistake" if count == 1 else "mistakes"
    return "" if count is None else f"   {made} = {large(count)} {unit}"
