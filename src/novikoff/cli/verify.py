"""``novikoff verify``: check a certificate against data; the solver is not even imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import click

from novikoff.cli.options import choices, given, in_blocks, open_blocks, reading, sparing
from novikoff.cli.progress import shown
from novikoff.cli.screen import print_lines

if TYPE_CHECKING:
    from fractions import Fraction

    from novikoff.cli.progress import Show
    from novikoff.data import CachedBlocks, Dataset, FileBlocks
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.report.proof_file import Proofs

Data: TypeAlias = "Dataset | FileBlocks | CachedBlocks"

_MOST_BYTES = 1 << 30


@click.command("verify")
@click.argument("certificate", type=click.Path())
@click.argument("data", type=click.Path())
@reading
@sparing
def command(certificate: str, data: str, **values: object) -> None:
    """Check every claim of CERTIFICATE against DATA, in exact arithmetic.

    DATA is read as the certificate says it was, and the output says how; with options, as
    they say alone. Exits with 0 only if every claim holds.
    """
    from novikoff.data import Dataset
    from novikoff.data.errors import counted
    from novikoff.geometry.checker import CertificateError
    from novikoff.report import proof_file

    try:
        proofs = proof_file.read(_text(certificate))
        with shown() as show:
            show(f"reading {data}", None)
            dataset = _read(data, proofs, values, show)
            for proof in proofs.proofs:
                show(f"checking {proof.positive}", None)
                if isinstance(dataset, Dataset):
                    proof.verify(dataset.X, dataset.labels)
                else:
                    proof.verify(dataset)
    except CertificateError as error:
        raise ValueError(f"{certificate}: {error}") from None
    size = f"{counted(dataset.n_rows, 'row')} · {counted(len(dataset.names), 'feature')}"
    print_lines(
        [
            ("data", f"{dataset.source} · {size} · label {dataset.label or 'first field'}"),
            *(("", note) for note in _reading(dataset, proofs)),
            *(("holds", _claim(proof)) for proof in proofs.proofs),
        ]
    )


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


def _read(data: str, proofs: Proofs, values: dict[str, object], show: Show) -> Data:
    from novikoff.data import Choices, Recipe, read

    asked, recipe = choices(values), None
    if proofs.preprocessing is not None and not given(values):
        recipe = Recipe.from_json(proofs.preprocessing)
        asked = Choices(missing=recipe.missing)
    if not in_blocks(data, values):
        return read(data, asked, recipe=recipe)
    found = open_blocks(data, asked, values, show)  # as it is read, and cached, by default
    if recipe is None or recipe == found.recipe:
        return found
    return open_blocks(data, Choices.of(recipe), values, show)


def _reading(dataset: Data, proofs: Proofs) -> list[str]:
    """How the data was read: the certificate says so, and its reader should know."""
    notes = list(dataset.notes)
    if proofs.preprocessing is not None:
        header = dataset.recipe.header
        if header is not None:
            notes.append(f"the first line is {'a header' if header else 'a row'}")
        others = [column.name for column in dataset.recipe.columns if column.levels is not None]
        if others:
            notes.append(f"columns of text turned into 0 and 1: {', '.join(others[:10])}")
        if dataset.recipe.missing == "mean":
            notes.append("missing values are replaced by means that the certificate gives")
    return notes


def _claim(proof: Certificate | ErrorBound) -> str:
    from novikoff.geometry.certificate import Certificate

    other = "the rest" if proof.negative is None else str(proof.negative)
    sides = f"{proof.positive} against {other}"
    if not isinstance(proof, Certificate):
        return f"{sides}: every hyperplane makes at least {_count(proof.bound)}"
    margin = ""
    if proof.margin is not None:
        margin = f", γ in [{proof.margin.lo!r}, {proof.margin.hi!r}]"
        if proof.mistake_bound is not None:
            margin += f", at most {proof.mistake_bound:,} mistakes"
    return f"{sides}: {proof.kind}{margin}"


def _count(bound: Fraction) -> str:
    from novikoff.data.errors import counted

    if bound.denominator == 1:
        return counted(int(bound), "mistake")
    return f"mistakes that cost {float(bound):.15g}"
