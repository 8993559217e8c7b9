"""Models of other packages: rows, bounds and names are those of the model, and answers are right.

Every package builds the same model, `DIET`, through its own interface.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

import novikoff as nv
from novikoff.proofs.system_statement import LinearSystem
from novikoff.systems.modellers import model_system

# money: 3 tea + 1.1 bread <= 20; thirst: tea - bread >= 2.5; pair: tea + cake = 7;
# between: 1 <= bread + cake <= 4; tea in 0..10, bread free, cake whole and at least 1.
NAMES = ("money", "thirst", "pair", "between")
WHY = "it is not installed: the adapters are tested where the packages are"


def pulp_model() -> Any:
    pulp = pytest.importorskip("pulp", reason=WHY)
    model = pulp.LpProblem("diet", pulp.LpMaximize)
    tea = model.add_variable("tea", 0, 10)
    bread = model.add_variable("bread")
    cake = model.add_variable("cake", 1, None, "Integer")
    model += tea + bread
    model += 3 * tea + 1.1 * bread <= 20, "money"
    model += tea - bread >= 2.5, "thirst"
    model += tea + cake == 7, "pair"
    model += bread + cake >= 1, "between"
    model += bread + cake <= 4, "between_upper"
    return model


def pyomo_model() -> Any:
    pe = pytest.importorskip("pyomo.environ", reason=WHY)
    model = pe.ConcreteModel("diet")
    model.tea = pe.Var(bounds=(0, 10))
    model.bread = pe.Var()
    model.cake = pe.Var(bounds=(1, None), domain=pe.Integers)
    model.gain = pe.Objective(expr=model.tea + model.bread, sense=pe.maximize)
    model.money = pe.Constraint(expr=3 * model.tea + 1.1 * model.bread <= 20)
    model.thirst = pe.Constraint(expr=model.tea - model.bread - 2.5 >= 0)
    model.pair = pe.Constraint(expr=model.tea + model.cake == 7)
    model.between = pe.Constraint(expr=pe.inequality(1, model.bread + model.cake, 4))
    return model


def linopy_model() -> Any:
    linopy = pytest.importorskip("linopy", reason=WHY)
    model = linopy.Model()
    tea = model.add_variables(lower=0, upper=10, name="tea")
    bread = model.add_variables(name="bread")
    cake = model.add_variables(lower=1, integer=True, name="cake")
    model.add_constraints(3 * tea + 1.1 * bread <= 20, name="money")
    model.add_constraints(tea - bread >= 2.5, name="thirst")
    model.add_constraints(tea + cake == 7, name="pair")
    model.add_constraints(bread + cake >= 1, name="between")
    model.add_constraints(bread + cake <= 4, name="between_upper")
    return model


def cvxpy_model() -> Any:
    cp = pytest.importorskip("cvxpy", reason=f"{WHY}; 220 MB with its solvers")
    tea = cp.Variable(name="tea", bounds=[0, 10])
    bread = cp.Variable(name="bread")
    cake = cp.Variable(name="cake", integer=True)
    rows = [3 * tea + 1.1 * bread <= 20, tea - bread >= 2.5, tea + cake == 7]
    return cp.Problem(
        cp.Maximize(tea + bread), [*rows, bread + cake >= 1, bread + cake <= 4, cake >= 1]
    )


def highspy_model() -> Any:
    highspy = pytest.importorskip("highspy", reason=WHY)
    model = highspy.Highs()
    model.silent()
    tea = model.addVariable(0, 10, name="tea")
    bread = model.addVariable(-highspy.kHighsInf, highspy.kHighsInf, name="bread")
    cake = model.addIntegral(1, name="cake")
    model.addConstr(3 * tea + 1.1 * bread <= 20, name="money")
    model.addConstr(tea - bread >= 2.5, name="thirst")
    model.addConstr(tea + cake == 7, name="pair")
    model.addConstr(1 <= bread + cake <= 4, name="between")
    return model


def gurobi_model() -> Any:
    gp = pytest.importorskip("gurobipy", reason=WHY)
    model = gp.Model("diet", env=gp.Env(params={"OutputFlag": 0}))
    tea = model.addVar(ub=10, name="tea")
    bread = model.addVar(lb=-gp.GRB.INFINITY, name="bread")
    cake = model.addVar(lb=1, vtype="I", name="cake")
    model.addConstr(3 * tea + 1.1 * bread <= 20, name="money")
    model.addConstr(tea - bread >= 2.5, name="thirst")
    model.addConstr(tea + cake == 7, name="pair")
    model.addConstr(bread + cake >= 1, name="between")
    model.addConstr(bread + cake <= 4, name="between_upper")
    return model


def scipy_model() -> Any:
    A = np.array([[3, 1.1, 0], [1, -1, 0], [1, 0, 1], [0, 1, 1]])
    low, high = [-np.inf, 2.5, 7, 1], [20, np.inf, 7, 4]
    bounds = Bounds([0, -np.inf, 1], [10, np.inf, np.inf])
    return [LinearConstraint(A[:2], low[:2], high[:2]), LinearConstraint(A[2:], low[2:], high[2:]),
            bounds]  # fmt: skip


MODELS = {
    "pulp": pulp_model,
    "pyomo": pyomo_model,
    "linopy": linopy_model,
    "cvxpy": cvxpy_model,
    "highspy": highspy_model,
    "gurobipy": gurobi_model,
    "scipy": scipy_model,
}
Row = tuple[tuple[tuple[str, Fraction], ...], str, Fraction]


def rows_of(stated: LinearSystem, names: dict[str, str]) -> set[Row]:
    """All rows and bounds by their content."""
    found = set[Row]()
    for number in range(stated.n):
        row = stated.row(number)
        if row is not None:
            pairs = ((names.get(stated.variables[j], stated.variables[j]), value)
                     for j, value in row.terms.items())  # fmt: skip
            found.add((tuple(sorted(pairs)), row.relation, row.right))
    return found


def expected() -> set[Row]:
    table: list[tuple[dict[str, Any], str, Any]] = [
        ({"tea": 3, "bread": "1.1"}, "<=", 20), ({"tea": 1, "bread": -1}, ">=", "2.5"),
        ({"tea": 1, "cake": 1}, "=", 7), ({"bread": 1, "cake": 1}, ">=", 1),
        ({"bread": 1, "cake": 1}, "<=", 4), ({"tea": 1}, ">=", 0), ({"tea": 1}, "<=", 10),
        ({"cake": 1}, ">=", 1),
    ]  # fmt: skip
    return {
        (tuple(sorted((name, Fraction(value)) for name, value in terms.items())), relation,
         Fraction(right))
        for terms, relation, right in table
    }  # fmt: skip


def normal(rows: set[Row]) -> set[Row]:
    """Rows with a positive first coefficient."""
    turned = {"<=": ">=", ">=": "<=", "=": "="}
    return {
        row if row[0][0][1] > 0
        else (tuple((name, -value) for name, value in row[0]), turned[row[1]], -row[2])
        for row in rows
    }  # fmt: skip


@pytest.mark.parametrize("package", MODELS)
def test_rows_bounds_and_names_are_those_of_the_model(package: str) -> None:
    model = model_system(MODELS[package]())
    assert model.format == package
    names = {"w[0]": "tea", "w[1]": "bread", "w[2]": "cake"}
    assert normal(rows_of(model.model, names)) == normal(expected())
    if package not in ("scipy", "cvxpy"):
        assert {"tea", "bread", "cake"} == {*model.variables}
        assert {*NAMES} <= {*model.names}
    whole = {model.variables[j] for j in model.model.integers}
    assert whole == (set() if package == "scipy" else {"cake"})
    assert bool(model.notes) == bool(whole)


@pytest.mark.parametrize("package", [name for name in MODELS if name != "scipy"])
def test_an_explanation_names_rows_as_the_model_does(package: str) -> None:
    build: Callable[[], Any] = MODELS[package]
    answer = nv.explain(build())
    assert answer.kind == "infeasible" or answer.relaxed
    assert answer.relaxed
    model = model_system(build())
    if answer.kind == "infeasible":
        known = {model.stated.name(k) for k in range(model.stated.m)}
        assert all(row.name in known or "bound of" in row.name for row in answer.conflict)


ORTOOLS = """
import novikoff as nv
from novikoff.systems.modellers import model_system
from ortools.linear_solver import pywraplp
from ortools.linear_solver.python import model_builder
from ortools.math_opt.python import mathopt

