"""``novikoff solve``: a file of inequalities in; a point, or a conflict, out."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from novikoff.cli.main import UNDECIDED, UNMET, Interrupted
from novikoff.cli.options import Command, add_options, reject
from novikoff.cli.progress import plain_text, print_lines, print_text, showing_progress
from novikoff.formats import certificate_file
from novikoff.formats.files import check_writable, write_files
from novikoff.names import METHOD_NAMES, POINTS, SYSTEM_FORMATS

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
                 "fact: the conflict is irreducible among the other rows. May be repeated."),
    click.option("--all-conflicts", is_flag=True, help="Find several conflicts that share no row, "
                 "though not every conflict that exists. At least one row of each must go."),
    click.option("--method", type=click.Choice(METHOD_NAMES), default="auto", show_default=True,
                 help="The method. auto always decides; the others are for study. Every answer is "
                 "verified."),
    click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="The time for each question. An answer that is not proved by then is "
                 "undecided."),
    click.option("--require", type=click.Choice(_ANSWERS), help="Exit with code 1 if the answer "
                 "differs. optimal and unbounded need --objective; both are feasible, too."),
])  # fmt: skip
_file_options = add_options("Files", [
    click.option("--from", "from_", type=click.Choice([*SYSTEM_FORMATS]),
                 help="The format of FILE. [default: from its name]"),
    click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text",
                 show_default=True, help="Output format."),
    click.option("--out", type=click.Path(), metavar="FILE", help="Write the report to this file. "
                 "[default: standard output]"),
    click.option("--certificate", type=click.Path(), metavar="FILE", help="Write a certificate of "
                 "the answer, which novikoff verify checks. A best value has no certificate."),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """The options of ``novikoff solve``."""

    point: str
    method: str
    keep: tuple[str, ...]
    all_conflicts: bool
    objective: str | None
    budget: float | None
    require: str | None
    from_: str | None
    format_: Literal["text", "json"]
    out: str | None
    certificate: str | None
    force: bool

    def __post_init__(self) -> None:
        same = self.out and self.certificate and Path(self.out) == Path(self.certificate)
        reject(
            (
                self.objective is not None and (self.point, self.method) != ("any", "auto"),
                "--objective cannot be used with --point or --method: it finds the best point.",
            ),
            (
                self.objective is not None and self.all_conflicts,
                "--objective cannot be used with --all-conflicts.",
            ),
            (
                self.point == "nearest" and self.method != "auto",
                "--point nearest cannot be used with --method: the methods find any point.",
            ),
            (same, "--out and --certificate name the same file."),
        )


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
      novikoff solve diet.lp --objective file --format json > report.json
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    from novikoff.jobs.system_study import SystemOptions, study_system  # these load Numba
    from novikoff.report.system_report import system_json, system_lines

    asked = SolveOptions(**values)
    out, certificate = (Path(path) if path else None for path in (asked.out, asked.certificate))
    for path in filter(None, (out, certificate)):
        same = path.exists() and Path(file).exists() and path.samefile(file)
        reject((same, f"{path} is the file to read, and cannot be overwritten."))
        check_writable(path, force=asked.force)
    options = SystemOptions(
        asked.point,
        asked.method,
        asked.keep,
        asked.all_conflicts,
        asked.objective,
        asked.budget,
        asked.from_,
    )
    with showing_progress() as show:
        study = study_system(file, options, show)
        show("writing")
        contents: dict[Path, bytes | None] = {}
        if certificate and study.proofs:
            origin = {"source": study.source, "format": study.file.format}
            contents[certificate] = certificate_file.dump_proofs(study.proofs, origin).text.encode()
            study = replace(study, files={"certificate": str(certificate)})
        elif certificate:
            contents[certificate] = None  # removes the certificate of an earlier answer
        text = system_json(study) if asked.format_ == "json" else ""
        if out:
            contents[out] = (text or plain_text(system_lines(study))).encode()
        write_files(contents, force=asked.force)
    try:
        if text and not out:
            print_text(text)
        elif not out:
            print_lines(system_lines(study))
    except KeyboardInterrupt:
        if contents:
            raise Interrupted("interrupted; all files are written.") from None
        raise
    sys.exit(_exit_code_of_system(study, asked.require))


def _exit_code_of_system(study: SystemStudy, require: str | None) -> int:
    if study.kind == "undecided":
        return UNDECIDED
    kinds = [study.solution.kind, *([] if study.optimum is None else [study.optimum.kind])]
    if require is None or require in kinds:
        return 0
    click.echo(f"novikoff: the answer is {kinds[-1]}, not {require}.", err=True)
    return UNMET
