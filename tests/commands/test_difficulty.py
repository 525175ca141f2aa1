"""The command: the example in the docs as pasted, its page, and what it says when it cannot go on."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sample.french.french_world import build_french
from tests.complexity.difficulty.asked import english_set
from trivium.commands import cli
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.effects import DIFFICULTY_COLUMNS
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.systems import best_overlap_sentence
from trivium.formats.answer_files import write_predictions
from trivium.formats.squad import as_squad, write_squad
from trivium.page.difficulty import FILES, write_difficulty

DOCS = Path(__file__).parents[2] / "docs" / "difficulty.md"
VOID = {"meta", "link", "br"}


def pasted() -> list[str]:
    """The first command of the docs that calls this one, as a shell would take it apart; `*` is left."""
    text = DOCS.read_text("utf-8").replace("\\\n", " ")
    line = re.findall(r"^\$ python (-m trivium difficulty --questions data/.*)$", text, re.MULTILINE)[0]
    return shlex.split(line)


class Outline(HTMLParser):
    """Fails at a tag that is not closed; collects links, text, and ids outside figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.links, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values and "svg" not in self.open else []
        self.links += [values["href"]] if "href" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """The files of the docs' example, as the stages write them, of a small sample world."""
    folder = tmp_path_factory.mktemp("project")
    examples = build_french(0, train=5, validation=5, evaluation=120, frame_texts=5).examples
    questions = [as_squad(each) for each in examples]
    write_squad(folder / "data/complexity/evaluation.json", questions)
    answers = {
        "right": {each.id: each.answers[0][0] for each in questions},
        "sentence": {each.id: best_overlap_sentence(each.question, each.context) for each in questions},
        "short": {each.id: each.answers[0][0].split()[0] for each in questions},
    }
    for name, given in answers.items():
        write_predictions(folder / f"data/complexity/predictions/{name}/seed-0.jsonl", given)
    return folder


