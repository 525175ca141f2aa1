"""The factors there are, and section `complexity.factors` of params.yaml, which says which of them run."""

from typing import Any

from pydantic import Field, create_model, model_validator

from trivium.complexity.factors.factor import Factor
from trivium.core.parameters import Parameters
from trivium.core.registry import Registry

FAMILY = "trivium.complexity.factors.members"
FACTORS: Registry[Factor] = Registry(FAMILY, "factor", "complexity.factors")  # in the order in which tables show them


class FactorsParameters(Parameters):
    """Section `complexity.factors`: the parameters of each factor that runs, by its name."""

    @model_validator(mode="after")
    def _some_factor(self) -> "FactorsParameters":
        if not self.chosen():
            raise ValueError("expected at least one factor")
        return self

    def chosen(self) -> list[Factor]:
        """The factors that run."""
        told = {name: getattr(self, name) for name in type(self).model_fields}
        return [FACTORS[name](values) for name, values in told.items() if values is not None]


def _fields() -> dict[str, Any]:
    return {
        name: (each.settings | None, Field(default=None, description=f"{each.description} Absent or null: not asked"))
        for name, each in FACTORS.items()
    }


AnyFactors: type[FactorsParameters] = create_model("AnyFactors", __base__=FactorsParameters, **_fields())
