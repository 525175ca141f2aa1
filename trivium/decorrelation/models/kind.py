"""What a kind of retrieval model is, and how one is found by its name (decorrelation.md §4).

A kind is a module of `kinds/` with one subclass of `Kind`. Its name is the module's, stands in `params.yaml`
(`decorrelation.train.models`, `decorrelation.cells`) and in the `config.json` of what it saves. Nothing else lists it:
one file adds one. Such a module is light, so that the page can ask for a label; the network is imported where a model
is started or loaded.
"""

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator

from trivium.decorrelation.models.settings import ModelSettings
from trivium.errors import BadInput

FAMILY = "trivium.decorrelation.models.kinds"


class Kind:
    """One architecture with its loss.

    Attributes:
        name: of its module.
        label: for tables.
        Settings: what `decorrelation.train.models.<name>` says.
        network: module and name of the class of its models, a `RetrievalModel`.
        released: whether there is a trained model to start from, so that it can be asked untouched.
        tiny: its own settings for a test's small pictures and few words.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    Settings: ClassVar[type[ModelSettings]]
    network: ClassVar[tuple[str, str]]
    released: ClassVar[bool] = True
    tiny: ClassVar[dict[str, Any]] = {}

    @classmethod
    def model(cls) -> Any:
        """The class of its models; torch and its libraries are loaded now."""
        module, name = cls.network
        return getattr(import_module(module), name)


@lru_cache(maxsize=1)
def kind_names() -> tuple[str, ...]:
    """Names of all kinds, in alphabetical order; none of them is loaded."""
    return tuple(sorted(each.name for each in iter_modules([str(Path(__file__).with_name("kinds"))])))


def kind_of(name: str) -> type[Kind]:
    """A kind by its name; only its own module is loaded.

    Raises:
        BadInput: no such kind; the others are listed.
    """
    if name not in kind_names():
        raise BadInput("no such kind of retrieval model", field="kind", got=name, choices=kind_names())
    module = import_module(f"{FAMILY}.{name}")
    own = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    found: type[Kind] = next(each for each in own if issubclass(each, Kind))
    return found


def _known(name: str) -> str:
    if name not in kind_names():
        raise ValueError(f"no such kind of retrieval model (choices: {', '.join(kind_names())})")
    return name


KindName = Annotated[str, AfterValidator(_known)]
