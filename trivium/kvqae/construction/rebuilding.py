"""Rebuild the data set from what annotators kept, with random splits that share no image (kvqae.md §2)."""

import string
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.tables import read_json_lines
from trivium.formats.questions import SPLITS, Question
from trivium.kvqae.annotation.project import Annotation, settle
from trivium.kvqae.construction.generation import GeneratedQuestion, name_pattern
from trivium.kvqae.source_questions import normalize_question
from trivium.measures.answers import AnswerMatcher


def disjoint_splits(keys: Sequence[Iterable[Hashable]], shares: Mapping[str, float], seed: int) -> list[str]:
    """Split items at random, those with a key in common, directly or through others, into the same split.

    These components are shuffled and assigned, the largest first, each to the split that lacks most items. Only the
    proportions of the shares matter; sizes deviate by less than the size of the largest component.
    """
    components = find_components(keys)
    order = np.random.default_rng(seed).permutation(len(components)).tolist()
    order.sort(key=lambda component: -len(components[component]))
    total = sum(shares.values())
    lacking = {split: len(keys) * share / total for split, share in shares.items()}
    splits = [""] * len(keys)
    for component in order:
        split = max(lacking, key=lacking.__getitem__)
        lacking[split] -= len(components[component])
        for item in components[component]:
            splits[item] = split
    return splits


