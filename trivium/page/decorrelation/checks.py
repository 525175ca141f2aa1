"""The questions that the page asks of the comparisons: is the effect there, and is it not something else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Expected = Literal["more", "less", "same", "open"]


@dataclass(frozen=True)
class Check:
    """A question, and the comparison that answers it.

    Attributes:
        question: in words.
        expected: what would speak for the method, or `open`.
        wanted: fields of the row of comparisons.json.
    """

    question: str
    expected: Expected
    wanted: Mapping[str, Any]


def check(
    question: str,
    expected: Expected,
    left: str,
    right: str,
    *,
    dataset: str = "coco",
    model: str = "clip",
    kind: str = "synthetic",
    other: str | None = None,
    measure: str = "odmap@1",
    subset: str = "all",
) -> Check:
    """A check whose two variants were asked the same set, or (`other`) one variant asked two sets."""
    wanted = {
        "dataset": dataset,
        "model": model,
        "variant": left,
        "other_variant": right,
        "set": kind,
        "other_set": other or kind,
        "measure": measure,
        "subset": subset,
    }
    return Check(question, expected, wanted)


_EFFECT = (
    check("Is the effect there?", "more", "ours", "finetune"),
    check("Is retrieval as good?", "same", "ours", "finetune", kind="image_to_text", measure="r@1"),
    check("And the other way round?", "same", "ours", "finetune", kind="text_to_image", measure="r@1"),
    check("Is what is gone named less?", "less", "ours", "finetune", measure="removed_named"),
    check("Is ours above the model as released?", "more", "ours", "zero_shot"),
    check(
        "Does it name what is gone less than the model as released?",
        "less",
        "ours",
        "zero_shot",
        measure="removed_named",
    ),
    check("Is the model as released above finetuning on D alone?", "open", "zero_shot", "finetune"),
    check("With VSE++?", "more", "ours", "finetune", model="vse"),
    check("With BLIP?", "open", "ours", "finetune", model="blip"),
    check("On Flickr30k?", "open", "ours", "finetune", dataset="flickr30k"),
    check("Is ours above more steps on D, too?", "more", "ours", "longer"),
    check("And as good at retrieval as they are?", "same", "ours", "longer", kind="image_to_text", measure="r@1"),
    check("And the other way round?", "same", "ours", "longer", kind="text_to_image", measure="r@1"),
    check("What do more steps on D bring?", "open", "longer", "finetune"),
    check("Where the planted partner is still there?", "more", "ours", "finetune", subset="partner_remains"),
    check("And elsewhere?", "open", "ours", "finetune", subset="elsewhere"),
    check(
        "Is there no effect in the control world, where planted pairs stand together less often?",
        "same",
        *("ours", "finetune"),
        dataset="control",
    ),
    check("On scenes rendered again without the object?", "more", "ours", "finetune", kind="rendered"),
    check("Do in-painted and re-rendered queries agree, for ours?", "same", "ours", "ours", other="rendered"),
    check("And for finetune?", "same", "finetune", "finetune", other="rendered"),
)
_BLACK_BOX = check("Is a black box a shortcut?", "more", "zero", "zero", other="rendered")


def empty_box(question: str, dataset: str, variant: str, model: str = "clip") -> Check:
    """Whether R@1 of one variant stays as it is when a box without objects is painted over."""
    return check(
        question,
        "same",
        *(variant, variant),
        dataset=dataset,
        model=model,
        kind="empty_image_to_text",
        other="image_to_text",
        measure="r@1",
    )


def checks(datasets: Sequence[str]) -> tuple[Check, ...]:
    """All questions, those about empty boxes for each of these data sets."""
    asked = [
        empty_box(question, name, variant)
        for name in datasets
        for question, variant in (
            ("Does a painted empty box leave retrieval as it is, for ours?", "ours"),
            ("And for finetune?", "finetune"),
        )
    ]
    return (*_EFFECT, *asked, _BLACK_BOX)
