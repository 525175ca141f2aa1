"""Lists in the format of ECCV Caption's package: what they score, and what is refused."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.decorrelation.benchmark.benchmark_project import Words, write_project
from trivium.commands import cli
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.answers import answer
from trivium.decorrelation.benchmark.benchmark_set import open_set
from trivium.decorrelation.benchmark.embedder import embed
from trivium.decorrelation.benchmark.positives import MEASURES, WAYS, positive_scores, read_positives
from trivium.decorrelation.benchmark.scores import score
from trivium.page.leaderboard import leaderboard_html, leaderboard_markdown

PICTURES = [f"COCO_val2014_{number:012d}.jpg" for number in (42, 7, 99)]
CAPTIONS = [10, 11, 12, 13, 14, 15]


def write_lists(folder, tree):
    folder.mkdir(parents=True, exist_ok=True)
    for name, lists in tree.items():
        (folder / f"{name}.json").write_text(json.dumps(lists))
    return folder


def random_lists(rng, pictures, captions):
    """Two sets; the queries of one are some, those of the other all."""
    tree = {}
    for name, share in (("eccv", 0.6), ("cxc", 1.0)):
        for way, (queries, items) in (
            ("image_to_caption", (pictures, captions)),
            ("caption_to_image", (captions, pictures)),
        ):
            asked = rng.permutation(queries)[: max(1, round(share * len(queries)))]
            tree[f"{name}_{way}"] = {
                str(query): rng.permutation(items)[: rng.integers(1, len(items))].tolist() for query in asked
            }
    return tree


def plain(name, ranking, right):
    if name == "cxc":
        return [float(bool(set(ranking[:k]) & right)) for k in (1, 5, 10)]
    precisions = [len(set(ranking[:r]) & right) / r for r in range(1, len(right) + 1)]
    average = sum(p for r, p in enumerate(precisions) if ranking[r] in right) / len(right)
    return [average, precisions[-1], float(ranking[0] in right)]


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_ranked_lists(tmp_path, seed):
    rng = np.random.default_rng(seed)
    pictures, captions = rng.permutation(900)[:30], rng.permutation(900)[:150]
    tree = random_lists(rng, pictures.tolist(), captions.tolist())
    names = [f"COCO_val2014_{number:012d}.jpg" for number in pictures]
    positives = read_positives(write_lists(tmp_path, tree), names, captions)
    vectors = [rng.normal(size=(count, 16)).astype(np.float32) for count in (30, 150)]
    vectors = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors]
    found = positive_scores(positives, *vectors)
    assert tuple(found) == positives.measures
    similarity = vectors[0].astype(float) @ vectors[1].T.astype(float)
    for name, measures in MEASURES.items():
        for way, file in WAYS.items():
            scores = similarity if way == "image_to_text" else similarity.T
            queries, items = (pictures, captions) if way == "image_to_text" else (captions, pictures)
            for row, query in enumerate(sorted(map(int, tree[f"{name}_{file}"]))):
                own = scores[queries.tolist().index(query)]
                ranking = items[np.argsort(-own)].tolist()
                expected = plain(name, ranking, set(tree[f"{name}_{file}"][str(query)]))
                got = [found[f"{name}_{way}_{measure}"][0][row] for measure in measures]
                assert got == pytest.approx(expected, abs=1e-12), (name, way, query)


def test_ties_count_against_the_model(tmp_path):
    tree = {f"{name}_{file}": {"42" if file.startswith("image") else "10": [11 if file.startswith("image") else 7]}
            for name in MEASURES for file in WAYS.values()}  # fmt: skip
    positives = read_positives(write_lists(tmp_path, tree), PICTURES, CAPTIONS)
    same = np.tile(np.float32([1, 0]), (6, 1))
    assert {float(values.max()) for values, _ in positive_scores(positives, same[:3], same).values()} == {0.0, 1.0}
    found = positive_scores(positives, same[:3], same)
    assert found["cxc_image_to_text_r@1"][0].tolist() == [0]
    assert found["cxc_image_to_text_r@10"][0].tolist() == [1]
    assert found["eccv_image_to_text_map@r"][0].tolist() == [0]


def test_a_right_answer_that_the_test_lacks_counts_and_is_never_found(tmp_path):
    tree = {"eccv_image_to_caption": {"42": [10, 999]}, "eccv_caption_to_image": {"10": [42]}}
    positives = read_positives(write_lists(tmp_path, tree), PICTURES, CAPTIONS)
    found = positive_scores(positives, np.eye(6, dtype=np.float32)[:3], np.eye(6, dtype=np.float32))
    assert positives.missing == 1
    assert found["eccv_image_to_text_r_precision"][0].tolist() == [0.5]
    assert found["eccv_image_to_text_map@r"][0].tolist() == [0.5]
    assert found["eccv_text_to_image_map@r"][0].tolist() == [1]


def test_the_fingerprint_is_of_the_lists_and_not_of_their_order(tmp_path):
    one = {"eccv_image_to_caption": {"42": [10, 11], "7": [12]}, "eccv_caption_to_image": {"10": [42]}}
    other = {"eccv_image_to_caption": {"7": [12], "42": [11, "10", 10]}, "eccv_caption_to_image": {"10": [42]}}
    third = {"eccv_image_to_caption": {"7": [13], "42": [11, 10]}, "eccv_caption_to_image": {"10": [42]}}
    digests = [read_positives(write_lists(tmp_path / str(k), tree), PICTURES, CAPTIONS).digest
               for k, tree in enumerate((one, other, third))]  # fmt: skip
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "no lists of right answers"),
        ({"cxc_image_to_caption": {"42": [10]}}, "cxc_caption_to_image.json"),
        (
            {"cxc_image_to_caption": {"42": [10]}, "cxc_caption_to_image": {"10": [8]}},
            "field '10': no right answer that the test has",
        ),
        ({"cxc_image_to_caption": {"42": ["x"]}, "cxc_caption_to_image": {"10": [7]}}, "field '42': not ids; got"),
        ({"cxc_image_to_caption": [1], "cxc_caption_to_image": {"10": [7]}}, "not lists of right answers; expected"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path, tree, message):
    with pytest.raises(BadInput, match=message.replace("[", r"\[")):
        read_positives(write_lists(tmp_path / "lists", tree), PICTURES, CAPTIONS)


def test_other_pictures_than_cocos_are_refused(tmp_path):
    write_lists(tmp_path, {"cxc_image_to_caption": {"42": [10]}, "cxc_caption_to_image": {"10": [42]}})
    with pytest.raises(BadInput, match="of COCO's test pictures; got 'scene_1.jpg'"):
        read_positives(tmp_path, ["scene_1.jpg"], CAPTIONS)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """With lists that are COCO's own pairs."""
    folder = write_project(tmp_path / "project")
    asked = open_set(folder)
    coco = {
        picture: int(name[-16:-4]) for picture, name in zip(asked.pictures.owners, asked.pictures.names, strict=True)
    }
    test = asked.captions.test
    own = {int(caption): coco[int(picture)] for caption, picture in
           zip(asked.captions.ids[test], asked.captions.pictures[test], strict=True)}  # fmt: skip
    lists = {str(picture): [caption for caption, of in own.items() if of == picture] for picture in coco.values()}
    tree = {"image_to_caption": lists, "caption_to_image": {str(caption): [of] for caption, of in own.items()}}
    write_lists(folder / "lists", {f"{name}_{file}": each for name in MEASURES for file, each in tree.items()})
    monkeypatch.chdir(folder)
    return folder


