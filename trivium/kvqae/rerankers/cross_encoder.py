"""Load, save, run and train the cross-encoder, which re-ranks passages (kvqae.md §4).

It is trained first on TriviaQA, then on ViQuAE.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import torch
from pydantic import Field
from transformers import BertForSequenceClassification, BertTokenizer

from trivium.core.errors import BadInput
from trivium.core.parameters import shared
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.question_training import QuestionTrainingParameters, train
from trivium.kvqae.reader.inputs import TrainingData, judge_listed, split_by_relevance
from trivium.kvqae.reader.reading import Pair, Pairs, Sampled, load_pair_model, longest_first, tokenize
from trivium.measures.ranking import mean_reciprocal_rank
from trivium.measures.reorder import reorder
from trivium.measures.runs import PADDING, Qrels, Run
from trivium.nets.bert import one_relevant_loss, relevance_scores
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.nets.pretrained import export_trained

Score = Callable[[Sequence[Pair]], Mapping[Pair, float]]
PERCEPTRON = ("bert.pooler.dense.", "classifier.")


def load_cross_encoder(
    folder: Path, max_tokens: int, *, new_perceptron: bool = False
) -> tuple[BertForSequenceClassification, BertTokenizer]:
    """Load a cross-encoder of so many tokens and its tokenizer; see `load_pair_model`.

    With `new_perceptron` the folder is a plain encoder; missing weights are drawn from torch's generator.
    """
    new = PERCEPTRON if new_perceptron else ()
    return load_pair_model(BertForSequenceClassification, folder, "a cross-encoder", max_tokens, new=new, num_labels=1)


save_cross_encoder = partial(  # writes what `load_cross_encoder` reads
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
) -> dict[Pair, float]:
    """Score each pair of question text and passage id: any real number, higher is better.

    Each distinct pair is scored once, cut to `max_tokens`, in batches by length (halved when GPU memory runs out). The
    model is left in evaluation mode.
    """
    model.eval()

    def make(part: Sequence[Pair]) -> Pairs:
        questions, passages = zip(*part, strict=True)
        return tokenize(tokenizer, questions, [texts[passage] for passage in passages], max_tokens)

    def launch(tokens: Pairs) -> Transfer:
        with torch.inference_mode():
            return Transfer(relevance_scores(model, tokens.input_ids, tokens.attention_mask, tokens.token_type_ids))

    def collect(_: Pairs, transfer: Transfer) -> list[float]:
        (scores,) = transfer.wait()
        return scores.tolist()

    ordered = longest_first(pairs, texts)
    pipeline = Pipeline(ordered, batch, make=make, launch=launch, collect=collect, workers=feeders())
    return dict(zip(ordered, chain.from_iterable(pipeline.with_progress("scoring", "pair")), strict=True))


def rerank_run(questions: Sequence[Question], run: Run, score: Score) -> Run:
    """Re-rank a run of these questions by its pairs' scores; equal ones keep the run's order."""
    rows, columns = np.nonzero(run.documents != PADDING)
    texts = [questions[row].text for row in rows.tolist()]
    pairs = list(zip(texts, run.documents[rows, columns].tolist(), strict=True))
    by_pair, scores = score(pairs), np.full(run.documents.shape, np.nan)
    scores[rows, columns] = [by_pair[pair] for pair in pairs]
    return reorder(run, scores)


def score_shard(
    shard: tuple[Sequence[Pair], PassageTexts], *, folder: Path, max_tokens: int, batch: int
) -> list[float]:
    """Score a shard of `map_pairs`, in its order, with the cross-encoder of a folder; see `score_pairs`."""
    return list(score_pairs(*_loaded(folder, max_tokens), *shard, max_tokens=max_tokens, batch=batch).values())


_loaded = lru_cache(maxsize=1)(load_cross_encoder)


class CrossEncoderTrainingParameters(QuestionTrainingParameters):
    """Sections `kvqae.rerank_pretrain` and `kvqae.rerank_finetune`; `kvqae.cross_encoder` has what they share."""

    places: ClassVar = {
        name: f"kvqae.cross_encoder.{name}"
        for name in ("frozen_layers", "questions", "validation_questions", "validation_passages")
    }
    seed: int = Field(default=0, ge=0, description="Of the new perceptron, dropout, order of questions, passages")
    depth: int = Field(ge=2, description="Passages are sampled from the best of the run, this many")
    passages: int = shared("kvqae.cross_encoder.passages", ge=2, description="Of a question in a step; one is relevant")
    weight_decay: float = shared("kvqae.cross_encoder.weight_decay", ge=0, description="AdamW's")


class RerankPretrainParameters(CrossEncoderTrainingParameters):
    """Section `kvqae.rerank_pretrain`."""

    layers: tuple[Annotated[int, Field(ge=0, le=5)], ...] = Field(
        min_length=1, description="Layers of all-MiniLM-L6-v2 that the sample starts from, from 0"
    )


def validation_mrr(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    questions: Sequence[Question],
    run: Run,
    texts: PassageTexts,
    qrels: Qrels,
    parameters: CrossEncoderTrainingParameters,
) -> float:
    """Compute the mean reciprocal rank of the questions' re-ranked lists."""
    score = partial(
        score_pairs, model, tokenizer, texts=texts, max_tokens=parameters.max_tokens, batch=parameters.batch
    )
    return mean_reciprocal_rank(rerank_run(questions, run, score), qrels)


