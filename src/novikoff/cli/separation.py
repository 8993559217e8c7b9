"""``novikoff separation``: whether the maximum-likelihood estimate of a model exists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from novikoff.cli.options import (
    Command,
    FileOptions,
    add_options,
    flag,
    given_options,
    layout_options,
    names,
    reject,
)
from novikoff.cli.outputs import exit_with_answer, files_are_written, output_files
from novikoff.cli.progress import (
    plain_text,
    print_lines,
    print_text,
    showing_progress,
)
from novikoff.formats.files import Content, write_files
from novikoff.names import DATA_FORMATS, ORDERED_FAMILIES

if TYPE_CHECKING:
    from novikoff.jobs.separation_study import SeparationStudy

_FAMILIES = ["binomial", "poisson", "negative-binomial", "multinomial", "cumulative", "adjacent",
             "sequential", "cox", "conditional-logit", "choice", "rank-ordered",
             "bradley-terry"]  # fmt: skip
# What --require asks for, and the kind that it stands for.
_KINDS_BY_WORD = {
    "overlap": "overlap",
    "complete": "complete separation",
    "quasi-complete": "quasi-complete separation",
}
_GROUPED = ("conditional-logit", "choice", "rank-ordered")

_model_options = add_options("The model", [
    click.option("--outcome", "--label", "label", metavar="NAME", help="The column of the outcome. "
                 "Not for cox and bradley-terry."),
    click.option("--family", default="binomial", show_default=True, metavar="NAME",
                 help=f"The model: {', '.join(_FAMILIES)}."),
    click.option("--link", metavar="NAME", help="The link: logit, probit, cloglog, loglog, cauchit "
                 "or log. [default: that of the family]"),
    click.option("--formula", metavar="TEXT", help='The model as a formula, such as "died ~ age + '
                 'C(colour)"; without an outcome, it is that of --outcome. Needs '
                 "novikoff[formula]."),
    click.option("--weights", metavar="NAME", help="A column of weights: rows of weight 0 are left "
                 "out."),
    click.option("--trials", metavar="NAME", help="The column of the number of trials, if the "
                 "outcome is the number of successes."),
    click.option("--duration", metavar="NAME", help="cox: the column of the time at which a row "
                 "ends."),
    click.option("--event", metavar="NAME", help="cox: the column that is 1 if the row ends with "
                 "an event, and 0 if it is censored. [default: all are events]"),
    click.option("--entry", metavar="NAME", help="cox: the column of the time at which a row "
                 "begins to be at risk."),
    click.option("--strata", metavar="NAME", help="cox: the column of the strata."),
    click.option("--ties", type=click.Choice(["efron", "breslow", "exact"]), default="efron",
                 show_default=True, help="cox: how tied events are treated."),
    click.option("--groups", metavar="NAME", help="conditional-logit, choice and rank-ordered: the "
                 "column of the groups."),
    click.option("--factors", "--one-hot", "one_hot", metavar="A,B,…", help="Columns of numbers "
                 "that are factors. Columns of text always are."),
    click.option("--reference", multiple=True, metavar="COLUMN=LEVEL", help="The reference level "
                 "of a factor; of the outcome, the class that is coded as 0 or is the baseline. "
                 "For bradley-terry, wins=NAME. May be repeated. [default: the first level]"),
    click.option("--levels", metavar="A,B,…", help="cumulative, adjacent and sequential: the "
                 "categories of the outcome in their order. [default: sorted]"),
    click.option("--no-intercept", is_flag=True, help="A model without an intercept."),
    click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="The time for deciding. What is not proved by then is undecided."),
    click.option("--require", type=click.Choice([*_KINDS_BY_WORD]), help="Exit with code 1 if the "
                 "verdict differs: overlap means that finite estimates exist."),
])  # fmt: skip
_table_options = add_options("Reading the file", [
    click.option("--features", metavar="A,B,…", help="Use only these columns as covariates. "
                 "[default: all other columns]"),
    click.option("--drop", metavar="A,B,…", help="Ignore these columns."),
    click.option("--id", "id_", metavar="NAME", help="A column that names the rows and is not a "
                 "covariate."),
    click.option("--missing", type=click.Choice(["error", "drop"]), help="Treat missing values as "
                 "an error, or drop their rows. [default: error]"),
    *layout_options,
    click.option("--from", "from_", type=click.Choice([*DATA_FORMATS]), help="The format of FILE. "
                 "[default: detected from the name or the first bytes]"),
])  # fmt: skip
_writing_options = add_options("Files", [
    click.option("--format", "format_", type=click.Choice(["text", "json", "html"]), default="text",
                 show_default=True, help="Output format."),
    click.option("--out", type=click.Path(), metavar="FILE", help="Write the report to this file. "
                 "[default: standard output]"),
    click.option("--rows", type=click.Path(), metavar="FILE", help="Write a CSV of the rows "
                 "with a column separated: 1 for separated rows, 0 for others, empty for rows of "
                 "weight 0. Rows dropped for missing values are not in it."),
    click.option("--certificate", type=click.Path(), metavar="FILE", help="Write a certificate of "
                 "the verdict, which novikoff verify checks against FILE."),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SeparationCommand(FileOptions):
    """The options of ``novikoff separation``."""

    family: str
    link: str | None
    formula: str | None
    weights: str | None
    trials: str | None
    duration: str | None
    event: str | None
    entry: str | None
    strata: str | None
    ties: str
    groups: str | None
    reference: tuple[str, ...]
    levels: str | None
    no_intercept: bool
    budget: float | None
    require: str | None
    format_: Literal["text", "json", "html"]
    out: str | None
    rows: str | None
    certificate: str | None
    force: bool
    named: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        cox, grouped = self.family == "cox", self.family in _GROUPED
        levels = [text.partition("=") for text in self.reference]
        reject(
            *(
                (not name or not mark or not level, f"--reference {name}{mark}{level} must be "
                 "COLUMN=LEVEL.")
                for name, mark, level in levels
            ),
            (cox and self.label, "--outcome does not apply to --family cox: it has --duration and "
             "--event."),
            (cox and not (self.duration or self.formula), "--family cox needs --duration."),
            (self.formula and self.label and self.formula.rpartition("~")[0].strip()
             not in ("", self.label), "--outcome cannot be used with a --formula that has another "
             "outcome."),
            (self.formula and (self.features or self.one_hot or self.no_intercept),
             "--features, --factors and --no-intercept cannot be used with --formula: write "
             "C(column) for a factor, and 0 + … for no intercept."),
            (self.levels and self.family not in ORDERED_FAMILIES, "--levels is for "
             "cumulative, adjacent and sequential models."),
            (self.levels and self.formula and not self.label, "--levels needs --outcome."),
            (self.formula and self.family == "bradley-terry", "--formula does not apply to "
             "--family bradley-terry: FILE is the table of wins."),
            (grouped and not self.groups, f"--family {self.family} needs --groups."),
            (self.groups and self.id_, "--id cannot be used with --groups: the groups name the "
             "rows."),
            (self.family == "bradley-terry" and self.label, "--outcome does not apply to --family "
             "bradley-terry: FILE is the table of wins."),
        )  # fmt: skip
        roles = {name: getattr(self, name) for name in
                 ("label", "weights", "trials", "duration", "event", "entry", "strata", "groups",
                  "id_")}  # fmt: skip
        option_of: dict[str, str] = {}
        for name, column in roles.items():
            option = "--outcome" if name == "label" else f"--{name.rstrip('_')}"
            if column is not None:
                same = option_of.setdefault(column, option)
                reject((same != option, f"{same} and {option} name the same column, {column}."))
        self.named.update((name, level) for name, _, level in levels)

    @property
    def covariates(self) -> str | None:
        """The formula, without its outcome if --outcome names the outcome."""
        if self.formula is None or self.label is None:
            return self.formula
        return f"~ {self.formula.rpartition('~')[2].strip()}"


@_writing_options
@_table_options
@_model_options
@click.command("separation", cls=Command)
@click.argument("file", type=click.Path())
def command(file: str, **values: Any) -> None:
    """Decide whether the maximum-likelihood estimate of a model exists, with proof.

    The first line says whether finite estimates exist: complete separation and quasi-complete
    separation mean that they do not, overlap means that they do. The report says of each
    coefficient whether its estimate is finite, and names the separated rows, the columns that are
    responsible, and what can be done.

    FILE is CSV, TSV, Parquet, Arrow, npy, npz, svmlight or JSON lines; text may be gzipped; - is
    standard input. All columns without another role are covariates, and columns of text are
    factors.

    \b
    Examples:
      novikoff separation endometrial.csv --outcome HG
      novikoff separation lizards.csv --outcome grahami --trials total
      novikoff separation visits.csv --outcome count --family poisson
      novikoff separation trial.csv --family cox --duration days --event died
      novikoff separation new.parquet --outcome y --require overlap
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    asked = SeparationCommand(given=given_options(), **values)
    outputs = {"report": asked.out, "rows": asked.rows, "certificate": asked.certificate}
    targets = output_files(outputs, file, force=asked.force)
    from novikoff.data import read
    from novikoff.jobs.separation_study import SeparationOptions, study_separation
    from novikoff.report.separation_report import (
        separation_html,
        separation_json,
        separation_report_lines,
        separation_rows,
    )

    question = SeparationOptions(
        family=asked.family, link=asked.link, outcome=asked.label, formula=asked.covariates,
        weights=asked.weights, trials=asked.trials, groups=asked.groups, strata=asked.strata,
        duration=asked.duration, event=asked.event, entry=asked.entry, ties=asked.ties,
        reference=asked.named, levels=list(names(asked.levels)),
        fit_intercept=not asked.no_intercept,
    )  # fmt: skip
    contents: dict[Path, Content | None] = {}
    with showing_progress() as show:
        show(f"reading {file}")
        how = question.reading(asked.read_options())
        data = read(file, how, labelled=question.labelled, progress=show)
        study = study_separation(data, question, show, budget=asked.budget, say=flag)
        if "certificate" in targets:
            show("writing the certificate")
            contents[targets["certificate"]] = _certificate(study)
        named = {name: str(path) for name, path in targets.items() if name != "report"}
        if contents.get(targets.get("certificate", Path()), b"") is None:
            named.pop("certificate", None)
        study = replace(study, files=named)
        if "rows" in targets:
            contents[targets["rows"]] = separation_rows(study)
        text = ""
        if asked.format_ != "text":
            text = separation_json(study) if asked.format_ == "json" else separation_html(study)
        if "report" in targets:
            whole = text or plain_text(separation_report_lines(study))
            contents[targets["report"]] = whole.encode()
        write_files(contents, force=asked.force)
    with files_are_written(written=bool(contents)):
        if text and "report" not in targets:
            print_text(text)
        elif "report" not in targets:
            print_lines(separation_report_lines(study))
    required = None if asked.require is None else _KINDS_BY_WORD[asked.require]
    exit_with_answer([study.separation.kind], required)


def _certificate(study: SeparationStudy) -> bytes | None:
    """Return the contents of the certificate file; None if nothing is proved."""
    from novikoff.formats import certificate_file

    proof = study.separation.certificate
    if proof is None:
        return None
    origin = {"source": study.data.source, "model": study.asked.to_json()}
    return certificate_file.dump_proofs([proof], origin, study.data.recipe.to_json()).text.encode()
