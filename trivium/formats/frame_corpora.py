"""Frame-annotated texts and the questions about them, as JSON lines (docs/complexity-formats.md), checked as read.

The stored text is never changed. `answer.text` may differ from its span in what `fold` removes: the span counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.folding import fold
from trivium.core.tables import write_json_lines
from trivium.formats.framed_texts import (
    CORE_TYPES,
    PARTS_OF_SPEECH,
    AnnotatedText,
    Example,
    FrameElement,
    FrameInstance,
    LexicalUnit,
    Span,
)
from trivium.formats.json_fields import Field, read_records


@dataclass(frozen=True)
class ExampleSet:
    """The content of a file of questions, in its order."""

    examples: list[Example]
    unified: int  # those whose `answer.text` equals its span only up to what `fold` removes
    beside_element: int  # those without chain whose answer overlaps its element, but is not exactly its span


def read_texts(path: Path) -> list[AnnotatedText]:
    """Read annotated texts; elements are sorted by their place in the text.

    Raises:
        BadInput: see `read_records`; a span is empty or not in the text, a frame has no trigger, parts of a trigger
            overlap or are not in order, an element stands twice in a frame, a part of speech or core type is unknown,
            or a chain has fewer than two mentions or one of them twice.
    """
    return [_text(field) for field in read_records(path, "id", "text")]


def read_examples(questions: Path, texts: Path) -> list[Example]:
    """Read questions about the texts of a file; see `load_examples` for the checks."""
    return load_examples(questions, read_texts(texts)).examples


def load_examples(path: Path, texts: Sequence[AnnotatedText]) -> ExampleSet:
    """Read questions about these texts.

    Raises:
        BadInput: see `read_records`; a text is unknown, a frame is not in the text, an answer element is not in the
            frame or is also given in the question, an answer is not in the text, differs from it, or does not belong to
            its element, or a chain does not lead from the answer element to the answer along a chain of the text.
    """
    by_id = {text.id: text for text in texts}
    examples, unified, misplaced = [], 0, 0
    for field in read_records(path, "id", "question"):
        example = _example(field, by_id)
        examples.append(example)
        unified += field["answer"]["text"].value != example.answer_text
        misplaced += not example.chain and example.answer not in _spans(example.frame, example.answer_element)
    return ExampleSet(examples, unified, misplaced)


def write_texts(path: Path, texts: Sequence[AnnotatedText]) -> None:
    """Write annotated texts, one a line."""
    write_json_lines(path, map(_text_record, texts))


def write_examples(path: Path, examples: Sequence[Example]) -> None:
    """Write questions, one a line; `write_texts` writes their texts."""
    write_json_lines(path, map(_example_record, examples))


def _text(field: Field) -> AnnotatedText:
    text = field["text"].text(empty=False)
    return AnnotatedText(
        id=field["id"].text(empty=False),
        title=field["title"].text(),
        text=text,
        frames=tuple(_frame(frame, text) for frame in field["frames"].items()),
        chains=tuple(_chain(chain, text) for chain in field["chains"].items()),
    )


def _frame(field: Field, text: str) -> FrameInstance:
    unit = field.get("lexical_unit")
    if unit is None:
        field.refuse("frame without trigger", expected="lexical_unit: lemma, part_of_speech, start, end")
    lemma, part_of_speech = unit["lemma"].text(empty=False), unit["part_of_speech"].name_of(PARTS_OF_SPEECH)
    parts = [unit.span(text)]  # of the trigger
    for part in unit.get_or("more", []).items():
        if (span := part.span(text)).start < parts[-1].end:
            part.refuse(f"not after the previous part ({_place(parts[-1])})")
        parts.append(span)
    elements: dict[tuple[str, Span, int], FrameElement] = {}
    for element in field["elements"].items():
        name, span = element["name"].text(empty=False), element.span(text)
        layer = element.get_or("layer", 1).integer()
        if layer < 1:
            element["layer"].refuse("no layer", expected="1, 2, ...")
        if (name, span, layer) in elements:
            element.refuse(f"element {name!r} twice at {_place(span)} of the same frame")
        elements[name, span, layer] = FrameElement(name, span, element["core"].name_of(CORE_TYPES), layer)
    in_order = sorted(elements.values(), key=lambda element: element.span)
    trigger = LexicalUnit(lemma, part_of_speech, parts[0], tuple(parts[1:]))
    return FrameInstance(field["frame"].text(empty=False), trigger, tuple(in_order))


def _chain(field: Field, text: str) -> tuple[Span, ...]:
    mentions = [mention.span(text) for mention in field.items()]
    if len(mentions) < 2:
        field.refuse("chain of fewer than two mentions", expected="two mentions or more")
    if len(set(mentions)) < len(mentions):
        field.refuse("mention twice in one chain")
    return tuple(sorted(mentions))


def _example(field: Field, texts: Mapping[str, AnnotatedText]) -> Example:
    identifier, of_text = field["id"].text(empty=False), field["text_id"]
    if of_text.text() not in texts:
        of_text.refuse("no such text", expected=f"one of {len(texts)} ids such as {next(iter(texts), None)!r}")
    text = texts[of_text.text()]
    number = field["frame"]
    if not 0 <= number.integer() < len(text.frames):
        number.refuse("no such frame", expected=f"0 to {len(text.frames) - 1}: text {text.id!r} has {len(text.frames)}")
    frame = text.frames[number.integer()]
    names = list(dict.fromkeys(element.name for element in frame.elements))
    asked_element = field["answer_element"].name_of(names)
    context = [element.name_of(names) for element in field["context_elements"].items()]
    if asked_element in context or len(set(context)) < len(context):
        problem = "an element stands twice, or is the answer element"
        field["context_elements"].refuse(problem, expected=f"others than {asked_element!r}")
    answer = field["answer"].span(text.text)
    if fold(field["answer"]["text"].text()) != fold(answer.of(text.text)):
        field["answer"]["text"].refuse("not the text of its span", expected=repr(answer.of(text.text)))
    chain = _to_antecedent(field["chain"], text, _spans(frame, asked_element), answer)
    return Example(
        id=identifier,
        text=text,
        question=field["question"].text(empty=False),
        answer=answer,
        frame=frame,
        answer_element=asked_element,
        context_elements=tuple(context),
        chain=chain,
    )


def _to_antecedent(field: Field, text: AnnotatedText, elements: Sequence[Span], answer: Span) -> tuple[Span, ...]:
    """Read the mentions from the answer element to the answer; none where the element itself is the answer."""
    mentions = tuple(mention.span(text.text) for mention in field.items())
    places = ", ".join(map(_place, elements))
    if not mentions:
        if not any(span.overlaps(answer) for span in elements):
            field.refuse("the answer is not in its element, and no chain leads to it", expected=places)
        return ()
    if not any(span.contains(mentions[0]) for span in elements):
        field.refuse("chain does not begin in the answer element", expected=places)
    if not answer.contains(mentions[-1]):
        field.refuse("chain does not end in the answer", expected=f"last mention in {_place(answer)}")
    if len(mentions) < 2 or not any(set(mentions) <= set(chain) for chain in text.chains):
        field.refuse("not two or more mentions of one chain of the text", got=list(map(_place, mentions)))
    return mentions


def _spans(frame: FrameInstance, name: str) -> list[Span]:
    return [element.span for element in frame.elements if element.name == name]


def _place(span: Span) -> str:
    return f"{span.start}:{span.end}"


def _text_record(text: AnnotatedText) -> dict[str, Any]:
    frames = []
    for frame in text.frames:
        unit = frame.lexical_unit
        elements = [
            {"name": element.name, **vars(element.span), "core": element.core}
            | ({"layer": element.layer} if element.layer > 1 else {})
            for element in frame.elements
        ]
        trigger = {"lemma": unit.lemma, "part_of_speech": unit.part_of_speech, **vars(unit.span)}
        trigger |= {"more": list(map(vars, unit.more))} if unit.more else {}
        frames.append({"frame": frame.frame, "lexical_unit": trigger, "elements": elements})
    chains = [list(map(vars, chain)) for chain in text.chains]
    return {"id": text.id, "title": text.title, "text": text.text, "frames": frames, "chains": chains}


def _example_record(example: Example) -> dict[str, Any]:
    return {
        "id": example.id,
        "text_id": example.text.id,
        "question": example.question,
        "answer": {**vars(example.answer), "text": example.answer_text},
        "frame": example.text.frames.index(example.frame),
        "answer_element": example.answer_element,
        "context_elements": list(example.context_elements),
        "chain": list(map(vars, example.chain)),
    }