def loss_of(model: BertForSequenceClassification, pairs: Pairs, sampled: Sampled) -> torch.Tensor:
    """Sum these questions' losses; each has the same number of passages, of which the first is relevant."""
    scores = relevance_scores(model, pairs.input_ids, pairs.attention_mask, pairs.token_type_ids)
    return one_relevant_loss(scores.view(len(sampled), -1)).sum()


def train_cross_encoder(
    checkpoints: Path,
    *,
    parameters: CrossEncoderTrainingParameters,
    base: Path,
    base_name: str,
    new_perceptron: bool,
    source: TrainingData,
    data: str,
    out: Path,
    log: Curve,
) -> tuple[Metrics, list[Point]]:
    """Train a cross-encoder from a folder to a folder, as a task.

    Questions with too few irrelevant passages to fill `passages` are dropped and counted. `initial_validation_mrr` is
    measured before re-ranking. `BadInput`: no question to train on.
    """
    torch.manual_seed(parameters.seed)
    model, tokenizer = load_cross_encoder(base, parameters.max_tokens, new_perceptron=new_perceptron)
    splits, lists, texts = source.read({"train": parameters.depth, "validation": parameters.validation_passages})
    with_relevant, counts = split_by_relevance(splits["train"], lists["train"], texts)
    examples = [example for example in with_relevant if len(example.irrelevant) >= parameters.passages - 1]
    if not examples:
        raise BadInput(
            "no question to train on",
            file=source.runs / "train.trec",
            got=f"{len(with_relevant)} with a relevant passage, none of them with enough others",
            expected=f"a relevant passage and {parameters.passages - 1} others among the best {parameters.depth}",
        )
    questions = splits["validation"][: parameters.validation_questions]
    initial = lists["validation"].select(question.id for question in questions)
    qrels = judge_listed(questions, initial, texts)
    metrics = train(
        model,
        tokenizer,
        examples,
        texts,
        parameters,
        name="cross-encoder",
        seed=parameters.seed,
        relevant=1,
        irrelevant=parameters.passages - 1,
        weight_decay=parameters.weight_decay,
        loss_of=lambda pairs, sampled: (loss_of(model, pairs, sampled), {}),
        score="validation_mrr",
        validate=lambda: validation_mrr(model, tokenizer, questions, initial, texts, qrels, parameters),
        work=checkpoints,
        log=log,
    )
    metrics |= counts | {
        "questions_with_few_irrelevant": float(len(with_relevant) - len(examples)),
        "initial_validation_mrr": mean_reciprocal_rank(initial, qrels),
    }
    save_cross_encoder(out, model, tokenizer, base=Path(base_name), data=data, metrics=metrics)
    return metrics, log.points
