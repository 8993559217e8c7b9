"""Names that are written down again, where importing their owner would take too long."""

from __future__ import annotations

import json
import re
from importlib import resources
from types import ModuleType

import novikoff as nv
from novikoff.cli import fit, options, solve
from novikoff.core.orders import BY_NAME
from novikoff.data.source import FILE_FORMATS
from novikoff.report.pictures import CAPTIONS
from novikoff.systems.files import reading
from novikoff.systems.methods import METHODS
from novikoff.systems.solve import POINTS

LAB = resources.files("novikoff.page")


def test_orders() -> None:
    schema = json.loads((LAB / "lab.schema.json").read_text(encoding="utf-8"))
    page = (LAB / "static" / "link.js").read_text(encoding="utf-8")
    listed = re.search(r"export const ORDERS = (\[.*?\]);", page)
    assert sorted(fit._ORDERS) == sorted(BY_NAME)
    assert listed is not None
    assert json.loads(listed[1]) == [*BY_NAME]
    assert schema["$defs"]["question"]["properties"]["order"]["enum"] == [*BY_NAME]


def test_pictures() -> None:
    assert [*CAPTIONS] == fit._PLOTS


def test_formats() -> None:
    assert sorted(options.DATA_FORMATS) == sorted(FILE_FORMATS)
    assert sorted(solve._SYSTEM_FORMATS) == sorted(reading.SYSTEM_FORMATS)
    assert [*POINTS] == solve._POINTS
    assert ["auto", *METHODS] == solve._METHODS


def test_public_names() -> None:
    stub = (resources.files("novikoff") / "__init__.pyi").read_text(encoding="utf-8")
    told = re.findall(r"^from (\S+) import (\w+) as (\w+)$", stub, flags=re.MULTILINE)
    assert sorted(name for _, _, name in told) == nv.__all__
    for home, name, alias in told:
        value = getattr(nv, name)
        module = f"{home}.{name}" if isinstance(value, ModuleType) else home
        assert alias == name
        assert getattr(value, "__module__", getattr(value, "__name__", "")) == module
