"""Modules in name only: whatever is asked of them, they are what they were."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, new_class

import pytest

from novikoff.cli.later import Name, putting_off

PACKAGE = {
    "__init__.py": "",
    "user.py": "import late_package.heavy\nfrom late_package.light import Base, work\n",
    "heavy/__init__.py": "from late_package.heavy import part\nCOUNT = part.COUNT\n",
    "heavy/part.py": "import late_package\n"
    "late_package.loads = getattr(late_package, 'loads', 0) + 1\nCOUNT = 7\n",
    "heavy/other.py": "OTHER = 8\n",
    "light.py": "class Base:\n    word = 'base'\n\ndef work(x):\n    return x + 1\n",
}
RARE = {
    "late_package.heavy": {},
    "late_package.light": {"Base": Name, "work": Name},
    "late_package.not_there": {},
}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module that has imported two others in name only; afterwards all of them are gone."""
    for name, text in PACKAGE.items():
        path = tmp_path / "late_package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with putting_off(RARE):
        yield import_module("late_package.user")
    for name in [name for name in sys.modules if name.startswith("late_package")]:
        del sys.modules[name]


def loads() -> int:
    return getattr(sys.modules["late_package"], "loads", 0)


def test_nothing_is_imported_that_is_not_asked_for(user: ModuleType) -> None:
    assert loads() == 0
    assert "late_package.heavy.part" not in sys.modules


def test_what_is_asked_for_is_imported_once(user: ModuleType) -> None:
    stand_in = user.late_package.heavy
    assert stand_in.COUNT == 7
    assert stand_in.part.COUNT == 7
    assert "COUNT" in dir(stand_in)
    assert loads() == 1
    assert user.late_package.heavy is sys.modules["late_package.heavy"] is not stand_in


def test_a_part_brings_its_package_and_is_imported_once(user: ModuleType) -> None:
    part = import_module("late_package.heavy.part")
    assert loads() == 1
    assert vars(sys.modules["late_package.heavy"])["COUNT"] == 7
    assert sys.modules["late_package.heavy"].part is part is sys.modules[part.__name__]
    assert part.__spec__ is not None
    assert part.__spec__.origin == part.__file__
    assert import_module("late_package.heavy.other").OTHER == 8
    assert loads() == 1


def test_a_name_of_a_function_calls_it(user: ModuleType) -> None:
    assert isinstance(user.work, Name)
    assert user.work(1) == 2
    assert user.work.__name__ == "work"


def test_a_name_of_a_class_is_as_good_as_the_class(user: ModuleType) -> None:
    assert not isinstance(3, user.Base)
    assert not issubclass(int, user.Base)
    Derived = new_class("Derived", (user.Base,))
    assert Derived().word == user.Base.word == "base"
    assert isinstance(Derived(), user.Base)
    assert isinstance(user.Base(), user.Base)
    assert issubclass(Derived, user.Base)
    assert not isinstance(3, user.Base)


def test_what_cannot_be_found_is_an_error_as_ever(user: ModuleType) -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("late_package.not_there")
    with pytest.raises(ModuleNotFoundError):
        import_module("late_package.heavy.missing")
    with pytest.raises(ModuleNotFoundError, match="not a package"):
        import_module("late_package.light.missing")
    with pytest.raises(AttributeError, match="missing"):
        _ = user.late_package.heavy.missing


def test_afterwards_modules_are_imported_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "late_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "heavy.py").write_text("COUNT = 7\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    with putting_off(RARE):
        stand_in = import_module("late_package.heavy")
    assert sys.meta_path == finders
    assert "late_package.heavy" not in sys.modules
    with putting_off(RARE):  # a stand-in may be asked while its module is put off again
        assert stand_in.COUNT == 7
    itself = import_module("late_package.heavy")
    assert vars(itself)["COUNT"] == 7
    for name in ("late_package", "late_package.heavy"):
        del sys.modules[name]


def test_what_is_imported_already_stays() -> None:
    import json

    with putting_off({"json": {}}):
        assert import_module("json") is json
    assert sys.modules["json"] is json
