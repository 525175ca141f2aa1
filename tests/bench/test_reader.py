"""The benches of the reader on a few pairs: both peers read and learn as we do, whatever the times."""

import numpy as np
import pytest

from bench import harness, reader, reader_training


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    for name, value in (("LAYERS", 1), ("HIDDEN", 24), ("PASSAGES", 10), ("BATCH", 4)):
        monkeypatch.setattr(reader, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_both_peers_read_what_we_read(figures):
    reader.main()
    found = figures("reader")
    assert found["answers_that_differ"] == 0
    race = found["races"]["10 pairs"]
    assert (race["popular"], race["expert"]) == ("transformers, pair by pair", "torch, batches by length")
    assert found["reading_pairs_per_second"] == 10 / race["seconds"]


def test_other_scores_end_the_bench(monkeypatch):
    kept = reader.read_in_batches

    def other(*given):
        answers, numbers = kept(*given)
        return answers, numbers + 0.2

    monkeypatch.setattr(reader, "read_in_batches", other)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        reader.main()


def test_both_peers_learn_what_we_learn(figures):
    reader_training.main()
    found = figures("reader_training")
    assert found["largest_gradient_difference"] < 0.1
    race = found["races"]["a step of 24 pairs"]
    assert race["popular"] == "transformers, question by question"
    assert race["expert"] == "torch, all passages at once"
    assert found["training_pairs_per_second"] == 24 / race["seconds"]


def test_other_targets_end_the_bench(monkeypatch):
    kept = reader_training.targets_of
    monkeypatch.setattr(reader_training, "targets_of", lambda *given: kept(*given).roll(1, dims=2))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        reader_training.main()


def test_an_answer_that_is_cut_off_counts_as_not_there():
    _, tokenizer, texts, questions = reader.world(2)
    passages = [reader.SEPARATOR.join(texts[row]) for row in range(2)]
    tokens = reader.encoded(tokenizer, list(zip(questions, passages, strict=True)))
    words = [texts[row][1].split() for row in range(2)]
    starts, ends = reader_training.targets_of(tokens, passages, [words[0][3], words[1][-1]])
    # [CLS], the question's 12 words, [SEP], the title's 2, [SEP], and the text's first three.
    assert np.flatnonzero(starts[0]).tolist() == np.flatnonzero(ends[0]).tolist() == [20]
    assert np.flatnonzero(starts[1]).tolist() == [0]
