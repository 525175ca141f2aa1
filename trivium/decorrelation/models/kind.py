"""What a kind of retrieval model is, and how one is found by its name (decorrelation.md §4).

A kind is a module of `kinds/` with one subclass of `Kind`. Its name is the module's, stands in `params.yaml`
(`decorrelation.train.models`, `decorrelation.cells`) and in the `config.json` of what it saves. Nothing else lists it:
one file adds one. Such a module is light, so that the page can ask for a label; the network is imported where a model
is started or loaded.
"""

from importlib import import_module
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator

from trivium.core.registry import Registry
from trivium.decorrelation.models.settings import ModelSettings

FAMILY = "trivium.decorrelation.models.kinds"


class Kind:
    """One architecture with its loss.

    Attributes:
        name: of its module.
        label: for tables.
        Settings: what `decorrelation.train.models.<name>` says.
        network: module and name of the class of its models, a `RetrievalModel`.
        released: whether there is a trained model to start from, so that it can be asked untouched.
        teraflop: of a picture and its caption, forward, by the released model, for `make plan`.
        tiny: its own settings for a test's small pictures and few words.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    Settings: ClassVar[type[ModelSettings]]
    network: ClassVar[tuple[str, str]]
    released: ClassVar[bool] = True
    teraflop: ClassVar[float]
    tiny: ClassVar[dict[str, Any]] = {}

    @classmethod
    def model(cls) -> Any:
        """The class of its models; torch and its libraries are loaded now."""
        module, name = cls.network
        return getattr(import_module(module), name)


KINDS: Registry[Kind] = Registry(FAMILY, "kind of retrieval model", "kind")
KindName = Annotated[str, AfterValidator(KINDS.known)]
