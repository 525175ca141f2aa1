"""The sample's French: a small grammar whose texts, questions, syntax and frames come from the same trees."""

from stages.world.sample.french.statistics import statistics
from stages.world.sample.french.world import FrenchWorld, build_french

__all__ = ["FrenchWorld", "build_french", "statistics"]
