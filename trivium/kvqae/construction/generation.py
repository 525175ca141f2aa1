"""Generate questions about pictures: an ambiguous mention replaces that of the entity (kvqae.md §2, step 5).

Two mentions of one entity make one question, two of different entities make two. What can be mentioned how, and why a
question is not generated: docs/kvqae-construction.md.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AliasPath, Field
from pydantic.dataclasses import dataclass

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_records
from trivium.kvqae.construction.mentions import MENTION_SCHEMA, Mention
from trivium.measures.answers import AnswerMatcher

MentionType = Literal["occupation", "type", "gender", "pronoun"]
MENTION_TYPES: tuple[MentionType, ...] = get_args(MentionType)


class AmbiguousMention(NamedTuple):
    """One way to refer to the entity, in the form that its place in the question requires: "this writer's", "her"."""

    type: MentionType
    text: str


class Gendered(NamedTuple):
    """Words of one gender: a noun, and the pronouns: nominative, accusative, possessive before a noun and alone."""

    noun: str
    subject: str
    object: str
    possessive: str
    alone: str


_MAN = Gendered("man", "he", "him", "his", "his")
_WOMAN = Gendered("woman", "she", "her", "her", "hers")
# By Wikidata's labels; others, such as those of animals, have no such words.
GENDERS = {"male": _MAN, "trans man": _MAN, "female": _WOMAN, "trans woman": _WOMAN}
_SUBJECT = ("nsubj", "nsubjpass")
_OBJECT = ("dobj", "pobj", "obj", "obl")

_MARKER = re.compile(r"['’](?:s(?!\w))?")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}
_ARTICLE_BEFORE = re.compile(r"(?<!\w)(?:a|an|the)\s+$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.?!]\s)\W*$")


def possible_mentions(
    mention: Mention, *, human: bool, types: Sequence[str], occupations: Sequence[str], gender: str | None
) -> list[AmbiguousMention]:
    """List all ambiguous mentions of an entity, from the labels that Wikidata has of it."""
    nouns: list[tuple[MentionType, str]] = [("type", label) for label in types]
    if human:
        nouns = [("occupation", label) for label in occupations]
    words = GENDERS.get(gender or "")
    if words:
        nouns.append(("gender", words.noun))
    ending = "'s" if _possessive(mention) else ""
    possible = [AmbiguousMention(kind, f"this {noun}{ending}") for kind, noun in nouns]
    if words and (pronoun := _pronoun(mention, words)):
        possible.append(AmbiguousMention("pronoun", pronoun))
    return list(dict.fromkeys(possible))


def _pronoun(mention: Mention, words: Gendered) -> str | None:
    """Choose the pronoun for the mention's dependency; None where none fits, as for the root of a sentence."""
    if _possessive(mention):
        _, end = replaced_span(mention)
        before_noun = mention.dependency == "poss" and re.match(r"\s+\w", mention.text[end:])
        return words.possessive if before_noun else words.alone
    if mention.dependency in _SUBJECT:
        return words.subject
    return words.object if mention.dependency in _OBJECT else None


def _possessive(mention: Mention) -> bool:
    """Whether the mention is a possessive; the mark that closes a quotation ('Emma') does not make it one."""
    quoted = mention.text[: mention.start].endswith(("'", "‘")) and mention.text[mention.end + 1 :][:1] != "s"
    return mention.possessive and (mention.dependency == "poss" or not quoted)


def replaced_span(mention: Mention) -> tuple[int, int]:
    """Find the characters that an ambiguous mention replaces.

    They are the mention's whole subtree (titles, appositions, relative clauses), quotation marks around it, an article
    before it and a possessive marker after it; for the root of a sentence, the mention without its dependents.
    """
    text, start, end = mention.text, mention.subtree_start, mention.subtree_end
    if mention.dependency == "root":
        start, end = mention.start, mention.end
    end = max(mention.end, start + len(text[start:end].rstrip("?! ")))
    if _possessive(mention) and (marker := _MARKER.match(text, end)):
        end = marker.end()
    elif start and _QUOTES.get(text[start - 1]) == text[end : end + 1]:
        start, end = start - 1, end + 1
    if article := _ARTICLE_BEFORE.search(text[:start]):
        start = article.start()
    return start, end


