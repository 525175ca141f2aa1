"""PIAF and the French FrameNet from the hub, then stage complexity-plain: a tiny reader, and f0 and f6 by prediction.

The fixtures have the shapes of https://huggingface.co/datasets/AgentPublic/piaf (flat records with `answers.text` and
`answers.answer_start`) and of https://github.com/kleag/french-framenet (FrameNet's XML of lexical units and frames).
"""

import io
import zipfile
from collections import Counter

import pytest
import torch
import yaml

from stages.complexity.plain import PlainParameters, main
from stages.complexity.world import SourcedWorldParameters
from stages.complexity.world import main as make_world
from tests.complexity.frame_world import make_texts
from tests.complexity.tiny_readers import questions, settings, write_camembert
from tests.formats.test_framenet_xml import FIRST, layers, unit_file
from tests.sources.pinned import serve_pinned
from tests.sources.small_hub import parquet
from trivium.complexity.factors.free_factors import frame_of_answer, predicted_factors
from trivium.complexity.frames.annotation import annotate
from trivium.complexity.frames.linear.parser import LinearFrameParser
from trivium.complexity.frames.parser_folder import save_parser
from trivium.complexity.readers.kinds.extractive import ExtractiveReader
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import read_json, write_json, write_table
from trivium.core.tracking import Tracker
from trivium.formats.frame_corpora import read_examples, read_texts, write_texts
from trivium.formats.framed_texts import FrameElement, FrameInstance, LexicalUnit, Span
from trivium.formats.question_sets import AskedQuestion
from trivium.formats.squad import SquadQuestion, read_squad, write_squad
from trivium.page.difficulty import FILES
from trivium.sources import download
from trivium.sources.complexity.raw import FRAMENET, PIAF
from trivium.sources.pins import Pins

TITLES = [f"Article {number}" for number in range(20)]


def piaf_records():
    """Two questions an article; the answer of the last question stands elsewhere, as two of PIAF's do."""
    for number, title in enumerate(TITLES):
        context = f"La ville n° {number} fut fondée en {400 + number}. Elle est au bord de la mer."
        for asked, answer in (("Quand fut-elle fondée ?", str(400 + number)), ("Où est-elle ?", "au bord de la mer")):
            start = context.index(answer) + (title == TITLES[-1] and asked[0] == "O")
            answers = {"text": [answer], "answer_start": [start]}
            yield {
                "id": f"p{number}{asked[0]}",
                "title": title,
                "context": context,
                "question": asked,
                "answers": answers,
            }


def framenet_zip(last=3100):
    """Sentences of blocks that are trained on, followed and tested, and one of the French Treebank."""
    buffer = io.BytesIO()
    sentences = [(str(number), FIRST, layers(FIRST, "perdit", Owner="L'armée")) for number in (1, 301, 451, last)]
    frame = '<frame name="Losing" xmlns="http://framenet.icsi.berkeley.edu"><FE coreType="Core" name="Owner"/></frame>'
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("french-framenet-93e71a5/lu/lu1.xml", unit_file("perdre.v", "Losing", *sentences))
        archive.writestr("french-framenet-93e71a5/frame/Losing.xml", frame)
        archive.writestr("french-framenet-93e71a5/allanno/allanno_Losing.xml", "not read")
    return buffer.getvalue()


@pytest.fixture
def served(hub, tmp_path, monkeypatch):
    commit = "93e71a5bdb098c2298e926f12abbff1af7a28659"
    files = {PIAF: {"plain_text/train-00000-of-00001.parquet": parquet(list(piaf_records())), "README.md": b"x"}}
    pins = serve_pinned(hub, files | {FRAMENET: {commit: framenet_zip()}})
    (tmp_path / "pins.yaml").write_text(yaml.safe_dump(pins))
    monkeypatch.setattr(download, "Pins", lambda: Pins(tmp_path / "pins.yaml"))
    return tmp_path


def here(folder):
    return Context(tracker=Tracker(), work=folder / "work", engine=LocalEngine(1))


