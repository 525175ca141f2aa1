"""Training of the cross-encoder, shared by pretraining on TriviaQA and fine-tuning on ViQuAE (kvqae.md §4)."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import torch
from pydantic import Field
from transformers import BertForSequenceClassification, BertTokenizer

from trivium.core.errors import BadInput
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.question_training import QuestionTrainingParameters, Sampled, train
from trivium.kvqae.reader.inputs import TrainingData, judged, split_by_relevance
from trivium.kvqae.reader.pairs import KeptPairs, PairsOf
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, rerank_run, save_cross_encoder, score_pairs
from trivium.kvqae.rerankers.tuning import mean_mrr
from trivium.measures.runs import Qrels, Run
from trivium.nets.bert import one_relevant_loss, relevance_scores


def validation_mrr(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    questions: Sequence[Question],
    run: Run,
    texts: PassageTexts,
    qrels: Qrels,
    parameters: QuestionTrainingParameters,
) -> float:
    """Compute the mean reciprocal rank of the questions' re-ranked lists."""
    score = partial(
        score_pairs, model, tokenizer, texts=texts, max_tokens=parameters.max_tokens, batch=parameters.batch
    )
    return mean_mrr(rerank_run(questions, run, score), qrels)


class CrossEncoderTrainingParameters(QuestionTrainingParameters):
    """Sections `kvqae.rerank_pretrain` and `kvqae.rerank_finetune`; `kvqae.cross_encoder` has what they share."""

    places: ClassVar[Mapping[str, str]] = {
        **QuestionTrainingParameters.places,
        **{name: f"kvqae.cross_encoder.{name}" for name in ("passages", "frozen_layers", "questions", "weight_decay")},
        **{name: f"kvqae.cross_encoder.{name}" for name in ("validation_questions", "validation_passages")},
    }
    seed: int = Field(default=0, ge=0, description="Of the new perceptron, dropout, order of questions, passages")
    depth: int = Field(ge=2, description="Passages are sampled from the best of the run, this many")
    passages: int = Field(ge=2, description="Passages of a question in a step, one of them relevant")
    weight_decay: float = Field(ge=0, description="AdamW's")


def loss_of(model: BertForSequenceClassification, pairs_of: PairsOf, sampled: Sampled) -> torch.Tensor:
    """Sum these questions' losses; of each the same number of passages, the first one relevant."""
    pairs = pairs_of(
        [example.question.text for example, ids in sampled for _ in ids],
        [passage for _, ids in sampled for passage in ids.tolist()],
    )
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
    that of the lists before re-ranking.

    Raises:
        BadInput: no question to train on.
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
    qrels = judged(questions, initial, texts)
    pairs = KeptPairs(checkpoints / "tokens", tokenizer, examples, texts, parameters.max_tokens)
    metrics = train(
        model,
        examples,
        parameters,
        name="cross-encoder",
        seed=parameters.seed,
        relevant=1,
        irrelevant=parameters.passages - 1,
        weight_decay=parameters.weight_decay,
        loss_of=lambda sampled: (loss_of(model, pairs, sampled), {}),
        score="validation_mrr",
        validate=lambda: validation_mrr(model, tokenizer, questions, initial, texts, qrels, parameters),
        work=checkpoints,
        log=log,
    )
    metrics |= counts | {
        "questions_with_few_irrelevant": float(len(with_relevant) - len(examples)),
        "initial_validation_mrr": mean_mrr(initial, qrels),
    }
    save_cross_encoder(out, model, tokenizer, base=Path(base_name), data=data, metrics=metrics)
    return metrics, log.points
