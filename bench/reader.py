"""Question-passage pairs that the reader reads a second, beside two peers: `python -m bench.reader`.

A BERT of the sample's size with random weights, on invented texts that fill its tokens. The popular way is
transformers': pair by pair, with the best of all spans in a matrix, as its question-answering pipeline did it. An
expert takes batches of similar length. The bare network on such a batch stands beside, so that what tokenising and
decoding add is seen.
"""

import copy
import string
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import BatchEncoding, BertConfig, BertForQuestionAnswering, BertTokenizer

from bench import harness
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.reading import read_pairs
from trivium.nets.device import attention, autocast, pick_device

LAYERS, HIDDEN, TOKENS, PASSAGES, BATCH, LONGEST = 3, 384, 64, 240, 24, 10
CLOSE = {"cpu": 1e-4, "cuda": 0.1}  # of logits; in bf16 on a GPU
WHY = "batches go through the pipeline that keeps a GPU busy, and every reading becomes an object"

Asked = Sequence[tuple[str, str]]  # questions, each with `title [SEP] text`
Found = tuple[list[str], NDArray[np.float64]]  # answers; their scores, start masses and end masses


def world(passages: int) -> tuple[list[BertForQuestionAnswering], BertTokenizer, PassageTexts, list[str]]:
    """Three readers with the same weights, ours first; passages of random words, and a question about each."""
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
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    texts = PassageTexts(
        ids=np.arange(passages),
        titles=pa.array([" ".join(rng.choice(words, 2)) for _ in range(passages)]),
        texts=pa.array([" ".join(rng.choice(words, TOKENS)) for _ in range(passages)]),
    )
    questions = [" ".join(rng.choice(words, 12)) for _ in range(passages)]
    tokenizer = BertTokenizer(vocab={word: place for place, word in enumerate(vocabulary)})
    model: Any = BertForQuestionAnswering(config)
    model.bert.embeddings.word_embeddings.requires_grad_(False)
    peers = [copy.deepcopy(model).to(pick_device()) for _ in range(2)]
    model.set_attn_implementation(attention())
    return [model.to(pick_device()), *peers], tokenizer, texts, questions


def encoded(tokenizer: BertTokenizer, asked: Asked) -> BatchEncoding:
    """Pairs as tensors, with the characters of each token."""
    questions, passages = map(list, zip(*asked, strict=True))
    return tokenizer(
        questions, passages, truncation="longest_first", max_length=TOKENS, padding=True, return_tensors="pt",
        return_offsets_mapping=True,
    )  # fmt: skip


def network(model: BertForQuestionAnswering, tokens: BatchEncoding) -> tuple[Tensor, Tensor]:
    """Logits of start and end."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    with autocast(model.device):
        output = model(**{name: tokens[name].to(model.device) for name in names})
    return output.start_logits.float(), output.end_logits.float()


@torch.inference_mode()
def read_at_once(model: BertForQuestionAnswering, tokenizer: BertTokenizer, asked: Asked) -> Found:
    """The best span of each pair, all in one batch."""
    tokens = encoded(tokenizer, asked)
    starts, ends = (logits.cpu() for logits in network(model, tokens))
    separators = tokens["input_ids"] == tokenizer.sep_token_id
    inside = (tokens["token_type_ids"] == 1) & ~separators
    piece = separators.cumsum(1)
    near = torch.ones(inside.shape[1], inside.shape[1], dtype=torch.bool).triu().tril(LONGEST - 1)
    fits = near & inside[:, :, None] & inside[:, None] & (piece[:, :, None] == piece[:, None])
    scores, places = (starts[:, :, None] + ends[:, None]).masked_fill(~fits, -torch.inf).flatten(1).max(1)
    rows, outside = torch.arange(len(scores)), tokens["attention_mask"] == 0
    first = tokens["offset_mapping"][rows, places // len(near), 0].tolist()
    last = tokens["offset_mapping"][rows, places % len(near), 1].tolist()
    masses = [logits.masked_fill(outside, -torch.inf).logsumexp(1) for logits in (starts, ends)]
    answers = [passage[slice(*each)] for (_, passage), *each in zip(asked, first, last, strict=True)]
    return answers, torch.stack([scores, *masses], dim=1).double().numpy()


def read_in_batches(model: BertForQuestionAnswering, tokenizer: BertTokenizer, asked: Asked, batch: int) -> Found:
    """The same, so many of similar length at a time."""
    model.eval()
    order = sorted(range(len(asked)), key=lambda row: -len("".join(asked[row])))
    parts = [order[start : start + batch] for start in range(0, len(order), batch)]
    answers, numbers = zip(
        *(read_at_once(model, tokenizer, [asked[row] for row in part]) for part in parts), strict=True
    )
    back = np.argsort(order)
    texts = list(chain.from_iterable(answers))
    return [texts[place] for place in back], np.concatenate(numbers)[back]


def read_by_us(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, questions: Sequence[str], texts: PassageTexts
) -> Found:
    """The same by `read_pairs`."""
    pairs = [(question, passage) for passage, question in enumerate(questions)]
    found = read_pairs(model, tokenizer, pairs, texts, max_tokens=TOKENS, longest=LONGEST, batch=BATCH)
    readings = [found[pair] for pair in pairs]
    return [each.answer for each in readings], np.array(
        [(each.score, each.start_mass, each.end_mass) for each in readings]
    )


def main() -> None:
    """Race, after scores have been compared, and time the network alone."""
    (own, theirs, experts), tokenizer, texts, questions = world(PASSAGES)
    asked = [(question, SEPARATOR.join(texts[passage])) for passage, question in enumerate(questions)]
    ours = partial(read_by_us, own, tokenizer, questions, texts)
    popular = partial(read_in_batches, theirs, tokenizer, asked, 1)
    expert = partial(read_in_batches, experts, tokenizer, asked, BATCH)
    answers, numbers = ours()
    differ = 0
    for peer in (popular, expert):
        others, their_numbers = peer()
        np.testing.assert_allclose(their_numbers, numbers, rtol=0, atol=CLOSE[own.device.type])
        differ += sum(one != other for one, other in zip(answers, others, strict=True))
    if differ and own.device.type == "cpu":  # in bf16 spans may be as good as each other
        raise AssertionError(f"{differ} answers are others")
    weights = sum(each.nbytes for each in own.bert.encoder.parameters())
    race = harness.race(
        ours,
        harness.Peer("transformers, pair by pair", popular),
        harness.Peer("torch, batches by length", expert),
        gflop=harness.gflop(expert),
        gigabytes=1e-9 * weights,
        why=WHY,
    )
    batch = encoded(tokenizer, asked[:BATCH])
    alone = harness.measure(torch.inference_mode()(lambda: network(own, batch)[0].cpu()), repeats=9)
    harness.write(
        "reader",
        {
            "layers": LAYERS,
            "hidden": HIDDEN,
            "tokens": TOKENS,
            "device": own.device.type,
            "races": {f"{PASSAGES} pairs": race},
            "answers_that_differ": differ,
            "reading_pairs_per_second": PASSAGES / race["seconds"],
            "network_pairs_per_second": BATCH / alone,
            "reading_over_network_time": (race["seconds"] / PASSAGES) / (alone / BATCH),
            "versions": harness.versions("torch", "transformers"),
        },
    )


if __name__ == "__main__":
    main()
