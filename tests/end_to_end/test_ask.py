"""Questions of one's own to a built project: as the stages answered, on bad input, by many at once, in a browser."""

import io
import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.chromium import NAMES, SIZES, open_page
from tests.end_to_end.conftest import ROOT
from trivium.core.arithmetic import PORTABLE
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run
from trivium.kvqae.asking.asker import Asker
from trivium.kvqae.asking.graph import GraphBase
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures

TOLERANCE = 1e-4  # of a fused score
EVIL = "<img src=x onerror=alert(1)> ${alert(2)} {{ value }} who is this?"


@pytest.fixture(scope="module")
def asker(built):
    before = os.environ.get(PORTABLE)
    with open_graph(built.folder) as made:
        yield made
    os.environ.pop(PORTABLE, None)
    if before is not None:
        os.environ[PORTABLE] = before


@pytest.fixture(scope="module")
def asked(built):
    """(question, its picture) of the test set."""
    images = Images(built.folder / "data/kvqae/raw/images/questions")
    questions = read_questions(built.folder / "data/kvqae/raw/viquae/test.jsonl")
    return [(question, images.read(question.image)) for question in questions]


@pytest.fixture(scope="module")
def face(built, asked):
    """A picture of the test set with one face."""
    table = read_table(
        built.folder / "data/kvqae/features/questions/arcface/pictures.parquet", ["name", "faces"]
    ).to_pylist()
    with_one = {row["name"] for row in table if row["faces"] == 1}
    return next(image for question, image in asked if question.image in with_one)


def open_graph(folder):
    return Asker(lambda: GraphBase(folder))


