"""The cross-encoder's question-passage pairs a second, beside sentence-transformers': `python -m bench.cross_encoder`.

Both score the same pairs with the same weights: a BERT of the paper's size with a GPU, else of the sample's, random, on
invented texts of different lengths, so that batching by length is seen. Both in full precision on a CPU.
"""

import os
import string
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from sentence_transformers import CrossEncoder
from transformers import BertConfig, BertModel, BertTokenizer

from bench import harness
from trivium.formats.questions import Question
from trivium.harness.arithmetic import PORTABLE
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.inputs import Example
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, save_cross_encoder, score_pairs
from trivium.kvqae.rerankers.cross_encoder_training import loss_of
from trivium.measures.answers import AnswerMatcher
from trivium.nets.device import pick_device

PAPER = {"layers": 12, "hidden": 768, "tokens": 256}
SMALL = {"layers": 6, "hidden": 384, "tokens": 72}
BATCH = 32
QUESTIONS, PASSAGES = 24, 20  # as many pairs as their product
SHORTEST = 10  # words of a passage


def write_model(folder: Path, words: list[str], layers: int, hidden: int) -> None:
    """A cross-encoder with random weights and these words in its vocabulary."""
    config = BertConfig(
        vocab_size=30522,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=4 * hidden,
    )
    BertModel(config).save_pretrained(folder / "base")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words)]
    BertTokenizer(vocab={word: place for place, word in enumerate(vocabulary)}).save_pretrained(folder / "base")
    model, tokenizer = load_cross_encoder(folder / "base", new_perceptron=True)
    save_cross_encoder(folder / "model", model, tokenizer, base=folder / "base", data="nothing", metrics={})


def main() -> None:
    """Time scoring, ours and theirs, and a training step."""
    os.environ[PORTABLE] = "intel"
    device = pick_device()
    sizes = PAPER if device.type == "cuda" else SMALL
    layers, hidden, tokens = sizes["layers"], sizes["hidden"], sizes["tokens"]
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(string.ascii_lowercase), 6)) for _ in range(2000)]
    lengths = rng.integers(SHORTEST, tokens, PASSAGES)
    texts = PassageTexts(
        ids=np.arange(PASSAGES),
        titles=pa.array([" ".join(rng.choice(words, 2)) for _ in range(PASSAGES)]),
        texts=pa.array([" ".join(rng.choice(words, length)) for length in lengths]),
    )
    questions = [" ".join(rng.choice(words, 12)) for _ in range(QUESTIONS)]
    pairs = [(question, passage) for question in questions for passage in range(PASSAGES)]
    written = [(question, SEPARATOR.join(texts[passage])) for question, passage in pairs]
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder), words, layers, hidden)
        model, tokenizer = load_cross_encoder(Path(folder) / "model")
        torch.nn.Module.to(model, device)
        peer = CrossEncoder(
            f"{folder}/model",
            max_length=tokens,
            device=str(device),
            activation_fn=torch.nn.Identity(),
            trust_remote_code=False,
        )

    def score() -> np.ndarray:
        return score_pairs(model, tokenizer, pairs, texts, max_tokens=tokens, batch=BATCH)

    def score_by_peer() -> np.ndarray:
        return peer.predict(written, batch_size=BATCH, show_progress_bar=False)

    others = np.arange(1, 6)
    sampled = [
        (Example(Question("q", text, ("a",), "a"), AnswerMatcher(["a"]), others[:0], others), np.arange(6))
        for text in questions[:4]
    ]
    difference = float(np.abs(score() - score_by_peer()).max())
    ours, theirs = harness.measure(score, repeats=5), harness.measure(score_by_peer, repeats=5)
    model.bert.embeddings.word_embeddings.requires_grad_(False)
    optimizer = torch.optim.AdamW([weights for weights in model.parameters() if weights.requires_grad], lr=1e-5)

    def step() -> None:
        model.train()
        optimizer.zero_grad()
        loss_of(model, tokenizer, sampled, texts, tokens).backward()
        optimizer.step()

    training = harness.measure(step, repeats=5)
    harness.write(
        "cross_encoder",
        {
            **sizes,
            "device": device.type,
            "scoring_pairs_per_second": len(pairs) / ours,
            "sentence_transformers_pairs_per_second": len(pairs) / theirs,
            "times_faster": theirs / ours,
            "largest_score_difference": difference,
            "training_pairs_per_second": len(sampled) * 6 / training,
            "versions": harness.versions("torch", "transformers", "sentence-transformers"),
        },
    )


if __name__ == "__main__":
    main()
