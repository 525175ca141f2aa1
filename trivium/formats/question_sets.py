"""Question sets about texts, in the forms in which they are handed round.

- SQuAD's tree (1.1, 2.0; FQuAD, PIAF, XQuAD): {"data": [{"title", "paragraphs": [{"context",
  "qas": [{"id", "question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}
- Hugging Face's flat records, as JSON lines, a JSON list, {"data": [...]} or Parquet: {"id", "title", "context",
  "question", "answers": {"text": [...], "answer_start": [...]}}; no text means that there is no answer
- the same with `answers` as a list of texts or of {"text", "answer_start"}, or with one text as `answer`
- FQuAD's records on the Hugging Face hub, a context each: {"context", "questions": [...], "answers": {"texts": [...],
  "answers_starts": [...]}}; a question's id is that of its record and its place, such as 1.2
- MRQA's lines after their header: {"context", "qas": [{"qid", "question", "answers", "detected_answers": [{"text",
  "char_spans": [[first, last]]}]}]}

`title` and `answer_start` may be lacking. Where an answer has no place, or does not stand at its place, the nearest
occurrence in the context counts. A set of which more than a tenth of the answers stand nowhere is refused, and so is an
answer that is the text of a dictionary.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.folding import find_folded
from trivium.core.reading import open_file
from trivium.core.tables import read_batches, read_schema
from trivium.formats.framed_texts import Span, end_of
from trivium.formats.json_fields import Field, read_json_or_lines

REASONS = ("no_answer", "empty_question", "empty_answer")
_FLAT = ("id", "title", "context", "question", "answers", "answer", "is_impossible")
_BATCH = 4096  # rows of Parquet
MOST_NOWHERE = 0.1  # of the answers


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about a context.

    Attributes:
        id: unique in its set.
        title: of the article; "" where the set has none.
        answers: the valid ones, in order; a set's unanswerable question has none.
        place: where the first answer stands in the context; None where it does not.
    """

    id: str
    title: str
    context: str
    question: str
    answers: tuple[str, ...]
    place: Span | None


@dataclass(frozen=True)
class QuestionSet:
    """What was read from a file.

    Attributes:
        form: which of the forms it has, in words.
        questions: those with an answer, in the order of the file.
        unanswerable: those that are marked as having none.
        left_out: ids of the questions that cannot be asked, by reason: one of REASONS.
        counts: of first answers: `searched` (had no place, and was found), `moved` (stood elsewhere), `nowhere` (does
            not stand in its context).
    """

    form: str
    questions: tuple[AskedQuestion, ...]
    unanswerable: tuple[AskedQuestion, ...]
    left_out: dict[str, tuple[str, ...]]
    counts: dict[str, int]

    @property
    def dropped(self) -> int:
        """How many were left out."""
        return sum(map(len, self.left_out.values()))

    @property
    def ids(self) -> list[str]:
        """Of all questions, those left out too: a model may well have answered them."""
        asked = [each.id for each in (*self.questions, *self.unanswerable)]
        return asked + [identifier for ids in self.left_out.values() for identifier in ids]


