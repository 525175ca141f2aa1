"""Every re-ranker of the folder says what it is; what it does on a small world stands in tests/stages/kvqae/test_rerank_*."""

import re
from pathlib import Path

import pytest

from trivium.kvqae.rerankers.evaluation import blocks_of
from trivium.kvqae.rerankers.fusion import systems_of
from trivium.kvqae.rerankers.reranker import RERANKERS, Reranker, RerankerSettings


@pytest.mark.parametrize("name", RERANKERS)
def test_a_member_bears_what_is_asked_of_it(name):
    found = RERANKERS[name]
    assert issubclass(found, Reranker)
    assert found.name == name
    assert found.label
    assert found.symbol in found.row
    assert found.sees in ("text", "face", "whole")
    assert issubclass(found.Settings, RerankerSettings)
    assert [each for each, field in found.Settings.model_fields.items() if not (field.description or "").strip()] == []


def test_every_member_has_a_row_and_a_place_in_the_fusions():
    systems = systems_of(("text", "arcface", "rrt"))
    assert systems["image"] == systems["image_alone"] == ("arcface", "rrt")
    assert systems["text_image_initial"] == ("text", "image", "initial")
    assert systems_of(("arcface", "text", "patches"))["image"] == ("arcface",)  # beyond the paper, by itself
    assert blocks_of(("arcface", "patches"))["article"].rows == ("patches", "image")
    blocks = blocks_of(("text", "arcface", "rrt"))
    assert blocks["article_face"].rows == ("rrt", "arcface", "image")
    assert blocks["article"].rows == ("rrt", "image")
    assert blocks["passage"].rows == ("initial", "text", "text_image", "text_initial", "text_image_initial")


def test_the_table_in_the_docs_says_what_members_say():
    text = (Path(__file__).parents[3] / "docs" / "kvqae.md").read_text(encoding="utf-8")
    told = re.findall(r"\| `(\w+)` \| (.*) \| (\w+) \| `trivium/kvqae/rerankers/members/\1\.py` \|", text)
    assert sorted(told) == sorted((name, each.row, each.sees) for name, each in RERANKERS.items())
