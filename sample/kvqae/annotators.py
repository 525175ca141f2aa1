"""Simulated annotators whose disagreement is known, and their annotations as Label Studio exports them.

A question may have three traits: it should be discarded, be rephrased, or get another image. Each is drawn with its
prevalence p, and each annotator sees the opposite with probability e, all independently. So the κ of the annotations is
known in advance (`expected_kappa`), and so is how many words each edit changes.
"""

import itertools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field
from rapidfuzz.distance import Levenshtein

from trivium.core.parameters import Parameters
from trivium.kvqae.annotation.project import DECISION, DISCARD_REASONS, IMAGE, KEEP, QUESTION
from trivium.kvqae.construction.generation import GeneratedQuestion

_LEADS = ("In this picture:", "About what is shown here:", "Look at the person or thing in this picture:")
_ASKING = re.compile(
    r"(.*\. )((?:who|whom|whose|what|which|where|when|how|in|on|at|of|to|for|under) .*)", re.IGNORECASE
)


class Trait(Parameters):
    """A property of some questions, which annotators see imperfectly."""

    prevalence: float = Field(ge=0, le=1, description="Share of questions that have it")
    flip: float = Field(ge=0, le=0.5, description="Chance that an annotator sees the opposite")


class AnnotationsParameters(Parameters):
    """Section `kvqae.annotations`: the simulated annotators; `local` reads none of it."""

    discard: Trait = Field(description="The question should be discarded")
    change_question: Trait = Field(description="The question should be rephrased")
    change_image: Trait = Field(description="Another image should be chosen")
    cancelled: float = Field(ge=0, lt=1, description="Chance that an annotator skips a task")
    seed: int = Field(default=0, ge=0, description="Seed of traits, annotators and edits")


def simulate(
    parameters: AnnotationsParameters, questions: Mapping[str, GeneratedQuestion], tasks: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Annotate tasks as the simulated annotators do.

    Returns:
        The export, and its expected statistics: `kappa_<decision>` over the tasks of several annotators; `edited_share`
        of the questions that an annotator keeps; `edit_words`, the mean number of words that an edit changes.
    """
    rng = np.random.default_rng(parameters.seed)
    traits = (parameters.discard, parameters.change_question, parameters.change_image)
    exported: list[dict[str, Any]] = []
    words: list[int] = []
    has_choice: list[bool] = []  # for each task of several annotators, whether there is another image
    numbers = itertools.count(1)
    for position, task in enumerate(tasks, 1):
        question, names = questions[task["data"]["id"]], task["data"]["annotators"].split()
        has_choice += [len(question.images) > 1] if len(names) > 1 else []
        truths = [rng.random() < trait.prevalence for trait in traits]
        annotations = []
        for name in names:
            seen = [truth != (rng.random() < trait.flip) for truth, trait in zip(truths, traits, strict=True)]
            result = _decide(question, seen, words, rng)
            cancelled = bool(rng.random() < parameters.cancelled)
            annotations.append({
                "id": next(numbers),
                "completed_by": {"id": int(name[1:]), "email": name},
                "was_cancelled": cancelled,
                "ground_truth": False,
                "result": [] if cancelled else result,
            })  # fmt: skip
        # Pictures are left out: the export would be as large as the tasks.
        images = [{"value": image["value"]} for image in task["data"]["images"]]
        data = {**task["data"], "images": images, "reference": ""}
        exported.append({"id": position, "data": data, "annotations": annotations, "predictions": []})
    discard, change, other = traits
    choice = float(np.mean(has_choice)) if has_choice else 1.0
    # A discard counts as a change of both; where there is no other image, nobody can choose it.
    with_choice = [(share * choice, yes) for share, yes in any_seen(discard, other)]
    expected = {
        "kappa_discard": expected_kappa(any_seen(discard)),
        "kappa_change_question": expected_kappa(any_seen(discard, change)),
        "kappa_change_image": expected_kappa(
            with_choice + [(share * (1 - choice), yes) for share, yes in any_seen(discard)]
        ),
        "edited_share": change.prevalence * (1 - change.flip) + (1 - change.prevalence) * change.flip,
        "edit_words": float(np.mean(words)) if words else None,
    }
    return exported, {name: value for name, value in expected.items() if value is not None}


def any_seen(*traits: Trait) -> list[tuple[float, float]]:
    """Return for each combination of traits its probability, and that an annotator sees at least one of them."""
    states = []
    for truths in itertools.product((False, True), repeat=len(traits)):
        probability, none = 1.0, 1.0
        for truth, trait in zip(truths, traits, strict=True):
            probability *= trait.prevalence if truth else 1 - trait.prevalence
            none *= trait.flip if truth else 1 - trait.flip
        states.append((probability, 1 - none))
    return states


def expected_kappa(states: list[tuple[float, float]]) -> float | None:
    """Compute Fleiss' κ of yes-or-no annotations of infinitely many questions: Var(r) / (p (1 - p)), p = Σ π_z r_z.

    It does not depend on the number of annotators; docs/kvqae-annotation.md derives it.

    Args:
        states: (π_z, r_z): a question is in state z with probability π_z, each annotator then says yes with r_z.

    Returns:
        κ; None when all annotations are equal.
    """
    share = sum(probability * yes for probability, yes in states)
    variance = sum(probability * (yes - share) ** 2 for probability, yes in states)
    return variance / (share * (1 - share)) if 0 < share < 1 else None


def _decide(
    question: GeneratedQuestion, seen: list[bool], words: list[int], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the results of one annotation; `words` receives how many words an edit changes."""
    discarded, rephrased, other = seen
    if discarded:
        return [_result(DECISION, "choices", str(rng.choice(DISCARD_REASONS)))]
    text = question.text
    if rephrased:
        text, changed = _rephrase(question, rng)
        words.append(changed)
    # The second image: later ones are worse, and annotators see that.
    image = question.images[1 if other and len(question.images) > 1 else 0]
    return [_result(DECISION, "choices", KEEP), _result(QUESTION, "text", text), _result(IMAGE, "choices", image)]


def _result(name: str, key: str, value: str) -> dict[str, Any]:
    kind = "textarea" if key == "text" else key
    return {"from_name": name, "to_name": "original", "type": kind, "value": {key: [value]}, "origin": "manual"}


def _rephrase(question: GeneratedQuestion, rng: np.random.Generator) -> tuple[str, int]:
    """Change a text by a lead, by another mention, or to the question alone; returns it and how many words changed."""
    lead = str(rng.choice(_LEADS))
    changes = [(f"{lead} {question.text}", len(lead.split()))]
    mention = re.search(rf"\b{re.escape(question.ambiguous_mention)}(?!\w)", question.text, re.IGNORECASE)
    others = [other for other in question.other_mentions if other != question.ambiguous_mention]
    if mention and others:
        other = str(rng.choice(others))
        other = other[0].upper() + other[1:] if mention[0][0].isupper() else other
        text = question.text[: mention.start()] + other + question.text[mention.end() :]
        changes.append((text, Levenshtein.distance(question.text.split(), text.split())))
    if sentences := _ASKING.fullmatch(question.text):
        changes.append((sentences[2], len(sentences[1].split())))
    return changes[int(rng.integers(len(changes)))]
