"""``novikoff verify``: check a certificate against data; the solver is not even imported."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from novikoff.cli import cluster
from novikoff.cli.main import Unmet
from novikoff.cli.options import READING, check, memory, read_data, read_options, reading
from novikoff.cli.progress import print_lines, shown

if TYPE_CHECKING:
    from novikoff.cli.progress import Show
    from novikoff.data import Dataset
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.system_certificate import SystemCertificate
    from novikoff.report.certificate_file import Proofs


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
    from novikoff.data.errors import counted
    from novikoff.geometry.checker import CertificateError
    from novikoff.geometry.system_certificate import SystemCertificate
    from novikoff.report import certificate_file

    asked = SimpleNamespace(**values)
    try:
        proofs = certificate_file.read(certificate)
    except CertificateError as error:
        raise ValueError(f"{certificate}: {error}") from None
    systems = [proof for proof in proofs.proofs if isinstance(proof, SystemCertificate)]
    others = [proof for proof in proofs.proofs if not isinstance(proof, SystemCertificate)]
    if systems and others:
        raise ValueError(f"{certificate}: The file has proofs about a system and about examples.")
    try:
        if systems:
            check((asked.cluster, "--cluster is for rows of examples, not for inequalities."))
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
            *(("", note) for note in _notes(dataset, proofs)),
            *(("holds", _claim(proof)) for proof in others),
            *_model(certificate, proofs),
        ]
    )


def _model(certificate: str, proofs: Proofs) -> list[tuple[str, str]]:
    """Whether the model beside a certificate file is of the same study."""
    from novikoff.report import certificate_file, model_file

    endings = certificate_file.CERTIFICATE_ENDING, certificate_file.MODEL_ENDING
    file = certificate_file.beside(certificate, *endings)
    if file is None:
        return []
    try:
        same = certificate_file.belongs(proofs, model_file.read(file))
    except (ValueError, OSError):
        return [("model", f"{file} cannot be read as a model: it was not compared")]
    words = {
        True: "holds the same proofs; its predictions were not checked",
        False: "does not belong to this certificate: it is of another study",
        None: "was not compared: it holds no proofs",
    }
    return [("model", f"{file} {words[same]}")]


def _check_systems(
    systems: Sequence[SystemCertificate], data: str, proofs: Proofs
) -> list[tuple[str, str]]:
    """Check the certificates of novikoff solve against a file of inequalities."""
    from novikoff.data.errors import counted
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
    return [("system", f"{data} · {size}"), *notes, *claims]


def _check_on_cluster(
    others: Sequence[Certificate | ErrorBound], data: str, proofs: Proofs, asked: SimpleNamespace
) -> list[tuple[str, str]]:
    """Check certificates where the rows are."""
    from novikoff.data import Recipe
    from novikoff.data.errors import counted

    cluster.check_options(asked)
    recipe = None
    if proofs.preprocessing is not None and not _says_how(asked):
        recipe = Recipe.from_json(proofs.preprocessing)
    with shown() as show, cluster.opened(data, asked, show, recipe) as (rows, hear):
        for proof in others:
            hear(f"checking {proof.positive}", None)
            rows.verify(proof)
    size = f"{counted(rows.n, 'row')} · {counted(rows.d, 'feature')}"
    claims = [("holds", _claim(proof)) for proof in others]
    return [("data", f"{data} · {size}"), *claims]


def _read(data: str, proofs: Proofs, asked: SimpleNamespace, show: Show) -> Dataset:
    """As the certificate says, or as the options say alone, if there are any."""
    from novikoff.data import ReadOptions, Recipe

    if proofs.preprocessing is None or _says_how(asked):
        return read_data(data, read_options(asked), asked, show)
    recipe = Recipe.from_json(proofs.preprocessing)
    return read_data(data, ReadOptions(missing=recipe.missing), asked, show, recipe)


def _says_how(asked: SimpleNamespace) -> bool:
    """Whether options say how the data is to be read."""
    return any(getattr(asked, name) is not None for name in READING)


def _notes(dataset: Dataset, proofs: Proofs) -> list[str]:
    """How the data was read: the certificate says so, and its reader should know."""
    notes, recipe = list(dataset.notes), dataset.recipe
    if proofs.preprocessing is not None:
        if recipe.header is not None:
            notes.append(f"the first line is {'a header' if recipe.header else 'a row'}")
        others = [column.name for column in recipe.columns if column.levels is not None]
        if others:
            notes.append(f"columns of text turned into 0 and 1: {', '.join(others[:10])}")
        if recipe.missing == "mean":
            notes.append("missing values are replaced by means that the certificate gives")
    return notes


def _claim(proof: Certificate | ErrorBound) -> str:
    """The claim with its hypotheses, and the numbers that are proved with it."""
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.verdict_text import large

    claim = proof.claim()
    if not isinstance(proof, Certificate) or proof.margin is None:
        return claim
    text = f"{claim} γ is in [{proof.margin.lo!r}, {proof.margin.hi!r}]"
    if proof.mistake_bound is not None:
        text += f", R²/γ² is at most {large(proof.mistake_bound)}"
    return f"{text}."
