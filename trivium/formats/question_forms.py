"""Read question sets about texts in any of the forms below; a file's form is recognised by its content.

- SQuAD's tree (1.1, 2.0; FQuAD, PIAF, XQuAD): {"data": [{"title", "paragraphs": [{"context",
  "qas": [{"id", "question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}
- Hugging Face's flat records, as JSON lines, a JSON list, {"data": [...]} or Parquet: {"id", "title", "context",
  "question", "answers": {"text": [...], "answer_start": [...]}}; no text means that there is no answer
- the same with `answers` as a list of texts or of {"text", "answer_start"}, or with one text as `answer`
- FQuAD's records on the Hugging Face hub, a context each: {"context", "questions": [...], "answers": {"texts": [...],
  "answers_starts": [...]}}; a question's id is that of its record and its place, such as 1.2
- MRQA's lines, after their header where there is one: {"context", "qas": [{"qid", "question", "answers",
  "detected_answers": [{"text", "char_spans": [[first, last]]}]}]}
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.reading import open_file
from trivium.core.tables import read_batches, read_schema
from trivium.formats.json_fields import Field, read_json_or_lines

_COLUMNS = ("id", "qid", "title", "context", "question", "questions", "answers", "answer", "is_impossible")
# The text of a dictionary or list as Python, NumPy or JSON writes it into tables of CSV.
WRITTEN_OUT = re.compile(r"""\s*(\{\s*['"]\w+['"]\s*:|\[\s*['"{])""")
_BATCH = 4096  # rows of Parquet
_OTHERS = {  # a field that other sets have, where a context is no text
    "story": "CoQA",
    "storyId": "NewsQA",
    "qa_pairs": "DROP",
    "answers_spans": "DROP",
    "passage": "BoolQ or ReCoRD",
    "supporting_facts": "HotpotQA",
    "document_text": "Natural Questions",
    "document_plaintext": "TyDi QA",
    "context_text": "CMRC 2018's first release",
    "options": "RACE",
    "passages": "MS MARCO",
    "Data": "TriviaQA",
}

Record = tuple[str, str, Field, bool]  # title, context, the question's own record, whether it is a flat one


def question_records(path: Path) -> tuple[str, Iterator[Record]]:
    """Return the form in words, and the records."""
    with open_file(path) as stream:
        start = stream.read(4)
    if start == b"PAR1":
        return _form(list(_parquet(path)), "Parquet")
    roots = read_json_or_lines(path)
    lines = roots[1:] if "header" in roots[0].keys and "context" not in roots[0].keys else roots
    if len(lines) < len(roots) or "qas" in roots[0].keys:
        return "MRQA’s lines", _mrqa(lines)
    if len(roots) > 1 or {"question", "questions"}.intersection(roots[0].keys):
        return _form(roots, "JSON lines")
    root = roots[0]
    if isinstance(root.value, dict) and "data" not in root.keys:
        _refuse_others([root, *(root[key] for key in list(root.keys)[:1] if isinstance(root.value[key], dict))])
    records = list((root if isinstance(root.value, list) else root["data"]).items())
    if records and "paragraphs" in records[0].keys:
        _refuse_others(paragraph for record in records[:1] for paragraph in record["paragraphs"].items())
        return "SQuAD’s tree", tree_questions(records)
    return _form(records, "JSON")


def _form(records: Sequence[Field], file: str) -> tuple[str, Iterator[Record]]:
    _refuse_others(records[:1])
    if any("questions" in record.keys for record in records[:1]):
        return f"FQuAD’s contexts, {file}", _contexts(records)
    return f"flat {file}", _flat(records)


def _refuse_others(records: Iterable[Field]) -> None:
    """Refuse a set of another known form, by its name."""
    for record in records:
        name = next((name for field, name in _OTHERS.items() if field in record.keys), None)
        if name is not None and not isinstance(record.value.get("context"), str):
            record.refuse(f"questions in the form of {name}, which is not read", got=list(record.keys),
                          expected="SQuAD's tree, flat records, FQuAD's or MRQA's")  # fmt: skip


def _parquet(path: Path) -> Iterator[Field]:
    try:
        columns = [name for name in read_schema(path).names if name in _COLUMNS]
        rows = (record for batch in read_batches(path, _BATCH, columns) for record in batch.to_pylist())
        yield from (Field(record, path, row) for row, record in enumerate(rows, 1))
    except UnicodeDecodeError as error:  # of a column's name or of a text
        raise BadInput(f"not UTF-8: {error.reason}", file=path) from None


def _flat(records: Iterable[Field]) -> Iterator[Record]:
    for record in records:
        title = record.get("title")
        yield "" if title is None else title.text(), record["context"].text(), record, True


def tree_questions(articles: Iterable[Field]) -> Iterator[Record]:
    """The questions of SQuAD's tree."""
    for article in articles:
        title = article.get("title")
        for paragraph in article["paragraphs"].items():
            context = paragraph["context"].text()
            for question in paragraph["qas"].items():
                yield "" if title is None else title.text(), context, question, False


def _contexts(records: Iterable[Field]) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        title, context = record.get("title"), record["context"].text()
        questions, texts = list(record["questions"].items()), list(record["answers"]["texts"].items())
        starts = list(record["answers"]["answers_starts"].items())
        if not len(questions) == len(texts) == len(starts):
            record["answers"].refuse("not as many answers as questions", expected=f"{len(questions)} texts and starts")
        for place, (question, text, start) in enumerate(zip(questions, texts, starts, strict=True), 1):
            question_record = {"id": f"{number}.{place}", "question": question.value,
                     "answers": [{"text": text.value, "answer_start": start.value}]}  # fmt: skip
            yield (
                "" if title is None else title.text(),
                context,
                Field(question_record, record.file, record.row, ""),
                False,
            )


def _mrqa(records: Iterable[Field]) -> Iterator[Record]:
    for record in records:
        context = record["context"].text()
        for question in record["qas"].items():
            detected = [
                {"text": answer["text"].text(), "answer_start": _first(answer["char_spans"])}
                for answer in question["detected_answers"].items()
            ]
            question_record = {"id": question["qid"].value, "question": question["question"].value,
                     "answers": detected or question["answers"].value}  # fmt: skip
            yield "", context, Field(question_record, record.file, record.row, ""), False


def _first(spans: Field) -> int | None:
    """Where the first of MRQA's stretches begins."""
    return next((next(span.items()).integer() for span in spans.items()), None)