def read_question_set(path: Path) -> QuestionSet:
    """Read a set, whichever form it has.

    Raises:
        BadInput: none of the forms (names row and field), an id that stands twice, an answer that is the text of a
            dictionary, no question with an answer, or more than `MOST_NOWHERE` of the answers stand nowhere.
    """
    form, records = _records(path)
    questions: list[AskedQuestion] = []
    unanswerable: list[AskedQuestion] = []
    left_out: dict[str, list[str]] = {reason: [] for reason in REASONS}
    counts = Counter(searched=0, moved=0, nowhere=0)
    first: dict[str, Field] = {}
    texts: dict[str, str] = {}  # one copy of each context and title: flat records repeat them
    for title, context, asked, flat in records:
        identifier = _identifier(asked["id"])
        if identifier in first:
            asked["id"].refuse(f"id twice, the first in {_where(first[identifier])}")
        first[identifier] = asked
        context, title = texts.setdefault(context, context), texts.setdefault(title, title)
        answers, given = _answers(asked)
        texted = [(text, start) for text, start in answers if text.strip()]
        question = asked["question"].text()
        place, how = _place(context, *texted[0]) if texted else (None, "")
        shown = tuple(text for text, _ in texted)
        if place is not None:
            shown = (place.of(context), *shown[1:])
        record = AskedQuestion(identifier, title, context, question, shown, place)
        if _impossible(asked, flat and not given):
            unanswerable.append(AskedQuestion(identifier, title, context, question, (), None))
        elif not question.strip():
            left_out["empty_question"].append(identifier)
        elif not texted:
            left_out["empty_answer" if given else "no_answer"].append(identifier)
        else:
            questions.append(record)
            counts[how] += 1
    if not questions:
        got = {"unanswerable": len(unanswerable)} | {reason: len(ids) for reason, ids in left_out.items()}
        raise BadInput("no question with an answer", file=path, got=got, expected="a question set with answers")
    if counts["nowhere"] > max(1, MOST_NOWHERE * len(questions)):
        first_one = next(each for each in questions if each.place is None)
        problem = f"{counts['nowhere']} of {len(questions)} answers stand nowhere in their contexts; the first"
        row = _where(first[first_one.id])
        raise BadInput(problem, file=path, row=row, field="answers", got=first_one.answers[0],
                       expected="answers that are parts of their contexts")  # fmt: skip
    del counts["in place"]
    return QuestionSet(
        form,
        tuple(questions),
        tuple(unanswerable),
        {reason: tuple(ids) for reason, ids in left_out.items()},
        dict(counts),
    )


Record = tuple[str, str, Field, bool]  # title, context, the question's own record, whether it is a flat one


def _records(path: Path) -> tuple[str, Iterator[Record]]:
    """The form, in words, and the records."""
    with open_file(path) as stream:
        start = stream.read(4)
    if start == b"PAR1":
        return "flat Parquet", _flat(_parquet(path))
    roots = read_json_or_lines(path)
    if "header" in roots[0].keys and "context" not in roots[0].keys:
        return "MRQA’s lines", _mrqa(roots[1:])
    if len(roots) > 1 or {"question", "questions"}.intersection(roots[0].keys):
        return _form(roots, "JSON lines")
    records = roots[0] if isinstance(roots[0].value, list) else roots[0]["data"]
    if "paragraphs" in next(iter(records.items()), records).keys:
        return "SQuAD’s tree", _tree(records)
    return _form(list(records.items()), "JSON")


def _form(records: Sequence[Field], file: str) -> tuple[str, Iterator[Record]]:
    if any("questions" in record.keys for record in records[:1]):
        return f"FQuAD’s contexts, {file}", _contexts(records)
    return f"flat {file}", _flat(records)


def _parquet(path: Path) -> Iterator[Field]:
    try:
        known = [name for name in read_schema(path).names if name in _FLAT]
        rows = (record for batch in read_batches(path, _BATCH, known) for record in batch.to_pylist())
        yield from (Field(record, path, row) for row, record in enumerate(rows, 1))
    except UnicodeDecodeError as error:  # of a column's name or of a text
        raise BadInput(f"not UTF-8: {error.reason}", file=path) from None


def _flat(records: Iterable[Field]) -> Iterator[Record]:
    for record in records:
        title = record.get("title")
        yield "" if title is None else title.text(), record["context"].text(), record, True


def _tree(articles: Field) -> Iterator[Record]:
    for article in articles.items():
        title = article.get("title")
        for paragraph in article["paragraphs"].items():
            context = paragraph["context"].text()
            for asked in paragraph["qas"].items():
                yield "" if title is None else title.text(), context, asked, False


