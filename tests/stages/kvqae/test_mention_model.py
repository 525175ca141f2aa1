"""A tiny spaCy pipeline, trained on the sample's own grammar."""

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from sample.kvqae.construction_questions import annotate_sentences
from stages.kvqae.mention_model import MentionModelParameters, main
from trivium.core.curves import Curves
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import write_json_lines
from trivium.core.tracking import Tracker
from trivium.kvqae.construction.spacy_pipeline import load_pipeline, measure_pipeline, read_annotated, to_document

PARAMETERS = MentionModelParameters(
    model="trained", seed=0, held_out=0.2, epochs=4, batch=8, learning_rate=0.004, dropout=0.1, width=32, depth=1, rows=500
)  # fmt: skip

MEASURES = ("ner_precision", "ner_recall", "ner_f1", "uas", "las")


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    path = tmp_path_factory.mktemp("annotated") / "annotated.jsonl"
    write_json_lines(path, (sentence.record() for sentence in annotate_sentences(0, 150, set())))
    return path


def context_of(work):
    return Context(Tracker(curves=Curves(work / "curves.jsonl")), work, LocalEngine(1))


@pytest.fixture(scope="module")
def trained(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "spacy"
    context = context_of(folder.parent)
    metrics = main(PARAMETERS, context, annotated=sentences, out=folder)
    return folder, metrics, context.tracker.curves.points()


def test_it_learns_something(trained):
    metrics = trained[1]
    assert metrics["sentences"] == 120
    assert metrics["held_out_sentences"] == 30
    assert metrics["uas"] > 0.4
    assert metrics["las"] > 0.3
    assert metrics["ner_f1"] > 0.3
    card = (trained[0] / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: spacy\n---\n")
    assert f"| ner_f1 | {metrics['ner_f1']:.4f} |" in card
    assert "trained on: 120 sentences of " in card


def test_the_same_seed_gives_the_same_pipeline(trained, sentences, tmp_path):
    again = main(PARAMETERS, context_of(tmp_path), annotated=sentences, out=tmp_path / "spacy")
    assert again == trained[1]


def test_what_was_written_is_what_was_measured(trained, sentences):
    """spaCy's own scorer agrees on entities; it scores dependencies between sets of arcs, close to shares of words."""
    pipeline = load_pipeline(trained[0])
    held_out = read_annotated(sentences)[120:]
    examples = [
        Example(Doc(pipeline.vocab, list(each.words), list(each.spaces)), to_document(pipeline, each))
        for each in held_out
    ]
    assert measure_pipeline(pipeline, held_out) == {name: trained[1][name] for name in MEASURES}
    scores = pipeline.evaluate(examples)
    assert scores["ents_f"] == pytest.approx(trained[1]["ner_f1"])
    assert scores["dep_uas"] == pytest.approx(trained[1]["uas"], abs=0.08)
