import pytest

from stages.page.report import PageParameters, main
from trivium.errors import BadInput
from trivium.files.tables import write_json
from trivium.page.assembly import page

FRAGMENT = {
    "pipeline": "toy",
    "title": "Toy <pipeline>",
    "world": "sample",
    "sections": [{"id": "toy-1", "title": "One & two", "html": "<p>rendered</p>"}],
}


def test_fragments_are_assembled_in_order_of_name_and_text_is_escaped(tmp_path):
    write_json(tmp_path / "fragments" / "b.json", FRAGMENT | {"pipeline": "b"})
    write_json(tmp_path / "fragments" / "a.json", FRAGMENT | {"pipeline": "a"})
    main(PageParameters(), None, fragments=tmp_path / "fragments", thorough=tmp_path, out=tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text()
    assert html.index('id="a"') < html.index('id="b"')
    assert "Toy &lt;pipeline&gt;" in html
    assert "One &amp; two" in html
    assert html.count("<p>rendered</p>") == 2
    assert html.count("<strong>Sample world.</strong>") == 2


def test_pipelines_stand_in_the_order_of_the_papers(tmp_path):
    for name in ("complexity", "another", "kvqae"):
        write_json(tmp_path / "fragments" / f"{name}.json", FRAGMENT | {"pipeline": name})
    main(PageParameters(), None, fragments=tmp_path / "fragments", thorough=tmp_path, out=tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text()
    assert html.index('id="kvqae"') < html.index('id="complexity"') < html.index('id="another"')


def test_self_contained():
    html = page([FRAGMENT])
    for address in ("src=", "@import", "url(", "http"):
        assert address not in html.split("<main")[0].replace("https://www.w3.org", "")
    assert '<meta name="viewport"' in html


def test_other_worlds_carry_no_note():
    assert "Sample world" not in page([FRAGMENT | {"world": "hub"}])


def test_nothing_yet():
    assert "No pipeline has run yet" in page([])


def test_thorough_results_are_dated_and_averaged(tmp_path):
    write_json(tmp_path / "fragments" / "toy.json", FRAGMENT)
    seeds = {"3": {"evaluate.mrr": 0.25}, "4": {"evaluate.mrr": 0.75}}
    sections = [{"id": "toy-table-1", "title": "Table 1 <all seeds>", "html": "<b>rendered</b>"}]
    result = {"pipeline": "toy", "commit": "abc123def456", "date": "2030-01-02", "seeds": seeds, "sections": sections}
    write_json(tmp_path / "thorough" / "toy.json", result)
    folders = {"fragments": tmp_path / "fragments", "thorough": tmp_path / "thorough"}
    main(PageParameters(), None, **folders, out=tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text()
    made = "made at commit <code>abc123de</code> on 2030-01-02; world and settings may have changed since.\nWorld seeds 3, 4;"
    assert made in html
    assert "0.500 ± 0.354" in html  # sd of .25 and .75 is .5 / sqrt(2)
    assert "The tables and figures are of world seed 3." in html
    assert "<summary>Table 1 &lt;all seeds&gt;</summary>\n<b>rendered</b>" in html


def test_thorough_results_of_one_world_are_their_sections(tmp_path):
    write_json(tmp_path / "fragments" / "toy.json", FRAGMENT)
    sections = [{"id": "toy-table-1", "title": "Table 1", "html": "<b>rendered</b>"}]
    result = {
        "pipeline": "toy",
        "commit": "abc123",
        "date": "2030-01-02",
        "seeds": {"3": {"evaluate.one_training": 0.25}},
    }
    write_json(tmp_path / "thorough" / "toy.json", result | {"sections": sections})
    main(
        PageParameters(),
        None,
        fragments=tmp_path / "fragments",
        thorough=tmp_path / "thorough",
        out=tmp_path / "page.html",
    )
    html = (tmp_path / "page.html").read_text()
    assert "<b>rendered</b>" in html
    assert "World seed 3." in html
    assert "evaluate.one_training" not in html


def test_weaker_worlds_stand_before_thorough_results(tmp_path):
    write_json(tmp_path / "fragments" / "toy.json", FRAGMENT)
    found = {
        "value": 0.64,
        "other_value": 0.565,
        "difference": 0.075,
        "low": 0.05,
        "high": 0.1,
        "p": 0.0001,
        "seeds": 3,
    }
    less = found | {"difference": -0.002, "low": -0.02, "high": 0.016, "p": 0.25}
    worlds = [
        {
            "seed": 3,
            "planted": planted,
            "mentioned": 0.95,
            "measures": dict.fromkeys(("odmap@1", "removed_named", "r@1"), of),
        }
        for planted, of in ((1.0, found), (0.5, less))
    ]
    dated = {"commit": "abc123def456", "date": "2030-01-02"}
    write_json(tmp_path / "thorough" / "toy_weaker.json", dated | {"worlds": worlds})
    write_json(tmp_path / "thorough" / "toy.json", dated | {"pipeline": "toy", "seeds": {"3": {}}, "sections": []})
    folders = {"fragments": tmp_path / "fragments", "thorough": tmp_path / "thorough"}
    main(PageParameters(), None, **folders, out=tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text()
    assert html.index('id="toy-weaker"') < html.index('id="toy-thorough"')
    assert (
        '<td>56.5</td><td>64.0</td>\n  <td>7.5<span class="interval">[5.0, 10.0]</span><span class="interval">p &lt; 0.001</span></td>'
        in html
    )
    assert '<td>−0.2<span class="interval">[−2.0, 1.6]</span><span class="interval">p = 0.250</span></td>' in html
    assert "seed 3<small>partner there: 50 %, objects named: 95 %</small>" in html
    assert "at commit <code>abc123de</code> on 2030-01-02" in html


def test_incomplete_fragment(tmp_path):
    write_json(tmp_path / "a.json", {"pipeline": "a"})
    with pytest.raises(BadInput, match=r"fragment lacks keys; got \['sections', 'title', 'world'\]"):
        main(PageParameters(), None, fragments=tmp_path, thorough=tmp_path, out=tmp_path / "index.html")
    assert not (tmp_path / "index.html").exists()
