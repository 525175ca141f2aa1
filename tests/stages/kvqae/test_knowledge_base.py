import json
from pathlib import Path
from typing import Any

import pytest

from stages.kvqae.knowledge_base import ArticlesAndPassagesParameters, main
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_table, write_json_lines
from trivium.kvqae.knowledge_base.articles import clean_paragraphs


def article(number: int, *paragraphs: str, **changes: Any) -> dict[str, Any]:
    info = {"wikidata_id": f"Q{number}", "aliases": [f"alias {number}"]}
    title = f"Title {number}"
    text = [title, *(paragraphs or (f"Text {number}.\n",))]
    return {"wikipedia_id": str(number), "wikipedia_title": title, "text": text, "wikidata_info": info} | changes


def entity(number: int, label: str = "", **claims: list[str]) -> dict[str, Any]:
    def statement(value: str) -> dict[str, Any]:
        data = {"id": value} if value.startswith("Q") else value
        return {"rank": "normal", "mainsnak": {"snaktype": "value", "datavalue": {"value": data}}}

    english = {"en": {"language": "en", "value": label}} if label else {}
    statements = {name: [statement(value) for value in values] for name, values in claims.items()}
    return {"id": f"Q{number}", "labels": english, "claims": statements}


def run(
    folder: Path, articles: list[dict[str, Any]], entities: list[dict[str, Any]], images: list[str]
) -> dict[str, float]:
    write_json_lines(folder / "articles.jsonl", articles)
    write_json_lines(folder / "wikidata.jsonl", entities)
    write_images(folder / "images", [(name, b"bytes") for name in images])
    (folder / "params.yaml").write_text(
        "kvqae: {knowledge_base: {words: 40, image_properties: [P18, P154, P41, P94, P2425]}}"
    )
    paths = {"params": "params.yaml", "articles": "articles.jsonl", "wikidata": "wikidata.jsonl", "images": "images"}
    argv = [part for name, path in paths.items() for part in (f"--{name}", str(folder / path))]
    argv += ["--out-passages", str(folder / "p.parquet"), "--out-passages-counts", str(folder / "p.json")]
    argv += ["--out", str(folder / "articles.parquet"), "--metrics", str(folder / "metrics.json")]
    return execute(main, "kvqae.knowledge_base", ArticlesAndPassagesParameters, argv)


@pytest.fixture(autouse=True)
def _in_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_articles_with_an_image_come_first_in_their_order(tmp_path: Path) -> None:
    entities = [
        entity(2, P18=["two.jpg"], P31=["Q5"], P21=["Q6581072"], P106=["Q36180"], P570=["+1900"]),
        entity(3, P41=["gone.svg"]),
        entity(4, P154=["four.svg"], P31=["Q515"], P21=["Q44148"]),
        entity(5, "human"),
        entity(36180, "writer"),
        entity(515, "city"),
    ]
    articles = [article(1), article(2), article(3), article(4), article(6, "BULLET::::- a list\n")]
    metrics = run(tmp_path, articles, entities, ["two.jpg", "four.svg"])
    assert metrics == {
        "articles": 4,
        "with_image": 2,
        "without_image": 2,
        "without_wikidata": 1,
        "image_file_missing": 1,
        "persons": 1,
        "no_text": 1,
        "unique_images": 1.0,
    }
    assert json.loads((tmp_path / "metrics.json").read_text()) == metrics
    rows = read_table(tmp_path / "articles.parquet").to_pylist()
    assert [row["wikipedia_id"] for row in rows] == ["2", "4", "1", "3"]
    assert [row["article"] for row in rows] == [0, 1, 2, 3]
    assert [row["image"] for row in rows] == ["two.jpg", "four.svg", None, None]
    assert rows[0] | {"text": None} == {
        "article": 0,
        "title": "Title 2",
        "wikipedia_id": "2",
        "wikidata_id": "Q2",
        "aliases": ["alias 2"],
        "image": "two.jpg",
        "human": True,
        "gender": "female",
        "occupations": ["writer"],
        "types": ["human"],
        "deceased": True,
        "text": None,
    }
    assert (rows[1]["types"], rows[1]["gender"]) == (["city"], "Q44148")  # the label, or the id without one


def test_only_running_text_is_kept() -> None:
    text = [
        "Title",
        "First  one.\n",
        "Section::::Life.\n",
        "BULLET::::- item\n",
        "{| class=x\n",
        "| cell\n",
        " \n",
        "End.",
    ]
    assert clean_paragraphs(text) == ["First one.", "End."]
