"""Tell each handwritten digit from the rest by one linear rule, where there is one.

``python -m novikoff.demo`` takes the 1,797 scanned digits of scikit-learn (8 × 8 pixels),
each class against all others. A clean cycle is a proof: the rule is right on every row.
"""

from __future__ import annotations

import warnings

import novikoff as nv

_MAX_EPOCHS = 10_000


def main() -> None:
    """Fit a perceptron for each digit and print a line about it."""
    from sklearn.datasets import load_digits
    from sklearn.exceptions import ConvergenceWarning

    X, digits = load_digits(return_X_y=True)
    print(
        f"data        digits · {X.shape[0]:,} rows · {X.shape[1]} features · each class vs the rest"
    )
    for digit in range(10):
        clf = nv.Perceptron(order="cyclic", max_epochs=_MAX_EPOCHS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf.fit(X, digits == digit)
        if clf.converged_:
            ending = f"separable: clean after {clf.n_mistakes_:,} mistakes, {clf.n_iter_:,} epochs"
        else:
            wrong = round((1.0 - clf.score(X, digits == digit)) * len(X))
            ending = f"undecided: no clean cycle in {clf.n_iter_:,} epochs; {wrong} rows wrong"
        print(f"digit {digit}     {ending}")


if __name__ == "__main__":
    main()
