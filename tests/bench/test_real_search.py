"""`make real`'s search, on an invented package of the same format: what is asked, what is right, what comes out."""

import json

import pytest

from bench.real import search
from trivium.core.errors import BadInput
from trivium.core.tables import read_json

PLACES = ("Arb", "Bel", "Cor", "Dun", "Elm", "Fen", "Gil", "Hov", "Ist", "Jul", "Kem", "Lor")


def article(title, description, extract):
    return {"title": title, "description": description, "extract": extract, "topic": "Places"}


def invented():
    """Twelve mills that say what grinds there, an article by two keys, and some that ask nothing."""
    grains = (
        "oats",
        "barley",
        "wheat",
        "millet",
        "lupins",
        "mustard",
        "maize",
        "rye",
        "rice",
        "spelt",
        "chalk",
        "bones",
    )
    told = {
        f"{place} mill": article(
            f"{place} mill", f"old mill that grinds {grain}", f"{place} mill turns. {grain} is its trade."
        )
        for place, grain in zip(PLACES, grains, strict=True)
    }
    twin = article("Inn", "a house\tthat serves beer", "The inn is a house that serves beer in Arb.")
    return told | {
        "Inn": twin,
        "Tavern": twin,
        "Ford": article("Ford", "a place to wade", "Horses go through it."),
        "Wade": article("Wade", "A place to wade", "People go through it."),
        "Hill": article("Hill", "high place", "It is high."),
        "Fog": article("Fog", "", "It is white."),
        "Void": article("Void", "nothing to be read at all", " "),
    }


def test_descriptions_of_one_article_alone_are_asked(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(invented()))
    found = search.read_encyclopedia(tmp_path / "a.json")
    assert set(found.questions) == {f"{place} mill" for place in PLACES} | {"Inn"}
    assert found.questions["Inn"] == search.Question("a house that serves beer", ["Inn"], verbatim=True)
    assert not found.questions["Arb mill"].verbatim
    assert found.not_asked == {"redirect": 1, "no_text": 1, "shared": 2, "short": 1, "no_description": 1}
    assert not any("old mill that grinds" in text for text in found.articles.values())


def test_what_is_no_such_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text(json.dumps({"Inn": {"title": "Inn", "description": 3, "extract": ""}}))
    with pytest.raises(BadInput, match=r"a\.json:Inn: field 'description': not an article; expected a text"):
        search.read_encyclopedia(tmp_path / "a.json")
    monkeypatch.setattr(search, "PACKAGE", "no_such_package_here")
    with pytest.raises(BadInput, match="no_such_package_here is not installed; expected `make real`"):
        search.main([])


def test_a_base_is_made_asked_and_measured(tmp_path, monkeypatch):
    """Through `trivium kb` and the packaged MiniLM: every grain stands in one article, so that BM25 finds all mills."""
    (tmp_path / "a.json").write_text(json.dumps(invented()))
    monkeypatch.setattr(search, "LANGUAGES", {"english": "a.json"})
    monkeypatch.setattr(search, "REAL", tmp_path)
    monkeypatch.setattr(search, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(search, "committed", lambda: {"date": "2030-01-02", "commit": "abc"})
    search.main(["--texts", str(tmp_path), "--work", str(tmp_path / "work")])
    written = read_json(tmp_path / "results" / "search.json")
    found = written["english"]
    assert (written["commit"], found["articles"], found["passages"]) == ("abc", 17, 17)
    assert found["choosing"] + found["asked"] == 13
    assert min(found["choosing"], found["asked"]) > 0
    assert found["bm25_mrr"] == found["bm25_hits@20"] == found["fused_mrr"] == 1
    assert 0 < found["minilm_mrr"] <= 1
    assert found["fused_mrr_gain"] == 0
    assert found["fused_mrr_p"] == 1
    assert sum(found["weights"].values()) == pytest.approx(1)
