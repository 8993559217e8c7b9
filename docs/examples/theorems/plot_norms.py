"""
Margins in other norms
======================

A margin is a distance, and distances can be measured in ℓ_p norms: rows in ℓ_p, rules in the dual
norm ℓ_q (B10). If only a few of many features matter, rules are short in ℓ_1 and rows are short in
ℓ_∞. The bound (p − 1)·(X_p‖u‖_q/γ)² of the p-norm perceptron then grows with ln d for p ≈ 2·ln d,
while R²/γ² grows with d.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

angles = np.linspace(0, 2 * np.pi, 400)
circle = np.column_stack([np.cos(angles), np.sin(angles)])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
figure.set_label("The unit circles of five norms; bounds on mistakes against features")
for p, dashes in ((1, "-"), (1.5, "--"), (2, "-."), (4, ":"), (np.inf, "-")):
    sizes = np.array([nv.theory.lp_norm(x, p) for x in circle])
    left.plot(*(circle / sizes[:, None]).T, dashes, label=f"p = {p}")
left.set(aspect="equal", title="where ‖x‖_p = 1")
left.legend(loc="center")

dimensions = 2 ** np.arange(2, 11)
for p, name in ((lambda d: 2.0, "p = 2"), (lambda d: max(2.0, 2 * np.log(d)), "p = 2·ln d")):
    bounds = []
    for d in dimensions:
        X = np.random.default_rng(0).choice([-1.0, 1.0], size=(50, d))
        found = nv.theory.p_norm_margin(X, X[:, 0], np.eye(d)[0], p=p(d))
        bounds.append(nv.bounds.p_norm_bound(p(d), found.radius, 1.0, found.margin))
    right.plot(dimensions, bounds, "o-", label=name)
right.set(xlabel="features d, one of which matters", ylabel="bound on mistakes")
right.set(xscale="log", yscale="log")
legend = right.legend()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_norms.png"
