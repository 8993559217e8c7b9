"""The records of a study: its options and its results."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np

from novikoff.core.class_labels import Label
from novikoff.core.model import LinearModel
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Vector

if TYPE_CHECKING:
    from novikoff.cluster.pocket import CountedRule
    from novikoff.geometry.fewest_mistakes import FewestMistakes
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.verdict import Verdict
    from novikoff.proofs.certificate import Certificate, GeometricMargin
    from novikoff.proofs.error_bound import ErrorBound

    FoundRule: TypeAlias = FewestMistakes | CountedRule


RuleName: TypeAlias = Literal["perceptron", "average", "largest margin", "fewest mistakes"]


class StudyProgress(Protocol):
    """A function that is called with the name of each step.

    It is also called with the interval that contains the margin, once an interval is known.
    """

    def __call__(self, step: str, interval: Interval | None = None, /) -> None:
        """Show the step."""


@dataclass(frozen=True)
class StudyOptions:
    """The options of a study.

    Attributes
    ----------
    fit_intercept : bool
        Whether hyperplanes may have a bias.
    positive : label or None
        The class that is compared with all others. If None, each class is compared with the rest.
    order, epochs, seed, average, scale
        How the perceptron runs. ``epochs=None`` means about two seconds of work. With ``average``,
        the model is the average of the perceptron's weights, which may misclassify separable rows.
        ``scale`` is "standard" for features with mean 0 and variance 1, or "none".
    budget : float or None
        A limit in seconds on the whole study, not counting the time to load and compile loops.
    verdict : bool
        Whether to decide separability. Without a verdict, only the perceptron runs.
    proofs : bool
        Whether to compute, besides the model, margins on scaled features, lower bounds on the
        mistakes, and identical rows with different labels.
    model : "margin" or "perceptron"
        Which model is chosen for separable data.
    """

    fit_intercept: bool = True
    positive: Hashable = None
    order: str = "permuted"
    epochs: int | None = None
    seed: int = 0
    budget: float | None = None
    verdict: bool = True
    average: bool = False
    proofs: bool = True
    scale: Literal["standard", "none"] = "standard"
    model: Literal["margin", "perceptron"] = "margin"


@dataclass(frozen=True)
class Case:
    """The verdict on one class against another class, or against the rest if ``negative`` is None.

    ``mistakes`` is the number of rows that the best known rule misclassifies. ``bound`` is the
    proof of a lower bound on this number. ``scaled`` is the verdict on the standardised features.
    """

    positive: Label
    negative: Label | None
    verdict: Verdict
    mistakes: int | None = None
    bound: ErrorBound | None = None
    scaled: Verdict | None = None

    @property
    def least_mistakes(self) -> int | None:
        """A proved lower bound on the mistakes of every hyperplane."""
        return None if self.bound is None else int(self.bound.bound)

    @property
    def geometric_margin(self) -> GeometricMargin | None:
        """The hyperplane of the largest margin with a free bias, if it is known."""
        proof = self.verdict.certificate
        return None if proof is None else proof.geometric_margin

    def for_model(self, w: Vector) -> Vector:
        """Return w with the sign that the model needs: the later of two classes is positive."""
        if self.negative is None:
            return w
        larger = np.unique(np.array([self.positive, self.negative]))[-1]
        return w if larger == np.asarray(self.positive) else -w


@dataclass(frozen=True)
class PerceptronRun:
    """The perceptron's run from zero weights.

    Attributes
    ----------
    converged : bool
        Whether the run ended with a cycle without a mistake.
    separates_original : bool
        Whether it converged and its rule classifies every row correctly on the original features;
        this is proved if the study decided the verdict.
    mistakes, epochs, seconds
        The counts of the run, and its time.
    scale, max_epochs, max_updates
        The features that the run saw, and its limits.
    period : int or None
        If proved, the number of epochs after which the weights of a rule repeat forever.
    """

    converged: bool
    separates_original: bool
    mistakes: int
    epochs: int
    seconds: float
    scale: str
    max_epochs: int | None
    max_updates: int | None
    period: int | None = None


@dataclass(frozen=True)
class EachRow:
    """The results for each row, if the rows are arrays.

    Attributes
    ----------
    rows : Rows
        The rows that the perceptron saw.
    codes, predicted : array of int
        The class of each row, and the class that the model predicts.
    distances : array
        The distance of each row from the hyperplane, negative on the wrong side; with several
        rules, the least of its distances.
    duplicates : list of array of int
        Groups of identical rows with different labels.
    separable_without : bool
        Whether it is proved that the model, a single rule, has every row on its correct side if the
        misclassified rows are removed or get the other label.
    """

    rows: Rows
    codes: Indices
    predicted: Indices
    distances: Vector
    duplicates: list[Indices]
    separable_without: bool

    @property
    def wrong(self) -> Indices:
        """The rows that the model misclassifies; the farthest on the wrong side comes first."""
        rows = np.flatnonzero(self.predicted != self.codes)
        return rows[np.argsort(self.distances[rows], kind="stable")]


@dataclass(frozen=True)
class Study:
    """The result of `novikoff.jobs.study.study`.

    Attributes
    ----------
    options : StudyOptions
        The options of the study.
    labels, classes : list of labels
        The labels of the data, and the labels of the model: the same labels, or a label for all
        other classes and the positive label.
    cases : list of Case
        One case for two classes, else one case for each class; empty without a verdict.
    run : PerceptronRun or None
        The perceptron's run; None if no rule classifies every row correctly.
    rule : "perceptron", "average", "largest margin" or "fewest mistakes"
        Which rule the model is.
    model : LinearModel
        The best rules that were found, for the original features.
    pocket : list
        For the rule "fewest mistakes", how each rule was found.
    confusion : array of shape (n_classes, n_classes)
        The number of rows of each class (down) that the model assigns to each class (across).
    margins : list of float
        The distance of the nearest row from each rule, negative if the rule misclassifies a row.
    each_row : EachRow or None
        The results for each row; None if the rows are on a cluster.
    loading : float
        The seconds that were spent on loading and compiling loops.
    """

    options: StudyOptions
    labels: list[Label]
    classes: list[Label]
    cases: list[Case]
    run: PerceptronRun | None
    rule: RuleName
    model: LinearModel
    pocket: list[FoundRule]
    confusion: Indices
    margins: list[float]
    each_row: EachRow | None
    loading: float = 0.0

    @property
    def rest(self) -> Label | None:
        """The class of the model that stands for all but the positive class, if there is one."""
        return self.classes[0] if len(self.classes) < len(self.labels) else None

    @property
    def sha256(self) -> str:
        """The digest that the first proof names: of the rows with the signs of its two sides.

        Empty if nothing is proved.
        """
        proofs = [case.verdict.certificate or case.bound for case in self.cases]
        return next((proof.sha256 for proof in proofs if proof is not None), "")

    @property
    def proofs(self) -> list[Certificate | ErrorBound]:
        """The certificates of all verdicts, then the proofs of all lower bounds above zero."""
        verdicts = [case.verdict.certificate for case in self.cases]
        bounds = [case.bound if case.least_mistakes else None for case in self.cases]
        return [proof for proof in (*verdicts, *bounds) if proof is not None]

    @property
    def mistakes(self) -> int:
        """The number of rows that the model misclassifies; f(x) = 0 is the negative class."""
        return int(self.confusion.sum() - np.trace(self.confusion))

    @property
    def kinds(self) -> list[str]:
        """The kind of the verdict of each case."""
        return [case.verdict.kind for case in self.cases]

    @property
    def multipliers(self) -> dict[int, float]:
        """The multipliers λ of the proofs of margins and contradictions, by row.

        The multipliers of a proof are divided by their sum. With several classes, a row gets the
        largest of its shares.
        """
        shares = dict[int, float]()
        for case in self.cases:
            proof, widest = case.verdict.certificate, case.geometric_margin
            multipliers = {} if proof is None else proof.multipliers
            if widest is not None:
                multipliers = dict(zip(widest.rows, widest.multipliers, strict=True))
            whole = sum(multipliers.values())
            for row, multiplier in multipliers.items():
                shares[row] = max(shares.get(row, 0.0), float(multiplier / whole))
        return shares
