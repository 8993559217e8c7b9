"""The report of ``novikoff solve`` as lines of text, and as JSON.

A conflict is shown as a sum: each row with its multiplier, and the contradiction that they add up
to. ``system.schema.json`` describes the JSON. Its exact numbers are texts, such as "1/3".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, TypeVar

from novikoff import __version__
from novikoff.core.stops import Limits
from novikoff.data.messages import printable_name
from novikoff.formats.file_names import PAGE_MARK
from novikoff.proofs.system_statement import LinearSystem
from novikoff.report.json_text import finite_or_null, to_json_text
from novikoff.sentences import (
    KEPT_ROWS_CONTRADICT,
    conflict_clause,
    counted,
    feasible_clause,
    first_few,
    interval,
    proved_sentence,
    short_number,
    suspected_sentence,
    unbounded_clause,
)
from novikoff.systems.conflict_table import (
    conflict_lines,
    conflict_table,
    conflict_values,
    exact_number,
    pretty,
    row_values,
)
from novikoff.systems.distances import largest_violation, nearest_boundary
from novikoff.systems.solution import Solution, named_row

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval
    from novikoff.jobs.system_study import SystemStudy
    from novikoff.systems.conflicts import Conflicts
    from novikoff.systems.linear_program import Optimum
    from novikoff.systems.relaxation import Relaxation

SYSTEM_REPORT_VERSION = 1
Value = TypeVar("Value")
# The text shows at most this many lines of a point; the JSON has all of them.
_MAX_LINES = 20
_MAX_NAMES = 8
# Below this distance from the boundary, the text suggests a point that is farther inside.
_SMALL_DISTANCE = 1e-6


def system_json(study: SystemStudy) -> str:
    """Return the report as JSON."""
    solution, stated, best = study.solution, study.solution.system.stated, study.optimum
    feasible, w, violation = solution.kind == "feasible", (best or solution).w, None
    if w is not None:
        violation = largest_violation(solution.system, w) if best else solution.violation

    def by_name(values: Iterable[Value] | None) -> dict[str, Value] | None:
        return None if values is None else dict(zip(stated.variables, values, strict=True))

    def exactly(values: Sequence[Fraction] | None) -> dict[str, str] | None:
        return by_name(None if values is None else map(str, values))

    body = {
        "schema_version": SYSTEM_REPORT_VERSION,
        "program": f"novikoff {__version__}",
        "system": {
            "source": study.source,
            "format": study.file.format,
            "rows": study.file.stated.m,
            "variables": stated.d,
            "bounds": _bounds(study),
            "notes": list(study.file.notes),
        },
        "kind": solution.kind,
        "relaxed": solution.relaxed,
        "whole": study.whole if feasible else None,
        "tolerance": str(solution.tolerance),
        "ended": study.ended or None,
        "suspected": [row_values(row) for row in solution.suspected],
        "w": by_name(None if w is None else map(finite_or_null, w.tolist())),
        "point_found": solution.point_found if feasible else None,
        "exact_w": exactly(study.exact_w),
        "interior": solution.interior if feasible else None,
        "implicit_equalities": [row_values(row) for row in solution.implicit_equalities or ()]
        if feasible and solution.interior != "unknown"
        else None,
        "radius": _ends(solution.radius) if study.with_radius else None,
        "conflict": conflict_values(study.answers[0]) if solution.kind == "infeasible" else None,
        "conflicts": None
        if study.conflicts is None
        else {
            "listed": [conflict_values(answer) for answer in study.answers],
            "complete": study.conflicts.complete,
            "relaxed": study.conflicts.relaxed,
        },
        "relaxation": None if study.relaxation is None else relaxation_values(study.relaxation),
        "violation": None if violation is None else finite_or_null(violation),
        "objective": None
        if best is None
        else {
            "kind": best.kind,
            "value": _ends(best.value),
            "exact_value": None if best.exact_value is None else str(best.exact_value),
            "dual": [row_values(row) for row in best.dual],
            "ray": exactly(best.ray),
        },
        "steps": solution.n_steps,
        "files": dict(study.files),
        "seconds": study.seconds,
    }
    return to_json_text(body)


def system_html(study: SystemStudy) -> str:
    """Return the report as one self-contained HTML page."""
    from novikoff.report.html import html_page  # loads the modules of the pictures

    kind, sentence = _verdict(study)
    clause = sentence.removeprefix(kind).lstrip(" ,—")
    style = {"feasible": "separable", "infeasible": "inseparable"}.get(
        study.solution.kind, "undecided"
    )
    body = [
        f"<h1>{escape(printable_name(study.source))}</h1>",
        f'<p><span class="kind {style}">{escape(kind)}</span> {escape(clause)}</p>',
        f"<p>{'<br>'.join(escape(text) for _, text in _system_lines(study))}</p>",
    ]
    if study.solution.kind == "infeasible":
        for heading, answer in _headed_conflicts(study):
            body += _conflict_html(heading, answer, study.asked.rows)
    body += _sections([*_answer_lines(study), *further_lines(study)])
    body.append(f"<footer>novikoff {__version__} · {study.seconds:.2f} s</footer>")
    start = PAGE_MARK.replace(b"novikoff fit", b"novikoff solve")
    return html_page(f"{study.source}: {kind}", "\n".join(body), start)


def _conflict_html(heading: str, answer: Solution, shown: int | None) -> Iterator[str]:
    """Yield a conflict as a table, and what would end it."""
    from novikoff.report.html import table_with_heading  # loads the modules of the pictures

    table = conflict_table(answer, shown)
    yield f"<h2>{escape(heading.capitalize())}</h2>"
    yield table_with_heading(("times", "row", "formula"), table.rows)
    yield from (f"<p>{escape(note)}</p>" for note in table.notes)
    yield from _sections(table.advice)


def _sections(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a section for each heading, with its further lines as a list."""
    parts: list[tuple[str, list[str]]] = []
    for heading, text in lines:
        if heading or not parts:
            parts.append((heading, []))
        parts[-1][1].append(text)
    for heading, texts in parts:
        listed = "".join(f"<li>{escape(text)}</li>" for text in texts[1:])
        title = f"<h2>{escape(heading.capitalize())}</h2>" if heading else ""
        yield f"{title}<p>{escape(texts[0])}</p>" + (f"<ul>{listed}</ul>" if listed else "")


