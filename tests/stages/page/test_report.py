import platform
import re
from pathlib import Path

import pytest

from stages.page.report import PageParameters, main
from tests.claims.invented import evidence, keep
from tests.page.outline import PAGES
from trivium.core.tables import write_json
from trivium.page import contents
from trivium.page.contents import ARTICLES, FRONT, render_page
from trivium.page.reproduction import read_cells

ARTICLE = {
    "pipeline": "toy",
    "title": "Toy <pipeline>",
    "question": "Does it <play>?",
    "world": "sample",
    "claim": "<p>claimed</p>",
    "picture": None,
    "sections": [{"id": "toy-1", "title": "One & two", "html": "<p>rendered</p>", "folded": False}],
    "missing": [],
}


def made_by(pipeline, part):
    """What a part makes: sections, and what stands first."""
    article = ARTICLES[pipeline]
    return {name for name in (*article.sections, *FRONT) if article.part_of(name) == part}


def written(folder, pipeline, part, world="sample", **sections):
    """A part of the page with these sections, else with all that it makes."""
    made = {name: f"<p>{pipeline}, {part}: {name}</p>" for name in made_by(pipeline, part)}
    html = sections or made
    write_json(folder / "parts" / pipeline / f"{part}.json", {"world": world, "sections": html})


def whole(folder):
    for pipeline, article in ARTICLES.items():
        for part in article.parts:
            written(folder, pipeline, part)


def assembled(folder, *prompted_readers):
    main(
        PageParameters(portable="intel", prompted_readers={reader: {} for reader in prompted_readers}, identifiers={}),
        parts=folder / "parts",
        thorough=folder / "thorough",
        published=Path("tests/published"),
        log=folder / "reproductions",
        real=folder / "real",
        out=folder / "index.html",
    )
    assert {path.name for path in folder.glob("*.html")} == PAGES
    return {path.stem: path.read_text() for path in folder.glob("*.html")}


def test_every_section_stands_in_its_place_and_titles_are_escaped(tmp_path, capsys):
    whole(tmp_path)
    found = assembled(tmp_path)
    for name, article in ARTICLES.items():
        made = [section for section in article.sections if article.part_of(section) not in article.families]
        html, ids = found[name], [f"{name}-{section}" for section in made]
        assert re.findall(r'<section id="([^"]+)"', html) == ids
        for section in ids:
            assert html.count(f'href="#{section}"') == 1
        folded = re.findall(rf'<details class="fold"><summary><h2 id="{name}-([^"]+)-title">', html)
        assert set(folded) == {section for section in made if article.sections[section].get("folded")}
        assert html.count("<strong>Sample world.</strong>") == 1
        assert f'<a class="pipeline" href="{name}.html" aria-current="page">' in html
        assert "is not there" not in html
    assert capsys.readouterr().err == ""
    assert "Toy &lt;pipeline&gt;" in render_page("page.html", "intel", article=ARTICLE)
    assert "One &amp; two" in render_page("page.html", "intel", article=ARTICLE)


def test_the_landing_screen_asks_and_answers_once_a_pipeline(tmp_path):
    whole(tmp_path)
    html = assembled(tmp_path)["index"]
    assert re.findall(r'<h2 id="([^"]+)"', html) == [
        "kvqae",
        "decorrelation",
        "complexity",
        "reproduced",
        "next",
    ]  # as the papers came
    assert html.count("<strong>Sample world.</strong>") == 1
    for name, article in ARTICLES.items():
        assert article.question in html
        assert f"<p>{name}, {article.part_of('claim')}: claim</p>" in html
        assert f"<p>{name}, {article.part_of('picture')}: picture</p>" in html
        assert f'href="{name}.html">{article.title.split(":")[0]}: how it was measured' in html
    (tmp_path / "parts" / "kvqae" / "retrieval.json").unlink()
    assert "has not been computed yet" in assembled(tmp_path)["index"]