def replace_mentions(text: str, ambiguous: Iterable[tuple[Mention, str]]) -> str:
    """Put ambiguous mentions of one entity into a question, capitalised where they begin a sentence.

    A mention inside another's span is replaced with it.
    """
    parts, done = [], 0
    spans = sorted((*replaced_span(mention), words) for mention, words in ambiguous)
    for start, end, words in spans:
        if start >= done:
            before = text[done:start]
            begins = _SENTENCE_START.search(text[:start])
            parts += [before, words[0].upper() + words[1:] if begins else words]
            done = end
    return "".join([*parts, text[done:]])


def repeat_mention(first: AmbiguousMention, possible: Sequence[AmbiguousMention]) -> AmbiguousMention:
    """Choose a further mention of the same entity: a pronoun, else the same noun, else the first possible one."""
    noun = first.text.removesuffix("'s")
    same = [mention for mention in possible if mention.text.removesuffix("'s") == noun]
    pronouns = [mention for mention in possible if mention.type == "pronoun"]
    return [*pronouns, *same, *possible][0]


def draw_mention(possible: Sequence[AmbiguousMention], *, seed: int, key: str) -> AmbiguousMention:
    """Draw the type of mention, then one of this type, both uniformly, by the seed and the question's key alone."""
    generator = random.Random(f"{seed} {key}")
    kind = generator.choice([name for name in MENTION_TYPES if any(mention.type == name for mention in possible)])
    return generator.choice([mention for mention in possible if mention.type == kind])


# Why a question cannot be generated; `no_mention`: for example, a person without known occupation and gender.
Reason = Literal["no_mention", "name_remains", "answer_in_question"]
REASONS: tuple[Reason, ...] = get_args(Reason)


def generate_question(
    subject: Mapping[str, Any], mention: Mention, repeats: Sequence[Mention] = (), *, seed: int
) -> dict[str, Any] | Reason:
    """Generate a question from a subject's row and its mention, or say why not; `repeats` are further mentions."""
    about = {name: subject[name] for name in ("human", "types", "occupations", "gender")}
    possible = possible_mentions(mention, **about)
    if not possible:
        return "no_mention"
    further = [(repeat, possible_mentions(repeat, **about)) for repeat in repeats]
    texts = {}
    for way in possible:
        others = [(repeat, repeat_mention(way, ways).text) for repeat, ways in further if ways]
        texts[way] = replace_mentions(mention.text, [(mention, way.text), *others])
    surface = mention.surface.removesuffix("'s").removesuffix("’s")
    names = list(dict.fromkeys([surface, *filter(str.strip, subject["names"])]))
    named, answers = name_pattern(names), AnswerMatcher(subject["answers"])
    unnamed = {way: text for way, text in texts.items() if not named.search(text)}
    if not unnamed:
        return "name_remains"
    open_questions = {way: text for way, text in unnamed.items() if not answers.matches(text)}
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
        "other_mentions": [text for text in dict.fromkeys(way.text for way in open_questions) if text != drawn.text],
        "answer": {"original_answer": subject["answer"], "answer": subject["answers"]},
        "wikidata_id": subject["wikidata_id"],
        "kilt_id": subject["wikipedia_id"],
        "title": subject["title"],
        "human": subject["human"],
        "reference": subject["reference"],
    }


