"""Phrases from the bank's notation (see bank/fillers.yaml): `vase:m en argent:m` becomes a small tree."""

from sample.french.morphology import adjective, determiner, finite, plural
from sample.french.tree import Node


def adposition(words: str) -> Node:
    """Make a preposition; further words of a fixed one ("à_cause_de") depend on the first."""
    first, *rest = words.split("_")
    node = Node(first, "ADP")
    for word in rest:
        node.close("fixed", Node(word, "ADP" if word in ("de", "à") else "NOUN"))
    return node


def the(lemma: str, head: Node) -> Node:
    """Make a determiner that agrees with a noun."""
    return Node(determiner(lemma, head.gender, head.number), "DET", lemma)


def govern(preposition: str, head: Node) -> Node:
    """Put a preposition before a noun phrase; "" leaves it bare."""
    return head.open("case", adposition(preposition)) if preposition else head


def phrase(notation: str) -> Node:
    """Make the tree of a phrase: a noun phrase, a prepositional one, or an infinitive and its objects.

    The preposition de attaches to the last noun; others do so inside a noun phrase, and after a verb to the verb.
    """
    head: Node | None = None
    last: Node | None = None
    pending: list[tuple[str, str]] = []
    for lemma, _, tag in (word.partition(":") for word in notation.split()):
        if tag in ("v", "vi"):
            head = Node(lemma, "VERB")
        elif tag == "x" and head is not None:
            head.close("advmod", Node(lemma, "ADV"))
        elif tag == "a" and not pending and last is not None:
            last.close("amod", Node(adjective(lemma, last.gender, last.number), "ADJ", lemma))
        elif tag == "a" and not pending and head is not None:
            head.close("xcomp", Node(lemma, "ADJ"))
        elif tag in ("", "d", "a", "n"):
            pending.append((lemma, tag))
        else:
            last = _nominal(lemma, tag, pending, head, last)
            head, pending = head or last, []
    if head is None:
        raise ValueError(f"no head in {notation!r}")
    return head


def _nominal(lemma: str, tag: str, pending: list[tuple[str, str]], head: Node | None, last: Node | None) -> Node:
    """Make a noun, name or year with the words before it, and attach it to the phrase read so far."""
    gender, number = tag.strip("PpY") or "m", "p" if tag.endswith("p") else "s"
    part_of_speech = {"Y": "NUM", "P": "PROPN"}.get(tag[0], "NOUN")
    node = Node(plural(lemma) if number == "p" else lemma, part_of_speech, lemma, gender, number)
    preposition = ""
    for word, kind in reversed(pending):
        if kind == "d":
            node.open("det", the(word, node))
        elif kind == "a":
            node.open("amod", Node(adjective(word, node.gender, node.number), "ADJ", word))
        elif kind == "n":
            node.open("nummod", Node(word, "NUM"))
        else:
            node.open("case", adposition(word))
            preposition = word
    if head is not None and head.part_of_speech == "VERB" and (last is None or preposition not in ("de", "")):
        head.close("obl:arg" if preposition else "obj", node)
    elif last is not None:
        last.close("nmod" if preposition or tag == "Y" else "appos", node)
    return node


def predicate(notation: str, number: str) -> Node:
    """Make a finite clause without its subject, in the simple past or (tag vi) in the imperfect."""
    root = phrase(notation)
    root.form = finite(root.lemma, "imperfect" if notation.partition(" ")[0].endswith(":vi") else "past", number)
    root.number = number
    for relation, child in root.right:
        if relation == "xcomp":
            child.form = adjective(child.lemma, root.gender, number)
    return root
