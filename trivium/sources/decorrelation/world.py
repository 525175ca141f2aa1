"""Raw data of decorrelation: rendered scenes, COCO from the hub, or COCO and Flickr30k of your own (§1, §4, §6)."""

from trivium.decorrelation.co_occurrence import CoOccurrence, partners
from trivium.formats.pictures import Corpus


def describe(corpus: Corpus, found: CoOccurrence) -> dict[str, float]:
    """`partners`, how many classes have a partner, and `partner_probability`, the mean P(partner | class) of these."""
    position = {name: index for index, name in enumerate(found.classes)}
    probability = found.probability()
    shares = [probability[position[name], position[partner]] for name, partner in partners(corpus).items()]
    return {"partners": float(len(shares)), "partner_probability": float(sum(shares) / max(len(shares), 1))}
