"""The sentences about results: verdicts, margins, mistake bounds, lower bounds, conflicts.

The command line, the HTML report, the notebook, the lab, `novikoff.theory` and the certificates all
take their sentences and their rounded numbers from this module, so that one fact has one wording.
The words of the field stand beside ours: separable is *complete separation*, quasi-separable is
*quasi-complete separation*, inseparable is *overlap* (Albert and Anderson 1984), and a minimal
conflict is an *irreducible infeasible subset* (IIS).

A hyperplane *separates* rows if each row is strictly on the side of its class. It *misclassifies* a
row that is on the other side. A row on the hyperplane itself is not separated: certificates count
it as misclassified, while `predict` gives it the negative class.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from novikoff.core.rows import Indices
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.verdict import Verdict
    from novikoff.models.separation import Separation
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.error_bound import ErrorBound

SeparationPart: TypeAlias = Literal["verdict", "model", "separated", "cause", "estimates", "advice"]

# A list shows up to this many names or rows, and then says how many more there are.
SHOWN = 12
# The number of characters in a line of a verdict that is printed.
_LINE_WIDTH = 88
# The headings of a report stand in a column of this width.
HEADING_WIDTH = 12
# Coefficients without a sign are listed up to this number, and counted beyond it.
_MAX_UNSIGNED = 3
# The statisticians' word for each kind of verdict.
_FIELD_WORDS = {
    "separable": "complete separation",
    "quasi-separable": "quasi-complete separation",
    "inseparable": "overlap",
}
_LOGISTIC = {
    "separable": "a logistic regression has no finite estimates",
    "quasi-separable": "a logistic regression has some infinite estimates",
    "inseparable": "a logistic regression has finite estimates",
}
# What is added if a verdict does not have the data, such as one about rows of a cluster.
_NOT_DETERMINED = {
    "separable": "; signs undetermined",
    "quasi-separable": "; which ones is undetermined",
    "inseparable": "",
}


# Numbers.


def short_number(value: float) -> str:
    """A number with about four digits, rounded to nearest.

    >>> short_number(1234.567), short_number(math.inf)
    ('1235', '∞')
    """
    return f"{value:.4g}".replace("inf", "∞")


def digits_up(value: float, digits: int = 4) -> str:
    """An upper bound with a few digits, rounded up: the printed number is not below the value.

    >>> digits_up(1.7320508), digits_up(0.25), digits_up(99999.5), digits_up(math.inf)
    ('1.733', '0.25', '1e+05', '∞')
    """
    return _with_digits(value, digits, ROUND_UP if value > 0.0 else ROUND_DOWN)


def digits_down(value: float, digits: int = 4) -> str:
    """A lower bound with a few digits, rounded down: the printed number is not above the value.

    >>> digits_down(1.7320508), digits_down(0.25), digits_down(-1.7320508), digits_down(5e-324)
    ('1.732', '0.25', '-1.733', '4.940e-324')
    """
    return _with_digits(value, digits, ROUND_DOWN if value > 0.0 else ROUND_UP)


def _with_digits(value: float, digits: int, rounding: str) -> str:
    rounded = Context(prec=digits, rounding=rounding).create_decimal(value)
    text = f"{float(rounded):.{digits}g}"
    if math.isfinite(value) and Decimal(text) != rounded:  # below 1e-308 floats have fewer digits
        return f"{rounded:e}"
    return text.replace("inf", "∞")


def large(bound: int) -> str:
    """An upper bound on a count. Beyond 15 digits it is rounded up to a power of ten.

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
    """The text for a number that lies between two bounds: the digits on which the bounds agree.

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
        for rounding, ellipsis in ((ROUND_DOWN, "…"), (ROUND_HALF_EVEN, "")):  # or a round number
            to = Context(prec=digits, rounding=rounding)
            if (same := to.create_decimal(lo)) == to.create_decimal(hi):
                width = Context(prec=1, rounding=ROUND_UP).subtract(Decimal(hi), Decimal(lo))
                within = f" to {float(width):.0e}" if width else ""
                return f"= {str(same).lower()}{ellipsis} (proved{within})"
    if hi == math.inf:
        return f"≥ {digits_down(lo)}"
    if lo == 0.0:
        return f"≤ {digits_up(hi)}"
    return f"≥ {digits_down(lo)} (and ≤ {digits_up(hi)})"


# Counts and lists.


def counted(number: int, noun: str) -> str:
    """A number and its noun, which is in the plural unless the number is 1.

    >>> counted(1, "row"), counted(2500, "class")
    ('1 row', '2,500 classes')
    """
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}" + ("" if number == 1 else plural)


def first_few(parts: Sequence[str], count: int, shown: int = SHOWN) -> str:
    """The first ``shown`` parts of a list, and how many of its ``count`` parts are left out."""
    remainder = f" … and {count - shown:,} more" if count > shown else ""
    return ", ".join(parts[:shown]) + remainder


# Tables.


def html_table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """An HTML table for notebooks, whose first column names the rows.

    >>> html_table([("a", "1 < 2")])
    '<table><tr><th style="text-align:left">a</th><td style="text-align:left">1 &lt; 2</td></tr>\
</table>'
    """
    align_left = 'style="text-align:left"'
    lines = ["".join(f"<th {align_left}>{escape(cell)}</th>" for cell in head)] if head else []
    for name, *cells in rows:
        values = "".join(f"<td {align_left}>{escape(cell)}</td>" for cell in cells)
        lines.append(f"<th {align_left}>{escape(name)}</th>{values}")
    return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>"


def aligned_lines(table: Sequence[tuple[str, ...]], sides: str) -> Iterator[str]:
    """Yield the lines of a table; ``sides`` has ">" for columns aligned right and "<" for left.

    >>> [*aligned_lines([("", "n"), ("ab", "1"), ("c", "12")], "<>")]
    ['     n', 'ab   1', 'c   12']
    """
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(row, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


# Verdicts.


def hyperplane(*, fit_intercept: bool, noun: str = "hyperplane") -> str:
    """The set of rules that a statement is about; in the plane of the lab, the noun is "line"."""
    return noun if fit_intercept else f"{noun} through the origin"


def kind_in_words(kind: str) -> str:
    """The kind of a verdict, followed by the statisticians' word for it.

    >>> kind_in_words("inseparable"), kind_in_words("undecided")
    ('inseparable (overlap)', 'undecided')
    """
    return f"{kind} ({_FIELD_WORDS[kind]})" if kind in _FIELD_WORDS else kind


def proved_sentence(kind: str, clause: str) -> str:
    """The kind of an answer, and the clause that is proved about it.

    >>> proved_sentence("infeasible", "no point satisfies row 3")
    'infeasible, proved: no point satisfies row 3'
    """
    return f"{kind}, proved: {clause}"


def verdict_clause(kind: str, plane: str, rows: str = "the classes") -> str:
    """The statement of a kind of verdict about some rows, without the proof.

    >>> verdict_clause("separable", "hyperplane", "all 178 rows")
    'a hyperplane separates all 178 rows'
    """
    if kind == "separable":
        return f"a {plane} separates {rows}"
    if kind == "undecided":
        return f"it is undecided whether a {plane} separates {rows}"
    return f"no {plane} separates {rows}"


# The statement of a verdict that is proved only in part.
NOT_SEPARABLE = "not separable; quasi-separable or inseparable is undecided"


def quasi_clause(plane: str, separated: int, rest: int) -> str:
    """The statement how far quasi-separable rows can be separated.

    >>> quasi_clause("line", 63, 292)
    'a line with no row on its wrong side separates at most 63 rows and contains the other 292'
    """
    most = f"separates at most {counted(separated, 'row')} and contains the other {rest:,}"
    return f"a {plane} with no row on its wrong side {most}"


def whole_verdict(kind: str, plane: str, n: int, separated: int) -> str:
    """The statement of a verdict on n rows, of which a hyperplane can separate ``separated``.

    >>> whole_verdict("quasi-separable", "line", 4, 1)
    'a line with no row on its wrong side separates at most 1 row and contains the other 3'
    """
    if kind == "quasi-separable":
        return quasi_clause(plane, separated, n - separated)
    return verdict_clause(kind, plane, f"all {n:,} rows")


def verdict_lines(
    verdict: Verdict,
    show: Callable[[Indices], str],
    scaled: Verdict | None = None,
    *,
    verbose: bool = True,
) -> Iterator[tuple[str, str]]:
    """The lines of a report about a verdict, each with its heading.

    A line that continues the line above has an empty heading. ``show`` names rows, and ``scaled``
    is the verdict on the standardised features. Without ``verbose``, there is one margin and one
    mistake bound: that on the standardised features if there is one.
    """
    proof = verdict.certificate
    if proof is None or verdict.kind == "undecided":
        hint = "more time (a larger budget) or another scale may decide it"
        yield "verdict", f"undecided — {verdict.undecided_reason or hint}"
        yield "margin", f"γ {interval(verdict.margin)}"
        return
    plane, n = hyperplane(fit_intercept=proof.fit_intercept), proof.n
    kind = kind_in_words(verdict.kind)
    if verdict.kind == "inseparable":
        clause = verdict_clause(verdict.kind, plane, f"the {n:,} rows")
        yield "verdict", proved_sentence(kind, clause)
        rows = f"rows {show(verdict.support)}"
        yield "conflict", f"{rows}: no {plane} separates these {len(verdict.support):,}"
    elif verdict.kind == "quasi-separable":
        yield "verdict", f"{kind}, proved"
        yield "", quasi_clause(plane, verdict.n_separated, n - verdict.n_separated)
        if len(verdict.separated_rows) == 0:  # the rows of a cluster are not listed
            return
        yield "separated", f"rows {show(verdict.separated_rows)}"
    else:
        origin = "" if proof.fit_intercept else f" with a {plane}"
        yield "verdict", f"{kind}{origin}, proved for all {n:,} rows"
        yield from _margin_lines(verdict, scaled, free_bias=proof.fit_intercept, verbose=verbose)
    yield from _logistic_lines(verdict)


def wrapped(text: str) -> str:
    """The text in lines of at most 88 characters, unless a word is longer.

    >>> print(wrapped("rows " * 20 + "end"))
    rows rows rows rows rows rows rows rows rows rows rows rows rows rows rows rows rows
        rows rows rows end
    """
    return "\n".join(
        textwrap.wrap(
            text,
            _LINE_WIDTH,
            subsequent_indent="    ",
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def report_line(heading: str, text: str, width: int | None = _LINE_WIDTH) -> str:
    """One line of a report; what does not fit into the width follows with a hanging indent.

    >>> print(report_line("verdict", "infeasible, proved", 36))
    verdict     infeasible, proved
    >>> print(report_line("verdict", "infeasible, proved: these rows contradict", 36))
    verdict     infeasible, proved:
                  these rows contradict
    """
    line = f"{heading:{HEADING_WIDTH}}{text}".rstrip()
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(
        line,
        max(width, 3 * HEADING_WIDTH),
        subsequent_indent=" " * (HEADING_WIDTH + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def verdict_sentence(verdict: Verdict) -> str:
    """The verdict in one sentence, which is how it prints."""
    proof = verdict.certificate
    plane = hyperplane(fit_intercept=proof is None or proof.fit_intercept)
    n = 0 if proof is None else proof.n
    if verdict.kind == "undecided":
        lo, hi = digits_down(verdict.margin.lo, 6), digits_up(verdict.margin.hi, 6)
        text = f"γ is in [{lo}, {hi}]"
    elif verdict.kind == "inseparable":
        contradiction = f"{len(verdict.support):,} of the {n:,} rows contradict each other"
        text = f"{contradiction}: no {plane} separates them"
    elif verdict.kind == "quasi-separable":
        text = quasi_clause(plane, verdict.n_separated, n - verdict.n_separated)
    elif verdict.geometric_margin.lo == math.inf:
        text = "all rows have the same label"
    elif verdict.mistake_bound is None:
        text = "the margin is too small or too large for float64"
    else:
        bias = _bias_as_weight(free_bias=proof is None or proof.fit_intercept)
        text = f"γ {interval(verdict.margin)}{bias}, {bound_clause(verdict.mistake_bound)}"
    if proof is None:
        return f"{verdict.kind}: {text}"
    bias = "with a bias" if proof.fit_intercept else "through the origin"
    setting = f"{bias}, {proof.n:,} × {proof.d:,}, {proof.positive!r} against {_negative(proof)}"
    return f"{verdict.kind}: {text} ({setting})"


def _margin_lines(
    verdict: Verdict, scaled: Verdict | None, *, free_bias: bool, verbose: bool
) -> Iterator[tuple[str, str]]:
    def gamma(proved: Verdict) -> str:
        return f"γ {interval(proved.margin)}{as_weight}, longest row R ≤ {digits_up(proved.radius)}"

    heading, as_weight = "margin", _bias_as_weight(free_bias=free_bias)
    if free_bias:
        free = interval(verdict.geometric_margin).removeprefix("= ")
        yield heading, f"{free}, with a free bias as in an SVM"
        heading = ""
    if verbose or not free_bias:
        yield heading, gamma(verdict)
    bound = bound_clause(verdict.mistake_bound)
    if scaled is not None and scaled.mistake_bound is not None:
        yield "bound", bound_clause(scaled.mistake_bound)
        hint = "" if verbose else " (see --verbose)"
        yield "", f"on standardised features, not in the certificate{hint}"
        if verbose:
            yield "", f"there {gamma(scaled)}"
        if verbose and bound:
            yield "", f"{bound} on the original features: R²/γ², in the certificate"
    elif bound:
        yield "bound", f"{bound} (R²/γ²)"


def bound_in_table(count: int) -> str:
    """The mistake bound in a table that has one class in a line.

    >>> bound_in_table(206)
    'perceptron: at most 206 mistakes'
    """
    return f"perceptron: {_at_most(count)}"


def mistakes_of_any_run(bound: int) -> str:
    """The mistake bound of the convergence theorem as an entry of a table.

    >>> mistakes_of_any_run(389)
    '389: no run makes more mistakes, in any order'
    """
    return f"{large(bound)}: no run makes more mistakes, in any order"


def definition_of_margin(*, fit_intercept: bool) -> str:
    """The definition of the margin γ.

    >>> definition_of_margin(fit_intercept=True)
    'the largest margin of any rule (w, b) of length 1'
    """
    return f"the largest margin of any rule {'(w, b)' if fit_intercept else 'w'} of length 1"


def _bias_as_weight(*, free_bias: bool) -> str:
    """The remark that γ is the theorem's margin, in whose norm the bias counts as a weight."""
    return " with the bias as a weight" if free_bias else ""


