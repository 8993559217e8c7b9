from collections.abc import Callable
from typing import TypeVar

_Method = TypeVar("_Method", bound=Callable[..., object])

def available_if(check: Callable[..., bool]) -> Callable[[_Method], _Method]: ...
