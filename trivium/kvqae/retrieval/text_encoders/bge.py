"""BGE (Xiao et al., SIGIR 2024), in English, version 1.5: `BAAI/bge-base-en-v1.5` and its sizes (kvqae.md §3)."""

from typing import ClassVar

from trivium.kvqae.retrieval.sentence_encoder import SentenceEncoder


class Bge(SentenceEncoder):
    """Only questions have an instruction, that of the model's card."""

    name, label, symbol = "bge", "BGE", "E_bge"
    prefixes: ClassVar = {"question": "Represent this sentence for searching relevant passages: ", "passage": ""}
