"""KVQAE's article: what it computes from the stages' numbers, and how it shows them."""

import pytest
import yaml

from tests.kvqae.fusion_world import IMAGE, weights
from tests.page.kvqae_world import (
    METRICS,
    READ,
    ROOT,
    write_world,
)
from tests.page.parts import render
from trivium.core.tables import write_json
from trivium.page.kvqae.construction import construction_sections
from trivium.page.kvqae.findings import reading_html, rows_of, sentence
from trivium.page.kvqae.retrieval import labels_of
from trivium.page.published import READING_LABELS, READING_ROWS, RERANKED_TABLES, TABLES
from trivium.page.thorough import Thorough, read_thorough

PUBLISHED = yaml.safe_load((ROOT / "tests/published/kvqae.yaml").read_text(encoding="utf-8"))


def text(html):
    """The HTML without tags, white space collapsed."""
    return " ".join(" ".join(part.partition(">")[2] for part in f">{html}".split("<")).split())


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kvqae")
    metrics, found = render("kvqae", write_world(folder), folder / "parts")
    return metrics, {each["id"]: each["html"] for each in found["sections"]}


def test_sections_stand_in_the_paper_s_order_and_every_text_is_escaped(article):
    metrics, sections = article
    assert [name.removeprefix("kvqae-") for name in sections] == [
        *("table-2", "table-3", "table-4", "table-5", "table-6", "table-7", "figure-4", "gallery", "difficulty"),
        *("overlap", "table-1", "construction", "sizes"),
    ]
    page = "".join(sections.values())
    assert "<script" not in page
    assert "&lt;script&gt;" in sections["kvqae-gallery"]
    assert "{{ 7 * 7 }}" in sections["kvqae-gallery"]
    # bob.jpg and gone.jpg: two for each question of the initial ranking, and 2 + 1 + 2 of the other.
    assert metrics == {"gallery_questions": 3.0, "gallery_right": 2.0, "gallery_pictures_missing": 11.0}


def test_weights_stand_beside_the_best_on_validation_and_the_papers(article):
    rows = text(article[1]["kvqae-table-3"])
    assert "F·A + (1−F)(I + C) 1 A + 1 C + 1 I 40.0 0.3 A + 0.6 C + 0.1 I 42.0 0.3 A + 0.3 C + 0.1 I 66" in rows
    assert "B + F·A + (1−F)(I + C) 0.3 A + 0.6 C + 0.1 I 42.0 the same 42.0 0.3 B + 0.3 A + 0.3 C + 0.1 I 286" in rows


def test_rows_of_tuned_weights_have_the_same_formulae():
    given, tuned = labels_of(IMAGE, weights()), labels_of(IMAGE, "tuned")
    assert {row: tuned[row] for row in given} == given


def test_a_further_row_reads_as_many_passages_as_it_says_or_as_all_do():
    rows = {"mine": {"model": "few_shot", "run": "bm25"}, "more": {"model": "zero_shot", "run": "bm25", "passages": 9}}
    labels = rows_of({"passages": 5, "rows": rows})
    assert list(labels) == [*READING_LABELS, "mine", "more"]
    assert labels["mine"] == "mine: few shot reader on bm25, top 5"
    assert labels["more"] == "more: zero shot reader on bm25, top 9"


def test_gallery_shows_both_rankings_with_the_answers_of_the_last(article):
    gallery = article[1]["kvqae-gallery"]
    assert gallery.count("<h3>Multimodal retrieval</h3>") == gallery.count("<h3>Re-ranked by text and image</h3>") == 3
    assert gallery.count("✓ right") == 2  # q0 and q1; the answer of the first seed on the re-ranked list
    assert gallery.count("<mark>Brno</mark>") == 3
    assert gallery.count('<span class="chip">face found</span>') == 1


