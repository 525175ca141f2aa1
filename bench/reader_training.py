"""Question-passage pairs that the reader learns from a second, beside two peers: `python -m bench.reader_training`.

A step of the reader of `bench.reader` on questions with `EACH` passages. The popular way goes question by question and
adds up gradients; an expert takes all passages at once, one softmax a row of the questions, and the fused AdamW. Both
find an answer's tokens by the tokenizer's own map of characters.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import BatchEncoding, BertForQuestionAnswering, BertTokenizer

from bench import harness
from bench.reader import HIDDEN, LAYERS, LONGEST, TOKENS, Asked, encoded, network, world
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR
from trivium.kvqae.reader.inputs import Example, is_relevant
from trivium.kvqae.reader.pairs import Pairs, tokenize
from trivium.kvqae.reader.reader_training import ReaderPretrainParameters, loss_of
from trivium.measures.answers import AnswerMatcher

QUESTIONS, EACH = 4, 6
CLOSE = {"cpu": 1e-4, "cuda": 0.1}  # of the loss, and of gradients as a share of the largest; in bf16 on a GPU
WHY = "answers are found in texts that are normalised first, and targets are counted that the cut loses"
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
    questions=QUESTIONS,
    steps=1,
    learning_rate=1e-5,
    schedule="linear",
    warmup=0,
    max_gradient_norm=1.0,
    validate_every=1,
    validation_questions=1,
    validation_passages=1,
    answer_tokens=LONGEST,
    batch=QUESTIONS * EACH,
    checkpoint_every=1,
    seed=0,
)


def targets_of(tokens: BatchEncoding, passages: Sequence[str], answers: Sequence[str]) -> Tensor:
    """(2, pairs, tokens): where each passage's answer, a word, starts and ends; [CLS] where it is not read."""
    targets = torch.zeros(2, *tokens["input_ids"].shape, dtype=torch.bool)
    for row, (passage, answer) in enumerate(zip(passages, answers, strict=True)):
        for match in re.finditer(rf"\b{answer}\b", passage):
            first, last = (tokens.char_to_token(row, place, 1) for place in (match.start(), match.end() - 1))
            if first is not None and last is not None:
                targets[0, row, first] = targets[1, row, last] = True
    targets[:, ~targets.any(dim=2).all(dim=0), 0] = True
    return targets


def loss_at_once(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, asked: Asked, answers: Sequence[str]
) -> Tensor:
    """Sum of the losses of questions with `EACH` passages, all in one batch; see `question_loss`."""
    tokens = encoded(tokenizer, asked)
    logits = torch.stack(network(model, tokens))
    logits = logits.masked_fill((tokens["attention_mask"] == 0).to(logits.device), -torch.inf)
    chances = logits.view(2, len(asked) // EACH, -1).log_softmax(-1).view_as(logits)
    targets = targets_of(tokens, [passage for _, passage in asked], answers).to(logits.device)
    return -chances.masked_fill(~targets, -torch.inf).logsumexp(2).sum() / EACH


def step(optimizer: torch.optim.Optimizer, losses: Sequence[Callable[[], Tensor]]) -> float:
    """A training step on the sum of these losses, which it returns."""
    optimizer.zero_grad()
    total = 0.0
    for loss_of_part in losses:
        loss = loss_of_part()
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def gradient_of(model: torch.nn.Module) -> Tensor:
    """All weights' in a row."""
    return torch.cat([weights.grad.flatten() for weights in model.parameters() if weights.grad is not None])


def adamw(model: torch.nn.Module, **options: Any) -> torch.optim.Optimizer:
    """Over what is trained."""
    return torch.optim.AdamW([weights for weights in model.parameters() if weights.requires_grad], lr=1e-5, **options)


def main() -> None:
    """Race a step, after losses and gradients have been compared."""
    models, tokenizer, texts, questions = world(QUESTIONS * EACH)
    own, theirs, experts = (model.train() for model in models)
    sampled, asked, answers = [], [], []

    def inline(questions: Sequence[str], passages: Sequence[int]) -> Pairs:  # as the peers do
        return tokenize(tokenizer, questions, [texts[passage] for passage in passages], TOKENS)

    for number, text in enumerate(questions[:QUESTIONS]):
        passages = range(EACH * number, EACH * (number + 1))
        ids = np.array(passages)
        answer = texts[EACH * number][1].split()[3]
        question = Question("q", text, (answer,), answer)
        matcher = AnswerMatcher([answer])
        relevant = np.array([is_relevant(matcher, texts[passage]) for passage in passages])
        sampled.append((Example(question, matcher, ids[relevant], ids[~relevant]), ids))
        asked += [(text, SEPARATOR.join(texts[passage])) for passage in passages]
        answers += [answer] * EACH
    each = [slice(start, start + EACH) for start in range(0, len(asked), EACH)]
    one_by_one = [partial(loss_at_once, theirs, tokenizer, asked[part], answers[part]) for part in each]
    at_once = partial(loss_at_once, experts, tokenizer, asked, answers)
    ours = partial(step, adamw(own, fused=True), [lambda: loss_of(own, inline, sampled, texts, PARAMETERS, "mean")[0]])
    popular, expert = partial(step, adamw(theirs), one_by_one), partial(step, adamw(experts, fused=True), [at_once])
    close = CLOSE[own.device.type]
    np.testing.assert_allclose([popular(), expert()], ours(), rtol=close)
    gradients = [gradient_of(model) for model in models]
    differences = [float((gradients[0] - other).abs().max() / gradients[0].abs().max()) for other in gradients[1:]]
    np.testing.assert_allclose(differences, 0, atol=close)
    race = harness.race(
        ours,
        harness.Peer("transformers, question by question", popular),
        harness.Peer("torch, all passages at once", expert),
        gflop=harness.gflop(expert),
        gigabytes=7e-9 * sum(weights.nbytes for weights in own.parameters() if weights.requires_grad),  # AdamW's
        why=WHY,
    )
    harness.write(
        "reader_training",
        {
            "layers": LAYERS,
            "hidden": HIDDEN,
            "tokens": TOKENS,
            "device": own.device.type,
            "races": {f"a step of {len(asked)} pairs": race},
            "largest_gradient_difference": max(differences),
            "training_pairs_per_second": len(asked) / race["seconds"],
            "versions": harness.versions("torch", "transformers"),
        },
    )


if __name__ == "__main__":
    main()
