"""Train the dual encoder, in pretraining and in fine-tuning (kvqae.md §3, Karpukhin et al. 2020)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch.optim.lr_scheduler import LambdaLR
from transformers import PreTrainedTokenizerBase

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.core.tasks import Curve, Metrics, Point
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts, read_passage_texts
from trivium.kvqae.retrieval.text_encoder import encode, load_text_encoder, save_text_encoder, tokenize
from trivium.kvqae.retrieval.training_pairs import PairFiles, Pairs, Triple, draw_batches, read_pairs
from trivium.nets import training
from trivium.nets.bert import TOWERS, DualEncoder, in_batch_loss
from trivium.nets.cards import licence_of, write_card
from trivium.nets.device import pick_device
from trivium.nets.tokens import keep_tokens, padded, ragged
from trivium.nets.training import rise_and_fall


class PairTokens:
    """Token ids of the pairs' questions and passages, in memory-mapped files of a folder.

    `texts` are those of the passages, cut to `max_tokens`.
    """

    def __init__(
        self, folder: Path, tokenizer: PreTrainedTokenizerBase, pairs: Pairs, texts: PassageTexts, max_tokens: int
    ) -> None:
        def passage_ids(numbers: Sequence[int]) -> list[list[int]]:
            titles, passages = zip(*map(texts.__getitem__, numbers), strict=True)
            return tokenize(tokenizer, passages, max_tokens, titles=titles)

        numbers = pairs.passages().tolist()
        self._rows = {number: row for row, number in enumerate(numbers)}
        self._questions = keep_tokens(
            folder / "questions", pairs.questions, partial(tokenize, tokenizer, max_tokens=max_tokens)
        )
        self._passages = keep_tokens(folder / "passages", numbers, passage_ids)

    def questions(self, rows: Iterable[int]) -> list[NDArray[np.int32]]:
        """Token ids of questions, by their rows in `pairs`."""
        return [self._questions[row] for row in rows]

    def passages(self, numbers: Iterable[int]) -> list[NDArray[np.int32]]:
        """Token ids of passages, by their numbers."""
        return [self._passages[self._rows[number]] for number in numbers]


class DprParameters(Parameters):
    """Sections `kvqae.dpr_pretrain` and `kvqae.dpr_finetune`; section `kvqae.dpr` has what they share."""

    depth: int = shared("kvqae.depth", ge=1, description="BM25's best passages that positives and negatives come from")
    seed: int = Field(default=0, ge=0, description="Seed of dropout, order and draws")
    max_tokens: int = shared("kvqae.texts.tokens", ge=8, le=512, description="Tokens of a text, longer ones are cut")
    batch_size: int = shared("kvqae.dpr.batch_size", ge=2, description="Questions; each has a positive and a negative")
    mini_batch_size: int = shared(
        "kvqae.dpr.mini_batch_size", ge=1, description="Texts with activations; halves itself when GPU memory runs out"
    )
    epochs: int = Field(ge=1, description="Rounds over the training questions")
    max_steps: int | None = Field(ge=1, description="Stop after so many steps, null: after the epochs")
    learning_rate: float = Field(gt=0, description="Peak learning rate of AdamW")
    warmup_steps: int = Field(ge=0, description="Steps of linear warm-up; then linear decay to 0")
    max_gradient_norm: float = shared("kvqae.dpr.max_gradient_norm", gt=0, description="Largest norm of the gradient")
    validate_every: int = Field(ge=1, description="Steps from one validation and checkpoint to the next")
    patience: int | None = shared(
        "kvqae.dpr.patience", None, ge=1, description="Stop after so many validations without a better one; null: never"
    )
    validation_negatives: int = shared(
        "kvqae.dpr.validation_negatives", ge=0, description="Hard negatives of each question in the validation pool"
    )


def load_towers(folders: Mapping[str, Path]) -> tuple[DualEncoder, PreTrainedTokenizerBase]:
    """Load question and passage encoder, each from its folder, and the tokenizer that they share."""
    (question, tokenizer), (passage, other) = (load_text_encoder(folders[tower], pick_device()) for tower in TOWERS)
    if tokenizer.get_vocab() != other.get_vocab():
        raise BadInput("encoders have different vocabularies", file=folders["passage"])
    return DualEncoder(question, passage), tokenizer


def save_towers(
    out: Path,
    model: DualEncoder,
    tokenizer: PreTrainedTokenizerBase,
    mrr: float,
    licences: Mapping[str, str | None],
    **card: str,
) -> None:
    """Write a folder for each tower, with its card (`title`, `description`, `base`, `data`) and licence."""
    title = card.pop("title")
    with write_atomically(out) as target:
        for tower, encoder in zip(TOWERS, (model.question, model.passage), strict=True):
            save_text_encoder(target / tower, encoder, tokenizer)
            write_card(
                target / tower,
                title=f"{title}, {tower} encoder",
                metrics={"validation_mrr": mrr},
                licence=licences[tower],
                **card,
            )


def train_dual_encoder(
    checkpoints: Path,
    *,
    parameters: DprParameters,
    starts: dict[str, Path],
    files: PairFiles,
    card: dict[str, str],
    out: Path,
    log: Curve,
) -> tuple[Metrics, list[Point]]:
    """Train both towers from pairs on disk, as a task; the weights with the best validation MRR are kept.

    `starts` has the folder of each tower's start weights; `card` goes to `save_towers`.
    """
    torch.manual_seed(parameters.seed)
    pairs, validation_pairs = read_pairs(files.train), read_pairs(files.validation)
    texts = read_passage_texts(files.kb, pairs.passages(), validation_pairs.passages())
    model, tokenizer = load_towers(starts)
    steps = parameters.epochs * math.ceil(len(pairs.questions) / parameters.batch_size)
    if parameters.max_steps is not None:
        steps = min(steps, parameters.max_steps)
    tokens, validation_tokens = (
        PairTokens(checkpoints / "tokens" / name, tokenizer, split, texts, parameters.max_tokens)
        for name, split in (("train", pairs), ("validation", validation_pairs))
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=parameters.learning_rate, weight_decay=0, fused=True)
    scheduler = LambdaLR(optimizer, partial(rise_and_fall, rising=parameters.warmup_steps, steps=steps))

    def gradient(batch: list[Triple], micro_batch: int) -> tuple[float, dict[str, float]]:
        features = batch_features(batch, tokens, tokenizer.pad_token_id, model)
        loss = in_batch_loss(model, micro_batch, len(batch))(features, None)
        loss.backward()
        return float(loss.item()), {"questions": len(batch)}

    def validate() -> dict[str, float]:
        return {"validation_mrr": validation_mrr(model, tokenizer, validation_pairs, validation_tokens, parameters)}

    def log_next_rate(step: int, **values: float) -> None:
        values.pop("gradient_norm", None)
        if "learning_rate" in values:
            values["learning_rate"] = float(scheduler.get_last_lr()[0])  # of the next step
        log(step, **values)

    progress = training.train(
        model,
        optimizer,
        scheduler,
        steps=steps,
        batches=lambda first: islice(draw_batches(pairs, parameters.batch_size, parameters.seed), first, steps),
        gradient=gradient,
        micro_batch=min(parameters.mini_batch_size, parameters.batch_size),
        unit="texts",
        max_gradient_norm=parameters.max_gradient_norm,
        work=checkpoints,
        checkpoint_every=parameters.validate_every,
        log=log_next_rate,
        validation=training.Validation(
            validate, parameters.validate_every, best="validation_mrr", patience=parameters.patience
        ),
    )
    # BERT's licence, and that of the sample's encoder, whose folders have no card.
    licences = {tower: licence_of(folder, without_card="apache-2.0") for tower, folder in starts.items()}
    save_towers(out, model, tokenizer, progress.scores["validation_mrr"], licences, **card)
    metrics = {
        "train_questions": len(pairs.questions),
        "validation_questions": len(validation_pairs.questions),
        "steps": progress.steps,
        "loss": progress.loss,
        "best_step": progress.kept,
        "questions_a_batch": progress.counts["questions"] / progress.steps,
    }
    return metrics | progress.scores, log.points


def batch_features(batch: list[Triple], tokens: PairTokens, padding: int, model: DualEncoder) -> list[dict[str, Any]]:
    """Make the input of the loss: questions, positives and negatives, padded with the id `padding`."""
    device = next(model.parameters()).device
    questions, positives, negatives = zip(*batch, strict=True)
    columns = (
        ("question", tokens.questions(questions)),
        ("passage", tokens.passages(positives)),
        ("passage", tokens.passages(negatives)),
    )
    features: list[dict[str, Any]] = []
    for tower, rows in columns:
        ids, mask = padded(ragged(rows), padding, device)
        features.append({"tower": tower, "input_ids": ids, "attention_mask": mask})
    return features


def validation_mrr(
    model: DualEncoder,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Pairs,
    tokens: PairTokens,
    parameters: DprParameters,
) -> float:
    """Compute the mean reciprocal rank of each question's first positive in a pool that all questions share.

    The pool holds the first positive and the first `validation_negatives` negatives of every question. Other
    positives of a question are left out of its ranking; equal scores count against it.
    """
    firsts = np.array([ids[0] for ids in pairs.positives])
    negatives = [ids[: parameters.validation_negatives] for ids in pairs.negatives]
    pool = np.unique(np.concatenate([firsts, *negatives]))
    model.eval()
    question_ids, passage_ids = tokens.questions(range(len(firsts))), tokens.passages(pool.tolist())
    scores = (
        encode(model.question, tokenizer, question_ids, parameters.mini_batch_size)
        @ encode(model.passage, tokenizer, passage_ids, parameters.mini_batch_size).T
    )
    own = scores[np.arange(len(firsts)), np.searchsorted(pool, firsts)]
    for row, positives in enumerate(pairs.positives):
        scores[row, np.isin(pool, positives)] = -np.inf
    return float(np.mean(1 / (1 + (scores >= own[:, None]).sum(axis=1))))


CARD = {
    "title": "Trivium DPR, zero-shot",
    "description": "Dense passage retrieval by inner product of [CLS] vectors, trained on TriviaQA alone.",
}


def take_published(
    parameters: DprParameters, folder: Path, files: PairFiles, *, work: Path, out: Path
) -> dict[str, float]:
    """Export the published encoders as if trained here, measured on the same validation pairs; tokens go to `work`."""
    pairs = read_pairs(files.validation)
    texts = read_passage_texts(files.kb, pairs.passages())
    model, tokenizer = load_towers({tower: folder / tower for tower in TOWERS})
    tokens = PairTokens(work / "tokens", tokenizer, pairs, texts, parameters.max_tokens)
    mrr = validation_mrr(model, tokenizer, pairs, tokens, parameters)
    base, data = f"{folder}: the authors' own, not trained here", "TriviaQA without ViQuAE's questions"
    save_towers(out, model, tokenizer, mrr, dict.fromkeys(TOWERS, "other"), base=base, data=data, **CARD)
    return {"steps": 0.0, "validation_mrr": mrr, "validation_questions": float(len(pairs.questions))}
