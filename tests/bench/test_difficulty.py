from bench import difficulty
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
    assert figures["processor_seconds"] > 0
    assert figures["seconds"] > 0
    assert 50 < figures["peak_mib"] < 2000
    assert (tmp_path / "out" / "index.html").exists()
