"""KVQAE's article: what it computes from the stages' numbers, and how it shows them."""

import re

import pytest
import yaml

from tests.kvqae.fusion_world import IMAGE, weights
from tests.page.kvqae_world import (
    CHOICE,
    METRICS,
    READ,
    RERANKED,
    ROOT,
    block,
    write_world,
)
from tests.page.outline import Outline
from tests.page.parts import render, render_part
from trivium.core.tables import read_json, write_json
from trivium.page.kvqae.construction import ABSENT, construction_html
from trivium.page.kvqae.findings import RERANKING, RETRIEVAL, reading_findings, retrieval_findings, sentence
from trivium.page.kvqae.reading import ROWS, difficulty_html, reading_html
from trivium.page.kvqae.reranking import image_note, overlap_blocks_html, tuning_html
from trivium.page.kvqae.retrieval import labels_of, reranked_labels_of, retrieval_html
from trivium.page.published import READING_ROWS, RERANKED_TABLES, TABLES, Shown, noted
from trivium.page.thorough import Thorough, read_thorough

PUBLISHED = yaml.safe_load((ROOT / "tests/published/kvqae.yaml").read_text(encoding="utf-8"))

TOLD = {"significance": 0.01, "confidence": 0.95}
RERANKED_LABELS = reranked_labels_of(labels_of(IMAGE, weights()), ("text", "arcface", "rrt"), "dpr_few_shot_image")


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


def test_gallery_shows_both_rankings_with_the_answers_of_the_last(article):
    gallery = article[1]["kvqae-gallery"]
    assert gallery.count("<h3>Multimodal retrieval</h3>") == gallery.count("<h3>Re-ranked by text and image</h3>") == 3
    assert gallery.count("✓ right") == 2  # q0 and q1; the answer of the first seed on the re-ranked list
    assert gallery.count("<mark>Brno</mark>") == 3
    assert gallery.count('<span class="chip">face found</span>') == 1


@pytest.mark.parametrize(
    ("value", "other", "p", "expected"),
    [
        (0.5, 0.25, 0.01, "A beats B in P@1: 25.0 % → 50.0 %, +25.0 points, p = 0.010."),
        (0.5, 0.25, 0.011, "A is above, but not significantly, B in P@1: 25.0 % → 50.0 %, +25.0 points, p = 0.011."),
        (0.2, 0.3, 0.0001, "A is beaten by B in P@1: 30.0 % → 20.0 %, −10.0 points, p < 0.001."),
        (0.2, 0.3, 0.5, "A is below, but not significantly, B in P@1: 30.0 % → 20.0 %, −10.0 points, p = 0.500."),
        (0.2, 0.2, 1.0, "A equals B in P@1: 20.0 % → 20.0 %, 0.0 points, p = 1.000."),
    ],
)
def test_findings_say_which_way_it_goes(value, other, p, expected):
    assert sentence("AB", "P@1", (value, other), p, 0.01) == expected


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


def test_findings_come_from_the_blocks_and_metrics_that_exist():
    first, *rest = retrieval_findings(RERANKED, RERANKING["table-6"], 0.01)
    assert first == "Text re-ranking beats the initial ranking in P@1: 25.0 % → 50.0 %, +25.0 points, p = 0.010."
    image_adds, both_add = rest[1:]  # no row of the block keeps the initial scores
    assert image_adds.startswith("Re-ranking by text and image is beaten by text re-ranking in P@1: 50.0 % → 40.0 %")
    assert image_adds.endswith("Expected to be above: does not hold here.")
    assert both_add.startswith("Re-ranking by text and image beats the initial ranking in P@1: 25.0 % → 40.0 %")
    faces = retrieval_findings(RERANKED, RERANKING["table-5"], 0.01)
    assert [each.split(" in ")[0] for each in faces] == [
        *("Where a face is found: ArcFace + RRT equals ArcFace alone",) * 2,
        *("Where a face is found: ArcFace + RRT beats RRT alone",) * 2,
    ]
    assert retrieval_findings({"passage": block("", {"initial": 0.1})}, RERANKING["table-6"], 0.01) == []
    assert retrieval_findings({}, RERANKING["table-5"], 0.01) == []
    first_stage = {"passage": block("", {"dpr_zero_shot": 0.1, "dpr_few_shot": 0.2, "dpr_few_shot_image": 0.3})}
    fused, tuned = retrieval_findings(first_stage, RETRIEVAL["table-3"], 0.01)
    assert fused.startswith("Text (D_f) and image is above, but not significantly, its text alone, D_f, in MRR: 20.0 %")
    assert fused.endswith("Expected with p ≤ 0.01: does not hold here.")
    assert tuned.endswith(
        "Few-shot DPR is above, but not significantly, zero-shot DPR in MRR: 10.0 % → 20.0 %, +10.0 points, p = 0.500."
    )
    (found,) = reading_findings(READ, 0.01)
    assert found.startswith("Reading the re-ranked list beats reading the initial list in EM: 20.0 % → 30.0 %")
    assert "+10.0 points, p = 0.002." in found


