"""CHAIR by hand on a project of four pictures, from files of captions."""

import json

import pytest

from tests.decorrelation.benchmark.benchmark_project import Words
from trivium.core.errors import BadInput
from trivium.core.tables import write_json_lines
from trivium.decorrelation.benchmark.hallucination import chair, read_captions
from trivium.decorrelation.benchmark.leaderboard import odmap
from trivium.page.leaderboard import leaderboard_html, write_leaderboard


def names(asked, flags):
    return [name for name, flag in zip(asked.classes, flags, strict=True) if flag]


def said(asked, row):
    """What went, what is left, and what neither was nor is there by anyone's account, as class names."""
    by_people = asked.gallery.names[asked.gallery.pictures == asked.queries.pictures[row]].any(axis=0)
    gone, left = asked.queries.removed[row], asked.queries.present[row]
    return names(asked, gone), names(asked, left & ~gone), names(asked, ~(gone | left | by_people))


def judged(asked, choose):
    return chair(asked, [choose(row) for row in range(len(asked.queries.ids))])


def test_what_is_left_is_no_invention(asked):
    found = judged(asked, lambda row: f"A {said(asked, row)[1][0]} on the grass.")
    assert found.mentions.tolist() == [1] * len(asked.queries.ids)
    assert (found.chair_i, found.chair_s, found.still_named.sum()) == (0, 0, 0)


def test_what_is_gone_is_an_invention_although_people_named_it(asked):
    found = judged(asked, lambda row: f"A {said(asked, row)[0][0]} and a {said(asked, row)[1][0]}.")
    assert found.chair_i == 0.5
    assert found.chair_s == 1
    assert found.still_named.all()
    assert found.intervals["chair_s"] == (1, 1)


def test_mentions_count_together_and_captions_once(asked):
    """Every second caption invents two things beside one that is there; the others name nothing."""

    def choose(row):
        _, left, never = said(asked, row)
        return f"A {never[0]}, a {never[1]} and a {left[0]}." if row % 2 else "Nothing to see."

    found = judged(asked, choose)
    rows = len(asked.queries.ids)
    assert found.chair_i == pytest.approx(2 / 3)
    assert found.chair_s == (rows // 2) / rows
    assert not found.still_named.any()


def test_a_captioner_that_names_nothing_has_no_share(asked):
    found = judged(asked, lambda row: "Nothing to see.")
    assert found.chair_i is None
    assert found.chair_s == 0


def test_captions_of_any_captioner_are_read_from_a_file(asked, tmp_path):
    texts = {name: f"A {said(asked, row)[0][0]}." for row, name in enumerate(asked.queries.ids)}
    file = tmp_path / "captions.jsonl"
    lines = [{"id": name, "caption": text} for name, text in texts.items()]
    write_json_lines(file, lines[::-1])
    assert read_captions(file, asked) == list(texts.values())
    assert chair(asked, read_captions(file, asked)).chair_i == 1
    for broken, message in (
        (lines[1:], rf"captions are missing; got 'none of {lines[0]['id']}'; expected 9 lines"),
        ([*lines, lines[0]], r"captions\.jsonl:10: field 'id': an id twice"),
        ([{"id": "other", "caption": "x"}], r"captions\.jsonl:1: field 'id': an id that the set lacks; got 'other'"),
        ([{"id": lines[0]["id"]}], r"captions\.jsonl:1: field 'caption': no text; got None"),
    ):
        write_json_lines(file, broken)
        with pytest.raises(BadInput, match=message):
            read_captions(file, asked)


def test_captioners_stand_on_the_board(project, asked, tmp_path):
    lines = [{"id": name, "caption": f"A {said(asked, row)[0][0]}."} for row, name in enumerate(asked.queries.ids)]
    write_json_lines(tmp_path / "repeats.jsonl", lines)
    captioners = {"<repeats>": tmp_path / "repeats.jsonl", "none": tmp_path / "none.jsonl"}
    board = odmap({"words": Words()}, project, captioners=captioners)
    assert set(board.captioners) == {"<repeats>"}
    assert "none.jsonl" in board.failed["none"]
    page = leaderboard_html(board)
    assert 'id="captioners"' in page
    assert "<repeats>" not in page
    write_leaderboard(board, tmp_path / "board")
    (scores,) = json.loads((tmp_path / "board/leaderboard.json").read_text("utf-8"))["captioners"]
    assert scores["captions"] == [line["caption"] for line in lines]
    assert (scores["still_named"], scores["chair_i"]) == (1, 1)
