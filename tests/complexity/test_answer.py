"""Stage complexity-answer: an answer a question, in order, and what is counted."""

import pytest
import torch

from stages.complexity import answer
from stages.complexity.answer import AnswerParameters
from stages.complexity.corpora import read_examples, write_examples, write_texts
from stages.complexity.extractive import ExtractiveReader
from stages.complexity.reader import Reading, load_reader
from stages.complexity.records import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span
from stages.stage import BadInput
from stages.tables import read_json_lines
from tests.complexity.tiny_readers import questions, settings, write_camembert


def example(row, asked):
    """The question as one about a frame of its text."""
    ((text, start),) = asked.answers
    verb = asked.context.index("détruit")
    trigger = LexicalUnit("détruire", "verb", Span(verb, verb + len("détruit")))
    element = FrameElement("Cause", Span(start, start + len(text)), "core")
    frame = FrameInstance("Destroying", trigger, (element,))
    own = AnnotatedText(f"t{row}", asked.title, asked.context, (frame,), ())
    return Example(f"e{row}", own, asked.question, element.span, frame, "Cause", (), ())


@pytest.fixture
def world(tmp_path):
    torch.manual_seed(0)
    ExtractiveReader.start(write_camembert(tmp_path / "base"), settings()).save(tmp_path / "model")
    examples = [example(row, asked) for row, asked in enumerate(questions(9))]
    write_texts(tmp_path / "texts.jsonl", [each.text for each in examples])
    write_examples(tmp_path / "questions.jsonl", examples)
    return tmp_path


def ask(world, batch_size=4):
    return answer.main(
        AnswerParameters(batch_size=batch_size),
        None,
        model=world / "model",
        questions=world / "questions.jsonl",
        texts=world / "texts.jsonl",
        out=world / "answers.jsonl",
    )


def test_every_question_is_answered_in_order(world):
    metrics = ask(world)
    lines = [line for _, line in read_json_lines(world / "answers.jsonl")]
    examples = read_examples(world / "questions.jsonl", world / "texts.jsonl")
    assert [line["id"] for line in lines] == [each.id for each in examples]
    readings = [Reading(each.id, each.question, each.text.text) for each in examples]
    assert [line["prediction"] for line in lines] == load_reader(world / "model").answer(readings, 1)
    assert metrics["questions"] == 9
    assert metrics["verbatim"] == 1
    assert metrics["empty"] == 0
    assert metrics["answers_per_second"] > 0


def test_silence_is_counted(world, monkeypatch):
    monkeypatch.setattr(ExtractiveReader, "answer", lambda self, readings, size: ["", " ", *["hors texte"] * 7])
    metrics = ask(world)
    assert (metrics["empty"], metrics["verbatim"]) == (2, pytest.approx(1 / 9))


def test_a_folder_without_reader(world):
    (world / "model" / "reader.json").unlink()
    with pytest.raises(BadInput, match=r"reader\.json: no settings of a reader"):
        ask(world)
    assert not (world / "answers.jsonl").exists()
