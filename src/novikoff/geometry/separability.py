"""Decide separability: `separate` for arrays, and `find_verdict` for checked rows.

`novikoff.geometry.verdict_search` finds and proves the answer. `novikoff.geometry.verdict` has its
record. No result relies on unverified floating-point arithmetic: the sign of every row is
proved, and multipliers λ are exact or come from a verified solve. If nothing could be proved within
the budget, the verdict is "undecided".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from novikoff.core.blas import one_blas_thread
from novikoff.core.class_labels import Labels, check_labels, distinct_labels, plain_label, signs_of
from novikoff.core.problem import Problem, Rows
from novikoff.core.stops import Limits, check_budget
from novikoff.core.validation import Columns, check_matrix, check_same_index, columns_of
from novikoff.geometry.passes import LocalPasses
from novikoff.geometry.verdict import Verdict, VerdictData, make_verdict
from novikoff.geometry.verdict_search import Goal, IntervalProgress, search_verdict
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.proof_data import SideLabel
from novikoff.proofs.remote import RemoteRows


def separate(
    X: object,
    y: object = None,
    *,
    positive: Hashable = None,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    goal: Goal = "margin",
    budget: float | None = None,
    progress: IntervalProgress | None = None,
) -> Verdict:
    """Decide whether a hyperplane separates two classes, and prove the answer.

    The answer is complete separation ("separable"), quasi-complete separation ("quasi-separable")
    or overlap ("inseparable"). It is never wrong: if it could not be proved, it is "undecided".

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The rows. Float32 and float64 arrays, memory-mapped arrays and CSR matrices are read in
        place, in several passes. A column of pandas categories becomes one column of 0 and 1 for
        each category that occurs. X may also be the rows of a cluster (`novikoff.cluster.rows`),
        which include their labels.
    y : array of shape (n,)
        Two different labels; the larger label is the positive class. If there is only one label,
        the question is whether all rows are on one side of some hyperplane. A pandas Series must
        have the index of X.
    positive : label, optional
        The positive class. All other labels, of which there may be several, are the negative class.
    fit_intercept : bool
        Whether the hyperplane may have a bias.
    tol : float
        The relative width of the interval for the margin. The interval may be wider if the lengths
        of the rows differ too much for float64.
    goal : "margin" or "kind"
        Whether to find the largest margin, or to stop as soon as the kind is proved.
    budget : float, optional
        Seconds after which the verdict contains everything that is proved by then. Loading and
        compiling do not count.
    progress : callable, optional
        A function that is called with the interval for the margin whenever it becomes narrower.

    Returns
    -------
    Verdict
        The kind, a separating hyperplane with its margin or the rows that contradict each other,
        and a certificate that anyone can check. After Ctrl-C or at the end of the budget, it
        contains everything that is proved by then.

    See Also
    --------
    separate_classes : Each class against the rest.
    verify : Check the certificate.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdict = nv.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> verdict.kind, verdict.mistake_bound
    ('separable', 51)
    >>> nv.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).kind
    'inseparable'
    >>> nv.separate([[1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 1]).kind
    'quasi-separable'
    """
    _check_options(fit_intercept, tol, goal, budget)
    if isinstance(X, RemoteRows):
        X.check_alone(y)
        return X.separate(
            positive=positive, fit_intercept=fit_intercept, tol=tol, goal=goal, budget=budget,
            progress=progress,
        )  # fmt: skip
    rows, labels, columns, index = _checked(X, y, bool(fit_intercept))
    classes = distinct_labels(labels)
    sides = choose_sides(classes, positive)
    problem = rows.with_signs(signs_of(labels, *sides))
    limits = Limits(seconds=budget)
    verdict = find_verdict(problem, sides, tol=tol, goal=goal, limits=limits, progress=progress)
    alone = positive is None and len(classes) == 1 and not isinstance(sides[0], str)
    only_negative = alone and not float(sides[0] or 0) > 0.0
    data = VerdictData(problem, columns, index, only_negative=only_negative)
    return replace(verdict, data=data)


def separate_classes(
    X: object,
    y: object,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    goal: Goal = "margin",
    budget: float | None = None,
    progress: IntervalProgress | None = None,
) -> dict[Hashable, Verdict]:
    """Decide for every class whether a hyperplane separates it from all others (one-vs-rest).

    If every class is separable from the rest, the class with the largest score is correct for every
    row. The converse is false: the class with the largest score may be correct for every row
    although no class is separable from the rest. Therefore the verdicts do not decide whether a
    rule that compares the scores of several classes, such as a multinomial logistic regression, can
    classify every row correctly.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The rows, as in `separate`.
    y : array of shape (n,)
        The labels.
    fit_intercept, tol, goal, progress
        As in `separate`.
    budget : float, optional
        A limit in seconds on the time for all classes together.

    Returns
    -------
    dict
        A `Verdict` for each label.

    See Also
    --------
    separate : The verdict about two classes.
    Pocket : A rule with few mistakes, and a bound, for each class.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdicts = nv.separate_classes([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> {label: verdict.kind for label, verdict in verdicts.items()}
    {'a': 'separable', 'b': 'inseparable', 'c': 'separable'}
    """
    _check_options(fit_intercept, tol, goal, budget)
    if isinstance(X, RemoteRows):
        raise TypeError(
            "separate_classes() does not take rows of a cluster. Call separate() with positive=… "
            "for each label of rows.labels."
        )
    rows, labels, columns, index = _checked(X, y, bool(fit_intercept))
    limits, digest = Limits(seconds=budget), MatrixDigest.of(rows.X)
    verdicts = {}
    for label in distinct_labels(labels):
        sides = plain_label(label), None
        problem = rows.with_signs(signs_of(labels, *sides))
        verdict = find_verdict(
            problem, sides, tol=tol, goal=goal, limits=limits, progress=progress, digest=digest
        )
        verdicts[label] = replace(verdict, data=VerdictData(problem, columns, index))
    return verdicts


def find_verdict(
    problem: Problem,
    sides: tuple[SideLabel, SideLabel],
    *,
    tol: float = 1e-8,
    goal: Goal = "margin",
    limits: Limits | None = None,
    progress: IntervalProgress | None = None,
    digest: MatrixDigest | None = None,
    certificate: bool = True,
) -> Verdict:
    """Find the verdict on signed rows that were checked before.

    Parameters
    ----------
    problem : Problem
        The rows, whose signs are the two classes.
    sides : tuple of labels
        The positive and the negative label; None stands for all other labels.
    tol, goal, progress
        As in `separate`.
    limits : Limits, optional
        Limits on the time of the search.
    digest : MatrixDigest, optional
        The digest of the matrix, if it is known from another question about the same rows.
    certificate : bool
        Whether the verdict has a certificate. Without a certificate, the rows are not hashed.

    Returns
    -------
    Verdict
        The verdict, without ``data``.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> problem = signed_problem(np.array([[0.0], [1.0]]), np.array([-1, 1], dtype=np.int8), True)
    >>> verdict = find_verdict(problem, (1, 0), certificate=False)
    >>> verdict.kind, verdict.mistake_bound, verdict.certificate
    ('separable', 10, None)
    """
    limits, passes = limits or Limits(), LocalPasses(problem)
    sha256 = ""
    if certificate:
        with ThreadPoolExecutor(1) as pool:  # the rows are hashed while the search runs
            hashing = pool.submit(lambda: digest or MatrixDigest.of(problem.X))
            result = search_verdict(passes, goal, tol, limits, progress)
        sha256 = hashing.result().signed(problem.signs)
    else:
        result = search_verdict(passes, goal, tol, limits, progress)
    with one_blas_thread():
        verdict = make_verdict(passes, sha256, result, sides, limits)
    separated = np.arange(problem.n if result.kind == "separable" else 0)
    if result.separated is not None:
        separated = np.flatnonzero(passes.whole_part.values_of(result.separated))
    proof = verdict.certificate if certificate else None
    return replace(verdict, separated_rows=separated, certificate=proof)


def _checked(X: Any, y: object, fit_intercept: bool) -> tuple[Rows, Labels, Columns, Labels | None]:
    """Check X and y; return rows, labels, the names of the columns, and the index of a frame."""
    matrix, labels = check_matrix(X), check_labels(y)
    if len(labels) != matrix.shape[0]:
        raise ValueError(f"X has {matrix.shape[0]} rows, but y has {len(labels)} labels.")
    check_same_index(X, y)
    columns = columns_of(X, matrix.shape[1])
    names = None if isinstance(columns.names, range) else columns.names
    index = X.index.to_numpy() if hasattr(X, "iloc") else None
    return Rows.of(matrix, fit_intercept, names=names), labels, columns, index


def _check_options(fit_intercept: bool, tol: float, goal: str, budget: float | None) -> None:
    a_flag = isinstance(fit_intercept, bool | np.bool_)
    for name, value, good, wanted in (
        ("fit_intercept", fit_intercept, a_flag, "True or False"),
        ("tol", tol, isinstance(tol, Real) and 0.0 < tol < 1.0, "between 0 and 1"),
        ("goal", goal, goal in ("margin", "kind"), "'margin' or 'kind'"),
    ):
        if not good:
            raise ValueError(f"{name} must be {wanted}, not {value!r}.")
    check_budget(budget)


def choose_sides(classes: Sequence[Hashable], positive: Hashable) -> tuple[SideLabel, SideLabel]:
    """Return the positive and the negative label; None stands for all other labels."""
    if positive is not None:
        chosen = plain_label(positive)
        others = [label for label in map(plain_label, classes) if label != chosen]
        if len(others) == len(classes):
            raise ValueError(
                f"The positive class {positive!r} is none of the labels {classes[:10]}."
            )
        return chosen, others[0] if len(others) == 1 else None
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes; separate() takes two. Name the positive one, or use "
            "separate_classes() to test each class against the rest."
        )
    return plain_label(classes[-1]), plain_label(classes[0]) if len(classes) > 1 else None
