import gzip
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trivium.core.errors import BadInput
from trivium.kvqae.retrieval.bm25 import Searcher, build_index
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels

DOCUMENTS = ["the river runs", "the bridge over the river", "a hill"]


def index(folder: Path, documents: list[str] = DOCUMENTS, analyzer: str = "standard") -> Searcher:
    build_index(folder, enumerate(documents), analyzer=analyzer, threads=2, heap_gib=1)  # type: ignore[arg-type]
    return Searcher(folder, threads=2, heap_gib=1)


def test_scores_are_the_formula(tmp_path: Path) -> None:
    k1, b = 0.5, 0.3
    run = index(tmp_path / "index").search([("q", "River bridge unknown")], k1=k1, b=b, depth=3)
    mean = (3 + 5 + 2) / 3

    def term(frequency: int, length: int, documents: int) -> float:
        idf = math.log(1 + (3 - documents + 0.5) / (documents + 0.5))
        return idf * frequency / (frequency + k1 * (1 - b + b * length / mean))

    assert run.documents.tolist() == [[1, 0, -1]]
    expected = [term(1, 5, 2) + term(1, 5, 1), term(1, 3, 2), math.nan]
    np.testing.assert_allclose(run.scores[0], expected, atol=0.5e-4 + 1e-6)  # Anserini rounds


def test_analyzers(tmp_path: Path) -> None:
    documents = ["Rivers run", "the river", "hills"]
    queries = [("stem", "river"), ("stop", "the"), ("case", "RIVERS"), ("nothing", "?!")]
    standard = index(tmp_path / "standard", documents).search(queries, k1=0.9, b=0.4, depth=2)
    assert standard.documents.tolist() == [[1, -1], [1, -1], [0, -1], [-1, -1]]
    english = index(tmp_path / "english", documents, "english").search(queries, k1=0.9, b=0.4, depth=2)
    assert [sorted(row) for row in english.documents.tolist()] == [[0, 1], [-1, -1], [0, 1], [-1, -1]]


def test_ties_keep_the_lower_ids(tmp_path: Path) -> None:
    run = index(tmp_path / "index", ["same words"] * 12).search([("q", "same")], k1=0.9, b=0.4, depth=11)
    assert run.documents.tolist() == [list(range(11))]  # as text, "10" would come before "2"


def test_batches_and_threads_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = index(tmp_path / "index")
    queries = [(f"q{number}", text) for number, text in enumerate(["river", "hill", "bridge over", "the", "nope"])]
    whole = searcher.search(queries, k1=0.9, b=0.4, depth=3)
    monkeypatch.setattr("trivium.kvqae.retrieval.bm25.QUERIES_A_BATCH", 2)
    monkeypatch.setattr("trivium.kvqae.retrieval.bm25._DOCUMENTS_A_BATCH", 1)
    again = index(tmp_path / "again").search(queries, k1=0.9, b=0.4, depth=3)
    assert whole.queries == again.queries
    np.testing.assert_array_equal(whole.documents, again.documents)
    np.testing.assert_array_equal(whole.scores, again.scores)


def test_bad_input_leaves_nothing_behind(tmp_path: Path) -> None:
    for documents, message in (([], "nothing to index"), (["fine", " "], "1: empty document")):
        with pytest.raises(BadInput, match=message):
            index(tmp_path / "index", documents)
    assert not list(tmp_path.iterdir())


@pytest.mark.real
def test_the_whole_vaswani_collection(real: Callable[[str], Path], tmp_path: Path) -> None:
    folder = real("vaswani")
    text = gzip.decompress((folder / "corpus" / "doc-text.trec.gz").read_bytes()).decode()
    documents = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", text, flags=re.DOTALL | re.IGNORECASE)
    topics = re.findall(r"<num>(\d+)</num>\s*<title>(.*?)</title>", (folder / "query-text.trec").read_text(), re.DOTALL)
    judged: dict[str, list[int]] = {number: [] for number, _ in topics}
    for line in (folder / "qrels").read_text().splitlines():
        query, _, document, grade = line.split()
        judged[query] += [int(document)] if int(grade) > 0 else []
    assert (len(documents), len(topics)) == (11429, 93)
    pairs = [(int(number), contents.strip()) for number, contents in documents]
    build_index(tmp_path / "index", pairs, analyzer="english", threads=2, heap_gib=1)
    searcher = Searcher(tmp_path / "index", threads=2, heap_gib=1)
    queries = [(number, title.strip().lower()) for number, title in topics]
    run = searcher.search(queries, k1=0.9, b=0.4, depth=1000)
    qrels = Qrels(tuple(judged), tuple(np.array(ids) for ids in judged.values()))
    values = evaluate(run, qrels, ["map@1000", "mrr"])
    assert values["map@1000"].mean() == pytest.approx(0.2856, abs=0.0005)
    assert values["mrr"].mean() == pytest.approx(0.6802, abs=0.0005)