def verdicts(html):
    """What stands under the rows, by order of rows."""
    return [part.partition("</small>")[0] for part in html.split("<small>paper: ")[1:]]


@pytest.mark.parametrize(
    ("text_mrr", "expected"),
    [
        (0.494, "within 2 points"),
        (0.4939, "within 2 points"),
        (0.4941, "off by up to 2.0 points"),
        (0.40, "off by up to 7.4 points"),
    ],
)
def test_retrieval_on_the_papers_data_gets_a_verdict(text_mrr, expected):
    paper = dict(zip(("mrr", "precision@1", "precision@20", "hits@20"), (0.474, 0.378, 0.237, 0.731), strict=True))
    made = block("Text", {"initial": 0.1, "text": 0.0, "beyond": 0.5})
    made["rows"][1]["values"] = paper | {"mrr": text_mrr}
    shown = Shown("passage", "table_6")
    html = retrieval_html({"passage": made}, PUBLISHED, [shown], TOLD, RERANKED_LABELS, sample=False)
    # The initial list: Hits@20 10 against the paper's 65.7. A row that the paper lacks has no verdict.
    assert verdicts(html) == ["off by up to 55.7 points", expected]
    assert verdicts(retrieval_html({"passage": made}, PUBLISHED, [shown], TOLD, RERANKED_LABELS, sample=True)) == []


def test_reading_on_the_papers_data_is_held_to_the_papers_deviations():
    read = {
        "few_shot_fused_f1": 0.268,  # the paper: 25.5 ± 0.7 and 21.4 ± 0.8
        "few_shot_fused_em": 0.200,
        "few_shot_reranked_f1": 0.327,  # 32.7 ± 0.4 and 28.9 ± 0.4
        "few_shot_reranked_em": 0.300,
        "triviaqa_f1": 0.61,  # 62.9 and 59.2, without deviations
        "triviaqa_em": 0.60,
        "few_shot_text_f1": 0.2,  # not in the paper
        "few_shot_text_em": 0.2,
    }
    html = reading_html(read, PUBLISHED, ROWS, 5, sample=False)
    assert verdicts(html) == ["within 1.4 and 1.6 points", "off by up to 1.1 points", "within 2 points"]
    assert verdicts(reading_html(read, PUBLISHED, ROWS, 5, sample=True)) == []


def rows_of(html):
    """{first cell: the others} of all tables."""
    return {row[0]: row[1:] for row in Outline(html).rows}


@pytest.mark.parametrize(
    ("world", "annotations", "shown"),
    [("sample", "sample", True), ("hub", "sample", False), ("local", "sample", False), ("hub", "local", True)],
)
def test_simulated_annotators_of_real_questions_stand_beside_nothing_of_the_paper_s(
    tmp_path, world, annotations, shown
):
    arguments = write_world(tmp_path)
    used = yaml.safe_load(arguments["used"].read_text(encoding="utf-8"))
    worlds = {"kvqae": world, "kvqae_annotations": annotations}
    arguments["used"].write_text(yaml.safe_dump(used | {"world": worlds}), encoding="utf-8")
    render_part("kvqae", "construction", arguments, tmp_path / "parts")
    made = read_json(tmp_path / "parts/kvqae/construction.json")["sections"]
    statistics, steps = rows_of(made["table-1"]), rows_of(made["construction"])
    of_annotators = {
        "Questions": statistics["Questions"][1],
        "κ": steps["Fleiss’ κ, discard"][0],
        "κ known": steps["Fleiss’ κ, discard"][1],
        "edited": steps["Kept questions that were edited"][0],
        "in": steps["Questions kept by the annotators"][0],
        "kept": steps["Questions kept by the annotators"][1],
        "left out": steps["Questions kept by the annotators"][4],
    }
    told = ["195", "0.35", "0.33", "50.0 %", "300", "195"]
    assert list(of_annotators.values())[:-1] == (told if shown else [ABSENT] * 6)
    assert (of_annotators["left out"] == ABSENT) != shown
    for html in made.values():
        assert ("Nobody annotated these questions" in html) != shown
    # What needs no annotator stands there all the same.
    assert statistics["Questions"][0] == "1 700"
    assert steps["Mentions linked to an article that holds the answer"][:2] == ["900", "495"]


