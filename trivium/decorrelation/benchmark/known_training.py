"""Which training sets are known to hold the test, or to have been cleaned of it (docs/odmap.md).

What is not listed is not known: a collection of web pages may hold any picture of Flickr, and COCO's and Flickr30k's
pictures are from there.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Training:
    """What is known of models whose name looks so.

    Attributes:
        names: a pattern of names in lower case.
        datasets: of the graph that this is about.
        note: what is known, and from where.
    """

    names: str
    datasets: tuple[str, ...]
    note: str


_BOTH = ("coco", "flickr30k")
TRAININGS = (
    Training(r"mscoco_finetuned|itm-\w+-coco|coco-finetuned", ("coco",), "Fine-tuned on COCO: not zero-shot."),
    Training(r"itm-\w+-flickr", ("flickr30k",), "Fine-tuned on Flickr30k: not zero-shot."),
    Training(
        r"\bblip\b",
        ("coco",),
        "Pretrained on COCO and Visual Genome (Li et al. 2022). Visual Genome took its pictures from COCO and YFCC100M "
        "(Krishna et al. 2017), so that some of the test's may be among them.",
    ),
    Training(
        r"yfcc|/openai\b|openai/clip",
        ("coco",),
        "Trained on pictures of YFCC100M among others (the models' cards); many of COCO's are from there "
        "(Krishna et al. 2017), so that some of the test's may be in it.",
    ),
    Training(
        r"datacomp|commonpool",
        _BOTH,
        "Trained on DataComp, from which near duplicates of this test were removed (Gadre et al. 2023).",
    ),
    Training(
        r"webli|siglip",
        _BOTH,
        "Trained on WebLI, from which near duplicates of 68 common test sets were removed (Chen et al. 2023).",
    ),
)
UNKNOWN = "Nothing is known of whether its training sets hold this test."


def known_training(model: str, dataset: str) -> list[str]:
    """What is known of a model's training sets and a data set's test.

    Args:
        model: as a person typed it, such as `open_clip:ViT-B-32/openai`.
        dataset: of the graph, with public pictures.
    """
    name = model.lower()
    return [each.note for each in TRAININGS if dataset in each.datasets and re.search(each.names, name)] or [UNKNOWN]
