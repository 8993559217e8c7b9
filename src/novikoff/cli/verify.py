"""``novikoff verify``: check a certificate against data. The solver is not imported."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from novikoff.cli.exits import Unmet
from novikoff.cli.options import (
    Command,
    TableOptions,
    cluster_option,
    file_options,
    flag,
    given_options,
    memory_options,
    reject,
)
from novikoff.cli.progress import print_lines, showing_progress
from novikoff.core.stops import Limits
from novikoff.data import Dataset, ReadOptions, Recipe, read
from novikoff.data.messages import all_quoted, quoted
from novikoff.data.source import parquet_files
from novikoff.errors import CertificateError
from novikoff.formats import certificate_file, model_file
from novikoff.formats.certificate_file import Proofs
from novikoff.formats.file_names import CERTIFICATE_ENDING, MODEL_ENDING, sibling
from novikoff.proofs.certificate import Certificate, CertificateCheck
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.system_certificate import SystemProof
from novikoff.sentences import (
    counted,
    first_few,
    hyperplane,
    quasi_clause,
    search_clause,
    verdict_clause,
)

if TYPE_CHECKING:
    from novikoff.jobs.study_records import StudyProgress


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(TableOptions):
    """The options of ``novikoff verify``."""

    def reject_all(self) -> None:
        """Reject every option, since a certificate is about inequalities."""
        for option in fields(self):
            given = option.name in self.given
            reject((given, f"{flag(option.name)} is for labelled rows, not for inequalities."))


@cluster_option
@memory_options
@file_options()
@click.command("verify", cls=Command)
@click.argument("certificate", type=click.Path())
@click.argument("data", type=click.Path())
def command(certificate: str, data: str, **values: Any) -> None:
    """Check every claim of CERTIFICATE against DATA, in exact arithmetic.

    DATA is read as the certificate describes, and the output says how. Options that say how to read
    DATA replace this description. For a certificate of novikoff solve, DATA is the file of
    inequalities. Every claim is printed with its hypotheses. The exit code is 0 if every claim
    holds, 1 if a claim does not hold, and 2 if a file cannot be read.

    \b
    Examples:
      novikoff verify flowers.cert.json flowers.csv
      novikoff verify plan.cert.json plan.mps.gz
    """  # noqa: D301 — \b tells click not to wrap the line that follows
    asked = VerifyOptions(given=given_options(), **values)
    try:
        proofs = certificate_file.read_proofs(certificate)
    except ValueError as error:
        swapped = data.endswith(CERTIFICATE_ENDING) and not certificate.endswith(CERTIFICATE_ENDING)
        if swapped:
            order = shlex.join(["novikoff", "verify", data, certificate])
            raise ValueError(
                f"{certificate} is not a certificate, and the certificate comes first: {order}"
            ) from None
        if certificate.endswith(MODEL_ENDING) and Path(certificate).is_file():
            file = sibling(certificate, MODEL_ENDING, CERTIFICATE_ENDING)
            what = f"; its certificate is {file}" if file else ", and verify checks certificates"
            raise ValueError(f"{certificate} is a model{what}.") from None
        if isinstance(error, CertificateError):
            raise ValueError(f"{certificate}: {error}") from None
        raise
    systems = [proof for proof in proofs.proofs if isinstance(proof, SystemProof)]
    others = [proof for proof in proofs.proofs if not isinstance(proof, SystemProof)]
    if systems and others:
        raise ValueError(f"{certificate}: The file has proofs about a system and about rows.")
    try:
        if systems:
            asked.reject_all()
            print_lines(_check_systems(systems, data, proofs))
            return
        if "model" in proofs.data:
            asked.reject_all()
            print_lines(_check_separation(others, data, proofs))
            return
        if asked.cluster:
            lines = _check_on_cluster(others, data, proofs, asked)
            print_lines([*lines, *_sibling_model(certificate, proofs)])
            return
        with showing_progress() as show:
            dataset = _read_rows(data, proofs, asked, show)
            claims = list[tuple[str, str]]()
            for proof in others:
                show(f"checking {proof.positive}")
                claims += _check(proof, dataset)
    except CertificateError as error:
        how = "" if error.row is None else " Certificates count rows from 0."
        raise Unmet(f"{certificate}: {error}{how}") from None
    size = f"{counted(dataset.n_rows, 'row')} · {counted(len(dataset.names), 'feature')}"
    print_lines(
        [
            ("data", f"{dataset.source} · {size} · label {dataset.label or 'first field'}"),
            *(("", note) for note in _notes(dataset, _stated_recipe(proofs, asked))),
            *claims,
            *_sibling_model(certificate, proofs),
        ]
    )


def _check(proof: Certificate | ErrorBound, dataset: Dataset) -> list[tuple[str, str]]:
    """Check a proof; return its claim, and what the check shows about single rows."""
    holds = [("holds", proof.claim())]
    if isinstance(proof, ErrorBound):
        proof.verify(dataset.X, dataset.labels)
        if proof.search is not None:
            holds.append(("", search_clause(proof.search.operations)))
        return holds
    check = CertificateCheck(proof)
    check.read(dataset.X, dataset.labels)
    check.finish()
    plane = hyperplane(fit_intercept=proof.fit_intercept)
    if proof.kind == "quasi-separable":  # the rows with ⟨a, w⟩ = 0 are a dependence
        holds.append(("", quasi_clause(plane, proof.n - check.n_zero, check.n_zero)))
    conflict = proof.contradiction or proof.dependence
    if conflict is not None and conflict.among is not None:
        rows = [str(dataset.rows[i]) for i in conflict.among]
        named = f"{'rows' if rows[1:] else 'row'} {first_few(rows, len(rows))} (counted from 1)"
        holds.append(("", verdict_clause("inseparable", plane, named)))
    return holds


def _sibling_model(certificate: str, proofs: Proofs) -> list[tuple[str, str]]:
    """Say whether the model file beside a certificate file is of the same study."""
    file = sibling(certificate, CERTIFICATE_ENDING, MODEL_ENDING)
    if file is None:
        return []
    try:
        same = certificate_file.belongs(proofs, model_file.read_record(file))
    except (ValueError, OSError):
        return [("model", f"{file} cannot be read as a model: it was not compared")]
    words = {
        True: "is of the same study; its predictions were not checked",
        False: "does not belong to this certificate: it is of another study",
        None: "was not compared: it names no certificate",
    }
    return [("model", f"{file} {words[same]}")]


def _check_systems(
    systems: Sequence[SystemProof], data: str, proofs: Proofs
) -> list[tuple[str, str]]:
    """Check the certificates of novikoff solve against a file of inequalities."""
    from novikoff.systems.files.reading import read_system

    known = proofs.data.get("format")
    with showing_progress() as show:
        show(f"reading {data}")
        file = read_system(data, known if isinstance(known, str) else None)
        show("checking")
        for proof in systems:
            proof.check(file.stated)
    size = counted(file.stated.d, "variable")
    notes = [("", note) for note in file.notes]
    claims = [("holds", proof.claim()) for proof in systems]
    return [("system", f"{data} · read as {file.format} · {size}"), *notes, *claims]


def _check_separation(
    others: Sequence[Certificate | ErrorBound], data: str, proofs: Proofs
) -> list[tuple[str, str]]:
    """Check a certificate of novikoff separation against the inequalities of the model."""
    from novikoff.jobs.separation_study import SeparationOptions, question_of_file

    options = SeparationOptions.from_json(proofs.data["model"])
    verdicts = [proof for proof in others if isinstance(proof, Certificate)]
    # With a bias, or with another positive class, the rows would not be those inequalities.
    if len(verdicts) < len(others) or any(
        proof.fit_intercept or proof.positive != 1 for proof in verdicts
    ):
        raise CertificateError("The certificate is not about the inequalities of a model.")
    if proofs.preprocessing is None:
        raise CertificateError("The certificate does not say how its data was read.")
    recipe = Recipe.from_json(proofs.preprocessing)
    with showing_progress() as show:
        show(f"reading {data}")
        how = ReadOptions(missing=recipe.missing, spelling=flag)
        dataset = read(data, how, recipe=recipe, labelled=options.labelled)
        show("checking")
        model = question_of_file(dataset, options, Limits(), flag)
        X = model.cone.rows()
        for proof in verdicts:
            proof.verify(X, np.ones(X.shape[0], dtype=np.int64))
    size = f"{counted(dataset.n_rows, 'row')} · {counted(len(model.cone.names), 'coefficient')}"
    exists = verdicts[0].kind == "inseparable"
    conclusion = "finite estimates exist" if exists else "no finite estimates exist"
    about = f"{model.cone.n:,} observations as a {options.about.title} model"
    return [
        ("data", f"{data} · {size}"),
        *(("", note) for note in [*dataset.notes, *_stated(recipe)]),
        ("model", f"{about}{f', {model.link} link' if model.link else ''}"),
        *(("holds", proof.claim()) for proof in verdicts),
        ("", f"these rows are the inequalities of the model, so that {conclusion}"),
    ]


def _check_on_cluster(
    others: Sequence[Certificate | ErrorBound], data: str, proofs: Proofs, asked: VerifyOptions
) -> list[tuple[str, str]]:
    """Check certificates on the workers of a cluster."""
    from novikoff.cli.cluster import opened_rows  # loads Dask only if --cluster asks for it

    recipe = _stated_recipe(proofs, asked)
    missing = recipe is not None and recipe.missing != "error"
    reject((missing, "--cluster cannot drop or replace missing values, as the certificate asks."))
    with showing_progress() as show, opened_rows(data, asked, show, recipe) as (rows, show_step):
        for proof in others:
            show_step(f"checking {proof.positive}")
            rows.verify(proof)
    size = f"{counted(rows.n, 'row')} · {counted(rows.d, 'feature')}"
    claims = [("holds", proof.claim()) for proof in others]
    notes = [("", note) for note in [*_ignored(data, recipe), *_stated(recipe)]]
    label = f" · label {rows.source.recipe.label}" if rows.source.recipe else ""
    return [("data", f"{data} · {size}{label}"), *notes, *claims]


def _ignored(folder: str, recipe: Recipe | None) -> list[str]:
    """Name the columns of the files of a folder that the certificate does not use."""
    from pyarrow.parquet import ParquetFile

    if recipe is None:
        return []
    used = {recipe.label, *(column.name for column in recipe.columns)}
    names = [
        name for path in parquet_files(folder) for name in ParquetFile(path).schema_arrow.names
    ]
    ignored = [name for name in dict.fromkeys(names) if name not in used]
    return [f"columns that are ignored: {all_quoted(ignored)}"] if ignored else []


def _read_rows(data: str, proofs: Proofs, asked: VerifyOptions, show: StudyProgress) -> Dataset:
    """Read the data as the certificate describes or, if options say how, as they say."""
    recipe = _stated_recipe(proofs, asked)
    if recipe is None:
        return asked.read(data, asked.read_options(), show)
    return asked.read(data, ReadOptions(missing=recipe.missing, spelling=flag), show, recipe)


def _stated_recipe(proofs: Proofs, asked: VerifyOptions) -> Recipe | None:
    """Return how the certificate describes the data; None if options say how to read it."""
    if proofs.preprocessing is None or asked.given_flags():
        return None
    return Recipe.from_json(proofs.preprocessing)


def _notes(dataset: Dataset, stated: Recipe | None) -> list[str]:
    """Say how the data was read, so that the claims can be understood."""
    return [*dataset.notes, *_stated(stated), *_own_means(dataset)]


def _stated(recipe: Recipe | None) -> list[str]:
    """Say what the certificate states about reading, beyond the columns that are used."""
    if recipe is None:
        return []
    notes = ["columns, labels and missing values are read as the certificate says"]
    if recipe.header is not None:
        notes.append(f"the first line is {'a header' if recipe.header else 'a row'}")
    if recipe.delimiter is not None:
        notes.append(f"fields are separated by {quoted(recipe.delimiter)}")
    if recipe.decimal is not None:
        notes.append(f"the decimal point is {quoted(recipe.decimal)}")
    for column in recipe.columns:
        if column.levels is not None:
            became = f"{counted(len(column.levels), 'column')} of 0 and 1"
            values = all_quoted(column.levels)
            notes.append(f"column {quoted(column.name)} becomes {became}, for {values}")
    if recipe.family == "matrix":
        notes.append(f"columns count from {recipe.first}")
    if recipe.bits is not None:
        notes.append(f"features are names, hashed to {1 << recipe.bits:,} columns")
    if recipe.drop:
        notes.append(f"ignored keys: {all_quoted(recipe.drop)}")
    return notes


def _own_means(dataset: Dataset) -> list[str]:
    """Say the means of the values that are present, in columns with replaced missing values."""
    if dataset.imputed is None:
        return []
    rows, columns = dataset.imputed
    means = []
    for j in np.unique(columns).tolist():
        values = np.delete(dataset.X[:, j], rows[columns == j]).astype(np.float64).tolist()
        mean = repr(math.fsum(x / len(values) for x in values)) if values else "undefined"
        means.append(f"{mean} in column {quoted(dataset.names[j])}")
    return [f"the mean of the values that are present is {', '.join(means)}"]
