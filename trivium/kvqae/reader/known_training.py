"""Which models are known to have been trained on ViQuAE's questions (kvqae.md §5).

What is not listed is not known: a model's training sets are rarely told in full.
"""

import re

# Pattern of a model's name in lower case → what is known, and from where.
KNOWN = {
    r"bluelm": "Fine-tuned on ViQuAE among others (BlueLM-V-3B, Lu et al. 2024, Table 6).",
    r"m3it|ying-?vlm": "Trained on M³IT (Li et al. 2023), whose repository has ViQuAE with all of its splits.",
}


def known_training(model: str, label: str) -> str:
    """What is known of a model by its names; empty where nothing is."""
    names = f"{model} {label}".lower()
    return " ".join(note for pattern, note in KNOWN.items() if re.search(pattern, names))
