"""The re-ranker of passages on disk and at work: load, save, score (kvqae.md §4)."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertForSequenceClassification, BertTokenizer

from trivium.core.engine import Engine
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.pairs import Pair, Pairs, load_pair_model, map_pairs, tokenize
from trivium.measures.reorder import reorder
from trivium.measures.runs import PADDING, Run
from trivium.nets.bert import relevance_scores
from trivium.nets.feeding import Leaving, Pipeline, feeders
from trivium.nets.pretrained import export_trained

Score = Callable[[Sequence[Pair]], NDArray[np.float64]]  # of (question text, passage id)
PERCEPTRON = ("bert.pooler.dense.", "classifier.")


def load_cross_encoder(
    folder: Path, max_tokens: int, *, new_perceptron: bool = False
) -> tuple[BertForSequenceClassification, BertTokenizer]:
    """Load a cross-encoder of so many tokens and its tokenizer; see `load_pair_model`.

    With `new_perceptron` from a plain encoder: what it lacks of the perceptron is drawn from torch's generator.
    """
    new = PERCEPTRON if new_perceptron else ()
    return load_pair_model(BertForSequenceClassification, folder, "a cross-encoder", max_tokens, new=new, num_labels=1)


save_cross_encoder = partial(  # what `load_cross_encoder` reads
    export_trained,
    title="Cross-encoder of questions and passages",
    description=(
        "Scores how relevant a passage is to a question, read together; trained with a softmax over one relevant "
        "passage and others that were retrieved with it (Lerner et al., TAL 2022, section 6.2)."
    ),
)


def score_pairs(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    pairs: Sequence[Pair],
    texts: PassageTexts,
    *,
    max_tokens: int,
    batch: int,
) -> NDArray[np.float64]:
    """Score each pair of question text and passage id, (pairs,): any real number, higher is better.

    Each pair is scored once, cut to `max_tokens`, in batches by length (halved when GPU memory runs out). The model is
    left in evaluation mode.
    """
    model.eval()

    def make(part: Sequence[Pair]) -> Pairs:
        questions, passages = zip(*part, strict=True)
        return tokenize(tokenizer, questions, [texts[passage] for passage in passages], max_tokens)

    def launch(tokens: Pairs) -> Leaving:
        with torch.inference_mode():
            return Leaving(relevance_scores(model, tokens.input_ids, tokens.attention_mask, tokens.token_type_ids))

    def collect(_: Pairs, leaving: Leaving) -> list[float]:
        (scores,) = leaving.arrived()
        return scores.tolist()

    ordered = _longest_first(pairs, texts)
    pipeline = Pipeline(ordered, batch, make=make, launch=launch, collect=collect, workers=feeders())
    by_pair = dict(zip(ordered, chain.from_iterable(pipeline.with_progress("scoring", "pair")), strict=True))
    return np.array([by_pair[pair] for pair in pairs], dtype=np.float64)


def rerank_run(questions: Sequence[Question], run: Run, score: Score) -> Run:
    """Re-rank a run of these questions by its pairs' scores; equal ones keep the run's order."""
    rows, columns = np.nonzero(run.documents != PADDING)
    passages = run.documents[rows, columns].tolist()
    scores = np.full(run.documents.shape, np.nan)
    texts = [questions[row].text for row in rows.tolist()]
    scores[rows, columns] = score(list(zip(texts, passages, strict=True)))
    return reorder(run, scores)


def score_by_shards(
    folder: Path, pairs: Sequence[Pair], texts: PassageTexts, *, max_tokens: int, batch: int, engine: Engine
) -> NDArray[np.float64]:
    """Score pairs by the cross-encoder of a folder, in shards on the engine; as `score_pairs`."""
    ordered = _longest_first(pairs, texts)
    score = partial(score_shard, folder=folder, max_tokens=max_tokens, batch=batch)
    scores = map_pairs(score, ordered, texts, batch, engine, "scoring")
    by_pair = dict(zip(ordered, chain.from_iterable(scores), strict=True))
    return np.array([by_pair[pair] for pair in pairs], dtype=np.float64)


def score_shard(
    shard: tuple[Sequence[Pair], PassageTexts], *, folder: Path, max_tokens: int, batch: int
) -> NDArray[np.float64]:
    """Score a shard by `score_pairs` with the cross-encoder of a folder."""
    return score_pairs(*_loaded(folder, max_tokens), *shard, max_tokens=max_tokens, batch=batch)


_loaded = lru_cache(maxsize=1)(load_cross_encoder)


def _longest_first(pairs: Sequence[Pair], texts: PassageTexts) -> list[Pair]:
    """Sort distinct pairs by the length of their texts."""
    lengths = {pair: len(pair[0]) + sum(map(len, texts[pair[1]])) for pair in pairs}
    return sorted(lengths, key=lambda pair: (-lengths[pair], pair))
