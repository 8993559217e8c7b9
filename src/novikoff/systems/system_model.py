"""The record of a model: a system with its source and its notes."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.proofs.system_statement import Arrays, LinearSystem
from novikoff.sentences import counted, html_table


@dataclass(frozen=True)
class SystemModel:
    """A system of inequalities that was read from a file or from a model of another package.

    `novikoff.solve`, `novikoff.explain`, `novikoff.relax` and `novikoff.conflicts` take it.

    Attributes
    ----------
    stated : LinearSystem or Arrays
        The rows and the bounds, with exact numbers.
    format : str
        The format of the file, or the package of the model.
    source : str
        The name of the file or of the model.
    notes : tuple of str
        What was decided while the model was read.

    See Also
    --------
    read_system : Read a model from a file.
    """

    stated: LinearSystem | Arrays
    format: str
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> LinearSystem:
        """The system, if its numbers were decimals and not arrays of floats."""
        if not isinstance(self.stated, LinearSystem):
            raise TypeError("An npz file holds arrays.")
        return self.stated

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(map(str, self.stated.variables))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows, equalities included."""
        return tuple(self.stated.name(number) for number in range(self.stated.m))

    def __str__(self) -> str:
        size = f"{counted(self.stated.m, 'row')}, {counted(self.stated.d, 'variable')}"
        return f"{self.source}: {size} ({self.format})"

    def __repr__(self) -> str:
        return f"<SystemModel: {self}>"

    def _repr_html_(self) -> str:
        """The sizes and the notes as a table, for notebooks."""
        notes = [("note", note) for note in self.notes]
        return html_table([("model", str(self)), *notes])
