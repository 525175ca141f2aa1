"""Stage kvqae-rebuild: the rebuilt data set is read as the released one, shares no image, and leaks no question."""

import pytest

from sample.kvqae.annotators import AnnotationsParameters
from stages.kvqae.annotations import main as annotate
from stages.kvqae.rebuild import main
from tests.kvqae.annotated_world import (
    annotation,
    exported,
    record,
    write_export,
    write_generated,
    write_pictures,
    write_released,
)
from trivium.core.image_shards import Images
from trivium.core.tables import read_json_lines
from trivium.formats.questions import SPLITS, read_questions
from trivium.kvqae.construction.rebuilding import RebuildParameters
from trivium.kvqae.source_questions import check_no_leak

THIRDS = {"train": 1.0, "validation": 1.0, "test": 1.0}


def parameters(**changes):
    return RebuildParameters(**({"agreement_annotators": 3, "shares": THIRDS, "seed": 0} | changes))


def run(root, records, tasks, behind=(), **changes):
    generated = root / "generated.jsonl"
    write_generated(generated, records)
    images, _ = write_pictures(root, records)
    released = write_released(root / "released", list(behind))
    if tasks is not None:
        write_export(root / "annotations" / "export.json", tasks)
    return main(
        parameters(**changes),
        generated=generated,
        annotations=root / "annotations",
        images=images,
        released=released,
        out=root / "out",
    )


def kept(made, number=1, annotator=1, text=None, place=0):
    return annotation(number, annotator, question=text or made["input"], image=made["images"][place])


def lines(path):
    return [value for _, value in read_json_lines(path)]


def test_records_are_viquaes_and_images_have_names_of_their_own(tmp_path):
    records = [record(n) for n in (0, 2, 4)]
    tasks = [exported(made, kept(made, text=f"Where was entity {n} seen?", place=1)) for n, made in enumerate(records)]
    metrics = run(tmp_path, records, tasks)
    out = tmp_path / "out"
    written = {made["id"]: made for split in SPLITS for made in lines(out / "viquae" / f"{split}.jsonl")}
    assert written["tc_2_10"] == {
        "id": "tc_2_10",
        "input": "Where was entity 1 seen?",
        "image": "Q1_1.jpg",
        "wikidata_id": "Q1",
        "kilt_id": "tc_2",
        "url": "",
        "original_question": records[1]["original_question"],
        "output": {
            "original_answer": "Place 2",
            "answer": ["Place 2", "P2"],
            "provenance": [{"wikipedia_id": ["100"], "title": ["Name1 Surname1 (sailor)"]}],
        },
        "meta": {"image": "Photo 1 1.jpg"},
    }
    shown, candidates = Images(out / "images" / "questions"), Images(tmp_path / "images")
    assert sorted(shown.names) == ["Q0_1.jpg", "Q1_1.jpg", "Q2_1.jpg"]
    assert shown.read("Q1_1.jpg") == candidates.read("Photo 1 1.jpg")
    behind = {
        made["id"]: made for split in ("validation", "test") for made in lines(out / "triviaqa" / f"{split}.jsonl")
    }
    assert len(behind) == 2
    for made in behind.values():
        assert set(made) == {"id", "input", "output"}
        assert made["output"] == written[f"{made['id']}_10"]["output"]
        assert made["input"] == written[f"{made['id']}_10"]["original_question"]
    assert (metrics["kept"], metrics["questions"], metrics["images"]) == (3, 3, 3)
    assert metrics["edited_share"] == 1
    assert metrics["persons_share"] == pytest.approx(2 / 3)
    assert (metrics["released_questions"], metrics["released_images"]) == (12, 2)
    assert metrics["released_persons_share"] == 0.5
    assert metrics["released_test_answers_in_train"] == 0.5  # A2 and A3 of A2 to A5


