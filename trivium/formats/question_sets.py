"""Question sets about texts, in any form of docs/difficulty.md; a file's content tells its form.

`title` and `answer_start` may be missing. Where an answer has no place, or does not stand at its place, the nearest
occurrence in the context counts.
"""

import re
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
MOST_NOWHERE = 0.1  # share of the answers
_NO_ANSWER = "CANNOTANSWER"  # how QuAC marks it, which has SQuAD's tree
_COLUMNS = ("id", "qid", "title", "context", "question", "questions", "answers", "answer", "is_impossible")
# A dictionary or list that Python, NumPy or JSON wrote as text, as CSV files hold it.
WRITTEN_OUT = re.compile(r"""\s*(\{\s*['"]\w+['"]\s*:|\[\s*['"{])""")
_BATCH = 4096  # rows of Parquet
_OTHERS = {  # fields of other sets, by which they are recognised where a record has no context that is a text
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

Record = tuple[str, str, Field, bool]  # title, context, the question's own record, whether this record is flat


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about a context."""

    id: str  # unique in its set
    title: str  # the article's; "" where the set has none
    context: str
    question: str
    answers: tuple[str, ...]  # the valid ones, in order; an unanswerable question has none
    place: Span | None  # where the first answer stands in the context; None where it does not


@dataclass(frozen=True)
class QuestionSet:
    """The content of a file of questions.

    `counts` has numbers of first answers: `searched` (without place, found in the context), `moved` (not at its place,
    found elsewhere in the context), `nowhere` (not in the context).
    """

    form: str  # of the file, in words
    questions: tuple[AskedQuestion, ...]  # those with an answer, in the order of the file
    unanswerable: tuple[AskedQuestion, ...]  # those marked as having no answer
    left_out: dict[str, tuple[str, ...]]  # ids of those that cannot be asked, by reason, one of REASONS
    counts: dict[str, int]

    @property
    def dropped(self) -> int:
        """The number of questions left out."""
        return sum(map(len, self.left_out.values()))

    @property
    def ids(self) -> list[str]:
        """Ids of all questions, including those left out, which a model may have answered."""
        own = [question.id for question in (*self.questions, *self.unanswerable)]
        return own + [identifier for ids in self.left_out.values() for identifier in ids]


def read_question_set(path: Path) -> QuestionSet:
    """Read a set, whichever form it has.

    Raises:
        BadInput: none of the forms (names row and field), an id stands twice, an answer is the text of a dictionary,
            no question has an answer, or more than `MOST_NOWHERE` of the answers are not in their contexts.
    """
    form, records = _recognise_form(path)
    questions: list[AskedQuestion] = []
    unanswerable: list[AskedQuestion] = []
    left_out: dict[str, list[str]] = {reason: [] for reason in REASONS}
    counts = Counter(searched=0, moved=0, nowhere=0)
    first: dict[str, Field] = {}
    texts: dict[str, str] = {}  # a single copy of each context and title, which flat records repeat
    for title, context, question_field, flat in records:
        given_id = question_field.get("qid") or question_field["id"]
        identifier = given_id.identifier()
        if identifier in first:
            given_id.refuse(f"id twice, the first in {first[identifier].place}")
        first[identifier] = question_field
        context, title = texts.setdefault(context, context), texts.setdefault(title, title)
        answers, has_answers = _answers(question_field)
        texted = [(text, start) for text, start in answers if text.strip()]
        question, shown = question_field["question"].text(), tuple(text for text, _ in texted)
        place, how = _place(context, *texted[0]) if texted else (None, "")
        if place is not None:
            shown = (place.of(context), *shown[1:])
        impossible = question_field.get_or("is_impossible", flat and not has_answers)
        if impossible.boolean() or shown[:1] == (_NO_ANSWER,):
            unanswerable.append(AskedQuestion(identifier, title, context, question, (), None))
        elif not question.strip():
            left_out["empty_question"].append(identifier)
        elif not texted:
            left_out["empty_answer" if has_answers else "no_answer"].append(identifier)
        else:
            questions.append(AskedQuestion(identifier, title, context, question, shown, place))
            counts[how] += 1
    if not questions:
        got = {"unanswerable": len(unanswerable)} | {reason: len(ids) for reason, ids in left_out.items()}
        raise BadInput("no question with an answer", file=path, got=got, expected="a question set with answers")
    if counts["nowhere"] > MOST_NOWHERE * len(questions):
        first_one = next(wrong for wrong in questions if wrong.place is None)
        problem = f"{counts['nowhere']} of {len(questions)} answers are not in their contexts; the first"
        row, expected = first[first_one.id].place or None, "answers that are parts of their contexts"
        raise BadInput(problem, file=path, row=row, field="answers", got=first_one.answers[0], expected=expected)
    del counts["in place"]
    reasons = {reason: tuple(ids) for reason, ids in left_out.items()}
    return QuestionSet(form, tuple(questions), tuple(unanswerable), reasons, dict(counts))


def _answers(field: Field) -> tuple[list[tuple[str, int | None]], bool]:
    """Return the answers as (text, first character or None), and whether there is any."""
    answers = field.get("answers") or field.get("answer")
    if answers is None:
        return [], False
    if isinstance(answers.value, str):
        return [(_plain(answers), None)], True
    if isinstance(answers.value, dict):
        texts, starts = list(answers["text"].items()), answers.get("answer_start") or answers.get("answers_start")
        places = [None] * len(texts) if starts is None else [_start(start) for start in starts.items()]
        if len(places) != len(texts):
            answers.refuse("not as many places as texts", expected=f"{len(texts)} numbers in answer_start")
        return [(_plain(text), place) for text, place in zip(texts, places, strict=True)], bool(texts)
    pairs = [
        (_plain(answer), None)
        if isinstance(answer.value, str)
        else (_plain(answer["text"]), _start(answer.get_or("answer_start", -1)))
        for answer in answers.items()
    ]
    return pairs, bool(pairs)


def _plain(field: Field) -> str:
    """Return a text; refuse a dictionary or list written as text, as CSV files hold it."""
    text = field.text()
    if WRITTEN_OUT.match(text):
        kind = "dictionary" if text.lstrip().startswith("{") else "list"
        field.refuse(f"the text of a {kind}", expected="a dictionary, a list, or a text")
    return text


def _start(field: Field) -> int | None:
    """Return the place of the first character; None for -1 or null, which some sets write where there is none."""
    if field.value is None:
        return None
    start = field.integer()
    return None if start == -1 else start


def _place(context: str, answer: str, start: int | None) -> tuple[Span | None, str]:
    """Return the span of an answer in its context, and how it was found: "in place" or a key of `counts`."""
    end = None if start is None else end_of(context, start, answer)
    if start is not None and end is not None:
        return Span(start, end), "in place"
    stripped = answer.strip()
    places = find_folded(context, stripped) or find_folded(context, stripped, any_case=True)
    if not places:
        return None, "nowhere"
    nearest = min(places, key=lambda place: abs(place[0] - (start or 0)))
    return Span(*nearest), "searched" if start is None else "moved"


def _recognise_form(path: Path) -> tuple[str, Iterator[Record]]:
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
    flat = ((record.get_or("title", "").text(), record["context"].text(), record, True) for record in records)
    return f"flat {file}", flat


def _refuse_others(records: Iterable[Field]) -> None:
    """Refuse a set of another known form; the message names the form."""
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


def tree_questions(articles: Iterable[Field]) -> Iterator[Record]:
    """Yield the questions of SQuAD's tree."""
    for article in articles:
        title = article.get_or("title", "")
        for paragraph in article["paragraphs"].items():
            context = paragraph["context"].text()
            for question in paragraph["qas"].items():
                yield title.text(), context, question, False


def _contexts(records: Iterable[Field]) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        title, context = record.get_or("title", ""), record["context"].text()
        questions, texts = list(record["questions"].items()), list(record["answers"]["texts"].items())
        starts = list(record["answers"]["answers_starts"].items())
        if not len(questions) == len(texts) == len(starts):
            record["answers"].refuse("not as many answers as questions", expected=f"{len(questions)} texts and starts")
        for place, (question, text, start) in enumerate(zip(questions, texts, starts, strict=True), 1):
            question_record = {"id": f"{number}.{place}", "question": question.value,
                     "answers": [{"text": text.value, "answer_start": start.value}]}  # fmt: skip
            yield title.text(), context, Field(question_record, record.file, record.row), False


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
            yield "", context, Field(question_record, record.file, record.row, question.name), False


def _first(spans: Field) -> int | None:
    """Return where the first of MRQA's spans begins; None where there is none."""
    span = next(spans.items(), None)
    if span is None:
        return None
    if not (places := list(span.items())):
        span.refuse("no place", expected="[first, last]")
    return places[0].integer()
