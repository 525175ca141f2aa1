"""Registries: a family's members are the modules of one package, found by looking into its folder; nothing lists them.

Adding a file adds a member: the class of the module whose `name` is the module's. The module that makes a registry says
`FAMILY = "its.package"` beside it, as the digests ask for (`code/digest.py`).
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from trivium.core.errors import BadInput

T = TypeVar("T")


def member_names(family: str) -> tuple[str, ...]:
    """Names of the members of a family, none of which is loaded; f10 follows f9."""
    names = [module.name for module in iter_modules(import_module(family).__path__)]
    return tuple(sorted(names, key=lambda name: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]))


class Registry(Mapping[str, type[T]]):
    """The classes of a family, a package, by their names; a class's module is imported when it is asked for.

    `what` is how messages call a member; `field` is the parameter that a message names when its value is no member.
    """

    def __init__(self, family: str, what: str, field: str) -> None:
        self._family, self._what, self._field = family, what, field

    def __iter__(self) -> Iterator[str]:
        return iter(member_names(self._family))

    def __len__(self) -> int:
        return len(member_names(self._family))

    def __contains__(self, name: object) -> bool:
        return name in member_names(self._family)

    def __getitem__(self, name: str) -> type[T]:
        """The class of this name.

        Raises:
            BadInput: there is none; the others are listed.
            TypeError: the module has no such class, or several.
        """
        if name not in self:
            raise BadInput(f"no such {self._what}", field=self._field, got=name, choices=self)
        module = import_module(f"{self._family}.{name}")
        own = [value for value in vars(module).values() if isinstance(value, type)]
        members = [value for value in own if getattr(value, "name", None) == name]
        if len(members) != 1:
            raise TypeError(f"{module.__name__}: expected one class with name = {name!r}, found {len(members)}")
        return members[0]

    def check(self, name: str) -> str:
        """Return the name, for pydantic's `AfterValidator`; `ValueError` lists the others where no member has it."""
        if name not in self:
            raise ValueError(f"no such {self._what}: {name} (choices: {', '.join(self)})")
        return name
