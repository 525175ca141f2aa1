"""Lines of the rebuilt data set in ViQuAE's and TriviaQA's formats (kvqae.md §1, §2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines
from trivium.formats.questions import SPLITS
from trivium.kvqae.annotation.generated_questions import GeneratedQuestion, name_pattern
from trivium.measures.answers import AnswerMatcher, normalize_answer

Record = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """A question that annotators kept: what was generated, its final text and image."""

    generated: GeneratedQuestion
    text: str
    image: str


def image_names(kept: Iterable[Kept]) -> dict[str, str]:
    """New names of the chosen images, unique and safe in any file system: the entity's id and a number."""
    numbers: dict[str, int] = {}
    names: dict[str, str] = {}
    for question in sorted(kept, key=lambda each: (each.generated.wikidata_id, each.image)):
        if question.image not in names:
            entity = question.generated.wikidata_id
            numbers[entity] = numbers.get(entity, 0) + 1
            suffix = PurePosixPath(question.image).suffix.lower()
            names[question.image] = f"{entity}_{numbers[entity]}{suffix if suffix[1:].isalnum() else ''}"
    return names


def viquae_record(question: Kept, image: str) -> Record:
    """One line of ViQuAE; `meta.image` is the photograph's name on Commons, for its author and licence."""
    made = question.generated
    return {
        "id": made.id,
        "input": question.text,
        "image": image,
        "wikidata_id": made.wikidata_id,
        "kilt_id": made.kilt_id,
        "url": "",
        "original_question": made.original_question,
        "output": _output(made),
        "meta": {"image": question.image},
    }


def behind(kept: Iterable[Kept]) -> list[Record]:
    """The TriviaQA questions that these were made from, each once, as lines of TriviaQA."""
    records: dict[str, Record] = {}
    for question in kept:
        made = question.generated
        record = {"id": made.source, "input": made.original_question, "output": _output(made)}
        records.setdefault(made.source, record)
    return list(records.values())


def _output(made: GeneratedQuestion) -> Record:
    provenance = [{"wikipedia_id": [made.kilt_id], "title": [made.title]}]
    return {"original_answer": made.original_answer, "answer": list(made.answers), "provenance": provenance}


def remaining_triviaqa(folder: Path, kept: Sequence[Kept], counts: dict[str, float]) -> Iterator[Record]:
    """TriviaQA's questions of all splits that none of ours was made from, by id or words, to train on; each once.

    Args:
        folder: the released splits of TriviaQA.
        kept: the rebuilt questions, of all splits.
        counts: receives how many of TriviaQA's were left out: triviaqa_behind_questions, triviaqa_repeated.

    Raises:
        BadInput: a line without a question or an id.
    """
    originals = {normalize_answer(question.generated.original_question) for question in kept}
    sources = {question.generated.source for question in kept}
    counts |= dict.fromkeys(("triviaqa_behind_questions", "triviaqa_repeated"), 0.0)
    texts: set[str] = set()
    ids: set[str] = set()
    for split in SPLITS:
        for row, record in read_json_lines(folder / f"{split}.jsonl"):
            for field in ("id", "input"):
                if not isinstance(record.get(field), str):
                    problem = "missing or not a text"
                    raise BadInput(problem, file=folder / f"{split}.jsonl", row=row, field=field, got=record.get(field))
            text = normalize_answer(record["input"])
            if text in originals or record["id"] in sources:
                counts["triviaqa_behind_questions"] += 1
            elif text in texts or record["id"] in ids:
                counts["triviaqa_repeated"] += 1
            else:
                texts.add(text)
                ids.add(record["id"])
                yield record


def names_entity(question: Kept) -> bool:
    """Whether the text names the entity, as TriviaQA does, by its title or an alias: what generation looks for.

    Parts of a name are not looked for: most are words of their own ("Lake", "Elizabeth").
    """
    return name_pattern(question.generated.names).search(question.text) is not None


def gives_the_answer(question: Kept) -> bool:
    """Whether the answer or an alias stands in the text, normalised as in the measures: what generation looks for."""
    return AnswerMatcher(question.generated.answers).matches(question.text)


def by_split(kept: Sequence[Kept], splits: Sequence[str]) -> Mapping[str, list[Kept]]:
    """The questions of each split, in their order."""
    shared: dict[str, list[Kept]] = {split: [] for split in SPLITS}
    for question, split in zip(kept, splits, strict=True):
        shared[split].append(question)
    return shared
