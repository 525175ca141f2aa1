"""The sample's French: a small grammar whose texts, questions, syntax and frames come from the same trees."""

from sample.french.french_world import FrenchWorld, build_french
from sample.french.text_statistics import statistics

__all__ = ["FrenchWorld", "build_french", "statistics"]
