"""``novikoff solve``: a file of inequalities in; a point, or a conflict, out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from novikoff.cli.exits import Interrupted
from novikoff.cli.options import Command, add_options, reject
from novikoff.cli.outputs import exit_with_answer, files_are_written, output_files
from novikoff.cli.progress import plain_text, print_lines, print_text, showing_progress
from novikoff.errors import ArgumentError, DataError
from novikoff.formats import certificate_file
from novikoff.formats.files import write_files
from novikoff.names import METHOD_NAMES, POINTS, RELAXATIONS, ROWS_SHOWN, SYSTEM_FORMATS

if TYPE_CHECKING:
    from novikoff.jobs.system_study import SystemStudy

_ANSWERS = ["feasible", "infeasible", "optimal", "unbounded"]

_system_options = add_options("What is asked", [
    click.option("--point", type=click.Choice(POINTS), default="any", show_default=True,
                 help="The solution to find: any point, the nearest to the origin, a point in the "
                 "relative interior, or the Chebyshev centre (of a largest ball inside)."),
    click.option("--objective", metavar="TEXT", help='Also find the best value of an objective, '
                 'exactly: "max 3 tea + 2 bread", or "file" for the objective of FILE.'),
    click.option("--keep", multiple=True, metavar="ROW", help="A row that must be kept, such as a "
                 "fact: the conflict is irreducible among the other rows. Also a pattern (law_*), "
                 "or rows, equalities, bounds, or signs (bounds at 0). May be repeated."),
    click.option("--blame", multiple=True, metavar="ROW", help="Rows, as for --keep, that the "
                 "conflict should blame alone if it can. If repeated, the first are preferred."),
    click.option("--relax", type=click.Choice(RELAXATIONS), help="If infeasible, also find what "
                 "must give way: the fewest rows, or the least violation in total or at most, "
                 "between proved bounds."),
    click.option("--disjoint-conflicts", is_flag=True, help="Find several conflicts that share no "
                 "row, though not every conflict that exists. At least one row of each must go."),
    click.option("--tolerance", metavar="NUMBER", help="How far a point may violate each row and "
                 "each bound, as in solvers with tolerances. [default: 0]"),
    click.option("--method", type=click.Choice(METHOD_NAMES), default="auto", show_default=True,
                 metavar="NAME", help="The method. auto always decides. The others are for study: "
                 f"{', '.join(METHOD_NAMES[1:])}. Every answer is verified."),
    click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="The time for all answers together. An answer that is not proved by then "
                 "is undecided."),
    click.option("--require", type=click.Choice(_ANSWERS), help="Exit with code 1 if the answer "
                 "differs, or is about the relaxation of an integer model only. optimal and "
                 "unbounded need --objective; both are feasible, too."),
])  # fmt: skip
_file_options = add_options("Files", [
    click.option("--from", "from_", type=click.Choice([*SYSTEM_FORMATS]),
                 help="The format of FILE. [default: from its name]"),
    click.option("--format", "format_", type=click.Choice(["text", "json", "html"]), default="text",
                 show_default=True, help="Output format."),
    click.option("--rows", type=click.IntRange(1), default=ROWS_SHOWN, show_default=True,
                 metavar="N", help="The number of rows of a conflict that the text shows."),
    click.option("--out", type=click.Path(), metavar="FILE", help="Write the report to this file. "
                 "[default: standard output]"),
    click.option("--certificate", type=click.Path(), metavar="FILE", help="Write a certificate of "
                 "the answer and of what must give way, which novikoff verify checks. A best value "
                 "has no certificate."),
    click.option("--conflict-lp", type=click.Path(), metavar="FILE", help="Write the rows of the "
                 "conflict to this file as a model in LP format."),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """The options of ``novikoff solve``."""

    point: str
    method: str
    keep: tuple[str, ...]
    blame: tuple[str, ...]
    relax: Literal["rows", "total", "max"] | None
    disjoint_conflicts: bool
    tolerance: str | None
    objective: str | None
    budget: float | None
    require: str | None
    from_: str | None
    format_: Literal["text", "json", "html"]
    rows: int
    out: str | None
    certificate: str | None
    conflict_lp: str | None
    force: bool

    def __post_init__(self) -> None:
        conflict_options = {
            "--relax": self.relax,
            "--disjoint-conflicts": self.disjoint_conflicts,
            "--blame": self.blame,
            "--tolerance": self.tolerance,
        }
        first = next((name for name, value in conflict_options.items() if value), "")
        reject(
            (
                self.objective is not None and (self.point, self.method) != ("any", "auto"),
                "--objective cannot be used with --point or --method: it finds the best point.",
            ),
            (
                self.objective is not None and bool(first),
                f"--objective cannot be used with {first}.",
            ),
            (
                bool(self.blame) and (self.point, self.method) != ("any", "auto"),
                "--blame cannot be used with --point or --method.",
            ),
            (
                self.tolerance is not None and self.certificate is not None,
                "--tolerance cannot be used with --certificate: certificates are about the rows "
                "as they are.",
            ),
            (
                self.point == "nearest" and self.method != "auto",
                "--point nearest cannot be used with --method: the methods find any point.",
            ),
        )
        if self.tolerance is not None:
            try:
                wrong = Fraction(self.tolerance) < 0
            except (ValueError, ZeroDivisionError):
                wrong = True
            reject((wrong, f"--tolerance must be a number from 0 on, not {self.tolerance!r}."))


@_file_options
@_system_options
@click.command("solve", cls=Command)
@click.argument("file", type=click.Path())
def command(file: str, **values: Any) -> None:
    """Find a point that satisfies linear inequalities, or an irreducible conflict, with proof.

    FILE is CSV, MPS, LP format, or npz with the arrays of nv.solve; text may be compressed by gzip
    or bzip2; - is standard input. A CSV file has a column of coefficients for each variable, a
    column with <=, >=, =, < or >, and a column of right-hand sides; row names may come first.
    Decimal numbers are taken exactly.

    \b
    Examples:
      novikoff solve diet.csv
      novikoff solve plan.mps.gz --keep budget --certificate plan.cert.json
      novikoff solve plan.lp --relax rows --keep 'law_*'
      novikoff solve diet.lp --objective file --format json > report.json
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    from novikoff.jobs.system_study import (  # these load Numba
        SystemOptions,
        find_implicit_equalities,
        study_system,
    )
    from novikoff.report.system_report import further_lines, verdict_lines

    asked = SolveOptions(**values)
    outputs = {
        "report": asked.out,
        "certificate": asked.certificate,
        "conflict": asked.conflict_lp,
    }
    targets = output_files(outputs, file, force=asked.force)
    options = SystemOptions(
        point=asked.point,
        method=asked.method,
        keep=asked.keep,
        disjoint_conflicts=asked.disjoint_conflicts,
        relax=asked.relax,
        blame=asked.blame,
        tolerance=asked.tolerance,
        objective=asked.objective,
        budget=asked.budget,
        format=asked.from_,
        rows=asked.rows,
    )
    with showing_progress() as show:
        try:
            study = study_system(file, options, show)
        except ArgumentError as error:
            if error.argument != "format":
                raise
            raise DataError(f"--from {error.reason}") from None
        interrupted = _was_interrupted(show)
    at_once = asked.format_ == "text" and "report" not in targets
    if at_once:  # the verdict is printed before anything that takes longer
        print_lines(verdict_lines(study))
        sys.stdout.flush()
    with showing_progress() as show:
        find_implicit_equalities(study, show)
        study = _write(study, asked, targets)
    with files_are_written(written=bool(targets)):
        if at_once:
            print_lines(further_lines(study))
        elif "report" not in targets:
            print_text(_report(study, asked))
    if interrupted:
        raise Interrupted("interrupted: the report says what is known.")
    kinds: list[str] = [
        study.solution.kind,
        *([] if study.optimum is None else [study.optimum.kind]),
    ]
    kinds, about = (["undecided"] if study.kind == "undecided" else kinds), ""
    if kinds[0] == "feasible" and study.solution.relaxed and not study.whole:
        kinds = [f"relaxation {kind}" for kind in kinds]
        about = ": integer variables take fractional values"
    exit_with_answer(kinds, asked.require, what="answer", about=about)


