"""``novikoff solve``: a file of inequalities in; a point, or the rows that contradict, out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from novikoff.cli.main import UNDECIDED, Interrupted
from novikoff.cli.options import adding, check
from novikoff.cli.progress import Show, plain_text, print_lines, print_text, shown

if TYPE_CHECKING:
    from novikoff.jobs.system_study import SystemStudy

_FORMATS = ["csv", "mps", "lp", "npz"]
_POINTS = ["any", "nearest", "interior", "chebyshev"]
_METHODS = ["auto", "relaxation", "perceptron", "von_neumann", "smooth", "smooth_primal_dual",
            "rescaled", "dunagan_vempala", "projection_rescaling", "spingarn"]  # fmt: skip

_OPTIONS = adding([
    click.option("--point", type=click.Choice(_POINTS), default="any", show_default=True,
                 help="Which solution: any; the one nearest to the origin; one that meets no more "
                 "rows with equality than it must; the centre of a largest ball of solutions."),
    click.option("--method", type=click.Choice(_METHODS), default="auto", show_default=True,
                 help="auto decides; the others are for learning, and what they propose is "
                 "verified all the same."),
    click.option("--keep", multiple=True, metavar="ROW", help="A row that is not to blame, such as "
                 "a fact: the conflict is minimal among the other rows. May be repeated."),
    click.option("--all-conflicts", is_flag=True, help="Several conflicts that share no row, found "
                 "one after the other (not every conflict there is): at least one row of each must "
                 "go."),
    click.option("--objective", metavar="TEXT", help='Also find the best value, exactly: "max 3 '
                 'tea + 2 bread", or "file" for the objective of the file.'),
    click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="Time for each question; what is not proved by then is undecided."),
    click.option("--from", "source_format", type=click.Choice(_FORMATS), help="The format of FILE. "
                 "Default: from its name."),
    click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
                 show_default=True, help="Output format."),
    click.option("--out", type=click.Path(), metavar="FILE", help="File for the report. Default: "
                 "standard output."),
    click.option("--certificate", type=click.Path(), metavar="FILE", help="Write the proof, which "
                 "novikoff verify checks: that of the system, not of a best value."),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
])  # fmt: skip


@click.command("solve")
@click.argument("file", type=click.Path())
@_OPTIONS
def command(file: str, **values: object) -> None:
    """Find a point that satisfies inequalities, or the few that contradict each other, with proof.

    FILE is CSV (coefficients under the names of the variables, a column with <=, >=, =, < or >, a
    right side; names of the rows may come first), MPS, LP format, or npz with the arrays of
    nv.solve; text also gzipped or bzipped; - is standard input. Decimals are exact.

    \b
    novikoff solve diet.csv
    novikoff solve plan.mps.gz --keep budget --certificate plan.cert.json
    novikoff solve diet.lp --objective file --format json > report.json
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    from novikoff.formats.files import check_writable, write_files
    from novikoff.report.system_report import lines, to_json

    asked = SimpleNamespace(**values)
    out, certificate = (path and Path(path) for path in (asked.out, asked.certificate))
    check(
        (
            asked.objective is not None and (asked.point, asked.method) != ("any", "auto"),
            "--objective excludes --point and --method: the best point is shown.",
        ),
        (
            asked.objective is not None and asked.all_conflicts,
            "--objective excludes --all-conflicts: ask for one of them.",
        ),
        (
            asked.point == "nearest" and asked.method != "auto",
            "--point nearest is for --method auto: the others propose any point.",
        ),
        (out and out == certificate, "--out and --certificate name the same file."),
    )
    for path in filter(None, (out, certificate)):
        same = path.exists() and Path(file).exists() and path.samefile(file)
        check((same, f"{path} is the file to read: it is not replaced by its report."))
        check_writable(path, force=asked.force)
    with shown() as show:
        study = _study(file, asked, show)
        show("writing", None)
        contents: dict[Path, bytes | None] = {}
        if certificate and study.proofs:
            contents[certificate] = _proofs(study)
            study = replace(study, files={"certificate": str(certificate)})
        elif certificate:
            contents[certificate] = None  # that of an earlier run would prove another answer
        text = to_json(study) if asked.form == "json" else ""
        if out:
            contents[out] = (text or plain_text(lines(study))).encode()
        write_files(contents, force=asked.force)
    try:
        if text and not out:
            print_text(text)
        elif not out:
            print_lines(lines(study))
    except KeyboardInterrupt:
        if contents:
            raise Interrupted("interrupted; all files are written.") from None
        raise
    sys.exit(UNDECIDED if study.kind == "undecided" else 0)


def _study(file: str, asked: SimpleNamespace, show: Show) -> SystemStudy:
    from novikoff.jobs.system_study import SystemOptions, study_system

    options = SystemOptions(
        asked.point,
        asked.method,
        asked.keep,
        asked.all_conflicts,
        asked.objective,
        asked.budget,
        asked.source_format,
    )
    return study_system(file, options, show)


def _proofs(study: SystemStudy) -> bytes:
    from novikoff.formats import certificate_file

    origin = {"source": study.source, "format": study.file.format}
    return certificate_file.dump_proofs(study.proofs, origin).encode()
