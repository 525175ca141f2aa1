"""Questions about pictures: the mention of the entity replaced by an ambiguous one (kvqae.md §2, step 5).

Two mentions of one entity make one question, two of different entities make two. Whatever the parser thought, a
question that still names the entity, or that gives its answer away, is not generated.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from trivium.kvqae.annotation.generated_questions import name_pattern
from trivium.kvqae.construction.ambiguous_mention import (
    MENTION_TYPES,
    AmbiguousMention,
    draw_mention,
    possible_mentions,
    repeat_mention,
    replace_mentions,
)
from trivium.kvqae.construction.handed_on import Mention
from trivium.measures.answers import AnswerMatcher

# Why a question cannot be generated; `no_mention`: a person of whom neither occupation nor gender is known, say.
Reason = Literal["no_mention", "name_remains", "answer_in_question"]


REASONS: tuple[Reason, ...] = get_args(Reason)


def generate_question(
    subject: Mapping[str, Any], mention: Mention, repeats: Sequence[Mention] = (), *, seed: int
) -> dict[str, Any] | Reason:
    """One question, or why there is none.

    Args:
        subject: a row of `subjects.parquet`.
        mention: the same row's mention.
        repeats: further mentions of the same entity in the question.
        seed: of the drawn mentions.
    """
    about = {name: subject[name] for name in ("human", "types", "occupations", "gender")}
    possible = possible_mentions(mention, **about)
    if not possible:
        return "no_mention"
    further = [(repeat, possible_mentions(repeat, **about)) for repeat in repeats]
    texts = {}
    for each in possible:
        others = [(repeat, repeat_mention(each, ways).text) for repeat, ways in further if ways]
        texts[each] = replace_mentions(mention.text, [(mention, each.text), *others])
    surface = mention.surface.removesuffix("'s").removesuffix("’s")
    names = list(dict.fromkeys([surface, *filter(str.strip, subject["names"])]))
    named = name_pattern(names)
    unnamed = {each: text for each, text in texts.items() if not named.search(text)}
    if not unnamed:
        return "name_remains"
    answers = AnswerMatcher(subject["answers"])
    open_questions = {each: text for each, text in unnamed.items() if not answers.matches(text)}
    if not open_questions:
        return "answer_in_question"
    drawn = draw_mention(list(open_questions), seed=seed, key=mention.key)
    return {
        "id": mention.key,
        "input": open_questions[drawn],
        "original_question": mention.text,
        "mention": surface,
        "names": names,
        "mention_type": drawn.type,
        "ambiguous_mention": drawn.text,
        "other_mentions": _others(open_questions, drawn),
        "answer": {"original_answer": subject["answer"], "answer": subject["answers"]},
        "wikidata_id": subject["wikidata_id"],
        "kilt_id": subject["wikipedia_id"],
        "title": subject["title"],
        "human": subject["human"],
        "reference": subject["reference"],
    }


def _others(possible: Iterable[AmbiguousMention], drawn: AmbiguousMention) -> list[str]:
    return [text for text in dict.fromkeys(each.text for each in possible) if text != drawn.text]


def generate_all(
    subjects: Sequence[Mapping[str, Any]],
    mentions: Sequence[Mention],
    images: Mapping[str, Sequence[str]],
    *,
    seed: int,
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """The questions that have images and can be generated, in the order of the rows, and counts.

    Questions about one entity propose different images, as long as there are enough.

    Args:
        subjects, mentions: row by row the same mentions.
        images: candidates by key, best first.
        seed: of the drawn mentions.
    """
    counts: Counter[str] = Counter(dict.fromkeys(("repeated_mention", *REASONS), 0))
    together: dict[tuple[str, str], list[Mention]] = defaultdict(list)
    for subject, mention in zip(subjects, mentions, strict=True):
        together[mention.question, subject["wikidata_id"]].append(mention)
    generated = []
    for subject, mention in zip(subjects, mentions, strict=True):
        candidates = images.get(mention.key)
        if not candidates:
            continue
        first, *repeats = sorted(together[mention.question, subject["wikidata_id"]], key=lambda each: each.start)
        if mention != first:
            counts["repeated_mention"] += 1
            continue
        question = generate_question(subject, mention, repeats, seed=seed)
        if isinstance(question, str):
            counts[question] += 1
            continue
        generated.append(question)
    _illustrate(generated, images)
    types = Counter(question["mention_type"] for question in generated)
    metrics: dict[str, float] = {
        "with_images": sum(mention.key in images for mention in mentions),
        "generated": len(generated),
        "from_trivia_questions": len({question["original_question"] for question in generated}),
        "persons": sum(question["human"] for question in generated),
        **{f"mention_{name}": types[name] for name in MENTION_TYPES},
        "other_mentions_mean": _mean([len(question["other_mentions"]) for question in generated]),
        **counts,
    }
    return generated, {name: float(value) for name, value in metrics.items()}


def _illustrate(generated: Sequence[dict[str, Any]], images: Mapping[str, Sequence[str]]) -> None:
    """Add the candidates, of which the first is the one proposed: an entity's n-th question, by id, gets its n-th best.

    As in the authors' program, questions seldom share an image, which would keep all about an entity in one split. The
    other candidates follow in their order, those before the n-th last.
    """
    number: Counter[str] = Counter()
    for question in sorted(generated, key=lambda question: question["id"]):
        candidates = images[question["id"]]
        place = number[question["wikidata_id"]] % len(candidates)
        number[question["wikidata_id"]] += 1
        question["images"] = [*candidates[place:], *candidates[:place]]
        question["image"] = candidates[place]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
