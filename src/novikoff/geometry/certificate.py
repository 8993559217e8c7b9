"""A proof that a stranger can check: it needs the data and nothing of the solver.

The claim behind every kind is one theorem (Gordan 1873, Stiemke 1915; Goldman and Tucker
1956): for given rows a_i there are w and λ ≥ 0 with ⟨a_i, w⟩ ≥ 0 for all i, Σ λ_i a_i = 0,
and for each row either ⟨a_i, w⟩ > 0 or λ_i > 0, never both. The rows fall into the
separated, I, and the others, J. *Separable* is J = ∅, *inseparable* is I = ∅, and
*quasi-separable* is what lies between. A certificate holds w and λ.

On J, λ = 1 + μ with μ on at most p rows; so it is short however many rows there are.

As text it is strict JSON, format version 2: every field is known and read by type, every number is
exact and of bounded length, every row is named once, and a checksum covers the rest.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, get_args

import numpy.typing as npt

from novikoff.geometry.checker import (
    CertificateError,
    Dependence,
    GeometricMargin,
    Label,
    Margin,
    check,
)

if TYPE_CHECKING:
    from novikoff.geometry.error_bound import ErrorBound

Kind: TypeAlias = Literal["separable", "quasi-separable", "inseparable", "not separable"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SCHEMA_VERSION: Final = 2
# The longest text of one number: reading it takes time in proportion to its length.
_MOST_DIGITS: Final = 1 << 15
_MOST_ROWS: Final = 1 << 53


@dataclass(frozen=True)
class Certificate:
    """The proof of a verdict (C2, C3, C4).

    Attributes
    ----------
    kind : str
        One of "separable", "quasi-separable", "inseparable", or "not separable" where
        only the contradiction is known.
    n, d : int
        Rows and columns of X.
    fit_intercept : bool
        Whether the rows are padded with 1.
    positive, negative : str, int, float, bool or None
        The labels; ``negative`` is None where every other label is.
    sha256 : str
        The digest of the data, the same for dense and sparse storage.
    w : tuple of Fraction or None
        The weights, the bias last; None stands for zero.
    dependence : Dependence or None
        λ on the rows that w leaves at zero; or, if inseparable, on p + 1 rows with the origin
        inside their simplex: a verified solve with p of them shows that they span
        everything, so that Σ λ_i⟨a_i, w⟩ = 0 leaves no w with all ⟨a_i, w⟩ ≥ 0 but zero.
    contradiction : Dependence or None
        A few rows that no w can separate.
    margin : Margin or None
        Bounds on the margin.
    geometric_margin : GeometricMargin or None
        Bounds on the margin with a free bias, with weights of their own.
    radius : float or None
        An upper bound on R = max‖a_i‖.
    mistake_bound : int or None
        ⌊R²/γ²⌋ for γ = margin.lo. A mistake is y·f(x) ≤ 0: f(x) = 0 counts.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> proof = nv.separate(X, y).certificate
    >>> proof.claim()
    'Inseparable: no hyperplane with a bias, not even weakly, has 1 on one side and 0 on the \
other, in 4 rows of 2 columns.'
    >>> {row: str(weight) for row, weight in proof.weights.items()}
    {0: '1', 1: '1', 2: '1', 3: '1'}
    >>> nv.Certificate.from_json(proof.to_json()).verify(X, y)
    >>> proof.verify(X, [0, 1, 1, 1])
    Traceback (most recent call last):
        ...
    novikoff.geometry.checker.CertificateError: The certificate is for other data: the \
