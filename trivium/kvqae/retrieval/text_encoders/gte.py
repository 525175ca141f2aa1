"""GTE (Li et al., 2023): `thenlper/gte-base` and its sizes (kvqae.md §3)."""

from trivium.kvqae.retrieval.sentence_encoder import SentenceEncoder


class Gte(SentenceEncoder):
    """Neither side has a prefix."""

    name, label, symbol = "gte", "GTE", "E_gte"
