"""PIAF, real French questions: the whole set is read, its two wrong offsets found; a reader reads articles it has not seen."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.real import piaf
from trivium.core.arithmetic import PORTABLE
from trivium.core.tables import read_json
from trivium.formats.squad import read_squad, write_squad


@pytest.mark.real
def test_whole_set_is_read_but_for_two_wrong_offsets(real: Callable[[str], Path], tmp_path: Path):
    path = real("piaf") / "piaf-v1.0.json"
    read = read_squad(path)
    assert len(read.questions) == 3833
    assert read.dropped == {"impossible": 0, "no_answer": 0, "empty_question": 0, "wrong_offset": 2}
    assert read.wrong_answers == ("p140295202893328", "p140295202390160")
    assert read.unified == 0

    # The same by hand, on the JSON itself: every question, and none more, is wrong there.
    wrong = []
    for article in read_json(path)["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                for answer in asked["answers"]:
                    stretch = paragraph["context"][answer["answer_start"] :][: len(answer["text"])]
                    if stretch != answer["text"]:
                        wrong.append(asked["id"])
    assert tuple(wrong) == read.wrong_answers

    write_squad(tmp_path / "again.json", read.questions)
    again = read_squad(tmp_path / "again.json")
    assert again.questions == read.questions
    assert sum(again.dropped.values()) == 0


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_piaf(real, tmp_path, monkeypatch):
    monkeypatch.setenv(PORTABLE, "false")  # bf16, where the processor has it
    found = piaf.measure(real("piaf"), tmp_path)
    print(f"\nPIAF: {found}")
    assert found["wrong_offset_answers"] == 2
    assert found["reader_em"] > max(found["overlap_sentence_em"], found["random_span_em"])
    assert found["reader_rouge_l"] > 1.5 * found["random_span_rouge_l"]
    assert found["reader_f1"] > 1.5 * found["random_span_f1"]
    assert 0.4 < found["mangled_references"] < 0.5
