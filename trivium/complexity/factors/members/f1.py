"""Factor f1, coreference: a chain of mentions leads to the answer (complexity.md §4)."""

from collections.abc import Sequence

from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor, Judged
from trivium.formats.framed_texts import Example


class Coreference(Factor):
    """Yes where the answer is the antecedent of an element that is a pronoun or a possessive."""

    name = "f1"
    description = "Does a coreference chain lead to the answer?"
    tiny = (False, False, True, False, False, False)
    label = "coreference to resolve"

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Return yes or no for every example."""
        return Judged([bool(example.chain) for example in examples])