def find_components(keys: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """Find connected components of items with common keys; returns ascending item numbers, ordered by first item."""
    from scipy.cluster.hierarchy import DisjointSet  # slow to import

    items, first = DisjointSet(range(len(keys))), dict[Hashable, int]()
    for item, own in enumerate(keys):
        for key in own:
            items.merge(item, first.setdefault(key, item))
    return sorted(sorted(component) for component in items.subsets())


_MARKS = string.punctuation + "“”‘’«»…–—"


def words(text: str) -> list[str]:
    """Split a text into words in lower case, without punctuation around them."""
    return [word for part in text.split() if (word := part.strip(_MARKS).lower())]


def dataset_statistics(splits: Mapping[str, Sequence[Question]], persons: Container[str]) -> dict[str, float]:
    """Describe a data set in ViQuAE's format, of which no split is empty; `persons` are Wikidata ids.

    `test_answers_in_train` and `test_entities_in_train` are the shares of test questions whose original answer, or
    entity, is one of a training question; all others are over all questions.
    """
    questions = [question for split in SPLITS for question in splits[split]]
    texts = [words(question.text) for question in questions]
    answers = Counter(question.original_answer for question in questions)
    train, test = splits["train"], splits["test"]
    answers_seen = {question.original_answer for question in train}
    entities_seen = {question.wikidata_id for question in train}
    return {
        "questions": float(len(questions)),
        **{f"questions_{split}": float(len(splits[split])) for split in SPLITS},
        "images": float(len({question.image for question in questions})),
        "entities": float(len({question.wikidata_id for question in questions})),
        "words_mean": sum(map(len, texts)) / len(questions),
        "vocabulary": float(len({word for text in texts for word in text})),
        "most_frequent_answer_share": max(answers.values()) / len(questions),
        "persons_share": sum(question.wikidata_id in persons for question in questions) / len(questions),
        "test_answers_in_train": sum(question.original_answer in answers_seen for question in test) / len(test),
        "test_entities_in_train": sum(question.wikidata_id in entities_seen for question in test) / len(test),
    }


@dataclass(frozen=True)
class Kept:
    """A question that annotators kept: what was generated, its final text and image."""

    generated: GeneratedQuestion
    text: str
    image: str


def image_names(kept: Iterable[Kept]) -> dict[str, str]:
    """Rename the chosen images to unique and portable names: the entity's id and a number."""
    numbers: dict[str, int] = {}
    names: dict[str, str] = {}
    for question in sorted(kept, key=lambda question: (question.generated.wikidata_id, question.image)):
        if question.image not in names:
            entity = question.generated.wikidata_id
            numbers[entity] = numbers.get(entity, 0) + 1
            suffix = PurePosixPath(question.image).suffix.lower()
            names[question.image] = f"{entity}_{numbers[entity]}{suffix if suffix[1:].isalnum() else ''}"
    return names


def viquae_record(question: Kept, image: str) -> dict[str, Any]:
    """Make a line of ViQuAE; `meta.image` is the photograph's name on Commons, for its author and licence."""
    made = question.generated
    return {
        "id": made.id,
        "input": question.text,
        "image": image,
        "wikidata_id": made.wikidata_id,
        "kilt_id": made.source,  # as in ViQuAE: id of the question in KILT, not of the article
        "url": "",
        "original_question": made.original_question,
        "output": _output(made),
        "meta": {"image": question.image},
    }


def list_sources(kept: Iterable[Kept]) -> list[dict[str, Any]]:
    """List the TriviaQA questions that these were made from, each once, as lines of TriviaQA."""
    records: dict[str, dict[str, Any]] = {}
    for question in kept:
        made = question.generated
        record = {"id": made.source, "input": made.original_question, "output": _output(made)}
        records.setdefault(made.source, record)
    return list(records.values())


def _output(made: GeneratedQuestion) -> dict[str, Any]:
    provenance = [{"wikipedia_id": [made.kilt_id], "title": [made.title]}]
    return {"original_answer": made.original_answer, "answer": list(made.answers), "provenance": provenance}


def remaining_triviaqa(folder: Path, kept: Sequence[Kept], counts: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Stream TriviaQA's questions of all splits, each once, except those that ours were made from, by id or words.

    `counts` receives how many were left out.
    """
    originals = {normalize_question(question.generated.original_question) for question in kept}
    sources = {question.generated.source for question in kept}
    counts |= dict.fromkeys(("triviaqa_behind_questions", "triviaqa_repeated"), 0.0)
    texts: set[str] = set()
    ids: set[str] = set()
    for split in SPLITS:
        for _, record in read_json_lines(folder / f"{split}.jsonl"):
            text = normalize_question(record["input"])
            if text in originals or record["id"] in sources:
                counts["triviaqa_behind_questions"] += 1
            elif text in texts or record["id"] in ids:
                counts["triviaqa_repeated"] += 1
            else:
                texts.add(text)
                ids.add(record["id"])
                yield record


class Shares(Parameters):
    """Questions a split; only the proportions matter."""

    train: float = Field(gt=0, description="Training questions")
    validation: float = Field(gt=0, description="Validation questions")
    test: float = Field(gt=0, description="Test questions")


class RebuildParameters(Parameters):
    """Section `kvqae.rebuild`."""

    agreement_annotators: int = Field(ge=2, description="Agreement is measured on questions of at least so many")
    shares: Shares = Field(description="How the questions are split")
    seed: int = Field(default=0, ge=0, description="Of the split")


def keep(
    annotations: Mapping[str, list[Annotation]], questions: Mapping[str, GeneratedQuestion]
) -> tuple[dict[str, Annotation], dict[str, float]]:
    """Choose the annotation that counts of each question that is kept, in the order of the generated questions.

    Questions in which annotators wrote the entity's name or the answer are dropped; returns counts, too.
    """
    kept: dict[str, Annotation] = {}
    names = ("discarded", "dropped_naming_the_entity", "dropped_giving_the_answer")
    counts = {"annotated": float(len(annotations)), **dict.fromkeys(names, 0.0)}
    for identifier, question in questions.items():
        settled = settle(annotations.get(identifier, ()))
        text = "" if settled is None else settled.text or ""
        if settled is None:
            counts["discarded"] += identifier in annotations
        elif name_pattern(question.names).search(text):  # no parts of a name: most are words of their own ("Lake")
            counts["dropped_naming_the_entity"] += 1
        elif AnswerMatcher(question.answers).matches(text):
            counts["dropped_giving_the_answer"] += 1
        else:
            kept[identifier] = settled
    counts["kept"] = float(len(kept))
    counts["discarded_share"] = counts["discarded"] / max(1.0, counts["annotated"])
    return kept, counts


def split_up(kept: list[Kept], parameters: RebuildParameters) -> Mapping[str, list[Kept]]:
    """Split questions; those that share an image, or were made from one TriviaQA question, stay together."""
    keys = [{("image", question.image), ("source", question.generated.source)} for question in kept]
    splits = disjoint_splits(keys, parameters.shares.model_dump(), parameters.seed)
    return {name: [question for question, split in zip(kept, splits, strict=True) if split == name] for name in SPLITS}
