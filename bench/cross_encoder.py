"""The cross-encoder's question-passage pairs a second, beside two peers: `python -m bench.cross_encoder`.

All score the same pairs with the same weights: a BERT of the paper's size with a GPU, else of the sample's, random, on
invented texts of different lengths, so that batching by length is seen. All in full precision on a CPU. The popular way
is sentence-transformers' `predict` as it comes; an expert tokenises all pairs at once and batches them by their tokens.
"""

import os
import string
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from sentence_transformers import CrossEncoder
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

from bench import harness
from trivium.core.arithmetic import PORTABLE
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.inputs import Example
from trivium.kvqae.reader.pairs import KeptPairs
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, save_cross_encoder, score_pairs
from trivium.kvqae.rerankers.cross_encoder_training import loss_of
from trivium.measures.answers import AnswerMatcher
from trivium.nets.device import autocast, pick_device

PAPER = {"layers": 12, "hidden": 768, "tokens": 256}
SMALL = {"layers": 6, "hidden": 384, "tokens": 72}
BATCH = 32
QUESTIONS, PASSAGES = 16, 20  # as many pairs as their product
SHORTEST = 10  # words of a passage
CLOSE = {"cpu": 1e-5, "cuda": 0.1}  # scores; in bf16 on a GPU
WHY = (
    "batches are tokenised as they are scored, so that pairs need not all be held as tokens, and with each token's "
    "place in the text, which the reader shares"
)


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


@torch.inference_mode()
def by_tokens(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, written: Sequence[tuple[str, str]], most: int
) -> NDArray[np.float32]:
    """Scores as an expert would compute them: pairs of `most` tokens or fewer, those of similar length together."""
    encoded = tokenizer(list(written), truncation="longest_first", max_length=most)
    order = sorted(range(len(written)), key=lambda pair: -len(encoded["input_ids"][pair]))
    scores = np.empty(len(written), np.float32)
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        part = tokenizer.pad({name: [each[row] for row in rows] for name, each in encoded.items()}, return_tensors="pt")
        with autocast(model.device):
            scores[rows] = model(**part.to(model.device)).logits[:, 0].float().cpu()
    return scores


def main() -> None:
    """Race scoring, after all three have given the same scores; time a training step."""
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

    ours = partial(score_pairs, model, tokenizer, pairs, texts, max_tokens=tokens, batch=BATCH)
    popular, expert = partial(peer.predict, written), partial(by_tokens, model, tokenizer, written, tokens)
    for other in (popular, expert):
        np.testing.assert_allclose(other(), ours(), rtol=0, atol=CLOSE[device.type])
    race = harness.race(
        ours,
        harness.Peer("sentence-transformers", popular),
        harness.Peer("transformers, batches by tokens", expert),
        gflop=harness.gflop(expert),
        gigabytes=1e-9 * sum(weights.nbytes for weights in model.parameters()),
        why=WHY,
    )
    others = np.arange(1, 6)
    sampled = [
        (Example(Question("q", text, ("a",), "a"), AnswerMatcher(["a"]), np.arange(1), others), np.arange(6))
        for text in questions[:4]
    ]
    with tempfile.TemporaryDirectory() as folder:  # what is memory-mapped stays after it
        kept = KeptPairs(Path(folder), tokenizer, [example for example, _ in sampled], texts, tokens)
    model.bert.embeddings.word_embeddings.requires_grad_(False)
    optimizer = torch.optim.AdamW([weights for weights in model.parameters() if weights.requires_grad], lr=1e-5)

    def step() -> None:
        model.train()
        optimizer.zero_grad()
        loss_of(model, kept, sampled).backward()
        optimizer.step()

    training = harness.measure(step, repeats=5)
    harness.write(
        "cross_encoder",
        {
            **sizes,
            "device": device.type,
            "scoring_pairs_per_second": len(pairs) / race["seconds"],
            "races": {f"{len(pairs)} pairs": race},
            "training_pairs_per_second": len(sampled) * 6 / training,
            "versions": harness.versions("torch", "transformers", "sentence-transformers"),
        },
    )


if __name__ == "__main__":
    main()