def system_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each line; a continued line has an empty heading."""
    yield from verdict_lines(study)
    yield from further_lines(study)


def verdict_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Yield the lines about the system, the verdict and its proof, which are known first."""
    yield from _system_lines(study)
    _, sentence = _verdict(study)
    yield "verdict", sentence
    if study.solution.kind == "infeasible":
        for heading, answer in _headed_conflicts(study):
            yield from conflict_lines(answer, heading, study.asked.rows)
    yield from _answer_lines(study)


def _system_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    stated, bounds = study.file.stated, _bounds(study)
    size = f"{counted(stated.m, 'row')} · {counted(stated.d, 'variable')}"
    size += f" · {counted(bounds, 'bound')}" if bounds else ""
    yield "system", f"{study.source} · {size}"
    for note in study.file.notes:
        yield "", note


def _verdict(study: SystemStudy) -> tuple[str, str]:
    """Return the kind of the answer in words, and the sentence, which begins with the kind."""
    return _VERDICTS[study.solution.kind](study)


def _answer_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Yield the lines about the answer that follow the verdict and the conflicts."""
    yield from _LINES_BY_KIND[study.solution.kind](study)


def _headed_conflicts(study: SystemStudy) -> Iterator[tuple[str, Solution]]:
    """Yield the heading of each conflict, and the answer that has it."""
    for k, answer in enumerate(study.answers):
        yield f"conflict {k + 1}" if len(study.answers) > 1 else "conflict", answer


def further_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Yield the lines about the boundary, about rows that hold with = everywhere, and about files.

    Finding these rows may take longer than the verdict.
    """
    solution = study.solution
    if solution.kind == "feasible":
        yield from _boundary_lines(study)
        equal = solution.implicit_equalities
        if equal:
            named = first_few([row.name for row in equal], len(equal), _MAX_NAMES)
            yield "equalities", f"in every solution these rows hold with =: {named}"
        elif equal is None:
            yield "", "whether rows hold with = in every solution was not found in time"
    about = " (about the point, not about the best value)" if study.optimum is not None else ""
    for name, path in study.files.items():
        yield name, f"{path}{about if name == 'certificate' else ''}"


def _feasible_verdict(study: SystemStudy) -> tuple[str, str]:
    solution = study.solution
    kind, clause = "feasible", feasible_clause()
    if solution.relaxed and not study.whole:
        kind = "relaxation feasible"
        clause += ", but integer variables take fractional values"
    if solution.tolerance:
        clause = f"within a tolerance of {float(solution.tolerance):g}, {clause}"
    return kind, proved_sentence(kind, clause)


def _feasible_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    solution, best, stated = study.solution, study.optimum, study.solution.system.stated
    if best is not None:
        maximise = isinstance(stated, LinearSystem) and stated.maximise
        yield from _objective(best, maximise=maximise, relaxed=solution.relaxed)
    point = list(zip(stated.variables, study.exact_w or (), strict=True))
    width = max(len(name) for name, _ in point[:_MAX_LINES])
    for k, (name, value) in enumerate(point[:_MAX_LINES]):
        yield "" if k else "point", f"{name:{width}}  {pretty(exact_number(value))}"
    if len(point) > _MAX_LINES:
        yield "", f"… and {len(point) - _MAX_LINES:,} more (--format json has all)"
    if not solution.point_found:
        asked = study.asked.point
        why = "does not exist: strict rows exclude it" if asked == "nearest" else "was not found"
        yield "", f"this is a solution, but not that of --point {asked}, which {why}"
    if study.with_radius and best is None:
        yield "radius", f"of the largest ball of solutions {interval(solution.radius)}"


