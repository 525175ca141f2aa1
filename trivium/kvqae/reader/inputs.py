"""What the reader sees: questions paired with passages, tokens, answer positions (kvqae.md §5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm
from transformers import BertTokenizer

from trivium.formats.questions import Question
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts, read_passage_texts
from trivium.measures.answers import AnswerMatcher, is_matchable, normalize_answer
from trivium.measures.runs import PADDING, Run
from trivium.nets.reader import answer_pieces


@dataclass(frozen=True)
class Example:
    """A question and its passages, relevant or not; those that were retrieved are in rank order."""

    question: Question
    matcher: AnswerMatcher
    relevant: NDArray[np.int64]
    irrelevant: NDArray[np.int64]


class Pairs(NamedTuple):
    """Tokenised (question, passage) pairs; tensors are (pairs, tokens), padded at the end.

    Attributes:
        input_ids, attention_mask, token_type_ids: BERT's input.
        pieces: where answers may lie, see `answer_pieces`.
        offsets: (pairs, tokens, 2) characters of each token in `title [SEP] text` (in the question for its tokens).
    """

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor
    pieces: Tensor
    offsets: NDArray[np.int64]


def retrieved(path: Path, questions: Sequence[Question], depth: int) -> Run:
    """The best `depth` passages of each question, in the order of the questions; none for one that the run lacks.

    Raises:
        BadInput: the run is empty, or has a question that is not among these.
    """
    run = read_run_over(path, [question.id for question in questions])
    return Run(run.queries, run.documents[:, :depth], run.scores[:, :depth], run.name)


def texts_of(passages: Path, articles: Path, *documents: NDArray[np.int64]) -> PassageTexts:
    """Titles and texts of every passage in these arrays of ids, padding aside."""
    ids = np.unique(np.concatenate([each.ravel() for each in documents]))
    return read_passage_texts(passages, articles, ids[ids != PADDING])


def is_relevant(matcher: AnswerMatcher, passage: tuple[str, str]) -> bool:
    """Whether the passage (title, text) contains an answer."""
    return any(map(matcher.matches, passage))


def split_by_relevance(
    questions: Sequence[Question], run: Run, texts: PassageTexts, own: Sequence[NDArray[np.int64]] | None = None
) -> tuple[list[Example], dict[str, float]]:
    """Training examples from a run: passages that contain an answer, and those that do not.

    Any alias counts as an answer; the authors' code takes the original answer only.

    Args:
        questions, run: same questions, same order.
        texts: of all passages named by `run` and `own`.
        own: passages of each question's own article; the relevant ones stand in where none was retrieved.

    Returns:
        The examples, and counts: all questions, those dropped because nothing relevant was found, those that have
        theirs from `own` (where it is given), and answers that normalise to nothing, hence never match.
    """

    @lru_cache(maxsize=1 << 16)  # questions share passages
    def normalized(passage: int) -> list[str]:
        return [normalize_answer(part) for part in texts[passage]]

    def relevance(matcher: AnswerMatcher, passages: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.array(
            [any(map(matcher.matches_normalized, normalized(passage))) for passage in passages.tolist()], dtype=np.bool_
        )

    examples, unmatchable, from_own = [], 0, 0
    lists = zip(questions, run.documents, own or [np.empty(0, np.int64)] * len(questions), strict=True)
    for question, documents, mine in tqdm(lists, desc="relevance", total=len(questions), mininterval=5, leave=False):
        matcher = AnswerMatcher(question.answers)
        unmatchable += sum(not is_matchable(answer) for answer in question.answers)
        found = documents[documents != PADDING]
        relevant = relevance(matcher, found)
        positives = found[relevant]
        if not len(positives):
            positives = mine[relevance(matcher, mine)]
            from_own += bool(len(positives))
        if len(positives):
            examples.append(Example(question, matcher, positives, found[~relevant]))
    counts = {
        "questions": len(questions),
        "questions_without_relevant": len(questions) - len(examples),
        "answers_normalised_to_nothing": unmatchable,
    }
    if own is not None:
        counts["questions_with_relevant_from_own_article"] = from_own
    return examples, {name: float(count) for name, count in counts.items()}


def sample_passages(example: Example, relevant: int, irrelevant: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """At most so many relevant and so many irrelevant passages at random; fewer where the question has fewer.

    Nothing fills up missing ones, so that the irrelevant never outweigh a question's only relevant passage more than
    they may. Relevant ones come first; the order plays no role in the loss.
    """
    positives = rng.permutation(example.relevant)[:relevant]
    negatives = rng.permutation(example.irrelevant)[:irrelevant]
    return np.concatenate([positives, negatives])


def tokenize(
    tokenizer: BertTokenizer, questions: Sequence[str], passages: Sequence[tuple[str, str]], max_tokens: int
) -> Pairs:
    """Encode `question [SEP] title [SEP] text`, cut to `max_tokens`: the passage first, as it is the longer one."""
    encoded = tokenizer(
        list(questions),
        [SEPARATOR.join(passage) for passage in passages],
        truncation="longest_first",
        max_length=max_tokens,
        padding=True,
        return_token_type_ids=True,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    input_ids, token_type_ids = encoded["input_ids"], encoded["token_type_ids"]
    return Pairs(
        input_ids=input_ids,
        attention_mask=encoded["attention_mask"],
        token_type_ids=token_type_ids,
        pieces=answer_pieces(input_ids, token_type_ids, tokenizer.sep_token_id),
        offsets=encoded["offset_mapping"].numpy(),
    )


def answer_characters(matcher: AnswerMatcher, passage: tuple[str, str]) -> list[tuple[int, int]]:
    """Answers in `title [SEP] text` as (start, end) characters; none lies across the separator."""
    title, text = passage
    shift = len(title) + len(SEPARATOR)
    return matcher.positions(title) + [(start + shift, end + shift) for start, end in matcher.positions(text)]


def answer_targets(pairs: Pairs, answers: Sequence[Sequence[tuple[int, int]]], most: int) -> tuple[Tensor, Tensor, int]:
    """Start and end targets, (pairs, most): tokens that hold the first and last character of each answer, else −1.

    Args:
        pairs: as tokenised.
        answers: of each pair, characters of its answers; at most the first `most` that are not cut off count.
        most: answer positions a passage.

    Returns:
        Targets for start and end, [CLS] alone in a pair without answer; and how many pairs lost all theirs to the cut.
    """
    starts, ends = torch.full((2, len(pairs.input_ids), most), -1).unbind()
    cut = 0
    for row, spans in enumerate(answers):
        tokens = np.flatnonzero(pairs.pieces[row].numpy())
        first, last = pairs.offsets[row, tokens].T
        found = 0
        for start, end in spans:
            # The first token that ends after the answer's start; the first that ends at or after the answer's end.
            begin, finish = np.searchsorted(last, start, side="right"), np.searchsorted(last, end, side="left")
            if found < most and finish < len(tokens) and first[begin] < end:
                starts[row, found], ends[row, found] = int(tokens[begin]), int(tokens[finish])
                found += 1
        if not found:
            starts[row, 0] = ends[row, 0] = 0
            cut += bool(spans)
    return starts, ends, cut
