"""The bench of `trivium difficulty` on a small set: files, a process's figures, and peers that score as we do."""

import pytest

from bench import difficulty, harness
from trivium.formats.answer_files import model_names, read_answers
from trivium.formats.question_sets import read_question_set


def test_what_is_made_is_a_set_with_answers(tmp_path):
    file, answers = difficulty.make(tmp_path, 103, 2)
    read = read_question_set(file)
    assert (len(read.questions), sum(read.counts.values())) == (103, 0)
    assert [read_answers(path, read.ids).form for path in model_names(answers).values()] == [
        "SQuAD’s {id: answer}",
        "Hugging Face’s prediction_text",
    ]
    assert all(len(read_answers(path, read.ids).answers) == 103 for path in answers)


def test_figures_are_those_of_the_process(tmp_path):
    file, answers = difficulty.make(tmp_path, 200, 2)
    figures = difficulty.run(file, answers, tmp_path / "out")
    assert figures["processor_seconds"] <= figures["seconds"]  # one core
    assert 50 < figures["peak_mib"] < 2000
    assert (tmp_path / "out" / "index.html").exists()


def test_both_peers_score_as_we_do(figures, monkeypatch):
    monkeypatch.setattr(difficulty, "SIZES", {"small": (200, 2)})
    monkeypatch.setattr(harness, "TRIALS", 1)
    difficulty.main()
    found = figures("difficulty")
    race = found["races"]["400 answers"]
    assert (race["popular"], race["expert"]) == ("rouge_score and SQuAD's script", "rapidfuzz, texts cut once")
    assert found["small_answers_a_second"] == 400 / found["small_processor_seconds"]


def test_an_answer_of_articles_alone_keeps_its_words():
    assert difficulty.squad_words("The cat, an owl.") == ["cat", "owl"]
    assert difficulty.squad_words("A.") == ["a"]


def test_other_scores_end_the_bench(tmp_path, monkeypatch):
    file, answers = difficulty.make(tmp_path, 50, 1)
    monkeypatch.setattr(difficulty, "squad_words", str.split)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        difficulty.raced(file, answers)
