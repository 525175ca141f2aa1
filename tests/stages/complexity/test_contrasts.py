"""Readers of both corpora from files to scores; a world without facts; going on after a kill."""

import pyarrow as pa
import pytest

from stages.complexity import contrasts
from tests.complexity.tiny_readers import questions, settings, write_camembert
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import read_table, write_table
from trivium.core.tracking import Tracker
from trivium.formats.facts import FACTORS, FACTS, SCORES
from trivium.formats.squad import write_squad


def write_world(folder):
    """Six facts about f1 of both corpora, and two about f0, each version of one corpus."""
    write_camembert(folder / "base" / "camembert")
    asked, rows = questions(16), []
    for corpus in ("a", "b"):
        write_squad(folder / "crossed" / corpus / "train.json", asked)
    for number, one in enumerate(asked):
        factor, corpora = ("f0", ["ab"[number % 2]]) if number >= 12 else ("f1", ["a", "b"])
        own = dict.fromkeys(FACTORS) | {factor: number % 2 == 0, "fact": f"{factor}-{number // 2}", "frame": "Attack"}
        told = {"context": one.context, "question": one.question, "answer": one.answers[0][0]}
        rows.append(own | told | {"id": f"{factor}-{number}", "corpora": corpora})
    write_table(folder / "crossed" / "facts.parquet", pa.Table.from_pylist(rows, FACTS))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    return folder


def run(world, work, out, crossed="crossed"):
    work.mkdir(exist_ok=True)
    return ask(world, Context(tracker=Tracker(), work=work, engine=LocalEngine(1)), out, crossed)


def ask(world, context, out, crossed="crossed"):
    parameters = contrasts.ContrastsParameters(
        readers=("camembert",), seeds=(0,), settings=settings(max_steps=6), checkpoint_every=3
    )
    return contrasts.main(
        parameters, context, name="camembert", seed=0, base=world / "base", crossed=world / crossed, out=out
    )


def test_every_version_is_asked_of_its_corpora(world, tmp_path):
    metrics = run(world, tmp_path / "work", tmp_path / "scores.parquet")
    table = read_table(tmp_path / "scores.parquet")
    assert table.schema.equals(SCORES)
    asked = [(row["id"].split("-")[0], row["corpus"]) for row in table.to_pylist()]
    assert {pair: asked.count(pair) for pair in asked} == {
        ("f1", "a"): 12, ("f1", "b"): 12, ("f0", "a"): 2, ("f0", "b"): 2,
    }  # fmt: skip
    assert metrics["facts"] == 8
    assert {
        "f0_delta_points",
        "f1_delta_points",
        "f1_delta_points_low",
        "a_rouge_l",
        "b_rouge_l",
        "baseline_rouge_l",
    } <= set(metrics)
    assert "f2_delta_points" not in metrics
    again = run(world, tmp_path / "again", tmp_path / "again.parquet")
    assert (again, read_table(tmp_path / "again.parquet")) == (metrics, table)


def test_a_world_without_facts_trains_nobody(world, tmp_path):
    write_table(world / "none" / "facts.parquet", FACTS.empty_table())
    assert run(world, tmp_path / "work", tmp_path / "scores.parquet", crossed="none") == {"facts": 0}
    assert len(read_table(tmp_path / "scores.parquet")) == 0
