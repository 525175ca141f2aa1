"""VSE++ from a CNN that was trained to classify, beside one that starts from its authors' checkpoint."""

from trivium.decorrelation.models.kinds.vse import Vse


class VseScratch(Vse):
    """The same network as `vse`; its `base` and the settings of its beginning are others."""

    name = "vse_scratch"
    label = "VSE++, from scratch"
    network = ("trivium.decorrelation.models.vse", "VseScratch")