def _was_interrupted(show: Callable[[str], None]) -> bool:
    """Whether Ctrl-C was pressed; the solver takes it as the end of its time."""
    try:
        show("solving")
    except KeyboardInterrupt:
        return True
    return False


def _report(study: SystemStudy, asked: SolveOptions) -> str:
    """Return the whole report in the format that was asked for."""
    from novikoff.report.system_report import system_html, system_json, system_lines

    if asked.format_ == "json":
        return system_json(study)
    return system_html(study) if asked.format_ == "html" else plain_text(system_lines(study))


def _write(study: SystemStudy, asked: SolveOptions, targets: dict[str, Path]) -> SystemStudy:
    """Write the files; return the study with their names."""
    contents: dict[Path, bytes | None] = {}  # None removes the file of an earlier answer
    named: dict[str, str] = {}
    if "certificate" in targets:
        text: str | None = None
        if study.proofs:
            origin = {"source": study.source, "format": study.file.format}
            text = certificate_file.dump_proofs(study.proofs, origin).text
            named["certificate"] = str(targets["certificate"])
        contents[targets["certificate"]] = None if text is None else text.encode()
    if "conflict" in targets:
        from novikoff.systems.explanation import Explanation

        text = None
        if study.solution.kind == "infeasible":
            text = Explanation(study.answers[0], study.source).to_lp()
            named["model"] = str(targets["conflict"])
        contents[targets["conflict"]] = None if text is None else text.encode()
    study = replace(study, files=named)
    if "report" in targets:
        contents[targets["report"]] = _report(study, asked).encode()
    write_files(contents, force=asked.force)
    return study
