import gzip
import itertools
import random

import pytest

from tests.sources.small_hub import lines
from trivium.core.tables import read_json_lines
from trivium.sources.kvqae.kilt import KB_PARTS, SmallerBaseParameters, choose, write_smaller_base

RIVERS = ("Vell", "Oder", "Tanar", "Mirn", "Sool", "Brae")


def of(articles, **others):
    return SmallerBaseParameters(articles=articles, heap_gib=1, threads=1, **others)


def article(page, words):
    title = f"Article {page}"
    return {
        "wikipedia_id": str(page), "wikipedia_title": title, "text": {"paragraph": [title, f"{words}\n", "BULLET::::x"]},
        "wikidata_info": {"wikidata_id": f"Q{page}", "aliases": {"alias": []}}, "image": f"512px-{page}.jpg",
    }  # fmt: skip


# Pages 1 and 2 are shown by questions; 10 to 15 are of one river each; 20 to 59 tell nothing of rivers.
ARTICLES = [
    article(1, "A bridge over the Vell."),
    article(2, "A ferry on the Oder."),
    *(article(10 + number, f"The {river} is a river. {river}.") for number, river in enumerate(RIVERS)),
    *(article(page, f"Somebody lived in village {page}.") for page in range(20, 60)),
]


def asked(number, text, page):
    output = {"original_answer": "x", "answer": ["x"], "provenance": []}
    return {
        "id": f"q{number}", "input": text, "image": f"{number}.jpg", "wikidata_id": f"Q{page}", "output": output,
        "kilt_id": str(page),
    }  # fmt: skip


QUESTIONS = [
    asked(0, "Which river does this bridge cross, Vell?", 1), asked(1, "What of the Oder?", 2), asked(2, "Tanar", 99)
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    numbers = itertools.count()

    def written(base, articles=ARTICLES, questions=QUESTIONS):
        """Chosen pages in the order of the file, and the counts; each time in a folder of its own."""
        folder = tmp_path / str(next(numbers))
        (folder / "viquae").mkdir(parents=True)
        for split, question in zip(("train", "validation", "test"), questions, strict=True):
            (folder / "viquae" / f"{split}.jsonl").write_bytes(lines([question]))
        parts = {}
        for number, part in enumerate(KB_PARTS):
            parts[f"{part}.jsonl.gz"] = folder / f"{part}.jsonl.gz"
            parts[f"{part}.jsonl.gz"].write_bytes(gzip.compress(lines(articles[number::3])))
        counts = write_smaller_base(folder, parts, base, folder / "index")
        pages = [int(record["wikipedia_id"]) for _, record in read_json_lines(folder / "articles.jsonl")]
        entities = {record["id"] for _, record in read_json_lines(folder / "wikidata.jsonl")}
        assert entities == {"Q5", *(f"Q{page}" for page in pages)}
        return pages, counts

    return written


def test_subjects_then_what_bm25_returns_then_a_draw(write):
    pages, counts = write(of(12, negatives=4))
    assert {1, 2} <= set(pages)
    assert {10, 11, 12} <= set(pages), "the first of each question"
    assert len(pages) == len(set(pages)) == 12
    assert {name: counts[name] for name in counts if name.startswith("base_")} == {
        "base_subjects": 2, "base_subjects_without_article": 1, "base_negatives": 4, "base_drawn": 6,
        "base_chosen_from": 48,
    }  # fmt: skip
    assert counts["articles"] == sum(counts[f"entities_{part}"] for part in KB_PARTS) == 12


def test_neither_the_order_of_articles_nor_of_questions_matters(write):
    base = of(15, negatives=5)
    expected = set(write(base)[0])
    for seed in range(3):
        mixed = random.Random(seed).sample(ARTICLES, len(ARTICLES))
        assert set(write(base, mixed, QUESTIONS[seed:] + QUESTIONS[:seed])[0]) == expected


def test_only_the_draw_follows_the_seed(write):
    first, second = (set(write(of(20, negatives=3, seed=seed))[0]) for seed in (0, 1))
    assert first != second
    assert {1, 2, 10, 11, 12} <= first & second


def test_a_second_article_of_an_entity_is_left_out(write):
    second = article(70, "Another page.") | {"wikidata_info": ARTICLES[0]["wikidata_info"]}
    pages, counts = write(of(1000), [*ARTICLES, second])
    assert 70 not in pages
    assert (counts["articles"], counts["entities_twice"]) == (48, 1)


def test_negatives_by_rank_and_ties_by_lot():
    ranks = {7: 0, 8: 0, 9: 0, 4: 1, 5: 1, 6: 2}
    hard, drawn = choose({7}, ranks, range(100), of(10, negatives=4))
    assert set(hard[:2]) == {8, 9}
    assert set(hard[2:]) == {4, 5}
    assert len(drawn) == 5
    assert not {7, *hard} & set(drawn)
    ties = [frozenset(choose(set(), dict.fromkeys(range(9), 0), (), of(3, seed=seed))[0]) for seed in range(8)]
    assert len(set(ties)) > 1, "which of those that are alike is a matter of the draw"


def test_the_draw_is_even():
    counts = [0] * 20
    for seed in range(400):
        for page in choose(set(), {}, range(20), of(5, seed=seed))[1]:
            counts[page] += 1
    assert all(60 < count < 140 for count in counts)  # 100 ± 8.7 each
