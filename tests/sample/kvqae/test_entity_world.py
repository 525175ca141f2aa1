"""What a world holds: who, which answers, which questions, and what must not leak from one split to another."""

import re
from collections import Counter

from sample.kvqae.entities import IDENTITIES_PER_WORLD
from sample.kvqae.entity_world import World
from sample.kvqae.questions import EntityQuestion
from sample.render.photographs import ENCODER_IDENTITIES
from tests.sample.kvqae.conftest import small_world
from trivium.kvqae.knowledge_base.articles import clean_paragraphs
from trivium.measures.answers import AnswerMatcher, normalize_answer


def all_viquae(world: World) -> list[EntityQuestion]:
    return [question for split in world.viquae.values() for question in split]


def text_of(world: World, entity_number: int) -> str:
    article = world.articles[entity_number]
    return f"{article['wikipedia_title']} {' '.join(clean_paragraphs(article['text']))}"


def test_names_files_and_identities_are_unique(world: World):
    for values in (
        [entity.title for entity in world.entities],
        [entity.wikidata_id for entity in world.entities],
        [entity.image for entity in world.entities if entity.image],
        [entity.picture for entity in world.entities if entity.picture],
        [question.id for question in all_viquae(world)],
        [question.image for question in all_viquae(world)],
        [question.source for question in [*all_viquae(world), *world.triviaqa_train]],
    ):
        assert len(set(values)) == len(values)


def test_worlds_share_nobody(world: World):
    other = small_world(1)
    for seed, one in ((0, world), (1, other)):
        identities = [entity.picture[1] for entity in one.entities if entity.picture]
        assert all(
            seed * IDENTITIES_PER_WORLD <= identity < (seed + 1) * IDENTITIES_PER_WORLD for identity in identities
        )
        assert max(identities) < ENCODER_IDENTITIES
    persons = [{entity.name for entity in one.entities if entity.gender} for one in (world, other)]
    assert len(persons[0] & persons[1]) < 0.05 * len(persons[0])


def test_a_seed_decides_everything(world: World):
    again = small_world(0)
    assert again.articles == world.articles
    assert again.entities == world.entities
    assert again.viquae == world.viquae
    assert again.triviaqa_train == world.triviaqa_train


def test_every_answer_stands_in_its_article_word_for_word(world: World):
    for question in [*all_viquae(world), *world.triviaqa_train]:
        assert AnswerMatcher(question.answer).matches(text_of(world, question.entity.number)), question.text
        assert all(normalize_answer(answer) for answer in question.answer)


def test_a_question_of_viquae_does_not_name_its_entity(world: World):
    for question in all_viquae(world):
        assert question.entity.name.lower() not in question.text.lower()
        assert question.entity.name in question.original
        words = set(re.findall(r"\w+", question.entity.name)) if question.entity.gender else set()
        assert not words & set(re.findall(r"\w+", question.text)), question.text
        assert not AnswerMatcher(question.answer).matches(question.text), question.text


def test_the_question_alone_is_ambiguous(world: World):
    texts = Counter(question.text for question in all_viquae(world))
    assert max(texts.values()) >= 2


def test_no_fact_is_asked_twice_anywhere(world: World):
    viquae = [(question.entity.number, question.relation) for question in all_viquae(world)]
    assert len(set(viquae)) == len(viquae)
    trivia = {(question.entity.number, question.relation) for question in world.triviaqa_train}
    assert not trivia & set(viquae)


def test_pretraining_names_its_entity_or_asks_for_it(world: World):
    for question in world.triviaqa_train:
        assert (question.entity.name in question.text) != (question.entity.name in question.answer)


def test_splits_share_some_entities_and_answers_but_no_image(world: World):
    images = [{question.image for question in asked} for asked in world.viquae.values()]
    assert sum(map(len, images)) == len(set.union(*images))
    train, test = world.viquae["train"], world.viquae["test"]
    for of in (lambda question: question.entity.number, lambda question: question.answer[0]):
        assert 0.02 <= sum(of(question) in set(map(of, train)) for question in test) / len(test) <= 0.4
    answers = Counter(question.answer[0] for question in all_viquae(world))
    assert max(answers.values()) <= 0.05 * answers.total()
