"""The French FrameNet's Sequoia sentences: all are read, and the linear parser beats the lexicon on those it has not seen."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bench.real import frames
from stages.complexity.frame_parser import main as stage
from tests.complexity.frame_world import find, make_texts, write_encoder
from trivium.complexity.frames.labels import collect_labels
from trivium.complexity.frames.scores import triggers_in
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tracking import Tracker
from trivium.formats.frame_corpora import read_texts, write_texts
from trivium.formats.framed_texts import AnnotatedText, FrameInstance, LexicalUnit
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.measures.frames import SetScore

NAMESPACE = "{http://framenet.icsi.berkeley.edu}"


@pytest.mark.real
def test_every_annotation_is_read(real: Callable[[str], Path], tmp_path: Path):
    folder = real("asfalda_sequoia")
    texts, counts = read_framenet(folder / "lu", read_core_types(folder / "frame"))
    write_texts(tmp_path / "texts.jsonl", texts)
    assert read_texts(tmp_path / "texts.jsonl") == texts

    # The same by hand, on the XML itself: what stands where, by sentence.
    sets, null, sentences = [], 0, set()
    for path in sorted((folder / "lu").glob("*.xml")):
        root = ElementTree.parse(path).getroot()
        for sentence in root.iter(f"{NAMESPACE}sentence"):
            text = (sentence.findtext(f"{NAMESPACE}text") or "").replace("_", " ")
            sentences.add(sentence.get("ID"))
            for annotated in sentence.iter(f"{NAMESPACE}annotationSet"):
                found: dict[str, list[tuple[str, int, str]]] = {"Target": [], "FE": []}
                for layer in annotated:
                    for label in layer:
                        null += label.get("itype") is not None
                        if label.get("itype") is None:
                            start, end = int(label.get("start")), int(label.get("end")) + 1
                            found[layer.get("name")].append((label.get("name"), start, text[start:end]))
                sets.append(
                    (sentence.get("ID"), root.get("frame"), tuple(sorted(found["Target"])), tuple(sorted(found["FE"])))
                )
    assert (len(sets), len(sentences), len(texts)) == (3334, 1507, 1507)
    ours = [
        (
            text.id,
            each.frame,
            tuple(("Target", part.start, part.of(text.text).replace("_", " "))
                  for part in (each.lexical_unit.span, *each.lexical_unit.more)),
            tuple(sorted((e.name, e.span.start, e.span.of(text.text).replace("_", " ")) for e in each.elements)),
        )
        for text in texts
        for each in text.frames
    ]  # fmt: skip
    assert len(ours) + counts["frames_given_twice"] == len(sets)
    assert set(ours) == set(sets)
    assert counts["elements_not_expressed"] == null == 970
    assert (counts["triggers_in_several_parts"], counts["elements_overlapping"]) == (16, 838)


@pytest.mark.real
def test_the_stage_trains_on_it_and_measures(real: Callable[[str], Path], tmp_path: Path):
    """Forms that stand only inside longer ones once ended a training here; elements overlap."""
    folder = real("asfalda_sequoia")
    texts, _ = read_framenet(folder / "lu", read_core_types(folder / "frame"))
    split = {"train": texts[:1000], "validation": texts[1000:1010], "test": texts[1010:1060]}
    for name, part in split.items():
        write_texts(tmp_path / f"{name}.jsonl", part)
    alone = collect_labels(split["train"])
    assert set(alone.forms) - set(alone.occurrences)
    torch.manual_seed(0)
    parameters = frames.TRAINING.model_copy(update={"steps": 2, "permutations": 20})
    metrics = stage(
        parameters,
        Context(Tracker(), tmp_path, LocalEngine(1)),
        base=write_encoder(tmp_path / "base", width=16, layers=1, positions=300),
        texts=tmp_path,
        out=tmp_path / "parser",
    )
    assert metrics["train_elements_overlapping"] > 200
    assert metrics["true_frames"] == sum(len(text.frames) for text in split["test"])
    assert 0 < metrics["baseline_frame_f1"] < 1


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_linear_parser_beats_the_lexicon(real: Callable[[str], Path], tmp_path: Path):
    folder = real("asfalda_sequoia")
    texts, _ = read_framenet(folder / "lu", read_core_types(folder / "frame"))
    found = frames.measure(texts, None, tmp_path)
    print(f"\nAsfalda: {found}")
    for task in ("trigger", "frame", "frame_of_trigger"):
        assert found[f"linear_{task}"] > found[f"baseline_{task}"]
        assert found[f"linear_{task}_p"] <= 0.05
    assert found["linear_element_given_frame"] >= 0.35
    assert found["linear_element_given_frame_low"] < found["linear_element_given_frame"]


def one_sentence(count: int) -> list[AnnotatedText]:
    return [text for text in make_texts(count, seed=0, sentences=1) if text.frames]


def test_all_systems_are_measured_on_all_sentences(tmp_path: Path):
    torch.manual_seed(0)
    base = write_encoder(tmp_path / "base", width=32, layers=1)
    training = frames.TRAINING.model_copy(update={"steps": 60, "learning_rate": 5e-3, "max_tokens": 64})
    found = frames.measure(one_sentence(60), base, tmp_path, folds=2, training=training)
    assert found["annotated"] == found["frames"] == found["sentences"]
    assert found["linear_frame"] > 0.8
    assert found["encoder_frame"] > 0.3
    for system in ("linear", "encoder"):
        for task in ("trigger", "frame", "frame_of_trigger", "element_given_frame", "element"):
            assert found[f"{system}_{task}_low"] <= found[f"{system}_{task}"] <= found[f"{system}_{task}_high"]
            assert (f"baseline_{task}" in found) == (f"{system}_{task}_p" in found) == ("element" not in task)
        assert 0 < found[f"{system}_frame_p"] <= 1
    assert found["linear_element"] > 0.5


class Fixed:
    """Says what it was told to say."""

    def __init__(self, found: list[FrameInstance]) -> None:
        self.found = found

    def parse(self, texts):
        return [self.found for _ in texts]

    def frames_of(self, texts, given):
        return [["A" for _ in frames] for frames in given]

    def with_elements(self, texts, given):
        return given


def test_triggers_count_only_where_something_is_annotated():
    text = "un deux trois quatre cinq six"

    def frame(name: str, word: str) -> FrameInstance:
        return FrameInstance(name, LexicalUnit(word, "other", find(text, word)), ())

    gold = AnnotatedText("t", "", text, (frame("A", "deux"), frame("Other_sense", "quatre"), frame("B", "cinq")), ())
    # Right; annotated as evoking nothing; not annotated; cut otherwise than the annotation; of another frame.
    found = [
        frame("A", "deux"),
        frame("A", "quatre"),
        frame("A", "six"),
        frame("A", "trois quatre"),
        frame("C", "cinq"),
    ]
    scores = frames.scored(Fixed(found), [gold])
    assert scores["trigger"] == [SetScore(2, 4, 2)]
    assert scores["frame"] == [SetScore(1, 4, 2)]
    assert scores["frame_of_trigger"] == [SetScore(1, 2, 2)]


def test_the_lexicon_counts_annotated_occurrences_only():
    text = "il perd et perd et perd"
    first, second = find(text, "perd"), find(text, "perd et perd")
    first, second = first, replace(second, start=second.end - 4)
    unit = LexicalUnit("perdre", "verb", first)
    losing = FrameInstance("Losing", unit, ())
    other = FrameInstance("Other_sense", replace(unit, span=second), ())
    lexicon = frames.Lexicon([AnnotatedText("t", "", text, (losing,), ())] * 3)
    assert [each.frame for each in lexicon.parse(["Il perd."])[0]] == ["Losing"]
    none = AnnotatedText("u", "", text, (other, replace(other, lexical_unit=unit)), ())
    lexicon = frames.Lexicon([AnnotatedText("t", "", text, (losing,), ()), none])
    assert lexicon.parse(["Il perd."]) == [[]]  # one of three
    assert lexicon.frames_of(["Il perd."], [[losing]]) == [["Losing"]]


def test_folds_keep_the_same_words_together():
    texts = one_sentence(40)
    twice = [*texts, *(replace(text, id=f"{text.id} again") for text in texts)]
    fold = frames.folds_of(twice, 5, 0)
    assert fold[: len(texts)] == fold[len(texts) :]
    different = {text.text: number for text, number in zip(twice, fold, strict=True)}
    sizes = Counter(different.values())
    assert len(sizes) == 5
    assert max(sizes.values()) - min(sizes.values()) <= 1
    assert all(triggers_in(text.frames) for text in twice)
