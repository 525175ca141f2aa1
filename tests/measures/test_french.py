"""French answers, and texts made of other texts, which are found whatever stands around them."""

import unicodedata

import pytest

from trivium.complexity.prompting import draw_examples
from trivium.core.errors import BadInput
from trivium.formats.squad import SquadQuestion
from trivium.measures.french import SHARE, WORDS, KnownTexts, exact_match, f1, normalize_answer, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("La première armée", ["la", "première", "armée"]),
        ("l'armée d'aujourd'hui", ["l", "armée", "d", "aujourd'hui"]),
        ("Qu'il s’agît d’Œuvres", ["qu", "il", "s", "agît", "d", "œuvres"]),
        ("jusqu'à ce qu'elle", ["jusqu", "à", "ce", "qu", "elle"]),
        ("O'Brien l'a prud'homme", ["o'brien", "l", "a", "prud'homme"]),
        ("arc-en-ciel, 14,2 (m²) !", ["arc", "en", "ciel", "14", "2", "m²"]),
        ("10\u202f000\u00a0francs ; «\u00a0oui\u00a0»", ["10", "000", "francs", "oui"]),
        ("XVIIIᵉ_siècle", ["xviiiᵉ", "siècle"]),
        ("exem\u00adple\u200b", ["exemple"]),
        ("x\u0304y 'hier'", ["x\u0304y", "hier"]),  # x with macron has no composed letter
        ("' — !", []),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_words_do_not_depend_on_the_composition_of_accents():
    text = "L'été où la forêt brûla, à Noël"
    assert words(unicodedata.normalize("NFD", text)) == words(text)
    assert exact_match(unicodedata.normalize("NFD", text), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'armée du Nord", "armée nord"),
        ("les aux au des l'un une la le du", "les aux au des l un une la le du"),  # nothing else: kept
        ("Une", "une"),
        ("5 l d'eau de là", "5 l d eau de là"),  # a litre, de and là are no articles
        ("la-haut, LE Mans", "haut mans"),
        ("l\u2019an\u00a0II", "an ii"),
    ],
)
def test_normalisation_drops_the_articles(text, expected):
    assert normalize_answer(text) == expected


def test_exact_match():
    assert exact_match("l’Armée française.", "Armée  française")
    assert exact_match("du Nord", "le Nord")
    assert not exact_match("arme", "armé")
    assert not exact_match("", "!")
    assert not exact_match("", "")
    assert not exact_match("une", "un")


def test_f1_is_the_formula():
    # {armée, nord, rapide} against {armée, nord}: c = 2.
    assert f1("la rapide armée du Nord", "l'armée du Nord") == 2 * 2 / (3 + 2)
    # Multisets: "de" twice against once.
    assert f1("bataille de de", "bataille de Lens") == 2 * 2 / (3 + 3)
    assert f1("", "Lens") == f1("", "") == f1("...", "") == 0
    assert f1("Lens", "l'lens") == 1


def paragraph(name: str, count: int = 40) -> str:
    return " ".join(f"{name}{number}" for number in range(count)) + "."


KNOWN = KnownTexts([paragraph("a"), paragraph("b"), "Trois mots seulement."])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (paragraph("a"), True),
        (f"{paragraph('a')}\n\n{paragraph('b')}", True),
        (paragraph("a").upper().replace(" ", "\u00a0, "), True),  # case, spaces and punctuation do not count
        (paragraph("a", 15), True),  # a part of a known text
        (f"{paragraph('x', 300)} {paragraph('a')}", True),  # a known text in a much longer one
        (f"{paragraph('x', 300)} {paragraph('a', 20)}", False),  # less than half of it
        (f"{paragraph('x', 300)} {paragraph('a', 30)}", True),
        (f"x {paragraph('a', WORDS)}", True),  # of two runs one is known, half of them
        (f"x x {paragraph('a', WORDS)}", False),  # one of three
        ("TROIS mots, seulement", True),
        ("Trois mots seulement, et puis bien d'autres mots qui suivent.", False),
        (paragraph("c"), False),
        (" ".join(word for pair in zip(paragraph("a").split(), paragraph("c").split(), strict=True) for word in pair), False),
        ("", False),
        ("!", False),
    ],
)  # fmt: skip
def test_what_stands_in_known_texts_or_holds_one_is_found(text: str, found: bool):
    assert KNOWN.overlap(text) is found


def test_it_counts_as_a_naive_loop_does():
    def runs(text: str) -> set[str]:
        listed = text.lower().replace(".", "").split()
        return {" ".join(listed[first : first + WORDS]) for first in range(len(listed) - WORDS + 1)}

    known = [paragraph("a"), paragraph("b", 25)]
    for own in range(0, 60, 4):
        for taken in range(WORDS, 41, 4):
            text = f"{paragraph('x', own)} {paragraph('a', taken)} {paragraph('b', taken // 2)}"
            mine, theirs = runs(text), [runs(each) for each in known]
            expected = len(mine & (theirs[0] | theirs[1])) >= SHARE * len(mine)
            expected |= any(len(mine & each) >= SHARE * len(each) for each in theirs)
            assert KnownTexts(known).overlap(text) is expected


def test_no_example_is_drawn_that_a_text_asked_about_is_made_of():
    contexts = [paragraph(name) for name in "abcdef"]
    training = [SquadQuestion(text[:1], "", text, "Qui ?", ((text[:2], 0),)) for text in contexts]
    evaluated = {f"{contexts[0]} {contexts[1]}", f"{contexts[2]} {paragraph('x', 200)} {contexts[3]}", contexts[5]}
    assert [each.id for each in draw_examples(training, 1, 0, evaluated)] == ["e"]
    with pytest.raises(BadInput, match="too few training contexts for the examples; got 1; expected 2"):
        draw_examples(training, 2, 0, evaluated)
