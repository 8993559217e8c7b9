"""
As far as needed: passive-aggressive steps
==========================================

PA moves w to the nearest point with y·f(x) = 1. On every stream on which some u has y·f(x) ≥ 1,
Σℓ² ≤ R²‖u‖² (A9). For noisy labels, PA-I limits the step to C. The bound on its mistakes,
max(R², 1/C)·(‖u‖² + 2C·Σℓ*), holds for every u.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

rng = np.random.default_rng(0)
w = rng.normal(size=10)
X = rng.normal(size=(2000, 10))
X = X[np.abs(X @ w) > 0.5]
truth = np.sign(X @ w)
noisy = truth * np.where(rng.random(len(X)) < 0.05, -1.0, 1.0)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
figure.set_label("Squared losses stay below their bound; so do the mistakes on noisy labels")
R, u, t = np.linalg.norm(X, axis=1).max(), w / 0.5, np.arange(1, len(X) + 1)

clf = nv.PassiveAggressive(variant="PA", fit_intercept=False)
losses, wrong = [1.0], {variant: [True] for variant in ("PA", "PA-I")}  # of the first row
clf.partial_fit(X[:1], truth[:1], classes=[-1.0, 1.0])
for x, y in zip(X[1:], truth[1:], strict=True):
    losses.append(max(0.0, 1.0 - y * (clf.coef_[0] @ x)) ** 2)
    clf.learn_one(x, y)
axes[0].plot(t, np.cumsum(losses), label="Σℓ² of PA")
axes[0].axhline(R**2 * (u @ u), ls="--", color="black", label="R²‖u‖²")
axes[0].set(title="correct labels", xlabel="rows seen", ylim=(0.0, None))
for variant in wrong:
    clf = nv.PassiveAggressive(variant=variant, C=0.01, fit_intercept=False)
    clf.partial_fit(X[:1], noisy[:1], classes=[-1.0, 1.0])
    for x, y in zip(X[1:], noisy[1:], strict=True):
        wrong[variant].append(clf.predict_one(x) != y)
        clf.learn_one(x, y)
    axes[1].plot(t, np.cumsum(wrong[variant]), label=f"mistakes of {variant}")
hinge = np.cumsum(np.maximum(0.0, 1.0 - noisy * (X @ u)))
bound = max(R**2, 100.0) * (u @ u + 0.02 * hinge)
axes[1].plot(t, bound, "--", color="black", label="the bound of PA-I")
axes[1].set(title="5 % flipped, C = 0.01", xlabel="rows seen", yscale="log")
legends = [ax.legend() for ax in axes]
assert sum(losses) <= R**2 * (u @ u)
assert (np.cumsum(wrong["PA-I"]) <= bound).all()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_passive_aggressive.png"
