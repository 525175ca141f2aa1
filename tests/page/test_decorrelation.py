"""The page of decorrelation on a small world: every section, hostile text, absent cells, numbers where they belong."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from stages.decorrelation.page_results import training_differs
from tests.decorrelation import retrieved_world as world
from tests.page.outline import PAGES, Outline
from tests.page.parts import render, render_part
from tests.test_params import parameters
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.core.tables import read_json, write_json
from trivium.decorrelation.evaluation.answers import ODMAP
from trivium.decorrelation.matrix import parse_cells
from trivium.page.assembly import page
from trivium.page.decorrelation.results import MAIN, Results
from trivium.page.decorrelation.tables import Tables, seed_interval, table_3_html

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
def few(tmp_path_factory):
    """CLIP on COCO alone, without any grid."""
    names = ("coco_clip_finetune_0", "coco_clip_ours_0")
    cells = {name: fields for name, fields in world.default_cells().items() if name in names}
    article = small_world(tmp_path_factory.mktemp("few"), cells)[2]
    return {each["id"].removeprefix("decorrelation-"): each["html"] for each in article["sections"]}


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


AS_PAPER = {
    "phrases": {"matching": "paper"},
    "removals": {"region": "box", "delta1": 0.4, "delta2": 0.8, "delta3": 0.7},
    "inpaint": {"dilate": 0},
    "retrieve": {"candidates": {"coco": 256, "flickr30k": 128}},
}


@pytest.mark.parametrize(
    ("dataset", "model", "variant", "changes", "expected"),
    [
        ("coco", "clip", "ours", {}, "within 1 points"),
        ("coco", "vse", "ours", {}, "not compared, as these differ: train.models.vse.steps"),
        ("coco", "blip", "zero_shot", {}, "within 1 points"),  # not trained at all
        ("flickr30k", "clip", "ours", {}, None),  # a sample world
        ("coco", "clip", "zero_shot", {"phrases": {"matching": "strict"}}, "not compared, as these differ: phrases.matching"),
        ("coco", "clip", "ours", {"inpaint": {"dilate": 3}}, "not compared, as these differ: inpaint.dilate"),
        ("coco", "clip", "zero_shot", {"retrieve": {"candidates": {"coco": 128}}}, "within 1 points"),
        ("coco", "blip", "zero_shot", {"retrieve": {"candidates": {"coco": 128}}},
         "not compared, as these differ: retrieve.candidates"),
    ],
)  # fmt: skip
def test_a_row_is_judged_where_it_could_agree(dataset, model, variant, changes, expected):
    group = f"{dataset}_{model}_{variant}"
    cells = parse_cells({f"{group}_0": world.cell(dataset, model, variant)}, "params.yaml")
    results = Results(cells, {f"{group}_synthetic_odmap@1": 0.5}, [])
    differs = {"clip": [], "vse": ["steps"]}
    of = Tables(results, PUBLISHED, AS_PAPER | changes, ["flickr30k"], differs, 0.05)
    assert of.agrees(group, [("synthetic", "odmap@1")], [[50.0]], 1.0) == expected


RELEASED = {("clip", "zero_shot"), ("blip", "zero_shot")}


@pytest.mark.parametrize(
    ("scale", "judged"),
    [
        ("pilot_odmap", {("clip", "zero_shot")}),
        ("workstation", RELEASED | {("blip", "finetune"), ("blip", "ours")}),
        ("paper", set(MAIN)),
    ],
)
def test_which_rows_of_a_scale_have_a_verdict(scale, judged):
    used, papers = (parameters(Path(f"scales/{name}.yaml").absolute())["decorrelation"] for name in (scale, "paper"))
    differs = training_differs(used["train"]["models"], papers["train"]["models"])
    cells = parse_cells(used["cells"], "params.yaml").values()
    of = Tables(Results({}, {}, []), PUBLISHED, used, [], differs, 0.05)
    rows = {(each.model, each.variant) for each in cells if each.dataset == "coco" and not of.unlike_paper(each)}
    assert rows & set(MAIN) == judged & {(each.model, each.variant) for each in cells}


def test_every_section_is_there_and_well_formed(full, sections):
    assert tuple(sections) == SECTIONS
    assert (full[2]["pipeline"], full[2]["world"]) == ("decorrelation", "sample")
    assert Outline(page(full[2])).open == []
    assert full[1]["examples"] == world.PARAMETERS["page"]["gallery"]["examples"]
    assert full[1]["pictures_missing"] == 0


def test_the_page_is_one_file(full):
    tags = Outline(page(full[2])).tags
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


def test_rows_that_were_not_run_say_how_to(few):
    row = row_of(few["table-1"], "BLIP", "zero-shot")
    then = ", then make repro P=decorrelation"
    assert row[1] == f"not in this run: make scale S=thorough{then}"
    assert row[-3:] == ["60.2", "52.3", "47.4"]
    assert row_of(few["table-3"], "prompts")[1] == f"not in this run: make scale S=table3{then}"
    assert row_of(few["appendix-b"], "D_s")[1] == f"not in this run: make scale S=appendix_b{then}"
    figure = "Not in this run: <code>make scale S=figure4</code>, then <code>make repro P=decorrelation</code>, trains"
    assert figure in few["figure-4"]
    assert "<svg" not in few["figure-4"]
    assert row_of(few["findings"], "VSE++")[1] == "not in this run; see Thorough, if below"
    assert "one seed only" in few["findings"]


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


def test_one_training_has_those_of_make_thorough_beneath_it(tmp_path):
    arguments = world.evaluated(tmp_path, world.named([
        *(("coco", "clip", "ours", seed, {}) for seed in (0, 1)),
        ("coco", "clip", "finetune", 0, {}),
    ]))  # fmt: skip
    several = {f"evaluate.coco_{row}_synthetic_odmap@1": 0.512 for row in ("clip_finetune", "clip_ours", "blip_ours")}
    several |= {f"{name}_sd": 0.004 for name in several}
    told = {"decorrelation.world": read_parameters(arguments["used"])["decorrelation"]["world"]}
    kept = {"pipeline": "decorrelation", "commit": "0123456789", "date": "2026-01-02", "metrics": several}
    file = tmp_path / "thorough.json"
    for seed, shown in ((told["decorrelation.world"]["seed"], True), (99, False)):
        told["decorrelation.world"] |= {"seed": seed}
        write_json(file, kept | {"parameters": told})
        render_part("decorrelation", "results", arguments | {"thorough": file}, tmp_path / "parts")
        table = read_json(tmp_path / "parts" / "decorrelation" / "results.json")["sections"]["table-1"]
        assert row_of(table, "CLIP", "finetuned")[1].endswith("51.2 ± 0.4 †") == shown
        assert "†" not in "".join(row_of(table, "CLIP", "ours")), "two trainings here"
        blip = row_of(table, "BLIP", "ours")
        assert (blip[1:6] == ["51.2 ± 0.4 †", "–", "–", "–", "–"]) == shown
        assert ("2026-01-02 at commit <code>01234567</code>" in table) == shown


def test_own_rows_stand_beside_the_papers(tmp_path):
    cells = world.named([
        *(("coco", "clip", variant, 0, {}) for variant in ("finetune", "ours")),
        ("coco", "clip", "grammatical_inpaint", 0, {"captions": "grammatical"}),
        *(("coco", model, "ours", 0, {}) for model in ("vse", "vse_scratch")),
        ("coco", "vse", "zero_shot", 0, {}),
    ])  # fmt: skip
    article = small_world(tmp_path, cells)[2]
    found = {each["id"].removeprefix("decorrelation-"): each["html"] for each in article["sections"]}
    for table in ("table-1", "table-2"):
        html = found[table]
        assert row_of(html, "VSE++ ", "ours")[-1] != "not in the paper"
        assert row_of(html, "VSE++ ", "zero-shot")[-1] == "not in the paper"
        assert row_of(html, "VSE++, from scratch", "ours")[-1] == "not in the paper"
        assert not [row for row in rows(html) if "from scratch" in row[0] and "finetuned" in row[0]]
    whole = row_of(found["table-3"], "noun-phrase removal in whole English × in-painting")
    assert (len(whole), whole[-1]) == (7, "not in the paper")
    assert "|D′| of <em>ours</em>: 24 pairs; the paper’s: 45 467." in found["removals"]


def test_figure_4_has_a_point_for_every_share(sections):
    assert "<svg" in sections["figure-4"]
    shares = [row[0] for row in rows(sections["figure-4"])[1:]]
    assert len(shares) == 4
    assert shares == sorted(shares)
    assert shares[0] == "0.000"


def test_findings_hold_their_notes_and_the_diagnosis(sections, few):
    assert "Flickr30k has no queries rendered again" in row_of(sections["findings"], "On Flickr30k?")[1]
    assert "Training pictures: Control world 24, COCO 24. One seed only." in row_of(sections["findings"], "control")[1]
    assert "By removed class, CLIP on COCO" in sections["findings"]
    # 20 / 64 = 0.3125 a pair, below 2 × 0.2
    assert sections["findings"].count("the loss ended at 0.312 a pair") == 2
    assert "VSE++ on" not in few["findings"]


def test_the_interval_over_seeds_is_students():
    low, high = seed_interval([1.0, 2.0, 3.0], 0.95)
    assert (low, high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert seed_interval([1.0], 0.95) is None


def test_the_gallery_holds_right_and_wrong_ones(sections):
    tags = re.findall(r'<li data-tags="([^"]*)"', sections["gallery"])
    assert sum("wrong" in each for each in tags) == sum("right" in each for each in tags) == len(tags) / 2
    assert re.search(r'class="named gone">[^<]+<span class="tag">gone', sections["gallery"])
    assert 'class="named present">' in sections["gallery"]


def test_removals_and_what_stands_together(sections):
    assert "covers too much of another class (δ1)" in sections["removals"]
    assert sections["removals"].count("The chunker against annotated phrases: precision 75.0 %") == 1
    assert sections["removals"].count("in 93.8 % of the cases") == 3
    assert row_of(sections["co-occurrence"], "frisbee")[1] == "dog"


def test_a_filling_that_the_paper_has_not_is_a_row_of_table_3_all_the_same(tmp_path):
    cells = {"coco_clip_ours_0": world.cell("coco", "clip", "ours")}
    cells["coco_clip_own_0"] = world.cell("coco", "clip", "own", filling="mean", captions="captioner")
    metrics = {
        f"coco_clip_{name}_synthetic_{measure}": 0.5
        for name in ("ours", "own")
        for measure in (*ODMAP, "removed_named")
    }
    metrics |= {f"coco_clip_{name}_0_synthetic_k_skew@10": 1.0 for name in ("ours", "own")}
    for name in ("noun_phrase", "captioner"):
        filling = "cv2" if name == "noun_phrase" else "mean"
        write_json(tmp_path / f"pairs_coco_{filling}_{name}.json", {"pairs": 9, "different_captions": 9})
    html = table_3_html(
        Tables(Results(parse_cells(cells, "params.yaml"), metrics, []), PUBLISHED, {}, [], {}, 0.05), tmp_path
    )
    assert "captioning model × the mean" in html
    assert html.count("not in the paper") == 1


def test_a_world_that_is_not_the_sample_is_held_against_the_paper(full, tmp_path):
    used = yaml.safe_load(full[0]["used"].read_text(encoding="utf-8"))
    used["world"]["coco"] = "hub"
    papers, section = (
        yaml.safe_load(full[0]["paper"].read_text(encoding="utf-8"))["decorrelation"],
        used["decorrelation"],
    )
    for name, values in AS_PAPER.items():
        section[name] = section.get(name, {}) | values
    for name, settings in papers["train"]["models"].items():
        section["train"]["models"].setdefault(name, {}).update(settings)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(used), encoding="utf-8")
    arguments = full[0] | {"used": tmp_path / "params.yaml"}
    article = render("decorrelation", arguments, tmp_path)[1]
    assert article["world"] == "hub"
    judgements = article["sections"][0]["html"].count("paper: off by up to")
    assert judgements
    assert "paper: off" not in full[2]["sections"][0]["html"]
    used["decorrelation"]["train"]["models"]["clip"]["steps"] = 10  # of 22 130
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(used), encoding="utf-8")
    fewer = render("decorrelation", arguments, tmp_path)[1]["sections"][0]["html"].count("paper: off by up to")
    assert fewer < judgements


def test_cells_without_any_row_of_table_1_are_refused(full, tmp_path):
    used = yaml.safe_load(full[0]["used"].read_text(encoding="utf-8"))
    cells = used["decorrelation"]["cells"]
    used["decorrelation"]["cells"] = {"coco_clip_longer_0": cells["coco_clip_longer_0"]}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(used), encoding="utf-8")
    with pytest.raises(BadInput, match="no row of table 1"):
        render_part("decorrelation", "results", full[0] | {"used": tmp_path / "params.yaml"}, tmp_path)
