"""What others find in the runs that the graph writes."""

from pathlib import Path

import pytest

from tests.formats.trec_readers import by_ranx, by_trec_eval, by_trivium
from trivium.formats.trec import read_qrels, read_run
from trivium.measures.runs import Qrels


def judgements(run: Path, folder: Path) -> Qrels:
    """Those of the run's split and level; nobody judges TriviaQA's passages: there the second and third are taken."""
    if run.parent.name == "bm25_triviaqa":
        ranked = read_run(run)
        return Qrels.from_dict(dict(zip(ranked.queries, ranked.documents[:, 1:3].clip(0).tolist(), strict=True)))
    split, _, articles = run.stem.partition("_")
    level = "article" if articles or run.parent.parts[-2:] == ("fused", "image") else "passage"
    return read_qrels(folder / f"{split}_{level}.qrels")


def test_trec_eval_and_ranx_measure_every_run_as_we_do(built):
    data = built.folder / "data/kvqae"
    runs = sorted(path for path in (data / "runs").rglob("*.trec") if path.stat().st_size)
    assert len(runs) > 60
    for path in runs:
        qrels = judgements(path, data / "relevance")
        ours = by_trivium(path, qrels)
        for measured in (by_trec_eval(path, qrels), by_ranx(path, qrels)):
            for name, values in ours.items():
                assert measured[name] == pytest.approx(values, abs=1e-9), (path, name)
