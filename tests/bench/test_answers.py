"""The bench of answers on a few questions: readers say the same in batches and alone, a cache what the endpoint said."""

import json

from bench import answers, harness


def test_answers_do_not_depend_on_the_batch(tmp_path, monkeypatch, clock):
    # Of each reader all questions together, and some alone; then a local server, asking itself, and the cache.
    clock(*(3, 2) * 3, 5, 6, 4)
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    monkeypatch.setattr(answers, "MODELS", ("camembert", "mt5", "llama"))
    for name, value in (("QUESTIONS", 24), ("ALONE", 4), ("SERVED", 4), ("BATCH", 8)):
        monkeypatch.setattr(answers, name, value)
    answers.main()
    found = json.loads((tmp_path / "answers.json").read_text())
    assert found["questions"] == 24
    assert found["prompted_answers_that_differ"] == 0
    for name in answers.MODELS:
        assert found[f"{name}_answers_that_differ"] == 0
        assert found[f"{name}_answers_a_second"] == 24 / 3
        assert found[f"{name}_times_faster_than_one_at_a_time"] == (24 / 3) / (4 / 2)
    assert found["prompted_served_questions"] == 4
    assert found["prompted_answers_a_second"] == 4 / 5
    assert found["prompted_asking_answers_a_second"] == 24 / 6
    assert found["prompted_cached_answers_a_second"] == 24 / 4