def _boundary_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Say how far the point is from the nearest boundary, or on which boundaries it lies."""
    system, proof = study.solution.system, study.solution.certificate
    equal = () if proof is None or proof.implicit is None else proof.implicit.rows
    rows, away = nearest_boundary(system, study.exact_w or (), equal, Limits())
    other = "interior" if equal else "chebyshev"
    final = study.optimum is not None or study.with_radius
    advice = "" if final else f"; --point {other} finds a point inside"
    names = [named_row(system.stated, k).name for k in rows[:_MAX_NAMES]]
    if away == 0.0:
        named = first_few(names, len(rows), _MAX_NAMES)
        yield "boundary", f"the point lies on the boundary of {named}{advice}"
    elif math.isfinite(away):
        text = f"the nearest boundary is that of {names[0]}, {short_number(away)} away"
        yield "boundary", text + (advice if away < _SMALL_DISTANCE else "")


def _objective(best: Optimum, *, maximise: bool, relaxed: bool) -> Iterator[tuple[str, str]]:
    end = "greatest" if maximise else "least"
    end = f"relaxation's {end}" if relaxed else end
    if best.kind == "unbounded":
        yield "objective", proved_sentence("unbounded", unbounded_clause(maximise=maximise))
    elif best.exact_value is None:
        ends = pretty(f"{best.value.lo:.17g} and {best.value.hi:.17g}").replace("inf", "∞")
        yield "objective", f"undecided: the {end} value is between {ends}"
    else:
        yield "objective", f"the {end} value is {pretty(exact_number(best.exact_value))}, proved"


def _infeasible_verdict(study: SystemStudy) -> tuple[str, str]:
    answers = study.answers
    kept = any(answer.proof and answer.proof.witnesses for answer in answers)
    rows, count = "these rows", len(answers[0].conflict)
    if len(answers) > 1:
        rows, count = "the rows of each conflict", max(len(answer.conflict) for answer in answers)
    elif count == 1:
        rows = "this row"
    clause = conflict_clause(rows, count, kept=kept)
    if study.solution.tolerance:
        clause = f"even within a tolerance of {float(study.solution.tolerance):g}: {clause}"
    return "infeasible", proved_sentence("infeasible", clause)


def _infeasible_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    if study.conflicts is not None:
        yield "", _what_must_go(study, study.conflicts)
    if study.relaxation is not None:
        yield from study.relaxation.lines()


def _what_must_go(study: SystemStudy, conflicts: Conflicts) -> str:
    """How many rows must be given up because of conflicts that share no row."""
    if conflicts.among_kept:
        return KEPT_ROWS_CONTRADICT
    count, many = len(study.answers), "at least 1 row"
    if count > 1:
        least = f"share no row: at least {count} rows"
        if study.solution.system.stated.kept:
            least = f"share no row but those kept: at least {count} others"
        many = f"these {count} conflicts {least}, one of each,"
    rest = f"{'the relaxation of ' if conflicts.relaxed else ''}the rest"
    rest = f"; if all rows shown go, {rest} is feasible" if conflicts.complete else ""
    fewest = "" if study.asked.relax else "; --relax rows finds the fewest rows that must go"
    return f"{many} must go{rest}{fewest}"


def _undecided_verdict(study: SystemStudy) -> tuple[str, str]:
    is_auto = study.asked.method == "auto"
    advice = "--budget SECONDS gives it more" if is_auto else "--method auto decides"
    return "undecided", f"undecided — {study.solution.ended} before a proof was found; {advice}"


def _undecided_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    solution = study.solution
    if solution.suspected:
        names = [row.name for row in solution.suspected]
        yield "", suspected_sentence(names)
    if solution.w is not None:
        yield "", f"the best point found violates a row by {short_number(solution.violation)}"


_VERDICTS = {
    "feasible": _feasible_verdict,
    "infeasible": _infeasible_verdict,
    "undecided": _undecided_verdict,
}
_LINES_BY_KIND = {
    "feasible": _feasible_lines,
    "infeasible": _infeasible_lines,
    "undecided": _undecided_lines,
}


def relaxation_values(relaxation: Relaxation) -> dict[str, object]:
    """Return what must give way as JSON values."""
    most = relaxation.most
    return {
        "by": relaxation.by,
        "kind": relaxation.kind,
        "least": str(relaxation.least),
        "most": None if most is None else str(most),
        "relaxed": relaxation.relaxed,
        "whole": None if relaxation.exact_w is None else relaxation.whole,
        "ended": relaxation.ended or None,
        "rows": [
            {
                "kind": row.kind,
                "index": row.index,
                "name": row.name,
                "gives_way_by": str(row.gives_way_by),
                "old_side": str(row.old_side),
                "new_side": str(row.new_side),
            }
            for row in relaxation.rows
        ],
        "conflicts": [conflict_values(answer) for answer in relaxation.conflicts],
    }


def _ends(bounds: Interval) -> list[float | None]:
    return [finite_or_null(bounds.lo), finite_or_null(bounds.hi)]


def _bounds(study: SystemStudy) -> int:
    system = study.solution.system
    return int((system.numbers >= system.stated.m).sum())
