"""The sample's sources, made for a small world."""

import json
from collections import Counter

import pytest

from sample.kvqae.construction import LIVING, NO_ARTICLE, plant, write_sources
from sample.kvqae.construction_questions import annotate_sentences, ask_candidates, facts_to_ask
from sample.kvqae.entities import populate
from sample.kvqae.entity_world import build_world
from sample.kvqae.write import write_triviaqa, write_world
from sample.render.photo import Difficulty
from trivium.core.engine import LocalEngine
from trivium.core.tables import read_json_lines
from trivium.formats.triviaqa import read_triviaqa
from trivium.formats.wikidata import parse_entity
from trivium.kvqae.construction.spacy_pipeline import read_annotated

SIZES = {"articles": 150, "imageless": 20}
DIFFICULTY = Difficulty(
    identity_spread=1, pose=0.2, crop=0.2, light=0.2, noise=0.2, occlusion=0, disguise=0, faceless=0, company=0
)


@pytest.fixture(scope="module")
def world():
    return build_world(1, **SIZES, sentences=6, viquae={"train": 8, "validation": 4, "test": 4}, triviaqa=60)


@pytest.fixture(scope="module")
def raw(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    write_world(world, folder, LocalEngine(1), size=64, difficulty=DIFFICULTY)
    (folder / "triviaqa").mkdir()
    write_triviaqa(world, folder / "triviaqa")
    return folder


def write(out, raw, *, seed=1, workers=1):
    out.mkdir()
    return write_sources(
        out, raw, populate(1, **SIZES)[0], LocalEngine(workers), seed=seed, questions=80, linked=0.6, files=5,
        annotated=40, size=64, difficulty=DIFFICULTY,
    )  # fmt: skip


@pytest.fixture(scope="module")
def sources(raw, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "sources"
    return out, write(out, raw)


def test_the_world_is_made_again(world):
    again = populate(1, **SIZES)[0]
    assert [entity.facts for entity in again] == [entity.facts for entity in world.entities]
    assert [entity.picture for entity in again] == [entity.picture for entity in world.entities]


def test_every_wording_makes_a_tree():
    sentences = annotate_sentences(0, 1500, set())
    assert len({tuple(sentence.deps[:3]) for sentence in sentences}) > 15
    for sentence in sentences:
        for place in range(len(sentence.heads)):
            for _ in sentence.words:
                place = sentence.heads[place]
            assert sentence.deps[place] == "ROOT"


def test_the_same_bytes_whatever_the_workers(sources, raw, tmp_path):
    write(tmp_path / "again", raw, workers=2)
    for path in sorted(sources[0].rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "again" / path.relative_to(sources[0])).read_bytes(), path


def test_the_answer_is_in_the_entitys_article_and_the_question_is_not_asked_elsewhere(sources, raw, world):
    articles = {
        record["wikipedia_title"]: " ".join(record["text"]) for _, record in read_json_lines(raw / "articles.jsonl")
    }
    asked = ask_candidates(world.entities, 1, 80, linked=0.6, told={})
    for candidate in asked:
        value = candidate.entity.facts[candidate.relation]
        assert any(form in articles[candidate.entity.title] for form in (value.text, *value.aliases))
    assert len({(each.entity.number, each.relation) for each in asked}) == len(asked)
    trivia = {record["input"] for _, record in read_json_lines(raw / "triviaqa" / "train.jsonl")}
    assert trivia.isdisjoint(question.text for question in read_triviaqa(sources[0] / "triviaqa.json"))


def test_told_facts_are_not_asked(world):
    entity, relation = facts_to_ask(world.entities)[0]
    told = {entity.wikipedia_id: f"Who? {entity.facts[relation].text}"}
    asked = ask_candidates(world.entities, 1, 10**6, linked=1, told=told)
    assert (entity.number, relation) not in {(each.entity.number, each.relation) for each in asked}
    assert len(asked) > 100


def test_questions_name_none_one_or_two_entities(world):
    asked = ask_candidates(world.entities, 1, 300, linked=0.6, told={})
    names = ("PERSON", "GPE", "LOC", "FAC", "ORG", "PRODUCT")
    named = Counter(sum(label in names for *_, label in each.sentence.entities) for each in asked)
    assert set(named) == {0, 1, 2}
    assert named[1] > named[0] + named[2]


def test_planted_cases_are_found(world):
    items = [parse_entity(item) for item in plant(world.entities, 2)]
    assert sum(item.id >= "Q2000000000" for item in items if len(item.id) == 11) == NO_ARTICLE
    persons = [item for item in items if item.human and item.id < "Q2"]
    assert sum(not item.deceased for item in persons) / len(persons) == pytest.approx(LIVING, abs=0.12)
    for lacking in ("P21", "P106"):
        assert 0 < sum(not item.values(lacking) for item in persons) < 0.2 * len(persons)
    assert any(len(item.values("P106")) > 1 for item in persons)
    above = {item.id: item.values("P279") for item in items}
    assert above["Q3624078"] == ("Q6256",)
    assert above["Q6256"] == ("Q3624078",)


def test_annotated_sentences_have_no_name_of_the_world(sources, world):
    known = {name for entity in world.entities for name in (entity.name, *entity.aliases)}
    sentences = read_annotated(sources[0] / "annotated.jsonl")
    assert len(sentences) == 40
    names = {
        " ".join(each.words[start:end]).removeprefix("the ").removeprefix("The ")
        for each in sentences
        for start, end, label in each.entities
        if label not in ("DATE", "ORDINAL", "CARDINAL", "NORP")
    }
    assert names
    assert names.isdisjoint(known)
    assert json.loads((sources[0] / "annotated.jsonl").read_text().splitlines()[0])["words"]
