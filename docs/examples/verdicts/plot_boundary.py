"""
The rule among the rows
=======================

The perceptron finds *some* hyperplane that separates the classes. ``MaxMargin`` finds the
hyperplane whose nearest rows are as far away as possible.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, make_moons

import novikoff as nv

iris = load_iris(as_frame=True)
two = iris.target < 2
X = iris.data.loc[two, ["sepal length (cm)", "petal length (cm)"]]
y = iris.target_names[iris.target[two]]

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharey=True)
figure.set_label("Two separating lines: the perceptron's, and the line of the largest margin")
rules = {"the perceptron": nv.Perceptron(order="cyclic"), "the largest margin": nv.MaxMargin()}
for ax, (name, rule) in zip(axes, rules.items(), strict=True):
    nv.plots.BoundaryDisplay.from_estimator(rule.fit(X, y), X, y, ax=ax)
    ax.set_title(name, loc="right")

# %%
# Both classify every row correctly.

for rule in rules.values():
    assert ((rule.decision_function(X) > 0) == (y == "versicolor")).all()

# %%
# The boundary of a kernel classifier is a curve. It is drawn where f(x) = 0.

X, y = make_moons(150, noise=0.1, random_state=0)
kernel = nv.KernelPerceptron(gamma=2.0, random_state=0).fit(X, y)
display = nv.plots.BoundaryDisplay.from_estimator(kernel, X, y)
display.figure_.set_label("A curved boundary between two half moons")
assert kernel.converged_
assert not display.mistakes.any()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_boundary.png"
