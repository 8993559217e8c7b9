"""A certificate is accepted only if everything that it claims is proved."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.errors import CertificateError
from novikoff.proofs.certificate import Certificate, Margin
from novikoff.proofs.dependence import Dependence
from novikoff.proofs.digest import MatrixDigest
from tests.cases import case_named

Proof: TypeAlias = nv.Certificate
Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Path: TypeAlias = tuple[str | int, ...]


class Case(NamedTuple):
    X: Vector
    y: list[int]
    proof: Proof


@cache
def cases() -> dict[str, Case]:
    """One certificate of each form."""
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    cloud = rng.normal(size=(40, 3))
    tables = {
        "separable": (np.array([[3.0, 1.0], [2.0, 5.0], [-1.0, 0.5], [-2.0, 0.0]]), [1, 1, 0, 0]),
        "quasi-separable": (np.array([[1.0], [2.0], [2.0], [3.0], [5.0]]), [0, 0, 1, 1, 1]),
        "inseparable": (corners, [0, 1, 1, 0]),
        "inseparable, enclosed": (cloud, [0, 1] * 20),
        "not separable": (corners, [0, 1, 1, 0]),
    }
    found = {}
    for name, (X, y) in tables.items():
        proof = nv.separate(X, y).certificate
        assert proof is not None
        found[name] = Case(X, y, proof)
    poor = found["not separable"]
    found["not separable"] = poor._replace(
        proof=replace(poor.proof, kind="not separable", w=None, dependence=None)
    )
    return found


NAMES = ["separable", "quasi-separable", "inseparable", "inseparable, enclosed", "not separable"]


def body_of(proof: Proof) -> dict[str, Json]:
    body = json.loads(proof.to_json())
    assert isinstance(body, dict)
    return body


def sealed(body: dict[str, Json]) -> str:
    """The text of a forged certificate, with a valid checksum."""
    rest = {name: value for name, value in body.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return json.dumps({**rest, "checksum": checksum})


def paths(value: Json, path: Path = ()) -> Iterator[Path]:
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for name, part in value.items():
            yield from paths(part, (*path, name))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from paths(part, (*path, k))


def at(value: Json, path: Path) -> Json:
    for step in path:
        if isinstance(value, dict):
            value = value[str(step)]
        else:
            assert isinstance(value, list)
            value = value[int(step)]
    return value


def put(value: Json, path: Path, new: Json) -> Json:
    """A copy with a different value in one place."""
    if not path:
        return new
    if isinstance(value, dict):
        return {**value, str(path[0]): put(value[str(path[0])], path[1:], new)}
    assert isinstance(value, list)
    k = int(path[0])
    return [*value[:k], put(value[k], path[1:], new), *value[k + 1 :]]


def nearby(value: Json) -> list[Json]:
    """Different values of the same type, or of a similar type."""
    match value:
        case None:
            return [0, [], "0x0p+0"]
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, -1 - value]
        case str():
            return [value + "0", "-" + value, value[1:], value.upper()]
        case list():
            return [[*value, 0], value[:-1] if value else ["0x0p+0"], None]
        case dict():
            return [{}, None]


@pytest.mark.parametrize("name", NAMES)
def test_it_survives_its_own_text(name: str) -> None:
    X, y, proof = cases()[name]
    again = Proof.from_json(proof.to_json())
    assert again == proof
    assert again.to_json() == proof.to_json()
    again.verify(X, y)
    Proof.from_json(sealed(body_of(proof))).verify(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_no_place_of_the_text_can_be_edited(name: str) -> None:
    body = body_of(cases()[name].proof)
    edits = 0
    for path in paths(body):
        for new in nearby(at(body, path)):
            if new == at(body, path):
                continue
            edits += 1
            with case_named((path, new)), pytest.raises(nv.CertificateError):
                Proof.from_json(json.dumps(put(body, path, new)))
    assert edits > 30


@pytest.mark.parametrize("name", NAMES)
def test_no_field_can_be_left_out(name: str) -> None:
    body = body_of(cases()[name].proof)
    for path in paths(body):
        if path and isinstance(path[-1], str):
            parent = at(body, path[:-1])
            assert isinstance(parent, dict)
            rest = {key: value for key, value in parent.items() if key != path[-1]}
            shortened = put(body, path[:-1], rest)
            assert isinstance(shortened, dict)
            wanted = {
                "schema_version": "format version",
                "denominator": str(path[-2:][0]),
                "numerators": str(path[-2:][0]),
            }.get(path[-1], path[-1])
            text = json.dumps(shortened) if path[-1] == "checksum" else sealed(shortened)
            with case_named(path), pytest.raises(nv.CertificateError, match=wanted):
                Proof.from_json(text)


WRONG: list[Json] = [None, True, -1, 1.5, "", "0x", "1/0", "nan", [], [None], [1.5], [[]], {}]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_of_the_wrong_type_is_rejected_or_harmless(name: str) -> None:
    """The checksum is valid; if the text is accepted, it must be a proof of the same kind."""
    X, y, proof = cases()[name]
    body = body_of(proof)
    refused = accepted = 0
    for path in paths(body):
        for new in WRONG:
            edited = put(body, path, new)
            if not path or path[0] == "checksum" or edited == body:
                continue
            assert isinstance(edited, dict)
            try:
                Proof.from_json(sealed(edited)).verify(X, y)
                accepted += 1
                assert harmless(body, path, new), (path, new)
            except nv.CertificateError:
                refused += 1
    assert refused > 150
    assert accepted < 12


SAYS_LESS = ("contradiction", "radius", "mistake_bound", "geometric_margin")


def harmless(body: dict[str, Json], path: Path, new: Json) -> bool:
    """Whether the edited certificate still claims nothing that is false."""
    inseparable = body["kind"] in ("inseparable", "not separable")
    return (
        (path == ("negative",) and new is None)  # all other labels
        or (path[0] in SAYS_LESS and len(path) == 1 and new is None)
        or (path == ("dependence", "among") and new is None and inseparable)  # all rows
        or (path[-1] == "exact" and at(body, path) is False)  # and it may be
        or (path == ("fit_intercept",) and new is False and inseparable)  # fewer w
    )


Mutation = Callable[[Proof], Proof]
ONE, HALF = Fraction(1), Fraction(1, 2)


def but(part: str = "", **changes: Any) -> Mutation:
    """Change fields of a proof, or of a part of it; a callable gets the old value of the field."""

    def change(proof: Proof) -> Proof:
        whole: Any = getattr(proof, part) if part else proof
        new = {key: value(whole) if callable(value) else value for key, value in changes.items()}
        edited: Any = replace(whole, **new)
        return replace(proof, **{part: edited}) if part else edited

    return change


def bounds(**changes: Any) -> Mutation:
    """Change the margin, and make the bound on the mistakes fit it."""

    def change(proof: Proof) -> Proof:
        edited = but("margin", **changes)(proof)
        assert edited.margin is not None
        assert proof.radius is not None
        lo = edited.margin.lo
        limit = math.floor((Fraction(proof.radius) / Fraction(lo)) ** 2) if lo > 0.0 else None
        return replace(edited, mistake_bound=limit)

    return change


def times(factor: Fraction) -> Callable[[Any], tuple[Fraction, ...]]:
    return lambda proof: tuple(factor * value for value in proof.w)


def first_multiplier(change: Callable[[Fraction], Fraction]) -> Mutation:
    return but("dependence", multipliers=lambda c: (change(c.multipliers[0]), *c.multipliers[1:]))


def dependence(*arguments: Any) -> Mutation:
    return but(dependence=Dependence(*arguments))


def contradiction(*arguments: Any) -> Mutation:
    return but(contradiction=Dependence(*arguments))


def weighted(weight: Fraction) -> Mutation:
    """The contradiction with the same multiplier for all its rows."""
    return but(
        "contradiction", rows=lambda c: c.among, multipliers=lambda c: (weight,) * len(c.among)
    )


ANY: dict[str, Mutation] = {
    "n": but(n=lambda p: p.n + 1),
    "d": but(d=lambda p: p.d + 1),
    "n and d swapped": but(n=lambda p: p.d, d=lambda p: p.n),
    "sha256": but(sha256="0" * 64),
    "sha256 in capitals": but(sha256=lambda p: p.sha256.upper()),
    "labels swapped": but(positive=lambda p: p.negative, negative=lambda p: p.positive),
    "other positive label": but(positive="yes"),
    "other negative label": but(negative="no"),
    "one label": but(positive=lambda p: p.negative, negative=None),
    "radius a little lower": but(radius=lambda p: (p.radius or 0.0) * (1 - 1e-9)),
    "radius negative": but(radius=lambda p: -(p.radius or 0.0)),
    "radius not a number": but(radius=math.nan),
    "w of zeros": but(w=(Fraction(0),) * 3),
    "w too short": but(w=(ONE,)),
    "w too long": but(w=(ONE,) * 9),
}
SEPARABLE: dict[str, Mutation] = {
    "w negated": but(w=times(-ONE)),
    "w missing": but(w=None),
    "w with another bias": but(w=lambda p: (*p.w[:-1], Fraction(10))),
    "w turned": but(w=lambda p: (Fraction(0), *p.w[1:])),
    "lo raised by one ulp": bounds(lo=lambda m: math.nextafter(m.hi, 9.0)),
    "lo above the margin, and hi too": bounds(
        lo=lambda m: m.hi * (1 + 1e-12), hi=lambda m: m.hi * 2
    ),
    "lo infinite": bounds(lo=1e300),
    "lo negative": bounds(lo=-1.0),
    "lo not a number": but("margin", lo=math.nan),
    "hi lowered to lo": bounds(hi=lambda m: math.nextafter(m.lo, 0.0)),
    "hi below the margin, and lo too": bounds(
        lo=lambda m: m.lo * 0.5, hi=lambda m: m.lo * (1 - 1e-12)
    ),
    "hi zero": bounds(hi=0.0),
    "hi negative": bounds(hi=-1.0),
    "hi not a number": bounds(hi=math.nan),
    "weights negative": bounds(multipliers=lambda m: tuple(-v for v in m.multipliers)),
    "one weight negative": bounds(multipliers=lambda m: (-m.multipliers[0], *m.multipliers[1:])),
    "weights of zeros": bounds(multipliers=lambda m: tuple(0 * v for v in m.multipliers)),
    "one weight doubled": bounds(multipliers=lambda m: (2 * m.multipliers[0], *m.multipliers[1:])),
    "a weight missing": bounds(multipliers=lambda m: m.multipliers[1:]),
    "weights missing": bounds(multipliers=(), rows=()),
    "rows reversed": bounds(rows=lambda m: m.rows[::-1]),
    "rows of others": bounds(rows=lambda m: tuple(3 - i for i in m.rows)),
    "a row that is not there": bounds(rows=lambda m: (99, *m.rows[1:])),
    "a negative row": bounds(rows=lambda m: (-1, *m.rows[1:])),
    "one mistake less": but(mistake_bound=lambda p: p.mistake_bound - 1),
    "one mistake more": but(mistake_bound=lambda p: p.mistake_bound + 1),
    "a bound without a margin": but(margin=None),
    "a bound without a radius": but(radius=None),
    "a dependence too": dependence((), (), True),
    "a contradiction too": contradiction((), (), True, (0, 2)),
    "kind quasi-separable": but(kind="quasi-separable"),
    "kind inseparable": but(kind="inseparable"),
    "kind not separable": but(kind="not separable"),
    "no intercept": but(fit_intercept=False),
}
QUASI: dict[str, Mutation] = {
    "w negated": but(w=times(-ONE)),
    "w missing": but(w=None),
    "w shifted by a trifle": but(w=lambda p: (p.w[0], p.w[1] + Fraction(1, 10**40))),
    "kind separable": but(kind="separable"),
    "kind separable, nothing else": but(kind="separable", dependence=None, contradiction=None),
    "kind inseparable": but(kind="inseparable"),
    "kind inseparable, shown by two rows that do not span": but(
        kind="inseparable", w=None, dependence=Dependence((), (), True, (1, 2))
    ),
    "kind inseparable, shown by a system that is not regular": but(
        kind="inseparable",
        w=None,
        dependence=Dependence((1, 2), (Fraction(0),) * 2, False, (1, 2)),
    ),
    "kind not separable": but(kind="not separable"),
    "dependence missing": but(dependence=None),
    "dependence among named rows": but("dependence", among=(1, 2)),
    "another row gets a weight": but("dependence", rows=(0,), multipliers=(ONE,)),
    "a weight on a row at zero": but("dependence", rows=(1,), multipliers=(ONE,)),
}
DEPENDENT: dict[str, Mutation] = {
    "a margin": but(margin=Margin(0.0, 1.0, (0,), (ONE,))),
    "a lower bound": but(margin=Margin(0.5, 0.5, (0,), (ONE,))),
    "a bound on mistakes": but(mistake_bound=7),
    "contradiction among the first row": contradiction((), (), True, (0,)),
    "contradiction among no row": contradiction((), (), True, ()),
    "contradiction among all": contradiction((), (), True),
    "contradiction with a row twice": but("contradiction", among=lambda c: (*c.among, c.among[0])),
    "contradiction with a row less": but("contradiction", among=lambda c: c.among[1:]),
    "contradiction with a row that is not there": but(
        "contradiction", among=lambda c: (*c.among, 99)
    ),
    "contradiction with a negative row": contradiction((), (), True, (-1, 0)),
    "contradiction with a weight of its own": but(
        "contradiction", rows=lambda c: c.among[:1], multipliers=(ONE,), exact=True
    ),
    "contradiction with a negative weight": weighted(Fraction(-2)),
    "contradiction with weights of zero": weighted(-ONE),
}
INSEPARABLE: dict[str, Mutation] = {
    "kind separable": but(kind="separable"),
    "kind quasi-separable": but(kind="quasi-separable"),
    "kind not separable": but(kind="not separable"),
    "dependence missing": but(dependence=None),
    "a w that leaves nobody": but(w=lambda p: (*(ONE,) * p.d, Fraction(0))),
    "a weight of zero": dependence((0,), (-ONE,), True),
    "a weight more": dependence((0,), (ONE,), True),
    "all weights zero": lambda p: dependence(tuple(range(p.n)), (-ONE,) * p.n, True)(p),
    "a row twice": dependence((0, 0), (HALF, -HALF), True),
    "rows without multipliers": dependence((0,), (), True),
    "a row that is not there": dependence((99,), (Fraction(0),), True),
}
ENCLOSED: dict[str, Mutation] = {
    "among a row less": but("dependence", among=lambda c: c.among[1:]),
    "among a row that is not there": but("dependence", among=lambda c: (*c.among, 99)),
    "among a row twice": but("dependence", among=lambda c: (*c.among, c.among[0])),
    "among some rows that do not span, exactly": but(
        dependence=lambda p: replace(p.contradiction, exact=True, rows=(), multipliers=())
    ),
    "said to be exact": but("dependence", exact=True),
    "a multiplier off by 1e-5": first_multiplier(lambda mu: mu + (1 + abs(mu)) / 10**5),
    "a multiplier negated": first_multiplier(lambda mu: -mu - 1),
    "a multiplier beyond floats": first_multiplier(lambda mu: Fraction(10**400)),
    "a row less": but(
        "dependence", rows=lambda c: c.rows[1:], multipliers=lambda c: c.multipliers[1:]
    ),
    "rows reversed": but("dependence", rows=lambda c: c.rows[::-1]),
    "another row": but(
        "dependence", rows=lambda c: (min(set(range(40)) - set(c.rows)), *c.rows[1:])
    ),
    "no intercept": but(fit_intercept=False),
}
BARE: dict[str, Mutation] = {
    "kind separable": but(kind="separable"),
    "kind quasi-separable": but(kind="quasi-separable"),
    "kind inseparable": but(kind="inseparable"),
    "contradiction missing": but(contradiction=None),
    "contradiction among a row less": but("contradiction", among=lambda c: c.among[:-1]),
    "contradiction with every row twice": contradiction((), (), True, (0, 1, 2, 3) * 2),
    "a w": but(w=(Fraction(0), Fraction(0), ONE)),
    "a dependence": dependence((), (), True),
}
MUTATIONS = {
    "separable": SEPARABLE,
    "quasi-separable": {**DEPENDENT, **QUASI},
    "inseparable": {**DEPENDENT, **INSEPARABLE},
    "inseparable, enclosed": {**DEPENDENT, **INSEPARABLE, **ENCLOSED},
    "not separable": {**DEPENDENT, **BARE},
}


def refusal(proof: Proof, X: Vector, y: list[int]) -> str:
    """The error message about a proof; empty if the proof holds."""
    try:
        proof.verify(X, y)
    except nv.CertificateError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_false_claim_is_rejected_though_it_is_sealed(name: str) -> None:
    X, y, proof = cases()[name]
    mutants = {what: make(proof) for what, make in {**ANY, **MUTATIONS[name]}.items()}
    assert proof not in mutants.values()
    accepted = [what for what, mutant in mutants.items() if not refusal(mutant, X, y).endswith(".")]
    assert accepted == []
    for what, mutant in mutants.items():
        with contextlib.suppress(nv.CertificateError):
            assert refusal(Proof.from_json(mutant.to_json()), X, y), what


@pytest.mark.parametrize("name", NAMES)
def test_other_data_is_rejected(name: str) -> None:
    X, y, proof = cases()[name]
    order = np.roll(np.arange(len(X)), 1)
    tiny = X.copy()
    tiny[1, 0] = math.nextafter(tiny[1, 0], 9.0)
    altered: list[tuple[Any, Any]] = [
        (X[order], y),
        (X[order], [y[i] for i in order]),
        (X, [y[i] for i in order]),
        (tiny, y),
        (X + 1.0, y),
        (-X, y),
        (X[:-1], y[:-1]),
        (np.vstack([X, X[:1]]), [*y, y[0]]),
        (np.hstack([X, X[:, :1]]), y),
        (X, y[:-1]),
        (X, [2, *y[1:]]),
        (X, [1 - label for label in y]),
        (X[0], y),
        ([["text"]], y),
    ]
    for k, (other, labels) in enumerate(altered):
        if np.array_equal(X[order], other) and labels == y:
            continue
        with case_named(k), pytest.raises(nv.CertificateError, match="certificate is for"):
            proof.verify(other, labels)


@pytest.mark.parametrize(
    ("name", "mutation", "message"),
    [
        ("separable", "w negated", "Row 0 is on the wrong side: ⟨a, w⟩ < 0"),
        ("separable", "lo raised by one ulp", "Row . has a margin below"),
        ("separable", "one mistake less", "⌊R²/γ²⌋ is not"),
        ("separable", "radius a little lower", "Row . is longer than R"),
        ("inseparable", "a weight more", "Σ λ_i a_i is not zero in column 2"),
    ],
)
def test_the_message_says_what_does_not_hold(name: str, mutation: str, message: str) -> None:
    X, y, proof = cases()[name]
    with pytest.raises(nv.CertificateError, match=message):
        {**ANY, **MUTATIONS[name]}[mutation](proof).verify(X, y)


def test_weaker_claims_are_still_true() -> None:
    X, y, proof = cases()["separable"]
    for weaker in (
        bounds(lo=lambda m: m.lo / 2),
        bounds(hi=lambda m: m.hi * 2),
        bounds(hi=math.inf),
        but(w=times(Fraction(10**400, 3))),
        but(w=times(Fraction(1, 10**400))),
        but(margin=None, mistake_bound=None),
    ):
        weaker(proof).verify(X, y)
    X, y, proof = cases()["inseparable"]
    whole = Dependence((), (), True)
    replace(proof, fit_intercept=False, dependence=whole, contradiction=None).verify(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_truncated_text_is_rejected(name: str) -> None:
    text = cases()[name].proof.to_json().strip()
    for length in range(len(text)):
        with case_named(length), pytest.raises(nv.CertificateError):
            Proof.from_json(text[:length])


@pytest.mark.parametrize("version", [0, 2, 3, 4, -1, "1", None, [1], {}, True], ids=repr)
def test_another_format_version_is_rejected(version: Json) -> None:
    body = {**body_of(cases()["separable"].proof), "schema_version": version}
    with pytest.raises(nv.CertificateError, match=r"format version .*reads version 1"):
        Proof.from_json(sealed(body))


NOT_CERTIFICATES = (
    *("", " ", "null", "7", '"text"', "[]", "{}", "{", "nan", "\x00", "\ufeff{}", "[" * 100_000),
    '{"schema_version": 1}',
    '{"schema_version": 1, "checksum": null}',
    '{"schema_version": ' + "9" * 5000 + "}",
    '{"schema_version": 1, "w": ' + "[" * 900 + "]" * 900 + "}",
)


@pytest.mark.parametrize("text", NOT_CERTIFICATES)
def test_what_is_not_a_certificate_is_rejected(text: str) -> None:
    with pytest.raises(nv.CertificateError, match="certificate"):
        Proof.from_json(text)


hostile: st.SearchStrategy[Json] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(-1, 60),
        st.integers(-(10**30), 10**30),
        st.floats(),
        st.text(),
        st.fractions().map(lambda value: f"{value.numerator:#x}/{value.denominator:#x}"),
        st.floats().map(float.hex),
        st.sampled_from(
            ["0x1p1023", "0x1p-1074", "0x1p99999", "1/0", "-0x1/0x0", "1e5", "nan", "inf", "-inf"]
        ),
        st.just("0x" + "f" * 400),
        st.just("9" * 5000),
        st.just("\ud800"),
        st.just("separable"),
    ),
    lambda parts: st.one_of(
        st.lists(parts, max_size=5), st.dictionaries(st.text(max_size=3), parts, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=400)
@given(st.sampled_from(NAMES), st.data())
def test_hostile_values_raise_nothing_else(name: str, data: st.DataObject) -> None:
    X, y, proof = cases()[name]
    body: Json = body_of(proof)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in paths(body) if path]))
        body = put(body, path, data.draw(hostile))
    assert isinstance(body, dict)
    with contextlib.suppress(nv.CertificateError):
        Proof.from_json(sealed(body)).verify(X, y)


@settings(max_examples=300)
@given(st.one_of(st.text(), hostile.map(json.dumps)))
def test_hostile_text_raises_nothing_else(text: str) -> None:
    with pytest.raises(nv.CertificateError):
        Proof.from_json(text)


def test_the_radius_of_a_system_is_not_that_of_rows() -> None:
    point: list[Json] = ["0x1p+0", "0x1p+0"]
    ball: Json = {"least": "0x0p+0", "most": "inf", "point": point, "rows": [], "multipliers": []}
    rows = nv.separate([[0.0], [1.0]], [0, 1]).certificate
    system = nv.solve([[1.0]], [1.0]).certificate
    assert rows is not None
    assert system is not None
    with pytest.raises(nv.CertificateError, match="'radius' is not"):
        nv.Certificate.from_json(sealed({**body_of(rows), "radius": ball, "mistake_bound": None}))
    other: dict[str, Json] = json.loads(system.to_json())
    with pytest.raises(nv.CertificateError, match="'radius' is not"):
        nv.SystemCertificate.from_json(sealed({**other, "radius": "0x1p+0"}))


@pytest.mark.parametrize(("positive", "negative"), [("1", None), (7, None), (7, 0)])
def test_a_label_that_no_row_has_proves_nothing(positive: int | str, negative: int | None) -> None:
    """If every row were negative, a constant rule would separate any data."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    signs = -np.ones(3, dtype=np.int8)
    forged = Certificate(
        kind="separable",
        n=3,
        d=1,
        fit_intercept=True,
        positive=positive,
        negative=negative,
        sha256=MatrixDigest.of(X).signed(signs),
        w=(Fraction(0), Fraction(-1)),
    )
    with pytest.raises(CertificateError, match="for other data"):
        forged.verify(X, y)
