"""The public names, for type checkers and editors: what `__init__.py` loads when it is used."""

from novikoff import cluster as cluster
from novikoff import data as data
from novikoff import errors as errors
from novikoff import neurons as neurons
from novikoff import plots as plots
from novikoff import theory as theory
from novikoff.core import orders as orders
from novikoff.core.hyperplane import Hyperplane as Hyperplane
from novikoff.errors import CertificateError as CertificateError
from novikoff.errors import NotSeparableError as NotSeparableError
from novikoff.errors import NovikoffError as NovikoffError
from novikoff.formats.onnx import export_onnx as export_onnx
from novikoff.geometry.margin import Interval as Interval
from novikoff.geometry.separability import separate as separate
from novikoff.geometry.separability import separate_classes as separate_classes
from novikoff.geometry.verdict import Verdict as Verdict
from novikoff.jobs.verification import verify as verify
from novikoff.learners.kernel import Forgetron as Forgetron
from novikoff.learners.kernel import KernelPerceptron as KernelPerceptron
from novikoff.learners.max_margin import MaxMargin as MaxMargin
from novikoff.learners.perceptron import PassiveAggressive as PassiveAggressive
from novikoff.learners.perceptron import Perceptron as Perceptron
from novikoff.learners.pocket import Pocket as Pocket
from novikoff.learners.regret import regret as regret
from novikoff.learners.saving import load as load
from novikoff.learners.saving import save as save
from novikoff.learners.stateful import PNormPerceptron as PNormPerceptron
from novikoff.learners.stateful import SecondOrderPerceptron as SecondOrderPerceptron
from novikoff.learners.stream import stream as stream
from novikoff.learners.suspects import suspect_rows as suspect_rows
from novikoff.models.separation import Separation as Separation
from novikoff.models.separation import detect_separation as detect_separation
from novikoff.page.widget import lab as lab
from novikoff.proofs.certificate import Certificate as Certificate
from novikoff.proofs.error_bound import ErrorBound as ErrorBound
from novikoff.proofs.relaxation_certificate import RelaxationCertificate as RelaxationCertificate
from novikoff.proofs.system_certificate import SystemCertificate as SystemCertificate
from novikoff.systems.conflicts import conflicts as conflicts
from novikoff.systems.explanation import Explanation as Explanation
from novikoff.systems.explanation import explain as explain
from novikoff.systems.files.reading import read_system as read_system
from novikoff.systems.linear_program import Optimum as Optimum
from novikoff.systems.linear_program import linear_program as linear_program
from novikoff.systems.relax import relax as relax
from novikoff.systems.relaxation import Relaxation as Relaxation
from novikoff.systems.solution import Solution as Solution
from novikoff.systems.solve import solve as solve
from novikoff.systems.system_model import SystemModel as SystemModel
from novikoff.theory import bounds as bounds
from novikoff.theory.herding import herd as herd

__all__: list[str]
__version__: str
