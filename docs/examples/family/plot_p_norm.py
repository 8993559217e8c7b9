"""
Few features of many: the p-norm perceptron
===========================================

The features are ±1, and three of d features decide the label. The perceptron's bound and mistakes
grow with d. The bound (p − 1)·(X_p·‖u‖_q/γ)² of the p-norm perceptron with p = 2·ln d grows with
ln d (A9).
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

sizes = np.array([30, 100, 300, 800])
found = {"p = 2, the perceptron": [], "p = 2·ln d": []}
bounds = {name: [] for name in found}
for d in sizes:
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, d))
    u = np.zeros(d)
    u[:3] = 1.0
    for name, p in zip(found, (2.0, 2.0 * np.log(d)), strict=True):
        clf = nv.PNormPerceptron(p, fit_intercept=False)
        clf.partial_fit(X, X @ u > 0, classes=[False, True])
        q = p / (p - 1.0)
        found[name].append(clf.n_mistakes_)
        bounds[name].append(nv.bounds.p_norm_bound(p, d ** (1.0 / p), 3.0 ** (1.0 / q), 1.0))

figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
figure.set_label("Mistakes and bounds against the number of features, for p = 2 and for p = 2 ln d")
for k, name in enumerate(found):
    ax.plot(sizes, found[name], marker="o", color=f"C{k}", label=f"{name}: mistakes")
    ax.plot(sizes, bounds[name], "--", color=f"C{k}", label="its bound")
    assert (np.array(found[name]) <= bounds[name]).all()
ax.set(xscale="log", yscale="log", xlabel="features d, three of which decide", ylabel="mistakes")
legend = ax.legend()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_p_norm.png"
