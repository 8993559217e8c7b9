"""Names that are written down again, where importing their owner would take too long."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import resources
from types import ModuleType

import pytest

import novikoff as nv
from novikoff import names
from novikoff.core.orders import BY_NAME
from novikoff.data.source import FILE_FORMATS
from novikoff.report.pictures import CAPTIONS
from novikoff.systems.methods import METHODS
from tests.module_map import CONTRIBUTING, contributing

LAB = resources.files("novikoff.page")


def test_orders() -> None:
    schema = json.loads((LAB / "lab.schema.json").read_text(encoding="utf-8"))
    page = (LAB / "static" / "link.js").read_text(encoding="utf-8")
    listed = re.search(r"export const ORDERS = (\[.*?\]);", page)
    assert listed is not None
    assert json.loads(listed[1]) == [*names.ORDERS]
    assert schema["$defs"]["question"]["properties"]["order"]["enum"] == [*names.ORDERS]


@pytest.mark.parametrize(
    ("listed", "table"),
    [
        (names.ORDERS, BY_NAME),
        (names.PLOTS, CAPTIONS),
        (names.DATA_FORMATS, FILE_FORMATS),
        (names.METHOD_NAMES, ["auto", *METHODS]),
    ],
    ids=["orders", "pictures", "formats of data", "methods"],
)
def test_names_and_the_tables_that_give_them_a_meaning(
    listed: Iterable[str], table: Iterable[str]
) -> None:
    assert [*listed] == [*table]


def test_public_names() -> None:
    stub = (resources.files("novikoff") / "__init__.pyi").read_text(encoding="utf-8")
    told = re.findall(r"^from (\S+) import (\w+) as (\w+)$", stub, flags=re.MULTILINE)
    assert sorted(name for _, _, name in told) == nv.__all__
    for home, name, alias in told:
        value = getattr(nv, name)
        module = f"{home}.{name}" if isinstance(value, ModuleType) else home
        assert alias == name
        assert getattr(value, "__module__", getattr(value, "__name__", "")) == module


def test_the_map_of_contributing_has_the_first_line_of_each_module() -> None:
    assert CONTRIBUTING.read_text(encoding="utf-8") == contributing(), (
        "python -m tests.module_map writes the map again"
    )
