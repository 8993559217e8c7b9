"""Rows whose labels are suspect, in order of suspicion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import check_labels, code_labels
from novikoff.core.problem import Rows, sure_products
from novikoff.core.rows import Vector
from novikoff.core.validation import check_matrix
from novikoff.errors import MissingExtraError
from novikoff.geometry.passes import prove_signs
from novikoff.geometry.separability import separate
from novikoff.learners.arrays import MatrixLike
from novikoff.learners.pocket import Pocket


def suspect_rows(
    X: MatrixLike,
    y: npt.ArrayLike,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    random_state: int | None = 0,
) -> Any:
    """List all rows in order of suspicion, for labels that a linear rule should explain.

    The rows that the best known rule misclassifies come first, the farthest on the wrong side
    before the others. If their labels are changed, or if they are removed, a hyperplane separates
    the classes. The other rows follow by their share in the proof, and then by their distance from
    the hyperplane.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        The labels, of two classes.
    fit_intercept : bool
        Whether the hyperplane may have a bias.
    max_seconds, random_state
        As in `Pocket`.

    Returns
    -------
    pandas.DataFrame
        A row for each row of X, indexed by the index of X if X is a data frame, else by its
        number. The columns are

        - ``label``: the label as given, and ``other``, the label of the other class.
        - ``relabel``: whether the row is in the set of rows whose relabelling makes the data
          separable.
        - ``share``: how much of the proof is about the row. If the data is not separable, this is
          the sum of the shares of the contradictions that contain the row (`ErrorBound.shares`).
          Otherwise it is its multiplier in the proof of the margin; all multipliers add up to 1.
        - ``distance``: the distance from the hyperplane, negative on the wrong side.

        ``attrs`` has three more results. ``separable`` says whether it is proved that a hyperplane
        separates the classes after the relabelling. ``fewest`` says whether it is proved that no
        smaller set of rows does the same. ``least`` is a proved lower bound on the number of rows
        of such a set.

    See Also
    --------
    Pocket : The rule with the fewest mistakes, and the proof of the lower bound.
    separate : Decide whether a rule without mistakes exists.

    References
    ----------
    Northcutt, C., Jiang, L. and Chuang, I. (2021). Confident learning: estimating uncertainty in
    dataset labels. *Journal of Artificial Intelligence Research* 70, 1373-1411. Another way, for
    any classifier that estimates probabilities.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 1, 1, 1]
    >>> frame = nv.suspect_rows(X, y)
    >>> int(frame.relabel.sum()), frame.attrs
    (1, {'separable': True, 'fewest': True, 'least': 1})
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingExtraError("nv.suspect_rows", "pandas", "formula") from None

    matrix, labels = check_matrix(X), check_labels(np.asarray(y))
    classes, codes = code_labels(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} classes. nv.suspect_rows compares two classes: pass the rows "
            "of two of them, or one class against the rest, as in y == label."
        )
    model = Pocket(fit_intercept=fit_intercept, max_seconds=max_seconds, random_state=random_state)
    model.fit(matrix, labels)
    proof: Any = model.certificate_
    rows = Rows.of(matrix, fit_intercept)
    signs = np.where(codes == 1, 1, -1).astype(np.int8)
    w = np.append(model.coef_[0], model.intercept_[0])
    products = sure_products(rows.with_signs(signs), w)
    wrong = np.asarray(model.predict(matrix)) != labels
    relabelled = np.where(wrong, -signs, signs).astype(np.int8)
    separable = prove_signs(rows.with_signs(relabelled), w)
    shares = _multipliers(matrix, labels, fit_intercept) if not wrong.any() else proof.row_shares()
    norm = float(np.linalg.norm(model.coef_[0])) or 1.0
    table = pd.DataFrame(
        {
            "label": labels,
            "other": classes[1 - codes],
            "relabel": wrong,
            "share": shares,
            "distance": np.where(wrong, -np.abs(products), np.abs(products)) / norm,
        },
        index=getattr(X, "index", None) if hasattr(X, "iloc") else None,
    )
    table.attrs = {
        "separable": separable,
        "fewest": bool(model.optimal_),
        "least": int(proof.bound),
    }
    order = np.lexsort((table["distance"], np.where(wrong, 0.0, -table["share"]), ~wrong))
    return table.iloc[order]


def _multipliers(X: Any, labels: Any, fit_intercept: bool) -> Vector:
    """For each row, its multiplier in the proof of the margin, divided by the sum of all."""
    multipliers = np.zeros(len(labels))
    proof = separate(X, labels, fit_intercept=fit_intercept).certificate
    if proof is not None and proof.kind == "separable" and proof.multipliers:
        total = sum(proof.multipliers.values())
        for row, multiplier in proof.multipliers.items():
            multipliers[row] = float(multiplier / total)
    return multipliers
