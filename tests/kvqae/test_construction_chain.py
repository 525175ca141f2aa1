"""From mentions to generated questions through the four stages' command lines, on a world of four entities."""

import io

import numpy as np
from PIL import Image

from stages.kvqae import candidate_images, generate, link, subjects
from tests.kvqae.tiny_construction import (
    article,
    commons_file,
    entity,
    mention,
    person,
    write_lines,
    write_mentions,
    write_triviaqa,
)
from tests.kvqae.tiny_wikipedia import write_params
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.kvqae.annotation.generated_questions import read_generated

QUESTIONS = {
    "q1": ("Who crossed the Iron Span built by Ada Lark?", ["Bo Finch"], ["Iron Span", "Ada Lark"]),
    "q2": ("Where was Bo Finch's boat?", ["Tarn"], ["Bo Finch"]),
    "q3": ("Where was Cy Wren's boat?", ["Tarn"], ["Cy Wren"]),
    "q4": ("Which way to Tarn?", ["Left"], ["Dor"]),
    "q5": ("No mention here?", ["Left"], []),
}
SECTIONS = {
    "link": {"max_distance": 0.5},
    "subjects": {"image_properties": ["P18"]},
    "candidate_images": {"images": 8, "max_bits": 6, "max_side": 64, "max_pixels": 10**6},
    "generate": {"seed": 0},
}


def picture(seed):
    data = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (8, 9, 3), dtype=np.uint8)).save(data, "png")
    return data.getvalue()


def write_world(folder):
    texts = {name: question[0] for name, question in QUESTIONS.items()}
    mentions = [
        mention("q1", texts["q1"], "Iron Span", "dobj", subtree_start=12, subtree_end=43),
        mention("q1", texts["q1"], "Ada Lark", "pobj"),
        mention("q2", texts["q2"], "Bo Finch", "poss", possessive=True),
        mention("q3", texts["q3"], "Cy Wren", "poss", possessive=True),
        mention("q4", texts["q4"], "Tarn", "pobj"),
    ]
    write_mentions(folder / "mentions.parquet", mentions)
    write_triviaqa(folder / "triviaqa.json", QUESTIONS)
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
    write_lines(folder / "wikidata.jsonl", [bridge, *people, *classes])
    (folder / "types.csv").write_text("id,label\nQ11,structure\n")
    names = {"Iron Span": "span", "Ada Lark": "ada", "Cy Wren": "cy"}
    files = [commons_file(category, f"{name}.png") for category, name in names.items()]
    write_lines(folder / "commons.jsonl", files)
    write_images(folder / "images", [(f"{name}.png", picture(seed)) for seed, name in enumerate(names.values())])
    write_images(folder / "kb", [(f"Q{number}.jpg", picture(100 + number)) for number in (1, 2, 4)])


def run(stage, folder, **paths):
    """Run a stage by its command line; `data` is its input's or output's name below the folder."""
    name = stage.__name__.rpartition(".")[2]
    model = getattr(stage, f"{name.title().replace('_', '')}Parameters")
    argv = [f"--params={write_params(folder, **SECTIONS)}"]
    argv += [f"--{argument.replace('_', '-')}={folder / data}" for argument, data in paths.items()]
    return execute(stage.main, f"kvqae.{name}", model, argv)


def test_the_chain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path)
    linked = run(
        link,
        tmp_path,
        mentions="mentions.parquet",
        triviaqa="triviaqa.json",
        articles="articles.jsonl",
        out="l.parquet",
    )
    assert (linked["mentions"], linked["linked"], linked["distance_too_large"]) == (5, 4, 1)
    kept = run(
        subjects, tmp_path, linked="l.parquet", wikidata="wikidata.jsonl", kb_wikidata="wikidata.jsonl",
        concrete_types="types.csv", out="s.parquet",
    )  # fmt: skip
    assert (kept["kept"], kept["living_person"], kept["circular_classes"]) == (3, 1, 2)
    assert (kept["person_without_gender"], kept["person_without_occupation"]) == (1, 1)
    images = run(
        candidate_images, tmp_path, subjects="s.parquet", commons="commons.jsonl", images="images", kb_images="kb",
        out="c.parquet",
    )  # fmt: skip
    assert images["questions_without_image"] == 0
    made = run(generate, tmp_path, subjects="s.parquet", candidates="c.parquet", out="g.jsonl")
    assert (made["generated"], made["from_trivia_questions"], made["persons"]) == (3, 2, 2)
    questions = read_generated(tmp_path / "g.jsonl")
    assert questions["q1_16"].text == "Who crossed this bridge?"
    assert questions["q1_35"].text in {f"Who crossed the Iron Span built by {who}?" for who in ("this woman", "her")}
    assert questions["q3_10"].text == "Where was this sailor's boat?"
    assert questions["q1_16"].images == ("span.png",)
