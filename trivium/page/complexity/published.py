"""The paper's Table 2 by our factors: each names the factor of the paper that it is held against, if there is one."""

from collections.abc import Iterable, Mapping
from typing import Any

from trivium.complexity.factors.registry import FACTORS


def published_shares(published: Mapping[str, Any], factors: Iterable[str]) -> dict[str, float]:
    """The paper's share of yes, %, of each of our factors that the paper has.

    Args:
        published: tests/published/complexity.yaml.
        factors: names of ours.
    """
    return _by_factor(published, published["table_2"]["shares"], factors)


def published_deltas(published: Mapping[str, Any], factors: Iterable[str]) -> dict[str, dict[str, float]]:
    """{model of the paper: {factor of ours: its δ}}; a factor that the paper does not have is left out."""
    ours = list(factors)
    return {model: _by_factor(published, row, ours) for model, row in published["table_2"]["rows"].items()}


def _by_factor(published: Mapping[str, Any], row: Iterable[float], factors: Iterable[str]) -> dict[str, float]:
    values = dict(zip(published["table_2"]["factors"], row, strict=True))
    named = {factor: FACTORS[factor].published for factor in factors}
    return {factor: values[name] for factor, name in named.items() if name is not None}
