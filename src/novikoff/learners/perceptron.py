"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

from novikoff.core.updates import Update, perceptron
from novikoff.learners.inputs import MARGIN, STEP, Rule
from novikoff.learners.online import STRUCTURE, WeightLearner


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(WeightLearner):
    """Rosenblatt's perceptron: on a mistake y·f(x) ≤ δ, w ← w + μ·y·x and b ← b + μ·y.

    On separable data it ends with a clean cycle after at most R²/γ² updates (from zero
    weights with δ = 0), whatever the order of the rows: Novikoff's theorem (A2, B1).
    It never stops early on a loss; a fit that ends without a clean cycle warns.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias b. It is learned like the weight of a column of ones (A3).
    margin : float, default=0.0
        The threshold δ ≥ 0 of a mistake.
    step : float, default=1.0
        The step μ > 0. From zero weights with ``margin=0`` it changes no prediction (B6).
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        Which row comes next (A4): "cyclic", "fixed" (one random cycle), "permuted" (a fresh
        one each epoch), "blocks" (blocks of neighbouring rows; the same for large data,
        several times faster), "random" (independent draws), "max_distance",
        "max_residual" (the worst row). A list such as [3, 1, 0, 2] is one cycle, repeated;
        every row must be in it.
    average : {False, "averaged", "voted"}, default=False
        Predict with the last weights, their average over all steps, or the vote of all
        (A9; Freund and Schapire 1999). The last weights end best on separable data, the
        others on data that is not.
    scale : "standard" or None, default=None
        Whether the run sees features of mean 0 and variance 1 (sparse ones, and those of a fit
        without intercept, are only divided), which often needs far fewer updates: R²/γ² depends
        on scale and translation (B6). ``coef_`` and ``intercept_`` are for the features as
        given; counts, ``margin``, and the trace with its w* are those of the run. Not for streams.
    max_epochs : int or None, default=1000
        Limit on passes over the data; None for no limit.
    max_updates : int or None, default=None
        Limit on updates, of each binary problem.
    max_seconds : float or None, default=None
        Limit on time, not counting a first compilation.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One rule for each class against the rest, or for each pair of classes (A7).
    class_weight : dict, "balanced" or None, default=None
        Factors on the steps by class.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the last fit.
    trace : bool or array-like, default=False
        Record every update in ``trace_``. Given a reference w*, of n_features entries, or
        one more for its bias if there is an intercept, ⟨w*, w⟩ and the angle too (B3).
    random_state : int, RandomState or None, default=None
        The seed of the order.
    n_jobs : int or None, default=None
        Threads for rules that are trained each for itself: those of one-vs-one, of a trace, of
        a maximal rule. The result is the same.
    verbose : int, default=0
        Print a line every so many epochs.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coef_ : array of shape (n_rules, n_features)
        The weights: one rule for two classes, else one for each class or pair.
    intercept_ : array of shape (n_rules,)
        The biases.
    n_updates_ : int
        Updates made, summed over the binary problems: what the theorem counts.
    n_mistakes_ : int
        Those made on a row that was on the wrong side, y·f(x) ≤ 0; all of them if
        ``margin`` is 0.
    n_iter_ : int
        Epochs begun, the most of any rule; for streams, calls of `partial_fit`.
    converged_ : bool
        Whether the fit ended with a clean cycle: for the last weights, every y·f(x) > δ on
        the training rows, as given too if they were scaled. False once more has been learned
        from a stream.
    update_counts_ : array of shape (n_samples,), or CSR array of shape (n_rules, n_samples)
        Updates on each row: the dual variables k_i of w = w₀ + μ·Σ k_i·a_i (A8). Gone
        once more has been learned from a stream.
    trace_ : Trace, or list of Trace for more than two classes
        With ``trace``: one entry per update; ``trace_.weights(t)`` is w_t, the bias last, and
        ``trace_.average(t)`` the running average.
    period_ : int or None, or list of them for more than two classes
        The epochs after which the weights repeat for ever, found where it is exact (B8): rows and
        weights are integers and each epoch is the same cycle, or takes the worst row. It proves
        that no rule separates the data.
    random_state_ : int
        The random_state that repeats this fit.
    mixed_updates_ : array of shape (n_rules,)
        After a fit on a cluster: the updates as mixing counts them, at most R²/γ² of each rule.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import novikoff as nv
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, [0, 0, 0, 1])  # AND
    >>> clf.predict(X), clf.converged_, clf.n_mistakes_
    (array([0, 0, 0, 1]), True, 18)
    >>> far = [[1000.0, 0.1], [1001.0, 0.2], [1002.0, 0.1]]
    >>> clf = nv.Perceptron(scale="standard", order="cyclic").fit(far, [0, 0, 1])
    >>> clf.predict(far), clf.converged_
    (array([0, 0, 1]), True)
    """

    margin: float = 0.0
    step: float = 1.0

    _mixes = True
    _of_update = attrgetter("margin", "step", *STRUCTURE)
    _rules: ClassVar[Mapping[str, Rule]] = {
        **WeightLearner._rules,
        "margin": MARGIN,
        "step": STEP,
    }

    def _update(self) -> Update:
        return perceptron(self.margin, self.step)
