"""The bench of answers on a few questions: peers answer what readers do, a cache what the endpoint said."""

import pytest
import torch

from bench import answers, harness
from trivium.complexity.readers.interface import Reading


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("QUESTIONS", 24), ("ALONE", 4), ("SERVED", 4), ("BATCH", 8)):
        monkeypatch.setattr(answers, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_the_peers_answer_as_our_readers_do(figures, monkeypatch, clock):
    clock(5, 6, 4)  # a local server, asking itself, and the cache
    monkeypatch.setattr(answers, "MODELS", ("camembert", "mt5", "llama"))
    answers.main()
    found = figures("answers")
    assert found["questions"] == 24
    experts = {name: race["expert"] for name, race in found["races"].items()}
    assert experts == {
        "camembert, 24 questions": "torch, batches of windows",
        "mt5, 24 questions": "torch, a loop",
        "llama, 24 questions": "torch, LoRA merged, a loop",
    }
    for name in answers.MODELS:
        race = found["races"][f"{name}, 24 questions"]
        assert race["popular"] == "transformers, one by one"
        assert found[f"{name}_answers_a_second"] == 24 / race["seconds"]
    assert found["prompted_answers_that_differ"] == 0
    assert found["prompted_served_questions"] == 4
    assert found["prompted_answers_a_second"] == 4 / 5
    assert found["prompted_asking_answers_a_second"] == 24 / 6
    assert found["prompted_cached_answers_a_second"] == 24 / 4


def test_windows_of_a_long_context_are_all_read(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "MODELS", ("camembert",))
    readers, readings = answers.world(tmp_path)
    reader, twice = readers["camembert"], zip(readings[:6], readings[6:12], strict=True)
    longer = [Reading(one.id, one.question, f"{one.context} {other.context}") for one, other in twice]
    windows, _ = reader._windows([each.question for each in longer], [each.context for each in longer])
    assert len(windows) > len(longer)
    assert answers.extract(reader, 4, longer) == [each.text for each in reader.answer(longer, 4)]


def test_an_answer_that_ends_early_is_not_written_on(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "MODELS", ("mt5",))
    readers, readings = answers.world(tmp_path)
    reader = readers["mt5"]
    with torch.no_grad():  # the end of text is the likeliest token of some prompts after a while
        reader.module.lm_head.weight[reader.tokenizer.eos_token_id] *= 3
    expected = reader.answer(readings, 8)
    assert {each.ended for each in expected} == {True, False}
    assert answers.by_loop(reader, reader.module, 8, readings) == [each.text for each in expected]


def test_another_answer_ends_the_bench(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "MODELS", ("camembert",))
    readers, readings = answers.world(tmp_path)
    monkeypatch.setattr(answers, "extract", lambda reader, batch, asked: ["nothing like it"] * len(asked))
    with pytest.raises(AssertionError, match="4 answers of CamemBERT are others by transformers"):
        answers.race(readers["camembert"], readings)
