"""Pairs, parts of the queries and values by query, by hand; what was asked once is not asked again."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.decorrelation.benchmark.benchmark_project import Words, texts_of, write_hugging_face
from tests.decorrelation.tiny_models import write_base
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.answers import SetAnswers, by_chance, by_stratum, query_rows, score, strata
from trivium.decorrelation.benchmark.family import FAMILIES, NamedModel
from trivium.decorrelation.benchmark.leaderboard import odmap


def answers(asked, pairs):
    """Some captions and ranks, and these scores of (whole, painted) with (y, y′)."""
    captions = np.tile(asked.captions.ids[:10], (len(asked.queries.ids), 1))
    ones = (np.ones(len(asked.pictures.names), np.int64), np.ones(int(asked.captions.test.sum()), np.int64))
    return SetAnswers(captions, *ones, np.float32(pairs))


def test_a_pair_is_right_on_a_side_where_its_caption_scores_more_and_a_tie_is_wrong(asked):
    right, wrong, tie = [[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 1], [1, 1]]
    always_y = [[1, 0], [1, 0]]
    found = score(asked, answers(asked, [right, right, right, wrong, tie, always_y, always_y, always_y, always_y]))
    assert found.mean("pair_whole") == pytest.approx(7 / 9)
    assert found.mean("pair_painted") == pytest.approx(3 / 9)
    assert found.mean("pair_both") == pytest.approx(3 / 9)
    assert {name: by_chance(asked)[name] for name in ("pair_whole", "pair_both")} == {
        "pair_whole": 0.5,
        "pair_both": 0.25,
    }
    low, high = found.intervals["pair_both"]
    assert 0 <= low < 3 / 9 < high <= 1


def test_guessing_scores_what_chance_says(asked):
    rng = np.random.default_rng(0)
    means = [score(asked, answers(asked, rng.normal(size=(9, 2, 2)))).mean("pair_both") for _ in range(60)]
    assert np.mean(means) == pytest.approx(0.25, abs=0.06)


def test_little_paint_or_what_nobody_named_tests_hardly_anything(asked):
    shares = np.where(np.arange(9) < 2, 0.005, 0.3)
    unnamed = asked.gallery.names.copy()
    unnamed[asked.gallery.pictures == asked.queries.pictures[8]] = False
    changed = replace(asked, shares=shares, gallery=replace(asked.gallery, names=unnamed))
    gone = (asked.queries.pictures == asked.queries.pictures[8]).sum()
    parts = {kind: {name: int(member.sum()) for name, member in of.items()} for kind, of in strata(changed).items()}
    assert parts["what it tests"] == {"something": 7 - gone, "hardly anything": 2 + gone}
    assert parts["what is gone"] == {"people named it": 9 - gone, "nobody named it": gone}
    assert parts["share painted over"] == {"0 to 1 %": 2, "20 to inf %": 7}
    assert sum(parts["class"].values()) == 9
    found = score(changed, answers(changed, np.zeros((9, 2, 2))))
    assert len(found.values["odmap@1_tested"]) == 7 - gone


def test_strata_and_lines_by_query_add_up_to_the_means(asked):
    found = score(asked, answers(asked, np.random.default_rng(0).normal(size=(9, 2, 2))))
    rows = list(query_rows(asked, {"m": found}))
    assert [row["id"] for row in rows] == list(asked.queries.ids)
    for measure in ("odmap@1", "odmap@10", "still_named", "pair_both"):
        assert np.mean([row["models"]["m"][measure] for row in rows]) == pytest.approx(found.mean(measure))
    for kind in ("class", "usual partner"):
        parts = [row for row in by_stratum(asked, {"m": found}) if row["stratum"] == kind]
        total = sum(row["queries"] * row["pair_both"] for row in parts)
        assert total / 9 == pytest.approx(found.mean("pair_both"))


def test_a_model_that_was_asked_is_not_asked_again_unless_its_files_or_the_precision_change(
    project, tmp_path, monkeypatch
):
    folder = write_hugging_face("clip", tmp_path / "clip", texts_of(project))
    loads = []
    load = NamedModel.load
    monkeypatch.setattr(NamedModel, "load", lambda self: loads.append(self.name) or load(self))

    def ask(**options):
        return odmap([str(folder)], project, cache=tmp_path / "cache", **options).rows[0].scores

    first, second = ask(), ask()
    assert len(loads) == 1
    assert {name: first.mean(name) for name in first.values} == {name: second.mean(name) for name in second.values}
    ask(precision="bfloat16")
    assert len(loads) == 2
    (folder / "preprocessor_config.json").touch()
    ask()
    assert len(loads) == 3
    assert len(list((tmp_path / "cache").glob("*/*/captions.npy"))) == 3


@pytest.mark.parametrize("data", [b"", b"not an archive", b"PK\x03\x04 cut off"])
def test_a_damaged_file_of_answers_is_named(data, project, tmp_path):
    folder = write_hugging_face("clip", tmp_path / "clip", texts_of(project))
    odmap([str(folder)], project, cache=tmp_path / "cache")
    (file,) = (tmp_path / "cache").glob("*/*.npz")
    file.write_bytes(data)
    with pytest.raises(BadInput, match=f"{file.name}: a damaged file of answers.*expected remove it"):
        odmap([str(folder)], project, cache=tmp_path / "cache")


def test_texts_and_pictures_are_encoded_once(project, tmp_path, monkeypatch):
    """Also where the model failed in between, and with other candidates."""
    encoded, fails = Counter(), [True]

    class Counting(Words):
        def encode_images(self, images):
            if fails:
                raise RuntimeError(fails.pop())
            encoded["pictures"] += len(images)
            return super().encode_images(images)

        def encode_texts(self, texts):
            encoded["texts"] += len(texts)
            return super().encode_texts(texts)

        def match(self, images, texts):
            return [np.array([len(text) for text in own], np.float32) for own in texts]

    monkeypatch.setitem(FAMILIES, "open_clip", replace(FAMILIES["open_clip"], load=lambda source: Counting()))
    folder = write_base("clip", tmp_path / "clip")

    def ask(project, **options):
        encoded.clear()
        return odmap([str(folder)], project, cache=tmp_path / "cache", **options).rows[0].scores

    with pytest.raises(BadInput, match="no model could be asked"):
        ask(project)
    assert encoded.keys() == {"texts"}
    both = ask(project)
    assert encoded == {"pictures": 4 + 9}
    alone = ask(project, candidates=0)
    assert encoded == {}
    for options, kept in (({}, both), ({"candidates": 0}, alone)):
        anew = odmap({"m": Counting()}, project, **options).rows[0].scores
        assert {name: kept.mean(name) for name in kept.values} == {name: anew.mean(name) for name in anew.values}
    assert (both.chosen != alone.chosen).any()


def test_correlation_over_three_models_or_none(project):
    class Other(Words):
        def __init__(self, sign):
            self.sign = sign

        def encode_images(self, images):
            return super().encode_images(images) * [self.sign, 1, -self.sign, 1]

    models = {"a": Words(), "b": Other(-1), "c": Other(3)}
    assert odmap({"a": Words()}, project).correlation is None
    board = odmap(models, project)
    assert board.correlation is None or -1 <= board.correlation <= 1