def _contexts(records: Iterable[Field]) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        title, context = record.get("title"), record["context"].text()
        questions, texts = list(record["questions"].items()), list(record["answers"]["texts"].items())
        starts = list(record["answers"]["answers_starts"].items())
        if not len(questions) == len(texts) == len(starts):
            record["answers"].refuse("not as many answers as questions", expected=f"{len(questions)} texts and starts")
        for place, (question, text, start) in enumerate(zip(questions, texts, starts, strict=True), 1):
            asked = {"id": f"{number}.{place}", "question": question.value,
                     "answers": [{"text": text.value, "answer_start": start.value}]}  # fmt: skip
            yield "" if title is None else title.text(), context, Field(asked, record.file, record.row, ""), False


def _mrqa(records: Iterable[Field]) -> Iterator[Record]:
    for record in records:
        context = record["context"].text()
        for question in record["qas"].items():
            detected = [
                {"text": answer["text"].text(), "answer_start": _first(answer["char_spans"])}
                for answer in question["detected_answers"].items()
            ]
            asked = {"id": question["qid"].value, "question": question["question"].value,
                     "answers": detected or question["answers"].value}  # fmt: skip
            yield "", context, Field(asked, record.file, record.row, ""), False


def _first(spans: Field) -> int | None:
    """Where the first of MRQA's stretches begins."""
    return next((next(span.items()).integer() for span in spans.items()), None)


def _identifier(field: Field) -> str:
    """Ids are texts; some sets number their questions."""
    return str(field.integer()) if isinstance(field.value, int) else field.text(empty=False)


def _where(field: Field) -> str:
    return field.name or f"row {field.row}"


def _impossible(asked: Field, without: bool) -> bool:
    """Whether a question is marked as having no answer, or, in a flat record, has none (`without`)."""
    marked = asked.get("is_impossible")
    if marked is None:
        return without
    if not isinstance(marked.value, bool):
        marked.refuse("not true or false")
    return bool(marked.value)


def _answers(asked: Field) -> tuple[list[tuple[str, int | None]], bool]:
    """Texts with their first characters, None where it is not said; and whether any was given."""
    given = asked.get("answers")
    if given is None:
        given = asked.get("answer")
    if given is None:
        return [], False
    if isinstance(given.value, str):
        if _is_dictionary(given.value):
            given.refuse("the text of a dictionary", expected="a dictionary, a list, or a text")
        return [(given.text(), None)], True
    if isinstance(given.value, dict):
        texts, starts = list(given["text"].items()), given.get("answer_start") or given.get("answers_start")
        places = [None] * len(texts) if starts is None else [_start(start) for start in starts.items()]
        if len(places) != len(texts):
            given.refuse("not as many places as texts", expected=f"{len(texts)} numbers in answer_start")
        found = [(text.text(), place) for text, place in zip(texts, places, strict=True)]
    else:
        found = [_answer(each) for each in given.items()]
    return found, bool(found)


def _is_dictionary(text: str) -> bool:
    """Whether a text is a dictionary as Python or JSON writes it, as tables of CSV hold it."""
    if not text.strip().startswith("{"):
        return False
    try:
        return isinstance(ast.literal_eval(text.strip()), dict)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _answer(field: Field) -> tuple[str, int | None]:
    if isinstance(field.value, str):
        return field.text(), None
    start = field.get("answer_start")
    return field["text"].text(), None if start is None else _start(start)


def _start(field: Field) -> int | None:
    """A place; some sets write -1, or null, for none."""
    if field.value is None:
        return None
    start = field.integer()
    return None if start == -1 else start


def _place(context: str, answer: str, start: int | None) -> tuple[Span | None, str]:
    """Where an answer stands, and how that is known."""
    end = None if start is None else end_of(context, start, answer)
    if start is not None and end is not None:
        return Span(start, end), "in place"
    wanted = answer.strip()
    places = find_folded(context, wanted) or find_folded(context, wanted, any_case=True)
    if not places:
        return None, "nowhere"
    nearest = min(places, key=lambda place: abs(place[0] - (start or 0)))
    return Span(*nearest), "searched" if start is None else "moved"
