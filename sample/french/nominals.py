"""Nouns as triggers: their phrases, and the sentences with them."""

import random

from sample.french.bank import read
from sample.french.events import ADJUNCTS, Event, Form, Telling, Wording, sentence, verb_group
from sample.french.phrases import govern, phrase, predicate, the
from sample.french.tree import Node

# What is carried out by these verbs takes place ("avoir lieu"); promises and offices do not.
_TAKES_PLACE = ("", "mener", "effectuer", "commettre", "accomplir", "faire")


def is_sayable(event: Event, roles: set[str]) -> bool:
    """Whether the noun can have these elements alone: one that means doing something to a theme needs the theme."""
    if "theme" in event.frame.elements and event.unit.of == "de" and "theme" not in roles:
        return False
    return bool(roles & {"agent", "theme"}) and not (event.unit.alone and "agent" in roles)


def noun_phrase(
    event: Event, wording: Wording, *, determiner: str = "le", without: tuple[str, ...] = (), possessor: str = ""
) -> Telling:
    """Make the event's noun with its elements; a possessor ("son", "leur") is its determiner and replaces the agent."""
    unit = event.unit
    root = Node(unit.lemma, "NOUN", gender=unit.gender)
    arguments = {"theme": ("nmod", unit.of), "third": ("nmod", unit.third)}
    if {"theme", "time"} <= {*event.frame.elements} and unit.of == "de":  # a thing that has an origin does not act
        arguments = {**arguments, "agent": ("nmod", "par")}
    else:
        arguments = {"agent": ("nmod", "de"), **arguments}
    said = (*without, "agent") if possessor else without
    elements = wording.complete(root, event, arguments, said, noun=True)
    article = the(possessor or determiner, root)
    root.open("det", article)
    return Telling(root, root, elements | ({"agent": article} if possessor else {}))


class Nominal:
    """Sentences whose trigger is the event's noun; a possessor or a pronoun may replace the agent."""

    def __init__(self, event: Event, wording: Wording, rng: random.Random, pronoun: Node | None = None) -> None:
        self.event, self.wording, self.rng, self.pronoun = event, wording, rng, pronoun

    def tell(self, role: str, *, far: bool) -> Telling | None:
        """Make a sentence with an element two or more arcs from the trigger (`far`), or one; None: there is no way."""
        if self.event.frame.name == "Origin":
            return None if far or len(self.event.fillers) != 2 else self._tell_equation()
        if not is_sayable(self.event, {*self.event.fillers}):
            return None
        if not far:
            return self._tell_near()
        if role == "agent":
            return self._tell_carried_out(active=self.pronoun is not None or self.rng.random() < 0.5)
        if self.pronoun is not None:
            return None
        if role == "theme":
            return self._tell_undergone()
        return self._tell_took_place(role) if role in ADJUNCTS else None

    def _noun_phrase(self, role: str, determiner: str = "le") -> Telling:
        return noun_phrase(self.event, self.wording, determiner=determiner, without=(role,))

    def _tell_near(self) -> Telling:
        """L'attaque marqua les esprits; les chroniques évoquent l'attaque."""
        possessor = "" if self.pronoun is None else "leur" if self.pronoun.number == "p" else "son"
        telling = noun_phrase(self.event, self.wording, possessor=possessor)
        bank = read("fillers")
        if self.rng.random() < 0.6 or self.pronoun is not None:
            root = predicate(self.rng.choice(bank["renown"]["deed"]), "s").open("nsubj", telling.root)
        else:
            witness = phrase("le:d " + self.rng.choice(bank["witnesses"]))
            lemma, form = self.rng.choice(list(bank["witness_verbs"].items()))
            root = Node(form, "VERB", lemma).open("nsubj", witness).close("obj", telling.root)
        return sentence(root, telling)

    def _tell_carried_out(self, *, active: bool) -> Telling | None:
        """Le roi mena l'attaque; l'attaque fut menée par le roi."""
        carry = self.event.unit.carry
        if not carry or "agent" not in self.event.fillers:
            return None
        telling = self._noun_phrase("agent")
        agent = self.pronoun or self.wording.tree(self.event.fillers["agent"])
        if active:
            root = verb_group(carry, Form(False).agreeing(agent)).open("nsubj", agent).close("obj", telling.root)
        else:
            root = verb_group(carry, Form(True).agreeing(telling.root)).open("nsubj:pass", telling.root)
            root.close("obl:agent", govern("par", agent))
        return sentence(root, telling, agent=agent)

    def _tell_undergone(self) -> Telling | None:
        """La ville fit l'objet d'une attaque."""
        if not self.event.unit.undergone or "theme" not in self.event.fillers:
            return None
        theme = self.wording.tree(self.event.fillers["theme"])
        telling = self._noun_phrase("theme", "un")
        thing = phrase("le:d objet:m").close("nmod", govern("de", telling.root))
        root = verb_group("faire", Form(False).agreeing(theme)).open("nsubj", theme).close("obj", thing)
        return sentence(root, telling, theme=theme)

    def _tell_took_place(self, role: str) -> Telling:
        """L'attaque eut lieu en 1312; l'attaque fut menée en 1312."""
        telling = self._noun_phrase(role)
        root = say_happened(self.event, telling.root, Form(True), self.rng)
        relation, node = self.wording.adjunct(role, self.event.fillers[role], noun=False)
        root.close(relation, node)
        return sentence(root, telling, None, **{role: node})

    def _tell_equation(self) -> Telling:
        """La provenance du vase était la ville de Belmar."""
        telling = self._noun_phrase("theme")
        root = self.wording.tree(self.event.fillers["theme"])
        root.open("cop", Node("était", "AUX", "être")).open("nsubj", telling.root)
        for _, child in root.left:
            child.apart = child.part_of_speech not in ("DET", "ADJ", "NUM")
        return sentence(root, telling, theme=root)


def say_happened(event: Event, subject: Node, form: Form, rng: random.Random) -> Node:
    """Make a verb that says that an event happened, in agreement with its noun: eut lieu, fut menée."""
    carry = event.unit.carry
    if carry in _TAKES_PLACE and (not carry or rng.random() < 0.6):
        root = verb_group("avoir", Form(False, form.tense).agreeing(subject))
        root.close("obj", Node("lieu", "NOUN"))
        return root.open("nsubj", subject)
    return verb_group(carry, form.agreeing(subject)).open("nsubj:pass", subject)
