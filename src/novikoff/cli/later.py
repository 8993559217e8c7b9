"""Modules that are there in name only until something in them is asked for.

Large packages import much that a command never uses. While `putting_off` lasts, such a module is
imported as an empty one that stands for it. What is asked of that is asked of the module itself,
which is imported then, by the import system as ever; afterwards whoever imports it gets itself.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

# For each module, the names that others take from it on import, and what stands for each.
Names = Mapping[str, "Callable[[str, str], object]"]


@contextlib.contextmanager
def putting_off(rare: Mapping[str, Names]) -> Iterator[None]:
    """Let modules be imported in name only; those that are imported already stay as they are.

    Parameters
    ----------
    rare : mapping
        The modules, and the names that are taken from each while others are imported, which
        alone does not import it: a `Name` stands for them.
    """
    finder = _Finder(rare)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.step_aside()


class Name:
    """Stands for a function or a class of a module that is not imported yet."""

    __slots__ = ("_home", "_name")

    def __init__(self, home: str, name: str) -> None:
        self._home, self._name = home, name

    def __getattr__(self, name: str) -> object:
        if name in Name.__slots__:  # not yet, in a copy that is being made
            raise AttributeError(name)
        return getattr(self.itself(), name)

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the function, or the class."""
        return self.itself()(*args, **kwargs)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[object, ...]:
        return (self.itself(),)

    def __instancecheck__(self, instance: object) -> bool:
        # Before there is a class there is nothing of it.
        return self.imported() and isinstance(instance, self.itself())

    def __subclasscheck__(self, subclass: type) -> bool:
        return self.imported() and issubclass(subclass, self.itself())

    def imported(self) -> bool:
        """Whether its module is there."""
        return not isinstance(sys.modules.get(self._home), _Later | None)

    def itself(self) -> Any:
        """The function or class, which is imported now."""
        home = import_module(self._home)
        while isinstance(home, _Later):
            home = home.load()
        return getattr(home, self._name)


class _Later(ModuleType):
    """Stands for a module."""

    def __getattr__(self, name: str) -> object:
        hidden = vars(self)
        if "_finder" not in hidden or name in ("__path__", "__file__", "__cached__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        finder: _Finder = hidden["_finder"]
        if finder.stands(self):
            stand_in = finder.rare[self.__name__].get(name)
            if stand_in is not None:
                return stand_in(self.__name__, name)
        return getattr(self.load(), name)

    def __dir__(self) -> Iterable[str]:
        return dir(self.load())

    def load(self) -> ModuleType:
        """The module itself; or what stands for it, if it is put off anew."""
        finder: _Finder = vars(self)["_finder"]
        finder.let_go(self)
        return import_module(self.__name__)


class _Finder(MetaPathFinder, Loader):
    """Finds the modules that stand for others, and makes them."""

    def __init__(self, rare: Mapping[str, Names]) -> None:
        self.rare = rare
        self._waiting = {name for name in rare if name not in sys.modules}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self._waiting:
            return self._empty(fullname, path)
        parent = sys.modules.get(fullname.rpartition(".")[0])
        if isinstance(parent, _Later):  # a package comes before what is in it, and may bring it
            parent.load()
            if fullname in sys.modules:
                return ModuleSpec(fullname, _Brought(sys.modules.pop(fullname)))
        return None

    def _empty(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        found = PathFinder.find_spec(name, path)
        if found is None or not found.has_location:
            return None
        spec = ModuleSpec(name, self, origin=found.origin)
        spec.has_location = True
        spec.submodule_search_locations = found.submodule_search_locations
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Later(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["_finder"] = self

    def stands(self, module: _Later) -> bool:
        """Whether the module itself is not imported."""
        return sys.modules.get(module.__name__, module) is module

    def let_go(self, module: _Later) -> None:
        """From now on the module is imported as ever."""
        self._waiting.discard(module.__name__)
        if sys.modules.get(module.__name__) is module:
            del sys.modules[module.__name__]

    def step_aside(self) -> None:
        """From now on all of them are imported as ever."""
        self._waiting.clear()
        for name in self.rare:
            if isinstance(sys.modules.get(name), _Later):
                del sys.modules[name]


class _Brought(Loader):
    """Hands out a module that its package has imported, as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