@pytest.mark.parametrize(
    ("expected", "value", "p", "end"),
    [
        ("significant", 0.5, 0.01, "p = 0.010."),
        ("significant", 0.5, 0.011, "p = 0.011. Expected with p ≤ 0.01: does not hold here."),
        ("significant", 0.2, 0.001, "p = 0.001. Expected with p ≤ 0.01: does not hold here."),
        ("above", 0.5, 0.9, "p = 0.900."),
        ("above", 0.25, 1.0, "p = 1.000. Expected to be above: does not hold here."),
        ("open", 0.2, 0.001, "p = 0.001."),
    ],
)
def test_findings_say_where_more_was_expected(expected, value, p, end):
    assert sentence("AB", "P@1", (value, 0.25), p, 0.01, expected).partition("points, ")[2] == end


def test_every_published_name_exists():
    for wanted in (*TABLES.values(), *RERANKED_TABLES.values()):
        for shown in wanted:
            if shown.published is not None:
                assert set(shown.names.values()) <= PUBLISHED[shown.published]["rows"].keys()
    assert set(READING_ROWS.values()) == PUBLISHED["table_7"]["rows"].keys()
    assert READING_ROWS.keys() == {row for row, label in READING_LABELS.items() if not label}


def test_funnel_counts_shares_and_reasons():
    html = text(construction_sections(METRICS, PUBLISHED, simulated=False)["construction"])
    assert "mentions of their question 1 500 900 0.90 a question 0.9 a question –" in html
    assert "holds the answer 900 495 55.0 % 55 % kept no link 405" in html
    # What the paper calls dropped is not all that is left out, so its share stands instead of the one kept.
    subjects = "persons deceased 495 340 30.1 % dropped 31 % dropped abstract type 50, living person 99, no kb image 6"
    assert subjects in html
    assert "their other files 300 291 3.0 % dropped 3 % dropped no commons category 5, licence restricted 40" in html
    annotators = "by the annotators 300 195 65.0 % 2 000 of 5 700 discarded"
    assert f"{annotators} discarded 98, dropped naming the entity 5, dropped giving the answer 2" in html
    assert "Fleiss’ κ, discard 0.35 0.33 0.33" in html
    empty = text(construction_sections({"rebuild": {}}, PUBLISHED, simulated=False)["construction"])
    assert "persons deceased – – – 31 % dropped –" in empty  # its stage is not there
    assert "mentions of their question – – – 0.9 a question –" in empty


def test_reading_shows_deviations_and_what_was_not_run():
    html = text(reading_html(READ, PUBLISHED, READING_LABELS, 2))
    assert "standard deviation over 2 seeds for the few-shot readers" in html
    assert "One training of each few-shot reader" in text(reading_html(READ, PUBLISHED, READING_LABELS, 1))
    assert "few-shot, top 5 of retrieval 30.0 ± 1.0 20.0 ± 2.0 25.5 ± 0.7 21.4 ± 0.8" in html
    assert "few-shot, top 5 re-ranked 40.0 30.0 32.7 ± 0.4 28.9 ± 0.4" in html
    assert "few-shot, max-pooled loss, top 5 re-ranked – – – –" in html


def test_what_make_thorough_found_in_another_world_is_left_out(tmp_path):
    file, world = tmp_path / "kvqae.json", {"seed": 3, "articles": 1000}
    assert read_thorough(file, "read", world, sample=True) is None
    kept = {"pipeline": "kvqae", "commit": "01", "date": "2026-01-02", "metrics": {"read.a_em": 0.5, "fuse.a_em": 0.1}}
    write_json(file, kept)
    assert read_thorough(file, "read", world, sample=True) is None, "nobody knows of which world"
    write_json(file, kept | {"parameters": {"kvqae.world": world}})
    found = read_thorough(file, "read", world, sample=True)
    assert found == Thorough({"a_em": 0.5}, "01", "2026-01-02")
    assert (text(found.render_metric("a_em")), found.render_metric("b_em")) == ("50.0 †", "")
    assert read_thorough(file, "read", world | {"seed": 4}, sample=True) is None
    assert read_thorough(file, "read", world, sample=False) is None, "real data"
