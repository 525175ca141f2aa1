"""Members of a family, one module each in the family's folder: adding a file adds a member, and nothing lists them."""

from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def names_of(family: ModuleType) -> list[str]:
    """Names of a family's members, which are their modules': by length, then by letters, so that f10 follows f9."""
    return sorted((module.name for module in iter_modules(family.__path__)), key=lambda name: (len(name), name))


def member(module: ModuleType, attribute: str) -> type[Any]:
    """The class of a member: the one whose attribute is its module's name.

    Raises:
        TypeError: the module has no such class, or several.
    """
    name = module.__name__.rpartition(".")[2]
    found = [
        each for each in vars(module).values() if isinstance(each, type) and getattr(each, attribute, None) == name
    ]
    if len(found) != 1:
        raise TypeError(f"{module.__name__}: expected one class with {attribute} = {name!r}, found {len(found)}")
    return found[0]
