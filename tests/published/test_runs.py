"""Runs that the papers' authors have published, once somebody has put them there, give the values that they printed.

brought/kvqae/runs/authors/TABLE/ROW.trec and qrels.trec beside it, by the names of kvqae.yaml (docs/reproduction.md).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
import yaml

import trivium
from trivium.core.errors import BadInput

ROOT = Path(__file__).parents[2]
AUTHORS = ROOT / "brought/kvqae/runs/authors"
QRELS = "qrels.trec"
ROUNDING = 0.05  # a tenth of a point is printed
TREC_EVAL = {"mrr": "recip_rank", "precision@1": "P_1", "precision@20": "P_20", "hits@20": "success_20"}


def kvqae() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "tests/published/kvqae.yaml").read_text("utf-8"))


def runs_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.trec") if file.name != QRELS)


def differences(file: Path, printed: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """{measure: (of the run, printed)} where the two are further apart than the printed one was rounded, in points.

    Raises:
        BadInput: no such table or row, or no judgements.
    """
    tables = {name: each for name, each in printed.items() if isinstance(each, dict) and "rows" in each}
    for name, known, field in (
        (file.parent.name, tables, "table"),
        (file.stem, tables.get(file.parent.name, {}).get("rows", {}), "row"),
    ):
        if name not in known:
            raise BadInput("not among the published values", file=file, field=field, got=name, choices=known)
    table = tables[file.parent.name]
    found = trivium.evaluate(file.with_name(QRELS), file, table["measures"])
    values = dict(zip(table["measures"], table["rows"][file.stem]["values"], strict=True))
    return {
        name: (100 * found[name], value)
        for name, value in values.items()
        if abs(100 * found[name] - value) > ROUNDING + 1e-9
    }


@pytest.mark.skipif(not runs_of(AUTHORS), reason=f"nobody has put the authors' runs into {AUTHORS.relative_to(ROOT)}")
def test_the_authors_runs_give_the_values_that_they_printed():
    apart = {str(file.relative_to(AUTHORS)): differences(file, kvqae()) for file in runs_of(AUTHORS)}
    assert {name: each for name, each in apart.items() if each} == {}


@pytest.fixture
def invented(tmp_path):
    """(a run of the paper's Table 3, the published values with what trec_eval finds for it)."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "table_3"
    folder.mkdir()
    qrels = {f"q{query}": {f"d{document}": 1 for document in rng.choice(60, 4, False)} for query in range(50)}
    run = {query: {f"d{document}": float(rng.random()) for document in rng.choice(60, 30, False)} for query in qrels}
    (folder / QRELS).write_text("".join(f"{query} 0 {each} 1\n" for query in qrels for each in qrels[query]))
    lines = [f"{query} Q0 {each} 0 {score!r} theirs\n" for query in run for each, score in run[query].items()]
    (folder / "bm25.trec").write_text("".join(lines))
    found = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "P.1,20", "success.20"}).evaluate(run)
    printed = kvqae()
    printed["table_3"]["rows"]["bm25"]["values"] = [
        round(100 * float(np.mean([each[TREC_EVAL[name]] for each in found.values()])), 1)
        for name in printed["table_3"]["measures"]
    ]
    return folder / "bm25.trec", printed


def test_a_run_with_its_own_values_agrees(invented):
    file, printed = invented
    assert runs_of(file.parents[1]) == [file]
    assert differences(file, printed) == {}


@pytest.mark.parametrize("place", range(4))
def test_a_tenth_of_a_point_is_seen(invented, place):
    file, printed = invented
    values = printed["table_3"]["rows"]["bm25"]["values"]
    values[place] = round(values[place] + 0.1, 1)
    measure = printed["table_3"]["measures"][place]
    apart = differences(file, printed)
    assert list(apart) == [measure]
    assert apart[measure][1] == values[place]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("table_9/bm25.trec", r"field 'table': not among the published values; got 'table_9' \(choices: .*table_3"),
        ("table_3/bm26.trec", r"field 'row': not among the published values; got 'bm26' \(choices: bm25"),
        ("table_4_persons/bm25.trec", r"qrels.trec: no such file"),
    ],
)
def test_what_is_not_published_is_refused_by_name(invented, tmp_path, name, message):
    file, printed = invented
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match=message):
        differences(tmp_path / name, printed)
