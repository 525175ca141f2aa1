"""From mentions to generated questions by the command line of stage `kvqae-generate`, on a world of four entities."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from stages.kvqae import generate
from tests.kvqae.tiny_construction import article, commons_file, entity, mention, person, write_lines, write_triviaqa
from tests.kvqae.tiny_wikipedia import write_params
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_json
from trivium.kvqae.construction.generation import read_generated

QUESTIONS = {
    "q1": ("Who crossed the Iron Span built by Ada Lark?", ["Bo Finch"], ["Iron Span", "Ada Lark"]),
    "q2": ("Where was Bo Finch's boat?", ["Tarn"], ["Bo Finch"]),
    "q3": ("Where was Cy Wren's boat?", ["Tarn"], ["Cy Wren"]),
    "q4": ("Which way to Tarn?", ["Left"], ["Dor"]),
    "q5": ("No mention here?", ["Left"], []),
}
TEXTS = {name: question[0] for name, question in QUESTIONS.items()}
MENTIONS = [
    mention("q1", TEXTS["q1"], "Iron Span", "dobj", subtree_start=12, subtree_end=43),
    mention("q1", TEXTS["q1"], "Ada Lark", "pobj"),
    mention("q2", TEXTS["q2"], "Bo Finch", "poss", possessive=True),
    mention("q3", TEXTS["q3"], "Cy Wren", "poss", possessive=True),
    mention("q4", TEXTS["q4"], "Tarn", "pobj"),
]
SECTION = {
    "dependencies": ["pobj"],
    "dropped_labels": [],
    "batch": 1,
    "max_distance": 0.5,
    "image_properties": ["P18"],
    "images": 8,
    "max_bits": 6,
    "max_pixels": 10**6,
}


def picture(seed):
    data = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (8, 9, 3), dtype=np.uint8)).save(data, "png")
    return data.getvalue()


def write_world(folder):
    sources = folder / "sources"
    sources.mkdir()
    write_triviaqa(sources / "triviaqa.json", QUESTIONS)
    articles = [
        article("1", "Iron Span", "Bo Finch crossed it.", item="Q1"),
        article("2", "Ada Lark", "She knew Bo Finch.", item="Q2"),
        article("3", "Bo Finch", "His boat lay in Tarn.", item="Q3"),
        article("4", "Cy Wren", "His boat lay in Tarn.", item="Q4"),
    ]
    write_lines(folder / "articles.jsonl", articles)
    people = [
        person("Q2", "Ada Lark", P106=[]),
        person("Q3", "Bo Finch", P570=[]),
        person("Q4", "Cy Wren", P21=[]),
    ]
    bridge = entity("Q1", "Iron Span", P31=["Q10"], P18=["Q1.jpg"], P373=["Iron Span"])
    classes = [entity("Q10", "bridge", P279=["Q11"]), entity("Q11", "structure", P279=["Q10"])]
    classes += [entity("Q201", "sailor"), entity("Q6581072", "female")]
    for place in (folder, sources):
        write_lines(place / "wikidata.jsonl", [bridge, *people, *classes])
    (sources / "concrete_types.csv").write_text("id,label\nQ11,structure\n")
    names = {"Iron Span": "span", "Ada Lark": "ada", "Cy Wren": "cy"}
    files = [commons_file(category, f"{name}.png") for category, name in names.items()]
    write_lines(sources / "commons.jsonl", files)
    write_images(sources / "images", [(f"{name}.png", picture(seed)) for seed, name in enumerate(names.values())])
    write_images(folder / "kb", [(f"Q{number}.jpg", picture(100 + number)) for number in (1, 2, 4)])


def test_the_chain(tmp_path, monkeypatch):
    """But for the mentions, whose spaCy pipeline other tests train."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path)

    monkeypatch.setattr("trivium.kvqae.construction.spacy_pipeline.load_pipeline", lambda folder: None)
    monkeypatch.setattr(generate, "find_mentions", lambda *_: (MENTIONS, {"mentions": 5}))
    argv = [f"--params={write_params(tmp_path, generate=SECTION)}", f"--model={tmp_path}", "--out=o"]
    argv += ["--sources=sources", "--articles=articles.jsonl", "--wikidata=wikidata.jsonl", "--references=kb"]
    counts = ("mentions", "link", "subjects", "images")
    argv += [f"--out-{name}-counts=m/{name}.json" for name in counts]
    made = execute(generate.main, "kvqae.generate", generate.GenerateParameters, argv)
    linked, kept, images = (read_json(Path(f"m/{name}.json")) for name in counts[1:])
    assert (linked["mentions"], linked["linked"], linked["distance_too_large"]) == (5, 4, 1)
    assert (kept["kept"], kept["living_person"]) == (3, 1)
    assert (kept["person_without_gender"], kept["person_without_occupation"]) == (1, 1)
    assert images["questions_without_image"] == 0
    assert (made["generated"], made["from_trivia_questions"], made["persons"]) == (3, 2, 2)
    questions = read_generated(tmp_path / "o/generated.jsonl")
    assert questions["q1_16"].text == "Who crossed this bridge?"
    assert questions["q1_35"].text in {f"Who crossed the Iron Span built by {who}?" for who in ("this woman", "her")}
    assert questions["q3_10"].text == "Where was this sailor's boat?"
    assert questions["q1_16"].images == ("span.png",)
