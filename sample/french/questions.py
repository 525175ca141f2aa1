"""Questions about an event as Calor's annotators wrote them: from frame and elements, without seeing the sentence."""

import random

from sample.french.bank import read
from sample.french.events import ADJUNCTS, Event, Filler, Form, Wording, verb_group, verb_phrase
from sample.french.nominals import is_sayable, noun_phrase, say_happened
from sample.french.phrases import govern, phrase
from sample.french.tree import Node


class Question:
    """Question for one element of an event, by a lexical unit of its frame.

    Args:
        event: the event, with the lexical unit that the question uses and the elements it names.
        role: role of the element asked for.
        answer: filler of this element.
    """

    def __init__(self, event: Event, role: str, answer: Filler, wording: Wording, rng: random.Random) -> None:
        self.event, self.role, self.answer, self.wording, self.rng = event, role, answer, wording, rng

    def tree(self) -> Node | None:
        """Make the tree, question mark included; None when the unit cannot ask for the element."""
        if not self.event.unit.is_noun:
            root = self._by_verb()
        elif self.event.frame.name == "Origin":
            root = self._which_origin()
        else:
            root = self._by_noun()
        return root.close("punct", Node("?", "PUNCT")) if root is not None else None

    def _by_verb(self) -> Node | None:
        """Qui a attaqué la ville; par qui la ville a-t-elle été attaquée; quand l'armée a-t-elle attaqué la ville."""
        event, unit, named = self.event, self.event.unit, self.event.fillers
        if "theme" in event.frame.elements and "theme" not in {*named, self.role}:
            return None
        tense = "imperfect" if event.frame.name == "Origin" else self.rng.choice(("perfect", "perfect", "past"))
        can_be_passive = not unit.of and "theme" in named
        if self.role == "agent":
            if not can_be_passive or self.rng.random() < 0.7:
                return verb_phrase(event, Form(False, tense), self.wording).root.open("nsubj", self._who())
            return self._clause(Form(True, tense), "obl:agent", govern("par", Node("qui", "PRON")))
        if self.role != "theme":
            passive = "agent" not in named or (can_be_passive and self.rng.random() < 0.35)
            return None if passive and not can_be_passive else self._clause(Form(passive, tense), "obl:mod")
        if "agent" in named and unit.of:
            return self._clause(Form(False, tense), "obl:arg", govern(unit.of, self._which()))
        if "agent" in named:
            thing = self._which()
            return self._clause(Form(False, tense), "obj", thing, object_before=thing)
        if unit.of:
            return None
        subject = self._which()
        return verb_phrase(event, Form(True, tense).agreeing(subject), self.wording).root.open("nsubj:pass", subject)

    def _clause(
        self, form: Form, relation: str, wanted: Node | None = None, *, object_before: Node | None = None
    ) -> Node:
        """Make the element asked for, the subject, and the verb with the subject's pronoun behind its finite part."""
        subject = self.wording.tree(self.event.fillers["theme" if form.passive else "agent"])
        clause = verb_phrase(self.event, form.agreeing(subject), self.wording, object_before=object_before)
        _invert(clause.root, subject)
        clause.root.open("nsubj:pass" if form.passive else "nsubj", subject)
        return clause.root.open(relation, wanted or self._when_or_where())

    def _which_origin(self) -> Node | None:
        """Quelle était la provenance du vase."""
        if self.role != "theme":
            return None
        subject = noun_phrase(self.event, self.wording).root
        return Node("quelle", "PRON", "quel").close("cop", Node("était", "AUX", "être")).close("nsubj", subject)

    def _by_noun(self) -> Node | None:
        event, carry = self.event, self.event.unit.carry
        if not is_sayable(event, {*event.fillers, self.role}) or not {"agent", "theme"} & {*event.fillers}:
            return None
        deed = noun_phrase(event, self.wording).root
        if self.role == "agent":
            return self._who_carried_out(deed) if carry else None
        if self.role == "theme":  # quel lieu a fait l'objet de l'attaque
            if not event.unit.undergone:
                return None
            thing = phrase("le:d objet:m").close("nmod", govern("de", deed))
            return verb_group("faire", Form(False, "perfect")).open("nsubj", self._which()).close("obj", thing)
        if self.role not in ADJUNCTS:
            return None
        if self.role == "reason" and self.rng.random() < 0.5:  # quel fut le but de l'attaque
            word, noun = ("quel", "but:m") if self.answer.kind == "purpose" else ("quelle", "cause:f")
            subject = phrase(f"le:d {noun}").close("nmod", govern("de", deed))
            return Node(word, "PRON", "quel").close("cop", Node("fut", "AUX", "être")).close("nsubj", subject)
        root = say_happened(event, deed, Form(True, self.rng.choice(("perfect", "past"))), self.rng)
        _invert(root, deed)
        return root.open("obl:mod", self._when_or_where())

    def _who_carried_out(self, deed: Node) -> Node:
        """Qui a mené l'attaque; par qui l'attaque fut-elle menée."""
        carry = self.event.unit.carry
        if self.rng.random() < 0.5:
            return verb_group(carry, Form(False, "perfect")).open("nsubj", self._who()).close("obj", deed)
        root = verb_group(carry, Form(True, self.rng.choice(("perfect", "past"))).agreeing(deed))
        _invert(root, deed)
        root.open("nsubj:pass", deed)
        return root.open("obl:agent", govern("par", Node("qui", "PRON")))

    def _who(self) -> Node:
        """Return "qui", or the word for a kind of thing."""
        return Node("qui", "PRON") if self.answer.is_people or not self.answer.kind else self._which()

    def _which(self) -> Node:
        """Return "qui" for people, else "quel" with a word for the kind of thing: quel lieu, quel objet."""
        if self.answer.is_people and self.rng.random() < 0.75:
            return Node("qui", "PRON")
        return phrase("quel:d " + self.rng.choice(read("fillers")["hypernyms"][self.answer.kind]))

    def _when_or_where(self) -> Node:
        """Return the question word of an adjunct or a third element."""
        answer = self.answer
        if self.role == "third" and answer.is_people:
            return govern(self.event.unit.third, Node("qui", "PRON"))
        if answer.kind == "news":
            return phrase("à quel:d sujet:m")
        asking = self.rng.choice(read("words")["question_words"]["located" if answer.is_located else answer.kind])
        return phrase(asking) if ":" in asking else Node(asking, "ADV")


def _invert(root: Node, subject: Node) -> None:
    """Put the subject's pronoun behind the finite part of a verb (a-t-il attaqué, attaqua-t-elle)."""
    auxiliaries = [child for relation, child in root.left if relation.startswith("aux")]
    finite = auxiliaries[0] if auxiliaries else root
    word = ("elle" if subject.gender == "f" else "il") + ("s" if subject.number == "p" else "")
    pronoun = Node(f"-t-{word}" if finite.form[-1] in "ae" else f"-{word}", "PRON", word)
    finite.right.insert(0, ("expl:subj", pronoun))
