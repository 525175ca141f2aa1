"""How far annotators agree, what they change, and which annotation of a question counts (kvqae.md §2).

Three decisions: discard the question, change its text, change its image. A discarded question counts as changed in
both, since nobody can say what its annotator would have kept.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from trivium.kvqae.annotation.export import Annotation
from trivium.kvqae.annotation.generated_questions import GeneratedQuestion
from trivium.measures.agreement import fleiss_kappa

DECISIONS = ("discard", "change_question", "change_image")
Annotations = Mapping[str, Sequence[Annotation]]
Questions = Mapping[str, GeneratedQuestion]


def decisions(annotation: Annotation, question: GeneratedQuestion) -> tuple[bool, bool, bool]:
    """Whether the annotator discarded the question, changed its text, changed its image (in order of DECISIONS)."""
    discarded = annotation.discarded is not None
    return (
        discarded,
        discarded or edited_words(annotation, question) > 0,
        discarded or is_other_image(annotation, question),
    )


def edited_words(annotation: Annotation, question: GeneratedQuestion) -> int:
    """Edit distance, in words, between the generated question and what the annotator made of it."""
    return Levenshtein.distance(question.text.split(), (annotation.text or "").split())


def is_other_image(annotation: Annotation, question: GeneratedQuestion) -> bool:
    """Whether the annotator took another image than the one that was selected."""
    return annotation.image != question.images[0]


def agreement(annotations: Annotations, questions: Questions, least: int) -> dict[str, float]:
    """Fleiss' κ of each decision over the questions that `least` annotators or more decided on.

    Returns:
        agreement_questions, and kappa_{decision} where κ is defined.
    """
    several = {identifier: made for identifier, made in annotations.items() if len(made) >= least}
    metrics = {"agreement_questions": float(len(several))}
    votes = [[decisions(each, questions[identifier]) for each in made] for identifier, made in several.items()]
    for number, name in enumerate(DECISIONS):
        yes = np.array([sum(vote[number] for vote in made) for made in votes])
        total = np.array([len(made) for made in votes])
        kappa = fleiss_kappa(np.column_stack([total - yes, yes])) if votes else None
        metrics |= {} if kappa is None else {f"kappa_{name}": kappa}
    return metrics


def settle(annotations: Sequence[Annotation]) -> Annotation | None:
    """The annotation of a question that counts; None when it is discarded.

    A question is discarded when more than half of its annotators discard it. Else the earliest annotation that keeps
    it counts: texts cannot be averaged, and every annotator follows the same instructions.
    """
    keeping = [each for each in annotations if each.discarded is None]
    if not keeping:
        return None
    return min(keeping, key=lambda each: each.number) if 2 * len(keeping) >= len(annotations) else None


def edit_statistics(kept: Mapping[str, Annotation], questions: Questions) -> dict[str, float]:
    """What annotators changed in the questions that were kept.

    Returns:
        Shares edited_share and other_image_share; edit_words, the mean distance in words over the edited ones.
    """
    if not kept:
        return {}
    words = np.array([edited_words(each, questions[identifier]) for identifier, each in kept.items()])
    other = [is_other_image(each, questions[identifier]) for identifier, each in kept.items()]
    metrics = {"edited_share": float((words > 0).mean()), "other_image_share": float(np.mean(other))}
    return metrics | ({"edit_words": float(words[words > 0].mean())} if words.any() else {})