def test_every_published_name_exists():
    for wanted in (*TABLES.values(), *RERANKED_TABLES.values()):
        for shown in wanted:
            if shown.published is not None:
                assert set(shown.names.values()) <= PUBLISHED[shown.published]["rows"].keys()
    assert set(READING_ROWS.values()) == PUBLISHED["table_7"]["rows"].keys()
    assert READING_ROWS.keys() == {row for row, label in ROWS.items() if not label}


def test_other_blocks_are_the_split_by_overlap():
    html = overlap_blocks_html(RERANKED, PUBLISHED, TOLD, RERANKED_LABELS)
    assert "Persons &lt;known&gt;" in html
    assert "25.7" in html
    assert "Persons &lt;known&gt;: Re-ranking by text and image equals text re-ranking in P@1: 30.0 %" in html
    assert html.count("<table") == 1
    assert overlap_blocks_html({"passage": RERANKED["passage"]}, PUBLISHED, TOLD, RERANKED_LABELS) == ""


def test_the_choice_stands_before_the_paper_s_way():
    html = text(tuning_html(CHOICE))
    assert "fused twice: alone as is best by itself, for text + image as that is best" in html
    assert "Image, for text + image: ArcFace + RRT, chosen linear rank 0.5 ArcFace + 0.5 RRT 40.0 34" in html
    assert "Image alone: ArcFace + RRT, chosen linear z-score 0.7 ArcFace + 0.3 RRT 42.0 34" in html
    assert "Image alone: ArcFace + RRT, the paper’s way PosFuse rank – 41.0 –" in html
    assert "Text + image, chosen linear min-max 0.6 text + 0.4 image 50.0 34" in html
    assert "Text + initial list, chosen linear rank 0.2 text + 0.8 initial list 45.0 34" in html
    assert "Text + initial list, the paper’s way" not in html


def test_how_the_images_are_fused_alone():
    assert image_note(CHOICE) == (
        "This list by the image alone is fused as is best for itself on validation, which is not the paper’s: MRR 42.0 % "
        "against the paper’s 41.0 %. In text + image (Table 6) the images are fused in the way that is best for both."
    )
    paper = CHOICE["image_alone"]["paper"]
    same = {name: record | {"chosen": paper} for name, record in CHOICE.items()}
    assert "on validation, which is the paper’s: MRR" in image_note(same)
    assert image_note(same).endswith("the images are fused the same way.")


def test_without_rrt_the_tables_show_what_there_is(tmp_path):
    arguments = write_world(tmp_path)
    used = yaml.safe_load(arguments["used"].read_text(encoding="utf-8"))
    used["kvqae"]["rrt"], used["world"]["kvqae"] = {"use": True}, "hub"  # and they were not
    arguments["used"].write_text(yaml.safe_dump(used, sort_keys=False), encoding="utf-8")
    blocks = dict(RERANKED)
    blocks["article_face"] = block("Image, face", {"arcface": 0.5, "image": 0.5})
    blocks["article"] = block("Image, all", {"image": 0.4})
    write_json(arguments["data"] / "evaluation/reranking.json", blocks)
    faces = {"method": "posfuse", "probabilities": {"arcface": [0.5]}}
    alone = CHOICE["image_alone"] | {"chosen": faces, "paper": faces}
    images = {"image": CHOICE["image"] | {"chosen": faces}, "image_alone": alone}
    write_json(arguments["data"] / "tuning/reranking.json", CHOICE | images)
    found = render("kvqae", arguments, tmp_path / "parts")[1]["sections"]
    sections = {each["id"]: text(each["html"]) for each in found}
    for number in (5, 6, 7):
        said = "the first 10 by ArcFace where a face is found. RRT was left out, as its features were not given or kvqae.rrt.use says so"
        assert said in sections[f"kvqae-table-{number}"]
    table_5, table_6 = sections["kvqae-table-5"], sections["kvqae-table-6"]
    assert "in ArcFace’s order where it has one, elsewhere in the initial order" in table_5
    assert "F·A, without a face the initial list 40.0" in table_5
    assert "49.6 42.9" in table_5  # the paper's ArcFace
    assert "47.0 36.7" not in table_5  # the paper's ArcFace + RRT
    assert "52.7 43.7" not in table_6
    assert "Text + F·A 40.0" in table_6
    assert "Image alone: ArcFace, chosen PosFuse" in table_6
    assert not any("A + RRT" in sections[f"kvqae-table-{number}"] for number in (5, 6))
    assert "ArcFace + RRT" not in table_5 + table_6