def test_the_public_sets_are_taken_and_no_article_is_in_two_splits(served):
    sizes = {"seed": 0, "train": 1, "validation": 1, "evaluation": 1, "frame_texts": 1,
             "crossed": {"train": 9, "facts": 2, "assigned_facts": 2}}  # fmt: skip
    parameters = SourcedWorldParameters(fquad=PIAF, calor=FRAMENET, local_fquad="", local_calor="", **sizes)
    fquad, calor = served / "fquad", served / "calor"
    metrics = make_world(parameters, here(served), out_fquad=fquad, out_calor=calor, out_crossed=served / "x")
    sets = {split: read_squad(fquad / f"{split}.json") for split in ("train", "validation", "evaluation")}
    titles = Counter(title for read in sets.values() for title in {each.title for each in read.questions})
    assert titles == dict.fromkeys(TITLES, 1)
    assert sum(len(read.questions) for read in sets.values()) == 39
    assert sum(metrics[f"fquad_{split}_dropped_wrong_offset"] for split in sets) == 1
    assert len(sets["train"].questions) > len(sets["evaluation"].questions)
    assert metrics["fquad_contexts_in_train_and_evaluation"] == 0
    frames = {split: read_texts(calor / "frames" / f"{split}.jsonl") for split in ("train", "validation", "test")}
    assert {split: [text.id for text in texts] for split, texts in frames.items()} == {
        "train": ["1"], "validation": ["301"], "test": ["451"]
    }  # fmt: skip
    assert metrics["sentences_of_the_french_treebank"] == 1
    assert "calor_questions" not in metrics
    # People write the questions: tasks go out, and their export makes the set one of questions about frames.
    (task,) = read_json(calor / "label_studio" / "tasks.json")
    assert task["data"]["answer"] == "Owner : L'armée"
    result = [{"from_name": "question", "value": {"text": ["Qui fut battu ?"]}}]
    annotated = task | {"annotations": [{"id": 1, "completed_by": 2, "result": result}]}
    write_json(served / "brought" / "questions.json", [annotated])
    parameters = parameters.model_copy(update={"local_calor": str(served / "brought")})
    metrics = make_world(
        parameters, here(served), out_fquad=served / "f", out_calor=served / "c", out_crossed=served / "y"
    )
    assert (metrics["calor_questions"], metrics["calor_questions_frame_not_in_train"]) == (1, 0)
    (example,) = read_examples(served / "c" / "questions.jsonl", served / "c" / "frames" / "test.jsonl")
    assert (example.question, example.answer_text) == ("Qui fut battu ?", "L'armée")
    assert read_json(fquad / "provenance.json")["piaf"]["licence"] == "mit"


def frame(name, unit, *elements):
    spans = tuple(FrameElement("E", Span(*span), "core") for span in elements)
    return FrameInstance(name, LexicalUnit(unit, "verb", Span(0, 1)), spans)


def test_the_frame_of_an_answer_covers_it_best():
    frames = [frame("Wide", "a", (0, 30)), frame("Close", "b", (9, 20), (40, 44)), frame("Far", "c", (50, 60))]
    assert frame_of_answer(Span(10, 20), frames) == "Close"
    assert frame_of_answer(Span(41, 43), frames) == "Close"
    assert frame_of_answer(Span(32, 38), frames) is None
    assert frame_of_answer(None, frames) is None


def test_predicted_f0_and_f6_by_hand():
    asked = [AskedQuestion(str(n), "", f"context {n % 3}", "?", ("c",), Span(0, 1)) for n in range(7)]
    frames = {"context 0": [frame("Losing", "a", (0, 7))], "context 1": [frame("Giving", "b", (0, 7))], "context 2": []}
    # Losing 3 times, Giving 9; entropy of perdre/vaincre half and half 1 bit, of donner 0: the mean of 3 and 2 is .6.
    adaptation = {"Losing": Counter(a=3), "Giving": Counter(b=9)}
    training = {"Losing": Counter(perdre=2, vaincre=2), "Giving": Counter(donner=4)}
    says = predicted_factors(asked, frames, adaptation, training)
    expected = {"0": True, "1": False, "2": None, "3": True, "4": False, "5": None, "6": True}
    assert says == {"rare_frame": expected, "varied_triggers": expected}
    assert predicted_factors(asked, frames, {}, {"Losing": Counter(perdre=1)}) == {}


def test_plain_questions_are_answered_and_analysed_with_predicted_frames(tmp_path):
    torch.manual_seed(0)
    ExtractiveReader.start(write_camembert(tmp_path / "base"), settings()).save(tmp_path / "model")
    taught, others = make_texts(150, seed=0, sentences=1), make_texts(30, seed=1, sentences=1)
    write_texts(tmp_path / "train.jsonl", taught)
    parser = LinearFrameParser.learn(taught, no_frames=frozenset(), partial=False, seed=0)
    save_parser(tmp_path / "parser", parser, base="nothing", data="invented")
    plain = questions(30)
    framed = [
        SquadQuestion(
            f"f{number}", text.title, text.text, "Quoi ?", ((element.span.of(text.text), element.span.start),)
        )
        for number, text in enumerate(others)
        for element in [part for each in text.frames for part in each.elements][:1]
    ]
    write_squad(tmp_path / "evaluation.json", [*plain, *framed])
    write_table(tmp_path / "frames.parquet", annotate(parser, [*plain, *framed])[0])
    metrics = main(
        PlainParameters(batch_size=8, resamples=100, draws=1), name="tiny", seed=0,
        model=tmp_path / "model", questions=tmp_path / "evaluation.json", parser=tmp_path / "parser",
        adaptation=tmp_path / "frames.parquet", training=tmp_path / "train.jsonl",
        out_answers=tmp_path / "answers.jsonl", out=tmp_path / "out",
    )  # fmt: skip
    assert metrics["questions"] == len(plain) + len(framed)
    # Most invented sentences with a frame are parsed right, and nothing of the other questions is a frame's.
    assert 0.8 * len(framed) < metrics["questions_with_frame"] <= len(framed) + 3
    assert metrics["rare_frame_uncounted"] == metrics["questions"] - metrics["questions_with_frame"]
    assert 0 < metrics["rare_frame_share"] < 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(FILES)
    assert "predicted frame rare in the adaptation corpus" in (tmp_path / "out" / "index.html").read_text("utf-8")
