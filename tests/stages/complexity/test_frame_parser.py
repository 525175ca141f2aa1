"""Stage complexity-frame_parser: labels, gold tags, training, scores, export."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from stages.complexity.frame_parser import main
from tests.complexity.frame_world import find, make_texts, write_encoder
from trivium.complexity.frames.labels import (
    MostFrequentFrame,
    collect_labels,
)
from trivium.complexity.frames.parser_folder import load_parser, start_parser
from trivium.complexity.frames.parser_training import FrameParserParameters, teach
from trivium.complexity.frames.scores import elements_in, frames_in, score_texts, total
from trivium.complexity.frames.tagger import Reading, read_tags
from trivium.complexity.frames.windows import place_frames, windows_of
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tracking import Tracker
from trivium.formats.frame_corpora import write_texts
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.measures.frames import bio_spans

PARAMETERS = FrameParserParameters(
    windows=16, frames=16, mini_batch=64, steps=120, learning_rate=5e-3, weight_decay=0.01, warmup=0.1, max_gradient_norm=1.0,
    validate_every=40, checkpoint_every=50, seed=0, max_tokens=64, batch=32, validation_texts=10, permutations=500,
)  # fmt: skip


class Recorder(Tracker):
    def __init__(self):
        super().__init__()
        self.points = []

    def log(self, step, **values):
        self.points.append((step, values))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    torch.manual_seed(0)
    return write_encoder(tmp_path_factory.mktemp("encoder"), width=48, layers=2)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    for seed, (name, count) in enumerate({"train": 100, "validation": 10, "test": 40}.items()):
        write_texts(folder / f"{name}.jsonl", make_texts(count, seed=seed, prefix=name))
    return folder


def run(folder, base, corpus, parameters=PARAMETERS, tracker=None):
    (folder / "work").mkdir(exist_ok=True)
    context = Context(tracker or Recorder(), folder / "work", LocalEngine(1))
    metrics = main(parameters, context, base=base, texts=corpus, out=folder / "parser")
    return metrics, context.tracker.points


@pytest.fixture(scope="module")
def trained(tmp_path_factory, base, corpus):
    folder = tmp_path_factory.mktemp("trained")
    return folder, *run(folder, base, corpus)


def one_text(text, *frames):
    return AnnotatedText("t", "Titre", text, frames, ())


def instance(text, frame, lemma, trigger, **elements):
    return FrameInstance(
        frame,
        LexicalUnit(lemma, "verb", find(text, trigger)),
        tuple(FrameElement(name, find(text, words), "core") for name, words in elements.items()),
    )


def test_it_beats_the_most_frequent_frame_of_a_lemma(trained):
    _, metrics, _ = trained
    test = make_texts(40, seed=2, prefix="test")
    gold = [each for text in test for each in text.frames]
    # "découvrir" is mostly Discovery; the baseline is wrong on every Realising and on nothing else.
    expected = np.mean([each.frame != "Realising" for each in gold])
    assert metrics["baseline_frame_accuracy"] == pytest.approx(expected)
    assert metrics["true_frames"] == len(gold)
    assert metrics["frame_accuracy"] > metrics["baseline_frame_accuracy"] + 0.1
    assert metrics["frame_accuracy_margin"] == metrics["frame_accuracy"] - metrics["baseline_frame_accuracy"]
    assert metrics["frame_accuracy_margin_p"] < 0.01
    assert metrics["frame_f1_margin"] == metrics["frame_f1"] - metrics["baseline_frame_f1"] > 0.1
    assert metrics["frame_f1_margin_p"] < 0.01
    assert metrics["trigger_f1"] > 0.95
    assert metrics["element_given_frame_f1"] > 0.8
    assert metrics["ambiguous_frame_accuracy"] > metrics["baseline_ambiguous_frame_accuracy"]


def test_the_baseline_knows_a_form_that_stands_only_inside_a_longer_one():
    text = "Il plut ; par conséquent, le roi partit. Il part par conséquent."
    longer, inside = (
        FrameInstance(frame, LexicalUnit(words, "adverb", find(text, words)), ())
        for frame, words in (("Reason", "par conséquent"), ("Result", "conséquent"))
    )
    baseline = MostFrequentFrame(collect_labels([one_text(text, longer, inside)]))
    assert [each.frame for each in baseline.parse(text)] == ["Reason", "Reason"]
    assert [each.frame for each in baseline.parse("Un effet conséquent.")] == ["Result"]


def test_an_exported_parser_reads_the_same_whatever_the_batch(trained):
    folder, metrics, _ = trained
    test = make_texts(40, seed=2, prefix="test")
    plain = [text.text for text in test]
    found = load_parser(folder / "parser", 32).parse(plain)
    assert load_parser(folder / "parser", 5).parse(plain) == found
    assert total(score_texts(found, test, frames_in)).f1 == pytest.approx(metrics["frame_f1"])
    assert total(score_texts(found, test, elements_in)).f1 == pytest.approx(metrics["element_f1"])
    lemmas = {each.lexical_unit.lemma for frames in found for each in frames}
    assert lemmas == {"découvrir", "perdre", "perte", "disparition"}
    card = (folder / "parser" / "README.md").read_text()
    assert f"| frame_f1 | {metrics['frame_f1']:.4f} |" in card


def test_what_cannot_be_taught_is_counted(base):
    text = "Le roi perdit le temple. La reine découvre un théâtre à Tarse."
    losing = instance(text, "Losing", "perdre", "perdit", Owner="Le roi", Found="le temple", Place="à Tarse")
    twice = instance(text, "Taking", "perdre", "perdit", Owner="Le roi", Found="Le roi perdit")
    cut = instance(text, "Discovery", "découvrir", "découvre", Finder="ine", Found="un théâtre")
    lost = replace(losing, lexical_unit=LexicalUnit("x", "verb", find(text, "temple. La")))
    texts = [one_text(text, losing, twice, cut, lost)]
    labels = collect_labels(texts)
    parser = start_parser(base, labels, 60)
    windows, _ = windows_of([text], parser.tokenizer, 60)
    placed, outside = place_frames([text.frames for text in texts], windows)
    triggers, _, counts = teach(windows, placed, labels)
    assert outside == 1
    assert counts == {
        "triggers_overlapping": 1, "elements_overlapping": 1, "elements_outside_window": 1, "elements_widened": 1
    }  # fmt: skip
    assert [[labels.frames[kind] for kind, _, _ in bio_spans(tags)] for _, tags in triggers] == [
        ["Losing"],
        ["Discovery"],
    ]


def lexicon():
    text = "Il gagna. Il gagna. Elle gagna la rive. On gagne. Le gain. Un gain net. Sans gain."
    units = [("Winning", "gagner", 0), ("Winning", "gagner", 1), ("Arriving", "gagner", 2)]
    frames = [
        FrameInstance(frame, LexicalUnit(lemma, "verb", find(text, "gagna", place)), ())
        for frame, lemma, place in units
    ]
    frames.append(FrameInstance("Arriving", LexicalUnit("gagner", "verb", find(text, "gagne")), ()))
    frames.append(FrameInstance("Winning", LexicalUnit("gain", "noun", find(text, "gain", 1)), ()))
    return text, collect_labels([one_text(text, *frames)])


def test_lexicon_and_baseline():
    text, labels = lexicon()
    assert labels.frames == ["Arriving", "Winning"]
    assert labels.units["gagner.verb"] == {"Winning": 2, "Arriving": 2}
    assert labels.occurrences == {"gagna": 3, "gagne": 1, "gain": 3}
    assert labels.frames_of("gain") == {"Winning"}
    assert labels.frames_of("inconnu") == set()
    assert labels.unit_of("gagna", "Arriving") == ("gagner", "verb")
    assert labels.unit_of("gain", "Arriving") is None
    baseline = MostFrequentFrame(labels)
    frames = [
        baseline.frame(LexicalUnit(*unit.split(), Span(0, 1))) for unit in ("gagner verb", "gain noun", "inconnu verb")
    ]
    assert frames == ["Arriving", "Winning", "Winning"]  # a tie goes to the first name
    found = [(each.lexical_unit.span.of(text), each.frame) for each in baseline.parse(text)]
    assert found == [("gagna", "Arriving")] * 3 + [("gagne", "Arriving")]  # "gain" is a trigger once in three times


def test_the_lexicon_masks_frames_of_known_words(trained):
    parser = load_parser(trained[0] / "parser")
    text = "La légion perdit le complot."
    (window,), _ = windows_of([text], parser.tokenizer, 60)
    realising = parser.labels.frames.index("Realising")

    def prefer_realising(reading, scores):
        scores[2, 1 + 2 * realising] = 50.0

    (tags,) = read_tags(parser, [Reading(window)], prefer_realising)
    assert bio_spans(tags)[0][0] == realising
    (found,) = parser.parse([text])
    assert {each.frame for each in found} <= {"Losing"}


def test_a_gold_trigger_evokes_a_frame_of_its_lexical_unit(trained):
    parser = load_parser(trained[0] / "parser")
    text = "Le roi découvrit le complot. La légion perdit le temple en 212."
    given = (instance(text, "?", "découvrir", "découvrit"), instance(text, "?", "perdre", "perdit"))
    assert parser.frames_of([text], [given], masked=False) == [["Realising", "Losing"]]
    for name in parser.labels.frames:
        only = {"découvrir.verb": {name: 1}, "perdre.verb": {name: 1}}
        parser.labels = replace(parser.labels, units=only)
        assert parser.frames_of([text], [given]) == [[name, name]]


def test_the_linear_kind_needs_no_base_model(tmp_path, corpus):
    metrics, points = run(tmp_path, tmp_path / "none", corpus, PARAMETERS.model_copy(update={"kind": "linear"}))
    assert points == []
    assert "frame_f1_unmasked" not in metrics
    assert metrics["frame_accuracy"] > metrics["baseline_frame_accuracy"] + 0.1
    assert metrics["frame_f1"] > 0.9
    assert metrics["element_given_frame_f1"] > 0.8
    assert "- started from: nothing" in (tmp_path / "parser" / "README.md").read_text()
