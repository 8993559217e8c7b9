"""novikoff: the perceptron, with its proof.

The package decides whether a hyperplane separates labelled rows, learns linear classifiers online,
solves linear inequalities, and tells whether the maximum-likelihood estimate of a model exists.
Every answer that is called proved has a certificate that anyone can check.

>>> import novikoff as nv
>>> clf = nv.Perceptron(order="cyclic").fit([[1.0, 2.0], [-1.0, -1.0]], ["up", "down"])
>>> clf.predict([[3.0, 3.0]])
array(['up'], dtype='<U4')
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# The public names and the module of each name. A module is loaded when one of its names is first
# used, so that importing novikoff takes no time. `__init__.pyi` has the same names for type
# checkers.
_MODULES = {
    "bounds": "theory.bounds",
    "cluster": "cluster",
    "data": "data",
    "errors": "errors",
    "neurons": "neurons",
    "orders": "core.orders",
    "plots": "plots",
    "theory": "theory",
}
_NAMES = {
    "Certificate": "proofs.certificate",
    "CertificateError": "errors",
    "ErrorBound": "proofs.error_bound",
    "Explanation": "systems.explanation",
    "Forgetron": "learners.kernel",
    "Hyperplane": "core.hyperplane",
    "Interval": "geometry.margin",
    "KernelPerceptron": "learners.kernel",
    "MaxMargin": "learners.max_margin",
    "NotSeparableError": "errors",
    "NovikoffError": "errors",
    "Optimum": "systems.linear_program",
    "PNormPerceptron": "learners.stateful",
    "PassiveAggressive": "learners.perceptron",
    "Perceptron": "learners.perceptron",
    "Pocket": "learners.pocket",
    "SecondOrderPerceptron": "learners.stateful",
    "Relaxation": "systems.relaxation",
    "RelaxationCertificate": "proofs.relaxation_certificate",
    "Separation": "models.separation",
    "Solution": "systems.solution",
    "SystemCertificate": "proofs.system_certificate",
    "SystemModel": "systems.system_model",
    "Verdict": "geometry.verdict",
    "conflicts": "systems.conflicts",
    "detect_separation": "models.separation",
    "explain": "systems.explanation",
    "export_onnx": "formats.onnx",
    "herd": "theory.herding",
    "lab": "page.widget",
    "linear_program": "systems.linear_program",
    "load": "learners.saving",
    "read_system": "systems.files.reading",
    "regret": "learners.regret",
    "relax": "systems.relax",
    "save": "learners.saving",
    "separate": "geometry.separability",
    "separate_classes": "geometry.separability",
    "solve": "systems.solve",
    "stream": "learners.stream",
    "suspect_rows": "learners.suspects",
    "verify": "jobs.verification",
}
__all__ = sorted([*_MODULES, *_NAMES])


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    home = import_module(f"novikoff.{_MODULES.get(name) or _NAMES[name]}")
    value = globals()[name] = home if name in _MODULES else getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted([name for name in globals() if name.startswith("__")] + __all__)
