"""The reader's question-passage pairs a second, in training and in reading: `python -m bench.reader`.

A BERT of the sample's size with random weights, on invented texts that fill its tokens. Reading is given beside the
bare network on the same batches, so that what tokenising and decoding add is seen.
"""

import string
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from transformers import BertConfig, BertForQuestionAnswering, BertTokenizer

from bench import harness
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import Example, tokenize
from trivium.kvqae.reader.pretraining import ReaderPretrainParameters
from trivium.kvqae.reader.reader_training import loss_of
from trivium.kvqae.reader.reading import read_pairs
from trivium.measures.answers import AnswerMatcher
from trivium.nets.device import autocast, pick_device

LAYERS, HIDDEN, TOKENS, PASSAGES, BATCH = 3, 384, 64, 240, 24
PARAMETERS = ReaderPretrainParameters(
    max_tokens=TOKENS,
    depth=100,
    relevant=2,
    irrelevant=4,
    answer_positions=10,
    loss="mean",
    dropout=0.0,
    frozen_embeddings=True,
    frozen_layers=0,
    questions=4,
    steps=1,
    learning_rate=1e-5,
    schedule="linear",
    warmup=0,
    max_gradient_norm=1.0,
    validate_every=1,
    validation_questions=1,
    validation_passages=1,
    answer_tokens=10,
    batch=BATCH,
    checkpoint_every=1,
    seed=0,
)


def world() -> tuple[BertForQuestionAnswering, BertTokenizer, PassageTexts, list[str]]:
    """A reader, passages of random words, and questions."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(string.ascii_lowercase), 6)) for _ in range(2000)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words)]
    config = BertConfig(
        vocab_size=30522,
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=4 * HIDDEN,
    )
    texts = PassageTexts(
        ids=np.arange(PASSAGES),
        titles=pa.array([" ".join(rng.choice(words, 2)) for _ in range(PASSAGES)]),
        texts=pa.array([" ".join(rng.choice(words, TOKENS)) for _ in range(PASSAGES)]),
    )
    questions = [" ".join(rng.choice(words, 12)) for _ in range(PASSAGES)]
    tokenizer = BertTokenizer(vocab={word: place for place, word in enumerate(vocabulary)})
    model: Any = BertForQuestionAnswering(config)
    return model.to(pick_device()), tokenizer, texts, questions


def main() -> None:
    """Time a training step, reading, and the network alone."""
    model, tokenizer, texts, questions = world()
    answers = [texts[passage][1].split()[3] for passage in range(4)]
    sampled = []
    for number, (text, answer) in enumerate(zip(questions[:4], answers, strict=True)):
        passages = np.arange(6 * number, 6 * number + 6)
        question = Question("q", text, (answer,), answer)
        sampled.append((Example(question, AnswerMatcher([answer]), passages[:1], passages[1:]), passages))
    model.bert.embeddings.word_embeddings.requires_grad_(False)
    optimizer = torch.optim.AdamW([weights for weights in model.parameters() if weights.requires_grad], lr=1e-5)

    def step() -> None:
        optimizer.zero_grad()
        loss_of(model, tokenizer, sampled, texts, PARAMETERS, "mean")[0].backward()
        optimizer.step()

    pairs = [(question, passage) for passage, question in enumerate(questions)]

    def read() -> object:
        return read_pairs(model, tokenizer, pairs, texts, max_tokens=TOKENS, longest=10, batch=BATCH)

    batch = tokenize(tokenizer, questions[:BATCH], [texts[passage] for passage in range(BATCH)], TOKENS)
    inputs = {name: getattr(batch, name).to(model.device) for name in ("input_ids", "attention_mask", "token_type_ids")}

    def network() -> None:
        with torch.inference_mode(), autocast(model.device):
            model(**inputs).start_logits.cpu()

    model.train()
    training = harness.measure(step, repeats=5)
    reading = harness.measure(read, repeats=3)
    alone = harness.measure(network, repeats=9)
    harness.write(
        "reader",
        {
            "layers": LAYERS,
            "hidden": HIDDEN,
            "tokens": TOKENS,
            "device": model.device.type,
            "training_pairs_per_second": len(sampled) * 6 / training,
            "reading_pairs_per_second": PASSAGES / reading,
            "network_pairs_per_second": BATCH / alone,
            "reading_over_network_time": (reading / PASSAGES) / (alone / BATCH),
            "versions": harness.versions("torch", "transformers"),
        },
    )


if __name__ == "__main__":
    main()
