"""The paper's seven factors with the parameters of params.yaml, for tests of what follows from them."""

from pathlib import Path

import yaml

from trivium.complexity.factors.factor import Factor
from trivium.complexity.factors.registry import AnyFactors

PARAMETERS = yaml.safe_load((Path(__file__).parents[2] / "params.yaml").read_text("utf-8"))["complexity"]["factors"]
FACTORS = ("f0", "f1", "f2", "f3", "f4", "f5", "f6")


def chosen(**changes: dict) -> list[Factor]:
    """The seven; changes of parameters by factor."""
    values = {name: PARAMETERS[name] | changes.get(name, {}) for name in FACTORS}
    return AnyFactors.model_validate(values).chosen()


def labels(**changes: dict) -> dict[str, str]:
    """What each says."""
    return {factor.name: factor.label for factor in chosen(**changes)}