@pytest.mark.parametrize("seed", range(3))
def test_simulated_annotators_to_splits_without_a_shared_image_or_a_leak(tmp_path, seed):
    records = [record(n) for n in range(120)]  # two questions an entity, with the same candidates
    records += [record(n, id=f"tc_{n}_70", images=[f"Photo of {n}.jpg"]) for n in range(40)]  # another mention
    generated = write_generated(tmp_path / "generated.jsonl", records)
    write_export(
        tmp_path / "tasks" / "tasks.json",
        [{"data": exported(made)["data"] | {"annotators": "A01 A02 A03"}} for made in records],
    )
    traits = {name: {"prevalence": 0.3, "flip": 0.1} for name in ("discard", "change_question", "change_image")}
    annotate(
        AnnotationsParameters(**traits, cancelled=0.02, seed=seed),
        source="sample",
        world="sample",
        brought=tmp_path / "brought",
        generated=tmp_path / "generated.jsonl",
        tasks=tmp_path / "tasks",
        out=tmp_path / "annotations",
    )
    behind = [made["original_question"].upper().replace("?", " ?") for made in records[:30]]
    metrics = run(tmp_path, records, None, behind=behind, seed=seed)
    out = tmp_path / "out"
    splits = {split: read_questions(out / "viquae" / f"{split}.jsonl") for split in SPLITS}
    images = {split: {question.image for question in part} for split, part in splits.items()}
    sources = {split: {question.original_question for question in part} for split, part in splits.items()}
    for shared in (images, sources):
        assert not shared["train"] & shared["validation"]
        assert not shared["train"] & shared["test"]
        assert not shared["validation"] & shared["test"]
    assert len({question.image for part in splits.values() for question in part}) < metrics["kept"]  # some are shared
    assert set(Images(out / "images" / "questions").names) == set.union(*images.values())
    assert max(map(len, splits.values())) - min(map(len, splits.values())) <= 4
    assert check_no_leak(out / "viquae", out / "triviaqa") == 0
    originals = set.union(*sources.values())
    removed = sum(made["original_question"] in originals for made in records[:30])
    assert metrics["triviaqa_behind_questions"] == 3 * removed > 0
    assert metrics["triviaqa_repeated"] == 2 * (30 - removed)
    assert metrics["triviaqa_train"] == 12 + 30 - removed
    read_questions(out / "triviaqa" / "train.jsonl")
    for split in ("validation", "test"):
        texts = {question.text for question in read_questions(out / "triviaqa" / f"{split}.jsonl")}
        assert texts == sources[split]
    for name in ("kappa_discard", "kappa_change_question", "kappa_change_image"):
        assert metrics[name] == pytest.approx(metrics[f"{name}_expected"], abs=0.25)
    dropped = ("discarded", "dropped_naming_the_entity", "dropped_giving_the_answer")
    assert metrics["annotated"] == metrics["kept"] + sum(metrics[name] for name in dropped)
    assert generated.keys() >= {question.id for part in splits.values() for question in part}


def test_discards_named_entities_and_given_answers_are_counted(tmp_path):
    records = [record(n) for n in (0, 2, 4, 6, 8, 10, 12)]
    tasks = [exported(made, kept(made)) for made in records[:3]]
    tasks += [
        exported(
            records[3], annotation(1, 1, "overspecified"), kept(records[3], 2, 2), annotation(3, 3, "overspecified")
        )
    ]
    tasks += [exported(records[4], kept(records[4], text="Where was NAME4 surname4, seen?"))]
    tasks += [exported(records[5])]
    tasks += [exported(records[6], kept(records[6], text="Was this man seen in the PLACE, 2?"))]
    metrics = run(tmp_path, records, tasks)
    expected = {"annotated": 6, "discarded": 1, "kept": 3}
    expected |= {"dropped_naming_the_entity": 1, "dropped_giving_the_answer": 1}
    assert {name: metrics[name] for name in expected} == expected
    assert metrics["discarded_share"] == 1 / 6
    assert metrics["unannotated_tasks"] == 1
    assert metrics["agreement_questions"] == 1
