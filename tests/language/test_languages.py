"""Words, answers and sentences of every language, against each language's own evaluation, written anew."""

import re
import string
import unicodedata
from collections import Counter

import pytest

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.language.languages import LANGUAGES, STEMMERS, detect, language_of, overlap
from trivium.measures import french

ENGLISH, FRENCH, GERMAN, SPANISH, CHINESE = (LANGUAGES[code] for code in ("en", "fr", "de", "es", "zh"))
ANSWERS = {
    "ar": ["البرج العالي", "في عام ١٩١٤،", "«القاهرة»"],
    "hi": ["मीनार ऊँची है।", "१९१४ में"],
    "vi": ["những người của làng", "năm 1914."],
    "ru": ["Большая башня", "«Война и мир» — роман"],
    "en": [
        "the Gustave Eiffel",
        "Gustave Eiffel",
        "A.D. 412",
        "an “old” man's—house",
        "The",
        "U.S.",
        "1,000 km²",
        "  ",
    ],
    "de": ["Der große Turm", "große Turm", "„die Stadt“ — am Main", "412 n. Chr.", "eines", "der-Turm"],
    "es": ["La Torre Eiffel", "torre eiffel", "«los años» ¿1914?", "una", "El 3,5 %"],
}


def squad(text):
    """SQuAD's normalisation, in the order of its evaluation."""
    text = "".join(each for each in text.lower() if each not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def mlqa(text, articles):
    marks = set(string.punctuation)
    text = "".join(
        each for each in text.lower() if each not in marks and not unicodedata.category(each).startswith("P")
    )
    return re.sub(rf"\b({articles})\b", " ", text).split()


OWN = {
    "en": squad,
    "de": lambda text: mlqa(text, "ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des"),
    "es": lambda text: mlqa(text, "un|una|unos|unas|el|la|los|las"),
    "vi": lambda text: mlqa(text, "của|là|cái|chiếc|những"),
    "ar": lambda text: re.sub(r"\sال^|ال", " ", " ".join(mlqa(text, "(?!)"))).split(),
    "hi": lambda text: mlqa(text, "(?!)"),
    "ru": lambda text: mlqa(text, "(?!)"),
}


@pytest.mark.parametrize("code", OWN)
def test_answers_are_normalised_as_the_languages_own_evaluation_does(code):
    for answer in ANSWERS[code]:
        language = language_of(code)
        expected = OWN[code](fold(answer)) or language.words(answer)
        assert language.answer_words(answer) == expected, answer


def test_an_article_does_not_count_and_an_answer_of_articles_keeps_them():
    assert ENGLISH.answer_words("the Gustave Eiffel") == ENGLISH.answer_words("Gustave Eiffel")
    assert ENGLISH.answer_words("The") == ["the"]
    assert GERMAN.answer_words("eines") == ["eines"]
    assert FRENCH.answer_words("l'armée des rois") == french.normalize_answer("l'armée des rois").split()


def test_words_are_letters_and_digits_in_lower_case():
    assert ENGLISH.words("Don't—stop: 3.5 café") == ["don", "t", "stop", "3", "5", "café"]
    assert GERMAN.words("Die große Straße") == ["die", "große", "straße"]
    assert FRENCH.words("L’armée d'aujourd'hui") == french.words("L’armée d'aujourd'hui")


@pytest.mark.parametrize("code", ["fr", "en", "de", "es", "zh", "ar"])
def test_what_looks_alike_is_one_answer_in_every_language(code):
    language = language_of(code)
    for written, plain in (("cafe\u0301", "café"), ("\u200fcafé\u200e", "café"), ("l’eau", "l'eau"), ("1–2", "1-2")):
        assert language.answer_words(written) == language.answer_words(plain)
        assert language.words(written) == language.words(plain)
        assert language.content_stems(written) == language.content_stems(plain)


def test_chinese_is_compared_by_characters():
    assert CHINESE.answer_words("《故宫》在北京。") == list("故宫在北京")
    assert CHINESE.words("１９８４年 Apple 公司") == ["1984", "年", "apple", "公", "司"]
    assert [CHINESE_TEXT[word.span.start : word.span.end] for word in CHINESE.in_place(CHINESE_TEXT)] == [
        "国王", "住", "在", "北京", "的", "故宫", "里",
    ]  # fmt: skip
    assert CHINESE.content_stems(CHINESE_TEXT) >= {"国王", "北京", "故宫"}
    assert "的" not in CHINESE.content_stems(CHINESE_TEXT)


CHINESE_TEXT = "国王住在北京的故宫里。"


@pytest.mark.parametrize(
    ("code", "sentences"),
    [
        ("en", ["Mr. Smith met J. Brown of the U.S. Army in St. Louis.", "He left.", "“Why?”", "In 1990 he died."]),
        ("de", ["Am 3. Mai kam Dr. Braun, z. B. Montag.", "Karl V. Kaiser ging 1990.", "Ende!"]),
        ("es", ["El Sr. Gómez llegó.", "¿Quién?", "Nadie."]),
        ("fr", ["Fondée en 52 av. J.-C. par Dùn.", "Il pleut."]),
        ("zh", ["国王死了。", "他住在北京！", "“你好。”", "他说。"]),
        ("ru", ["Привет.", "Как дела?"]),
    ],
)
def test_sentences_end_where_they_end(code, sentences):
    text = ("" if code == "zh" else " ").join(sentences)
    assert [span.of(text) for span in language_of(code).sentences(text)] == sentences


def test_stems_leave_out_stop_words_and_contractions():
    assert ENGLISH.content_stems("Who doesn't live in the cities?") == ENGLISH.content_stems("living city")
    assert GERMAN.content_stems("Welche Häuser baute er?") == GERMAN.content_stems("Häuser bauten")
    assert SPANISH.content_stems("¿Quiénes fundaron las torres?") == SPANISH.content_stems("fundaron torre")
    assert overlap(frozenset("ab"), frozenset("bc")) == 0.5
    assert overlap(frozenset(), frozenset("b")) is None


def test_words_in_place_are_the_text():
    for code, text in (("en", "The king's men, 3 of them."), ("zh", CHINESE_TEXT), ("ja", "東京は高い。")):
        language = language_of(code)
        found = language.in_place(text)
        assert all(0 <= word.span.start < word.span.end <= len(text) for word in found)
        assert [word.span for word in found] == sorted(word.span for word in found)
        assert language.content_stems(text) == {stem for word in found for stem in word.stems}


def test_another_language_goes_by_characters():
    japanese = language_of("ja")
    assert "by characters" in japanese.note
    assert japanese.words("東京は、高い。") == list("東京は高い")
    assert japanese.content_stems("東京は") == {"東京", "京は"}
    assert language_of("en").note == ""
    for code in ("english", "EN", "e", "zz9"):
        with pytest.raises(BadInput, match="not a language's code"):
            language_of(code)


def test_every_script_with_spaces_is_compared_by_words():
    russian = language_of("ru")
    assert (russian.name, russian.note) == ("Russian", "")
    assert russian.words("Большая башня, 1914 год") == ["большая", "башня", "1914", "год"]
    assert russian.content_stems("большие башни") == russian.content_stems("Большая башня")
    assert language_of("hi").words("हिन्दी की मीनार।") == ["हिन्दी", "की", "मीनार"]
    assert language_of("ko").words("한국의 탑은") == ["한국의", "탑은"]
    assert language_of("ka").words("დიდი კოშკი.") == ["დიდი", "კოშკი"]
    assert "no stemmer" in language_of("ko").note
    assert "no stop words" in language_of("cy").note
    for code in ("ja", "th", "lo", "km", "my", "bo"):
        assert "by characters" in language_of(code).note
    assert language_of("yue") is CHINESE


@pytest.mark.parametrize("code", STEMMERS)
def test_stems_are_snowballs(code):
    import snowballstemmer

    stemmer = snowballstemmer.stemmer(STEMMERS[code])
    words = ["nationalities", "больших", "μεγάλων", "büyükler", "متحدون"]
    assert language_of(code).content_stems(" ".join(words)) == set(stemmer.stemWords(words))


def test_languages_are_told():
    texts = {
        "fr": "Le roi assiégea la ville et les habitants quittèrent leurs maisons.",
        "en": "The king besieged the town and its people left their houses.",
        "de": "Der König belagerte die Stadt und die Bewohner verließen ihre Häuser.",
        "es": "El rey sitió la ciudad y los habitantes dejaron sus casas.",
        "zh": "国王围攻了这座城市，居民们离开了自己的家园。",
        "it": "Il re assediò la città e gli abitanti lasciarono le loro case.",
    }
    for code, text in texts.items():
        language, share = detect([text] * 3)
        assert (language.code, share) == (code, 1.0)
    language, share = detect([texts["de"]] * 300 + [texts["en"]] * 100)
    assert (language.code, share) == ("de", 0.75)


def test_stop_words_are_spacys():
    from spacy.lang.en.stop_words import STOP_WORDS as THEIRS

    assert ENGLISH.stop_words == THEIRS
    assert Counter(map(type, CHINESE.stop_words)) == {str: len(CHINESE.stop_words)}
