"""Damaged and forged certificate files are rejected with an error, or what they claim is true."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.formats import certificate_file
from novikoff.jobs.study import study

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.5]])
Y = np.array(["a", "b", "b", "a", "c"])


@cache
def written() -> str:
    """A file with verdicts of several kinds and lower bounds."""
    found = study(X, Y)
    proved = certificate_file.dump_proofs(found.proofs, {"source": "five.csv"}, {"label": "class"})
    return proved.text


def load_and_check(text: str) -> bool:
    """Whether the file can be read and holds; every error except CertificateError is a defect."""
    try:
        for proof in certificate_file.parse_proofs(text).proofs:
            proof.verify(X, Y)
    except nv.CertificateError:
        return False
    return True


def test_what_was_written_holds() -> None:
    assert load_and_check(written())
    assert certificate_file.parse_proofs(written()).preprocessing == {"label": "class"}


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_bytes_changed_at_random(data: st.DataObject) -> None:
    text = written()
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 30))
    patch = data.draw(st.text(max_size=5))
    load_and_check(text[:at] + patch + text[at + length :])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=300)
@given(values, st.data())
def test_fields_of_any_type(value: object, data: st.DataObject) -> None:
    """tests/proofs/test_certificate.py changes the fields of a proof."""
    assert not load_and_check(json.dumps(value))
    whole = json.loads(written())
    whole[data.draw(st.sampled_from(sorted(whole)))] = value
    load_and_check(json.dumps(whole))
