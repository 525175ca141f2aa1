"""The command line: what it prints, what it refuses."""

import dataclasses

import pytest

from trivium.commands import cli
from trivium.commands.ask import lines
from trivium.kvqae.asking.answer import Answer, RecognisedEntry, Support

SUPPORT = Support(3, "Ada\x1b[2J", "She was born in Bern, it says.", 0.4, {"bm25": 0.0, "clip": -0.1, "dpr_few_shot": 0.5},
                  (16, 20), None)  # fmt: skip


def test_the_answer_its_passages_and_what_each_system_gave():
    answer = Answer("Bern", 0.25, [SUPPORT], None, ["No face was found."], 0.75)
    assert list(lines(answer)) == [
        "Bern   (probability 0.250, 0.8 s)",
        "note: No face was found.",
        "",
        "1. Ada [2J",
        "   +0.40 = picture, CLIP -0.10  text, DPR few-shot +0.50",
        "   She was born in «Bern», it says.",
    ]


def test_what_the_re_rankers_gave_stands_first():
    support = dataclasses.replace(SUPPORT, score=0.75, reranking={"reranked_text": 0.5, "reranked_image": 0.25})
    answer = Answer("Bern", 0.25, [support], None, [], 0.25)
    assert list(lines(answer))[3:5] == [
        "   +0.75 = re-ranked, text +0.50  re-ranked, face and picture +0.25",
        "   +0.40 = picture, CLIP -0.10  text, DPR few-shot +0.50",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image", "no\x1bwhere.jpg", "who?"], "ask: no where.jpg: no such file"),
        (["--image", "q.md", "who?"], "q.md: this is not an image that can be read"),
        (["who?"], "params.yaml: no such parameter file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_1(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.md").write_text("# Questions")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # put back afterwards
    with pytest.raises(SystemExit) as ended:
        cli.run("ask", arguments)
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch", "q.csv"], "--batch needs --kb and --out"),
        (["--kb", "b", "--face", "2", "who?"], "--face needs --image"),
        (["--kb", "b"], "a question, or --batch, is needed"),
        (["--kb", "b", " \n"], "a question, or --batch, is needed"),
        (["--kb", "b", "--batch", "q.csv", "--out", "a.csv", "--face", "0"], "the most probable face is looked at"),
        (["--kb", "b", "--entries", "e.csv", "who?"], "--entries needs --batch"),
        (["--stand-ins", "who?"], "--reader and --stand-ins need --kb"),
        (
            ["--kb", "b", "--batch", "q.jsonl", "--set", "infoseek", "--pictures", "p", "--out", "a.csv", "--bem", "m"],
            "--bem needs --set encyclopedic_vqa",
        ),
    ],
)
def test_options_that_do_not_go_together(capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        cli.run("ask", arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_what_the_picture_shows():
    entries = [RecognisedEntry("Ada\x1b[2J", 3.0, 0.875, True), RecognisedEntry("Bob", 1.0, None, False)]
    answer = Answer("", None, [], None, [], 0.25, entries=entries)
    invented = dataclasses.replace(answer, invented=True, score=0.5)
    told = "(no answer)   (probability 0.500, 0.2 s, these models know an invented world only)"
    assert next(iter(lines(invented))) == told
    assert list(lines(answer)) == [
        "(no answer)   (0.2 s)",
        "picture: Ada [2J   (probability 0.875)",
        "picture: Bob   (no probability: too few pictures, not sure)",
    ]
