"""The rebuilt data set: what annotators kept, split at random without a shared image, in ViQuAE's format (§2)."""

from collections.abc import Mapping

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.kvqae.annotation.agreement import settle
from trivium.kvqae.annotation.export import Annotation
from trivium.kvqae.annotation.generated_questions import GeneratedQuestion
from trivium.kvqae.construction.rebuilt_records import (
    Kept,
    by_split,
    gives_the_answer,
    names_entity,
)
from trivium.kvqae.construction.splits import disjoint_splits


class Shares(Parameters):
    """Questions a split; only the proportions matter."""

    train: float = Field(gt=0, description="Training questions")
    validation: float = Field(gt=0, description="Validation questions")
    test: float = Field(gt=0, description="Test questions")


class RebuildParameters(Parameters):
    """Section `kvqae.rebuild`."""

    agreement_annotators: int = Field(ge=2, description="Agreement is measured on questions of at least so many")
    shares: Shares = Field(description="How the questions are split")
    seed: int = Field(default=0, ge=0, description="Of the split")


def keep(
    annotations: Mapping[str, list[Annotation]], questions: Mapping[str, GeneratedQuestion]
) -> tuple[dict[str, Annotation], dict[str, float]]:
    """The annotation that counts of each question that is kept, in the order of the generated questions.

    Returns:
        Annotations by question, and counts: annotated; of these discarded, and kept by annotators who wrote the
        entity's name or else the answer (left out); kept.
    """
    kept: dict[str, Annotation] = {}
    counts = {"annotated": float(len(annotations)), "discarded": 0.0}
    counts |= {"dropped_naming_the_entity": 0.0, "dropped_giving_the_answer": 0.0}
    for identifier, question in questions.items():
        settled = settle(annotations.get(identifier, ()))
        if settled is None:
            counts["discarded"] += identifier in annotations
        elif names_entity(_kept(question, settled)):
            counts["dropped_naming_the_entity"] += 1
        elif gives_the_answer(_kept(question, settled)):
            counts["dropped_giving_the_answer"] += 1
        else:
            kept[identifier] = settled
    counts["kept"] = float(len(kept))
    counts["discarded_share"] = counts["discarded"] / max(1.0, counts["annotated"])
    return kept, counts


def _kept(question: GeneratedQuestion, annotation: Annotation) -> Kept:
    return Kept(question, annotation.text or "", annotation.image or "")


def split_up(kept: list[Kept], parameters: RebuildParameters) -> Mapping[str, list[Kept]]:
    """Questions by split; those that share an image, or were made from one TriviaQA question, stay together."""
    keys = [{("image", each.image), ("source", each.generated.source)} for each in kept]
    return by_split(kept, disjoint_splits(keys, parameters.shares.model_dump(), parameters.seed))
