"""The queue in front of the pipeline, and what it refuses; the whole pipeline is asked in end_to_end/test_ask.py."""

import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from PIL import Image

from tests.kvqae.asking.locked_project import write_lock
from trivium.core.arithmetic import PORTABLE
from trivium.core.errors import BadInput
from trivium.kvqae.asking import answer
from trivium.kvqae.asking.answer import PictureView, ReaderAnswer
from trivium.kvqae.asking.asker import Asker, Base
from trivium.kvqae.asking.graph import GraphBase
from trivium.kvqae.asking.systems import fuse
from trivium.measures.fusion import Scale
from trivium.measures.runs import Run
from trivium.vision.decoding import Unreadable

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _precision_is_put_back(monkeypatch):
    monkeypatch.setenv(PORTABLE, "intel")


LIMITS = {"max_side": 64, "max_pixels": 100}


class Quiet:
    """Finds nothing."""

    def search(self, question):
        return Run.from_dict({"question": {}})


class Echo(Base):
    """Says the question back, in the thread it was made in; notices when it is not alone."""

    limits, passages, texts, text_systems = LIMITS, 5, None, {"bm25": Quiet()}

    def __init__(self):
        self.thread, self.busy, self.asked, self.reader = threading.get_ident(), False, [], self

    def check(self):
        assert threading.get_ident() == self.thread
        assert not self.busy
        self.busy, self.width = True, 0

    def look(self, image, face):
        self.width = Image.open(io.BytesIO(image)).width
        return PictureView(image)

    def search(self, view, vectors):
        raise AssertionError(view)

    def fuse(self, runs):
        return fuse(runs, {"bm25": 1.0}, {"bm25": Scale(0.0, 1.0)})

    def read(self, question, ranked, texts, entry):
        time.sleep(0.001)
        self.busy = False
        if question == "fail":
            raise BadInput("no such thing")
        self.asked.append(question)
        return ReaderAnswer(f"{question} {self.width}", 1.0)

    def picture_of(self, passage):
        raise AssertionError(passage)


def decode_length(data, **limits):
    """A picture as wide as its file has bytes."""
    assert limits == LIMITS
    if not data or b"ftyp" in data:
        raise Unreadable("not_an_image")
    return Image.new("RGB", (len(data), 1), "navy")


@pytest.fixture
def asker(monkeypatch):
    monkeypatch.setattr(answer, "decode", decode_length)
    with Asker(Echo) as made:
        yield made


def test_eight_threads_are_answered_in_turn_and_each_gets_its_own_answer(asker):
    questions = [(f"q{number}", bytes(number)) for number in range(1, 65)]
    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda question: asker.ask(*question), questions))
    assert [answer.text for answer in answers] == [f"q{number} {number}" for number in range(1, 65)]


def test_a_question_that_fails_does_not_stop_the_next(asker):
    with pytest.raises(BadInput, match="no such thing"):
        asker.ask("fail", None)
    assert asker.ask("who?", None).text == "who? 0"


@pytest.mark.parametrize(
    ("question", "image", "message"),
    [
        ("  \n\t", None, "the question is empty"),
        ("\u3000", None, "the question is empty"),
        ("\u200b\0", None, "the question is empty"),
        ("who?", b"", "the picture.*this is not an image that can be read .*JPEG, PNG, WebP, GIF, BMP or TIFF"),
        ("who?", b"\0\0\0\x18ftypheic", "the picture.*a picture of a kind that is not read .HEIC."),
    ],
)
def test_what_never_reaches_the_pipeline(asker, question, image, message):
    with pytest.raises(BadInput, match=message):
        asker.ask(question, image)
    assert asker.base.asked == []


def test_a_picture_that_cannot_be_read_is_named_by_its_file(asker):
    with pytest.raises(BadInput, match=r"^photos/a.jpg: this is not an image"):
        asker.ask("who?", b"", file=Path("photos/a.jpg"))
    with pytest.raises(BadInput, match=r"^photos/a.jxl: a picture of a kind that is not read .JPEG XL."):
        asker.ask("who?", b"", file=Path("photos/a.jxl"))


def test_the_pipeline_gets_the_decoded_picture_without_loss_and_so_does_who_shows_it(asker):
    answer = asker.ask("who?", b"123")
    shown = Image.open(io.BytesIO(answer.picture))
    assert (shown.size, shown.getpixel((2, 0))) == ((3, 1), (0, 0, 128))
    assert asker.ask("who?", None).picture is None


def test_what_is_missing_is_named_with_the_way_to_make_it(tmp_path):
    with pytest.raises(BadInput, match="params.yaml: no such parameter file"):
        GraphBase(tmp_path)
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    with pytest.raises(BadInput, match=r"fusion\.json: not there: run `make repro` first"):
        GraphBase(tmp_path)


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({}, r"kvqae\.fuse has changed since the last run: run `make repro` first"),
        ({"brought_mine": 0.5}, r"dpr_few_shot_image': a row with a brought run .*got \['brought_mine'\]"),
    ],
)
def test_rows_that_cannot_be_asked(tmp_path, further, message):
    tree = yaml.safe_load((ROOT / "params.yaml").read_text())
    tree["kvqae"]["fuse"]["weights"]["dpr_few_shot_image"] |= further
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(tree))
    record = tmp_path / "data/kvqae/runs/fused/dpr_few_shot_image/fusion.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"depth": 100, "weights": {"dpr_few_shot": 1}}')
    write_lock(tmp_path, {"fuse": ({}, ["data/kvqae/runs/fused"])})
    with pytest.raises(BadInput, match=message):
        GraphBase(tmp_path)
