"""The contents of a model file as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from novikoff.core.model import Model
from novikoff.formats.tensors import Array

Body: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class ModelRecord:
    """The contents of a model file.

    Attributes
    ----------
    estimator : str
        The name of the estimator that `novikoff.load` makes of the record.
    model : Model
        The rules.
    names : list or None
        The names of the features; None if they are the numbers of the columns.
    parameters : dict
        The parameters of the estimator as JSON values. Parameters that are not listed have their
        defaults.
    fitted, arrays : dict
        The state of the fit besides the model, as JSON values and as arrays (`fitted_state`).
    preprocessing, data, certificate : mapping or None
        How rows were prepared, where they came from, and what was proved about them. A study puts
        the digest of its certificate file here.
    program : str
        The program that wrote the file.
    """

    estimator: str
    model: Model
    names: list[object] | None = None
    parameters: Body = field(default_factory=dict)
    fitted: Body = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    preprocessing: Mapping[str, object] | None = None
    data: Mapping[str, object] | None = None
    certificate: Mapping[str, object] | None = None
    program: str = ""

    @property
    def column_names(self) -> list[str]:
        """A name for each feature: its own name, or the number of its column in a file."""
        if self.names is not None:
            return [str(name) for name in self.names]
        first = (self.preprocessing or {}).get("first", 1)
        start = first if isinstance(first, int) else 1
        return [str(start + j) for j in range(self.model.n_features)]
