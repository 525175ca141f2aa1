"""How what the fused images gave is told apart; the re-rankers at work are in end_to_end/test_ask.py."""

import pytest

from stages.kvqae.asking.reranking import _split


def test_the_images_share_is_split_as_their_systems_gave():
    parts = {"reranked_text": 0.25, "reranked_image": 0.5}
    found = _split(parts, {"reranked_arcface": 0.75, "reranked_rrt": 0.25})
    assert found == {"reranked_text": 0.25, "reranked_arcface": 0.375, "reranked_rrt": 0.125}
    assert sum(found.values()) == sum(parts.values())


@pytest.mark.parametrize(
    "images", [{}, {"reranked_arcface": 0.0, "reranked_rrt": 0.0}, {"reranked_arcface": -0.5, "reranked_rrt": 2.0}]
)
def test_it_stays_whole_where_there_are_no_shares(images):
    parts = {"reranked_text": 0.25, "reranked_image": 0.5}
    assert _split(parts, images) == parts
