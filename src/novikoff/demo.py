"""Can one linear rule tell each handwritten digit from the rest? The verdict, and its proof.

``python -m novikoff.demo`` takes the 1,797 scanned digits of scikit-learn (8 × 8 pixels),
each class against all others, and checks every certificate against the data.
"""

from __future__ import annotations

import novikoff as nv


def main() -> None:
    """Decide for each digit, and print a line about it."""
    from sklearn.datasets import load_digits

    X, digits = load_digits(return_X_y=True)
    n, d = X.shape
    print(
        f"data       digits · {n:,} rows · {d} features · each class against the rest", flush=True
    )
    for digit, verdict in nv.separate_classes(X, digits).items():
        if verdict.certificate is not None:
            nv.verify(verdict.certificate, X, digits)
        print(f"digit {digit}    {verdict}", flush=True)
    print("           every verdict's certificate was checked against the data, exactly")


if __name__ == "__main__":
    main()