def generate_questions(
    subjects: Sequence[Mapping[str, Any]], images: Mapping[str, Sequence[str]], *, seed: int
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Generate the questions that have images, in the order of the rows; returns counts, too.

    Questions about one entity propose different images, as long as there are enough. `subjects` are rows of
    `SUBJECT_SCHEMA`, one for each mention; `images` are candidates by the mention's key, best first.
    """
    counts: Counter[str] = Counter(dict.fromkeys(("repeated_mention", *REASONS), 0))
    mentions = [Mention(**{name: row[name] for name in MENTION_SCHEMA.names}) for row in subjects]
    together: dict[tuple[str, str], list[Mention]] = defaultdict(list)
    for subject, mention in zip(subjects, mentions, strict=True):
        together[mention.question, subject["wikidata_id"]].append(mention)
    generated = []
    for subject, mention in zip(subjects, mentions, strict=True):
        if mention.key not in images:
            continue
        first, *repeats = sorted(together[mention.question, subject["wikidata_id"]], key=lambda other: other.start)
        question = "repeated_mention" if mention != first else generate_question(subject, mention, repeats, seed=seed)
        if isinstance(question, str):
            counts[question] += 1
        else:
            generated.append(question)
    _illustrate(generated, images)
    types = Counter(question["mention_type"] for question in generated)
    others = sum(len(question["other_mentions"]) for question in generated)
    metrics: dict[str, float] = {
        "with_images": sum(mention.key in images for mention in mentions),
        "generated": len(generated),
        "from_trivia_questions": len({question["original_question"] for question in generated}),
        "persons": sum(question["human"] for question in generated),
        **{f"mention_{name}": types[name] for name in MENTION_TYPES},
        "other_mentions_mean": others / len(generated) if generated else 0.0,
        **counts,
    }
    return generated, {name: float(value) for name, value in metrics.items()}


def _illustrate(generated: Sequence[dict[str, Any]], images: Mapping[str, Sequence[str]]) -> None:
    """Add the candidates, the proposed one first: an entity's n-th question, by id, gets its n-th best.

    So questions rarely share an image, as in the authors' program; sharing would keep an entity's questions in one
    split.
    """
    number: Counter[str] = Counter()
    for question in sorted(generated, key=lambda question: question["id"]):
        candidates = images[question["id"]]
        place = number[question["wikidata_id"]] % len(candidates)
        number[question["wikidata_id"]] += 1
        question["images"] = [*candidates[place:], *candidates[:place]]
        question["image"] = candidates[place]


@dataclass(frozen=True)
class GeneratedQuestion:
    """A question whose named entity was replaced by an ambiguous mention, as a line of `generated.jsonl`.

    Attributes:
        id: TriviaQA's id of the original question, an underscore, and the start of the mention.
        text: the generated question.
        original_question: TriviaQA's question, which names the entity.
        names: all names of the entity.
        ambiguous_mention: the ambiguous mention in the text; `other_mentions`: other possible ones.
        original_answer, answers: the usual form of the answer, and all valid ones.
        wikidata_id, kilt_id, title: the entity, its article in KILT and that article's title.
        human: whether the entity is a person.
        reference: the knowledge base's image of the entity.
        images: candidates, at least one: the proposed one, then the others.
    """

    id: str
    text: Annotated[str, Field(validation_alias="input")]
    original_question: str
    names: tuple[str, ...]
    ambiguous_mention: str
    other_mentions: tuple[str, ...]
    original_answer: Annotated[str, Field(validation_alias=AliasPath("answer", "original_answer"))]
    answers: Annotated[tuple[str, ...], Field(validation_alias=AliasPath("answer", "answer"))]
    wikidata_id: str
    kilt_id: str
    title: str
    human: bool
    reference: str
    images: tuple[str, ...]

    @property
    def source(self) -> str:
        """Id of the original TriviaQA question."""
        return self.id.rpartition("_")[0]


def name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Make a pattern of any of the names (one at least) at word boundaries, regardless of case.

    Names are not normalised as answers are: without its article, "The Who" would match every second question.
    """
    longest_first = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


def read_generated(path: Path) -> dict[str, GeneratedQuestion]:
    """Read generated questions by id, in the order of the file; `BadInput`: no question, or a field is missing."""
    questions = {question.id: question for _, question in read_json_records(path, GeneratedQuestion)}
    if not questions:
        raise BadInput("no questions", file=path, expected="one JSON object a line")
    return questions
