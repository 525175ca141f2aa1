"""Scores in any language: against SQuAD's own formulas, Google's ROUGE, and what the French measures say."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from rouge_score import rouge_scorer

from tests.complexity.difficulty.asked import question
from trivium.complexity.difficulty.scores import measures_of
from trivium.language.languages import LANGUAGES
from trivium.measures import answers as squad

PAIRS = [
    ("the Gustave Eiffel", "Gustave Eiffel"),
    ("in the year 412 before noon", "412"),
    ("a tower of iron and stone", "iron tower of stone"),
    ("", "nothing"),
    ("never", "always"),
    ("with their 3 ships", "their 3 ships, and with oars"),
]


def scorer(code, *references):
    asked = [question(str(number), "", "?", *each) for number, each in enumerate(references)]
    return SimpleNamespace(**measures_of(asked, LANGUAGES[code]))


def test_english_scores_are_squads_and_googles():
    found = scorer("en", *((reference,) for _, reference in PAIRS))
    given = [answer for answer, _ in PAIRS]
    google = rouge_scorer.RougeScorer(["rougeL"])
    assert found.exact_match(given).tolist() == [squad.exact_match(answer, [text]) for answer, text in PAIRS]
    assert found.exact_match(given)[0] == 1
    assert found.f1(given) == pytest.approx([squad.f1(answer, [text]) for answer, text in PAIRS])
    assert found.rouge_l(given) == pytest.approx(
        [google.score(text, answer)["rougeL"].fmeasure for answer, text in PAIRS]
    )


def test_french_scores_by_hand():
    # Articles do not count for exact match and F1. ROUGE-L cuts “l’armée” into two words, the paper's setting “armée” into
    # “arm” and “e”, “première” into “premi” and “re”.
    pairs = [
        ("l'armée belge", "armée"),
        ("en 1915", "1915"),
        ("la première", "première fois"),
        ("un", "un"),
        ("x", "y"),
    ]
    found = scorer("fr", *((reference,) for _, reference in pairs))
    given = [answer for answer, _ in pairs]
    assert found.exact_match(given).tolist() == [0, 0, 0, 1, 0]
    assert found.f1(given) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1, 0])
    assert found.rouge_l(given) == pytest.approx([2 / 4, 2 / 3, 2 / 4, 1, 0])
    google = rouge_scorer.RougeScorer(["rougeL"])
    theirs = [google.score(text, answer)["rougeL"].fmeasure for answer, text in pairs]
    assert theirs == pytest.approx([4 / 6, 2 / 3, 4 / 6, 1, 0])
    assert found.rouge_l_paper(given) == pytest.approx(theirs)


def test_the_best_of_several_references_counts():
    found = scorer("en", ("Queen Aude of Orvel", "Aude"))
    assert [measure(["Aude"])[0] for measure in (found.exact_match, found.f1, found.rouge_l)] == [1, 1, 1]
    assert found.rouge_l(["queen of Orvel"])[0] == pytest.approx(2 * 3 / (4 + 3))


def test_chinese_is_scored():
    found = scorer("zh", ("北京的故宫",))
    assert found.exact_match(["《北京的故宫》。"]) == 1
    assert found.f1(["故宫"]) == pytest.approx(2 * 2 / (5 + 2))
    assert found.rouge_l(["北京故宫"]) == pytest.approx(2 * 4 / (5 + 4))


def test_another_language_is_scored_by_characters():
    from trivium.language.languages import language_of

    found = measures_of([question("q", "", "?", "東京タワー")], language_of("ja"))
    assert found["rouge_l"](["東京"])[0] == pytest.approx(2 * 2 / (5 + 2))


def test_f1_counts_multisets():
    rng = np.random.default_rng(0)
    for _ in range(50):
        one, two = (" ".join(rng.choice(["x", "y", "z"], size=rng.integers(1, 6))) for _ in range(2))
        common = (Counter(one.split()) & Counter(two.split())).total()
        expected = 2 * common / (len(one.split()) + len(two.split()))
        assert scorer("en", (two,)).f1([one])[0] == pytest.approx(expected)
