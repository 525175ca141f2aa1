"""What simulated annotators make of the tasks, as Label Studio exports it, and what its statistics should be."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import Field

from sample.kvqae.annotators import Annotators, States, Trait, Traits, any_seen, expected_kappa, kappa_deviation
from trivium.core.parameters import Parameters
from trivium.kvqae.annotation.export import Annotation
from trivium.kvqae.annotation.generated_questions import GeneratedQuestion
from trivium.kvqae.annotation.project import DECISION, IMAGE, KEEP, QUESTION


class TraitParameters(Parameters):
    """Something that is true of some questions, and that annotators see imperfectly."""

    prevalence: float = Field(ge=0, le=1, description="Share of questions of which it is true")
    flip: float = Field(ge=0, le=0.5, description="Chance that an annotator sees the opposite")


class AnnotationsParameters(Parameters):
    """Section `kvqae.annotations`: the simulated annotators; `local` reads none of it."""

    discard: TraitParameters = Field(description="The question ought to be discarded")
    change_question: TraitParameters = Field(description="The question ought to be rephrased")
    change_image: TraitParameters = Field(description="Another image ought to be chosen")
    cancelled: float = Field(ge=0, lt=1, description="Chance that an annotator skips a task")
    seed: int = Field(default=0, ge=0, description="Of truths, annotators and edits")


def simulate(
    parameters: AnnotationsParameters, questions: Mapping[str, GeneratedQuestion], tasks: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Annotate tasks as the simulated annotators do.

    Returns:
        The export, and what is expected of its statistics: kappa_{decision} over the tasks of several annotators and
        kappa_{decision}_sd, how far chance takes it from that; edited_share of what an annotator keeps; edit_words,
        the mean over all edits that were made.
    """
    rng = np.random.default_rng(parameters.seed)
    each = (parameters.discard, parameters.change_question, parameters.change_image)
    traits = Traits(*(Trait(one.prevalence, one.flip) for one in each))
    annotators = Annotators(traits, rng)
    exported: list[dict[str, Any]] = []
    words: list[int] = []
    number, several, most, without_choice = 1, 0, 0, 0
    for position, task in enumerate(tasks, 1):
        data = task["data"]
        question, names = questions[data["id"]], data["annotators"].split()
        made, changed = annotators.annotate(question, names, number)
        number += len(made)
        words += changed
        several += len(names) > 1
        most = max(most, len(names))
        without_choice += len(names) > 1 and len(question.images) == 1
        cancelled = rng.random(len(made)) < parameters.cancelled
        annotations = [_exported(each, skip) for each, skip in zip(made, cancelled.tolist(), strict=True)]
        # Pictures are left out: the export would be as large as the tasks.
        images = [{"value": image["value"]} for image in data["images"]]
        without_pictures = {**data, "images": images, "reference": ""}
        exported.append({"id": position, "data": without_pictures, "annotations": annotations, "predictions": []})
    expected: dict[str, float | None] = {}
    for name, states in _states(traits, without_choice / several if several else 0.0).items():
        expected[name] = expected_kappa(states)
        expected[f"{name}_sd"] = kappa_deviation(states, several, most, rng)
    change = parameters.change_question
    expected["edited_share"] = change.prevalence * (1 - change.flip) + (1 - change.prevalence) * change.flip
    expected["edit_words"] = float(np.mean(words)) if words else None
    return exported, {name: value for name, value in expected.items() if value is not None}


def _states(traits: Traits, without_choice: float) -> dict[str, States]:
    """A discard counts as a change of both; a share of the questions has no other image that could be chosen."""
    discard = any_seen(traits.discard)
    with_image = [(part * (1 - without_choice), yes) for part, yes in any_seen(traits.discard, traits.change_image)]
    return {
        "kappa_discard": discard,
        "kappa_change_question": any_seen(traits.discard, traits.change_question),
        "kappa_change_image": with_image + [(part * without_choice, yes) for part, yes in discard],
    }


def _exported(annotation: Annotation, cancelled: bool) -> dict[str, Any]:
    """An annotation as Label Studio exports it."""
    return {
        "id": annotation.number,
        "completed_by": {"id": int(annotation.annotator[1:]), "email": annotation.annotator},
        "was_cancelled": cancelled,
        "ground_truth": False,
        "result": [] if cancelled else list(_result(annotation)),
    }


def _result(annotation: Annotation) -> Iterator[dict[str, Any]]:
    values: list[tuple[str, str, dict[str, Any]]] = [(DECISION, "choices", {"choices": [annotation.discarded or KEEP]})]
    if annotation.text is not None and annotation.image is not None:
        values += [
            (QUESTION, "textarea", {"text": [annotation.text]}),
            (IMAGE, "choices", {"choices": [annotation.image]}),
        ]
    for name, kind, value in values:
        yield {"from_name": name, "to_name": "original", "type": kind, "value": value, "origin": "manual"}
