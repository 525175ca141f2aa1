"""Figures about a world, those of ViQuAE's paper (section 2.7) among them."""

from collections import Counter

from sample.kvqae.entity_world import World


def statistics(world: World) -> dict[str, float]:
    """Flat metrics.

    Returns:
        Counts; `persons_share`, `words_mean`, `vocabulary` and `most_frequent_answer_share` over all ViQuAE questions;
        `test_answers_in_train` and `test_entities_in_train`, shares of the test questions.
    """
    questions = [question for split in world.viquae.values() for question in split]
    words = [question.text.replace("?", "").lower().split() for question in questions]
    answers = Counter(question.answer[0] for question in questions)
    train, test = world.viquae["train"], world.viquae["test"]
    answers_seen = {question.answer[0] for question in train}
    entities_seen = {question.entity.number for question in train}
    return {
        "articles": len(world.articles),
        "articles_without_image": sum(entity.image is None for entity in world.entities),
        "paragraphs": sum(len(article["text"]) for article in world.articles),
        "entities_asked": len({question.entity.number for question in questions}),
        **{f"viquae_{split}": len(asked) for split, asked in world.viquae.items()},
        "triviaqa_train": len(world.triviaqa_train),
        "persons_share": sum(question.entity.gender is not None for question in questions) / len(questions),
        "words_mean": sum(map(len, words)) / len(questions),
        "vocabulary": len({word for question in words for word in question}),
        "most_frequent_answer_share": max(answers.values()) / len(questions),
        "test_answers_in_train": sum(question.answer[0] in answers_seen for question in test) / len(test),
        "test_entities_in_train": sum(question.entity.number in entities_seen for question in test) / len(test),
    }
