"""Candidate questions that name their entity, in TriviaQA's own format, and the annotated sentences (kvqae.md §2).

Both come from bracketed wordings (`bank/construction.yaml`), which contain the gold analysis of a sentence.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from sample.kvqae.bank import read
from sample.kvqae.entities import Entity, create_entities, tell_facts
from sample.kvqae.names import Pools
from sample.kvqae.wording import PRONOUNS

_PIECE = re.compile(r"\[\S+|\]|[^\s\[\]]+")
_TIGHT = {",", ".", "?", "'s", "'"}  # words without a space before them


@dataclass
class Sentence:
    """Words with heads (indices; a root is its own head), dependency labels, tags and entities (start, end, label)."""

    words: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    entities: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def spaces(self) -> list[bool]:
        """Whether a space follows each word."""
        return [word not in _TIGHT for word in self.words[1:]] + [False]

    @property
    def text(self) -> str:
        """The sentence as written."""
        return "".join(word + " " * space for word, space in zip(self.words, self.spaces, strict=True))

    def record(self) -> dict[str, object]:
        """Return a line of `annotated.jsonl`."""
        return {**vars(self), "spaces": self.spaces, "entities": [list(entity) for entity in self.entities]}

    def add(self, word: str, tag: str, label: str = "") -> int:
        """Append a word, as a root for now; a word with the label of the one before continues its entity."""
        place = len(self.words)
        if tag == "POS" and self.words[-1].endswith("s"):
            word = "'"
        self.words.append(word if place else word[0].upper() + word[1:])
        self.tags.append(tag)
        self.heads.append(place)
        self.deps.append("ROOT")
        if label:
            continues = bool(self.entities) and self.entities[-1][1:] == (place, label)
            start = self.entities.pop()[0] if continues else place
            self.entities.append((start, place + 1, label))
        return place


def analyse(wording: str) -> Sentence:
    """Read a bracketed wording with filled placeholders; see `bank/construction.yaml`."""
    sentence, pieces = Sentence(), iter(_PIECE.findall(wording))
    for piece in pieces:
        if not piece.startswith("["):
            raise ValueError(f"no bracket at {piece!r} in {wording!r}")
        _bracket(sentence, pieces)
    return sentence


def _bracket(sentence: Sentence, pieces: Iterator[str]) -> int:
    """Read up to the closing bracket; returns the index of the head, whose own head is not set yet."""
    children: list[tuple[int, str]] = []
    head = -1
    for piece in pieces:
        if piece == "]":
            break
        if piece.startswith("["):
            children.append((_bracket(sentence, pieces), piece[1:]))
        elif head >= 0:
            raise ValueError(f"second head {piece!r}")
        else:
            head = sentence.add(*piece.split("/"))
    if head < 0:
        raise ValueError(f"a bracket without head before word {len(sentence.words)}")
    for child, dependency in children:
        sentence.heads[child], sentence.deps[child] = head, dependency
    return head


def bracket_name(name: str, label: str) -> str:
    """Put brackets into a name: its head is the last word, but the first of "House of X" and of "X & Sons".

    Args:
        name: as in a sentence ("the Velmor Bridge").
        label: label of the named entity; empty for a common noun.
    """
    first, joint, rest = re.match(r"(.*?)(?: (of|and|&) (.*))?$", name).groups()  # type: ignore[union-attr]
    *before, head = first.split()

    def tag_word(word: str) -> str:
        tag = {"the": "DT", "of": "IN", "and": "CC", "&": "CC"}.get(word, "NNP" if label else "NN")
        return f"{word}/{tag}/{label}" if label else f"{word}/{tag}"

    words = [f"[{'det' if word == 'the' else 'compound'} {tag_word(word)}]" for word in before] + [tag_word(head)]
    if joint == "of":
        words.append(f"[prep {tag_word(joint)} [pobj {bracket_name(rest, label)}]]")
    elif joint:
        words.append(f"[cc {tag_word(joint)}] [conj {bracket_name(rest, label)}]")
    return " ".join(words)


# How often a question names no entity, two, or uses a short form of the name.
_NONE, _TWO, _ALIAS = 0.1, 0.08, 0.06
# TagMe's other links: to the other entity that is named, to one that is not named, to a page that is no article.
_OTHER, _NOISE, _NO_ARTICLE = 0.7, 0.3, 0.1
_IMAGELESS = 0.05


@dataclass(frozen=True)
class Candidate:
    """Question that may become one of ViQuAE's.

    Attributes:
        entity: entity that it is about, whether it is named or not.
        links: titles of the pages that TagMe found.
    """

    id: str
    entity: Entity
    relation: str
    sentence: Sentence
    links: list[str]

    @property
    def linked(self) -> bool:
        """Whether the entity's own page is among the links."""
        return self.entity.title in self.links

    def record(self) -> dict[str, Any]:
        """Return it as a line of TriviaQA."""
        value = self.entity.facts[self.relation]
        return {
            "QuestionId": self.id,
            "Question": self.sentence.text,
            "Answer": {"Value": value.text, "Aliases": [value.text, *value.aliases]},
            "EntityPages": [{"DocSource": "TagMe", "Title": title} for title in self.links],
        }


