"""VSE++ from a CNN that was trained to classify, beside one that starts from its authors' checkpoint."""

from trivium.decorrelation.models.kinds.vse import Vse


class VseScratch(Vse):
    """The network of `vse` with another `base` and other settings of its first steps."""

    name = "vse_scratch"
    label = "VSE++, from scratch"
