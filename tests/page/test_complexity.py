"""The page of complexity on a small corpus: every section, hostile text, absent models, numbers where they belong."""

import re
import shutil

import pytest
import yaml

from tests.page.complexity_world import HOSTILE, run_stages
from tests.page.outline import Outline
from tests.page.parts import render as render_parts
from tests.page.parts import render_part
from trivium.core.parameters import read_parameters
from trivium.core.tables import read_json, read_table, write_json
from trivium.page.assembly import page

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
    assert Outline(page(article)).open == []


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
    html = sections["contrasts"]
    assert html.count("Right: <em") == 2
    assert 'CamemBERT: <em lang="fr">camembert dit</em>' in html
    assert html.index("a pronoun stands for the answer</h4>") < html.index("the answer is named again</h4>")


def test_what_was_not_run_here_has_the_numbers_of_make_thorough(world, tmp_path):
    told = {"complexity.world": read_parameters(world["used"])["complexity"]["world"]}
    found = {f"score.{model}_{name}": 0.25 for model in ("minilm", "camembert") for name in ("rouge_l", "em")}
    kept = {"pipeline": "complexity", "commit": "0123456789", "date": "2026-01-02", "parameters": told}
    write_json(tmp_path / "thorough.json", kept | {"metrics": found | {"score.minilm_em_sd": 0.01}})
    render_part("complexity", "results", world | {"thorough": tmp_path / "thorough.json"}, tmp_path)
    table = read_json(tmp_path / "complexity" / "results.json")["sections"]["table-1"]
    rows = {row[0].split(" ")[0]: row for row in Outline(table).rows}
    assert rows["MiniLM"][1:] == ["–", "25.0 †", "25.0 ± 1.0 †", *"–––––"]
    assert "†" not in "".join(rows["CamemBERT"]), "several trainings here"
    assert "on 2026-01-02 at commit <code>01234567</code>" in table


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


