"""Read models' answers to questions, in any form of docs/difficulty.md; a file's content tells its form.

Trained readers and prompted models write {"id", "prediction"} a line. An answer that is null counts as missing.
"""

import json
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.reading import read_text
from trivium.core.tables import write_json_lines
from trivium.formats.json_fields import Field, read_json_or_lines
from trivium.formats.question_sets import WRITTEN_OUT

_SHOWN = 5
NO_TEXTS: Mapping[tuple[str, str], str] = MappingProxyType({})


@dataclass(frozen=True)
class AnswerFile:
    """Answers of a model to the questions of a set."""

    answers: dict[str, str]  # by question id, of those given questions that have one
    unknown: tuple[str, ...]  # ids of other questions that the file answers; they are left out
    note: str  # what else was left out, in words; "" for nothing


def read_answers(path: Path, ids: Collection[str], by_text: Mapping[tuple[str, str], str] = NO_TEXTS) -> AnswerFile:
    """Read a model's answers to these questions, whichever form the file has.

    Where a record has no id, it is looked up in `by_text`, ids by (question, context), both folded. Two answers to one
    question, and no answer to any of these questions, are `BadInput`.
    """
    questions = set(ids)
    answers: dict[str, str] = {}
    unknown: list[str] = []
    first: dict[str, Field] = {}
    missing = 0
    for identifier, answer, place in _pairs(read_json_or_lines(path), by_text):
        if identifier in first:
            suffix = f", the first in {first[identifier].place}" if first[identifier].place else ""
            place.refuse(f"second answer to one question{suffix}", got=identifier)
        first[identifier] = place
        if answer is None:
            missing += 1
        elif identifier in questions:
            answers[identifier] = answer
        else:
            unknown.append(identifier)
    if not answers:
        shown = [reprlib.repr(question) for question in list(ids)[:_SHOWN]]
        got = f"{missing} answers that are null" if missing and not unknown else unknown[:_SHOWN]
        raise BadInput("no answer to any of the questions", file=path, field="id", got=got,
                       expected=f"ids such as {', '.join(shown)}")  # fmt: skip
    nulls = f"answers that are null, and count as missing: {missing}" if missing else ""
    written = sum(WRITTEN_OUT.match(answer) is not None for answer in answers.values())
    texts = f"answers that are the text of a dictionary or list, and are scored as such: {written}" if written else ""
    return AnswerFile(answers, tuple(unknown), "; ".join(filter(None, (nulls, texts))))


Pairs = Iterator[tuple[str, str | None, Field]]  # question, answer (None: there is none), where it stands


def _pairs(roots: Sequence[Field], by_text: Mapping[tuple[str, str], str]) -> Pairs:
    """Recognise the form of a file; returns its answers."""
    root = roots[0]
    if len(roots) == 1 and isinstance(root.value, dict) and isinstance(root.value.get("predictions"), list):
        root = root["predictions"]
        roots = [root]
    if len(roots) == 1 and isinstance(root.value, dict) and _READERS.keys().isdisjoint(root.value):
        return _by_id(root)
    records = list(root.items()) if len(roots) == 1 and isinstance(root.value, list) else list(roots)
    if not records:
        root.refuse("no answers", expected="an answer a question")
    records[0].get("id")  # refuses what is no object
    key = next((name for name in _READERS if name in records[0].keys), None)
    if key is None:
        records[0].refuse("no field with an answer", choices=_READERS)
    return ((*_READERS[key](record, by_text), record) for record in records)


def _by_id(root: Field) -> Pairs:
    # Of two answers to one question JSON's reader would take the last without a word.
    for identifier, _ in json.loads(read_text(root.file), object_pairs_hook=tuple):
        content = root.value[identifier]
        is_list = isinstance(content, list) and content and isinstance(content[0], dict) and "text" in content[0]
        answer = content[0]["text"] if is_list else content  # of an n-best list
        if answer is not None and not isinstance(answer, str):
            expected = "{question's id: answer} or n-best lists {id: [{'text': answer}]}"
            raise BadInput("not a text", file=root.file, field=reprlib.repr(identifier), got=content, expected=expected)
        yield identifier, answer, root


Read = Callable[[Field, Mapping[tuple[str, str], str]], tuple[str, str | None]]