solver = pywraplp.Solver.CreateSolver("GLOP")
tea, cake = solver.NumVar(0, 10, "tea"), solver.IntVar(1, solver.infinity(), "cake")
solver.Add(3 * tea + 1.1 * cake <= 30, "money")
solver.Add(tea + cake == 7.5, "pair")
solver.Add(tea >= 7, "thirst")
built = model_builder.Model()
tea, cake = built.new_num_var(0, 10, "tea"), built.new_int_var(1, 1e9, "cake")
built.add(3 * tea + 1.1 * cake <= 30, "money")
built.add(tea + cake == 7.5, "pair")
built.add(tea >= 7, "thirst")
opt = mathopt.Model(name="diet")
tea, cake = opt.add_variable(lb=0, ub=10, name="tea"), opt.add_integer_variable(lb=1, name="cake")
opt.add_linear_constraint(3 * tea + 1.1 * cake <= 30, name="money")
opt.add_linear_constraint(tea + cake == 7.5, name="pair")
opt.add_linear_constraint(tea >= 7, name="thirst")
for model in (solver, built, opt):
    answer = nv.explain(model)
    system = model_system(model)
    print(answer.kind, answer.relaxed, system.names, system.variables,
          sorted(row.name for row in answer.conflict))
"""


def test_models_of_ortools() -> None:
    """In a process of its own: OR-tools does not load beside highspy."""
    pytest.importorskip("google.protobuf", reason=WHY)
    done = subprocess.run([sys.executable, "-c", ORTOOLS], capture_output=True, text=True)  # noqa: S603
    if "No module named 'ortools'" in done.stderr:
        pytest.skip(f"{WHY}; 82 MB, and it needs an older protobuf than onnx")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stdout
    assert {*lines} == {
        "infeasible True ('money', 'pair', 'thirst') ('tea', 'cake') "
        "['lower bound of cake', 'pair', 'thirst']"
    }


def test_a_model_is_not_changed_by_reading_it() -> None:
    cp = pytest.importorskip("cvxpy", reason=WHY)
    x = cp.Variable(2, name="x", nonneg=True)
    x.value = np.array([1.0, 2.0])
    problem = cp.Problem(cp.Minimize(0), [cp.sum(x) <= 1, np.array([[1, 2], [3, 4]]) @ x >= 2])
    assert model_system(problem).stated.m == 3
    assert x.value.tolist() == [1.0, 2.0]


def test_constants_of_an_affine_expression_are_added_exactly() -> None:
    """In floats, 0.1 − 0.3 is not −0.2, so that x ≤ 0.2 and x ≥ 0.2 would contradict each other."""
    cp = pytest.importorskip("cvxpy", reason=WHY)
    x, y = cp.Variable(name="x"), cp.Variable(2, name="y")
    rows = [x + 0.1 <= 0.3, x - (0.1 - x) >= 0.3, y + x + 0.1 == np.array([0.7, 0.3])]
    found = model_system(cp.Problem(cp.Minimize(0), rows)).stated
    sides = [row.right for k in range(found.m) if (row := found.row(k)) is not None]
    assert sides == [Fraction(1, 5), Fraction(-2, 5), Fraction(3, 5), Fraction(1, 5)]
    assert nv.explain(cp.Problem(cp.Minimize(0), rows)).kind == "feasible"


def test_a_certificate_is_checked_against_the_model_itself() -> None:
    model = pulp_model()
    model += next(x for x in model.variables() if x.name == "bread") >= 50, "feast"
    proof: Any = nv.explain(model).certificate
    fewest: Any = nv.relax(model).certificate
    claim = nv.verify(proof, model)
    assert claim.startswith("Infeasible: ")
    assert nv.verify(fewest, model).startswith("At least 1 of the rows")
    assert nv.verify(proof, model_system(model)) == claim
    with pytest.raises(nv.CertificateError, match="another system"):
        nv.verify(proof, pulp_model())
    with pytest.raises(TypeError, match="c_eq cannot be used with a model"):
        nv.verify(proof, model, c_eq=[1.0])


def test_a_certificate_is_checked_against_parts_by_name() -> None:
    given: dict[str, Any] = {"A": [[1.0], [-1.0]], "c": [0.0, -1.0], "lower": -5}
    proof: Any = nv.solve(**given).certificate
    assert nv.verify(proof, **given) == nv.verify(proof, given["A"], c=given["c"], lower=-5)


def test_a_feasible_explanation_has_no_gaps_in_its_sentence() -> None:
    texts = [text for _, text in nv.explain(pulp_model()).lines()]
    assert texts[-1].startswith("Relaxation feasible")
    assert not any("  " in text or "\n" in text for text in texts)


def sos(model: Any) -> Any:
    model.sos1["pick"] = {model.variables()[0]: 1, model.variables()[1]: 2}
    return model


def quadratic_gurobi() -> Any:
    model = gurobi_model()
    model.update()
    x = model.getVars()[0]
    model.addQConstr(x * x <= 3)
    return model


def quadratic_cvxpy() -> Any:
    cp = pytest.importorskip("cvxpy", reason=WHY)
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(0), [cp.square(x) <= 2])


def semi_continuous_highs() -> Any:
    highspy = pytest.importorskip("highspy", reason=WHY)
    model = highspy_model()
    model.changeColIntegrality(0, highspy.HighsVarType.kSemiContinuous)
    return model


def nonlinear_pyomo() -> Any:
    pe = pytest.importorskip("pyomo.environ", reason=WHY)
    model = pyomo_model()
    model.square = pe.Constraint(expr=model.tea**2 <= 3)
    return model


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: sos(pulp_model()), "special ordered sets"),
        (quadratic_gurobi, "quadratic constraints"),
        (quadratic_cvxpy, "is not affine"),
        (semi_continuous_highs, "'tea' is semi-continuous"),
        (nonlinear_pyomo, "the constraint 'square' is not linear"),
    ],
    ids=["SOS", "quadratic in Gurobi", "quadratic in CVXPY", "semi-continuous", "Pyomo"],
)
def test_parts_that_are_not_linear_are_rejected_by_name(
    build: Callable[[], Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        nv.explain(build())


def test_what_is_not_a_model_is_rejected_with_the_names_of_those_that_are() -> None:
    with pytest.raises(TypeError, match=r"object is not a model that can be read: models of PuLP"):
        model_system(object())
    with pytest.raises(ValueError, match="c cannot be used with a model"):
        nv.solve(scipy_model(), [1.0])


def test_a_model_of_thousands_of_rows_in_three_lines() -> None:
    pulp = pytest.importorskip("pulp", reason=WHY)
    model = pulp.LpProblem("plan", pulp.LpMinimize)
    rng = np.random.default_rng(0)
    x = [model.add_variable(f"flow_{j}", lowBound=0) for j in range(40)]
    for i in range(5000):
        j, k = rng.choice(40, size=2, replace=False)
        model += x[j] + 2 * x[k] <= 100 + i, f"capacity_{i}"
    model += x[3] >= 60, "contract"
    model += x[3] + 2 * x[7] <= 70, "road"
    model += x[7] >= 20, "delivery"
    answer = nv.explain(model)
    assert {row.name for row in answer.conflict} == {"contract", "road", "delivery"}
    assert "contract: 60 → 30" in str(answer)