def test_the_example_of_the_docs_runs_as_pasted(project):
    arguments = [
        each for part in pasted() for each in (map(str, sorted(project.glob(part))) if "*" in part else [part])
    ]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=project, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(DOCS.parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Language: French, detected" in done.stdout
    assert "Page: tour/difficulty/index.html" in done.stdout
    folder = project / "tour/difficulty"
    assert {path.name for path in folder.iterdir()} == set(FILES)

    found = json.loads((folder / "difficulty.json").read_text("utf-8"))
    assert list(found["models"]) == ["right", "sentence", "short"]
    assert found["models"]["right"]["em"] == 1
    with (folder / "effects.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == DIFFICULTY_COLUMNS
    assert len(rows) == len(found["effects"]) == 3 * len(found["factors"])
    with (folder / "questions.csv").open(encoding="utf-8") as stream:
        questions = list(csv.DictReader(stream))
    assert len(questions) == found["metrics"]["questions"]
    assert {float(each["right"]) for each in questions} == {1.0}
    responses = [json.loads(line) for line in (folder / "responses.jsonlines").read_text("utf-8").splitlines()]
    assert [each["subject_id"] for each in responses] == ["right", "sentence", "short"]
    assert set(responses[0]["responses"].values()) == {1}
    assert len(responses[1]["responses"]) == len(questions)

    page = Outline((folder / "index.html").read_text("utf-8"))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert {link for link in page.links if not link.startswith(("#", "data:"))} == set(FILES) - {"index.html"}
    for part in ("found", "models", "factors", "effects", "smallest", "agreement", "irt", "hardest", "easiest"):
        assert part in page.ids
    assert "Fewer than 5 models answered" in page.text


def test_two_models_own_factors_and_parts(project, tmp_path, capsys, monkeypatch):
    """As the docs' second example has it, with a function of this folder, and trainings."""
    monkeypatch.chdir(tmp_path)
    Path("mine_here.py").write_text("def long(asked):\n    return len(asked.question)\n", "utf-8")
    answers = [f"{name}={project}/data/complexity/predictions/{name}/seed-0.jsonl" for name in ("right", "short")]
    second = [f"both={project}/data/complexity/predictions/{name}/seed-0.jsonl" for name in ("right", "short")]
    cli.run("difficulty", ["--questions", str(project / "data/complexity/evaluation.json"), "--out", "out", "--answers",
          *answers, *second, "--factors", "mine_here:long", "answer_type", "--compare", "short", "right", "--partitions",
          "--resamples", "20"])  # fmt: skip
    said = capsys.readouterr().out
    assert "both: 2 trainings, of which every score is the mean." in said
    assert "right is better than short (short less right: -" in said
    assert re.search(r"^holding-0: \d+ questions, mean ", said, re.MULTILINE)
    files = {path.name for path in Path("out").iterdir()}
    assert files == {*FILES, "comparison.csv", "partitions.csv", "partitions"}
    factors = json.loads(Path("out/difficulty.json").read_text("utf-8"))["factors"]
    assert factors["long"]["cut"] > 0
    assert "name_answer" in factors
    assert "Not of this run" not in said
    cli.run("difficulty", ["--questions", str(project / "data/complexity/evaluation.json"), "--out", "out", "--answers",
          *answers, "--resamples", "20"])  # fmt: skip
    assert "Not of this run, as it was not asked for them: comparison.csv, partitions.csv, partitions\n" in (
        capsys.readouterr().out
    )


def test_models_may_be_called_as_columns_are_and_no_p_is_0(tmp_path):
    """And what a line of questions.csv and of py-irt's file holds."""
    found = english_set()
    right = {each.id: each.answers[0] for each in found.questions}
    short = {key: "" if key[0] == "l" else text for key, text in right.items()}
    models = {"question": right, "overlap": short, "id_prediction": right, "id": short | {"s1": None}}
    write_difficulty(difficulty(found, models, language="en", settings=DifficultySettings(resamples=20)), tmp_path)
    with (tmp_path / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    names, first = rows[0], dict(zip(*rows[:2], strict=True))
    assert len(names) == len(set(names))
    assert {"model_question", "model_overlap", "model_id", "id_prediction", "model_id_prediction"} <= set(names)
    assert first["question"] == found.questions[0].question
    assert first["reference"] == first["question_prediction"] == first["model_id_prediction"] == "Baron Alder"
    assert [first[name] for name in ("model_question", "id_prediction")] == ["1", "1"]
    lines = [json.loads(line) for line in (tmp_path / "responses.jsonlines").read_text("utf-8").splitlines()]
    assert [len(line["responses"]) for line in lines] == [120, 120, 120, 119]
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "&lt; 0.0001" in page
    assert "0.0000" not in page


def test_a_page_shows_what_a_file_says_and_runs_none_of_it(tmp_path):
    evil = "<script>alert(1)</script>"
    records = [
        {
            "id": f"{evil}{n}",
            "context": f"The duke {evil} of town {n}.",
            "question": f"Who {evil}?",
            "answer": f"town {n}",
        }
        for n in range(20)
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    (tmp_path / "m.json").write_text(json.dumps({each["id"]: f"{evil}" for each in records}), "utf-8")
    cli.run("difficulty", ["--questions", str(tmp_path / "s.jsonl"), "--answers", str(tmp_path / "m.json"), "--out", str(tmp_path / "out"),
          "--language", "en", "--title", evil, "--resamples", "20"])  # fmt: skip
    text = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--language", "klingon"], "not a language's code; got 'klingon'"),
        (["--risk", "2"], "--risk: Input should be less than 1"),
        (["--factors", "my.csv"], "my.csv: no such file"),
        (["--factors", "long"], "field '--factors': no such factors; got 'long'"),
        (["--parser", "stanza:fr"], "field '--parser': no parser; got 'stanza:fr'"),
    ],
)
def test_what_cannot_be_is_one_clear_line(project, tmp_path, arguments, message, capsys):
    base = {"--questions": str(project / "data/complexity/evaluation.json"),
            "--answers": str(project / "data/complexity/predictions/short/seed-0.jsonl"),
            "--out": str(tmp_path / "out")}  # fmt: skip
    base |= dict(zip(arguments[::2], arguments[1::2], strict=True))
    with pytest.raises(SystemExit) as left:
        cli.run("difficulty", [part for pair in base.items() for part in pair])
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("trivium difficulty: ")
    assert message in said
    assert not (tmp_path / "out").exists()