def test_with_cocos_own_pairs_recall_is_the_boards_own(project):
    asked = open_set(project, positives=project / "lists")
    vectors = embed(Words(), asked, "words")
    found = score(asked, vectors, answer(asked, vectors))
    for way in WAYS:
        for k in (1, 5, 10):
            own = found.values[f"{way}_r@{k}"]
            np.testing.assert_array_equal(np.sort(found.values[f"cxc_{way}_r@{k}"]), np.sort(own))
        assert found.intervals[f"eccv_{way}_map@r"] is not None
    without = score(replace(asked, positives=None), vectors, answer(asked, vectors))
    assert {name: without.mean(name) for name in without.values} == {name: found.mean(name) for name in without.values}


def test_they_stand_on_the_board(project, monkeypatch, capsys):
    from trivium.decorrelation.benchmark.leaderboard import odmap
    from trivium.page.leaderboard import write_leaderboard

    board = odmap({"words": Words()}, project, positives="lists")
    assert 'id="extended"' in leaderboard_html(board)
    assert "ECCV Caption mAP@R i→t" in leaderboard_markdown(board)
    write_leaderboard(board, project / "board")
    (row,) = json.loads((project / "board/leaderboard.json").read_text("utf-8"))["models"]
    assert row["positives"] == board.asked.positives.digest
    assert row["eccv_text_to_image_r_precision"] == board.rows[0].scores.mean("eccv_text_to_image_r_precision")
    assert 'id="extended"' not in leaderboard_html(odmap({"words": Words()}, project))
    monkeypatch.setattr(sys, "argv", [])
    with pytest.raises(SystemExit):
        cli.run("odmap", ["--model", "nowhere", "--positives", "lists", "--out", "other"])
    assert "no such folder, and no kind of model" in capsys.readouterr().err
