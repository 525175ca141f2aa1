"""The grid of weights that both fusions are tuned on, of the first stage and of the re-rankers."""

from pydantic import Field, field_validator

from trivium.core.parameters import Parameters
from trivium.measures.weight_search import simplex_grid


class WeightGridParameters(Parameters):
    """Sections `kvqae.tune_fusion` and `kvqae.tune_reranking`."""

    step: float = Field(gt=0, le=1, description="Step of the grid of weights, a divisor of 1")

    @field_validator("step")
    @classmethod
    def _divides_one(cls, step: float) -> float:
        simplex_grid(1, step)
        return step
