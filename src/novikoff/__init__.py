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
_ROOMS = {"bounds": "theory.bounds", "orders": "core.orders"} | {
    name: name for name in ("cluster", "data", "lab", "neurons", "plots", "theory")
}
_HOMES = {
    "core.hyperplane": ("Hyperplane",),
    "geometry.certificate": ("Certificate", "verify"),
    "geometry.checker": ("CertificateError",),
    "geometry.error_bound": ("ErrorBound",),
    "geometry.margin": ("Interval",),
    "geometry.separability": ("Verdict", "separate", "separate_classes"),
    "geometry.system_certificate": ("SystemCertificate",),
    "learners.forgetron": ("Forgetron",),
    "learners.kernel": ("KernelPerceptron",),
    "learners.max_margin": ("MaxMargin", "NotSeparableError"),
    "learners.p_norm": ("PNormPerceptron",),
    "learners.passive_aggressive": ("PassiveAggressive",),
    "learners.perceptron": ("Perceptron",),
    "learners.pocket": ("Pocket",),
    "learners.regret": ("regret",),
    "learners.second_order": ("SecondOrderPerceptron",),
    "learners.tower": ("TowerClassifier",),
    "report.estimators": ("load", "save", "stream"),
    "report.onnx": ("export_onnx",),
    "systems.conflicts": ("conflicts",),
    "systems.linear_program": ("Optimum", "linear_program"),
    "systems.solution": ("Solution",),
    "systems.solve": ("solve",),
    "theory.herding": ("herd",),
}


def __getattr__(name: str) -> object:
    home = _ROOMS.get(name) or next((home for home in _HOMES if name in _HOMES[home]), None)
    if home is None:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    module = import_module(f"novikoff.{home}")
    value: object = module if name in _ROOMS else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([name for name in globals() if name.startswith("__")] + __all__)
