"""Two French texts of two sentences with syntax, small enough for every factor to be read off by eye.

t1  "Les Gaulois assiègent la vieille ville au printemps. Ils prennent ensuite le camp de César."
t2  "Le siège de la ville par Hannon dura. La chute de Motyé suivit."
"""

from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span

FIRST = "Les Gaulois assiègent la vieille ville au printemps. Ils prennent ensuite le camp de César."
SECOND = "Le siège de la ville par Hannon dura. La chute de Motyé suivit."


def span(text: str, words: str) -> Span:
    """Where words stand in a text."""
    return Span(text.index(words), text.index(words) + len(words))


def frame(text: str, name: str, unit: tuple[str, str, str], **elements: str) -> FrameInstance:
    """A frame by its trigger (form, lemma, part of speech) and its elements' words."""
    parts = sorted((span(text, words), name) for name, words in elements.items())
    return FrameInstance(
        name,
        LexicalUnit(unit[1], unit[2], span(text, unit[0])),
        tuple(FrameElement(element, place, "peripheral" if element == "Time" else "core") for place, element in parts),
    )


def sentence(text: str, start: int, *words: tuple[str, str, str, int, str]) -> Sentence:
    """A tree from (form, lemma, UPOS, head, relation), found from `start` on."""
    tokens, cursor = [], start
    for number, (form, lemma, upos, head, relation) in enumerate(words, 1):
        begin = text.index(form, cursor)
        cursor = begin + len(form)
        tokens.append(Token(number, form, lemma, upos, head, relation, Span(begin, cursor)))
    return Sentence(tuple(tokens), Span(tokens[0].span.start, cursor))


SYNTAX = {
    "t1": [
        sentence(
            FIRST,
            0,
            ("Les", "le", "DET", 2, "det"),
            ("Gaulois", "Gaulois", "PROPN", 3, "nsubj"),
            ("assiègent", "assiéger", "VERB", 0, "root"),
            ("la", "le", "DET", 6, "det"),
            ("vieille", "vieux", "ADJ", 6, "amod"),
            ("ville", "ville", "NOUN", 3, "obj"),
            ("au", "à", "ADP", 8, "case"),
            ("printemps", "printemps", "NOUN", 3, "obl"),
            (".", ".", "PUNCT", 3, "punct"),
        ),
        sentence(
            FIRST,
            FIRST.index("Ils"),
            ("Ils", "il", "PRON", 2, "nsubj"),
            ("prennent", "prendre", "VERB", 0, "root"),
            ("ensuite", "ensuite", "ADV", 2, "advmod"),
            ("le", "le", "DET", 5, "det"),
            ("camp", "camp", "NOUN", 2, "obj"),
            ("de", "de", "ADP", 7, "case"),
            ("César", "César", "PROPN", 5, "nmod"),
            (".", ".", "PUNCT", 2, "punct"),
        ),
    ],
    "t2": [
        sentence(
            SECOND,
            0,
            ("Le", "le", "DET", 2, "det"),
            ("siège", "siège", "NOUN", 8, "nsubj"),
            ("de", "de", "ADP", 5, "case"),
            ("la", "le", "DET", 5, "det"),
            ("ville", "ville", "NOUN", 2, "nmod"),
            ("par", "par", "ADP", 7, "case"),
            ("Hannon", "Hannon", "PROPN", 5, "nmod"),  # attached too low: two arcs from the trigger
            ("dura", "durer", "VERB", 0, "root"),
            (".", ".", "PUNCT", 8, "punct"),
        ),
        sentence(
            SECOND,
            SECOND.index("La chute"),
            ("La", "le", "DET", 2, "det"),
            ("chute", "chute", "NOUN", 5, "nsubj"),
            ("de", "de", "ADP", 4, "case"),
            ("Motyé", "Motyé", "PROPN", 2, "nmod"),
            ("suivit", "suivre", "VERB", 0, "root"),
            (".", ".", "PUNCT", 5, "punct"),
        ),
    ],
}
SIEGE = frame(
    FIRST,
    "Besieging",
    ("assiègent", "assiéger", "verb"),
    Assailant="Les Gaulois",
    Victim="la vieille ville",
    Time="au printemps",
)
TAKING = frame(FIRST, "Taking", ("prennent", "prendre", "verb"), Agent="Ils", Theme="le camp de César")
NOMINAL = frame(SECOND, "Besieging", ("siège", "siège", "noun"), Victim="de la ville", Assailant="par Hannon")
FALL = frame(SECOND, "Falling", ("chute", "chute", "noun"), Theme="La chute de Motyé")
LES_GAULOIS, ILS = span(FIRST, "Les Gaulois"), span(FIRST, "Ils")
TEXTS = (
    AnnotatedText("t1", "Siège", FIRST, (SIEGE, TAKING), ((LES_GAULOIS, ILS),)),
    AnnotatedText("t2", "Motyé", SECOND, (NOMINAL, FALL), ()),
)


def _example(number: int, text: int, instance: FrameInstance, element: str, question: str, **changes) -> Example:
    answer = next(each.span for each in instance.elements if each.name == element)
    fields = {"answer": answer, "chain": ()} | changes
    return Example(
        id=f"q{number}",
        text=TEXTS[text],
        question=question,
        frame=instance,
        answer_element=element,
        context_elements=(),
        **fields,
    )


EXAMPLES = (
    _example(0, 0, SIEGE, "Assailant", "Qui assiégea la vieille ville ?"),
    _example(1, 0, SIEGE, "Victim", "Que les Gaulois ont-ils encerclé ?"),
    _example(2, 0, TAKING, "Agent", "Qui a pris le camp ?", answer=LES_GAULOIS, chain=(ILS, LES_GAULOIS)),
    _example(3, 0, TAKING, "Theme", "Que prennent-ils ?"),
    _example(4, 1, NOMINAL, "Assailant", "Qui mena le siège de la ville ?"),
    _example(5, 1, FALL, "Theme", "Quel événement suivit ?"),
)
# Frames of the evaluation: Besieging three times, Taking twice, Falling once.
ADAPTATION = {"Besieging": 40, "Taking": 7}  # Falling does not occur
TRAINING = (
    AnnotatedText(
        "a",
        "",
        "Ils assiègent, assiégeaient, siège ; prit, pris, prise.",
        tuple(
            FrameInstance(name, LexicalUnit(lemma, part_of_speech, Span(start, end)), ())
            for name, lemma, part_of_speech, start, end in (
                ("Besieging", "assiéger", "verb", 4, 13),
                ("Besieging", "assiéger", "verb", 15, 27),
                ("Besieging", "siège", "noun", 29, 34),
                ("Taking", "prendre", "verb", 37, 41),
                ("Taking", "prendre", "verb", 43, 47),
            )
        ),
        (),
    ),
)
