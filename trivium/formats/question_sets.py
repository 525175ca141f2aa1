"""Question sets about texts, in any form of `question_forms.py`.

`title` and `answer_start` may be lacking. Where an answer has no place, or does not stand at its place, the nearest
occurrence in the context counts. A set of which more than a tenth of the answers stand nowhere is refused, and so is an
answer that is the text of a dictionary.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.folding import find_folded
from trivium.formats.framed_texts import Span, end_of
from trivium.formats.json_fields import Field
from trivium.formats.question_forms import WRITTEN_OUT, question_records

REASONS = ("no_answer", "empty_question", "empty_answer")
MOST_NOWHERE = 0.1  # of the answers
_NO_ANSWER = "CANNOTANSWER"  # how QuAC marks it, which has SQuAD's tree


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
    """The content of a file of questions.

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
        """The number of questions left out."""
        return sum(map(len, self.left_out.values()))

    @property
    def ids(self) -> list[str]:
        """The ids of all questions, including those left out: a model may have answered them."""
        own = [question.id for question in (*self.questions, *self.unanswerable)]
        return own + [identifier for ids in self.left_out.values() for identifier in ids]


def read_question_set(path: Path) -> QuestionSet:
    """Read a set, whichever form it has.

    Raises:
        BadInput: none of the forms (names row and field), an id that stands twice, an answer that is the text of a
            dictionary, no question with an answer, or more than `MOST_NOWHERE` of the answers stand nowhere.
    """
    form, records = question_records(path)
    questions: list[AskedQuestion] = []
    unanswerable: list[AskedQuestion] = []
    left_out: dict[str, list[str]] = {reason: [] for reason in REASONS}
    counts = Counter(searched=0, moved=0, nowhere=0)
    first: dict[str, Field] = {}
    texts: dict[str, str] = {}  # one copy of each context and title: flat records repeat them
    for title, context, question_field, flat in records:
        given_id = question_field.get("qid") or question_field["id"]
        identifier = given_id.identifier()
        if identifier in first:
            given_id.refuse(f"id twice, the first in {_place_in_file(first[identifier])}")
        first[identifier] = question_field
        context, title = texts.setdefault(context, context), texts.setdefault(title, title)
        answers, has_answers = _answers(question_field)
        texted = [(text, start) for text, start in answers if text.strip()]
        question, shown = question_field["question"].text(), tuple(text for text, _ in texted)
        place, how = _place(context, *texted[0]) if texted else (None, "")
        if place is not None:
            shown = (place.of(context), *shown[1:])
        if _impossible(question_field, flat and not has_answers) or shown[:1] == (_NO_ANSWER,):
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
        problem = f"{counts['nowhere']} of {len(questions)} answers stand nowhere in their contexts; the first"
        row, expected = _place_in_file(first[first_one.id]), "answers that are parts of their contexts"
        raise BadInput(problem, file=path, row=row, field="answers", got=first_one.answers[0], expected=expected)
    del counts["in place"]
    reasons = {reason: tuple(ids) for reason, ids in left_out.items()}
    return QuestionSet(form, tuple(questions), tuple(unanswerable), reasons, dict(counts))


def _place_in_file(field: Field) -> str | None:
    return field.name or (None if field.row is None else f"row {field.row}")


def _impossible(field: Field, without: bool) -> bool:
    """Whether a question is marked as having no answer, or, in a flat record, has none (`without`)."""
    marked = field.get("is_impossible")
    if marked is None:
        return without
    if not isinstance(marked.value, bool):
        marked.refuse("not true or false")
    return bool(marked.value)


def _answers(field: Field) -> tuple[list[tuple[str, int | None]], bool]:
    """Return the answers as (text, first character or None), and whether there was any."""
    answers = field.get("answers")
    if answers is None:
        answers = field.get("answer")
    if answers is None:
        return [], False
    if isinstance(answers.value, str):
        return [(_plain(answers), None)], True
    if isinstance(answers.value, dict):
        texts, starts = list(answers["text"].items()), answers.get("answer_start") or answers.get("answers_start")
        places = [None] * len(texts) if starts is None else [_start(start) for start in starts.items()]
        if len(places) != len(texts):
            answers.refuse("not as many places as texts", expected=f"{len(texts)} numbers in answer_start")
        pairs = [(_plain(text), place) for text, place in zip(texts, places, strict=True)]
    else:
        pairs = [_answer(answer) for answer in answers.items()]
    return pairs, bool(pairs)


def _plain(field: Field) -> str:
    """Return a text; refuse a dictionary or list written out as text, as tables of CSV hold it."""
    text = field.text()
    if WRITTEN_OUT.match(text):
        kind = "dictionary" if text.lstrip().startswith("{") else "list"
        field.refuse(f"the text of a {kind}", expected="a dictionary, a list, or a text")
    return text


def _answer(field: Field) -> tuple[str, int | None]:
    if isinstance(field.value, str):
        return _plain(field), None
    start = field.get("answer_start")
    return _plain(field["text"]), None if start is None else _start(start)


def _start(field: Field) -> int | None:
    """Return the first character; None for -1 or null, as some sets write."""
    if field.value is None:
        return None
    start = field.integer()
    return None if start == -1 else start


def _place(context: str, answer: str, start: int | None) -> tuple[Span | None, str]:
    """Return the span of an answer in its context, and how it was found."""
    end = None if start is None else end_of(context, start, answer)
    if start is not None and end is not None:
        return Span(start, end), "in place"
    stripped = answer.strip()
    places = find_folded(context, stripped) or find_folded(context, stripped, any_case=True)
    if not places:
        return None, "nowhere"
    nearest = min(places, key=lambda place: abs(place[0] - (start or 0)))
    return Span(*nearest), "searched" if start is None else "moved"
