"""E5 (Wang et al., 2022), version 2: `intfloat/e5-base-v2`, its sizes and the multilingual ones (kvqae.md §3)."""

from typing import ClassVar

from trivium.kvqae.retrieval.sentence_encoder import SentenceEncoder


class E5(SentenceEncoder):
    """Trained with these prefixes, which its folders do not state."""

    name, label, symbol = "e5", "E5", "E_e5"
    prefixes: ClassVar = {"question": "query: ", "passage": "passage: "}
