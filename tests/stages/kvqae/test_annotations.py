"""Stage kvqae-annotations: simulated annotators disagree as much as is known, people's export is checked and taken."""

import json
from collections import Counter

import pytest

from sample.kvqae.annotators import AnnotationsParameters, Trait, any_seen, expected_kappa, simulate
from stages.kvqae.annotations import main
from tests.kvqae.annotated_world import annotation, exported, record, write_export, write_generated
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.annotation.project import agreement, edit_statistics, edited_words, read_annotations, settle

TRAITS = {
    "discard": {"prevalence": 0.26, "flip": 0.19},
    "change_question": {"prevalence": 0.57, "flip": 0.15},
    "change_image": {"prevalence": 0.2, "flip": 0.1},
}


def parameters(**changes):
    return AnnotationsParameters(**({**TRAITS, "cancelled": 0.0, "seed": 0} | changes))


def tasks_of(records, annotators=3):
    codes = " ".join(f"A{n:02d}" for n in range(1, annotators + 1))
    return [{"data": exported(made)["data"] | {"annotators": codes}} for made in records]


def test_expected_kappa_of_one_trait_is_in_closed_form():
    # Var(r) / (p (1 - p)) with r = 1 - e or e: prevalence·(1 - prevalence)·(1 - 2e)² / (p (1 - p)).
    prevalence, flip = 0.26, 0.19
    share = prevalence * (1 - flip) + (1 - prevalence) * flip
    by_hand = prevalence * (1 - prevalence) * (1 - 2 * flip) ** 2 / (share * (1 - share))
    assert expected_kappa(any_seen(Trait(prevalence=prevalence, flip=flip))) == pytest.approx(by_hand)
    assert expected_kappa(any_seen(Trait(prevalence=0.3, flip=0))) == pytest.approx(1)
    assert expected_kappa(any_seen(Trait(prevalence=0.3, flip=0.5))) == pytest.approx(0)
    assert expected_kappa(any_seen(Trait(prevalence=0, flip=0.2))) == pytest.approx(0)  # nothing is true: only noise
    assert expected_kappa(any_seen(Trait(prevalence=0, flip=0))) is None


@pytest.mark.parametrize("without_choice", [0, 2])
def test_simulated_annotators_agree_as_expected(tmp_path, without_choice):
    """4 000 questions of 3 annotators; of some there is but one candidate image."""
    records = [record(n) for n in range(4000)]
    for made in records[: without_choice * 1000]:
        made["images"] = made["images"][:1]
    questions = write_generated(tmp_path / "g.jsonl", records)
    export, expected = simulate(parameters(), questions, tasks_of(records))
    annotations, counts = read_annotations(write_export(tmp_path / "e.json", export), questions)
    assert counts["annotations"] == 12_000
    measured = agreement(annotations, questions, 3)
    for name in ("kappa_discard", "kappa_change_question", "kappa_change_image"):
        assert measured[name] == pytest.approx(expected[name], abs=0.04)  # three standard deviations
    assert expected["kappa_discard"] == pytest.approx(0.3246, abs=1e-4)
    settled = {identifier: settle(made) for identifier, made in annotations.items()}
    edits = edit_statistics({name: made for name, made in settled.items() if made}, questions)
    assert edits["edited_share"] == pytest.approx(expected["edited_share"], abs=0.03)
    words = [
        edited_words(each, questions[name])
        for name, made in annotations.items()
        for each in made
        if each.discarded is None
    ]
    assert sum(words) / sum(word > 0 for word in words) == pytest.approx(expected["edit_words"])  # known exactly
    assert edits["edit_words"] == pytest.approx(expected["edit_words"], abs=0.15)


def folder(tmp_path, records):
    generated = tmp_path / "g.jsonl"
    write_generated(generated, records)
    write_export(tmp_path / "tasks" / "tasks.json", tasks_of(records))
    return {
        "generated": generated,
        "tasks": tmp_path / "tasks",
        "out": tmp_path / "out",
        "brought": tmp_path / "brought",
        "world": "sample",
    }


def test_the_sample_is_written_as_label_studio_would(tmp_path):
    records = [record(n) for n in range(200)]
    arguments = folder(tmp_path, records)
    metrics = main(parameters(cancelled=0.1), source="sample", **arguments)
    export = read_json(tmp_path / "out" / "export.json")
    assert {len(task["annotations"]) for task in export} == {3}
    assert metrics["annotations"] + metrics["cancelled_annotations"] == 600
    assert 30 < metrics["cancelled_annotations"] < 90
    expected = read_json(tmp_path / "out" / "expected.json")
    assert metrics["kappa_discard_expected"] == expected["kappa_discard"]
    reasons = Counter(part["value"]["choices"][0] for task in export for made in task["annotations"]
                      for part in made["result"] if part["from_name"] == "decision")  # fmt: skip
    assert len(reasons) == 4
    before = (tmp_path / "out" / "export.json").read_bytes()
    main(parameters(cancelled=0.1), source="sample", **arguments)
    assert (tmp_path / "out" / "export.json").read_bytes() == before


def test_an_export_of_people_is_checked_and_taken(tmp_path):
    records = [record(0), record(2)]
    arguments = folder(tmp_path, records)
    kept = annotation(1, 4, question="Where was he seen?", image=records[0]["images"][1])
    path = write_export(tmp_path / "brought" / "annotation.json", [exported(records[0], kept)])
    metrics = main(parameters(), source="local", **arguments)
    assert metrics == {"tasks": 1, "annotations": 1, "cancelled_annotations": 0, "unannotated_tasks": 0, "simulated": 0}
    assert read_json(tmp_path / "out" / "export.json") == json.loads(path.read_text())
    assert not (tmp_path / "out" / "expected.json").exists()
    write_export(path, [exported(records[0], annotation(1, question="Where?"))])
    with pytest.raises(BadInput, match=r"brought/annotation\.json:1: field 'annotations\[0\]\.result\.image'"):
        main(parameters(), source="local", **arguments)