digest of the rows and labels differs.
    """

    kind: Kind
    n: int
    d: int
    fit_intercept: bool
    positive: Label
    negative: Label
    sha256: str
    w: tuple[Fraction, ...] | None = None
    dependence: Dependence | None = None
    contradiction: Dependence | None = None
    margin: Margin | None = None
    geometric_margin: GeometricMargin | None = None
    radius: float | None = None
    mistake_bound: int | None = None

    def verify(self, X: object, y: object) -> None:
        """Check every claim against the data, in exact arithmetic; the data is read once.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            The data; it may be memory-mapped.
        y : array of shape (n,)
            The labels.

        Raises
        ------
        CertificateError
            If anything does not hold, or a number is NaN or infinite; the message says what.
        """
        check(self, X, y)

    def claim(self) -> str:
        """What is proved, in a sentence with its hypotheses."""
        says = {
            "separable": "Separable: a hyperplane {where} has {sides} strictly apart",
            "quasi-separable": "Quasi-separable: no hyperplane {where} has {sides} strictly apart, "
            "but one has them weakly, and some rows strictly",
            "inseparable": "Inseparable: no hyperplane {where}, not even weakly, has {on_sides}",
            "not separable": "Not separable: no hyperplane {where} has {sides} strictly apart",
        }[self.kind]
        return describe(says, self)

    @property
    def weights(self) -> dict[int, Fraction]:
        """λ by row, of rows on which it is not zero.

        For a separable set it bounds the margin from above: γ ≤ ‖Σ λ_i a_i‖/Σ λ_i. Else
        Σ λ_i a_i = 0, over the few rows of the contradiction where there is one; over all rows
        that w leaves at zero λ = 1 + μ, and rows that only these are follow from w and the data.
        Where a verified solve proves that λ exists, the numbers here are near it.
        """
        if self.kind == "separable":
            bounds = self.margin
            return {} if bounds is None else dict(zip(bounds.rows, bounds.weights, strict=True))
        claim = self.contradiction or self.dependence
        if claim is None:
            return {}
        among: Sequence[int] = claim.rows if claim.among is None else claim.among
        if claim.among is None and self.w is None:
            among = range(self.n)
        more = dict(zip(claim.rows, claim.multipliers, strict=True))
        return {row: 1 + more.get(row, Fraction(0)) for row in among}

    def to_json(self) -> str:
        """The certificate as text, numbers exact."""
        return self._text

    @cached_property
    def _text(self) -> str:
        return with_checksum(_write(self))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; one that was altered is refused with CertificateError."""
        return _read(read_checked(text))


def verify(
    certificate: Certificate | ErrorBound,
    X: object,
    y: object,
    sample_weight: npt.ArrayLike | None = None,
) -> None:
    """Check a certificate against data; CertificateError says what does not hold.

    Parameters
    ----------
    certificate : Certificate or ErrorBound
        The proof.
    X, y
        The rows and labels that it is about.
    sample_weight : array of shape (n,), optional
        The cost of a mistake on each row, for an ErrorBound about costs.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdict = nv.separate([[1.0], [2.0], [4.0]], ["low", "low", "high"])
    >>> nv.verify(verdict.certificate, [[1.0], [2.0], [4.0]], ["low", "low", "high"])
    """
    if isinstance(certificate, Certificate):
        certificate.verify(X, y)
    elif hasattr(certificate, "contradictions"):
        certificate.verify(X, y, sample_weight)
    else:
        raise TypeError(
            "A Certificate or an ErrorBound is checked, one at a time, not "
            f"{type(certificate).__name__}; from_json() makes one from text."
        )


def describe(sentence: str, proof: Certificate | ErrorBound) -> str:
    """A sentence about a proof with its hypotheses: the bias, the labels, rows and columns."""
    positive, negative = repr(proof.positive), repr(proof.negative)
    others = "all others" if proof.negative is None else negative
    text = sentence.format(
        where="with a bias" if proof.fit_intercept else "through the origin",
        sides=f"{positive} and {others}",
        on_sides=f"{positive} on one side and {others} on the other",
    )
    rows = "1 row" if proof.n == 1 else f"{proof.n:,} rows"
    columns = "1 column" if proof.d == 1 else f"{proof.d:,} columns"
    return f"{text}, in {rows} of {columns}."


def with_checksum(body: dict[str, object]) -> str:
    """The text of a certificate, with its format version and a checksum.

    The checksum makes every change to the text known, even one that would leave a proof.
    """
    versioned = {"schema_version": SCHEMA_VERSION, **body}
    body = {**versioned, "checksum": _checksum(versioned)}
    return json.dumps(body, indent=1, allow_nan=False) + "\n"


def read_checked(text: str) -> Record:
    """The fields of a certificate that was not altered; else CertificateError."""
    try:
        body = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_constant)
    except CertificateError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise CertificateError(f"The certificate is not JSON: {str(error)[:200]}") from None
    if not isinstance(body, dict):
        raise CertificateError("The certificate is not a JSON object.")
    version = body.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        older = "It was made by an older novikoff: prove the verdict again." if version == 1 else ""
        raise CertificateError(
            f"The certificate has format version {str(version)[:40]}; this program reads version "
            f"{SCHEMA_VERSION}. {older}".rstrip()
        )
    checksum = body.pop("checksum", None)
    try:
        intact = checksum == _checksum(body)
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise CertificateError("The certificate was altered: its checksum does not match.")
    del body["schema_version"]
    return Record(body, "")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise CertificateError("The certificate has a field twice.")
    return body


