"""French words, normalisation, exact match and F1."""

import unicodedata

import pytest

from trivium.measures.french import exact_match, f1, normalize_answer, words


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
