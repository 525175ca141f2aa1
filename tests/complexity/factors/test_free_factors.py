"""Factors without frames, counted on paper."""

from trivium.complexity.factors.free_factors import (
    FreeFactors,
    free_factors,
    read_text,
    syntax_factors,
    text_properties,
)
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Span
from trivium.formats.question_sets import AskedQuestion
from trivium.language.languages import FRENCH, LANGUAGES, Language

TEXT = "La reine Aude fonda un vaste port. Les marchands quittèrent le port."


def asked(question, answer, context=TEXT, identifier="q"):
    start = context.find(answer)
    place = None if start < 0 else Span(start, start + len(answer))
    return AskedQuestion(identifier, "t", context, question, (answer,), place)


def properties(question, language: Language = FRENCH):
    return text_properties(question, read_text(question.context, language), language)


def factors(questions, trees=None, language: Language = FRENCH) -> FreeFactors:
    return free_factors(questions, language, {q.context: read_text(q.context, language) for q in questions}, trees)


def tree():
    """La reine Aude fonda un vaste port: fonda governs reine (Aude) and port (vaste)."""
    forms = ["La", "reine", "Aude", "fonda", "un", "vaste", "port", "."]
    heads = [2, 4, 2, 0, 7, 7, 4, 4]
    kinds = ["DET", "NOUN", "PROPN", "VERB", "DET", "ADJ", "NOUN", "PUNCT"]
    lemmas = {"fonda": "fonder", "La": "le"}
    tokens, cursor = [], 0
    for number, (form, head, kind) in enumerate(zip(forms, heads, kinds, strict=True), 1):
        start = TEXT.index(form, cursor)
        cursor = start + len(form)
        tokens.append(Token(number, form, lemmas.get(form, form), kind, head, "dep", Span(start, cursor)))
    return Sentence(tuple(tokens), Span(0, cursor))


def test_properties_are_counted_on_paper():
    # Content words: port, fonda. The answer's sentence has both, the other one.
    found = properties(asked("Qui fonda le port ?", "La reine Aude"))
    assert found == {
        "overlap": 1.0,
        "rival": 0.5 - 1.0,
        "distance": 0.0,  # fonda follows Aude
        "answer_words": 3.0,
        "position": 0.0,
        "text_words": 12.0,
    }
    found = properties(asked("Qu'est-ce que la reine fit ?", "port"))
    assert (found["overlap"], found["distance"]) == (0.5, 4.0)  # between reine and port: Aude fonda un vaste
    assert properties(asked("Qui partit du port ?", "Les marchands"))["rival"] == 0.0
    nothing = properties(asked("Qui est-ce ?", "marchands"))
    assert (nothing["overlap"], nothing["rival"], nothing["distance"]) == (None, None, None)
    assert properties(asked("Qui mange ?", "marchands"))["distance"] is None


def test_syntax_factors():
    trees = [tree()]
    # reine → fonda: 1 arc; the governor fonda is a verb and in the question.
    assert syntax_factors(asked("Qui fonda le port ?", "La reine Aude"), trees, FRENCH) == {
        "far_arcs": False,
        "nominal_governor": False,
        "governor_absent": False,
    }
    # vaste → port → fonda → reine: 3 arcs; the governor port is a noun that the question does not name.
    assert syntax_factors(asked("Que fit la reine ?", "vaste"), trees, FRENCH) == {
        "far_arcs": True,
        "nominal_governor": True,
        "governor_absent": True,
    }
    # The answer is the whole sentence's root: nothing governs it; no tree holds the answer: nothing is known.
    assert syntax_factors(asked("Que fit la reine ?", "fonda"), trees, FRENCH)["nominal_governor"] is None
    assert set(syntax_factors(asked("Qui fuit ?", "Les marchands"), trees, FRENCH).values()) == {None}


def test_cuts_split_the_set_most_evenly_and_a_constant_property_is_no_factor():
    questions = [
        asked("Qui fonda le port ?", "La reine Aude"),  # overlap 1
        asked("Que fit la reine ?", "un vaste port"),  # overlap 1/2 (fit is a content word)
        asked("Qui mange du sel ?", "Les marchands"),  # 0
        asked("Qui est-ce ?", "Les marchands"),  # no content word
    ]
    found = factors(questions)
    codes, cuts = found.codes, found.cuts
    assert codes["low_overlap"].tolist() == [0, 0, 1, -1]
    assert codes["long_answer"].tolist() == [1, 1, 0, 0]
    assert codes["late_answer"].tolist() == [0, 0, 1, 1]
    assert codes["rival_sentence"].tolist() == [0, 0, 1, -1]
    assert (cuts["long_answer"], cuts["low_overlap"]) == (2.0, 0.0)
    assert "long_text" not in codes
    assert "far_arcs" not in codes
    assert set(factors(questions, {TEXT: [tree()]}).codes) - set(codes) == {
        "far_arcs",
        "nominal_governor",
        "governor_absent",
    }


def test_an_answer_that_stands_nowhere_has_lengths_only():
    found = properties(asked("Qui fonda le port ?", "Une dame"))
    assert found == {"overlap": None, "rival": None, "distance": None, "position": None, "answer_words": 2.0,
                     "text_words": 12.0}  # fmt: skip
    codes = factors(
        [asked("Qui fonda le port ?", "Une dame"), asked("Qui partit ?", "Les marchands de la ville")]
    ).codes
    assert codes["long_answer"].tolist() == [0, 1]
    assert codes["rival_sentence"].tolist() == [-1, -1]
    assert "low_overlap" not in codes
    assert set(syntax_factors(asked("Qui fonda le port ?", "Une dame"), [tree()], FRENCH).values()) == {None}


def test_english_german_spanish_and_chinese_count_alike():
    """The same two sentences: queen, found and port are asked for; the first has all three, the second port."""
    texts = {
        "en": ("The queen founded a vast port. The merchants left the port.", "Which port did the queen found?", "vast"),
        "de": ("Die Königin baute einen großen Hafen. Die Händler verließen den Hafen.",
               "Welchen Hafen baute die Königin?", "großen"),
        "es": ("La reina fundó un gran puerto. Los mercaderes dejaron el puerto.", "¿Qué puerto fundó la reina?", "gran"),
        "zh": ("女王建立了一个巨大的港口。商人离开了港口。", "女王建立了什么港口？", "巨大"),
    }  # fmt: skip
    for code, (context, question, answer) in texts.items():
        found = properties(asked(question, answer, context), LANGUAGES[code])
        assert found["overlap"] == 1, code
        assert found["rival"] < 0, code
        assert found["distance"] == (code == "zh"), code  # 的 stands between
        assert found["position"] == context.index(answer) / len(context)