def encoded(image, kind="PNG", **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def answers(built):
    """By whether they were re-ranked, the answers by question's id.

    They are asked in a process of its own: the last bits are those of the arithmetic that is settled before torch loads.
    """
    program = str(Path(__file__).with_name("asking.py"))
    done = subprocess.run(
        [sys.executable, program, str(built.folder)],
        cwd=built.folder,
        env=built.environment(PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        check=True,
    )
    return pickle.loads(done.stdout)


def check_as_the_stages(answers, built, folder, *, is_reranked=False):
    """Every passage has the score that it has in the run of that folder, and no passage above it is left out."""
    run = read_run(built.folder / f"data/kvqae/runs/{folder}/test.trec")
    lists = {query: (documents, scores) for query, documents, scores in zip(run.queries, run.documents, run.scores, strict=True)}  # fmt: skip
    same = 0
    for question, answer in answers.items():
        documents, scores = lists[question]
        expected = dict(zip(documents.tolist(), scores.tolist(), strict=True))
        supports = answer.supports
        assert [support.score for support in supports] == pytest.approx(scores[: len(supports)].tolist(), abs=TOLERANCE)
        for support in supports:
            # PosFuse sees positions: two passages that the last bits tell apart may have changed places.
            assert is_reranked or support.score == pytest.approx(expected[support.passage], abs=TOLERANCE)
            given = support.reranking if is_reranked else support.contributions
            assert sum(given.values()) == pytest.approx(support.score)
        same += [support.passage for support in supports] == documents[: len(supports)].tolist()
    assert same >= 0.9 * len(answers) > 0


def check_as_read(answers, built, row):
    """Nine questions of ten have the passages and the answer that stage `read` wrote for the row, near ties aside."""
    columns = ["id", "prediction", "passages"]
    table = read_table(built.folder / f"data/kvqae/answers/{row}.parquet", columns).to_pylist()
    assert {read["id"] for read in table} == answers.keys()
    other_passages, other_text = [], []
    for read in table:
        answer = answers[read["id"]]
        if [support.passage for support in answer.supports] != read["passages"]:
            other_passages.append(read["id"])
        if answer.text != read["prediction"]:
            other_text.append(read["id"])
    assert len(other_passages) <= 0.1 * len(table), other_passages
    assert len(other_text) <= 0.1 * len(table), other_text


def test_passages_and_answers_are_those_of_the_stages(answers, built):
    check_as_the_stages(answers[False], built, "fused/dpr_few_shot_image")
    check_as_read(answers[False], built, "few_shot_fused")


def test_re_ranked_passages_and_answers_are_those_of_the_stages(answers, built):
    check_as_the_stages(answers[True], built, "reranked_text_image", is_reranked=True)
    check_as_read(answers[True], built, "few_shot_reranked")


def test_from_the_vectors_of_the_stages_on_every_bit_is_theirs(asker, built, asked, monkeypatch):
    """What an encoder makes of one picture, or question, differs in its last bits from what it makes of it in a batch."""
    data, base = built.folder / "data/kvqae", asker.base
    (dense,) = base.text_systems
    texts = read_table(data / f"embeddings/{dense}/queries.parquet", ["split", "id"]).to_pylist()
    text_vectors = read_matrix(data / f"embeddings/{dense}/queries.npy")
    features = ImageFeatures.read(data / "features/questions")
    now = {}

    def written(system):
        (row,) = features.rows(pa.array([now["image"]])).tolist()
        return np.asarray(features.matrix(system)[row : row + 1], np.float32)

    for system, loaded in base.encoders.items():
        stored = SimpleNamespace(detector=loaded.detector, embed=lambda _, system=system: written(system))
        monkeypatch.setitem(base.encoders, system, stored)
    encoder = base.text_systems[dense].encoder
    monkeypatch.setattr(encoder, "encode", lambda *_: text_vectors[now["text"] : now["text"] + 1])
    for folder, rerank in (("fused/dpr_few_shot_image", False), ("reranked_text_image", True)):
        run = read_run(data / f"runs/{folder}/test.trec")
        for question, image in asked:
            now |= {"image": question.image, "text": texts.index({"split": "test", "id": question.id})}
            supports = asker.ask(question.text, image, rerank=rerank).supports
            found = run.select([question.id])
            assert [support.passage for support in supports] == found.documents[0, : len(supports)].tolist()
            assert [support.score for support in supports] == found.scores[0, : len(supports)].tolist()


def test_without_a_picture_the_text_systems_answer_and_it_is_said(asker, asked):
    answer = asker.ask(asked[0][0].text, None)
    assert answer.supports
    assert all(support.contributions["arcface"] == support.contributions["clip"] == 0 for support in answer.supports)
    assert answer.notes == ["No picture was given: the answer comes from the text systems alone."]
    assert answer.alike == ""


def test_one_face_none_and_several(asker, asked, face):
    question = asked[0][0].text
    one = asker.ask(question, face)
    assert one.faces == [one.face]
    assert one.notes == []
    assert any(support.contributions["arcface"] for support in one.supports)

    none = asker.ask(question, encoded(Image.new("RGB", (120, 120), "navy")))
    assert none.face is None
    assert "No face was searched for" in none.notes[0]
    assert any(support.contributions["clip"] for support in none.supports)
    assert not any(support.contributions["arcface"] for support in none.supports)

    alone = Image.open(io.BytesIO(face)).convert("RGB")
    twice = Image.new("RGB", (2 * alone.width, alone.height))
    twice.paste(alone, (0, 0))
    twice.paste(alone, (alone.width, 0))
    several = asker.ask(question, encoded(twice))
    assert len(several.faces) == 2
    for number, middle in ((1, 0.25), (2, 0.75)):
        chosen = asker.ask(question, encoded(twice), face=number)
        assert chosen.notes == [
            f"2 faces were found; number {number} from the left was looked at. Another one may be chosen."
        ]
        assert abs((chosen.face.box[0] + chosen.face.box[2]) / 2 - middle) < 0.15


def test_questions_of_any_kind(asker, asked, face):
    answer = asker.ask("where? " * 2000, face)
    assert answer.supports
    assert any("only its first 1000 of 14000 characters count" in note for note in answer.notes)
    assert any("word pieces are read" in note for note in answer.notes)
    for question in (EVIL, "who\0is\udcffthis?", "誰ですか?", "x" * 10_000, "🦆"):
        assert asker.ask(question, face).supports
    for question in ("", "  ", "\u200b", "\0"):
        with pytest.raises(BadInput, match="the question is empty"):
            asker.ask(question, face)


def test_the_picture_is_most_like_the_first_of_its_only_system(asker, built, asked):
    """With a face ArcFace alone looks, and its list was written by its stage."""
    data = built.folder / "data/kvqae"
    run = read_run(data / "runs/image/arcface/test.trec")
    article_of = read_table(data / "kb/passages.parquet", ["article"])["article"].to_pylist()
    titles = read_table(data / "kb/articles.parquet", ["title"])["title"].to_pylist()
    first = {query: int(documents[0]) for query, documents in zip(run.queries, run.documents, strict=True)}
    faces = [(question, image) for question, image in asked if first.get(question.id, -1) >= 0][:20]
    same = [
        asker.ask(question.text, image, rerank=False).alike == titles[article_of[first[question.id]]]
        for question, image in faces
    ]
    assert sum(same) >= 0.9 * len(same) > 0


def test_passages_cut_anew_are_never_answered_from_against_old_vectors(built, clone, asked, monkeypatch):
    monkeypatch.setenv(PORTABLE, "intel")
    passages = clone.folder / "data/kvqae/kb/passages.parquet"
    with open_graph(clone.folder) as asker:
        assert asker.ask(asked[0][0].text, asked[0][1]).supports
        table = pq.read_table(passages)
        passages.unlink()  # as DVC does: the cache may share its bytes
        pq.write_table(table.slice(0, table.num_rows // 2), passages)
        with pytest.raises(BadInput, match=r"passages\.parquet: was made anew after .* start it again"):
            asker.ask(asked[0][0].text, asked[0][1])
    with pytest.raises(BadInput, match=r"passages\.parquet: it is not what dvc\.lock says: run `make repro` first"):
        open_graph(clone.folder)
    shutil.copy(built.folder / "code.yaml", clone.folder)
    clone.run(
        "dvc", "commit", "-f", "kvqae-knowledge_base"
    )  # the lock knows the new passages, and that the vectors are old
    with pytest.raises(BadInput, match=r"from another data/kvqae/kb/passages\.parquet: run `make repro` first"):
        open_graph(clone.folder)


def test_the_command_line(built, asked, tmp_path):
    photo = tmp_path / "-rf $(touch x) \n<b>.jpg"
    photo.write_bytes(asked[0][1])
    said = built.run(sys.executable, "-m", "trivium", "ask", "--image", str(photo), asked[0][0].text)
    told = r".+ {3}\(probability 0\.\d{3}, \d+\.\d s, these models know an invented world only\)\n"
    assert re.match(told, said)
    assert "\n1. " in said
    assert "text, DPR" in said
    assert "re-ranked, text" in said


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def page(built, tmp_path_factory):
    """The address of a running page, its own process."""
    folder = tmp_path_factory.mktemp("page")
    log = folder / "log"
    command = [sys.executable, "-m", "trivium", "ask-page", "--port", str(free_port())]
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=built.folder, env=built.environment(TMPDIR=str(folder)), stdout=out, stderr=subprocess.STDOUT
        )
    end = time.monotonic() + 120
    while "ask at" not in log.read_text():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.2)
    yield re.search(r"http://\S+", log.read_text())[0]
    assert list(folder.glob("trivium-ask-*"))
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=30) == 0, log.read_text()
    assert list(folder.glob("trivium-ask-*")) == []  # what was uploaded is gone
    assert "stages/kvqae" not in log.read_text()  # no traceback but gradio's own about forged requests


@pytest.fixture(params=SIZES, ids=NAMES)
def browser(request, page, tmp_path):
    window = open_page(page, request.param, tmp_path / "profile", performance="ALL")
    yield window
    window.quit()


def shown(browser, css):
    return WebDriverWait(browser, 60).until(lambda page: page.find_elements(By.CSS_SELECTOR, css))


def press(browser, item):
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", item)
    item.click()


def ask(browser, question):
    """Type, press, wait for a new answer."""
    box = shown(browser, "textarea")[0]
    box.clear()
    box.send_keys(question)
    return press_and_wait(browser)


def press_and_wait(browser):
    old = "document.querySelectorAll('.ask-answer, .ask-problem').forEach(node => node.dataset.old = 1)"
    browser.execute_script(old)
    press(browser, shown(browser, "#ask")[0])
    return shown(browser, ".ask-answer:not([data-old]), .ask-problem:not([data-old])")[0]


@pytest.mark.browser
def test_click_through(browser, face, tmp_path):
    photo = tmp_path / "<b>&photo'.jpg"
    photo.write_bytes(face)
    assert "the question is empty" in ask(browser, " ").text

    shown(browser, "#picture input[type=file]")[0].send_keys(str(photo))
    shown(browser, "#picture img")
    answer = ask(browser, EVIL)
    assert browser.find_element(By.CSS_SELECTOR, ".ask-question").text == EVIL
    assert len(browser.find_elements(By.CSS_SELECTOR, ".ask-passages > li")) == 5
    assert browser.find_elements(By.CSS_SELECTOR, ".ask-bars .ask-more, .ask-bars .ask-less")
    assert "face, ArcFace" in answer.text
    assert "face found" in browser.find_element(By.CSS_SELECTOR, ".ask-head figcaption").text
    assert browser.find_elements(By.CSS_SELECTOR, ".ask-expected") == []

    press(browser, shown(browser, "tbody tr")[0])  # a question of the test set, with its picture
    box = browser.find_element(By.CSS_SELECTOR, "textarea")
    WebDriverWait(browser, 30).until(lambda _: box.get_attribute("value") not in ("", EVIL))
    press_and_wait(browser)
    assert browser.find_element(By.CSS_SELECTOR, ".ask-question").text == box.get_attribute("value")
    assert re.search("✓ right|✗ expected: .", browser.find_element(By.CSS_SELECTOR, ".ask-expected").text)

    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
    broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).length"
    assert browser.execute_script(broken) == 0
    severe = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []
    requests = re.findall(r'requestWillBeSent.*?"url":"(\w+://[^"/]*)', str(browser.get_log("performance")))
    outside = [url for url in requests if not url.startswith(("http://127.0.0.1:", "chrome"))]
    assert requests
    assert outside == []  # the page works without a network


@pytest.mark.browser
def test_not_an_image_is_said(browser, tmp_path):
    fake = tmp_path / "fake.jpg"
    fake.write_text("<script>alert(1)</script>")
    upload = shown(browser, "#picture input[type=file]")[0]
    upload.send_keys(str(fake))
    shown(browser, "#picture img")
    assert "this is not an image that can be read" in ask(browser, "who is this?").text


@pytest.mark.browser
def test_a_button_turns_light_to_dark_and_back(browser):
    button = shown(browser, "#theme")[0]
    body = browser.find_element(By.TAG_NAME, "body")
    light = body.value_of_css_property("background-color")
    assert button.text == "Switch to dark"
    button.click()
    WebDriverWait(browser, 30).until(lambda _: body.value_of_css_property("background-color") != light)
    WebDriverWait(browser, 30).until(lambda _: button.text == "Switch to light")
    button.click()
    WebDriverWait(browser, 30).until(lambda _: body.value_of_css_property("background-color") == light)
