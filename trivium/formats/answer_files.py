"""Read models' answers to questions, in any of the forms below; the form of a file is recognised by its content.

- this project's own, one object a line: {"id", "prediction"}; trained readers and prompted models write it
- SQuAD's evaluation: {id: answer, ...}; n-best lists {id: [{"text"}, ...], ...}, the first text
- Hugging Face's `squad` metric: {"id", "prediction_text"}, as a JSON list, lines, or the list of {"predictions"}
- lm-evaluation-harness' samples (`--log_samples`): lines {"doc": {"id", ...}, "filtered_resps": [answer], "filter"};
  a doc without id is found by its question and context
- KILT: lines {"id", "output": [{"answer"}, ...]}, the first answer

An answer that is null counts as missing. How many there are is reported, and so is the number of answers that are the
text of a dictionary or list.
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
_NO_FILTER = "none"  # what lm-evaluation-harness calls the answers as they came
NO_TEXTS: Mapping[tuple[str, str], str] = MappingProxyType({})


@dataclass(frozen=True)
class AnswerFile:
    """Answers of a model to the questions of a set.

    Attributes:
        answers: the answers by question id, of those given questions that have one.
        unknown: ids of other questions that the file answers; they are left out.
        note: what else was left out, in words; "" for nothing.
    """

    answers: dict[str, str]
    unknown: tuple[str, ...]
    note: str


def read_answers(path: Path, ids: Collection[str], by_text: Mapping[tuple[str, str], str] = NO_TEXTS) -> AnswerFile:
    """Read a model's answers to these questions, whichever form the file has.

    Where a record has no id, it is looked up in `by_text`, ids by (question, context), both folded.

    Raises:
        BadInput: none of the forms (names row and field), two answers to one question, or no answer to any of these
            questions.
    """
    pairs, note = _pairs(read_json_or_lines(path), by_text)
    questions = set(ids)
    answers: dict[str, str] = {}
    unknown: list[str] = []
    first: dict[str, Field] = {}
    missing = 0
    for identifier, answer, place in pairs:
        if identifier in first:
            place_of_first = first[identifier].name or (f"row {row}" if (row := first[identifier].row) else "")
            suffix = f", the first in {place_of_first}" if place_of_first else ""
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
    return AnswerFile(answers, tuple(unknown), "; ".join(filter(None, (note, nulls, texts))))


Pairs = Iterator[tuple[str, str | None, Field]]  # question, answer (None: there is none), where it stands


def _pairs(roots: Sequence[Field], by_text: Mapping[tuple[str, str], str]) -> tuple[Pairs, str]:
    """Recognise the form of a file; returns its answers, and a note on what was left out."""
    root = roots[0]
    if len(roots) == 1 and isinstance(root.value, dict) and isinstance(root.value.get("predictions"), list):
        root = root["predictions"]
        roots = [root]
    if len(roots) == 1 and isinstance(root.value, dict) and _READERS.keys().isdisjoint(root.value):
        return _by_id(root), ""
    records = list(root.items()) if len(roots) == 1 and isinstance(root.value, list) else list(roots)
    if not records:
        root.refuse("no answers", expected="an answer a question")
    records[0].get("id")  # refuses what is no object
    key = next((name for name in _READERS if name in records[0].keys), None)
    if key is None:
        records[0].refuse("no field with an answer", choices=_READERS)
    chosen, note = _one_filter(records) if key == "filtered_resps" else (records, "")
    return ((*_READERS[key](record, by_text), record) for record in chosen), note


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


def _one_filter(records: Sequence[Field]) -> tuple[list[Field], str]:
    """Keep the records of one filter of the task: the unfiltered ones, else those of the first filter."""
    of_filter = [None if (name := record.get("filter")) is None else name.text() for record in records]
    names = list(dict.fromkeys(of_filter))
    chosen = _NO_FILTER if _NO_FILTER in names else names[0]
    kept = [record for record, name in zip(records, of_filter, strict=True) if name == chosen]
    others = ", ".join(repr(name) for name in names if name != chosen)
    return kept, f"of its filters {chosen!r} counts, and not {others}" if others else ""


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
    `seed-….jsonl` of one folder.

    Raises:
        BadInput: other files have the same name, or one file is given twice.
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
    """A model's answers to given questions.

    Attributes:
        answers: an answer for each question, in the order of the questions; "" where it is missing (it scores 0).
        missing: number of questions without an answer.
        unknown: number of answers to other questions; they are left out.
        empty: number of answers that are empty or white space (they score 0).
    """

    answers: dict[str, str]
    missing: int
    unknown: int
    empty: int


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
