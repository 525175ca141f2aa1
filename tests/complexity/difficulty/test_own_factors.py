"""Factors of your own and further members: what they say, how numbers are cut, and what is refused."""

import sys

import numpy as np
import pytest

from tests.complexity.difficulty.asked import answers, english_set, question
from tests.complexity.tiny_parsers import make_gold, write_spacy
from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.factors.free_factors import read_text
from trivium.complexity.factors.own_factors import MEMBERS
from trivium.core.errors import BadInput
from trivium.formats.question_sets import QuestionSet
from trivium.language.languages import LANGUAGES
from trivium.measures.effects import even_cut

SET = english_set(20)
IDS = [each.id for each in SET.questions]
FAST = DifficultySettings(resamples=20, draws=1, smallest_set=1)


def analyse(*factors, found=SET, language="en", **options):
    notes = []
    models = {"m": answers(found, lambda each, luck: luck < 0.7)}
    return difficulty(
        found, models, language=language, settings=FAST, factors=factors, say=notes.append, **options
    ), notes


def member(name, asked, language="en"):
    texts = {each.context: read_text(each.context, LANGUAGES[language]) for each in asked}
    return MEMBERS[name](asked, texts, LANGUAGES[language])


def write(path, *rows):
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def test_columns_of_a_file_are_factors_and_numbers_are_cut_as_the_papers(tmp_path):
    numbers = [(7 * n) % 11 / 2 for n in range(len(IDS))]
    rows = [f"{key},{'Yes' if n % 3 else 'no'},{numbers[n]}" for n, key in enumerate(IDS)]
    rows[4] = f"{IDS[4]},,"
    found, notes = analyse(write(tmp_path / "my.csv", "id,has picture,Age", *rows))
    codes = found.factors.codes
    assert codes["has_picture"].tolist() == [-1 if n == 4 else int(n % 3 > 0) for n in range(len(IDS))]
    cut = even_cut([value for n, value in enumerate(numbers) if n != 4])
    assert found.factors.cuts["age"] == cut
    assert codes["age"].tolist() == [-1 if n == 4 else int(value > cut) for n, value in enumerate(numbers)]
    assert (found.factors.labels["has_picture"], found.factors.labels["age"]) == (
        "has picture",
        f"age (above {cut:.3g})",
    )
    assert {row["factor"] for row in found.rows} >= {"has_picture", "age", "long_answer"}
    assert [note for note in notes if "my.csv" in note] == [
        f"my.csv: 1 of 40 questions have no {name}, and are in neither set." for name in ("has picture", "age")
    ]


def test_what_a_file_lacks_is_said(tmp_path):
    rows = [f"{key},{n % 2}" for n, key in enumerate(IDS[:-3])] + ["elsewhere,1"]
    found, notes = analyse(write(tmp_path / "my.csv", "id,old", *rows, ""))
    assert (found.factors.codes["old"][-3:] == -1).all()
    assert "my.csv: rows of questions that the set does not have are left out: 1, the first 'elsewhere'." in notes
    assert "my.csv: 3 of 40 questions have no old, and are in neither set." in notes
    same, notes = analyse(write(tmp_path / "same.csv", "id,old", *(f"{key},yes" for key in IDS)))
    assert "old" not in same.factors.codes
    assert "old says the same of all questions, and is left out of the factors." in notes


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ["id,old", "x1,yes", "x2,no"],
            r"field 'id': no row is of a question of the set; got \['x1', 'x2'\]; expected ids",
        ),
        (
            ["id,old", "s0,yes", "l0,perhaps"],
            "my.csv:3: field 'old': no value of a factor; got 'perhaps'; expected yes or",
        ),
        (["id,old", "s0,1", "l0,1,5"], "another number of cells"),
        (["id,old", "s0,1", "l0,inf"], "field 'old': no value of a factor; got 'inf'; expected yes, no, or a number"),
        (
            ["id,old", "s0,yes", "s0,no"],
            "my.csv:3: field 'id': id twice; got 's0'; expected one row a question, the first in",
        ),
        (["name,old", "s0,yes"], "missing columns: id; got .."),
        (["id", "s0"], "no columns but the ids"),
        (
            ["id,long_answer", "s0,yes", "l0,no"],
            "a factor or property of this name is there already; got 'long_answer'",
        ),
        (["id,a b,a-b", "s0,yes,no"], "two columns of one name"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(rows, message, tmp_path):
    with pytest.raises(BadInput, match=message):
        analyse(write(tmp_path / "my.csv", *rows))


def ships(asked):
    """The answer names ships.

    More is not said.
    """
    return "ships" in asked.answers[0]


def test_functions_are_factors(tmp_path, monkeypatch):
    def length(asked):
        return np.int64(len(asked.question))

    found, _ = analyse(ships, length)
    assert found.factors.labels["ships"] == "The answer names ships"
    assert found.factors.codes["ships"].tolist() == [int(key[0] == "l") for key in IDS]
    assert found.factors.cuts["length"] == len("Who built the tower?")
    write(tmp_path / "mine_of_test.py", "def early(asked):", "    return asked.place.start < 20", "LIMIT = 3")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found, _ = analyse("mine_of_test:early")
    assert found.factors.codes["early"].tolist() == [int(key[0] == "s") for key in IDS]
    for name, message in (
        (
            "mine_of_test:late",
            r"no such function: module 'mine_of_test' has no attribute 'late'; got 'mine_of_test:late'",
        ),
        ("mine_of_tests:early", "no such function: No module named 'mine_of_tests'; got .*; expected module:function"),
        ("mine_of_test:LIMIT", "no function; got 'mine_of_test:LIMIT'; expected module:function"),
        ("frames", r"no such factors; got 'frames'; expected .* \(choices: question_word, answer_type"),
        ("frames.csv", "frames.csv"),
    ):
        with pytest.raises(BadInput, match=message):
            analyse(name)
    with pytest.raises(BadInput, match="gives for the question 's0'; got 'Who"):
        analyse(lambda asked: asked.question)
    with pytest.raises(BadInput, match="both yes/no and numbers"):
        analyse(lambda asked: True if asked.id == "s0" else 2)
    write(tmp_path / "fails_of_test.py", "def second(asked):", "    return asked.answers[1]")
    message = (
        r"fails_of_test\.py:2: field 'factors': the function second fails for the question 's0': IndexError: tuple"
    )
    with pytest.raises(BadInput, match=message):
        analyse("fails_of_test:second")


def asks(found):
    return [next((name[5:] for name, of in found.items() if of.values[n]), "what" if found["asks_who"].values[n] is False
                 else None) for n in range(len(found["asks_who"].values))]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "questions", "kinds"),
    [
        ("en", ["Who fled?", "To whom?", "In what year?", "What did he see when it fell?", "How many men?", "How did it end?",
                "Name the king."], ["who", "who", "when", "what", "how_many", "how", None]),
        ("fr", ["Qui fuit ?", "Qu'est-ce qui tomba ?", "En quelle année ?", "Combien d'hommes ?", "Où est le fort ?",
                "Pourquoi ?", "Quel roi fuit ?"], ["who", "what", "when", "how_many", "where", "why", "what"]),
        ("de", ["Wie viele Männer?", "Wie endete es?", "Wessen Turm?"], ["how_many", "how", "who"]),
        ("es", ["¿Por qué huyó?", "¿Dónde?", "¿En qué año?", "¿Qué vio?"], ["why", "where", "when", "what"]),
    ],
)  # fmt: skip
def test_the_first_question_word_counts(language, questions, kinds):
    asked = [question(str(n), "A text.", text, "text") for n, text in enumerate(questions)]
    assert asks(member("question_word", asked, language)) == kinds


