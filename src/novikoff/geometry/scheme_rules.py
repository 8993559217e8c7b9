"""Rules with few mistakes for every binary problem of a scheme, alone and used together.

`find_rules` searches a rule for each problem (`novikoff.geometry.fewest_mistakes`), chooses the
rules that work best together (`best_together`), and counts their mistakes as `predict` makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from novikoff.core.blas import one_blas_thread
from novikoff.core.class_labels import side_labels
from novikoff.core.model import LinearModel
from novikoff.core.pocket import cost_of
from novikoff.core.problem import Rows, scores, sure_products
from novikoff.core.rows import Indices, Vector
from novikoff.core.schemes import Scheme
from novikoff.core.stops import Limits
from novikoff.geometry.descent import Basis, whitening
from novikoff.geometry.fewest_mistakes import (
    FewestMistakes,
    MistakesProgress,
    exact_cost,
    fewest_mistakes,
    problem_of,
    rows_at_a_cost,
)
from novikoff.proofs.digest import MatrixDigest

_SCORES_TOO_LARGE = (
    "The scores of some rows are beyond the range of float64: scale the columns, for instance by "
    "sklearn.preprocessing.StandardScaler."
)


@dataclass(frozen=True)
class FoundRules:
    """Rules with few mistakes for each binary problem of a scheme.

    ``alone`` has the best rule that was found for each binary problem. ``together`` has the rules
    that choose the right class most often when all of them are used, and ``model`` has these
    weights. In ``together``, ``mistakes`` and ``bound`` count mistakes as `predict` makes them: a
    row on the hyperplane belongs to the negative class.
    """

    model: LinearModel
    together: list[FewestMistakes]
    alone: list[FewestMistakes]


def find_rules(
    rows: Rows,
    codes: Indices,
    model: LinearModel,
    *,
    costs: Vector | None = None,
    start: Vector | None = None,
    strategy: str = "ratchet",
    refine: bool = True,
    lower_bound: bool = True,
    limits: Limits,
    seed: int,
    digest: MatrixDigest | None = None,
    basis: Callable[[], Basis] | None = None,
    begin: Callable[[int], MistakesProgress | None] | None = None,
) -> FoundRules:
    """Find a rule with few mistakes for each binary problem of a scheme.

    Parameters
    ----------
    rows, codes
        The rows and the class of each row.
    model : LinearModel
        A model without weights, which this function fills in. The scheme of the model says which
        classes each rule separates.
    costs, strategy, refine, lower_bound, digest
        As in `fewest_mistakes`.
    start : array of shape (p, n_rules), optional
        Weights to start from.
    limits, seed
        The limits on all rules together, and the seed, which every rule uses. The rules also share
        the default limit on the search for lower bounds.
    basis : callable, optional
        A function that returns the `whitening` of the problem, if several schemes share it.
    begin : callable, optional
        A function that is called with the number of each rule before its search, and that returns
        the ``progress`` of this search.

    Raises
    ------
    ValueError
        If the scores of some rows are beyond the range of float64.
    """
    shared_basis = (
        cache(lambda: whitening(rows, np.random.default_rng(seed))) if basis is None else basis
    )
    digest = digest or MatrixDigest.of(rows.X)
    alone = []
    for rule, sides in enumerate(model.sides.T):
        rest = limits.part(1.0 / (model.n_rules - rule))
        best = fewest_mistakes(
            rows.with_signs(sides[codes]),
            costs=costs,
            start=None if start is None else start[:, rule],
            strategy=strategy,
            refine=refine,
            lower_bound=lower_bound,
            limits=rest,
            work=1.0 / model.n_rules,
            rng=np.random.default_rng(seed),
            sides=side_labels(model.scheme, model.classes, rule),
            digest=digest,
            basis=shared_basis if costs is None else None,  # rows of cost 0 are left out
            progress=None if begin is None else begin(rule),
        )
        alone.append(best)
    printed = strategy == "textbook"
    together = alone if printed else best_together(alone, model.scheme, codes)
    model.W[:] = np.column_stack([rule.w for rule in together])
    model.totals[1:] = [rule.updates for rule in together]
    try:
        scored = model.scores(rows.X)
    except ValueError:
        raise ValueError(_SCORES_TOO_LARGE) from None
    pairs = zip(together, scored.T, strict=True)
    together = [_as_predicted(rule, score, printed=printed) for rule, score in pairs]
    return FoundRules(model, together, alone)


def _as_predicted(best: FewestMistakes, score: Vector, *, printed: bool) -> FewestMistakes:
    """The rule with its mistakes counted as `predict` makes them, and a bound on this count.

    The search and its proof count every row on the hyperplane as a mistake, while `predict` assigns
    such a row to the negative class. If rows may lie on the hyperplane of this rule, the proof is
    reduced to a proof that also holds for the count of `predict`. If rounding would give the rule
    fewer mistakes than the bound allows, rows whose sign depends on rounding count as mistakes.
    """
    signs, costs, proof = best.problem.signs, best.costs, best.proof
    wrong = (signs != 0) & ((score > 0.0) != (signs > 0))
    mistakes = exact_cost(wrong, costs)
    if printed or mistakes != best.mistakes:
        exact_costs = None if costs is None else [Fraction(value) for value in costs.tolist()]
        proof = proof.with_zero_negative({*np.flatnonzero(signs > 0).tolist()}, exact_costs)
    if mistakes < proof.bound:
        mistakes = max(best.mistakes, proof.bound)
    history = best.history if printed else [*best.history[:-1], (best.updates, float(mistakes))]
    return replace(
        best,
        mistakes=mistakes,
        wrong=np.flatnonzero(wrong),
        bound=proof.bound,
        claims=proof.contradictions,
        shares=proof.shares,
        search=proof.search,
        branches=proof.branches,
        history=history,
    )


def best_together(
    rules_apart: list[FewestMistakes], scheme: Scheme, codes: Indices
) -> list[FewestMistakes]:
    """The rules of a scheme that choose the right class most often when used together.

    Each rule in ``rules_apart`` is the best one for its two classes, but the scores of different
    rules have no common scale. All of them are replaced by averaged perceptrons, least squares,
    logistic regressions or the rules that choose the most frequent class if these make fewer
    mistakes together.
    """
    if len(rules_apart) == 1:
        return rules_apart
    X, costs = rules_apart[0].problem.X, rules_apart[0].costs
    kinds = range(min(len(rule.cheap) for rule in rules_apart))
    variants = [[rule.w for rule in rules_apart]]
    variants += [[rule.cheap[kind] for rule in rules_apart] for kind in kinds]
    if rules_apart[0].problem.fit_intercept:
        constant = np.append(np.zeros(X.shape[1]), 1.0)
        sides = scheme.sides[np.bincount(codes, costs).argmax()]  # 0: a pair of other classes
        pairs = zip(rules_apart, sides, strict=True)
        variants.append([side * constant if side else rule.w for rule, side in pairs])
    wrong = []
    for rules in variants:
        with one_blas_thread():
            chosen = scheme.choose(scores(X, np.column_stack(rules)))
        wrong.append(cost_of(np.where(chosen == codes, 1.0, -1.0), costs))
    best = int(np.argmin(wrong))
    if best == 0:
        return rules_apart
    together = []
    for rule, w in zip(rules_apart, variants[best], strict=True):
        part = rows_at_a_cost(rule.problem, costs)
        inner, inner_costs = problem_of(rule.problem, costs, part)
        bad = ~(sure_products(inner, w) > 0.0)
        mistakes = exact_cost(bad, inner_costs)
        history = [*rule.history[:-1], (rule.updates, float(mistakes))]
        together.append(replace(rule, w=w, mistakes=mistakes, wrong=part[bad], history=history))
    return together
