"""A corpus of eight questions about four texts and two frames, small enough to score on paper."""

from pathlib import Path

from trivium.formats.answer_files import write_predictions
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span

SENTENCES = {  # frame, trigger, sentence, {element: words}
    "t0": (
        "Attack",
        "attaque",
        "L’armée belge attaque Ypres à l’aube.",
        {"Assailant": "L’armée belge", "Victim": "Ypres"},
    ),
    "t1": (
        "Attack",
        "attaque",
        "La flotte anglaise attaque Brême.",
        {"Assailant": "La flotte anglaise", "Victim": "Brême"},
    ),
    "t2": (
        "Losing",
        "perd",
        "Le général Férié perd sa forteresse.",
        {"Owner": "Le général Férié", "Possession": "sa forteresse"},
    ),
    "t3": ("Losing", "perd", "Un évêque perd la cité & <b>l’or</b>.", {"Owner": "Un évêque", "Possession": "la cité"}),
}
OTHER = " Le temps était beau. Rien ne bougeait."


def examples() -> list[Example]:
    """Two questions a text, ids `q0` to `q7`."""
    made: list[Example] = []
    for identifier, (name, trigger, sentence, elements) in SENTENCES.items():
        text = sentence + OTHER

        def span(words: str, text: str = text) -> Span:
            return Span(text.index(words), text.index(words) + len(words))

        parts = tuple(FrameElement(element, span(words), "core") for element, words in elements.items())
        frame = FrameInstance(name, LexicalUnit(trigger, "verb", span(trigger)), parts)
        annotated = AnnotatedText(identifier, f"Titre {identifier}", text, (frame,), ())
        for part in parts:
            question = f"Qui ou quoi {trigger} à « {identifier} » ?"
            made.append(Example(f"q{len(made)}", annotated, question, part.span, frame, part.name, (), ()))
    return made


def write_world(folder: Path) -> list[Example]:
    """Questions and texts as stages read them, and empty folders of answers and judgements."""
    made = examples()
    write_texts(folder / "texts.jsonl", list({each.text.id: each.text for each in made}.values()))
    write_examples(folder / "questions.jsonl", made)
    for name in ("predictions", "prompted", "brought", "judgements"):
        (folder / name).mkdir()
    return made


def answer(folder: Path, place: str, answers: list[str]) -> None:
    """Write answers to q0, q1, …"""
    write_predictions(folder / place, {f"q{number}": text for number, text in enumerate(answers)})
