"""The exceptions of novikoff: one tree under `NovikoffError`.

Each exception is also a ValueError, an OSError or an ImportError, so that ``except ValueError``
catches what it always caught. A wrong argument, such as ``max_iter=-1``, raises a plain ValueError
or TypeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.core.rows import Indices
    from novikoff.geometry.verdict import Verdict
    from novikoff.proofs.certificate import Certificate


class NovikoffError(Exception):
    """Base class of the exceptions of novikoff."""


class DataError(NovikoffError, ValueError):
    """Data cannot be used. The message says what is wrong, where, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class BadRowError(DataError):
    """A single row of a stream cannot be used; the other rows may be usable."""


class ChangedError(DataError):
    """The part of a source that was already learned has changed."""


class CertificateError(NovikoffError, ValueError):
    """A certificate does not prove its claims. The message says which claim fails."""


class InvalidJsonError(NovikoffError, ValueError):
    """A JSON text is invalid. The message is a clause that begins with a noun."""


class ModelFileError(NovikoffError, ValueError):
    """A model cannot be saved, or a file is not a valid model file."""


class OnnxExportError(NovikoffError, ValueError):
    """A model cannot be exported to ONNX."""


class OutputError(NovikoffError, OSError):
    """An output file cannot be written."""


class ClusterError(NovikoffError, OSError):
    """The cluster cannot do what was asked. The message says why and what to do."""


class MissingExtraError(NovikoffError, ImportError):
    """A package that only some functions need is not installed. The message names the extra.

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
        The rows of the two classes: all rows, except with one-vs-one.
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
