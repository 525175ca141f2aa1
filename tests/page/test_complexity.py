"""The page of complexity on a small corpus: every section, hostile text, absent models, numbers where they belong."""

import re

import pytest

from tests.page.complexity_world import HOSTILE, run_stages
from tests.page.outline import Outline
from tests.page.parts import render as render_parts
from trivium.core.tables import read_json, read_table
from trivium.page.contents import render_page

SECTIONS = (
    *("contrasts", "table-1", "figure-2", "forest", "table-2", "examples", "factors", "findings", "agreement"),
    *("parsers", "partitions", "illustrations", "sizes"),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return run_stages(tmp_path_factory.mktemp("complexity"))


def render(world, folder, **changes):
    return render_parts("complexity", world, folder / "parts", examples={"examples": 1000} | changes)


@pytest.fixture(scope="module")
def article(world, tmp_path_factory):
    return render(world, tmp_path_factory.mktemp("out"))[1]


@pytest.fixture(scope="module")
def sections(article):
    return {each["id"].removeprefix("complexity-"): each["html"] for each in article["sections"]}


def test_every_section_is_there_and_well_formed(article, sections):
    assert tuple(sections) == SECTIONS
    assert (article["pipeline"], article["world"]) == ("complexity", "sample")
    assert Outline(render_page("page.html", "intel", article=article)).open == []


def test_hostile_text_is_shown_as_text(sections):
    html = sections["examples"]
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;qui&#34; {{ 7 * 7 }} ?" in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert HOSTILE not in html
    for other in set(sections) - {"examples"}:  # a user's file name is a model's name
        assert "mine & yours" not in sections[other]
    assert "mine &amp; yours" in sections["table-1"]
    assert "mine &amp; yours" in sections["figure-2"]


def test_table_1_has_our_numbers_the_paper_s_and_what_was_not_run(world, sections):
    rows = {
        re.split(r" (?:extractive|generative|answers|trivial)", row[0])[0]: row
        for row in Outline(sections["table-1"]).rows
    }
    found = read_json(world["measured"] / "score.json")
    camembert = rows["CamemBERT"]
    for column, name in enumerate(("rouge_l_paper", "rouge_l", "em", "f1"), 1):
        value, deviation = found[f"camembert_{name}"], found[f"camembert_{name}_sd"]
        assert camembert[column].startswith(f"{100 * value:.1f} ± {100 * deviation:.1f}")
    assert camembert[5] == f"{100 * found['camembert_shuffled_rouge_l']:.1f}"
    assert camembert[7:] == ["82335 M", "78"]
    for absent, paper in {
        "FLAN-T5-large": ["80783 M", "79"],
        "Mixtral": ["8047 B", "82"],
        "GPT-3.5": ["72175 B", "82"],
    }.items():
        assert rows[absent][1:] == ["not run", *paper]
    assert rows["MiniLM"][1:] == ["not run", "–", "–"]
    assert rows["mine & yours"][7:] == ["–", "–"]
    assert "params.yaml calls it weak" in rows["T5 <tiny>"][0]
    assert "45 k of 1.2 M parameters, 750 steps = 2.9 epochs" in rows["T5 <tiny>"][0]
    assert "weak" not in camembert[0]
    assert "1.2 M parameters, 750 steps = 2.9 epochs" in camembert[0]
    assert list(rows)[-2:] == ["Sentence with most words of the question", "Random span, as long as an answer"]


def test_what_factors_cost_when_nothing_else_differs(article, sections):
    rows = {row[0][:2]: row[1:] for row in Outline(sections["contrasts"]).rows if row}
    assert [cell.split()[0] for cell in rows["f1"][:2]] == ["−51.0", "−51.0"]
    assert rows["f1"][2] == "costs every reader"
    assert [cell.split()[0] for cell in rows["f2"][:2]] == ["−1.0", "−51.0"]
    assert rows["f2"][2] == "cannot be told from this run"
    assert "f3" not in rows
    assert "loses 51.0" in article["claim"]
    html = article["picture"]
    assert html.count('<span class="wrong">✗</span> CamemBERT: <em lang="fr">camembert dit</em>') == 2
    assert html.index("a pronoun stands for the answer</strong>") < html.index("the answer is named again</strong>")


def test_table_2_has_every_delta_with_its_marks_and_the_paper_s_without(world, sections):
    rows = Outline(sections["table-2"]).rows
    effects = {(row["model"], row["factor"]): row for row in read_table(world["data"] / "effects.parquet").to_pylist()}
    camembert = next(row for row in rows if row[0] == "CamemBERT")
    for column in range(7):
        cell = effects["camembert", f"f{column}"]
        shown = f"{cell['delta_floor']:.0f}".replace("-", "−")
        assert camembert[column + 1].startswith(shown + "↓" * cell["validated"])
        assert f"{cell['yes']} / {cell['no']}" in camembert[column + 1]
    beneath = rows[rows.index(camembert) + 1]
    assert beneath == ["paper", "−1", "−4", "−1", "−2", "−7", "−3", "−1"]
    gpt = next(row for row in rows if row[0].startswith("GPT-3.5, paper"))
    assert gpt[1:] == ["0", "4", "−1", "0", "−4", "−4", "−3"]


def test_the_browser_has_every_side_of_every_factor_as_a_filter(world, sections, tmp_path):
    def items(html):
        return [attributes for tag, attributes in Outline(html).tags if tag == "li" and "data-factor" in attributes]

    metrics, article = render(world, tmp_path, examples=12)
    drawn = {section["id"]: section["html"] for section in article["sections"]}["complexity-examples"]
    every, few = items(sections["examples"]), items(drawn)
    factors = read_table(world["data"] / "factors.parquet").to_pylist()
    assert len(every) == len(factors)
    assert sorted(item["data-frame"] for item in every) == sorted(row["frame"] for row in factors)
    for name, state in (("f1", True), ("f4", None)):
        side = f"{name}:{'yes' if state else 'uncounted'}"
        shown = sum(side in item["data-factor"].split() for item in every)
        assert shown == sum(row[name] is state for row in factors) > 0
        assert f'value="{side}"' in sections["examples"]
    assert (len(few), metrics["examples"]) == (12, 12)