def test_answers_are_numbers_names_or_phrases():
    texts = ["in 1915", "Aude of Orvel", "“Aude”", "the old tower", "the"]
    found = member("answer_type", [question(str(n), text, "?", text) for n, text in enumerate(texts)])
    assert found["number_answer"].values == [True, False, False, False, False]
    assert found["name_answer"].values == [False, True, True, False, False]
    french = member("answer_type", [question("q", "l'Yser", "?", "l'Yser")], "fr")
    assert french["name_answer"].values == [True]


def test_negation_and_rare_words():
    asked = [
        question(str(n), text, text, "x") for n, text in enumerate(("Who never fled?", "Who didn't flee?", "Who fled?"))
    ]
    assert member("negation", asked)["negated"].values == [True, True, False]
    contexts = ("The king built a tower.", "The king left.", "A king.")
    asked = [question(str(n), text, asked, "king") for n, (text, asked) in enumerate(
        zip(contexts, ("The king?", "The tower of the king?", "Why?"), strict=True))]  # fmt: skip
    # Of 3 texts king stands in 3, tower in 1: log2(4 / 4) and log2(4 / 2).
    assert member("word_rarity", asked)["rare_words"].values == [0, 0.5, None]


def test_a_language_without_question_words_is_refused():
    with pytest.raises(BadInput, match=r"factors: question_word': no words are known .* got 'sk' \(choices: en, fr"):
        analyse("question_word", language="sk")


def test_a_pipeline_of_spacy_parses_the_texts(tmp_path):
    texts, trees = make_gold(30, seed=3)
    write_spacy(tmp_path / "fr")
    asked = []
    for key, text in texts.items():
        thing = trees[key][0].tokens[-2]  # the object of the verb
        asked.append(question(key, text, f"Quel {trees[key][0].tokens[1].form} ?", thing.form))
    found, _ = analyse(found=QuestionSet("invented", tuple(asked), (), {}, {"searched": 0, "moved": 0, "nowhere": 0}),
                       language="fr", parser=f"spacy:{tmp_path / 'fr'}")  # fmt: skip
    assert (found.factors.codes["nominal_governor"] == 0).mean() > 0.8, "verbs govern the objects"
    for options, message in (
        ({"parser": f"spacy:{tmp_path / 'fr'}"}, "a pipeline of another language; got '.*: fr'; expected one of en"),
        ({"parser": "stanza:fr"}, "no parser; got 'stanza:fr'; expected spacy:NAME"),
        ({"parser": "spacy:nowhere"}, "field 'parser': spaCy's pipeline cannot be loaded"),
    ):
        with pytest.raises(BadInput, match=message):
            analyse(**options)
