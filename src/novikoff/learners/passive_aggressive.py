"""The passive-aggressive learner as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar, Literal

from novikoff.core.updates import Update, passive_aggressive
from novikoff.learners.inputs import STEP, Rule, words
from novikoff.learners.online import STRUCTURE, WeightLearner


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressive(WeightLearner):
    """Passive-aggressive: on a margin y·f(x) < 1, the nearest weights that make it 1.

    With the loss ℓ = max(0, 1 − y·f(x)) and a = y·[x, 1], w ← w + τ·a with (A9; Crammer et al.
    2006)

    * PA: τ = ℓ/‖a‖²
    * PA-I: τ = min(C, ℓ/‖a‖²)
    * PA-II: τ = ℓ/(‖a‖² + 1/(2C))

    Guarantees for one pass from zero weights, any u, R = max‖a‖ and the losses ℓ* of u on the rows:
    PA has Σℓ² ≤ R²‖u‖² if all ℓ* = 0; PA-I makes at most max(R², 1/C)·(‖u‖² + 2C·Σℓ*) mistakes;
    PA-II has Σℓ² ≤ (R² + 1/(2C))·(‖u‖² + 2C·Σℓ*²) (`novikoff.bounds`).

    It learns from every row within the margin, so that a fit rarely ends with a clean cycle: that
    would need every y·f(x) ≥ 1 to the last bit. Rows whose ‖a‖² is beyond float64 are refused; PA
    and PA-I do not move along one whose ‖a‖² is 0 there (no intercept, entries below 1e-162).

    Parameters
    ----------
    variant : {"PA-I", "PA", "PA-II"}, default="PA-I"
        Whether steps are bounded by C, not at all, or made smaller throughout.
    C : float, default=1.0
        The larger, the more a single row may move the weights; PA does not use it.
    fit_intercept, order, average, scale, max_updates, max_seconds, multi_class, class_weight, \
warm_start, trace, random_state, n_jobs, verbose
        As in `Perceptron`.
    max_epochs : int or None, default=100
        Limit on passes over the data; None for no limit.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, converged_, update_counts_, trace_, random_state_
        As in `Perceptron`; ``converged_`` means y·f(x) ≥ 1 for all rows.
    n_updates_ : int
        Updates made, summed over the binary problems.
    n_mistakes_ : int
        Those made on a row that was on the wrong side, y·f(x) ≤ 0.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0.0, 2.0], [1.0, 0.0], [3.0, 1.0]], ["left", "right", "right"]
    >>> clf = nv.PassiveAggressive().partial_fit(X, y, classes=["left", "right"])
    >>> clf.predict(X).tolist(), clf.n_updates_, clf.n_mistakes_
    (['left', 'right', 'right'], 2, 2)
    """

    variant: Literal["PA-I", "PA", "PA-II"] = "PA-I"
    C: float = 1.0
    max_epochs: int | None = 100

    _of_update = attrgetter("variant", "C", *STRUCTURE)
    _rules: ClassVar[Mapping[str, Rule]] = {
        **WeightLearner._rules,
        "variant": words("PA-I", "PA", "PA-II"),
        "C": STEP,
    }

    def _update(self) -> Update:
        if self.variant == "PA-I":
            return passive_aggressive(cap=self.C)
        if self.variant == "PA-II":
            return passive_aggressive(slack=1.0 / (2.0 * float(self.C)))
        return passive_aggressive()
