"""Questions about an event in Calor's manner: from frame and elements, by a writer who does not see the sentence."""

import random

from sample.french.bank import fillers
from sample.french.events import Event, Filler, Wording
from sample.french.nominals import happening, noun_phrase, sayable
from sample.french.phrases import adposition, governed, noun, phrase, the
from sample.french.tree import Node
from sample.french.verbs import ADJUNCTS, Form, verb_group, verb_phrase

_ASKED = {
    "time": (("quand",), ("quand",), ("à", "quel", "moment:m"), ("à", "quel", "époque:f"), ("à", "quel", "date:f")),
    "place": (("où",), ("où",), ("à", "quel", "endroit:m"), ("en", "quel", "lieu:m")),
    "purpose": (("dans", "quel", "but:m"), ("dans", "quel", "but:m"), ("pourquoi",), ("à", "quel", "fin:f")),
    "cause": (("pourquoi",), ("pour", "quel", "raison:f"), ("pour", "quel", "raison:f")),
    "located": (("où",), ("à", "quel", "endroit:m")),
    "town": (("où",), ("dans", "quel", "lieu:m")),
    "post": (("à", "quel", "fonction:f"),),
}


class Question:
    """The question for one element of an event, by a lexical unit of its frame.

    Args:
        event: what is asked about, with the lexical unit that the question uses and the elements it names.
        role: the element that is asked for.
        answer: what fills it.
    """

    def __init__(self, event: Event, role: str, answer: Filler, wording: Wording, rng: random.Random) -> None:
        self.event, self.role, self.answer, self.wording, self.rng = event, role, answer, wording, rng

    def tree(self) -> Node | None:
        """The tree, question mark included; None when the unit does not lend itself to the question."""
        root = self._by_noun() if self.event.unit.is_noun else self._by_verb()
        return root.close("punct", Node("?", "PUNCT")) if root is not None else None

    def _by_verb(self) -> Node | None:
        event, roles = self.event, {*self.event.fillers, self.role}
        if "theme" in event.frame.elements and "theme" not in roles:
            return None
        tense = "imperfect" if event.frame.name == "Origin" else self.rng.choice(("perfect", "perfect", "past"))
        if self.role == "agent":
            if event.unit.of or "theme" not in event.fillers or self.rng.random() < 0.7:
                told = verb_phrase(event, Form(False, tense), self.wording)
                return told.root.open("nsubj", self._who())
            return self._clause(Form(True, tense), governed("par", Node("qui", "PRON")), "obl:agent")
        if self.role == "theme":
            return self._about_theme(tense)
        passive = "agent" not in event.fillers or (
            not event.unit.of and "theme" in event.fillers and self.rng.random() < 0.35
        )
        if passive and (event.unit.of or "theme" not in event.fillers):
            return None
        return self._clause(Form(passive, tense), self._asked(), "obl:mod")

    def _about_theme(self, tense: str) -> Node | None:
        event = self.event
        if event.unit.of:
            if "agent" not in event.fillers:
                return None
            return self._clause(Form(False, tense), governed(event.unit.of, self._which()), "obl:arg")
        if "agent" in event.fillers:
            asked = self._which()
            return self._clause(Form(False, tense), asked, "obj", object_before=asked)
        subject = self._which()
        told = verb_phrase(event, Form(True, tense).agreeing(subject), self.wording)
        return told.root.open("nsubj:pass", subject)

    def _clause(self, form: Form, asked: Node, relation: str, object_before: Node | None = None) -> Node:
        """What is asked, the subject, and the verb with the subject's pronoun behind its finite part."""
        role = "theme" if form.passive else "agent"
        subject = self.wording.tree(self.event.fillers[role])
        told = verb_phrase(self.event, form.agreeing(subject), self.wording, object_before=object_before)
        invert(told.root, subject)
        told.root.open("nsubj:pass" if form.passive else "nsubj", subject)
        return told.root.open(relation, asked)

    def _by_noun(self) -> Node | None:
        event = self.event
        if event.frame.name == "Origin":
            if self.role != "theme":
                return None
            told = noun_phrase(event, self.wording)
            return Node("quelle", "PRON", "quel").close("cop", Node("était", "AUX", "être")).close("nsubj", told.root)
        if not sayable(event, {*event.fillers, self.role}) or not {"agent", "theme"} & {*event.fillers}:
            return None
        if self.role == "agent":
            return self._who_carried_out()
        if self.role == "theme":
            return self._what_underwent()
        if self.role == "third" or (self.role not in ADJUNCTS):
            return None
        told = noun_phrase(event, self.wording)
        if self.role == "reason" and self.rng.random() < 0.5:
            asked, word, gender = ("quel", "but", "m") if self.answer.kind == "purpose" else ("quelle", "cause", "f")
            thing = Node(word, "NOUN", gender=gender)
            thing.open("det", the("le", thing)).close("nmod", governed("de", told.root))
            return Node(asked, "PRON", "quel").close("cop", Node("fut", "AUX", "être")).close("nsubj", thing)
        root = happening(event, told.root, Form(True, self.rng.choice(("perfect", "past"))), self.rng)
        invert(root, told.root)
        return root.open("obl:mod", self._asked())

    def _who_carried_out(self) -> Node | None:
        carry = self.event.unit.carry
        if not carry:
            return None
        told = noun_phrase(self.event, self.wording)
        if self.rng.random() < 0.5:
            return verb_group(carry, Form(False, "perfect")).open("nsubj", self._who()).close("obj", told.root)
        root = verb_group(carry, Form(True, self.rng.choice(("perfect", "past"))).agreeing(told.root))
        invert(root, told.root)
        root.open("nsubj:pass", told.root)
        return root.open("obl:agent", governed("par", Node("qui", "PRON")))

    def _what_underwent(self) -> Node | None:
        if not self.event.unit.undergone:
            return None
        told = noun_phrase(self.event, self.wording)
        thing = Node("objet", "NOUN").open("det", Node("le", "DET")).close("nmod", governed("de", told.root))
        subject = self._which()
        return verb_group("faire", Form(False, "perfect")).open("nsubj", subject).close("obj", thing)

    def _who(self) -> Node:
        """Qui, or which thing."""
        return Node("qui", "PRON") if self.answer.is_people or not self.answer.kind else self._which()

    def _which(self) -> Node:
        """Qui for people, else a word for what kind of thing it is: quel lieu, quel objet."""
        if self.answer.is_people and self.rng.random() < 0.75:
            return Node("qui", "PRON")
        thing = phrase(self.rng.choice(fillers()["hypernyms"][self.answer.kind]))
        return thing.open("det", the("quel", thing))

    def _asked(self) -> Node:
        """The question word of an adjunct or a third element."""
        answer = self.answer
        if self.role == "third" and answer.is_people:
            return governed(self.event.unit.third, Node("qui", "PRON"))
        if self.role == "third" and answer.kind == "news":
            subject = Node("sujet", "NOUN")
            return subject.open("det", the("quel", subject)).open("case", Node("à", "ADP"))
        kind = "located" if answer.is_located else answer.kind
        words = self.rng.choice(_ASKED[kind])
        if len(words) == 1:
            return Node(words[0], "ADV")
        preposition, determiner, named = words
        head = noun(*named.split(":"))
        return head.open("det", the(determiner, head)).open("case", adposition(preposition))


def _pronoun(finite: str, subject: Node) -> Node:
    """The subject's pronoun behind a finite verb: -t-il, -elle, -ils."""
    word = ("elle" if subject.gender == "f" else "il") + ("s" if subject.number == "p" else "")
    return Node(f"-t-{word}" if finite[-1] in "ae" else f"-{word}", "PRON", word)


def invert(root: Node, subject: Node) -> None:
    """Put the subject's pronoun behind the finite part of a verb (a-t-il attaqué)."""
    auxiliaries = [child for relation, child in root.left if relation.startswith("aux")]
    if auxiliaries:
        auxiliaries[0].close("expl:subj", _pronoun(auxiliaries[0].form, subject))
    else:
        root.right.insert(0, ("expl:subj", _pronoun(root.form, subject)))
