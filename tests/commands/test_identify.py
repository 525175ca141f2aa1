"""`trivium ask --identify`: the entity is chosen first, and only its passages are read; `--entries` and `--stand-ins`."""

import shutil
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from tests.kvqae.asking.own_folder import open_asker, settings, write_folder, write_picture
from tests.kvqae.asking.test_building import make, no_foreign
from tests.kvqae.tiny_reader import write_bert
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.commands.ask_batch import answer_all, key_of_picture, read_entries, read_questions
from trivium.commands.kb_models import STAND_INS, is_stand_in, reader_of
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv, write_json_lines
from trivium.kvqae.asking import endpoints
from trivium.kvqae.asking.asker import Asker
from trivium.kvqae.asking.endpoints import EMPTY, UNCLEAR, EndpointIdentifier
from trivium.kvqae.asking.own_base import OwnBase
from trivium.kvqae.reader.reading import load_reader, save_reader


@pytest.fixture(scope="module")
def museum(tmp_path_factory):
    """Twenty towers, each with a picture, and a base of them."""
    root = tmp_path_factory.mktemp("museum")
    folder = write_folder(root / "museum", 20)
    (folder / "tower_03.txt").write_text("tower 03 stands in Bern.\n\nIts bell is of bronze.", "utf-8")
    make(root, settings(root, folder, words=8))
    return root


def ask(museum: Path, server: Loopback, journal: Path, question: str = "Where does it stand?", **more):
    identifier = EndpointIdentifier(server.address, "tiny-vlm", None, journal)
    picture = (museum / "museum/tower_07.png").read_bytes()
    with Asker(lambda: OwnBase(museum / "base", no_foreign), identifier) as asker:
        return asker.ask(question, picture, **more)


def test_only_the_passages_of_the_chosen_entity_are_ranked(museum, tmp_path):
    with Loopback(lambda number, payload: said("tower 03")) as server:
        answer = ask(museum, server, tmp_path, entries={"tower 07": 0.9, "tower 03": 0.8})
        again = ask(museum, server, tmp_path, entries={"tower 07": 0.9, "tower 03": 0.8})
        assert len(server.requests) == 1  # paid once
    assert [support.title for support in answer.supports] == ["tower 03", "tower 03"]
    assert answer.supports == again.supports
    assert "tiny-vlm chose among 5 entities: tower 03." in answer.notes
    parts = server.requests[0][0]["messages"][0]["content"]
    named = [part["text"] for part in parts if part["type"] == "text"][2:]
    assert named[:2] == ["1. tower 07", "2. tower 03"]
    assert sum(part["type"] == "image_url" for part in parts) == 1 + 5


@pytest.mark.parametrize(
    ("words", "why"), [("0", "none of them."), ("Hard to say.", f"{UNCLEAR} (Hard to say.)."), (" ", f"{EMPTY}.")]
)
def test_without_a_choice_the_best_passages_of_all_stand(museum, tmp_path, words, why):
    with Loopback(lambda number, payload: said(words)) as server:
        answer = ask(museum, server, tmp_path)
    assert len({support.title for support in answer.supports}) > 1
    assert answer.supports[0].title == "tower 07"
    assert any(f"chose among 5 entities: {why}" in note for note in answer.notes)


def test_an_endpoint_that_is_down_is_an_error_of_one_line(museum, tmp_path, monkeypatch):
    monkeypatch.setitem(endpoints.PACE, "retries", 0)
    with Loopback(lambda number, payload: said("1")) as server:
        pass
    with pytest.raises(BadInput, match="the endpoint fails: gave up after 1 requests"):
        ask(museum, server, tmp_path)


def test_search_results_of_somebody_else_stand_in_for_pictures(museum, tmp_path):
    (tmp_path / "found.csv").write_text(
        "image,entry,score\nseen/a.jpg,tower 05,0.25\nseen/a.jpg,Tower Nowhere,0.5\n", "utf-8"
    )
    (tmp_path / "q.csv").write_text("question,image\nWhere is it?,a.jpg\nWhere is it?,b.jpg\n", "utf-8")
    with open_asker(museum / "base", no_foreign) as asker:
        rows, entries = read_questions(tmp_path / "q.csv"), read_entries(tmp_path / "found.csv")
        counts = answer_all(asker.ask, rows, tmp_path / "q.csv", tmp_path / "a.csv", entries)
    assert counts == {"questions": 2, "answered": 0, "problems": 0}  # and no picture was there
    header, first, second = [row for _, row in read_csv(tmp_path / "a.csv")]
    assert first[header.index("title")] == "tower 05"
    assert "1 of 2 entries that were given are not in the base" in first[header.index("notes")]
    assert "No entry is given" in second[header.index("notes")]


def test_embeddings_are_compared_by_their_cosines_and_the_best_of_an_entry_counts(tmp_path):
    np.save(tmp_path / "pictures.npy", np.array([[2.0, 0.0]]))
    write_json_lines(tmp_path / "pictures.jsonl", [{"id": "photos/a.jpg"}])
    np.save(tmp_path / "entries.npy", np.array([[0.0, 1.0], [3.0, 3.0], [5.0, 0.0]]))
    write_json_lines(tmp_path / "entries.jsonl", [{"id": "Ann"}, {"id": "Bo"}, {"id": "Ann"}])
    given = read_entries(tmp_path)
    assert given == {key_of_picture("a.jpg"): pytest.approx({"Ann": 1.0, "Bo": 0.5**0.5})}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("image,entry\na,b\n", "missing columns"),
        ("image,entry,score\na,b,high\n", "found.csv:2: field 'score': not a number; got 'high'"),
        ("image,entry,score\na,b,nan\n", "field 'score': not a number"),
        ("image,entry,score\n", "no search results"),
    ],
)
def test_search_results_that_are_refused(tmp_path, content, message):
    (tmp_path / "found.csv").write_text(content, "utf-8")
    with pytest.raises(BadInput, match=message):
        read_entries(tmp_path / "found.csv")


def test_the_samples_reader_does_not_read_on_a_base_of_ones_own(museum, tmp_path):
    project = tmp_path / "project"
    model, tokenizer = load_reader(write_bert(tmp_path / "bert", positions=256), 32, new_heads=True)
    folder = project / "models/kvqae/reader/few_shot/seed-0"
    save_reader(folder, model, tokenizer, base=tmp_path / "bert", data="nothing", metrics={})
    (project / "dvc.yaml").touch()
    (project / "params.yaml").write_text("world: {kvqae: hub}\n", "utf-8")
    assert not is_stand_in(folder)
    (project / "params.yaml").write_text("world: {kvqae: sample}\n", "utf-8")
    base = shutil.copytree(museum, tmp_path / "museum") / "base"
    for stand_ins in (False, True):
        reader = reader_of(Namespace(reader=str(folder), stand_ins=stand_ins), tmp_path)
        with open_asker(base, no_foreign, reader) as asker:
            answer = asker.ask("Where does it stand?", write_picture(tmp_path / "a.png", 3).read_bytes())
        assert (STAND_INS in answer.notes) is not stand_ins
        assert answer.invented is stand_ins
        assert (answer.score is not None) is stand_ins
        assert answer.supports
    assert "llama-cpp-python" in STAND_INS
