"""Stage complexity-annotate: every distinct context once, rows as the parser finds them, counts that add up."""

from collections import Counter

import pytest
import torch

from stages.complexity.annotate import main
from tests.complexity.frame_world import make_texts, write_encoder
from trivium.complexity.frames.annotation import SCHEMA, AnnotateParameters
from trivium.complexity.frames.labels import collect_labels
from trivium.complexity.frames.parser_folder import load_parser, save_parser, start_parser
from trivium.core.tables import read_table
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


def run(folder, out, *, batch=8):
    parameters = AnnotateParameters(batch=batch)
    return main(parameters, parser=folder / "parser", questions=folder / "train.json", out=out)


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


def test_the_batch_changes_nothing(tmp_path, world):
    folder, _ = world
    run(folder, tmp_path / "a.parquet")
    run(folder, tmp_path / "b.parquet", batch=3)
    assert read_table(tmp_path / "a.parquet").equals(read_table(tmp_path / "b.parquet"))
