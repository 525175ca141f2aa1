"""The order by hand on graphs of a pencil's size; every stage once, after what it needs; what fails takes what needs it."""

import random

import networkx as nx
import pytest

from trivium.commands.stage_queue import (
    SECONDS,
    SHELL,
    StageQueue,
    expected,
    keep_seconds,
    left_out,
    lengths,
    read_seconds,
)

#   a 1 ← b 5 ← d 1      a ← c 2 ← e 9      alone 4
NEEDS = [("b", "a"), ("c", "a"), ("d", "b"), ("e", "c"), ("alone", "")]
SECONDS_OF = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 1.0, "e": 9.0, "alone": 4.0}


def graph_of(needs):
    graph = nx.DiGraph()
    for stage, needed in needs:
        graph.add_node(stage)
        if needed:
            graph.add_edge(stage, needed)
    return graph


def queue_of(needs=NEEDS, seconds=SECONDS_OF):
    graph = graph_of(needs)
    return StageQueue(graph, lengths(graph, seconds))


def test_the_way_to_the_end_counts_the_stage_itself():
    assert lengths(graph_of(NEEDS), SECONDS_OF) == {"a": 12, "b": 6, "c": 11, "d": 1, "e": 9, "alone": 4}


def test_of_those_that_may_start_the_longest_way_comes_first():
    queue = queue_of()
    assert queue.ready() == ["a", "alone"]
    assert [queue.take(), queue.take(), queue.take()] == ["a", "alone", None]
    queue.done("alone")
    assert queue.take() is None
    queue.done("a")
    assert [queue.take(), queue.take(), queue.take()] == ["c", "b", None]
    queue.done("c")
    assert queue.take() == "e"
    queue.done("b")
    assert (len(queue), bool(queue)) == (1, True)
    assert queue.take() == "d"
    assert not queue


def test_equal_ways_come_in_the_order_of_their_names():
    queue = queue_of([(name, "") for name in "cab"], dict.fromkeys("abc", 1.0))
    assert queue.ready() == ["a", "b", "c"]


def test_what_needs_a_failed_stage_is_left_out_and_the_rest_is_not():
    queue = queue_of()
    assert [queue.take(), queue.take()] == ["a", "alone"]
    queue.done("a")
    assert queue.take() == "c"
    assert queue.fail("c", "no such file") == {"c", "e"}
    assert queue.ready() == ["b"]
    assert queue.failed == {"c": "no such file"}
    assert len(queue) == 2  # b and d


def test_what_two_failed_stages_need_names_both():
    graph = graph_of([*NEEDS, ("e", "b")])
    assert left_out(graph, {"b": "", "c": ""}) == {"b": [], "c": [], "d": ["b"], "e": ["b", "c"]}
    queue = StageQueue(graph, lengths(graph, SECONDS_OF))
    assert [queue.take(), queue.take()] == ["a", "alone"]
    queue.done("a")
    assert [queue.take(), queue.take()] == ["b", "c"]  # the way of b is 5 + 9 now
    assert queue.fail("c", "one") == {"c", "e"}
    assert queue.fail("b", "other") >= {"b", "d"}
    assert not queue
    assert queue.failed == {"c": "one", "b": "other"}


def test_the_page_waits_for_what_may_still_come_and_needs_none_of_it():
    seconds = dict.fromkeys(["x", "y", "page_x", "page_y", SHELL], 1.0)
    queue = queue_of([("page_x", "x"), ("page_y", "y"), (SHELL, "page_x"), (SHELL, "page_y")], seconds)
    assert [queue.take(), queue.take()] == ["x", "y"]
    assert queue.fail("x", "") == {"x", "page_x"}
    assert queue.take() is None
    queue.done("y")
    assert [queue.take(), queue.take()] == ["page_y", None]
    queue.done("page_y")
    assert queue.take() == SHELL


@pytest.mark.parametrize("seed", range(5))
def test_any_graph_is_run_once_each_after_what_it_needs_and_within_graham_of_the_best(seed):
    """Graham (1966): a list schedule on m machines takes at most 2 − 1/m times the bound max(sum / m, critical path)."""
    rng, lanes = random.Random(seed), 3
    stages = [f"s{number:02}" for number in range(40)]
    needs = [(stages[b], stages[a]) for b in range(40) for a in range(b) if rng.random() < 0.06]
    graph = graph_of([*needs, *((stage, "") for stage in stages)])
    seconds = {stage: rng.uniform(0.1, 10) for stage in stages}
    way = lengths(graph, seconds)
    queue, now, busy, ended = StageQueue(graph, way), 0.0, {}, {}
    while queue or busy:
        while len(busy) < lanes and (stage := queue.take()):
            assert all(ended[need] <= now for need in nx.descendants(graph, stage))
            busy[stage] = now + seconds[stage]
        stage = min(busy, key=busy.__getitem__)
        now = ended[stage] = busy.pop(stage)
        queue.done(stage)
    assert sorted(ended) == stages
    bound = max(sum(seconds.values()) / lanes, max(way.values()))
    assert bound <= now <= (2 - 1 / lanes) * bound


def test_what_is_not_known_is_like_its_kind_or_like_all():
    known = {"train@a": 10.0, "train@b": 20.0, "world": 3.0}
    assert expected(["train@a", "train@c", "world", "score"], known) == {
        "train@a": 10.0,
        "train@c": 15.0,
        "world": 3.0,
        "score": 11.0,
    }
    assert expected(["train@a", "score"], {}) == {"train@a": 1.0, "score": 1.0}


def test_seconds_are_kept_beside_those_of_other_stages(tmp_path):
    assert read_seconds(tmp_path) == {}
    keep_seconds(tmp_path, {})
    assert not (tmp_path / SECONDS).exists()
    keep_seconds(tmp_path, {"a": 1.5, "b": 2.0})
    keep_seconds(tmp_path, {"b": 3.0})
    assert read_seconds(tmp_path) == {"a": 1.5, "b": 3.0}


@pytest.mark.parametrize("text", ["", "{", "[1.0]", '{"a": "long"}', '{"a": NaN}'])
def test_seconds_that_cannot_be_read_are_not_known(tmp_path, text):
    (tmp_path / SECONDS).parent.mkdir()
    (tmp_path / SECONDS).write_text(text)
    assert read_seconds(tmp_path) == {}
    keep_seconds(tmp_path, {"a": 1.0})
    assert read_seconds(tmp_path) == {"a": 1.0}
