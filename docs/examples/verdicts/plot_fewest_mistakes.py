"""
The pocket's history, and the proved minimum
============================================

If no hyperplane separates the data, ``Pocket`` searches for a hyperplane with few mistakes (A6).
Contradictions among the rows prove a lower bound on the mistakes of every hyperplane (C5);
contradictions with common rows count as a fraction of a mistake each. The smallest possible number
of mistakes lies between the two lines.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import novikoff as nv

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X[:, :5])  # five of the thirty measurements
pocket = nv.Pocket(random_state=0).fit(X, y)
nv.verify(pocket.certificate_, X, y)

updates, errors = pocket.history_.T
found, least = pocket.n_errors_, pocket.errors_lower_bound_
figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
figure.set_label("The mistakes of the best rule so far fall towards a proved lower bound")
ax.step(updates + 1, errors, where="post", marker="o", label=f"the pocket: {found} mistakes")
ax.axhline(least, ls="--", color="black", label=f"proved: no hyperplane makes fewer than {least}")
ax.axhspan(0, least, color="0.9")
ax.set(xscale="log", xlabel="updates + 1", ylabel="mistakes", ylim=(0, 3 * found))
legend = ax.legend()
assert 0 < least <= found

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_fewest_mistakes.png"
