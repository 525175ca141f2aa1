"""The bench of passages on a few articles: both peers write ours, whatever the times."""

import pytest

from bench import harness, passages
from trivium.kvqae.knowledge_base.passages import PassagesParameters


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("ARTICLES", 20), ("WORDS", 120), ("PARAMETERS", PassagesParameters(words=40, shard_size=8))):
        monkeypatch.setattr(passages, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)
    kept = passages.ours
    monkeypatch.setattr(passages, "ours", lambda articles, out, workers: kept(articles, out, 1))


def test_both_peers_write_our_passages(figures):
    passages.main()
    found = figures("passages")
    race = found["races"]["20 articles"]
    assert race["popular"] == "spaCy's sentencizer"
    assert race["expert"] == "stretches remembered, a regular expression"
    assert found["articles_per_second"] == 20 / race["seconds"]
    assert {"peak_mib", "peak_mib_ten_times_the_articles", "spacy_mib"} <= found.keys()


@pytest.mark.parametrize(("peer", "name"), [("by_spacy", "spaCy"), ("by_hand", "an expert")])
def test_other_passages_end_the_bench(monkeypatch, peer, name):
    kept = getattr(passages, peer)

    def fewer(articles, out):
        kept(passages.write_articles(out.with_name("fewer.parquet"), 1), out)

    monkeypatch.setattr(passages, peer, fewer)
    with pytest.raises(AssertionError, match=f"the passages differ from those of {name}"):
        passages.main()


def test_what_a_stretch_holds_is_what_spacy_says():
    kinds = passages.Kinds()
    assert [kinds[each] for each in ("word", '("Dr.', "end.)", "1874,", "can't", "e.g.")] == [
        "W",
        "PPW",
        "WCP",
        "WP",
        "WW",
        "W",
    ]
