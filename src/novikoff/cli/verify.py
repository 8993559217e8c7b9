"""``novikoff verify``: check a certificate against data; the solver is not even imported."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from novikoff.cli import cluster
from novikoff.cli.main import Unmet
from novikoff.cli.options import (
    OPTION_NAMES,
    READING,
    check,
    memory,
    read_data,
    read_options,
    reading,
)
from novikoff.cli.progress import print_lines, shown

if TYPE_CHECKING:
    from novikoff.cli.progress import Show
    from novikoff.data import Dataset, Recipe
    from novikoff.formats.certificate_file import Proofs
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.error_bound import ErrorBound
    from novikoff.proofs.system_certificate import SystemCertificate


@click.command("verify")
@click.argument("certificate", type=click.Path())
@click.argument("data", type=click.Path())
@reading
@memory
@cluster.option
def command(certificate: str, data: str, **values: object) -> None:
    """Check every claim of CERTIFICATE against DATA, in exact arithmetic.

    DATA is read as the certificate says it was, and the output says how; with options, as
    they say alone. For a certificate of novikoff solve, DATA is the file of inequalities. Each
    claim is printed with its hypotheses. Exits with 0 only if every claim holds, with 1 if one does
    not, and with 2 if the files cannot be read.
    """
    from novikoff.errors import CertificateError
    from novikoff.formats import certificate_file
    from novikoff.proofs.system_certificate import SystemCertificate
    from novikoff.sentences import counted

    asked = SimpleNamespace(**values)
    try:
        proofs = certificate_file.read_proofs(certificate)
    except CertificateError as error:
        raise ValueError(f"{certificate}: {error}") from None
    systems = [proof for proof in proofs.proofs if isinstance(proof, SystemCertificate)]
    others = [proof for proof in proofs.proofs if not isinstance(proof, SystemCertificate)]
    if systems and others:
        raise ValueError(f"{certificate}: The file has proofs about a system and about examples.")
    try:
        if systems:
            for name in (*READING, "cluster", "max_memory", "cache"):
                flag = OPTION_NAMES.get(name, name).replace("_", "-")
                given = getattr(asked, name) is not None
                check((given, f"--{flag} is for rows of examples, not for inequalities."))
            print_lines(_check_systems(systems, data, proofs))
            return
        if asked.cluster:
            lines = _check_on_cluster(others, data, proofs, asked)
            print_lines([*lines, *_model(certificate, proofs)])
            return
        with shown() as show:
            dataset = _read(data, proofs, asked, show)
            for proof in others:
                show(f"checking {proof.positive}", None)
                proof.verify(dataset.X, dataset.labels)
    except CertificateError as error:
        how = " Certificates count rows from 0." if "row " in str(error).lower() else ""
        raise Unmet(f"{certificate}: {error}{how}") from None
    size = f"{counted(dataset.n_rows, 'row')} · {counted(len(dataset.names), 'feature')}"
    print_lines(
        [
            ("data", f"{dataset.source} · {size} · label {dataset.label or 'first field'}"),
            *(("", note) for note in _notes(dataset, _recipe(proofs, asked))),
            *(("holds", proof.claim()) for proof in others),
            *_model(certificate, proofs),
        ]
    )


def _model(certificate: str, proofs: Proofs) -> list[tuple[str, str]]:
    """Whether the model beside a certificate file is of the same study."""
    from novikoff.formats import certificate_file, model_file
    from novikoff.formats.file_names import CERTIFICATE_ENDING, MODEL_ENDING, sibling

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
    systems: Sequence[SystemCertificate], data: str, proofs: Proofs
) -> list[tuple[str, str]]:
    """Check the certificates of novikoff solve against a file of inequalities."""
    from novikoff.sentences import counted
    from novikoff.systems.files.reading import read_model

    known = proofs.data.get("format")
    with shown() as show:
        show(f"reading {data}", None)
        file = read_model(data, known if isinstance(known, str) else None)
        show("checking", None)
        for proof in systems:
            proof.check(file.stated)
    size = counted(systems[0].d, "variable")
    notes = [("", note) for note in file.notes]
    claims = [("holds", proof.claim()) for proof in systems]
    return [("system", f"{data} · read as {file.format} · {size}"), *notes, *claims]


def _check_on_cluster(
    others: Sequence[Certificate | ErrorBound], data: str, proofs: Proofs, asked: SimpleNamespace
) -> list[tuple[str, str]]:
    """Check certificates where the rows are."""
    from novikoff.sentences import counted

    cluster.check_options(asked)
    recipe = _recipe(proofs, asked)
    missing = recipe is not None and recipe.missing != "refuse"
    check((missing, "--cluster cannot drop or replace missing values, as the certificate asks."))
    with shown() as show, cluster.opened(data, asked, show, recipe) as (rows, hear):
        for proof in others:
            hear(f"checking {proof.positive}", None)
            rows.verify(proof)
    size = f"{counted(rows.n, 'row')} · {counted(rows.d, 'feature')}"
    claims = [("holds", proof.claim()) for proof in others]
    notes = [("", note) for note in [*_ignored(data, recipe), *_stated(recipe)]]
    label = f" · label {rows.source.recipe.label}" if rows.source.recipe else ""
    return [("data", f"{data} · {size}{label}"), *notes, *claims]


def _ignored(folder: str, recipe: Recipe | None) -> list[str]:
    """The columns that the certificate leaves out, in any file of a folder."""
    from pyarrow.parquet import ParquetFile

    from novikoff.data.messages import all_quoted
    from novikoff.data.on_disk import parquet_files

    if recipe is None:
        return []
    used = {recipe.label, *(column.name for column in recipe.columns)}
    names = [
        name for path in parquet_files(folder) for name in ParquetFile(path).schema_arrow.names
    ]
    left = [name for name in dict.fromkeys(names) if name not in used]
    return [f"columns that are ignored: {all_quoted(left)}"] if left else []


def _read(data: str, proofs: Proofs, asked: SimpleNamespace, show: Show) -> Dataset:
    """As the certificate says, or as the options say alone, if there are any."""
    from novikoff.data import ReadOptions

    recipe = _recipe(proofs, asked)
    if recipe is None:
        return read_data(data, read_options(asked), asked, show)
    return read_data(data, ReadOptions(missing=recipe.missing), asked, show, recipe)


def _recipe(proofs: Proofs, asked: SimpleNamespace) -> Recipe | None:
    """How the certificate says that the data was read; None if options say how to read it."""
    from novikoff.data import Recipe

    says_how = any(getattr(asked, name) is not None for name in READING)
    if proofs.preprocessing is None or says_how:
        return None
    return Recipe.from_json(proofs.preprocessing)


def _notes(dataset: Dataset, stated: Recipe | None) -> list[str]:
    """How the data was read: whoever reads a claim must know what it is about."""
    return [*dataset.notes, *_stated(stated), *_own_means(dataset)]


def _stated(recipe: Recipe | None) -> list[str]:
    """What the certificate says about reading, beyond the columns that are used."""
    from novikoff.data.messages import all_quoted, quoted
    from novikoff.sentences import counted

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
        notes.append(f"keys that are ignored: {all_quoted(recipe.drop)}")
    return notes


def _own_means(dataset: Dataset) -> list[str]:
    """The means of the values that are there, in columns where others stand for missing ones."""
    import math

    import numpy as np

    from novikoff.data.messages import quoted

    if dataset.imputed is None:
        return []
    rows, columns = dataset.imputed
    found = []
    for j in np.unique(columns).tolist():
        values = np.delete(dataset.X[:, j], rows[columns == j]).astype(np.float64).tolist()
        mean = repr(math.fsum(x / len(values) for x in values)) if values else "not there"
        found.append(f"{mean} in column {quoted(dataset.names[j])}")
    return [f"the mean of the values that are there is {', '.join(found)}"]