def facts_to_ask(entities: Sequence[Entity]) -> list[tuple[Entity, str]]:
    """Return (entity, relation) of all facts with wordings."""
    relations = read("construction")["relations"]
    return [(entity, name) for entity in entities if entity.kind.asked for name in entity.facts if name in relations]


def ask_candidates(
    entities: Sequence[Entity], seed: int, number: int, *, linked: float, told: Mapping[str, str]
) -> list[Candidate]:
    """Ask at most `number` questions about facts of these entities, no fact twice.

    Args:
        entities: the whole world.
        seed: seed of the world.
        number: largest number of questions.
        linked: share of the questions whose links include the entity's page.
        told: text of other questions about an entity, by Wikipedia id; a fact whose answer occurs there is not asked.
    """
    rng = random.Random(f"candidates {seed}")
    facts = [
        (entity, relation)
        for entity, relation in facts_to_ask(entities)
        if entity.facts[relation].text not in told.get(entity.wikipedia_id, "")
        and (entity.image or rng.random() < _IMAGELESS)
    ]
    candidates = []
    for position, (entity, relation) in enumerate(rng.sample(facts, min(number, len(facts)))):
        other = _other(entity, entities, rng)
        naming, sentence = _ask(entity, relation, other, rng)
        links = [entity.title] if naming != "none" and rng.random() < linked else []
        links += [other.title] if naming == "two" and rng.random() < _OTHER else []
        links += [rng.choice(entities).title] if rng.random() < _NOISE else []
        links += [f"{entity.name} (disambiguation)"] if rng.random() < _NO_ARTICLE else []
        rng.shuffle(links)
        candidates.append(Candidate(f"sample_{position:05d}", entity, relation, sentence, list(dict.fromkeys(links))))
    return candidates


def annotate_sentences(seed: int, number: int, known: Set[str]) -> list[Sentence]:
    """Analyse sentences about people and things of another world, none of whose names is in `known`.

    They are ordered by entity, so that the last ones are about other entities than the first ones.
    """
    rng = random.Random(f"annotation {seed}")
    pools = Pools(rng)
    entities = create_entities(pools, max(60, number // 2))
    tell_facts(entities, pools)
    entities = [entity for entity in entities if known.isdisjoint((entity.name, *entity.aliases))]
    facts = facts_to_ask(entities)
    chosen = (facts[position * len(facts) // number] for position in range(number))  # each as often as any other
    return [_ask(entity, relation, _other(entity, entities, rng), rng)[1] for entity, relation in chosen]


def _other(entity: Entity, entities: Sequence[Entity], rng: random.Random) -> Entity:
    """Draw another entity of the same kind; the entity itself where there is none."""
    return rng.choice([one for one in entities if one.kind is entity.kind and one is not entity] or [entity])


def _ask(entity: Entity, relation: str, other: Entity, rng: random.Random) -> tuple[str, Sentence]:
    """Fill one of the relation's wordings; returns its kind and the sentence."""
    fragments: dict[str, str] = read("construction")["relations"][relation]
    drawn = rng.random()
    if drawn < _NONE + _TWO:
        kind = "none" if drawn < _NONE else "two"
    else:
        kind = rng.choice(["noun", *(kind for kind in ("by", "did", "done") if kind in fragments)])
    *before, noun = entity.label.split()
    slots = {
        "label": "".join(f"[compound {word}/NN] " for word in before) + f"{noun}/NN",
        "demonym": entity.country.demonym,
        "decade": f"{(entity.end - 15) // 10 * 10}s",
        "year": str(rng.randint(entity.end - 30, entity.end - 1)),
        "his": PRONOUNS[entity.gender]["his"],
        "who": "who/WP" if entity.gender else "which/WDT",
        "name": _name(entity, rng),
        "other": _name(other, rng),
    }
    return kind, analyse(rng.choice(read("construction")["wordings"][kind]).format_map({**fragments, **slots}))


def _name(entity: Entity, rng: random.Random) -> str:
    text = rng.choice(entity.aliases) if entity.gender and rng.random() < _ALIAS else entity.named
    return bracket_name(text, entity.kind.ner)