def test_what_is_not_there_names_what_makes_it(tmp_path, capsys):
    whole(tmp_path)
    for part in ("retrieval", "construction"):
        (tmp_path / f"parts/kvqae/{part}.json").unlink()
    html = assembled(tmp_path)["kvqae"]
    sections = {each.split('"')[0]: each for each in html.split('<section id="')[1:]}
    assert (
        len(sections) == len(ARTICLES["kvqae"].sections) - 2
    )  # nobody is listed who makes `prompted` and `identified`
    for part, section in (("retrieval", "table-3"), ("construction", "table-1"), ("construction", "construction")):
        assert f"<code>dvc repro kvqae-page_{part}</code>" in sections[f"kvqae-{section}"]
    assert sum("is not there" in each for each in sections.values()) == 5
    told = [f"the page lacks what kvqae-page_{part} makes" for part in ("retrieval", "construction")]
    assert capsys.readouterr().err.splitlines() == told


def test_a_pipeline_that_has_not_run_says_so(tmp_path):
    written(tmp_path, "decorrelation", "entities")
    found = assembled(tmp_path)
    assert found["decorrelation"].count("is not there") == len(ARTICLES["decorrelation"].sections) - 1
    for name in ("kvqae", "complexity"):
        assert f"This pipeline has not run yet: <code>make repro P={name}</code>" in found[name]
        assert f"This pipeline has not run yet: <code>make repro P={name}</code>" in found["index"]
        assert "<section" not in found[name]


def test_self_contained(tmp_path):
    for html in (render_page("page.html", "intel", article=ARTICLE), assembled(tmp_path)["index"]):
        for address in ("src=", "@import", "url(", "http"):
            assert address not in html.split("<main")[0].replace("https://www.w3.org", "")
        assert '<meta name="viewport"' in html


def test_claims_stand_first_where_they_were_looked_at(tmp_path):
    for pipeline in ("kvqae", "decorrelation"):
        written(tmp_path, pipeline, "results")
    keep(tmp_path / "thorough", "kvqae", evidence("kvqae"))
    found = assembled(tmp_path)
    assert re.findall(r'<section id="([^"]+)"', found["kvqae"])[0] == "kvqae-claims"
    assert "The image adds to re-ranking by text." in found["kvqae"]
    assert "decorrelation-claims" not in found["decorrelation"]


def test_the_landing_screen_says_how_many_signed_and_leads_to_the_matrix(tmp_path):
    written(tmp_path, "kvqae", "construction")
    found = assembled(tmp_path)
    assert "Nobody has signed" in found["index"]
    numbers = len(read_cells(Path("tests/published")))
    assert f'href="reproduction.html">The reproduction matrix</a> has {numbers} numbers' in found["index"]
    texts = {"date": "2030-01-02", "scale": "paper", "by": "Ada", "commit": "abc", "machine": "2 cores", "note": ""}
    value = {"kvqae/evaluate.json:article_face_arcface_mrr": 54.0}
    write_json(tmp_path / "reproductions" / "2030-01-02-paper-abc.json", texts | {"values": value})
    found = assembled(tmp_path)
    assert "People have signed 1 run on real data." in found["index"]
    assert "; paper 54 ✓" in found["reproduction"]
    for name in ("index", *ARTICLES):
        assert '<a class="pipeline" href="reproduction.html">' in found[name]


@pytest.mark.parametrize(
    ("cpuinfo", "said"),
    [
        ("vendor_id : GenuineIntel\nflags : fpu avx2 avx512f", "an Intel processor ({}) with AVX-512."),
        ("vendor_id : AuthenticAMD\nflags : fpu avx2", "an AMD processor ({}) without AVX-512."),
        (None, "another processor ({}) without AVX-512."),
    ],
)
def test_the_footer_says_what_the_machine_is(tmp_path, monkeypatch, cpuinfo, said):
    if cpuinfo is not None:
        (tmp_path / "cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr(contents, "CPUINFO", tmp_path / "cpuinfo")
    assert f"<p>Made on {said.format(platform.machine())} run.portable: intel." in render_page(
        "page.html", "intel", article=ARTICLE
    )
