"""Words of a caption as NLTK's `word_tokenize` gives them, which the vocabularies of vsepp are made with.

NLTK finds sentences by a trained model (Punkt); here one ends at a full stop, a question or an exclamation mark before
a space. Within a sentence the rules are those of the Penn Treebank, as NLTK's documentation describes them.
"""

import re

_RULES = (  # applied in this order, spaces around what becomes a word
    (r"(^|[ (\[{<])\"", r"\1 `` "),
    (r"([^.])(\.)([\])}>\"']*)\s*$", r"\1 \2 \3 "),
    (r"([:,])(?=\D|$)", r" \1 "),
    (r"(\.{2,}|--|[;@#$%&?!*()\[\]{}<>])", r" \1 "),
    (r"\"", " '' "),
    (r"([^' ])('s|'m|'d|'ll|'re|'ve|n't|')(?= )", r"\1 \2"),
    (r"\b(can(?=not\b)|(?:gon|wan)(?=na\b)|got(?=ta\b)|(?:lem|gim)(?=me\b))", r"\1 "),
)


def treebank_words(text: str) -> list[str]:
    """The words of a text in lower case, with punctuation marks as words of their own."""
    words = []
    for sentence in re.split(r"(?<=[.?!])\s+", text.lower().strip()):
        padded = f" {sentence} "
        for pattern, replacement in _RULES:
            padded = re.sub(pattern, replacement, padded)
        words += padded.split()
    return words