@pytest.fixture(scope="module")
def other(world, tmp_path_factory):
    """The metrics and sections of other numbers, judged answers, a prompted model that ran, and few examples."""
    folder = tmp_path_factory.mktemp("other")
    measured = folder / "metrics"
    shutil.copytree(world["measured"], measured)

    def change(stage, values):
        write_json(measured / f"{stage}.json", read_json(measured / f"{stage}.json") | values)

    score = {"camembert_frame_sd": 0.2, "camembert_frame_sd_by_chance": 0.1, "camembert_frame_sd_p": 0.004}
    score |= {"t5_frame_sd": 0.1, "t5_frame_sd_by_chance": 0.11, "t5_frame_sd_p": 0.6}
    change("score", score | dict.fromkeys(("mine & yours_frame_sd_by_chance", "mine & yours_frame_sd_p")))
    counted = {f"f{n}_{key}": 0.0 for n in range(7) for key in ("validated", "found")}
    change("validate", counted | {"f1_validated": 2.0, "f4_validated": 3.0, "f4_found": 2.0, "f5_found": 1.0})
    change("judgements", {"camembert_correct": 2 / 3, "camembert_judged": 6.0, "kappa": 0.61})
    judged = "model,frame,judged,correct\ncamembert,Attack,4,0.75\ncamembert,Losing,2,0.5\n"
    (measured / "frame_judgements.csv").write_text(judged, encoding="utf-8")
    replies = {"run": 1, "questions": 90, "unwrapped": 4, "talked": 3, "cut": 2, "empty": 1, "refused": 5}
    change("prompt", {f"gpt_{name}": float(n) for name, n in replies.items()})
    tree = yaml.safe_load(world["used"].read_text(encoding="utf-8"))
    tree["complexity"]["world"]["seed"] = 2
    for stage in ("validate", "partition"):
        tree["complexity"][stage]["measure"] = "em"
    (folder / "params.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    arguments = world | {"measured": measured, "used": folder / "params.yaml"}
    metrics, article = render(arguments, folder, examples=12)
    return metrics, {each["id"].removeprefix("complexity-"): each["html"] for each in article["sections"]}


def test_figure_2_says_whether_the_spread_exceeds_chance(other):
    html = other[1]["figure-2"]
    assert "CamemBERT</strong>: yes. Standard deviation 20.0 points, 10.0 by chance, p = 0.004." in html
    assert "T5 &lt;tiny&gt;</strong>: no. Standard deviation 10.0 points, 11.0 by chance, p = 0.600." in html
    assert "mine &amp; yours</strong>: cannot be told." in html


def test_human_judgements_are_shown_where_there_are_some(other):
    html = other[1]
    camembert = next(row for row in Outline(html["table-1"]).rows if row[0].startswith("CamemBERT"))
    assert camembert[6] == "67of 6"
    assert "κ 0.61" in html["table-1"]
    assert html["figure-2"].count("<svg") == 4
    assert "frames spread over 25 points" in html["figure-2"]


def test_replies_of_prompted_models_that_ran_stand_beneath_table_1(other):
    html = other[1]["table-1"]
    assert "<strong>GPT-3.5</strong>, asked 90 questions: 4 taken out of" in html
    assert "3 not words of the text" in html
    assert "<strong>Mixtral</strong>" not in html


def test_the_browser_shows_both_sides_of_every_factor_with_their_filters(world, sections, other):
    def items(html):
        return [given for tag, given in Outline(html).tags if tag == "li" and "data-factor" in given]

    def sides(found):
        return {side for each in found for side in each["data-factor"].split()}

    every, few = items(sections["examples"]), items(other[1]["examples"])
    factors = read_table(world["data"] / "factors.parquet").to_pylist()
    assert len(every) == len(factors)
    assert sorted(item["data-frame"] for item in every) == sorted(row["frame"] for row in factors)
    for name, state in (("f1", True), ("f4", None)):
        said = {True: "yes", None: "uncounted"}[state]
        wanted = sum(f"{name}:{said}" in item["data-factor"].split() for item in every)
        assert wanted == sum(row[name] is state for row in factors) > 0
        assert f'value="{name}:{said}"' in sections["examples"]
    assert (len(few), other[0]["examples"]) == (12, 12)
    assert sides(few) == sides(every)


def test_the_measure_that_was_analysed_is_named(sections, other):
    html = {name: " ".join(text.split()) for name, text in other[1].items()}
    for section, ours in (
        ("table-1", "analysed by EM; Figure 2 is drawn by Unicode-aware ROUGE-L all the same"),
        ("table-2", "in points of EM, rounded"),
        ("forest", ">points of EM<"),
        ("partitions", "Mean EM of the questions"),
        ("illustrations", "mean EM</th>"),
    ):
        assert ours in html[section]
        assert "Unicode-aware" not in html[section] or section == "table-1"
    assert "Unicode-aware ROUGE-L" in sections["table-2"]


def test_the_page_says_what_is_held_out_what_leaks_and_what_was_searched(sections, other):
    html = " ".join(sections["table-1"].split())
    assert "texts are held out, and combinations: nobody does the same to the same thing in both." in html
    assert "searched, on world seeds 0–2; this is seed 3." in html
    assert "3 evaluation texts overlap with contexts of the adaptation corpus; 2 with the frame parser" in html
    assert "one of those searched on" in other[1]["table-1"]


def test_factors_of_frames_are_named_where_they_go_without_elements(sections):
    said = " ".join(sections["forest"].split())
    assert "f0, f6 are the same for all examples of a frame and go without the elements" in said


def test_sizes_stand_beside_the_paper_s(sections):
    rows = Outline(sections["findings"]).rows
    head = next(place for place, row in enumerate(rows) if row[:2] == ["Model", "room"])
    camembert = rows[head + 1]
    assert camembert[0] == "CamemBERT"
    assert camembert[5:] == ["18", f"{(1 + 4 + 1 + 2 + 7 + 3 + 1) / 7:.1f}"]
    held = [row[4].split(" of ") for row in rows[head + 1 :]]
    said = (
        f"{sum(int(part) for part, _ in held)} of {sum(int(whole) for _, whole in held)} intervals hold the paper’s δ"
    )
    assert said in sections["findings"]


def test_what_readers_could_not_read_or_write_stands_beneath_table_1(sections):
    html = " ".join(sections["table-1"].split())
    assert (
        "<strong>T5 &lt;tiny&gt;</strong>, asked 48 questions: 7 about a text whose end did not fit into the prompt; "
        "5 answers cut at the longest answer.</p>"
    ) in html
    assert "<strong>CamemBERT</strong>" not in html


def test_other_worlds_are_not_explained_as_the_sample(world, tmp_path):
    used = tmp_path / "params.yaml"
    used.write_text(
        world["used"].read_text(encoding="utf-8").replace("calor: sample", "calor: local"), encoding="utf-8"
    )
    _, article = render(world | {"used": used}, tmp_path)
    assert "What is held out" not in article["sections"][0]["html"]
    assert "sample" not in "".join(each["html"] for each in article["sections"] if "sizes" not in each["id"])
