"""`nv.detect_separation` on published data: the published kind, rows and coefficients."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import novikoff as nv
from tests.cases import case_named
from tests.real_data import DATA

PPMLHDFE = sorted((DATA / "ppmlhdfe").glob("*.csv"))


def test_lizards_have_finite_estimates() -> None:
    """Schoener (1970), grouped counts (McCullagh and Nelder, 1989): no separation."""
    lizards = pd.read_csv(DATA / "lizards.csv")
    found = nv.detect_separation(
        formula="grahami + opalinus ~ height + diameter + light + time", data=lizards
    )
    assert (found.kind, found.link) == ("overlap", "logit")
    assert {*found.coefficients.values()} == {"finite"}
    assert len(found.coefficients) == 6
    counts = lizards[["grahami", "opalinus"]]
    factors = lizards[["height", "diameter", "light", "time"]].astype("category")
    trials = counts.sum(axis=1)
    for y, options in ((counts, {}), (counts["grahami"], {"trials": trials})):
        with case_named([*options]):
            assert nv.detect_separation(factors, y, **options).kind == "overlap"
    proportions = counts["grahami"] / trials
    assert nv.detect_separation(factors, proportions, weights=trials).kind == "overlap"
    perched = counts.copy()
    perched.loc[lizards["height"] == ">=5ft", "opalinus"] = 0
    assert nv.detect_separation(factors, perched).coefficients["height=>=5ft"] == "+inf"


@pytest.mark.parametrize(
    ("link", "kind", "fates"),
    [
        ("logit", "quasi-complete separation", {"(intercept)": "-inf", "ghqs": "+inf"}),
        ("probit", "quasi-complete separation", {"(intercept)": "-inf", "ghqs": "+inf"}),
        ("log", "overlap", {"(intercept)": "finite", "ghqs": "finite"}),
    ],
)
def test_psychiatric_cases_are_separated_unless_the_link_is_the_logarithm(
    link: str, kind: str, fates: dict[str, str]
) -> None:
    """Silvapulle (1981); for the log link, Schwendinger, Grün and Hornik (2021)."""
    cases = pd.read_csv(DATA / "silvapulle1981.csv")
    found = nv.detect_separation(cases[["ghqs"]], cases["y"], link=link)
    assert (found.kind, dict(found.coefficients)) == (kind, fates)
    if kind != "overlap":
        assert {*found.separated} == {*cases.index[cases["ghqs"] != 2]}


@pytest.mark.parametrize("ties", ["efron", "breslow", "exact"])
def test_the_grading_of_breast_cancer_has_a_monotone_likelihood(ties: str) -> None:
    """Heinze and Schemper (2001): every patient who died had G = 1."""
    breast = pd.read_csv(DATA / "breast.csv")
    found = nv.detect_separation(
        data=breast, family="cox", duration="TIME", event="CENS", ties=ties
    )
    assert found.kind == "quasi-complete separation"
    assert dict(found.coefficients) == {"T": "finite", "N": "finite", "G": "+inf", "CD": "finite"}
    assert found.responsible_columns == ["G"]
    assert (breast.loc[breast["CENS"] == 1, "G"] == 1).all()


@pytest.mark.parametrize("path", PPMLHDFE, ids=lambda path: path.stem)
def test_the_separation_suite_of_ppmlhdfe(path: object) -> None:
    """Poisson models; columns x are numbers, columns id are fixed effects."""
    table = pd.read_csv(str(path))
    X = table.drop(columns=["y", "separated"])
    effects = [name for name in X if name.startswith("id")]
    X[effects] = X[effects].astype("category")
    found = nv.detect_separation(X, table["y"], family="poisson")
    assert {*found.separated} == {*table.index[table["separated"] == 1]}
    assert found.exists == (table["separated"] == 0).all()
    assert found.certificate is not None
    nv.verify(found.certificate, *found.certified_rows())
    by_formula = " + ".join(f"C({name})" if name in effects else name for name in X)
    again = nv.detect_separation(formula=f"y ~ {by_formula}", data=table, family="poisson")
    np.testing.assert_array_equal(again.separated, found.separated)
    assert list(again.coefficients.values()) == [
        fate for fate in found.coefficients.values() if fate != "reference"
    ]


def test_the_suite_of_ppmlhdfe_is_whole() -> None:
    assert [path.stem for path in PPMLHDFE] == [f"{k:02}" for k in range(1, 19)]
