import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stages.kvqae.knowledge_base import SCHEMA
from trivium.core.engine import LocalEngine
from trivium.core.tables import read_table, write_table
from trivium.kvqae.knowledge_base.passages import PassagesParameters, cut_articles, pack, write_passages


def test_packing_is_greedy_and_a_longer_sentence_stands_alone() -> None:
    def sentences(*lengths: int) -> list[tuple[str, int]]:
        return [(f"s{length}", length) for length in lengths]

    assert list(pack(sentences(4, 6, 1, 12, 3, 7), 10)) == ["s4 s6", "s1", "s12", "s3 s7"]
    assert list(pack(sentences(11), 10)) == ["s11"]
    assert list(pack([], 10)) == []


def test_tokens_and_sentences_are_those_of_spacys_sentencizer() -> None:
    """Tokens by hand: 10 (`Mr.`, but `No` and `.`), 2, 8 (`ca`, `n't`), 3, 9 (`$`, `U.S.`), and 2."""
    paragraph = "Mr. Smith (b. 1900) lived at No. 5. He can't; won't! \"Quoted.\" Cost: $5.00 in the U.S. area."
    batch = pa.RecordBatch.from_pydict({"article": [7], "text": [[paragraph, "", "no end"]]})
    whole = [
        "Mr. Smith (b. 1900) lived at No.",
        "5.",
        "He can't; won't! \"",
        'Quoted."',
        "Cost: $5.00 in the U.S. area.",
    ]
    assert cut_articles(batch, words=1)["text"].to_pylist() == [*whole, "no end"]
    first, second, third = cut_articles(batch, words=13).to_pylist()
    assert first == {"article": 7, "position": 0, "text": " ".join(whole[:2])}
    assert [second["text"], third["text"]] == [" ".join(whole[2:4]), f"{whole[4]} no end"]


def articles(folder: Path, texts: list[list[str]], images: list[str | None]) -> Path:
    rows: list[dict[str, Any]] = [
        {"article": number, "title": f"T{number}", "text": text, "image": image}
        for number, (text, image) in enumerate(zip(texts, images, strict=True))
    ]
    path = folder / "articles.parquet"
    write_table(path, pa.Table.from_pylist(rows, schema=SCHEMA))
    return path


def run(path: Path, *, words: int = 10, shard_size: int = 64, workers: int = 1) -> tuple[dict[str, float], pa.Table]:
    out = path.parent / "passages.parquet"
    parameters = PassagesParameters(words=words, shard_size=shard_size)
    metrics = write_passages(parameters, LocalEngine(workers), articles=path, out=out)
    assert pq.read_schema(out).metadata[b"kb_passages"] == str(int(metrics["kb_passages"])).encode()
    return metrics, read_table(out)


def test_passages_never_cross_an_article(tmp_path: Path) -> None:
    texts = [
        ["One two three. Four five six seven.", "Eight nine."],
        ["Ten eleven."],
        ["Aa bb cc. Dd ee ff. Gg hh ii jj kk ll mm nn oo."],
    ]
    metrics, table = run(articles(tmp_path, texts, ["a.jpg", "b.jpg", None]))
    assert table.to_pylist() == [
        {"passage": 0, "article": 0, "position": 0, "text": "One two three. Four five six seven."},  # 4 + 5 tokens
        {"passage": 1, "article": 0, "position": 1, "text": "Eight nine."},
        {"passage": 2, "article": 1, "position": 0, "text": "Ten eleven."},
        {"passage": 3, "article": 2, "position": 0, "text": "Aa bb cc. Dd ee ff."},
        {"passage": 4, "article": 2, "position": 1, "text": "Gg hh ii jj kk ll mm nn oo."},
    ]
    assert metrics == {"passages": 5, "kb_passages": 3, "passages_per_article": 5 / 3}


def test_workers_and_shard_size_change_nothing(tmp_path: Path) -> None:
    generator = random.Random(1)
    texts = [
        [
            " ".join(generator.choices(["word", "Mr.", "end.", "it's", "(so)"], k=40))
            for _ in range(generator.randint(1, 3))
        ]
        for _ in range(23)
    ]
    path = articles(tmp_path, texts, ["i.jpg"] * 11 + [None] * 12)
    metrics, table = run(path, shard_size=100)
    assert table["passage"].to_pylist() == list(range(len(table)))
    order = list(zip(table["article"].to_pylist(), table["position"].to_pylist(), strict=True))
    assert all(first < second for first, second in pairwise(order))
    assert metrics["kb_passages"] == sum(article < 11 for article, _ in order)
    for shard_size, workers in ((1, 1), (5, 2)):
        assert run(path, shard_size=shard_size, workers=workers) == (metrics, table)
