"""Factor f3, trigger in the question: the trigger, also inflected, is absent from the question (complexity.md §4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from trivium.complexity.factors.corpora import Corpora, Presence
from trivium.complexity.factors.factor import Factor, Judged
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import Example


class AbsentTriggerParameters(Parameters):
    """Parameters of f3."""

    reading: Literal["question", "both"] = Field(
        description="Ask for the trigger in the question, or in question and answer (then many are in neither set)"
    )
    other_reading: bool = Field(default=False, description="Give the other reading's δ below this one's in Table 2")


class AbsentTrigger(Factor):
    """Yes where the trigger is absent, no where it is present, neither where only a word of its stem is there."""

    name = "f3"
    description = "Is the trigger absent from the question?"
    settings = AbsentTriggerParameters
    tiny = (None, True, False, False, False, True)
    parameters: AbsentTriggerParameters
    other_label = "the same, looked for in the question alone or in question and answer: see complexity.md §4"

    @property
    def label(self) -> str:
        """Name where the trigger is looked for."""
        return f"trigger absent from {'question and answer' if self.parameters.reading == 'both' else 'the question'}"

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Judge by `reading`; the metrics count how triggers were found, and the examples that `both` leaves out."""
        by_reading: dict[str, list[bool | None]] = {"question": [], "both": []}
        counts = Counter[str]()
        for example in examples:
            lemma = example.frame.lexical_unit.lemma
            presence = corpora.inflections.presence(lemma, example.question)
            absent, of_answer = _absent(presence), _absent(corpora.inflections.presence(lemma, example.answer_text))
            both = absent if absent == of_answer else None
            counts.update([str(presence), *(["other_reading"] if both is None else [])])
            by_reading["question"].append(absent)
            by_reading["both"].append(both)
        metrics = {f"f3_found_by_{kind}": float(counts[kind]) for kind in ("stem", "homograph", "spelling")}
        metrics["f3_uncounted_if_both"] = float(counts["other_reading"])
        says = by_reading.pop(self.parameters.reading)
        return Judged(says, {}, metrics, *(by_reading.values() if self.parameters.other_reading else ()))


def _absent(presence: Presence | None) -> bool | None:
    """Whether the trigger is absent; None when a stem alone was found, which may be that of a derivation."""
    return None if presence == "stem" else presence is None
