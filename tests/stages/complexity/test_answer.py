"""Stage complexity-answer: an answer a question, in order, and what is counted."""

from dataclasses import replace

import pytest
import torch

from stages.complexity import answer
from stages.complexity.answer import AnswerParameters
from tests.complexity.tiny_readers import questions, settings, write_camembert
from trivium.complexity.readers.interface import Answer, Reading, load_reader
from trivium.complexity.readers.kinds.extractive import ExtractiveReader
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import read_json_lines
from trivium.core.tracking import Tracker
from trivium.formats.frame_corpora import read_examples, write_examples, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span


def example(row, asked):
    """The question as one about a frame of its text."""
    ((text, start),) = asked.answers
    verb = asked.context.index("détruit")
    trigger = LexicalUnit("détruire", "verb", Span(verb, verb + len("détruit")))
    element = FrameElement("Cause", Span(start, start + len(text)), "core")
    frame = FrameInstance("Destroying", trigger, (element,))
    own = AnnotatedText(f"t{row}", asked.title, asked.context, (frame,), ())
    return Example(f"e{row}", own, asked.question, element.span, frame, "Cause", (), ())


def write_world(folder):
    """A reader and nine questions; returns the folder."""
    torch.manual_seed(0)
    ExtractiveReader.start(write_camembert(folder / "base"), settings()).save(folder / "model")
    examples = [example(row, asked) for row, asked in enumerate(questions(9))]
    write_texts(folder / "texts.jsonl", [each.text for each in examples])
    write_examples(folder / "questions.jsonl", examples)
    return folder


@pytest.fixture
def world(tmp_path):
    (tmp_path / "work").mkdir()
    return write_world(tmp_path)


def ask(world, context=None, out=None):
    """The stage's metrics; here it writes into the folder that it reads."""
    return answer.main(
        AnswerParameters(batch_size=4),
        context or Context(tracker=Tracker(), work=world / "work", engine=LocalEngine(1)),
        name="tiny",
        seed=0,
        model=world / "model",
        questions=world / "questions.jsonl",
        texts=world / "texts.jsonl",
        out=(out or world) / "answers.jsonl",
    )


def test_every_question_is_answered_in_order(world):
    metrics = ask(world)
    lines = [line for _, line in read_json_lines(world / "answers.jsonl")]
    examples = read_examples(world / "questions.jsonl", world / "texts.jsonl")
    assert [line["id"] for line in lines] == [each.id for each in examples]
    readings = [Reading(each.id, each.question, each.text.text) for each in examples]
    answers = load_reader(world / "model").answer(readings, 1)
    assert [line["prediction"] for line in lines] == [each.text for each in answers]
    assert metrics["questions"] == 9
    assert metrics["verbatim"] == 1
    assert metrics["empty"] == 0
    assert metrics["contexts_cut"] == metrics["answers_behind_cut"] == metrics["not_ended"] == 0


def test_silence_is_counted(world, monkeypatch):
    said = [Answer(text, 999) for text in ("", " ", *["hors texte"] * 7)]
    monkeypatch.setattr(ExtractiveReader, "answer", lambda self, readings, size: said)
    metrics = ask(world)
    assert (metrics["empty"], metrics["verbatim"]) == (2, pytest.approx(1 / 9))


def test_what_was_not_read_and_what_did_not_end_is_counted(world, monkeypatch):
    examples = read_examples(world / "questions.jsonl", world / "texts.jsonl")
    said = [Answer("x", len(each.text.text)) for each in examples]
    said[0] = Answer("x", examples[0].answer.end)  # the last word of the reference is the last that was read
    said[1] = Answer("x", examples[1].answer.end - 1)
    said[2] = Answer("x", examples[2].answer.start, ended=False)
    said[3] = replace(said[3], ended=False)
    monkeypatch.setattr(ExtractiveReader, "answer", lambda self, readings, size: said)
    metrics = ask(world)
    assert [metrics[name] for name in ("contexts_cut", "answers_behind_cut", "not_ended")] == [3, 2, 2]
