"""The page of decorrelation on a small world: every section, hostile text, absent cells, numbers where they belong."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.decorrelation import retrieved_world as world
from tests.page.outline import PAGES, Outline
from tests.page.parts import render
from trivium.core.tables import read_json
from trivium.page.contents import render_page
from trivium.page.decorrelation.tables import seed_interval

SECTIONS = (
    *("table-1", "findings", "gallery", "table-2", "table-3", "figure-4", "appendix-b", "entities", "classes"),
    *("co-occurrence", "removals", "sizes"),
)
PUBLISHED = yaml.safe_load(Path("tests/published/decorrelation.yaml").read_text(encoding="utf-8"))


def small_world(folder, cells):
    arguments = world.evaluated(folder, cells)
    return arguments, *render("decorrelation", arguments, folder / "parts")


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return small_world(tmp_path_factory.mktemp("full"), world.default_cells() | world.grid_cells())


@pytest.fixture(scope="module")
def sections(full):
    return {each["id"].removeprefix("decorrelation-"): each["html"] for each in full[2]["sections"]}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """CLIP and BLIP as released, and nothing that was trained: scales/pilot_odmap.yaml."""
    cells = {f"coco_{model}_zero_shot_0": world.cell("coco", model, "zero_shot") for model in ("clip", "blip")}
    article = small_world(tmp_path_factory.mktemp("released"), cells)[2]
    return {each["id"].removeprefix("decorrelation-"): each["html"] for each in article["sections"]}


def rows(html):
    return Outline(html).rows


def row_of(html, *words):
    (found,) = [row for row in rows(html) if all(word in row[0] for word in words)][:1]
    return found


def test_released_models_alone_make_a_whole_article(released):
    assert tuple(released) == SECTIONS
    for model in ("CLIP", "BLIP"):
        row = row_of(released["table-1"], model, "zero-shot")
        assert re.match(r"\d+\.\d", row[1])
    gallery = released["gallery"]
    assert "where the first sentence of BLIP zero-shot is wrong" in gallery
    assert "BLIP zero-shot right" in gallery
    assert not re.search(r"\bours\b|Finetune names", gallery, re.IGNORECASE)
    assert "Other models" not in gallery, "none of them is hidden"


def test_every_section_is_there_and_well_formed(full, sections):
    assert tuple(sections) == SECTIONS
    assert (full[2]["pipeline"], full[2]["world"]) == ("decorrelation", "sample")
    assert Outline(render_page("page.html", "intel", article=full[2])).open == []
    assert full[1]["examples"] == world.PARAMETERS["page"]["gallery"]["examples"]
    assert full[1]["pictures_missing"] == 0


def test_the_page_is_one_file(full):
    tags = Outline(render_page("page.html", "intel", article=full[2])).tags
    addresses = [value for _, given in tags for name, value in given.items() if name in ("src", "href")]
    assert all(value.startswith(("#", "data:")) or value in PAGES for value in addresses)
    images = [given for tag, given in tags if tag == "img"]
    assert images
    assert all(given["loading"] == "lazy" and given["alt"] and int(given["width"]) <= 160 for given in images)


def test_hostile_text_is_shown_as_text(sections):
    for html in sections.values():
        assert "<script" not in html
        assert "cup <b>" not in html
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; {{ 7 * 7 }}" in sections["gallery"]
    assert "cup &lt;b&gt;" in sections["classes"]


def test_table_1_prints_the_metrics_beside_the_published_numbers(full, sections):
    metrics = read_json(full[0]["measured"] / "evaluate.json")
    for variant, words in (("finetune", "finetuned on D"), ("ours", "+ ours")):
        row = row_of(sections["table-1"], "CLIP", words)
        key = f"coco_clip_{variant}_synthetic_odmap@1"
        assert row[1].startswith(f"{100 * metrics[key]:.1f} ± {100 * metrics[f'{key}_sd']:.1f}")
        assert "3 seeds" in row[0]
        assert row[-3:] == [f"{value:.1f}" for value in PUBLISHED["table_1"]["coco"][f"clip_{variant}"]["values"]]
    assert "one seed" in row_of(sections["table-1"], "VSE++", "finetuned")[0]
    chance = row_of(sections["table-1"], "random order")
    tested, painted = (int(metrics[f"coco_{name}"]) for name in ("image_to_text_queries", "synthetic_pictures"))
    assert f"queries from {painted} of {tested} test pictures" in sections["table-1"]
    assert ("no class can be removed" in sections["table-1"]) == (painted < tested)
    assert chance[1] == f"{100 * metrics['coco_synthetic_chance_odmap@1']:.1f}"


def test_table_3_finds_its_rows_by_what_they_are(full, sections):
    metrics = read_json(full[0]["measured"] / "evaluate.json")
    for label, group in (
        ("D only", "finetune"),
        ("noun-phrase removal × zero", "noun_phrase_zero"),
        ("noun-phrase removal × in-painting", "ours"),
        ("prompts × in-painting", "prompt_inpaint"),
    ):
        row = row_of(sections["table-3"], label)
        assert row[1].startswith(f"{100 * metrics[f'coco_clip_{group}_synthetic_odmap@1']:.1f}")
    skews = [metrics[f"coco_clip_ours_{seed}_synthetic_k_skew@10"] for seed in range(3)]
    assert row_of(sections["table-3"], "noun-phrase removal × in-painting")[5] == f"{np.mean(skews):.1f}"
    assert row_of(sections["table-3"], "noun-phrase removal × in-painting")[-2] == "63.7or 62.3*"
    assert "prompts × in-painting 20 of 24" in sections["table-3"]
    assert "captioning model × in-painting: 1 different caption for 24 pictures hardly depend" in sections["table-3"]
    assert sections["table-3"].count("hardly depend") == 1


def test_the_interval_over_seeds_is_students():
    low, high = seed_interval([1.0, 2.0, 3.0], 0.95)
    assert (low, high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert seed_interval([1.0], 0.95) is None
