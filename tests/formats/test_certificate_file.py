"""A certificate file and the model of the same study are matched by a digest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from novikoff.formats import certificate_file, model_file
from tests.cli.conftest import inside

XOR = "a,b,label\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"
RECORDS = {
    "the digest": lambda record, proofs: record,
    "the proofs themselves, as older files have them": lambda record, proofs: replace(
        record, certificate={"proofs": [proof.as_json() for proof in proofs]}
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a study of XOR."""
    path = tmp_path_factory.mktemp("study")
    (path / "xor.csv").write_text(XOR)
    assert inside("fit", path / "xor.csv", "--out", path).code == 0
    return path


def test_a_model_file_contains_each_proof_once(folder: Path) -> None:
    record = model_file.read_record(folder / "xor.novikoff")
    assert record.certificate is not None
    assert list(record.certificate) == ["sha256"]
    texts = cast("list[str]", record.fitted["certificates"])
    assert [json.loads(text)["kind"] for text in texts] == ["lower bound"]
    found = certificate_file.read_proofs(str(folder / "xor.cert.json"))
    assert len(found.proofs) == 2


@pytest.mark.parametrize("named", RECORDS)
def test_the_two_files_of_a_study_belong_together(named: str, folder: Path) -> None:
    found = certificate_file.read_proofs(str(folder / "xor.cert.json"))
    record = RECORDS[named](model_file.read_record(folder / "xor.novikoff"), found.proofs)
    assert certificate_file.belongs(found, record)
    assert not certificate_file.belongs(replace(found, proofs=found.proofs[:1]), record)
    assert not certificate_file.belongs(replace(found, data={"source": "other.csv"}), record)
    other = replace(found, preprocessing={**(found.preprocessing or {}), "first": 7})
    assert not certificate_file.belongs(other, record)


def test_spacing_and_order_of_keys_do_not_matter(folder: Path) -> None:
    body = json.loads((folder / "xor.cert.json").read_text())
    text = json.dumps(dict(reversed(body.items())), indent=2)
    record = model_file.read_record(folder / "xor.novikoff")
    assert certificate_file.belongs(certificate_file.parse_proofs(text), record)


def test_a_model_that_names_no_certificate_is_not_compared(folder: Path) -> None:
    found = certificate_file.read_proofs(str(folder / "xor.cert.json"))
    record = replace(model_file.read_record(folder / "xor.novikoff"), certificate=None)
    assert certificate_file.belongs(found, record) is None
