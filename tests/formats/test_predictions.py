"""Files of predictions: what is read and counted; `test_answer_files.py` has what is refused."""

import json

from trivium.formats.predictions import read_predictions, write_predictions


def write(path, *lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), "utf-8")
    return path


def line(identifier, prediction):
    return {"id": identifier, "prediction": prediction}


def test_round_trip_keeps_text_and_takes_the_order_of_the_questions(tmp_path):
    answers = {"q2": "l’été\u00a0 «où»\n", "q1": ' "x" '}
    write_predictions(tmp_path / "m.jsonl", answers)
    read = read_predictions(tmp_path / "m.jsonl", ["q1", "q2"])
    assert list(read.answers.items()) == [("q1", ' "x" '), ("q2", "l’été\u00a0 «où»\n")]
    assert (read.missing, read.unknown, read.empty) == (0, 0, 0)


def test_missing_unknown_and_empty_are_counted(tmp_path, capsys):
    path = write(
        tmp_path / "m.jsonl", line("q1", " \u00a0"), line("x", ""), line("q3", "ça"), {**line("y", "b"), "s": 1}
    )
    read = read_predictions(path, ["q1", "q2", "q3"])
    assert read.answers == {"q1": " \u00a0", "q2": "", "q3": "ça"}
    assert (read.missing, read.unknown, read.empty) == (1, 2, 1)
    assert "m.jsonl: 2 answers to unknown questions left out: 'x', 'y'\n" in capsys.readouterr().out
