"""Factor f2, nature of the trigger: nominal triggers are harder to parse (Marzinotto et al. 2018; complexity.md §4)."""

from collections.abc import Sequence

from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor, Judged
from trivium.formats.framed_texts import Example

_NOMINAL = {"noun": True, "verb": False}


class NominalTrigger(Factor):
    """Yes where the trigger is a noun, no where it is a verb."""

    name = "f2"
    description = "Is the trigger a noun?"
    tiny = (False, False, False, False, True, True)
    label = "nominal trigger"

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Judge by part of speech; neither (None) if the trigger is not a noun or a verb."""
        return Judged([_NOMINAL.get(example.frame.lexical_unit.part_of_speech) for example in examples])