def _plain(key: str) -> Read:
    def read(record: Field, by_text: Mapping[tuple[str, str], str]) -> tuple[str, str | None]:
        is_null = key in record.keys and record.get(key) is None
        return record["id"].identifier(), None if is_null else record[key].text()

    return read


def _kilt(record: Field, by_text: Mapping[tuple[str, str], str]) -> tuple[str, str | None]:
    """Return the first answer among the outputs: "" where there is no output, None where no output has an answer."""
    outputs = [output.get("answer") for output in record["output"].items()]
    none = None if outputs else ""
    return record["id"].identifier(), next((answer.text() for answer in outputs if answer is not None), none)


def _harness(record: Field, by_text: Mapping[tuple[str, str], str]) -> tuple[str, str | None]:
    """Return the first response; in a task that also asks for a likelihood (squadv2), the likelihood follows it."""
    responses = list(record["filtered_resps"].items())
    if not responses:
        record["filtered_resps"].refuse("no response", expected="a text in a list")
    first = responses[0]
    while isinstance(first.value, list) and first.value:
        if first.value[1:] in (["True"], ["False"]):
            first.refuse("a likelihood, no answer", expected="a text in a list")
        first = next(first.items())
    answer = None if first.value is None else first.text()
    doc = record["doc"]
    if doc.get("id") is not None:
        return doc["id"].identifier(), answer
    texts = fold(doc["question"].text()), fold(doc["context"].text())
    if texts not in by_text:
        doc.refuse("no id, and no question of the set has its question and context", expected="a field id")
    return by_text[texts], answer


_READERS: dict[str, Read] = {  # by the field that tells the form of a record
    "prediction": _plain("prediction"),
    "prediction_text": _plain("prediction_text"),
    "filtered_resps": _harness,
    "output": _kilt,
}


def model_names(files: Iterable[str | Path]) -> dict[str, list[Path]]:
    """Group files by model.

    The name of a model is that in `NAME=FILE`, else the file's stem, or the folder's name for `seed-0.jsonl` and
    `samples_….jsonl`. Several files are trainings of one model where all are given as NAME=FILE, or where they are the
    `seed-….jsonl` of one folder; any other files of one name, and a file given twice, are `BadInput`.
    """
    names: dict[str, list[Path]] = {}
    sources: dict[str, str | Path] = {}  # what says that files are of one model
    for argument in files:
        name, equals, rest = str(argument).partition("=")
        path = Path(rest) if equals and not Path(argument).exists() else Path(argument)
        name = name.strip() if path != Path(argument) else ""
        source = name or (path.resolve().parent if path.stem.startswith("seed-") else path)
        name = name or (path.resolve().parent.name if path.stem.startswith(("seed-", "samples_")) else path.stem)
        if sources.setdefault(name, source) != source or path in names.get(name, ()):
            expected = "another name, as NAME=FILE; or NAME=FILE for all of its trainings"
            raise BadInput("two files of one model", file=path, field="answers", got=name, expected=expected)
        names.setdefault(name, []).append(path)
    return names


@dataclass(frozen=True)
class Predictions:
    """A model's answers to given questions, and how many of them are missing, to other questions, or empty."""

    answers: dict[str, str]  # one for each question, in their order; "" where it is missing (it scores 0)
    missing: int
    unknown: int  # left out
    empty: int  # empty or white space (they score 0)


def read_predictions(path: Path, ids: Sequence[str]) -> Predictions:
    """Read a model's answers to these questions; see `read_answers`."""
    read = read_answers(path, ids)
    if read.unknown:
        shown = ", ".join(map(reprlib.repr, read.unknown[:_SHOWN])) + (", …" if len(read.unknown) > _SHOWN else "")
        print(f"{path}: {len(read.unknown)} answers to unknown questions left out: {shown}")
    answers = {identifier: read.answers.get(identifier, "") for identifier in ids}
    missing = sum(identifier not in read.answers for identifier in answers)
    empty = sum(not answer.strip() for answer in answers.values()) - missing
    return Predictions(answers, missing=missing, unknown=len(read.unknown), empty=empty)


def write_predictions(path: Path, answers: Mapping[str, str]) -> None:
    """Write a model's answers by question id, in the order of the mapping."""
    write_json_lines(path, ({"id": identifier, "prediction": answer} for identifier, answer in answers.items()))
