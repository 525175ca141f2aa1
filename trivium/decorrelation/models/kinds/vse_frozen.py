"""VSE++ on a CNN that stays as it was, the default of its authors' code (Faghri et al. 2018)."""

from typing import ClassVar

from trivium.decorrelation.models.kinds.vse import Vse


class VseFrozen(Vse):
    """The same network as `vse`; `finetune_cnn` is false in its settings."""

    name = "vse_frozen"
    label = "VSE++, CNN frozen"
    network = ("trivium.decorrelation.models.vse", "VseFrozen")
    tiny: ClassVar = Vse.tiny | {"finetune_cnn": False}
