"""A model behind an endpoint is asked in words: what it is asked, what its answers are worth, and that all is paid once."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from tests.decorrelation.benchmark.benchmark_project import write_project
from tests.prompting.loopback_endpoint import Loopback, failed, said
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.benchmark_set import open_set
from trivium.decorrelation.benchmark.hallucination import ask_vlm, endpoint_model, pope, questions_of, read_answer
from trivium.decorrelation.benchmark.leaderboard import odmap
from trivium.page.leaderboard import leaderboard_html, write_leaderboard


@pytest.fixture
def asked(tmp_path):
    return open_set(write_project(tmp_path / "project"), cache=tmp_path / "cache")


def model(loopback, name="tiny"):
    return endpoint_model(loopback.address, name, None, 1e6).model_copy(update={"retries": 0, "backoff_s": 0.01})


def picture_in(payload):
    address, text = payload["messages"][0]["content"]
    data = base64.b64decode(address["image_url"]["url"].partition(",")[2])
    return Image.open(io.BytesIO(data)), text["text"]


def always(answer):
    return Loopback(lambda number, payload: said(answer))


def test_each_query_is_asked_about_what_was_there_and_what_is_gone(asked):
    with always("Yes, there is.") as loopback:
        found = ask_vlm(asked, model(loopback))
    whole = [picture_in(payload) for payload, _, _ in loopback.requests]
    assert {text for _, text in whole} >= {"Is there a dog in the picture? Answer yes or no."}
    assert all(image.size == (64, 48) for image, _ in whole)
    assert {kind: len(answers) for kind, answers in found.yes.items()} == {
        "there": 9, "painted_out": 9, "partner": 2, "random": 9,
    }  # fmt: skip
    assert found.pope == {
        "accuracy": 0.5,
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
        "yes_ratio": 1.0,
    }


def test_who_sees_what_is_drawn_is_right(asked):
    """The painted pictures of this world are of one colour, the whole ones are not."""

    def look(number, payload):
        image, text = picture_in(payload)
        return said("Yes" if len(image.convert("RGB").getcolors(1 << 16)) > 1 and "Is there" in text else "No.")

    with Loopback(look) as loopback:
        found = ask_vlm(asked, model(loopback))
    assert found.pope["accuracy"] == found.pope["f1"] == 1
    assert found.pope["yes_ratio"] == 0.5
    assert (found.rate("there"), found.rate("painted_out"), found.rate("random")) == (1, 0, 0)


def test_a_random_class_is_neither_there_nor_named_nor_gone(asked):
    with always("no") as loopback:
        questions = questions_of(asked, model(loopback))
    named = asked.named_by_people()
    for question in questions:
        place = asked.classes.index(question.name)
        if question.kind == "random":
            assert not asked.queries.present[question.query, place]
            assert not asked.queries.removed[question.query, place]
            assert not named[question.query, place]


def test_answers_are_paid_for_once_even_where_the_endpoint_fails_in_between(asked):
    down = Loopback(lambda number, payload: said("yes") if number < 10 else failed(500))
    with down, pytest.raises(BadInput, match="the endpoint fails: gave up"):
        ask_vlm(asked, model(down).model_copy(update={"parallel": 1}))
    with always("yes") as again:
        found = ask_vlm(asked, model(again))
    assert len(again.requests) == found.questions - 10
    with always("no") as never:
        assert ask_vlm(asked, model(never)).rate("there") == 1
    assert never.requests == []
    with always("no") as other:
        ask_vlm(asked, model(other, "other"), most=3)
    assert 0 < len(other.requests) <= 9


def test_answers_that_are_none_are_counted_and_nonsense_alone_is_refused(asked):
    mixed = Loopback(lambda number, payload: said("yes" if number % 2 else "The weather is nice."))
    with mixed:
        found = ask_vlm(asked, model(mixed))
    assert found.unreadable == found.questions - sum(len(answers) for answers in found.yes.values()) > 0
    with always("Bananas.") as nonsense, pytest.raises(BadInput, match="no answer says yes or no; got 'Bananas.'"):
        ask_vlm(asked, model(nonsense, "bananas"))


@pytest.mark.parametrize(
    ("text", "right"),
    [("Yes.", True), ("no", False), ("**No**, there is none", False), ("There is not a dog.", False), ("Maybe", None)],
)
def test_the_first_word_that_decides(text, right):
    assert read_answer(text) is right


def test_popes_figures_by_hand():
    found = pope(np.array([True, True, True, False]), np.array([True, False, False, False]))
    assert found == {"accuracy": 0.75, "precision": 0.75, "recall": 0.75, "f1": 0.75, "yes_ratio": 0.5}
    nothing = np.zeros(2, bool)
    assert pope(nothing, nothing) | {"accuracy": 0.5} == {
        "accuracy": 0.5, "precision": None, "recall": 0.0, "f1": 0.0, "yes_ratio": 0.0,
    }  # fmt: skip


def test_it_stands_on_the_page_alone_and_a_failure_is_said(asked, tmp_path):
    project = tmp_path / "project"
    with always("yes") as up, always("?") as nonsense:
        board = odmap(project=project, cache=tmp_path / "cache", vlms=[model(up), model(nonsense, "<odd>")])
    assert list(board.vlms) == ["tiny"]
    assert "no answer says yes or no" in board.failed["<odd>"]
    page = leaderboard_html(board)
    assert 'id="words"' in page
    assert 'id="board"' not in page
    assert "<odd>" not in page
    write_leaderboard(board, tmp_path / "board")
    (row,) = json.loads((tmp_path / "board/leaderboard.json").read_text("utf-8"))["vlms"]
    assert (row["accuracy"], row["yes"]["there"]["rate"]) == (0.5, 1.0)
