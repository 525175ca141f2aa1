"""Wikidata's classes of things that can be shown, as annotators listed them: `concrete_types.csv` beside this file."""

from pathlib import Path

CONCRETE_TYPES = Path(__file__).with_name("concrete_types.csv")
