"""Stage complexity-annotate: every distinct context once, rows as the parser finds them, counts that add up."""

from collections import Counter

import pytest
import torch

from stages.complexity.annotate import main
from tests.complexity.frame_world import make_texts, write_encoder
from trivium.complexity.frames.annotation import SCHEMA, AnnotateParameters, distinct_contexts
from trivium.complexity.frames.labels import collect_labels
from trivium.complexity.frames.linear.parser import LinearFrameParser
from trivium.complexity.frames.parser_folder import load_parser, save_parser, start_parser
from trivium.core.errors import BadInput
from trivium.core.tables import read_table, write_json
from trivium.formats.squad import SquadQuestion, write_squad
from trivium.measures.frames import entropy_bits


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A parser with weights by chance, biased so that it finds something, and 5 contexts with 2 questions each."""
    folder = tmp_path_factory.mktemp("annotate")
    torch.manual_seed(1)
    base = write_encoder(folder / "base")
    parser = start_parser(base, collect_labels(make_texts(60)), 60)
    with torch.no_grad():
        parser.network.triggers.weight.mul_(40)
        parser.network.elements.weight.mul_(40)
    save_parser(folder / "parser", parser, base=str(base), data="chance")
    contexts = [text.text for text in make_texts(5, seed=5)]
    questions = [
        SquadQuestion(f"q{place}-{number}", f"Titre {place}", context, "Qui ?", ((context[:2], 0),))
        for place, context in enumerate(contexts)
        for number in range(2)
    ]
    write_squad(folder / "train.json", questions)
    return folder, contexts


def run(folder, out, *, batch=8, chunk=2, questions="train.json"):
    parameters = AnnotateParameters(batch=batch, chunk=chunk)
    return main(parameters, None, parser=folder / "parser", questions=folder / questions, out=out)


def test_rows_are_what_the_parser_finds(tmp_path, world):
    folder, contexts = world
    metrics = run(folder, tmp_path / "frames.parquet")
    table = read_table(tmp_path / "frames.parquet")
    assert table.schema == SCHEMA
    rows = table.to_pylist()
    assert rows
    parser = load_parser(folder / "parser", 64)
    expected = [
        (place, each.frame, each.lexical_unit.lemma, each.lexical_unit.part_of_speech, each.lexical_unit.span.start,
         each.lexical_unit.span.end, [(e.name, e.core, e.span.start, e.span.end) for e in each.elements])
        for place, frames in enumerate(parser.parse(contexts))
        for each in frames
    ]  # fmt: skip
    assert [
        (row["text"], row["frame"], row["lemma"], row["part_of_speech"], row["start"], row["end"],
         [tuple(element.values()) for element in row["elements"]])
        for row in rows
    ] == expected  # fmt: skip
    assert {row["question_id"] for row in rows} <= {f"q{place}-0" for place in range(5)}
    assert {row["questions"] for row in rows} == {2}
    counts = Counter(row["frame"] for row in rows)
    assert metrics["contexts"] == 5
    assert metrics["questions"] == 10
    assert metrics["frames_found"] == len(rows)
    assert metrics["contexts_without_frame"] == 5 - len({row["text"] for row in rows})
    assert metrics["distinct_frames"] == len(counts)
    assert metrics["distinct_frames"] + metrics["frames_never_found"] == len(parser.labels.frames)
    assert metrics["frame_entropy_bits"] == pytest.approx(entropy_bits(list(counts.values())))
    assert metrics["elements_found"] == sum(len(row["elements"]) for row in rows)
    assert metrics["unknown_lexical_units"] == sum(row["part_of_speech"] == "other" for row in rows)


def test_batch_and_chunk_change_nothing(tmp_path, world):
    folder, _ = world
    run(folder, tmp_path / "a.parquet")
    run(folder, tmp_path / "b.parquet", batch=3, chunk=100)
    assert read_table(tmp_path / "a.parquet").equals(read_table(tmp_path / "b.parquet"))


def test_windows_made_ahead_of_a_gpu_give_the_same_rows(tmp_path, world, monkeypatch, capfd):
    folder, _ = world
    run(folder, tmp_path / "here.parquet")
    monkeypatch.setattr("trivium.complexity.frames.annotation.feeders", lambda: 2)
    run(folder, tmp_path / "ahead.parquet")
    assert (tmp_path / "ahead.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()
    assert "s for windows" in capfd.readouterr().out


def test_linear_models_annotate_without_an_encoder(tmp_path, world):
    folder, contexts = world
    taught = make_texts(80, seed=1)
    parser = LinearFrameParser.learn(taught, no_frames=frozenset(), partial=False, seed=0)
    save_parser(tmp_path / "parser", parser, base="nothing", data="texts")
    metrics = main(AnnotateParameters(chunk=2), None, parser=tmp_path / "parser", questions=folder / "train.json",
                   out=tmp_path / "frames.parquet")  # fmt: skip
    found = {(row["text"], row["start"], row["frame"]) for row in read_table(tmp_path / "frames.parquet").to_pylist()}
    true = {
        (place, each.lexical_unit.span.start, each.frame)
        for place, text in enumerate(make_texts(5, seed=5))
        for each in text.frames
    }
    assert len(found & true) > 0.9 * max(len(found), len(true))
    assert metrics["sentences"] == 3 * len(contexts)
    assert metrics["elements_found"] > metrics["frames_found"]


def test_contexts_are_read_once():
    questions = [SquadQuestion(f"q{n}", "t", context, "?", (("a", 0),)) for n, context in enumerate(["ab", "ac", "ab"])]
    assert distinct_contexts(questions) == {"ab": ["q0", "q2"], "ac": ["q1"]}


def test_bad_input(tmp_path, world):
    folder, _ = world
    write_json(tmp_path / "bad.json", {"version": "1", "data": 3})
    with pytest.raises(BadInput, match=r"bad\.json"):
        main(AnnotateParameters(batch=1, chunk=1), None, parser=folder / "parser", questions=tmp_path / "bad.json",
             out=tmp_path / "x.parquet")  # fmt: skip
    assert not (tmp_path / "x.parquet").exists()
