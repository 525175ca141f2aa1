"""Candidate images: order, limits, every reason to refuse a file, on pictures of a few pixels."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.kvqae.tiny_construction import commons_file, write_lines
from trivium.core.image_shards import write_images
from trivium.kvqae.construction.candidate_images import REASONS, CandidateImagesParameters, find_candidates
from trivium.kvqae.construction.subjects import SUBJECT_SCHEMA

NAMED = {"description": "Ada Lark", "depicts": ["Q1"]}


def picture(seed, quality=90, size=(60, 48), darkest=0):
    small = np.random.default_rng(seed).integers(darkest, 256, (8, 9, 3), dtype=np.uint8)
    data = io.BytesIO()
    Image.fromarray(small).resize(size, Image.Resampling.BICUBIC).save(data, "jpeg", quality=quality)
    return data.getvalue()


def subject(question="q1", item="Q1", name="Ada Lark", commons="Ada Lark", reference="Ref.jpg", start=0):
    fields = {"question": question, "start": start, "wikidata_id": item, "name": name}
    return dict.fromkeys(SUBJECT_SCHEMA.names) | fields | {"commons": commons, "reference": reference}


def run(folder, files, *, subjects=(), pictures=None, images=8, max_bits=6, base=None):
    """Find them; pictures are made up for the files that get none. Returns metrics and candidates by key."""
    made = {file["title"].removeprefix("File:"): picture(seed) for seed, file in enumerate(files, 1000)}
    pictures = {name: data for name, data in (made | (pictures or {})).items() if data is not None}
    write_images(folder / "commons", (pictures or {"none.jpg": b""}).items())
    write_images(folder / "kb", (base or {"Ref.jpg": picture(0)}).items())
    rows, metrics = find_candidates(
        list(subjects) or [subject()],
        CandidateImagesParameters(images=images, max_bits=max_bits, max_pixels=10**6),
        commons=write_lines(folder / "commons.jsonl", files),
        images=folder / "commons",
        kb_images=folder / "kb",
    )
    return metrics, {row["key"]: row for row in rows}


def test_best_score_first_ties_by_title_and_no_more_than_asked_for(tmp_path):
    files = [
        commons_file("Ada Lark", "c.jpg"),
        commons_file("Ada Lark", "b.jpg", license="CC-BY-4.0"),
        commons_file("Ada Lark", "z.jpg", **NAMED),
        commons_file("Ada Lark", "Ada Lark 1.jpg", **NAMED, categories=["Ada Lark", "Ada Lark in art"], license="pd"),
        commons_file("Bo Finch", "a.jpg", **NAMED),
        commons_file("Ada Lark", "y.jpg", description="by ada lark."),
    ]
    metrics, found = run(tmp_path, files, images=4)
    assert found == {
        "q1_0": {
            "key": "q1_0",
            "images": ["Ada Lark 1.jpg", "z.jpg", "y.jpg", "b.jpg"],
            "scores": [4, 2, 1, 0],
            "licenses": ["pd", "cc0", "cc0", "CC-BY-4.0"],
        }
    }
    assert [metrics[f"images_of_score_{score}"] for score in range(5)] == [1, 1, 1, 0, 1]
    assert run(tmp_path, files[::-1], images=4) == (metrics, found)


@pytest.mark.parametrize(
    ("fields", "data", "reason"),
    [
        ({}, "another", None),
        ({"license": "cc-by-nc-4.0"}, "another", "licence_restricted"),
        ({"license": "house-rules"}, "another", "licence_unknown"),
        ({"title": "File:Ref.jpg"}, "another", "reference"),
        ({"title": "File:ref.jpg"}, "another", "reference"),  # Commons' first letter has no case
        ({}, None, "not_at_hand"),
        ({}, picture(5)[:400], "unreadable"),
        ({}, picture(0), "near_duplicate"),
        ({}, picture(0, quality=30, size=(31, 25)), "near_duplicate"),
        ({"license": "cc-by-nd-4.0"}, picture(0), "licence_restricted"),  # the first reason counts
    ],
)
def test_every_reason_to_refuse_a_file(tmp_path, fields, data, reason):
    file = commons_file("Ada Lark", "x.jpg") | fields
    name = file["title"].removeprefix("File:")
    metrics, found = run(tmp_path, [file], pictures={name: picture(7) if data == "another" else data})
    assert (found == {}) == (reason is not None)
    assert {each for each in REASONS if metrics[each]} == ({reason} if reason else set())


def test_a_preview_stands_for_its_file(tmp_path):
    files = [commons_file("Ada Lark", name) for name in ("Ref.jpg", "copy.jpg", "other.jpg")]
    metrics, found = run(
        tmp_path, files, subjects=[subject(reference="512px-Ref.jpg")], pictures={"copy.jpg": picture(0, quality=40)},
        base={"512px-Ref.jpg": picture(0)},
    )  # fmt: skip
    assert found["q1_0"]["images"] == ["other.jpg"]
    assert (metrics["reference"], metrics["near_duplicate"], metrics["reference_not_at_hand"]) == (1, 1, 0)


def test_a_reference_that_is_not_at_hand_or_broken_is_counted_and_compared_by_name_alone(tmp_path):
    files = [commons_file("Ada Lark", "x.jpg"), commons_file("Ada Lark", "Ref.jpg")]
    for name, base in (("reference_not_at_hand", {"a.jpg": picture(0)}), ("reference_unreadable", {"Ref.jpg": b"no"})):
        metrics, found = run(tmp_path, files, pictures={"x.jpg": picture(0)}, base=base)
        assert found["q1_0"]["images"] == ["x.jpg"]
        assert metrics[name] == 1


def test_questions_without_image_are_counted_and_mentions_share_their_entitys_images(tmp_path):
    files = [commons_file("Ada_Lark", "x.jpg"), commons_file("Bo Finch", "y.jpg", license="fair use")]
    subjects = [
        subject(),
        subject(question="q2", start=7),
        subject(question="q2", item="Q2", commons="Bo Finch"),
        subject(question="q4", item="Q3", commons="Cy Wren"),
        subject(question="q5", item="Q4", commons=None),
    ]
    metrics, found = run(tmp_path, files, subjects=subjects)
    assert set(found) == {"q1_0", "q2_7"}
    expected = {"questions": 5, "questions_without_image": 3, "share_without_image": 0.6, "no_commons_category": 1}
    expected |= {"entities": 4, "entities_without_image": 3, "images_of_score_0": 1}
    assert {name: metrics[name] for name in expected} == expected
