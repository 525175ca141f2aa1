from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from trivium.core.tables import write_table
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts, stream_passages


@pytest.fixture
def knowledge_base(tmp_path: Path) -> Path:
    articles, passages = tmp_path / "articles.parquet", tmp_path / "passages.parquet"
    write_table(articles, pa.table({"title": ["Ada", "Bern", "Cleo"]}))
    table = pa.table({"passage": range(5), "article": [0, 0, 2, 1, 1], "text": ["a", "b", "c", "d", "e"]})
    write_table(passages, table.replace_schema_metadata({"kb_passages": "3"}))
    return tmp_path


@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
@pytest.mark.parametrize("limit", [None, 3, 4])
def test_stream(knowledge_base, batch_size, limit):
    expected = [("Ada", "a"), ("Ada", "b"), ("Cleo", "c"), ("Bern", "d"), ("Bern", "e")][:limit]
    got = []
    for first, titles, texts in stream_passages(knowledge_base, batch_size=batch_size, limit=limit):
        assert first == len(got)
        got += zip(titles.to_pylist(), texts.to_pylist(), strict=True)
    assert got == expected


def test_look_up(knowledge_base):
    texts = read_passage_texts(knowledge_base, np.array([4, 2, 4]))
    assert (texts[2], texts[4]) == (("Cleo", "c"), ("Bern", "e"))
    for passage in (3, 5):
        with pytest.raises(KeyError):
            texts[passage]
    assert not len(read_passage_texts(knowledge_base, np.array([], np.int64)).ids)
