"""Words of caption English whose part of speech a rule cannot guess: closed classes, common verbs and adjectives.

Tags are one letter each, so that a caption's tags are a string and patterns over them regular expressions:
D determiner, Q possessive pronoun, U numeral, J adjective, N noun, S `'s`, O pronoun, P preposition, C conjunction,
W relative, X auxiliary, F finite or bare verb, G `-ing` verb, E participle, T infinitive's "to", R adverb, and the
marks "," and ".".
"""

from pathlib import Path
from typing import Any

import yaml

_TREE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("lexicon.yaml").read_text(encoding="utf-8"))


def words_of(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


LISTS: dict[str, frozenset[str]] = {name: words_of(words) for name, words in _TREE.items() if isinstance(words, str)}
SECOND_PARTS = {second: words_of(firsts) for second, firsts in _TREE["second_parts"].items()}
COMPOUND_PREPOSITIONS: tuple[str, ...] = tuple(_TREE["compound_prepositions"])
QUANTITIES = LISTS["quantities"]
