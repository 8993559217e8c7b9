"""The exceptions of novikoff: one tree under `NovikoffError`.

Each exception is also a ValueError, an OSError or an ImportError, so that ``except ValueError``
catches errors in data, too. A wrong argument, such as ``max_epochs=-1``, raises a plain ValueError
or TypeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.core.rows import Indices
    from novikoff.geometry.verdict import Verdict
    from novikoff.proofs.certificate import Certificate


class NovikoffError(Exception):
    """The base class of the exceptions of novikoff.

    See Also
    --------
    NotSeparableError : No hyperplane separates the classes.
    CertificateError : A certificate does not prove its claims.

    Examples
    --------
    >>> import novikoff as nv
    >>> try:
    ...     nv.separate([["one"], ["two"]], [0, 1])
    ... except nv.NovikoffError as error:
    ...     print(type(error).__name__)
    DataError
    """


class DataError(NovikoffError, ValueError):
    """The data cannot be used. The message says what is wrong, where, and what to do.

    Examples
    --------
    >>> import novikoff as nv
    >>> nv.separate([["one"], ["two"]], [0, 1])
    Traceback (most recent call last):
        ...
    novikoff.errors.DataError: X contains 'one' in row 0, column 0, which is not a number: encode \
it first.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class ArgumentError(DataError):
    """An argument cannot be used: the message is the name of the argument and the reason.

    A command replaces the name of the argument by the column and the option that were given.

    Examples
    --------
    >>> error = ArgumentError("weights", "is negative in row 3: -1.0.")
    >>> str(error), error.argument
    ('weights is negative in row 3: -1.0.', 'weights')
    """

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument} {reason}")
        self.argument, self.reason = argument, reason

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.argument, self.reason)


class OutOfRangeError(DataError):
    """A weight, a score or an update is beyond the range of float64."""


class BadRowError(DataError):
    """A single row of a stream cannot be used; the other rows may be usable."""


class TooManyClassesError(DataError):
    """A stream has so many different labels that they are hardly classes."""


class ChangedError(DataError):
    """A file that a stream continues has changed: its rows, or a list that grows with it."""


class CertificateError(NovikoffError, ValueError):
    """A certificate does not prove its claims. The message says which claim fails.

    Attributes
    ----------
    row : int or None
        The row that the message names, counted from 0; None if it names no row.

    See Also
    --------
    verify : Check a certificate.

    Examples
    --------
    >>> import novikoff as nv
    >>> proof = nv.separate([[0.0], [1.0]], [0, 1]).certificate
    >>> nv.verify(proof, [[0.0], [1.0]], [1, 0])
    Traceback (most recent call last):
        ...
    novikoff.errors.CertificateError: The certificate is for other data: the rows or labels differ \
from those it is about (another SHA-256 digest).
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class InvalidJsonError(NovikoffError, ValueError):
    """A JSON text is invalid. The message is a clause to which the caller adds its context."""


class ModelFileError(NovikoffError, ValueError):
    """A model cannot be saved, or a file is not a valid model file."""


class OnnxExportError(NovikoffError, ValueError):
    """A model cannot be exported to ONNX."""


class OutputError(NovikoffError, OSError):
    """An output file cannot be written."""


class OutputExistsError(OutputError):
    """An output file exists, and must not be replaced without ``force``."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} already exists; force=True replaces it.")
        self.path = path

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.path,)


class ClusterError(NovikoffError, OSError):
    """A task cannot be done on the cluster. The message says why and what to do."""


class MissingExtraError(NovikoffError, ImportError):
    """An optional package is not installed. The message says how to install it.

    Examples
    --------
    >>> print(MissingExtraError("The lab", "starlette", "lab"))
    The lab needs starlette: pip install 'novikoff[lab]'
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}: pip install 'novikoff[{extra}]'")
        self._parts = what, package, extra

    def __reduce__(self) -> tuple[type, tuple[str, ...]]:
        return type(self), self._parts


class NotSeparableError(NovikoffError, ValueError):
    """No hyperplane separates the classes. The exception carries the proof.

    Attributes
    ----------
    verdict : Verdict
        The verdict, which names the contradicting rows.
    certificate : Certificate
        The proof: ``certificate.verify(X[rows], y[rows])``.
    rows : array of int
        The numbers of the rows that the proof is about. With one-vs-one these are the rows of two
        classes, else they are all rows.

    See Also
    --------
    MaxMargin : The estimator that raises this exception.
    Pocket : A rule with few mistakes, which exists for any data.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    >>> try:
    ...     nv.MaxMargin().fit(X, y)
    ... except nv.NotSeparableError as error:
    ...     print(error.verdict.kind, error.verdict.support)
    inseparable [0 1 2]
    """

    def __init__(
        self, message: str, verdict: Verdict, certificate: Certificate, rows: Indices
    ) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.certificate = certificate
        self.rows = rows

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.args[0], self.verdict, self.certificate, self.rows)
