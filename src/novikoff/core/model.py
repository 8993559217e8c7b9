"""What every model has: classes, a scheme of binary rules, and counts.

`novikoff.core.linear_model` keeps a column of weights for each rule, and all share one loop; the
models of `novikoff.core.state_model` keep arrays, and have a loop of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, Indices, Signs, SparseMatrix, Vector
from novikoff.core.schemes import Scheme
from novikoff.core.voting import Votes

Labels: TypeAlias = npt.NDArray[np.generic]

TOO_LARGE = "The score of x, or an update by it, is beyond the range of float64: scale x down."


class Model:
    """The rules of a scheme."""

    classes: Labels  # sorted and different
    scheme: Scheme  # which binary problems the rules belong to, how scores become a class
    sides: Signs  # (n_classes, n_rules): on which side of each rule a class stands
    fit_intercept: bool
    totals: Indices  # (3, n_rules): rows visited, updates and mistakes
    multi_class: str
    votes: Sequence[Votes] = ()  # for each rule, if its earlier selves vote

    @property
    def averages(self) -> bool:
        """Whether the average over all steps predicts."""
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        """The number of features, d."""
        raise NotImplementedError

    @property
    def n_rules(self) -> int:
        """The number of binary rules."""
        return int(self.totals.shape[1])

    @property
    def n_updates(self) -> int:
        """Updates made, summed over the rules."""
        return int(self.totals[1].sum())

    @property
    def n_mistakes(self) -> int:
        """Updates on a row that was on the wrong side, summed over the rules."""
        return int(self.totals[2].sum())

    def decisive(self) -> Vector:
        """The weights that predict, the biases last: (n_features + 1, n_rules)."""
        raise AttributeError("The rules are not linear in the features: they have no weights.")

    def scores(self, X: Floats | SparseMatrix) -> Vector:
        """The score of every row by every rule; ValueError if one is beyond float64."""
        raise NotImplementedError

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; no columns are those of a vector, from 0 on."""
        raise NotImplementedError

    def with_features(self, n_features: int) -> Self:
        """The same rules for more features, which count for nothing yet, or for fewer."""
        raise NotImplementedError

    def with_class(self, label: Hashable) -> Self:
        """The rules of a scheme with one more class."""
        raise NotImplementedError

    def decision(self, X: Floats | SparseMatrix) -> Vector:
        """The scores as ``decision_function`` returns them."""
        return self.scheme.decision(self.scores(X))

    def predict(self, X: Floats | SparseMatrix) -> Labels:
        """The class of each row; f(x) = 0 is the negative class (A1)."""
        return self.classes[self.scheme.choose(self.scores(X))]

    def classes_with(self, label: Hashable) -> list[str]:
        """The classes and one more; ValueError if it cannot be put in order with them."""
        labels = self.classes.tolist()
        try:
            grown: list[str] = sorted([*labels, cast(str, label)])
        except TypeError:
            grown = []
        if not grown or np.array(grown).tolist() != grown or label != label:
            raise ValueError(f"The label {label!r} cannot be put in order with {labels}.")
        return grown

    def heirs(self, grown: Model, label: Hashable) -> Iterator[tuple[int, int, int]]:
        """Which rules live on among those of ``grown``, with one more class: heir, rule, sign.

        A rule lives on where the old classes stand on its sides, or on the opposite ones.
        """
        rules = {sides.tobytes(): rule for rule, sides in enumerate(self.sides.T)}
        old = grown.sides[[known != label for known in grown.classes.tolist()]]
        for heir, sides in enumerate(old.T):
            for sign in (1, -1):
                rule = rules.get((sign * sides).tobytes())
                if rule is not None:
                    yield heir, rule, sign
