"""`trivium ask --set`: public sets, answered by a base and scored as each of them does."""

from pathlib import Path

import pytest

from tests.formats.test_visual_questions import ENCYCLOPEDIC, SEEK, TALL, write_lines
from trivium.commands.ask_batch import _summarize, answer_set, questions_of
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv, read_json
from trivium.formats.visual_questions import VisualQuestion
from trivium.kvqae.asking.answer import Answer


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures/deep"
    folder.mkdir(parents=True)
    for name in ("oven_1.jpg", "a1.png", "7.jpg"):
        (folder / name).write_bytes(name.encode())
    return folder.parent


def saying(answers: dict[str, str]):
    """Answers by the question's text; unknown ones fail."""

    def answered(question: str, image: bytes | None, entries: dict[str, float] | None, file: Path | None) -> Answer:
        if question not in answers:
            raise BadInput("nobody knows")
        return Answer(answers[question], 0.5, [], None, [], 0.1, entries=[])

    return answered


def run(name: str, path: Path, pictures: Path, answers: dict[str, str], judge=None) -> tuple[dict[str, float], list]:
    questions, rows = questions_of(name, path, pictures)
    out = path.parent / "answers.csv"
    scores = answer_set(saying(answers), name, questions, rows, judge, out)
    header, *lines = [columns for _, columns in read_csv(out)]
    return scores, [dict(zip(header, line, strict=True)) for line in lines]


def test_infoseek_is_the_harmonic_mean_of_its_splits(tmp_path: Path, pictures: Path) -> None:
    records = [
        SEEK | {"question": "Where?"},
        TALL | {"question": "How tall?"},
        TALL | {"data_id": "e1", "question": "How wide?", "data_split": "val_unseen_entity"},
        SEEK | {"data_id": "e2", "question": "Unknown?", "data_split": "val_unseen_entity"},
        SEEK | {"data_id": "e3", "question": "Where?", "data_split": "val_unseen_entity", "image_id": "oven_2"},
    ]
    path = write_lines(tmp_path / "infoseek_val.jsonl", records)
    answers = {"Where?": "\u200fthe city of U\u00adr", "How tall?": "20 m", "How wide?": "10 m"}
    scores, lines = run("infoseek", path, pictures, answers)
    assert [line["right"] for line in lines] == ["1.0", "0.0", "1.0", "0.0", "0.0"]
    assert "nobody knows" in lines[3]["problem"]
    assert "oven_2" in lines[4]["problem"]
    assert (scores["accuracy_unseen_question"], scores["accuracy_unseen_entity"]) == (1 / 2, 1 / 3)
    assert scores["score"] == pytest.approx(2 / (2 + 3))
    assert (scores["accuracy"], scores["accuracy_numerical"], scores["problems"]) == (2 / 5, 1 / 2, 2)
    assert read_json(tmp_path / "answers.json")["measure"] == "InfoSeek accuracy"


@pytest.mark.parametrize(("question", "entity", "score"), [(12.74, 12.28, 12.51), (8.89, 7.38, 8.06)])
def test_infoseek_has_the_scores_that_its_authors_print(question: float, entity: float, score: float) -> None:
    """BLIP2's on the validation set, in the README of infoseek_eval."""
    asked = [VisualQuestion("1", "?", "1", "string", f"val_unseen_{name}", ("a",)) for name in ("question", "entity")]
    right = [float(place < 100 * share) for share in (question, entity) for place in range(10_000)]
    scores = _summarize([each for each in asked for _ in range(10_000)], right)
    assert round(100 * scores["score"], 2) == score


def test_encyclopedic_vqa_says_whether_bem_judged(tmp_path: Path, pictures: Path) -> None:
    path = tmp_path / "val.csv"
    path.write_text(ENCYCLOPEDIC + "What?,oak tree,l,a1,templated,\nWho?,owl&&fox,inat,7,multi_answer,\n")
    answers = {"What?": "an oak", "Who?": "fox and owl"}
    scores, _ = run("encyclopedic_vqa", path, pictures, answers)
    assert (scores["accuracy_templated"], scores["accuracy_multi_answer"]) == (0, 1)
    assert "no BEM" in read_json(tmp_path / "answers.json")["measure"]
    asked = []

    def judge(triples):
        asked.extend(triples)
        return [0.5 for _ in triples]

    scores, _ = run("encyclopedic_vqa", path, pictures, answers, judge)
    assert asked == [("What?", "oak tree", "an oak")]  # what matches exactly is not judged
    assert scores["accuracy"] == 1
    assert read_json(tmp_path / "answers.json")["measure"] == "exact match or BEM"


def test_search_results_stand_in_for_pictures(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "infoseek_val.jsonl", [SEEK])
    questions, rows = questions_of("infoseek", path, None)
    seen = []

    def answered(question: str, image: bytes | None, entries: dict[str, float], file: Path | None) -> Answer:
        seen.append((image, entries))
        return Answer("Ur", 0.5, [], None, [], 0.1)

    name = questions[0].picture
    scores = answer_set(answered, "infoseek", questions, rows, None, tmp_path / "answers.csv", {name: {"Ur": 1.0}})
    assert seen == [(None, {"Ur": 1.0})]
    assert scores["problems"] == 0


def test_what_cannot_be_asked_is_said_before(tmp_path: Path, pictures: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [SEEK | {"image_id": "oven_9"}])
    with pytest.raises(BadInput, match="no question's picture is there; expected such as oven_9.jpg"):
        questions_of("infoseek", path, pictures)
    path = write_lines(tmp_path / "a.jsonl", [SEEK])
    with pytest.raises(BadInput, match="no question could be answered, the first: nobody knows"):
        run("infoseek", path, pictures, {})
    assert not (tmp_path / "answers.csv").exists()