def bound_clause(count: int | None) -> str:
    """The mistake bound of the convergence theorem; "" if there is none.

    >>> bound_clause(206)
    'the perceptron makes at most 206 mistakes'
    """
    if count is None:
        return ""
    return f"the perceptron makes {_at_most(count)}"


def _at_most(count: int) -> str:
    return f"at most {large(count)} mistake{'' if count == 1 else 's'}"


def _logistic_lines(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The lines about the estimates of a logistic regression, each with its heading."""
    estimates, columns = verdict.logistic, verdict.responsible_columns
    if estimates is None:
        yield "logistic", _LOGISTIC[verdict.kind] + _NOT_DETERMINED[verdict.kind]
        return
    named: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        named.setdefault(estimate, []).append(str(name))
    signed = [
        f"{name} → {'+∞' if estimate == '+inf' else '−∞'}"
        for name, estimate in estimates.items()
        if estimate in ("+inf", "-inf")
    ]
    proof = verdict.certificate
    intercept = str([*estimates][-1]) if proof is not None and proof.fit_intercept else None
    parts = [first_few(signed, len(signed))] if signed else []
    if "either sign" in named:
        parts.append(f"{_unsigned(named['either sign'], intercept)} → ±∞ (either sign)")
    if "undecided" in named:
        parts.append(f"not decided: {_unsigned(named['undecided'], intercept)}")
    which = f": {'; '.join(parts)}" if parts else ""
    yield "logistic", f"{_LOGISTIC[verdict.kind]}{which}"
    for estimate, what in (
        ("aliased", "aliased (linearly dependent on the columns before, left out)"),
        ("reference", "reference levels"),
    ):
        if estimate in named:
            yield "", f"{what}: {first_few(named[estimate], len(named[estimate]))}"
    if columns:
        yield "", finite_without(columns)


def _unsigned(names: Sequence[str], intercept: str | None) -> str:
    """Name the coefficients without a sign or, if there are many, count their columns.

    >>> _unsigned(["a", "b", "c", "d", "(intercept)"], "(intercept)")
    '4 columns and the intercept'
    """
    if len(names) <= _MAX_UNSIGNED:
        return ", ".join(names)
    with_intercept = names[-1] == intercept
    columns = counted(len(names) - with_intercept, "column")
    return f"{columns} and the intercept" if with_intercept else columns


def finite_without(columns: Sequence[Hashable]) -> str:
    """The statement that finite estimates exist without any one of these columns.

    >>> finite_without(["NV"])
    'finite estimates exist without the column NV'
    """
    one = "the column " if len(columns) == 1 else "any one of these columns: "
    return f"finite estimates exist without {one}{first_few([*map(str, columns)], len(columns))}"


# Separation of statistical models.


def separation_sentence(kind: str, exists: bool | None) -> str:
    """Whether the maximum-likelihood estimate of a model exists, with the kind of separation.

    >>> separation_sentence("overlap", True)
    'overlap, proved: finite estimates exist'
    """
    if kind == "undecided" and exists is False:
        return "complete or quasi-complete separation, proved: no finite estimates exist"
    if kind == "undecided":
        return "undecided: it is not known whether finite estimates exist"
    if kind == "overlap":
        return proved_sentence(kind, "finite estimates exist")
    return proved_sentence(kind, "no finite estimates exist")


class SeparationLine(NamedTuple):
    """A line of a report about separation.

    Attributes
    ----------
    part : {"verdict", "model", "separated", "cause", "estimates", "advice"}
        The part of the report.
    heading, text : str
        The heading, which is empty if the line continues the line above, and the text.
    """

    part: SeparationPart
    heading: str
    text: str


def separation_lines(
    separation: Separation, show: Callable[[Indices], str]
) -> Iterator[SeparationLine]:
    """The lines of a report about separation.

    ``show`` names observations, which are given by their positions in ``separation.rows``, and says
    how they are counted.
    """
    before = ""
    for part, text in _separation_texts(separation, show):
        yield SeparationLine(part, "" if part == before else part, text)
        before = part


def _separation_texts(
    separation: Separation, show: Callable[[Indices], str]
) -> Iterator[tuple[SeparationPart, str]]:
    yield "verdict", separation_sentence(separation.kind, separation.exists)
    if separation.kind == "undecided":
        yield "verdict", "a larger budget may decide the rest"
    elif "aliased" in separation.coefficients.values():
        yield "verdict", "this is about the model without the aliased columns, as in R and Stata"
    size = counted(len(separation.rows), "observation")
    coefficients = counted(separation.n_coefficients, "coefficient")
    yield "model", f"{separation.model_in_words} · {size} · {coefficients}"
    for note in separation.notes:
        yield "model", note
    if separation.exists is False:
        at = separation.separated_positions
        noun = "row" if len(at) == 1 else "rows"
        least = "at least " if separation.kind == "undecided" else ""
        yield "separated", f"{least}{len(at):,} of {size}: {noun} {show(at)}"
        if separation.responsible_columns:
            yield "cause", finite_without(separation.responsible_columns)
    table = separation.coefficients.folded()
    width = max(len(name) for name, _ in table)
    for name, estimate in table:
        yield "estimates", f"{name:{width}}  {estimate}"
    for remedy in separation.advice:
        yield "advice", f"– {remedy}"


# Mistakes.


def no_fewer_mistakes(plane: str) -> str:
    """The statement that no rule makes fewer mistakes than the rule that was found."""
    return f"no {plane} misclassifies fewer"


def relabelling_clause(plane: str, count: int) -> str:
    """What happens if the misclassified rows get the other label; it is true without them too.

    >>> relabelling_clause("hyperplane", 7)
    'relabel these 7 rows, and a hyperplane separates the classes: proved'
    """
    rows = f"these {count:,} rows" if count > 1 else "this row"
    return f"relabel {rows}, and a {plane} separates the classes: proved"


def least_mistakes(plane: str, least: int) -> str:
    """A proved lower bound on the mistakes of every rule.

    >>> least_mistakes("hyperplane", 1), least_mistakes("line", 2)
    ('every hyperplane misclassifies at least 1 row', 'every line misclassifies at least 2 rows')
    """
    return f"every {plane} misclassifies at least {counted(least, 'row')}"


def least_cost(plane: str, least: str) -> str:
    """A proved lower bound, as a text, on the mistakes of every rule or on their sample_weight.

    >>> least_cost("rule", "2.5")
    'every rule makes at least 2.5 mistakes'
    """
    return f"every {plane} makes at least {least} mistake{'' if least == '1' else 's'}"


def fewest_mistakes_clause(mistakes: int, least: int) -> str:
    """The fewest mistakes, of which a rule and a lower bound are known.

    >>> fewest_mistakes_clause(35, 12), fewest_mistakes_clause(2, 2)
    ('fewest mistakes: from 12 to 35', 'fewest mistakes: 2')
    """
    return f"fewest mistakes: {f'from {least:,} to ' if least < mistakes else ''}{mistakes:,}"


def cycle_clause(none: str, periods: Iterable[int], whose: str = "its weights") -> str:
    """The statement that weights repeat exactly, and ``none``, the consequence.

    The updates of one period add up to zero, which contradicts separability.

    >>> cycle_clause("no hyperplane separates the classes", [3, 1])
    'its weights repeat every epoch or 3 epochs, so no hyperplane separates the classes'
    """
    lengths = ("epoch" if each == 1 else f"{each:,} epochs" for each in sorted({*periods}))
    return f"{whose} repeat every {' or '.join(lengths)}, so {none}"


def run_ending(*, clean: bool, period: int | None) -> str:
    """The ending of a run of the perceptron.

    >>> run_ending(clean=True, period=None), run_ending(clean=False, period=1)
    ('all rows correct', 'repeats every epoch')
    """
    if clean:
        return "all rows correct"
    if period is None:
        return "stopped"
    return "repeats every epoch" if period == 1 else f"repeats every {period:,} epochs"


# Certificates.


def verdict_claim(proof: Certificate) -> str:
    """The claim of a verdict's certificate as a sentence, with its hypotheses and numbers."""
    sides = f"{proof.positive!r} from {_negative(proof)}"
    clause = verdict_clause(proof.kind, _stated_hyperplane(proof), sides)
    weakly = {
        "quasi-separable": " strictly, but one separates them weakly, some rows of them strictly",
        "inseparable": ", not even weakly",
    }.get(proof.kind, "")
    text = f"{kind_in_words(proof.kind).capitalize()}: {clause}{weakly}, {_extent(proof)}."
    if proof.margin is not None:
        bias = "With the bias as a weight, " if proof.fit_intercept else ""
        text += f" {bias}γ is in [{proof.margin.lo!r}, {proof.margin.hi!r}]"
        if proof.mistake_bound is not None:
            text += f", ⌊R²/γ²⌋ is at most {proof.mistake_bound:,}"
        text += "."
    free = proof.geometric_margin
    if free is not None:
        text += f" With a free bias, the margin is in [{free.lo!r}, {free.hi!r}]."
    return text


def error_bound_claim(proof: ErrorBound, cost: str | None) -> str:
    """The claim of a lower bound's certificate as a sentence, with its hypotheses.

    The bound is a number of rows or, if ``cost`` is given, a sum of their sample_weight.
    """
    plane = _stated_hyperplane(proof)
    text = least_mistakes(plane, int(proof.bound))
    if cost is not None:
        text = f"every {plane} misclassifies rows with a total sample_weight of at least {cost}"
    sides = f"{proof.positive!r} against {_negative(proof)}"
    return f"{text[0].upper()}{text[1:]}, {sides}, {_extent(proof)}."


def search_clause(operations: int) -> str:
    """The statement that the proof of a lower bound is a search of all rules.

    >>> search_clause(12_000)
    'a search of all hyperplanes proves it, repeated in about 12,000 operations'
    """
    return f"a search of all hyperplanes proves it, repeated in about {operations:,} operations"


def _stated_hyperplane(proof: Certificate | ErrorBound) -> str:
    """The words for a hyperplane with or without a bias, which every certificate states."""
    return f"hyperplane {'with a bias' if proof.fit_intercept else 'through the origin'}"


def _negative(proof: Certificate | ErrorBound) -> str:
    return "the rest" if proof.negative is None else repr(proof.negative)


def _extent(proof: Certificate | ErrorBound) -> str:
    return f"in {counted(proof.n, 'row')} of {counted(proof.d, 'column')}"


# Systems of inequalities.


def conflict_clause(rows: str, count: int, *, kept: bool, irreducible: bool = True) -> str:
    """The statement that ``count`` rows contradict each other, and whether all are needed.

    ``kept`` says that some of the rows must be kept, so that only the other rows may be given up.

    >>> conflict_clause("these rows", 3, kept=False)
    'these rows contradict each other, and no fewer of them do (an irreducible infeasible subset, \
IIS)'
    """
    if count == 1:
        return f"no point satisfies {rows}"
    if not irreducible:
        return f"{rows} contradict each other"
    if kept:
        return f"{rows} contradict each other, and every row that is not kept is needed for that"
    fewer = "no fewer of them do (an irreducible infeasible subset, IIS)"
    return f"{rows} contradict each other, and {fewer}"


# The answer if the rows that must be kept, or bounds at 0, contradict each other.
KEPT_ROWS_CONTRADICT = (
    "rows that may not give way contradict each other: giving up other rows cannot help"
)


def relaxation_claim(by: str, least: str, most: str, *, weighted: bool) -> str:
    """The statement of bounds on what must give way; ``most`` is empty if no point is known.

    >>> relaxation_claim("rows", "1", "2", weighted=False)
    'At least 1 of the rows must be given up so that a point satisfies the others, and 2 are enough'
    >>> relaxation_claim("max", "1/2", "", weighted=True)
    'Every point violates some row by at least 1/2 (times the weight of the row)'
    """
    if by == "rows":
        what, enough = f"At least {least} of the rows", f"{most} {'is' if most == '1' else 'are'}"
        if weighted:
            what, enough = f"Rows of total weight at least {least}", f"a weight of {most} is"
        text = f"{what} must be given up so that a point satisfies the others"
        return text + (f", and {enough} enough" if most else "")
    text = f"Every point violates {_violated_by(by, least)}"
    enough = f"by {most}" if by == "total" else f"none by more than {most}"
    found = f", and a point violates {'them ' if by == 'total' else ''}{enough}" if most else ""
    return text + found + _times_weights(by, weighted=weighted)


def fewest_rows_clause(least: str, most: str, rest: str, *, count: int, weighted: bool) -> str:
    """The rows that must go, between two bounds; ``rest`` says what is feasible without them.

    ``least`` and ``most`` are numbers of rows or, if these are weighted, sums of their weights.

    >>> fewest_rows_clause("2", "2", "without a and b, …", count=2, weighted=False)
    '2 rows must go, no fewer — proved: without a and b, …'
    >>> fewest_rows_clause("1", "1.5", "without b, …", count=1, weighted=True)
    'rows of total weight at least 1 must go (proved), and 1.5 suffices: without b, …'
    """
    if least == most:
        what = f"rows of total weight {most}" if weighted else counted(count, "row")
        return f"{what} must go, no {'less' if weighted else 'fewer'} — proved: {rest}"
    enough = f"{most} suffices" if weighted else f"{counted(count, 'row')} suffice"
    return f"{must_go(least, weighted=weighted)}, and {enough}: {rest}"


def must_go(least: str, *, weighted: bool) -> str:
    """The lower bound on the rows that must be given up.

    >>> must_go("2", weighted=False)
    'at least 2 must go (proved)'
    """
    if weighted:
        return f"rows of total weight at least {least} must go (proved)"
    return f"at least {least} must go (proved)"


def least_violation_clause(by: str, least: str, most: str, *, weighted: bool) -> str:
    """The least total or largest violation; ``most`` is empty if no point is known.

    >>> least_violation_clause("total", "5", "5", weighted=False)
    'every point violates the rows by at least 5 in total — proved; the point found violates them \
by 5 in total'
    """
    text = f"every point violates {_violated_by(by, least)}"
    times = _times_weights(by, weighted=weighted)
    if not most:
        return f"{text}{times} (proved)"
    found = f"them by {most} in total" if by == "total" else f"no row by more than {most}"
    return f"{text} — proved; the point found violates {found}{times}"


def _violated_by(by: str, least: str) -> str:
    """What every point violates, and by how much."""
    if by == "total":
        return f"the rows by at least {least} in total"
    return f"some row by at least {least}"


def _times_weights(by: str, *, weighted: bool) -> str:
    """The remark that violations are multiplied by weights."""
    if not weighted:
        return ""
    return f" (times the weight{'s of the rows' if by == 'total' else ' of the row'})"


def feasible_clause(point: str = "", *, exact: bool = True) -> str:
    """The statement that a point satisfies every row.

    ``exact`` says that the point satisfies them with its exact values, not as floats.

    >>> feasible_clause("x = 1, y = 0.5", exact=False)
    'the point x = 1, y = 0.5 satisfies every row'
    """
    named = f"the point {point}" if point else "the point"
    return f"{named} satisfies every row{', exactly' if exact else ''}"


def suspected_sentence(names: Sequence[str]) -> str:
    """The remark, in an undecided answer, that a float solver calls some rows a conflict.

    >>> suspected_sentence(["money", "tea"])
    'Probably infeasible: a floating-point solver finds that these rows contradict each other, \
which is not proved: money, tea.'
    """
    rows = first_few(names, len(names))
    return (
        "Probably infeasible: a floating-point solver finds that these rows contradict each "
        f"other, which is not proved: {rows}."
    )


def tolerance_sentence(violation: Fraction) -> str:
    """The remark that a system is infeasible only by less than the tolerances of solvers.

    >>> tolerance_sentence(Fraction(1, 3 * 10**9))
    'The rows miss each other by 3.33e-10 only: solvers with tolerances may call this feasible.'
    >>> tolerance_sentence(Fraction(0))
    'Only strict rows exclude every point: solvers with tolerances may call this feasible.'
    """
    if violation == 0:
        return (
            "Only strict rows exclude every point: solvers with tolerances may call this feasible."
        )
    return (
        f"The rows miss each other by {float(violation):.3g} only: solvers with tolerances may "
        "call this feasible."
    )


def unbounded_clause(*, maximise: bool) -> str:
    """The statement that an objective has no best value."""
    course = "grows" if maximise else "falls"
    return f"the objective {course} without limit along a ray of solutions"