def test_brought_runs_have_the_name_of_their_file(tmp_path):
    arguments = write_world(tmp_path)
    used = yaml.safe_load(arguments["used"].read_text(encoding="utf-8"))
    used["world"]["kvqae"] = "hub"
    used["kvqae"]["initial"] = {"folder": "brought", "run": "brought_my-run"}
    used["kvqae"]["fuse"]["weights"]["brought_my-run_image"] = {"brought_my-run": 0.5, "arcface": 0.3, "clip": 0.2}
    used["kvqae"]["read"]["rows"] = {
        "mine": {"model": "few_shot", "run": "brought_my-run", "passages": 5, "oracle": "semi"},
        "few_shot_fused": {"model": "few_shot", "run": "dpr_few_shot_image", "passages": 5},
    }
    arguments["used"].write_text(yaml.safe_dump(used, sort_keys=False), encoding="utf-8")
    rows = {"bm25": 0.2, "dpr_few_shot": 0.3, "brought_my-run": 0.5, "brought_my-run_image": 0.6}
    evaluation = arguments["data"] / "evaluation/tables.json"
    write_json(evaluation, read_json(evaluation) | {"passage": block("Text", rows)})
    write_json(arguments["measured"] / "read.json", READ | {"mine_f1": 0.123, "mine_em": 0.111})
    found = render("kvqae", arguments, tmp_path / "parts")[1]["sections"]
    sections = {each["id"]: text(each["html"]) for each in found}
    assert "my-run (brought) 50.0" in sections["kvqae-table-3"]
    assert "my-run + F·A + (1−F)·C 60.0" in sections["kvqae-table-3"]
    # What is re-ranked is another list than the paper's, whose numbers stand beside none of its rows.
    assert "Initial: my-run (brought) 25.0" in sections["kvqae-table-6"]
    assert "mine: few shot reader on brought_my-run, top 5, semi oracle 12.3" in sections["kvqae-table-7"]
    assert "reader on dpr_few_shot_image" not in sections["kvqae-table-7"]  # the row has a label already
    html = {each["id"]: each["html"] for each in found}
    assert verdicts(html["kvqae-table-3"])
    assert not any(verdicts(html[f"kvqae-table-{number}"]) for number in (5, 6))


@pytest.mark.parametrize(
    ("mrr", "sample", "verdict"),
    [(0.712, True, "."), (0.712, False, " (within 2 points)."), (0.756, False, " (off by up to 5.0 points).")],
)
def test_lists_behind_the_triviaqa_rows_stand_below_table_7(mrr, sample, verdict):
    metrics = READ | {"triviaqa_initial_mrr": mrr, "triviaqa_initial_precision@1": 0.602}
    html = text(reading_html(metrics, PUBLISHED, ROWS, 2, sample=sample))
    assert f"MRR {100 * mrr:.1f} %, P@1 60.2 %; in the paper, on its data, 70.6 % and 60.2 %{verdict}" in html
    assert "lists of the questions behind" not in text(reading_html(READ, PUBLISHED, ROWS, 2, sample=sample))


def test_funnel_counts_shares_and_reasons():
    html = text(construction_html(METRICS, PUBLISHED))
    assert "mentions of their question 1 500 900 0.90 a question 0.9 a question –" in html
    assert "holds the answer 900 495 55.0 % 55 % kept no link 405" in html
    # What the paper calls dropped is not all that is left out, so its share stands instead of the one kept.
    subjects = "persons deceased 495 340 30.1 % dropped 31 % dropped abstract type 50, living person 99, no kb image 6"
    assert subjects in html
    assert "their other files 300 291 3.0 % dropped 3 % dropped no commons category 5, licence restricted 40" in html
    annotators = "by the annotators 300 195 65.0 % 2 000 of 5 700 discarded"
    assert f"{annotators} discarded 98, dropped naming the entity 5, dropped giving the answer 2" in html
    assert "Fleiss’ κ, discard 0.35 0.33 0.33" in html
    assert "persons deceased – – – 31 % dropped –" in text(construction_html({}, PUBLISHED))  # its stage is not there
    assert "mentions of their question – – – 0.9 a question –" in text(construction_html({}, PUBLISHED))