def _no_constant(name: str) -> NoReturn:
    raise CertificateError(f"The certificate is not JSON: it has {name}.")


def _checksum(body: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()


class Record:
    """A JSON object whose fields are read by type; `finish` refuses fields that nobody read."""

    def __init__(self, body: dict[str, Any], path: str) -> None:
        self.body, self.path = body, path
        self._read: set[str] = set()

    def get(self, name: str) -> Any:
        """The value of a field that must be there."""
        if name not in self.body:
            raise CertificateError(f"The certificate has no field {self.path + name!r}.")
        self._read.add(name)
        return self.body[name]

    def finish(self) -> None:
        """Refuse fields that were not read."""
        unknown = sorted(set(self.body) - self._read)
        if unknown:
            raise CertificateError(
                f"The certificate has an unknown field {self.path + unknown[0]!r:.80}."
            )

    def part(self, name: str) -> Record | None:
        """An object, or None."""
        value = self.get(name)
        if value is not None and not isinstance(value, dict):
            self._refuse(name, "an object")
        return None if value is None else Record(value, f"{name}.")

    def parts(self, name: str) -> list[Record]:
        """A list of objects."""
        value = self.get(name)
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            self._refuse(name, "a list of objects")
        return [Record(part, f"{name}[{k}].") for k, part in enumerate(value)]

    def text(self, name: str) -> str:
        """A string."""
        value = self.get(name)
        return value if isinstance(value, str) else self._refuse(name, "a string")

    def flag(self, name: str) -> bool:
        """True or False."""
        value = self.get(name)
        return value if isinstance(value, bool) else self._refuse(name, "true or false")

    def count(self, name: str, most: int | None = None) -> int:
        """A whole number, not negative."""
        value = self.get(name)
        if type(value) is int and value >= 0 and (most is None or value <= most):
            return value
        return self._refuse(name, "a whole number")

    def label(self, name: str) -> Label:
        """A label, or None."""
        value = self.get(name)
        if value is None or isinstance(value, str | int | float | bool):
            return value
        return self._refuse(name, "a label")

    def rows(self, name: str, n: int) -> tuple[int, ...]:
        """Numbers of rows among n, each once."""
        value = self.get(name)
        if not isinstance(value, list) or not all(type(i) is int and 0 <= i < n for i in value):
            self._refuse(name, f"a list of row numbers below {n}")
        if len(set(value)) != len(value):
            self._refuse(name, "a list that names each row once")
        return tuple(value)

    def numbers(self, name: str, most: int) -> tuple[Fraction, ...]:
        """At most so many exact numbers: floats, or whole numbers over one denominator."""
        value = self.get(name)
        wanted = f"a list of at most {most} exact numbers"
        over = 1
        try:
            if isinstance(value, dict):
                if set(value) != {"denominator", "numerators"}:
                    self._refuse(name, wanted)
                over = _integer(value["denominator"])
                value = value["numerators"]
                if not isinstance(value, list) or len(value) > most or over < 1:
                    self._refuse(name, wanted)
                return tuple(Fraction(_integer(text), over) for text in value)
            if not isinstance(value, list) or len(value) > most:
                self._refuse(name, wanted)
            return tuple(Fraction(_float(text)) for text in value)
        except (ValueError, OverflowError):
            return self._refuse(name, wanted)

    def number(self, name: str) -> float:
        """A hexadecimal float, perhaps infinite."""
        text = self.text(name)
        try:
            value = math.inf if text == "inf" else _float(text)
        except (ValueError, OverflowError):
            return self._refuse(name, "a hexadecimal float")
        return value

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise CertificateError(f"The certificate's field {self.path + name!r} is not {wanted}.")


def _float(text: object) -> float:
    if not isinstance(text, str) or len(text) > 40 or not text.isascii() or "p" not in text:
        raise ValueError("not a hexadecimal float")
    value = float.fromhex(text)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value


def _integer(text: object) -> int:
    if not isinstance(text, str) or len(text) > _MOST_DIGITS or not text.isascii():
        raise ValueError("not a whole number")
    if not text.lstrip("-").startswith("0x"):
        raise ValueError("not hexadecimal")
    return int(text, 16)


def write_numbers(values: Sequence[Fraction]) -> object:
    """Exact numbers in terms of JSON: hexadecimal floats, or whole numbers over one denominator."""
    if all(map(_is_float, values)):
        return [float(value).hex() for value in values]
    denominator = math.lcm(*(value.denominator for value in values))
    tops = (value.numerator * (denominator // value.denominator) for value in values)
    return {"denominator": f"{denominator:#x}", "numerators": [f"{top:#x}" for top in tops]}


def _is_float(value: Fraction) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def write_dependence(claim: Dependence | None) -> dict[str, object] | None:
    """A dependence in terms of JSON."""
    if claim is None:
        return None
    return {
        "among": None if claim.among is None else list(claim.among),
        "rows": list(claim.rows),
        "multipliers": write_numbers(claim.multipliers),
        "exact": claim.exact,
    }


def read_dependence(record: Record | None, n: int) -> Dependence | None:
    """A dependence between n rows from terms of JSON."""
    if record is None:
        return None
    among = None if record.get("among") is None else record.rows("among", n)
    rows = record.rows("rows", n)
    claim = Dependence(rows, record.numbers("multipliers", len(rows)), record.flag("exact"), among)
    record.finish()
    return claim


def _write(proof: Certificate) -> dict[str, object]:
    """The certificate in terms of JSON, every number exact."""
    margin, gap = proof.margin, proof.geometric_margin
    return {
        "kind": proof.kind,
        "n": proof.n,
        "d": proof.d,
        "fit_intercept": proof.fit_intercept,
        "positive": proof.positive,
        "negative": proof.negative,
        "sha256": proof.sha256,
        "w": None if proof.w is None else write_numbers(proof.w),
        "dependence": write_dependence(proof.dependence),
        "contradiction": write_dependence(proof.contradiction),
        "margin": None if margin is None else _write_bounds(margin),
        "geometric_margin": None
        if gap is None
        else {**_write_bounds(gap), "w": write_numbers(gap.w)},
        "radius": None if proof.radius is None else proof.radius.hex(),
        "mistake_bound": proof.mistake_bound,
    }


def _write_bounds(bounds: Margin | GeometricMargin) -> dict[str, object]:
    return {
        "lo": bounds.lo.hex(),
        "hi": bounds.hi.hex(),
        "rows": list(bounds.rows),
        "weights": write_numbers(bounds.weights),
    }


def _read(record: Record) -> Certificate:
    """The certificate from terms of JSON; whatever is not as it should be is refused."""
    kind = next((kind for kind in KINDS if kind == record.get("kind")), None)
    if kind is None:
        raise CertificateError(
            f"The certificate's kind is {str(record.get('kind'))[:40]!r}: a 'lower bound' is read "
            "by ErrorBound.from_json, others are not known."
        )
    n, d = record.count("n", _MOST_ROWS), record.count("d", _MOST_ROWS)
    fit_intercept = record.flag("fit_intercept")
    p = d + int(fit_intercept)
    limit = None if record.get("mistake_bound") is None else record.count("mistake_bound")
    margin, gap = record.part("margin"), record.part("geometric_margin")
    proof = Certificate(
        kind=kind,
        n=n,
        d=d,
        fit_intercept=fit_intercept,
        positive=record.label("positive"),
        negative=record.label("negative"),
        sha256=record.text("sha256"),
        w=None if record.get("w") is None else record.numbers("w", p),
        dependence=read_dependence(record.part("dependence"), n),
        contradiction=read_dependence(record.part("contradiction"), n),
        margin=None if margin is None else Margin(*_read_bounds(margin, n)),
        geometric_margin=None if gap is None else _read_gap(gap, n, p),
        radius=None if record.get("radius") is None else record.number("radius"),
        mistake_bound=limit,
    )
    if margin is not None:
        margin.finish()
    record.finish()
    return proof


def _read_bounds(
    record: Record, n: int
) -> tuple[float, float, tuple[int, ...], tuple[Fraction, ...]]:
    rows = record.rows("rows", n)
    return record.number("lo"), record.number("hi"), rows, record.numbers("weights", len(rows))


def _read_gap(record: Record, n: int, p: int) -> GeometricMargin:
    lo, hi, rows, weights = _read_bounds(record, n)
    gap = GeometricMargin(lo, hi, record.numbers("w", p), rows, weights)
    record.finish()
    return gap
