"""A French world of six texts, made by hand for tests: the shape that the sample's grammar has."""

from dataclasses import dataclass

from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.formats.squad import SquadQuestion

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class SmallWorld:
    """What `build_french` returns."""

    fquad: dict[str, list[SquadQuestion]]
    texts: dict[str, list[AnnotatedText]]
    examples: list[Example]
    syntax: dict[str, list[Sentence]]


def annotated(identifier: str, loser: str) -> AnnotatedText:
    """`<loser> perdit la bataille.` with its frame."""
    text = f"{loser} perdit la bataille."
    trigger = Span(len(loser) + 1, len(loser) + 7)
    owner = FrameElement("Owner", Span(0, len(loser)), "core")
    lost = FrameElement("Possession", Span(trigger.end + 1, len(text) - 1), "core")
    frame = FrameInstance("Losing", LexicalUnit("perdre", "verb", trigger), (owner, lost))
    return AnnotatedText(identifier, "Bataille", text, (frame,), ())


def parsed(text: AnnotatedText) -> Sentence:
    """Its tree."""
    rows = [("PROPN", 2, "nsubj"), ("VERB", 0, "root"), ("DET", 4, "det"), ("NOUN", 2, "obj"), ("PUNCT", 2, "punct")]
    tokens, cursor = [], 0
    for number, (form, (pos, head, relation)) in enumerate(
        zip([*text.text[:-1].split(), "."], rows, strict=True), start=1
    ):
        start = text.text.index(form, cursor)
        cursor = start + len(form)
        tokens.append(Token(number, form, form.lower(), pos, head, relation, Span(start, cursor)))
    return Sentence(tuple(tokens), Span(0, len(text.text)))


def small_french(
    seed: int = 0, *, train: int = 2, validation: int = 1, evaluation: int = 2, frame_texts: int = 2
) -> SmallWorld:
    """The world; the seed names its people."""
    contexts = {"train": f"Aldric{seed} fonda Orvel en 412.", "validation": f"Berthe{seed} fonda Évrac en 530."}
    fquad = {
        split: [
            SquadQuestion(f"{split}-{number}", "Villes", contexts[split], "Quand ?", ((contexts[split][-4:-1], len(contexts[split]) - 4),))
            for number in range(size)
        ]
        for split, size in (("train", train), ("validation", validation))
    }  # fmt: skip
    sizes = {"train": frame_texts, "validation": 1, "test": 2}
    texts = {
        split: [annotated(f"{split}-{number}", f"{split.title()}{seed}{number}") for number in range(sizes[split])]
        for split in SPLITS
    }
    examples = [
        Example(
            id=f"q{number}",
            text=texts["test"][number % 2],
            question=f"Que perdit Test{seed}{number % 2} ?",
            answer=texts["test"][number % 2].frames[0].elements[1].span,
            frame=texts["test"][number % 2].frames[0],
            answer_element="Possession",
            context_elements=("Owner",),
            chain=(),
        )
        for number in range(evaluation)
    ]
    return SmallWorld(fquad, texts, examples, {text.id: [parsed(text)] for text in texts["test"]})