def test_reading_shows_deviations_and_what_was_not_run():
    html = text(reading_html(READ, PUBLISHED, ROWS, 2))
    assert "standard deviation over 2 seeds for the few-shot readers" in html
    assert "One training of each few-shot reader" in text(reading_html(READ, PUBLISHED, ROWS, 1))
    assert "few-shot, top 5 of retrieval 30.0 ± 1.0 20.0 ± 2.0 25.5 ± 0.7 21.4 ± 0.8" in html
    assert "few-shot, top 5 re-ranked 40.0 30.0 32.7 ± 0.4 28.9 ± 0.4" in html
    assert "few-shot, max-pooled loss, top 5 re-ranked – – – –" in html


def test_one_reader_has_those_of_make_thorough_beneath_it():
    more = {"few_shot_reranked_em": 0.31, "few_shot_reranked_em_sd": 0.02, "few_shot_max_reranked_f1": 0.4}
    thorough = Thorough(more, commit="0123456789", date="2026-01-02")
    alone, several = (text(reading_html(READ, PUBLISHED, ROWS, seeds, thorough=thorough)) for seeds in (1, 2))
    assert "few-shot, top 5 re-ranked 40.0 30.0 31.0 ± 2.0 † 32.7 ± 0.4" in alone
    assert "few-shot, max-pooled loss, top 5 re-ranked 40.0 † – – –" in alone
    assert "on 2026-01-02 at commit 01234567" in alone
    assert "†" not in several


def test_what_make_thorough_found_in_another_world_is_left_out(tmp_path):
    file, world = tmp_path / "kvqae.json", {"seed": 3, "articles": 1000}
    assert read_thorough(file, "read", world, sample=True) is None
    kept = {"pipeline": "kvqae", "commit": "01", "date": "2026-01-02", "metrics": {"read.a_em": 0.5, "fuse.a_em": 0.1}}
    write_json(file, kept)
    assert read_thorough(file, "read", world, sample=True) is None, "nobody knows of which world"
    write_json(file, kept | {"parameters": {"kvqae.world": world}})
    found = read_thorough(file, "read", world, sample=True)
    assert found == Thorough({"a_em": 0.5}, "01", "2026-01-02")
    assert (text(found.again("a_em")), found.again("b_em")) == ("50.0 †", "")
    assert read_thorough(file, "read", world | {"seed": 4}, sample=True) is None
    assert read_thorough(file, "read", world, sample=False) is None, "real data"


def test_difficulty_has_marks_numbers_and_gaps():
    known = {"delta": -1.5, "low": -3.0, "high": -0.1, "p": 0.01, "p_holm": 0.04}
    joint = dict.fromkeys(("joint", "joint_low", "joint_high"))
    verdicts = {"validated": True, "significant": True, "holm_significant": True}
    row = {"factor": "no_<face>", "yes": 4, "no": 6} | known | joint | verdicts
    html = difficulty_html([row], {"questions": 10.0, "passages_read": 5.0, "f1": 0.475}, 0.95)
    assert "47.5 %" in html
    assert "none among the 5 at most that it read" in html
    assert "↓**" in html
    assert "no &lt;face&gt;" in html
    assert html.count("–") >= 2  # the regression left the factor out


def test_every_table_of_a_pilot_says_so_and_gives_no_verdict(tmp_path):
    def made(base):
        folder = tmp_path / ("pilot" if base else "whole")
        arguments = write_world(folder)
        used = yaml.safe_load(arguments["used"].read_text(encoding="utf-8"))
        used["kvqae"]["world"]["base"], used["world"]["kvqae"] = base, "hub"
        arguments["used"].write_text(yaml.safe_dump(used, sort_keys=False), encoding="utf-8")
        found = render("kvqae", arguments, folder / "parts")[1]["sections"]
        return {each["id"].removeprefix("kvqae-"): each["html"] for each in found}

    said = re.compile(r"within [\d.]+ points|off by up to")
    names = [f"table-{number}" for number in range(2, 8)]
    pilot, whole = made({"articles": 60_000}), made(None)
    for name in names:
        assert pilot[name].startswith('<p class="note" role="note"><strong>A pilot.</strong>'), name
        assert "60\u202f000 articles are searched, chosen of 1\u202f495\u202f352" in pilot[name]
        assert "A smaller base is easier." in pilot[name]
        assert not said.search(pilot[name]), name
        assert "A pilot" not in whole[name]
    assert any(said.search(whole[name]) for name in names), "there is something that the pilot leaves out"
    assert "A pilot" not in pilot["gallery"]
    assert noted({"table-2": "<p>x</p>"}, None) == {"table-2": "<p>x</p>"}
