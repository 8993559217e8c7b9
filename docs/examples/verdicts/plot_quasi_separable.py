"""
Quasi-separable data and a logistic regression
==============================================

A logistic regression has finite maximum-likelihood estimates if and only if the data is inseparable
(overlap). On separable data (complete separation) and quasi-separable data (quasi-complete
separation) the likelihood has no maximum: with a weaker penalty, the coefficients grow without
limit. The verdict says so before the regression is run.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import novikoff as nv

rng = np.random.default_rng(0)
age = rng.integers(20, 60, size=80).astype(float)
exposed = rng.random(80) < 0.3
ill = rng.random(80) < 0.4
data = {
    "all exposed are ill": (ill | exposed, "quasi-separable"),
    "one exposed is not": (
        np.where(np.arange(80) == exposed.argmax(), False, ill | exposed),
        "inseparable",
    ),
}

strength = np.logspace(0, 8, 9)
figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
figure.set_label("One coefficient grows without limit as the penalty weakens; the other levels off")
X = np.column_stack([(age - age.mean()) / age.std(), exposed])
for style, (name, (y, kind)) in zip(["o-", "s--"], data.items(), strict=True):
    verdict = nv.separate(X, y)
    assert verdict.kind == kind
    nv.verify(verdict.certificate, X, y)
    fits = [LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y) for C in strength]
    ax.plot(strength, [fit.coef_[0, 1] for fit in fits], style, label=f"{name}: {kind}")
ax.set(xscale="log", xlabel="C, the inverse of the penalty", ylabel="coefficient of “exposed”")
legend = ax.legend()

# %%
# Which rows can be strictly separated, and which rows must lie on the hyperplane:

verdict = nv.separate(X, data["all exposed are ill"][0])
assert set(verdict.separated_rows) == set(np.flatnonzero(exposed))
print(f"strictly separated: the {len(verdict.separated_rows)} exposed; others: {(~exposed).sum()}")

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_quasi_separable.png"
