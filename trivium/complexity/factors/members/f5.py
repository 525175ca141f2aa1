"""Factor f5, few arguments: a frame of few elements leaves the question little to hold on to (complexity.md §4)."""

from collections.abc import Sequence

import pyarrow as pa
from pydantic import Field

from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor, Judged, count_in_words
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import Example


class FewElementsParameters(Parameters):
    """Parameters of f5."""

    elements: int = Field(ge=0, description="Most frame elements that count as few")


class FewElements(Factor):
    """Yes where the frame's instance has at most `elements` elements of different names."""

    name = "f5"
    description = "Does the frame have few elements?"
    settings = FewElementsParameters
    columns = {"f5_elements": pa.int64()}  # noqa: RUF012 - declared a class variable by Factor
    tiny = (False, False, True, True, True, True)
    parameters: FewElementsParameters

    @property
    def label(self) -> str:
        """Name how many elements are few."""
        return f"{count_in_words(self.parameters.elements, 'frame element')} or fewer"

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Return yes or no for every example."""
        counts = [len({element.name for element in example.frame.elements}) for example in examples]
        most = self.parameters.elements
        return Judged([count <= most for count in counts], {"f5_elements": counts}, {"f5_threshold": float(most)})
