"""``novikoff verify``: check a certificate against data; the solver is not even imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from novikoff.cli.options import choices, given, reading
from novikoff.cli.progress import shown
from novikoff.cli.screen import print_lines

if TYPE_CHECKING:
    from novikoff.data import Dataset
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.report.proof_file import Proofs

_MOST_BYTES = 1 << 30


@click.command("verify")
@click.argument("certificate", type=click.Path())
@click.argument("data", type=click.Path())
@reading
def command(certificate: str, data: str, **values: object) -> None:
    """Check every claim of CERTIFICATE against DATA, in exact arithmetic.

    DATA is read as it was for the certificate; with options, as they say. Exits with 0
    only if every claim holds.
    """
    from novikoff.geometry.checker import CertificateError
    from novikoff.report import proof_file

    try:
        proofs = proof_file.read(_text(certificate))
        with shown() as show:
            show(f"reading {data}", None)
            dataset = _read(data, proofs, values)
            for proof in proofs.proofs:
                show(f"checking {proof.positive}", None)
                proof.verify(dataset.X, dataset.labels)
    except CertificateError as error:
        raise ValueError(f"{certificate}: {error}") from None
    rows = f"{len(dataset.rows):,} rows · {len(dataset.names):,} features"
    print_lines([("data", f"{dataset.source} · {rows}")])
    print_lines([("holds", _claim(proof)) for proof in proofs.proofs])


def _text(path: str) -> str:
    from pathlib import Path

    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            raise ValueError(f"{path} is too large for a certificate.")
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a certificate: it is not even text.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None


def _read(data: str, proofs: Proofs, values: dict[str, object]) -> Dataset:
    from novikoff.data import Recipe, read

    if proofs.preprocessing is None or given(values):
        return read(data, choices(values))
    return read(data, recipe=Recipe.from_json(proofs.preprocessing))


def _claim(proof: Certificate | ErrorBound) -> str:
    from novikoff.geometry.certificate import Certificate

    other = "the rest" if proof.negative is None else str(proof.negative)
    sides = f"{proof.positive} against {other}"
    if not isinstance(proof, Certificate):
        bound = float(proof.bound)
        return f"{sides}: every hyperplane makes at least {bound:,.15g} mistakes"
    margin = ""
    if proof.margin is not None:
        margin = f", γ in [{proof.margin.lo!r}, {proof.margin.hi!r}]"
        if proof.mistake_bound is not None:
            margin += f", at most {proof.mistake_bound:,} mistakes"
    return f"{sides}: {proof.kind}{margin}"
