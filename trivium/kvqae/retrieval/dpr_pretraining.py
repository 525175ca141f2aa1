"""DPR pretraining: TriviaQA questions without ViQuAE's, negatives from BM25 over all articles (kvqae.md §3)."""

from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.retrieval.dpr_training import DprParameters, validation_mrr
from trivium.kvqae.retrieval.pair_tokens import PairTokens
from trivium.kvqae.retrieval.pairs import read_pairs
from trivium.kvqae.retrieval.text_encoder import load_text_encoder, save_text_encoder
from trivium.nets.cards import write_card
from trivium.nets.device import pick_device
from trivium.nets.dual_encoder import TOWERS, DualEncoder

CARD = {
    "title": "Trivium DPR, zero-shot",
    "description": "Dense passage retrieval by inner product of [CLS] vectors, trained on TriviaQA alone.",
}


class DprPretrainParameters(DprParameters):
    """Section `kvqae.dpr_pretrain`."""


def take_published(
    parameters: DprPretrainParameters,
    folder: Path,
    *,
    validation: Path,
    passages: Path,
    articles: Path,
    work: Path,
    out: Path,
) -> dict[str, float]:
    """Export the published encoders as if trained here, measured on the same validation pairs; `work`: for tokens.

    Returns:
        `steps` (0), `validation_mrr`, and the counts of the validation pairs.
    """
    pairs, counts = read_pairs(validation)
    texts = read_passage_texts(passages, articles, pairs.passages())
    (question, tokenizer), (passage, _) = (load_text_encoder(folder / tower, pick_device()) for tower in TOWERS)
    tokens = PairTokens(work / "tokens", tokenizer, pairs, texts, parameters.max_tokens)
    mrr = validation_mrr(DualEncoder(question, passage), tokenizer, pairs, tokens, parameters)
    with write_atomically(out) as beside:
        for tower, encoder in zip(TOWERS, (question, passage), strict=True):
            save_text_encoder(beside / tower, encoder, tokenizer)
            write_card(
                beside / tower,
                title=f"{CARD['title']}, {tower} encoder",
                description=CARD["description"],
                base=f"{folder}: the authors' own, not trained here",
                data="TriviaQA without ViQuAE's questions",
                metrics={"validation_mrr": mrr},
                licence="other",
            )
    return {"steps": 0.0, "validation_mrr": mrr, **{f"validation_{name}": value for name, value in counts.items()}}
