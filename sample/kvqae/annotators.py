"""Simulated annotators whose disagreement is known.

Of each question there is a truth for each of three things: whether it ought to be discarded, to be rephrased, to get
another image. It holds with the prevalence p, independently, and each annotator sees it wrongly with probability e,
independently. So the κ that annotations should show is known before they are made (`expected_kappa`), and so is how
many words each edit changes.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from trivium.kvqae.annotation.export import Annotation
from trivium.kvqae.annotation.generated_questions import GeneratedQuestion
from trivium.kvqae.annotation.project import DISCARD_REASONS
from trivium.measures.agreement import fleiss_kappa

_LEADS = ("In this picture:", "About what is shown here:", "Look at the person or thing in this picture:")
_WH_WORDS = (
    "who",
    "whom",
    "whose",
    "what",
    "which",
    "where",
    "when",
    "how",
    "in",
    "on",
    "at",
    "of",
    "to",
    "for",
    "under",
)
_DRAWS = 400
States = list[tuple[float, float]]


@dataclass(frozen=True)
class Trait:
    """Something that is true of a question with probability `prevalence`, and seen wrongly with probability `flip`."""

    prevalence: float
    flip: float

    def seen(self, truth: bool, rng: np.random.Generator) -> bool:
        """What one annotator says."""
        return bool(truth != (rng.random() < self.flip))


class Traits(NamedTuple):
    """What is true of a question: it ought to be discarded, to be rephrased, to get another image."""

    discard: Trait
    change_question: Trait
    change_image: Trait


def any_seen(*traits: Trait) -> States:
    """For each combination of truths: its probability, and that of an annotator who sees at least one of them."""
    states = []
    for truths in itertools.product((False, True), repeat=len(traits)):
        probability, none = 1.0, 1.0
        for truth, trait in zip(truths, traits, strict=True):
            probability *= trait.prevalence if truth else 1 - trait.prevalence
            none *= trait.flip if truth else 1 - trait.flip
        states.append((probability, 1 - none))
    return states


def expected_kappa(states: States) -> float | None:
    """Fleiss' κ of yes-or-no annotations over infinitely many questions.

    A question is in state z with probability π_z; each annotator of it then says yes with probability r_z, on their
    own. Two annotators agree with probability `P̄ = Σ π_z (r_z² + (1 - r_z)²)`; with `p = Σ π_z r_z` they would by
    chance with `P̄ₑ = p² + (1 - p)²`; `κ = (P̄ - P̄ₑ) / (1 - P̄ₑ)`, which is Var(r) / (p (1 - p)). It does not depend
    on the number of annotators.

    Args:
        states: (π_z, r_z), the probabilities add up to 1.

    Returns:
        κ; None when everybody always says the same.
    """
    agree = sum(probability * (yes**2 + (1 - yes) ** 2) for probability, yes in states)
    share = sum(probability * yes for probability, yes in states)
    chance = share**2 + (1 - share) ** 2
    return (agree - chance) / (1 - chance) if 0 < share < 1 else None


def kappa_deviation(states: States, questions: int, annotators: int, rng: np.random.Generator) -> float | None:
    """Standard deviation of κ when it is computed on so many questions of so many annotators, from _DRAWS draws.

    Returns:
        It; None where κ is hardly ever defined: fewer than two questions or annotators, or all say the same.
    """
    if min(questions, annotators) < 2:
        return None
    probabilities, yes = np.array(states).T
    said = yes[rng.choice(len(states), size=(_DRAWS, questions), p=probabilities / probabilities.sum())]
    counts = rng.binomial(annotators, said)
    kappas = [fleiss_kappa(np.column_stack([annotators - each, each])) for each in counts]
    defined = [kappa for kappa in kappas if kappa is not None]
    return float(np.std(defined)) if len(defined) > _DRAWS / 2 else None


@dataclass(frozen=True)
class Edit:
    """A rephrased question, and in how many words it differs from the generated one."""

    text: str
    words: int


class Annotators:
    """They decide, rephrase and choose.

    Args:
        traits: what they see.
        rng: the only source of chance.
    """

    def __init__(self, traits: Traits, rng: np.random.Generator) -> None:
        self._traits, self._rng = traits, rng

    def annotate(
        self, question: GeneratedQuestion, names: Sequence[str], first: int
    ) -> tuple[list[Annotation], list[int]]:
        """What each of these annotators makes of a question.

        Args:
            question: with one candidate image there is nothing to change about the image.
            names: of the annotators.
            first: number of the first annotation; the others follow.

        Returns:
            Annotations, and of each edit of a kept question, how many words it changes.
        """
        rng = self._rng
        truths = [bool(rng.random() < trait.prevalence) for trait in self._traits]
        made: list[Annotation] = []
        words: list[int] = []
        for number, name in enumerate(names, first):
            discarded, rephrased, other = (
                trait.seen(truth, rng) for trait, truth in zip(self._traits, truths, strict=True)
            )
            if discarded:
                made.append(Annotation(number, name, str(rng.choice(DISCARD_REASONS)), None, None))
                continue
            edit = self.rephrase(question) if rephrased else Edit(question.text, 0)
            words += [edit.words] if rephrased else []
            # The next one: those after it are worse, and annotators see that.
            image = question.images[1] if other and len(question.images) > 1 else question.images[0]
            made.append(Annotation(number, name, None, edit.text, image))
        return made, words

    def rephrase(self, question: GeneratedQuestion) -> Edit:
        """One change that annotators make: another mention, what comes before the question left out, a lead added."""
        changes = [self._led(question), *filter(None, (self._other_mention(question), _shortened(question)))]
        return changes[int(self._rng.integers(len(changes)))]

    def _led(self, question: GeneratedQuestion) -> Edit:
        lead = str(self._rng.choice(_LEADS))
        return Edit(f"{lead} {question.text}", len(lead.split()))

    def _other_mention(self, question: GeneratedQuestion) -> Edit | None:
        others = [mention for mention in question.other_mentions if mention != question.ambiguous_mention]
        found = re.search(rf"\b{re.escape(question.ambiguous_mention)}(?!\w)", question.text, re.IGNORECASE)
        if found is None or not others:
            return None
        other = str(self._rng.choice(others))
        text = question.text[: found.start()] + _in_case(other, found[0]) + question.text[found.end() :]
        return Edit(text, Levenshtein.distance(question.text.split(), text.split()))


def _in_case(text: str, model: str) -> str:
    return text[0].upper() + text[1:] if model[0].isupper() else text


def _shortened(question: GeneratedQuestion) -> Edit | None:
    """Without the sentences before the one that asks."""
    before, dot, asking = question.text.rpartition(". ")
    if not dot or not asking.lower().startswith(tuple(f"{word} " for word in _WH_WORDS)):
        return None
    return Edit(asking, len(before.split()))
