"""A knowledge base of a few sentences for the tests of retrieval: four articles, two of them with an image."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from stages.kvqae.knowledge_base import SCHEMA as ARTICLES
from trivium.core.tables import write_json_lines, write_table
from trivium.kvqae.knowledge_base.passages import SCHEMA as PASSAGES

# wikidata_id, title, image, passages
WIKIPEDIA: list[tuple[str, str, str | None, list[str]]] = [
    ("Q10", "Iron Span", "span.jpg", ["The bridge crosses the Vell.", "It was built by Orla Dane in 1911."]),
    (
        "Q20",
        "Orla Dane",
        "dane.jpg",
        ["Orla Dane was an engineer.", "She was born in Port", "Vell and built a bridge."],
    ),
    ("Q30", "River Vell", None, ["A river with one bridge."]),
    ("Q40", "Hollow Hill", None, ["A hill without any bridge.", "Nothing else."]),
]
VIQUAE = {
    "v1": (
        "Which river was crossed by this bridge of an engineer?",
        ["The Vell"],
        "Q10",
        "Which river does the Iron Span cross?",
    ),
    "v2": ("Where was this engineer born?", ["Port Vell"], "Q20", "Where was Orla Dane born?"),
    "v3": ("Who liked this bridge?", ["The", "Nobody Known"], "Q10", "Who liked the Iron Span?"),
}
TRIVIAQA = {
    "t1": ("Who built a famous bridge in 1911?", ["Orla Dane"]),
    "t2": ("Xyzzy?", ["bridge"]),
    "t3": ("What is a hill without a bridge?", ["Hollow Hill", "Any"]),
}


def write_wikipedia(folder: Path) -> dict[str, Path]:
    """Write articles.parquet and passages.parquet; returns their folder by argument name."""
    articles: list[dict[str, Any]] = []
    passages: list[dict[str, Any]] = []
    for number, (identifier, title, image, texts) in enumerate(WIKIPEDIA):
        articles.append(
            {"article": number, "title": title, "wikidata_id": identifier, "image": image, "text": [" ".join(texts)]}
        )
        for position, text in enumerate(texts):
            passages.append({"passage": len(passages), "article": number, "position": position, "text": text})
    schema = PASSAGES.with_metadata({"kb_passages": "5"})
    write_table(folder / "wiki/articles.parquet", pa.Table.from_pylist(articles, schema=ARTICLES))
    write_table(folder / "wiki/passages.parquet", pa.Table.from_pylist(passages, schema=schema))
    return {"kb": folder / "wiki"}


def write_questions(folder: Path) -> dict[str, Path]:
    """Write the questions, the same ones in every split but with ids of their own; returns the two folders."""
    for split in ("train", "validation", "test"):
        viquae = [
            {
                "id": f"{split}-{name}",
                "input": text,
                "image": "i.jpg",
                "wikidata_id": article,
                "original_question": original,
                "output": {"original_answer": answers[0], "answer": answers},
            }
            for name, (text, answers, article, original) in VIQUAE.items()
        ]
        triviaqa = [
            {"id": f"{split}-{name}", "input": text, "output": {"original_answer": answers[0], "answer": answers}}
            for name, (text, answers) in TRIVIAQA.items()
        ]
        for name, records in (("viquae", viquae), ("triviaqa", triviaqa)):
            (folder / name).mkdir(exist_ok=True)
            write_json_lines(folder / name / f"{split}.jsonl", records)
    return {"viquae": folder / "viquae", "triviaqa": folder / "triviaqa"}


def write_params(folder: Path, **sections: dict[str, Any]) -> Path:
    """Write params.yaml with these sections under `kvqae`."""
    path = folder / "params.yaml"
    path.write_text(json.dumps({"kvqae": sections}))
    return path
