"""novikoff: the perceptron, with its proof.

>>> import novikoff as nv
>>> clf = nv.Perceptron(order="cyclic").fit([[1.0, 2.0], [-1.0, -1.0]], ["up", "down"])
>>> clf.predict([[3.0, 3.0]])
array(['up'], dtype='<U4')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff import cluster, data, neurons, plots, theory
    from novikoff.core import orders
    from novikoff.core.hyperplane import Hyperplane
    from novikoff.geometry.certificate import Certificate, verify
    from novikoff.geometry.checker import CertificateError
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.separability import Verdict, separate, separate_classes
    from novikoff.geometry.system_certificate import SystemCertificate
    from novikoff.lab.widget import lab  # what calling the room does
    from novikoff.learners.forgetron import Forgetron
    from novikoff.learners.kernel import KernelPerceptron
    from novikoff.learners.max_margin import MaxMargin, NotSeparableError
    from novikoff.learners.p_norm import PNormPerceptron
    from novikoff.learners.passive_aggressive import PassiveAggressive
    from novikoff.learners.perceptron import Perceptron
    from novikoff.learners.pocket import Pocket
    from novikoff.learners.regret import regret
    from novikoff.learners.second_order import SecondOrderPerceptron
    from novikoff.learners.tower import TowerClassifier
    from novikoff.report.estimators import load, save, stream
    from novikoff.report.onnx import export_onnx
    from novikoff.systems.conflicts import conflicts
    from novikoff.systems.linear_program import Optimum, linear_program
    from novikoff.systems.solution import Solution
    from novikoff.systems.solve import solve
    from novikoff.theory import bounds
    from novikoff.theory.herding import herd

__version__ = "0.1.0"
__all__ = [
    "Certificate",
    "CertificateError",
    "ErrorBound",
    "Forgetron",
    "Hyperplane",
    "Interval",
    "KernelPerceptron",
    "MaxMargin",
    "NotSeparableError",
    "Optimum",
    "PNormPerceptron",
    "PassiveAggressive",
    "Perceptron",
    "Pocket",
    "SecondOrderPerceptron",
    "Solution",
    "SystemCertificate",
    "TowerClassifier",
    "Verdict",
    "bounds",
    "cluster",
    "conflicts",
    "data",
    "export_onnx",
    "herd",
    "lab",
    "linear_program",
    "load",
    "neurons",
    "orders",
    "plots",
    "regret",
    "save",
    "separate",
    "separate_classes",
    "solve",
    "stream",
    "theory",
    "verify",
]

# Public names are loaded when first used: importing novikoff itself costs nothing.
_HOMES = {
    "Certificate": ("novikoff.geometry.certificate", "Certificate"),
    "CertificateError": ("novikoff.geometry.checker", "CertificateError"),
    "ErrorBound": ("novikoff.geometry.error_bound", "ErrorBound"),
    "Hyperplane": ("novikoff.core.hyperplane", "Hyperplane"),
    "Interval": ("novikoff.geometry.margin", "Interval"),
    "MaxMargin": ("novikoff.learners.max_margin", "MaxMargin"),
    "NotSeparableError": ("novikoff.learners.max_margin", "NotSeparableError"),
    "Forgetron": ("novikoff.learners.forgetron", "Forgetron"),
    "KernelPerceptron": ("novikoff.learners.kernel", "KernelPerceptron"),
    "Optimum": ("novikoff.systems.linear_program", "Optimum"),
    "PassiveAggressive": ("novikoff.learners.passive_aggressive", "PassiveAggressive"),
    "Perceptron": ("novikoff.learners.perceptron", "Perceptron"),
    "PNormPerceptron": ("novikoff.learners.p_norm", "PNormPerceptron"),
    "Pocket": ("novikoff.learners.pocket", "Pocket"),
    "SecondOrderPerceptron": ("novikoff.learners.second_order", "SecondOrderPerceptron"),
    "Solution": ("novikoff.systems.solution", "Solution"),
    "SystemCertificate": ("novikoff.geometry.system_certificate", "SystemCertificate"),
    "TowerClassifier": ("novikoff.learners.tower", "TowerClassifier"),
    "bounds": ("novikoff.theory.bounds", None),
    "cluster": ("novikoff.cluster", None),
    "conflicts": ("novikoff.systems.conflicts", "conflicts"),
    "data": ("novikoff.data", None),
    "export_onnx": ("novikoff.report.onnx", "export_onnx"),
    "herd": ("novikoff.theory.herding", "herd"),
    "lab": ("novikoff.lab", None),
    "linear_program": ("novikoff.systems.linear_program", "linear_program"),
    "load": ("novikoff.report.estimators", "load"),
    "neurons": ("novikoff.neurons", None),
    "orders": ("novikoff.core.orders", None),
    "plots": ("novikoff.plots", None),
    "save": ("novikoff.report.estimators", "save"),
    "regret": ("novikoff.learners.regret", "regret"),
    "separate": ("novikoff.geometry.separability", "separate"),
    "separate_classes": ("novikoff.geometry.separability", "separate_classes"),
    "solve": ("novikoff.systems.solve", "solve"),
    "stream": ("novikoff.report.estimators", "stream"),
    "theory": ("novikoff.theory", None),
    "Verdict": ("novikoff.geometry.separability", "Verdict"),
    "verify": ("novikoff.geometry.certificate", "verify"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    home = import_module(module)
    value: object = home if attribute is None else getattr(home, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([name for name in globals() if name.startswith("__")] + __all__)
